/**
 * L17: what is said in a conversation that is kept, and histories that come from elsewhere, have the same bounds as what
 * comes in a turn; and no tool makes a conversation unusable.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Ref, Schema, Stream } from "effect"
import { Chat, Conversation, ConversationStore, LanguageModel, Prompt, Tool, Toolkit } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import { deep, levelsOf, nested, whole, writable } from "./bounds.ts"
import * as Support from "./support.ts"

const Fetch = Tool.make("Fetch", { success: Schema.Unknown })

const kit = Toolkit.make(Fetch)

const start = (turns: ReadonlyArray<ScriptedModel.Turn>, result: unknown) =>
  Effect.gen(function*() {
    const script = yield* ScriptedModel.make({ turns, afterLastTurn: "done" })
    const conversation = yield* Conversation.make({ id: "c1", toolkit: kit }).pipe(
      Effect.provide(kit.toLayer({ Fetch: () => Effect.succeed(result) })),
      Effect.provideService(LanguageModel.LanguageModel, script.model),
      Effect.provide(ConversationStore.layerMemory())
    )
    return { conversation, script }
  })

const fetching: ScriptedModel.Turn = [Support.call("c1", "Fetch", {})]

describe("L17 conversations", () => {
  for (const [what, result] of Object.entries({ "6,000 levels": deep, "10 MiB and a byte": whole(10_485_761) })) {
    for (const streams of [false, true]) {
      it.effect(`L17 a result of ${what} leaves it usable [${streams ? "stream" : "send"}]`, () =>
        Support.fresh(Effect.gen(function*() {
          const { conversation, script } = yield* start([fetching], result)
          const say = (words: string) =>
            streams
              ? Effect.andThen(Stream.runDrain(conversation.stream(words)), conversation.outcome)
              : conversation.send(words)
          assert.strictEqual((yield* say("Fetch it."))?._tag, "Completed")
          for (const words of ["And?", "And then?"]) assert.strictEqual((yield* say(words))?._tag, "Completed")
          const [told] = yield* Support.sentResults(script)
          assert.match(Support.failureReason(told), /^The call ran, but its result is (nested deeper|larger)/)
          assert.isBelow((yield* writable(yield* conversation.history)).length, 5_000)
        })))
    }
  }

  const file = (bytes: number) =>
    Prompt.userMessage({
      content: [Prompt.filePart({ mediaType: "application/pdf", data: new Uint8Array(bytes) })]
    })

  const said: Record<string, Prompt.RawInput> = {
    "a call of 6,000 levels": Support.written([Support.callPart("c1", "Fetch", { deep })]),
    "a result of 513 levels": Support.written([Support.callPart("c1", "Fetch", {})], [
      Prompt.toolResultPart({ id: "c1", name: "Fetch", isFailure: false, result: nested(513), providerExecuted: false })
    ]),
    "options of 6,000 levels": [{ role: "user", content: "Hello.", options: { test: { deep } } }] as never,
    "more than 32 MiB of text": [{ role: "user", content: whole(33_554_432) }],
    "more than 32 MiB as a text by itself": whole(33_554_433),
    "more than 32 MiB of a file": Prompt.fromMessages([file(25_165_824)])
  }

  for (const [what, prompt] of Object.entries(said)) {
    it.effect(`L17 ${what}: nothing is said, and the next message is`, () =>
      Support.fresh(Effect.gen(function*() {
        const { conversation, script } = yield* start([], 1)
        const error = yield* Effect.flip(conversation.send(prompt))
        assert.match(String((error as Error).message), /nested deeper than 512 levels or larger than 32 MiB/)
        assert.strictEqual((yield* script.requests).length, 0)
        assert.strictEqual((yield* conversation.send("Hello."))._tag, "Completed")
      })))
  }

  it.effect("L17 a file that a request can hold is said", () =>
    Support.fresh(Effect.gen(function*() {
      const { conversation } = yield* start([], 1)
      assert.strictEqual((yield* conversation.send(Prompt.fromMessages([file(3_000_000)])))._tag, "Completed")
    })))
})

// =============================================================================
// Histories from elsewhere
// =============================================================================

const history = (value: unknown) => ({
  content: [
    { role: "user", content: [{ type: "text", text: "Fetch them." }] },
    {
      role: "assistant",
      content: [
        { type: "tool-call", id: "c1", name: "Fetch", params: { value }, providerExecuted: false },
        { type: "tool-call", id: "c2", name: "Fetch", params: {}, providerExecuted: false }
      ]
    },
    {
      role: "tool",
      content: [
        { type: "tool-result", id: "c1", name: "Fetch", isFailure: false, result: 1, providerExecuted: false },
        { type: "tool-result", id: "c2", name: "Fetch", isFailure: false, result: value, providerExecuted: false }
      ]
    },
    { role: "assistant", content: [{ type: "text", text: "Here they are." }] }
  ]
})

const textOf = (levels: number): string =>
  JSON.stringify(history("value")).replaceAll("\"value\"}", `"value"}`).replaceAll(
    ":\"value\"",
    `:${"[".repeat(levels)}${"]".repeat(levels)}`
  )

describe("L17 chats that come from elsewhere", () => {
  const imports = {
    "fromExport": (levels: number) => Chat.fromExport(history(nested(levels))),
    "fromJson": (levels: number) => Chat.fromJson(textOf(levels)),
    "fromPrompt": (levels: number) =>
      Chat.fromPrompt(Prompt.fromMessages([
        ...Support.written([Support.callPart("c1", "Fetch", { value: nested(levels) })], [
          Prompt.toolResultPart({ id: "c1", name: "Fetch", isFailure: false, result: 1, providerExecuted: false })
        ]).content,
        ...Support.written([Support.callPart("c2", "Fetch", {})], [
          Prompt.toolResultPart({
            id: "c2",
            name: "Fetch",
            isFailure: false,
            result: nested(levels),
            providerExecuted: false
          })
        ]).content
      ]))
  }

  for (const [way, from] of Object.entries(imports)) {
    for (const levels of [513, 6_000, 100_000]) {
      it.effect(`L17 ${levels} levels come in with what is too deep left out [${way}]`, () =>
        Effect.gen(function*() {
          const chat = yield* from(levels)
          const read = yield* Ref.get(chat.history)
          const calls = Support.partsOf(read).filter((part) => part.type === "tool-call")
          const results = Support.partsOf(read).filter((part) => part.type === "tool-result")
          assert.match(JSON.stringify(calls[0]?.params), /omitted.*nested deeper than 512 levels/)
          assert.deepStrictEqual(calls[1]?.params, {})
          assert.strictEqual(results[0]?.result, 1)
          assert.match(Support.failureReason(results[1]), /nested deeper than 512 levels/)
          assert.isBelow(levelsOf(yield* writable(read)), 32)
          const script = yield* Support.answering
          const turn = yield* chat.generateText({ prompt: "And?" }).pipe(
            Effect.provideService(LanguageModel.LanguageModel, script.model)
          )
          assert.strictEqual(turn.text, "done")
          assert.isBelow((yield* chat.exportJson).length, 5_000)
        }))
    }

    it.effect(`L17 what is within bounds comes in as it is [${way}]`, () =>
      Effect.gen(function*() {
        const read = yield* Ref.get((yield* from(500)).history)
        const results = Support.partsOf(read).filter((part) => part.type === "tool-result")
        assert.strictEqual(
          JSON.stringify(results[1]?.result),
          JSON.stringify(nested(500)).replace("1", way === "fromJson" ? "" : "1")
        )
      }))
  }
})
