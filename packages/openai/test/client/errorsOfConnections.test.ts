/**
 * The errors of connections, of responses that are none, and of streams.
 */
import { assert, describe, it } from "@effect/vitest"
import type * as AiError from "effect/ai/AiError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { clientOf, completed, delta, eventStream, json, sse } from "../OpenAiClientServer.ts"

const params = { model: "gpt-5.2", input: "hi" }

/** The error that a request gets for this answer. */
const failureOf = (answer: () => Response | Promise<Response>, options?: Parameters<typeof clientOf>[1]) =>
  Effect.flatMap(clientOf(answer, options), ({ client }) => Effect.flip(client.createResponse(params)))

type Reason = AiError.AiErrorReason["_tag"]

const check = (error: AiError.AiError, tag: Reason, retryable: boolean) => {
  assert.strictEqual(error.reason._tag, tag)
  assert.strictEqual(error.isRetryable, retryable)
}

describe("errors", () => {
  describe("of the connection", () => {
    const rejected = (error: unknown, options?: Parameters<typeof clientOf>[1]) =>
      failureOf(() => Promise.reject(error), options)
    const system = (code: string) =>
      new TypeError("fetch failed", { cause: Object.assign(new Error(`connect ${code} 10.0.0.1:443`), { code }) })

    it.effect.each(["ECONNREFUSED", "ENOTFOUND", "ECONNRESET", "UND_ERR_SOCKET", "CERT_HAS_EXPIRED"])(
      "%s",
      (code) =>
        Effect.gen(function*() {
          const error = yield* rejected(system(code))
          check(error, "NetworkError", true)
          const reason = error.reason as AiError.NetworkError
          assert.strictEqual(reason.reason, "TransportError")
          assert.strictEqual(reason.url, "https://api.openai.com/v1/responses")
          assert.strictEqual(reason.description, `The connection failed (${code}).`)
        })
    )

    it.effect("a timeout says how long", () =>
      Effect.gen(function*() {
        const error = yield* rejected(Object.assign(new Error("timed out"), { name: "AbortError" }), {
          timeout: "3 seconds"
        })
        check(error, "NetworkError", true)
        assert.strictEqual((error.reason as AiError.NetworkError).description, "The request timed out within 3s.")
      }))

    it.effect("an address that cannot be used", () =>
      Effect.gen(function*() {
        const error = yield* rejected(new TypeError("fetch failed", { cause: new Error("unknown scheme") }))
        check(error, "NetworkError", false)
        assert.strictEqual((error.reason as AiError.NetworkError).reason, "InvalidUrlError")
      }))

    it.effect("the address is told without user, password and query", () =>
      Effect.gen(function*() {
        const error = yield* rejected(system("ECONNREFUSED"), {
          apiUrl: "https://user:password@gateway.example.com/v1?token=secret"
        })
        assert.match((error.reason as AiError.NetworkError).url, /^https:\/\/gateway\.example\.com\/v1/)
        assert.notMatch(JSON.stringify(error), /password|secret|user/)
      }))

    it.effect("a request that has no JSON form", () =>
      Effect.gen(function*() {
        const { client } = yield* clientOf(() => json({}))
        const error = yield* Effect.flip(client.createResponse({ ...params, metadata: { x: 1n } } as never))
        check(error, "NetworkError", false)
        assert.strictEqual((error.reason as AiError.NetworkError).reason, "EncodeError")
      }))

    it.effect("a body that ends early", () =>
      Effect.gen(function*() {
        const body = new ReadableStream({
          start: (controller) => {
            controller.enqueue(new TextEncoder().encode("{\"id\":"))
            controller.error(
              new TypeError("terminated", {
                cause: Object.assign(new Error("other side closed"), { code: "UND_ERR_SOCKET" })
              })
            )
          }
        })
        const error = yield* failureOf(() => new Response(body, { headers: { "content-type": "application/json" } }))
        check(error, "NetworkError", true)
      }))
  })

  describe("of a response", () => {
    it.effect.each<readonly [string, () => Response]>([
      ["half of its JSON", () => json("{\"id\": \"resp_1\", \"output\": [")],
      ["another JSON", () => json({ hello: "world" })],
      ["no body", () => json("")],
      ["a page", () => new Response("<html>Log in</html>", { headers: { "content-type": "text/html" } })],
      ["null", () => json("null")],
      ["output that is no list", () => json({ object: "response", output: 7 })]
    ])("%s", ([, answer]) =>
      Effect.gen(function*() {
        const error = yield* failureOf(answer)
        check(error, "InvalidResponseError", false)
        assert.notMatch(error.message, /resp_1|Log in|world/)
      }))
  })

  describe("inside a stream", () => {
    const streamFailure = (pieces: ReadonlyArray<string | Uint8Array>, headers?: HeadersInit) =>
      Effect.gen(function*() {
        const { client } = yield* clientOf(() => eventStream(pieces, headers === undefined ? {} : { headers }))
        const seen: Array<string> = []
        const error = yield* client.createResponseStream({ ...params, stream: true }).pipe(
          Stream.runForEach((event) => Effect.sync(() => seen.push(event.type))),
          Effect.flip
        )
        assert.strictEqual(error.method, "createResponseStream")
        return { error, seen }
      })

    const first = sse(delta("a"))

    it.effect.each<readonly [string, string, Reason, boolean]>([
      ["server_error", "The server had an error", "InternalProviderError", true],
      ["rate_limit_exceeded", "Please try again in 2s.", "RateLimitError", true],
      ["insufficient_quota", "x", "QuotaExhaustedError", false],
      ["invalid_prompt", "x", "ContentPolicyError", false],
      ["context_length_exceeded", "x", "InvalidRequestError", false],
      ["vector_store_timeout", "x", "InternalProviderError", true],
      ["failed_to_download_image", "x", "InvalidRequestError", false],
      ["image_parse_error", "x", "InvalidRequestError", false],
      ["something_else", "x", "UnknownError", false]
    ])("an error event: %s", ([code, message, tag, retryable]) =>
      Effect.gen(function*() {
        const event = { type: "error", code, message, param: null, sequence_number: 2 }
        // With the event's name, without, and wrapped as the API does elsewhere: the SDK has a way for each.
        for (
          const text of [
            sse(event),
            `data: ${JSON.stringify(event)}\n\n`,
            `event: error\ndata: ${JSON.stringify({ error: event })}\n\n`,
            `event: error\ndata: ${JSON.stringify({ code, message })}\n\n`
          ]
        ) {
          const { error, seen } = yield* streamFailure([first, text])
          assert.strictEqual(error.reason._tag, tag)
          assert.strictEqual(error.isRetryable, retryable)
          assert.deepStrictEqual(seen, ["response.output_text.delta"])
          if (tag === "RateLimitError") assert.strictEqual(Duration.toMillis(error.retryAfter!), 2_000)
        }
      }))

    it.effect("JSON that cannot be parsed", () =>
      Effect.gen(function*() {
        const { error, seen } = yield* streamFailure([first, "data: {\"type\": \"secret garbage\n\n"])
        assert.strictEqual(error.reason._tag, "InvalidResponseError")
        assert.deepStrictEqual(seen, ["response.output_text.delta"])
        assert.notMatch(error.message, /garbage/)
      }))

    it.effect.each(["42", "null", "\"text\"", "[]"])("an event that is %s", (text) =>
      Effect.gen(function*() {
        const { error } = yield* streamFailure([first, `data: ${text}\n\n`])
        assert.strictEqual(error.reason._tag, "InvalidResponseError")
      }))

    it.effect.each<readonly [string, ReadonlyArray<string | Uint8Array>]>([
      ["at once", []],
      ["between two events", [first]],
      ["after an end marker", [first, "data: [DONE]\n\n"]]
    ])("a stream that ends too early: %s", ([, pieces]) =>
      Effect.gen(function*() {
        const { error } = yield* streamFailure(pieces)
        assert.strictEqual(error.reason._tag, "NetworkError")
        assert.isTrue(error.isRetryable)
        assert.match(error.message, /ended before the response was complete/)
      }))

    it.effect("a stream that ends inside a character", () =>
      Effect.gen(function*() {
        const bytes = new TextEncoder().encode(sse(delta("é")))
        const cut = bytes.indexOf(0xc3) + 1
        const { error } = yield* streamFailure([first, bytes.slice(0, cut)])
        assert.strictEqual(error.reason._tag, "NetworkError")
        assert.isTrue(error.isRetryable)
      }))

    it.effect.each(["{}", `{"type":null}`])(
      "%s is passed over, and nothing is behind it",
      (event) =>
        Effect.gen(function*() {
          const { error } = yield* streamFailure([first, `data: ${event}\n\n`])
          assert.match(error.message, /ended before the response was complete/)
        })
    )

    it.effect.each(["application/json", "text/html; charset=utf-8"])(
      "%s in place of events",
      (type) =>
        Effect.gen(function*() {
          const { error } = yield* streamFailure(["{\"id\": 1}"], { "content-type": type })
          assert.strictEqual(error.reason._tag, "InvalidResponseError")
        })
    )

    it.effect("a refusal before the stream", () =>
      Effect.gen(function*() {
        const { client } = yield* clientOf(() =>
          json({ error: { message: "x" } }, { status: 429, headers: { "retry-after": "1" } })
        )
        const error = yield* Effect.flip(Stream.runDrain(client.createResponseStream({ ...params, stream: true })))
        assert.strictEqual(error.reason._tag, "RateLimitError")
        assert.strictEqual(Duration.toMillis(error.retryAfter!), 1_000)
      }))

    it.effect("after the last event nothing is missing, however the connection ends", () =>
      Effect.gen(function*() {
        for (const end of ["data: {half", "data: 42\n\n", sse({ type: "error" })]) {
          const { client } = yield* clientOf(() => eventStream([first, sse(completed), end]))
          const events = yield* Stream.runCollect(client.createResponseStream({ ...params, stream: true }))
          assert.deepStrictEqual(events.map((event) => event.type), [
            "response.output_text.delta",
            "response.completed"
          ])
        }
      }))
  })
})
