/** What comes back: the same content, whole and as a stream. */
import type * as Provider from "@ai-sdk/provider"
import { LanguageModel, Prompt, Tool, Toolkit } from "@assent/ai"
import { AiSdkLanguageModel } from "@assent/ai-sdk"
import { assert, describe, it } from "@effect/vitest"
import { MockLanguageModelV4 } from "ai/test"
import { Effect, Schema, Stream } from "effect"
import * as Support from "./support.ts"

const Search = Tool.providerDefined({
  id: "mock.search",
  customName: "Search",
  providerName: "search",
  parameters: Schema.Struct({ query: Schema.String }),
  success: Schema.Array(Schema.String)
})()
const Add = Tool.make("Add", { parameters: { a: Schema.Number }, success: Schema.Number })
const toolkit = Toolkit.make(Search, Add)
const handlers = toolkit.toLayer({ Add: ({ a }) => Effect.succeed(a) })

const whole = (result: Provider.LanguageModelV4GenerateResult) =>
  LanguageModel.generateText({ prompt: "Go.", toolkit }).pipe(
    Effect.provide([
      AiSdkLanguageModel.layer({ model: new MockLanguageModelV4({ provider: "mock.chat", doGenerate: result }) }),
      handlers
    ])
  )

const streamed = (parts: ReadonlyArray<Provider.LanguageModelV4StreamPart>) =>
  Stream.runCollect(LanguageModel.streamText({ prompt: "Go.", toolkit })).pipe(
    Effect.provide([
      AiSdkLanguageModel.layer({
        model: new MockLanguageModelV4({ provider: "mock.chat", doStream: Support.stream(parts) })
      }),
      handlers
    ])
  )

const signed = { anthropic: { signature: "sig" } }

const everything: ReadonlyArray<Provider.LanguageModelV4Content> = [
  { type: "reasoning", text: "Let me see.", providerMetadata: signed },
  Support.text("Found it."),
  Support.call("h1", "search", { query: "cats" }, {
    providerExecuted: true,
    providerMetadata: { mock: { itemId: "i1" } }
  }),
  { type: "tool-result", toolCallId: "h1", toolName: "search", result: ["cat"] },
  { type: "source", sourceType: "url", id: "s1", url: "https://example.com/", title: "Cats" },
  { type: "source", sourceType: "document", id: "s2", mediaType: "application/pdf", title: "Cats", filename: "c.pdf" },
  { type: "file", mediaType: "image/png", data: { type: "data", data: new Uint8Array([1, 2, 3]) } },
  // Of no tool in the toolkit.
  Support.call("h2", "mystery", { x: 1 }, { providerExecuted: true, dynamic: true }),
  { type: "tool-result", toolCallId: "h2", toolName: "mystery", result: { y: 2 }, dynamic: true },
  // Its parameters are not those of the tool.
  Support.call("h3", "search", { query: 7 }, {
    providerExecuted: true,
    providerMetadata: { mock: { itemId: "i3" } }
  }),
  { type: "tool-result", toolCallId: "h3", toolName: "search", result: ["dog"] },
  { type: "custom", kind: "mock.note", providerMetadata: { mock: { id: "n1" } } },
  { type: "file", mediaType: "image/png", data: { type: "url", url: new URL("https://example.com/cat.png") } },
  Support.call("c1", "Add", { a: 1 })
]

const back = [
  { type: "reasoning", text: "Let me see.", providerOptions: signed },
  { type: "text", text: "Found it." },
  {
    type: "tool-call",
    toolCallId: "h1",
    toolName: "search",
    input: { query: "cats" },
    providerExecuted: true,
    providerOptions: { mock: { itemId: "i1" } }
  },
  { type: "tool-result", toolCallId: "h1", toolName: "search", output: { type: "json", value: ["cat"] } },
  { type: "file", mediaType: "image/png", data: { type: "data", data: "AQID" } },
  { type: "tool-call", toolCallId: "h2", toolName: "mystery", input: { x: 1 }, providerExecuted: true },
  { type: "tool-result", toolCallId: "h2", toolName: "mystery", output: { type: "json", value: { y: 2 } } },
  {
    type: "tool-call",
    toolCallId: "h3",
    toolName: "search",
    input: { query: 7 },
    providerExecuted: true,
    providerOptions: { mock: { itemId: "i3" } }
  },
  { type: "tool-result", toolCallId: "h3", toolName: "search", output: { type: "json", value: ["dog"] } },
  { type: "custom", kind: "mock.note", providerOptions: { mock: { id: "n1" } } },
  { type: "file", mediaType: "image/png", data: { type: "url", url: new URL("https://example.com/cat.png") } },
  { type: "tool-call", toolCallId: "c1", toolName: "Add", input: { a: 1 } }
]

