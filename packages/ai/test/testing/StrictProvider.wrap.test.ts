import { StrictProvider } from "@assent/ai/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { IdGenerator, LanguageModel, Prompt } from "effect/ai"

const ask: Prompt.MessageEncoded = { role: "user", content: "Hi" }
const call: Prompt.MessageEncoded = {
  role: "assistant",
  content: [{ type: "tool-call", id: "1", name: "Read", params: {} }]
}
const result: Prompt.MessageEncoded = {
  role: "tool",
  content: [{ type: "tool-result", id: "1", name: "Read", isFailure: false, result: "ok" }]
}
const answer = (approvalId: string): Prompt.MessageEncoded => ({
  role: "tool",
  content: [{ type: "tool-approval-response", approvalId, approved: true }]
})

/** Hooks that say when they are called. */
const hooks = () => {
  const calls: Array<string> = []
  const params: StrictProvider.Params = {
    generateText: () => Effect.sync(() => (calls.push("generate"), [{ type: "text", text: "ok" }])),
    streamText: () => Stream.suspend(() => (calls.push("stream"), Stream.empty)),
    supportsSystemMessagesInHistory: Effect.succeed(true)
  }
  return { calls, params }
}

describe("StrictProvider.wrap", () => {
  it.effect("fails with every violation in its description, before a hook is called", () =>
    Effect.gen(function*() {
      const { calls, params } = hooks()
      const model = yield* LanguageModel.make(StrictProvider.wrap(params))
      const prompt = Prompt.make([ask, call, { role: "assistant", content: [] }, { role: "user", content: "" }])
      const generated = yield* Effect.flip(model.generateText({ prompt }))
      const streamed = yield* Effect.flip(Stream.runDrain(model.streamText({ prompt })))

      assert.strictEqual(generated.reason._tag, "InvalidRequestError")
      assert.strictEqual(generated.module, "StrictProvider")
      for (const rule of ["[dangling-call] message 1", "[empty-message] message 2", "[empty-text] message 3"]) {
        assert.include(generated.message, rule)
        assert.include(streamed.message, rule)
      }
      assert.deepStrictEqual([generated.method, streamed.method], ["generateText", "streamText"])
      assert.deepStrictEqual(calls, [])
    }))

  it.effect("lets a good prompt pass and keeps what else a provider says of itself", () =>
    Effect.gen(function*() {
      const { calls, params } = hooks()
      const wrapped = StrictProvider.wrap(params)
      const model = yield* LanguageModel.make(wrapped)
      assert.strictEqual((yield* model.generateText({ prompt: "Hi" })).text, "ok")
      yield* Stream.runDrain(model.streamText({ prompt: "Hi" }))
      assert.deepStrictEqual(calls, ["generate", "stream"])
      assert.strictEqual(wrapped.supportsSystemMessagesInHistory, params.supportsSystemMessagesInHistory)
    }))

  it.effect("checks an incremental prompt too, and leniently", () =>
    Effect.gen(function*() {
      const { calls, params } = hooks()
      const wrapped = StrictProvider.wrap(params)
      const prompt = Prompt.make([ask, call, result])
      const span = yield* Effect.makeSpan("test")
      const send = (...incremental: ReadonlyArray<Prompt.MessageEncoded>) =>
        wrapped.generateText({
          prompt,
          incrementalPrompt: Prompt.make(incremental),
          previousResponseId: "response-1",
          tools: [],
          toolChoice: "auto",
          responseFormat: { type: "text" },
          span
        })
      yield* send(result)
      assert.deepStrictEqual(calls, ["generate"])
      const error = yield* Effect.flip(send(ask, result))
      assert.include(error.message, "[orphan-result] incremental message 1")
      assert.deepStrictEqual(calls, ["generate"])
    }).pipe(Effect.provideServiceEffect(
      // The hook asks for an id generator as every provider's may; this one has no use for it.
      IdGenerator.IdGenerator,
      Effect.succeed(IdGenerator.defaultIdGenerator)
    )))

  it.effect("allows the approvals that the provider issued", () =>
    Effect.gen(function*() {
      const { calls, params } = hooks()
      const model = yield* LanguageModel.make(StrictProvider.wrap(params, { allowProviderApprovals: ["mcpr_1"] }))
      yield* model.generateText({ prompt: [ask, answer("mcpr_1")] })
      const error = yield* Effect.flip(model.generateText({ prompt: [ask, answer("mcpr_2")] }))
      assert.include(error.message, "foreign-approval")
      assert.deepStrictEqual(calls, ["generate"])
    }))
})
