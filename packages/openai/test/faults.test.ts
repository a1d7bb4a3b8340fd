/**
 * Whatever a server does in the middle: a typed error, after what had come; and a second attempt only where nothing of the
 * first was seen.
 */
import { AiError, LanguageModel, type Prompt, type Response } from "@assent/ai"
import { OpenAiClient, OpenAiLanguageModel } from "@assent/openai"
import { ResponsesServer } from "@assent/openai/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as C from "./conversation.ts"

const { bytes, cut, halfCharacter, stall, text } = ResponsesServer

const open = Effect.fnUntraced(function*(turns: ReadonlyArray<ResponsesServer.Turn>, maxRetries = 0) {
  const server = yield* ResponsesServer.make({ turns })
  const client = yield* OpenAiClient.make({
    apiKey: Redacted.make(server.apiKey),
    apiUrl: server.url,
    maxRetries,
    timeout: "1 second"
  })
  const model = yield* Effect.provideService(
    OpenAiLanguageModel.make({ model: "gpt-5.2" }),
    OpenAiClient.OpenAiClient,
    client
  )
  const seen: Array<Response.AnyPart> = []
  const said = () => seen.map((part) => part.type === "text-delta" ? part.delta : "").join("")
  const ask = (method: "generate" | "stream", prompt: Prompt.RawInput = "hi"): Effect.Effect<string, AiError.AiError> =>
    (method === "generate"
      ? Effect.map(LanguageModel.generateText({ prompt }), (response) => response.text)
      : Effect.map(
        Stream.runForEach(LanguageModel.streamText({ prompt }), (part) => Effect.sync(() => seen.push(part))),
        said
      )).pipe(Effect.provideService(LanguageModel.LanguageModel, model))
  return { server, ask, said, seen }
})

const faults: ReadonlyArray<
  readonly [what: string, fault: ResponsesServer.StageDirection, generate: string, stream: string]
> = [
  ["a stall", stall(), "NetworkError", "NetworkError"],
  ["a socket that breaks", cut(), "NetworkError", "NetworkError"],
  ["a body that ends early", cut({ how: "end" }), "InvalidResponseError", "NetworkError"],
  ["garbage", bytes("data: {]\n\n"), "InvalidResponseError", "InvalidResponseError"],
  [
    "bytes that are no text",
    bytes(Uint8Array.of(0x64, 0x61, 0x74, 0x61, 0x3a, 0xff, 0xfe, 0x0a, 0x0a)),
    "InvalidResponseError",
    "InvalidResponseError"
  ],
  ["half a character", halfCharacter(), "InvalidResponseError", "NetworkError"],
  ["half a character and a socket that breaks", halfCharacter({ how: "destroy" }), "NetworkError", "NetworkError"]
]

// At once, because most of it is waiting for a server that says nothing.
describe.concurrent("a server that fails in the middle", () => {
  for (const [what, fault, generate, stream] of faults) {
    it.live(`by ${what}: a response is an error`, () =>
      C.fresh(Effect.gen(function*() {
        const { ask, server } = yield* open([[text("Hello."), fault, text("Never.")]])
        const error = yield* Effect.flip(ask("generate"))
        assert.isTrue(AiError.isAiError(error))
        assert.strictEqual(error.reason._tag, generate)
        assert.strictEqual(yield* server.calls, 1)
      })))

    it.live(`by ${what}: a stream is what came before it and an error, and is not begun again`, () =>
      C.fresh(Effect.gen(function*() {
        const { ask, said, seen, server } = yield* open([[text("Hello."), fault, text("Never.")]], 2)
        const error = yield* Effect.flip(ask("stream"))
        assert.isTrue(AiError.isAiError(error))
        assert.strictEqual(error.reason._tag, stream)
        assert.strictEqual(said(), "Hello.")
        assert.isFalse(seen.some((part) => part.type === "finish"))
        assert.strictEqual(yield* server.calls, 1)
      })))
  }
})

describe.concurrent("a second attempt", () => {
  for (const method of ["generate", "stream"] as const) {
    for (
      const [what, fault] of [
        ["a socket that breaks before the response", [cut({ beforeHeaders: true })]],
        ["a server that says nothing", [stall({ beforeHeaders: true })]],
        ["too many requests", ResponsesServer.rateLimit({ retryAfterMs: 1 })],
        ["a server that is overloaded", ResponsesServer.overloaded()]
      ] as const
    ) {
      it.live(`is made after ${what} [${method}]`, () =>
        C.fresh(Effect.gen(function*() {
          const { ask, server } = yield* open([fault, "Hello."], 1)
          assert.strictEqual(yield* ask(method), "Hello.")
          assert.strictEqual(yield* server.calls, 2)
        })), 10_000)
    }

    for (
      const [what, fault] of [
        ["money that is spent", ResponsesServer.insufficientQuota()],
        ["a prompt that is too long", ResponsesServer.contextLengthExceeded()]
      ] as const
    ) {
      it.live(`cannot help ${what} [${method}]`, () =>
        C.fresh(Effect.gen(function*() {
          const { ask, server } = yield* open([fault, "Never."], 0)
          assert.isFalse((yield* Effect.flip(ask(method))).isRetryable)
          assert.strictEqual(yield* server.calls, 1)
        })))
    }
  }

  it.live("with whole items is not made once a stream has begun, whatever its error says", () =>
    C.fresh(Effect.gen(function*() {
      const lost = ResponsesServer.apiError({ message: "Item 'rs_1' of type 'reasoning' not found." })
      const { ask, said, server } = yield* open([
        [ResponsesServer.reasoning("Hm."), text("Hi.")],
        [text("Hello."), ResponsesServer.streamError(lost)],
        "Never."
      ])
      yield* ask("stream")
      const error = yield* Effect.flip(ask("stream", "again"))
      assert.isTrue(AiError.isAiError(error))
      assert.strictEqual(said(), "Hi.Hello.")
      assert.strictEqual(yield* server.calls, 2)
    })))
})
