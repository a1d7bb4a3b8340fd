import * as OpenAiClient from "@assent/openai/OpenAiClient"
import { assert, describe, it } from "@effect/vitest"
import type * as AiError from "effect/ai/AiError"
import * as Config from "effect/Config"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import {
  clientOf,
  completed,
  eventStream,
  type Fetch,
  json,
  key,
  responseBody,
  serve,
  serveSilently,
  sse
} from "./OpenAiClientServer.ts"

const params = { model: "gpt-5.2", input: "hi" }

const reasonOf = (error: AiError.AiError): AiError.AuthenticationError => {
  assert.strictEqual(error.reason._tag, "AuthenticationError")
  return error.reason as AiError.AuthenticationError
}

/** Sets variables of the process, which the SDK would read, and puts them back. */
const withEnvironment = (variables: Record<string, string>) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.acquireUseRelease(
    Effect.sync(() => {
      const before = { ...process.env }
      Object.assign(process.env, variables)
      return before
    }),
    () => effect,
    (before) =>
      Effect.sync(() => {
        for (const name of Object.keys(variables)) delete process.env[name]
        Object.assign(process.env, before)
      })
  )

describe("OpenAiClient", () => {
  describe("make", () => {
    it.effect("sends key, organization, project and headers to the API's address", () =>
      Effect.gen(function*() {
        const { client, requests } = yield* clientOf(() => json(responseBody), {
          organizationId: Redacted.make("org-1"),
          projectId: Redacted.make("proj_1"),
          headers: { "x-gateway": Redacted.make("g"), "x-plain": "p" }
        })
        const response = yield* client.createResponse(params)

        assert.strictEqual(response.output_text, "hello")
        const [request] = requests
        assert.strictEqual(request!.url, "https://api.openai.com/v1/responses")
        assert.strictEqual(request!.headers.get("authorization"), `Bearer ${key}`)
        assert.strictEqual(request!.headers.get("openai-organization"), "org-1")
        assert.strictEqual(request!.headers.get("openai-project"), "proj_1")
        assert.strictEqual(request!.headers.get("x-gateway"), "g")
        assert.strictEqual(request!.headers.get("x-plain"), "p")
        assert.deepStrictEqual(request!.body, { ...params, stream: false })
      }))

    it.effect("a request is a stream only when its events are asked for", () =>
      Effect.gen(function*() {
        const { client, requests } = yield* clientOf(({ body }) =>
          Reflect.get(body as object, "stream") === true ? eventStream([sse(completed)]) : json(responseBody)
        )
        yield* Stream.runDrain(client.createResponseStream({ ...params, stream: true }))
        yield* client.createResponse(params)
        assert.deepStrictEqual(requests.map(({ body }) => Reflect.get(body as object, "stream")), [true, false])
      }))

    it.effect.each([
      "https://gateway.example.com/v1",
      "https://gateway.example.com/v1/",
      " https://gateway.example.com/v1 "
    ])(
      "the address may be %j",
      (apiUrl) =>
        Effect.gen(function*() {
          const { client, requests } = yield* clientOf(() => json(responseBody), { apiUrl })
          yield* client.createResponse(params)
          assert.strictEqual(requests[0]!.url, "https://gateway.example.com/v1/responses")
        })
    )

    it.effect.each(["gateway.example.com", "ftp://example.com", "/v1"])(
      "an address cannot be %j",
      (apiUrl) =>
        Effect.gen(function*() {
          const error = yield* Effect.flip(clientOf(() => json({}), { apiUrl }))
          assert.strictEqual(error.reason._tag, "NetworkError")
          assert.match(error.message, /`apiUrl` \(OPENAI_BASE_URL\) must be an address such as/)
          assert.isFalse(error.isRetryable)
        })
    )

    it.effect.each([undefined, Redacted.make(""), Redacted.make(" \n")])(
      "a missing key says what to write: %s",
      (apiKey) =>
        Effect.gen(function*() {
          const error = yield* Effect.flip(OpenAiClient.make({ apiKey }))
          assert.strictEqual(reasonOf(error).kind, "MissingKey")
          assert.match(error.message, /export OPENAI_API_KEY=sk-…/)
          assert.match(error.message, /OpenAiClient\.layer\(\{ apiKey: Redacted\.make\(…\) \}\)/)
        })
    )

    it.effect("a key that is broken over lines is told so, without the key", () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(OpenAiClient.make({ apiKey: Redacted.make(`${key}\nsecond`) }))
        assert.strictEqual(reasonOf(error).kind, "InvalidKey")
        assert.notInclude(error.message, key)
      }))

    it.effect("spaces around a key are not part of it", () =>
      Effect.gen(function*() {
        const { client, requests } = yield* clientOf(() => json(responseBody), { apiKey: Redacted.make(`${key}\n`) })
        yield* client.createResponse(params)
        assert.strictEqual(requests[0]!.headers.get("authorization"), `Bearer ${key}`)
      }))

    it.effect("a header that cannot be sent fails at once, without its value", () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(clientOf(() => json({}), { headers: { "x-bad": "secret\nvalue" } }))
        assert.strictEqual(error.reason._tag, "NetworkError")
        assert.notMatch(error.message, /secret/)
      }))

    it.effect("in a browser the SDK's refusal is an error, unless it is said", () =>
      Effect.gen(function*() {
        const globals = globalThis as Record<string, unknown>
        const { navigator } = globalThis
        const before = Object.getOwnPropertyDescriptor(globalThis, "navigator")!
        const failed = yield* Effect.acquireUseRelease(
          Effect.sync(() => {
            Object.assign(globals, { window: { document: {} } })
            Object.defineProperty(globalThis, "navigator", { value: { ...navigator }, configurable: true })
          }),
          () =>
            Effect.gen(function*() {
              const failed = yield* Effect.flip(OpenAiClient.make({ apiKey: Redacted.make(key) }))
              yield* OpenAiClient.make({ apiKey: Redacted.make(key), dangerouslyAllowBrowser: true })
              return failed
            }),
          () =>
            Effect.sync(() => {
              delete globals.window
              Object.defineProperty(globalThis, "navigator", before)
            })
        )
        assert.match(failed.message, /dangerouslyAllowBrowser/)
      }))
  })

  describe("the environment", () => {
    const variables = {
      OPENAI_API_KEY: "sk-of-the-process",
      OPENAI_ADMIN_KEY: "sk-admin-of-the-process",
      OPENAI_BASE_URL: "https://process.example.com",
      OPENAI_ORG_ID: "org-process",
      OPENAI_PROJECT_ID: "proj-process",
      OPENAI_WEBHOOK_SECRET: "whsec-process",
      OPENAI_CUSTOM_HEADERS: "x-custom: process",
      OPENAI_LOG: "debug"
    }

    it.effect("nothing is read behind the program's back", () =>
      Effect.gen(function*() {
        const { client, requests } = yield* clientOf(() => json(responseBody))
        yield* client.createResponse(params)

        const [{ headers, url }] = requests as [typeof requests[number]]
        assert.strictEqual(url, "https://api.openai.com/v1/responses")
        assert.strictEqual(headers.get("authorization"), `Bearer ${key}`)
        assert.isNull(headers.get("openai-organization"))
        assert.isNull(headers.get("openai-project"))
        assert.isNull(headers.get("x-custom"))
        assert.isNull(client.client.adminAPIKey)
        assert.isNull(client.client.webhookSecret)
        assert.strictEqual(client.client.logLevel, "off")
        assert.strictEqual((yield* Effect.flip(OpenAiClient.make({}))).reason._tag, "AuthenticationError")
      }).pipe(withEnvironment(variables)))

    it.effect("not by a copy of the SDK's client either", () =>
      Effect.gen(function*() {
        const { client, requests } = yield* clientOf(() => json(responseBody))
        const copy = client.client.withOptions({ maxRetries: 0 })
        yield* Effect.promise(() => copy.responses.create(params))
        assert.isNull(requests[0]!.headers.get("x-custom"))
        assert.strictEqual(requests[0]!.headers.get("authorization"), `Bearer ${key}`)
        assert.notInclude(JSON.stringify(copy), key)
      }).pipe(withEnvironment(variables)))
  })

  describe("layer and layerConfig", () => {
    const environment = (values: Record<string, string>) => ConfigProvider.layer(ConfigProvider.fromUnknown(values))

    const sentBy = (
      options: Parameters<typeof OpenAiClient.layerConfig>[0],
      values: Record<string, string>
    ) =>
      Effect.gen(function*() {
        const requests: Array<{ readonly url: string; readonly headers: Headers }> = []
        const fetch: Fetch = (input, init) => {
          requests.push({ url: String(input), headers: new Headers(init?.headers) })
          return Promise.resolve(json(responseBody))
        }
        yield* Effect.flatMap(OpenAiClient.OpenAiClient, (client) => client.createResponse(params)).pipe(
          Effect.provide(OpenAiClient.layerConfig({ ...options, fetch }).pipe(Layer.provide(environment(values))))
        )
        return requests[0]!
      })

    it.effect("OpenAI's own variables", () =>
      Effect.gen(function*() {
        const { headers, url } = yield* sentBy(undefined, {
          OPENAI_API_KEY: "sk-config",
          OPENAI_BASE_URL: "https://config.example.com/v1",
          OPENAI_ORG_ID: "org-config",
          OPENAI_PROJECT_ID: "proj-config"
        })
        assert.strictEqual(url, "https://config.example.com/v1/responses")
        assert.strictEqual(headers.get("authorization"), "Bearer sk-config")
        assert.strictEqual(headers.get("openai-organization"), "org-config")
        assert.strictEqual(headers.get("openai-project"), "proj-config")
      }))

    it.effect("the key is enough, and empty variables are none", () =>
      Effect.gen(function*() {
        const { headers, url } = yield* sentBy(undefined, {
          OPENAI_API_KEY: "sk-config",
          OPENAI_BASE_URL: "",
          OPENAI_ORG_ID: ""
        })
        assert.strictEqual(url, "https://api.openai.com/v1/responses")
        assert.isNull(headers.get("openai-organization"))
      }))

    it.effect("each may come from another config", () =>
      Effect.gen(function*() {
        const { headers, url } = yield* sentBy({
          apiKey: Config.Redacted("KEY"),
          apiUrl: Config.String("URL"),
          organizationId: Config.succeed(undefined),
          projectId: Config.Redacted("PROJECT")
        }, {
          KEY: "sk-other",
          URL: "https://other.example.com",
          PROJECT: "proj-other",
          OPENAI_API_KEY: "sk-config",
          OPENAI_ORG_ID: "org-config"
        })
        assert.strictEqual(url, "https://other.example.com/responses")
        assert.strictEqual(headers.get("authorization"), "Bearer sk-other")
        assert.isNull(headers.get("openai-organization"))
        assert.strictEqual(headers.get("openai-project"), "proj-other")
      }))

    it.effect("a missing key fails the layer with the line to write", () =>
      Effect.gen(function*() {
        const error = yield* sentBy(undefined, {}).pipe(Effect.flip)
        assert.strictEqual(error._tag, "AiError")
        assert.match(error.message, /export OPENAI_API_KEY=sk-…/)
      }))

    it.effect("a config of the program's own fails as it does", () =>
      Effect.gen(function*() {
        const error = yield* sentBy({ apiKey: Config.Redacted("KEY") }, { OPENAI_API_KEY: "sk-config" }).pipe(
          Effect.flip
        )
        assert.strictEqual(error._tag, "ConfigError")
      }))

    it.effect("a layer of options", () =>
      Effect.gen(function*() {
        const client = yield* OpenAiClient.OpenAiClient
        assert.strictEqual(client.client.timeout, 5_000)
        assert.strictEqual(client.client.maxRetries, 7)
      }).pipe(
        Effect.provide(OpenAiClient.layer({ apiKey: Redacted.make(key), timeout: "5 seconds", maxRetries: 7 }))
      ))
  })

  describe("retries", () => {
    it.live("twice by default, as the headers say, before a response begins", () =>
      Effect.gen(function*() {
        const { client, requests } = yield* clientOf(
          (_, count) =>
            count < 3
              ? json({ error: { message: "x" } }, { status: 429, headers: { "retry-after-ms": "1" } })
              : json(responseBody),
          { maxRetries: undefined }
        )
        yield* client.createResponse(params)
        assert.strictEqual(requests.length, 3)
      }))

    it.live("a stream that began is not begun again", () =>
      Effect.gen(function*() {
        const { client, requests } = yield* clientOf(() => eventStream([sse({ type: "response.created" })]), {
          maxRetries: 5
        })
        const error = yield* Effect.flip(Stream.runDrain(client.createResponseStream({ ...params, stream: true })))
        assert.strictEqual(error.reason._tag, "NetworkError")
        assert.strictEqual(requests.length, 1)
      }))

    it.effect("not at all when told so", () =>
      Effect.gen(function*() {
        const { client, requests } = yield* clientOf(() => json({ error: { message: "x" } }, { status: 500 }))
        yield* Effect.flip(client.createResponse(params))
        assert.strictEqual(requests.length, 1)
      }))
  })

  describe("interruption", () => {
    it.live("closes the connection, as the server sees it", () =>
      Effect.gen(function*() {
        const { arrived, closed, url } = yield* serveSilently
        const client = yield* OpenAiClient.make({ apiKey: Redacted.make(key), apiUrl: url })
        const fiber = yield* Effect.forkChild(client.createResponse(params))
        yield* arrived
        yield* Fiber.interrupt(fiber)
        yield* closed
      }))

    it.effect("ends the wait before a retry", () =>
      Effect.gen(function*() {
        const refused = yield* Deferred.make<void>()
        const { client, requests } = yield* clientOf(() => {
          Effect.runFork(Deferred.succeed(refused, undefined))
          return json({ error: { message: "x" } }, { status: 500, headers: { "retry-after": "30" } })
        }, { maxRetries: 2 })
        const fiber = yield* Effect.forkChild(client.createResponse(params))
        yield* Deferred.await(refused)
        yield* Fiber.interrupt(fiber)
        assert.isTrue(requests[0]!.signal?.aborted === true || requests.length === 1)
      }))

    it.live("a server that does not answer in time", () =>
      Effect.gen(function*() {
        const { url } = yield* serve(() => {})
        const client = yield* OpenAiClient.make({
          apiKey: Redacted.make(key),
          apiUrl: url,
          timeout: "50 millis",
          maxRetries: 0
        })
        const error = yield* Effect.flip(client.createResponse(params))
        assert.strictEqual(error.reason._tag, "NetworkError")
        assert.match(error.message, /timed out within 50ms/)
      }))

    it.live("nobody listens there", () =>
      Effect.gen(function*() {
        const { server, url } = yield* serve(() => {})
        yield* Effect.callback<void>((resume) => {
          server.close(() => resume(Effect.void))
        })
        const client = yield* OpenAiClient.make({ apiKey: Redacted.make(key), apiUrl: url, maxRetries: 0 })
        const error = yield* Effect.flip(client.createResponse(params))
        assert.strictEqual(error.reason._tag, "NetworkError")
        assert.match(error.message, /ECONNREFUSED/)
      }))
  })
})