/** What the next request says of a response. */
const saidBack = Effect.fnUntraced(function*(parts: Parameters<typeof Prompt.fromResponseParts>[0]) {
  const model = Support.playing([[Support.text("Well.")]])
  const prompt = Prompt.concat(Prompt.make("Go."), Prompt.fromResponseParts(parts))
  yield* LanguageModel.generateText({ prompt, toolkit }).pipe(
    Effect.provide([AiSdkLanguageModel.layer({ model }), handlers])
  )
  return Support.asked(model).prompt
})

describe("everything that a response may hold", () => {
  it.effect("whole: goes back as it came", () =>
    Effect.gen(function*() {
      const response = yield* whole(Support.response(everything))
      assert.strictEqual(response.text, "Found it.")
      assert.deepStrictEqual(response.toolCalls.map((call) => call.name), ["Search", "mystery", "Add"])
      assert.deepStrictEqual(
        response.content.flatMap((part) => part.type === "source" ? [part.id] : []),
        ["s1", "s2", "https://example.com/cat.png"]
      )
      const [, assistant, tool] = yield* saidBack(response.content)
      assert.deepStrictEqual<unknown>(assistant, { role: "assistant", content: back })
      assert.deepStrictEqual<unknown>(tool, {
        role: "tool",
        content: [{ type: "tool-result", toolCallId: "c1", toolName: "Add", output: { type: "json", value: 1 } }]
      })
    }))

  it.effect("streamed: the same", () =>
    Effect.gen(function*() {
      const parts = yield* streamed(Support.streamed(everything))
      assert.deepStrictEqual(
        parts.flatMap((part) => part.type === "tool-params-start" ? [part.name] : []),
        // Whether its parameters fit is known at the end of a call.
        ["Search", "Search", "Add"]
      )
      const [, assistant] = yield* saidBack(parts as never)
      assert.deepStrictEqual<unknown>(assistant, { role: "assistant", content: back })
    }))
})

describe("the end", () => {
  const ending = (unified: Provider.LanguageModelV4FinishReason["unified"]) =>
    Effect.map(
      whole(Support.response([Support.text("x")], {
        finishReason: { unified, raw: "its_word" },
        usage: { ...Support.usage, raw: { tokens: 39 } },
        providerMetadata: { mock: { tier: "fast" } },
        response: { id: "r1", modelId: "mock-2", timestamp: new Date(0) }
      })),
      ({ content }) => content
    )

  it.effect("tells usage with cached and reasoning tokens, the provider's own words, and the response", () =>
    Effect.gen(function*() {
      const content = yield* ending("length")
      const finish = content.find((part) => part.type === "finish")!
      assert.strictEqual(finish.reason, "length")
      assert.deepStrictEqual({ ...finish.usage.inputTokens }, { total: 30, uncached: 18, cacheRead: 10, cacheWrite: 2 })
      assert.deepStrictEqual({ ...finish.usage.outputTokens }, { total: 9, text: 5, reasoning: 4 })
      assert.deepStrictEqual<unknown>(finish.metadata, {
        mock: { tier: "fast" },
        "ai-sdk": { finishReason: "its_word", usage: { tokens: 39 } }
      })
      const metadata = content.find((part) => part.type === "response-metadata")!
      assert.deepStrictEqual([metadata.id, metadata.modelId], ["r1", "mock-2"])
      assert.strictEqual(metadata.timestamp?.epochMilliseconds, 0)
    }))

  it.effect("an interruption at the provider is some other reason", () =>
    Effect.map(ending("interrupted"), (content) => {
      assert.strictEqual(content.find((part) => part.type === "finish")!.reason, "other")
    }))

  it.effect("a stream that ends before it says how fails", () =>
    Effect.map(Effect.flip(streamed([{ type: "text-start", id: "0" }])), (error) => {
      assert.strictEqual((error as { readonly reason?: { readonly _tag: string } }).reason?._tag, "NetworkError")
    }))

  it.effect("what the interface does not have is an invalid response", () =>
    Effect.gen(function*() {
      const bad = { type: "file", mediaType: "image/png", data: null } as never
      for (const failing of [whole(Support.response([bad])), streamed([bad, Support.finish()])]) {
        const error = yield* Effect.flip(
          failing as Effect.Effect<unknown, { readonly reason?: { readonly _tag: string } }>
        )
        assert.strictEqual(error.reason?._tag, "InvalidResponseError")
      }
    }))
})

describe("an earlier model", () => {
  it.effect("has files without a tag", () =>
    Effect.gen(function*() {
      const model = Support.playingEarlier([[{ type: "file", mediaType: "image/png", data: "AQID" }]])
      const response = yield* LanguageModel.generateText({ prompt: "Go." }).pipe(
        Effect.provide(AiSdkLanguageModel.layer({ model }))
      )
      const file = response.content.find((part) => part.type === "file")!
      assert.deepStrictEqual([...file.data], [1, 2, 3])
    }))
})
