/**
 * No key, header or request appears in an error, a log, a span or a printed value (law L15).
 */
import * as OpenAiClient from "@assent/openai/OpenAiClient"
import * as OpenAiTool from "@assent/openai/OpenAiTool"
import { assert, describe, it } from "@effect/vitest"
import * as AiError from "effect/ai/AiError"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Tools from "../src/internal/tools/tools.ts"
import { clientOf, eventStream, json, key, responseBody, sse } from "./OpenAiClientServer.ts"
import * as Secrets from "./secrets.ts"

const gateway = "gateway-secret-4711"
const token = "mcp-token-0815-very-secret"
const mcpHeader = "Token mcp-header-\"quoted\"-0816"
const question = "what is the answer to my private question"

const secrets = [
  key,
  gateway,
  token,
  mcpHeader,
  "mcp-header-",
  JSON.stringify(mcpHeader).slice(1, -1),
  encodeURIComponent(mcpHeader),
  "org-secret-12",
  "proj-secret-12"
]

const assertSilent = Secrets.silence([...secrets, question])

const options = {
  organizationId: Redacted.make("org-secret-12"),
  projectId: Redacted.make("proj-secret-12"),
  headers: { "x-gateway": Redacted.make(gateway), cookie: gateway }
}

const tools = [
  OpenAiTool.Mcp({
    server_label: "wiki",
    server_url: "https://mcp.example.com",
    authorization: token,
    headers: { "x-api-key": mcpHeader }
  }),
  OpenAiTool.CodeInterpreter({
    container: {
      type: "auto",
      network_policy: {
        type: "allowlist",
        allowed_domains: ["example.com"],
        domain_secrets: [{ domain: "example.com", name: "PASSWORD", value: token }]
      }
    }
  })
]

const request = Effect.map(Tools.prepare({ tools, toolChoice: "auto" }), ({ tools }) => ({
  model: "gpt-5.2",
  input: question,
  tools: tools!
}))

/** A server, or a platform, that says everything it got. */
const echo = (sent: { readonly headers: Headers; readonly body: unknown }): string =>
  [
    ...[...sent.headers].map(([name, value]) => `${name}: ${value}`),
    token,
    mcpHeader,
    JSON.stringify(mcpHeader),
    encodeURIComponent(mcpHeader)
  ].join(" ")

const answers: ReadonlyArray<readonly [string, Parameters<typeof clientOf>[0]]> = [
  [
    "a refusal that quotes",
    (sent) => json({ error: { message: echo(sent), code: echo(sent), param: key } }, { status: 401 })
  ],
  ["a page that quotes", (sent) => new Response(`<html>${echo(sent)}</html>`, { status: 502 })],
  [
    "headers that quote",
    (sent) =>
      json({ error: { message: "x" } }, {
        status: 429,
        headers: { "x-request-id": sent.headers.get("authorization")!, "set-cookie": key }
      })
  ],
  [
    "a platform that quotes",
    (sent) => Promise.reject(new TypeError(`fetch failed ${echo(sent)}`, { cause: new Error(echo(sent)) }))
  ],
  ["another error that quotes", (sent) => Promise.reject(new Error(`what is ${echo(sent)}`))],
  ["JSON that quotes and breaks", (sent) => json(`{"x": "${echo(sent)}`)],
  ["a response that is none", (sent) => json({ hello: echo(sent) })],
  [
    "an error event that quotes",
    (sent) => eventStream([sse({ type: "error", message: echo(sent), code: null } as never)])
  ],
  ["an event that quotes and breaks", (sent) => eventStream([`data: {"${echo(sent)}`])]
]

describe("secrets", () => {
  it.effect.each(answers)("errors: %s", ([, answer]) =>
    Effect.gen(function*() {
      const params = yield* request
      const { client } = yield* clientOf(answer, options)
      for (
        const call of [
          client.createResponse(params),
          Stream.runDrain(client.createResponseStream({ ...params, stream: true }))
        ]
      ) {
        const { exit, logs, spans, written } = yield* Secrets.watch(call)
        assert.isAbove(logs.length, 0)
        assert.deepStrictEqual(spans.map(({ name }) => name), ["call"])
        assertSilent("logs", logs)
        assertSilent("spans", spans)
        assert.deepStrictEqual(written, [])
        assert.isTrue(Exit.isFailure(exit))
        if (Exit.isSuccess(exit)) continue
        const error = Cause.squash(exit.cause)
        assert.isTrue(AiError.isAiError(error))
        assertSilent("error", error)
        assertSilent("reason", (error as AiError.AiError).reason)
        assertSilent("exit", exit)
        assertSilent("cause", Cause.pretty(exit.cause))
        const encoded = yield* Schema.encodeEffect(Schema.toCodecJson(AiError.AiError))(error as AiError.AiError)
        assertSilent("encoded", encoded)
      }
    }))

  it.effect("the service, the layer's context and the client, before and after a request", () =>
    Effect.gen(function*() {
      const { client } = yield* clientOf(() => json(responseBody), options)
      for (const turn of ["before", "after"]) {
        assertSilent(`service ${turn}`, client)
        assertSilent(`client ${turn}`, client.client)
        assertSilent(`a resource ${turn}`, client.client.responses)
        assertSilent(`a copy ${turn}`, client.client.withOptions({ maxRetries: 1 }))
        yield* client.createResponse({ model: "gpt-5.2", input: "hi" })
      }
      const context = yield* Effect.provide(
        Effect.context<OpenAiClient.OpenAiClient>(),
        OpenAiClient.layer({ apiKey: Redacted.make(key), ...options })
      )
      assertSilent("context", context)
      assertSilent("options", { apiKey: Redacted.make(key), ...options, headers: undefined })
    }))

  it("tools", () => {
    for (const tool of tools) {
      assertSilent(tool.name, tool)
      assertSilent(tool.name, tool.args)
    }
  })

  it.effect("what is wrong with a tool", () =>
    Effect.gen(function*() {
      const broken = OpenAiTool.Mcp({
        server_label: "wiki",
        server_url: { secret: token } as never,
        authorization: { oops: token } as never,
        headers: { "x-api-key": mcpHeader }
      })
      const error = yield* Effect.flip(Tools.prepare({ tools: [broken], toolChoice: "auto" }))
      assert.strictEqual(error.reason._tag, "ToolConfigurationError")
      assertSilent("error", error)
      assert.match(error.message, /\["server_url"\]/)
    }))
})
