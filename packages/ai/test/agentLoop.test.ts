/**
 * Effect's own documented agent loop (`ai-docs/src/71_ai/30_chat.ts`), unchanged, over a service with approvals: it must
 * end when somebody has to be asked, whoever wrote it knowing nothing of approvals.
 */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Ref, Schema } from "effect"
import { Approval, Chat, LanguageModel, Prompt, Tool, Toolkit } from "../src/index.ts"
import { ScriptedModel } from "../src/testing/index.ts"
import * as C from "./laws/conversation.ts"

const getCurrentTime = Tool.make("getCurrentTime", {
  description: "Get the current time in ISO format",
  parameters: Schema.Struct({
    id: Schema.String
  }),
  success: Schema.String
})

const Tools = Toolkit.make(getCurrentTime, C.DeleteFile)

const timeCall = (id: string) => ScriptedModel.toolCall({ id, name: "getCurrentTime", params: { id } })

const begin = Effect.fnUntraced(function*(turns: ReadonlyArray<ScriptedModel.Turn>) {
  const runs: Array<string> = []
  const tools = yield* C.withHandlers(Tools, {
    getCurrentTime: Effect.fn("Tools.getCurrentTime")(function*(_) {
      runs.push("time")
      const now = yield* DateTime.now
      return DateTime.formatIso(now)
    }),
    DeleteFile: ({ path }) => Effect.sync(() => (runs.push(`delete ${path}`), { deleted: path }))
  })
  const script = yield* ScriptedModel.make({ turns })
  const modelLayer = Layer.succeed(LanguageModel.LanguageModel, script.model).pipe(LanguageModel.approval())

  const session = yield* Chat.fromPrompt([
    { role: "system", content: "You are an assistant that can use tools to answer questions." },
    { role: "user", content: "What time is it, and can you delete a?" }
  ])

  // In the documentation the session is made inside; here the test looks at it.
  const agent = Effect.fn("AiAssistant.agent")(
    function*() {
      while (true) {
        const response = yield* session.generateText({
          prompt: [], // No additional prompt — the model has full access to the conversation history
          toolkit: tools // Provide the tools to the model
        }).pipe(
          // Provide the model layer to use.
          Effect.provide(modelLayer)
        )
        if (response.toolCalls.length > 0) {
          // If the model called any tools, execute them and the Chat module
          // will automatically add the tool results to the conversation
          // history before the next turn.
          continue
        }
        // If there are no tool calls, the model has returned a final answer
        // and we can exit the loop.
        return response.text
      }
    }
  )
  const answer = (prompt: Prompt.Prompt) =>
    session.generateText({ prompt, toolkit: tools }).pipe(Effect.provide(modelLayer))
  const pending = Effect.map(Ref.get(session.history), C.pendingOf)
  return { agent, answer, pending, runs, script, session }
})

describe("Effect's documented agent loop", () => {
  it.effect("without gated calls: runs tools until the model answers", () =>
    C.fresh(Effect.gen(function*() {
      const { agent, pending, runs, script } = yield* begin([[timeCall("t1")], [timeCall("t2")], "It is late."])
      assert.strictEqual(yield* agent(), "It is late.")
      assert.deepStrictEqual(runs, ["time", "time"])
      assert.strictEqual(yield* script.calls, 3)
      assert.deepStrictEqual(yield* pending, [])
    })))

  it.effect("a gated call: ends after one model call, and is recognisably waiting", () =>
    C.fresh(Effect.gen(function*() {
      const { agent, pending, runs, script } = yield* begin([[C.deleteCall("c1", "a")], "Deleted."])
      assert.strictEqual(yield* agent(), "", "no answer was made up")
      assert.strictEqual(yield* script.calls, 1)
      assert.deepStrictEqual((yield* pending).map((one) => [one.toolCall?.name, one.toolCall?.params]), [
        ["DeleteFile", { path: "a" }]
      ])
      assert.deepStrictEqual(runs, [])
    })))

  it.effect("a gated and an ungated call: the ungated one runs, once; the loop ends after one model call", () =>
    C.fresh(Effect.gen(function*() {
      const { agent, pending, runs, script } = yield* begin([[timeCall("t1"), C.deleteCall("c1", "a")], "Deleted."])
      yield* agent()
      assert.deepStrictEqual(runs, ["time"])
      assert.strictEqual(yield* script.calls, 1)
      assert.lengthOf(yield* pending, 1)
    })))

  it.effect("ten further polls leave one request; then an approval goes on", () =>
    C.fresh(Effect.gen(function*() {
      const { agent, answer, pending, runs, script, session } = yield* begin([
        [timeCall("t1"), C.deleteCall("c1", "a")],
        [timeCall("t2")],
        "Deleted, and it is late."
      ])
      yield* agent()
      const [first] = yield* pending
      for (let poll = 0; poll < 10; poll++) yield* agent()
      const [only, ...others] = yield* pending
      assert.strictEqual(only!.approvalId, first!.approvalId)
      assert.deepStrictEqual(others, [])
      assert.strictEqual(yield* script.calls, 1)

      const response = yield* answer(Prompt.approvalResponses([Approval.approve(only!)]))
      assert.deepStrictEqual(response.toolCalls.map((call) => call.id), ["t2"], "the model went on")
      assert.strictEqual(yield* agent(), "Deleted, and it is late.")
      assert.deepStrictEqual(runs, ["time", "delete a", "time"])
      assert.deepStrictEqual(yield* pending, [])
      for (const { prompt } of yield* script.requests) C.assertWellFormed(prompt)
      assert.deepStrictEqual(C.outline((yield* script.requests).at(-1)!.prompt).slice(2), [
        "assistant:[call t1, call c1]",
        "tool:[result t1, result c1]",
        "assistant:[call t2]",
        "tool:[result t2]"
      ])
      assert.isAbove((yield* Ref.get(session.history)).content.length, 0)
    })))

  it.effect("an answer put into the chat by Chat.answer: the very loop goes on", () =>
    C.fresh(Effect.gen(function*() {
      const { agent, pending, runs, session } = yield* begin([[C.deleteCall("c1", "a")], "Deleted."])
      yield* agent()
      yield* Chat.answer(session, [Approval.approve((yield* pending)[0]!)])
      assert.strictEqual(yield* agent(), "Deleted.")
      assert.deepStrictEqual(runs, ["delete a"])
    })))

  it.effect("a denial: the very loop goes on and ends", () =>
    C.fresh(Effect.gen(function*() {
      const { agent, pending, runs, session } = yield* begin([[C.deleteCall("c1", "a")], "I kept it."])
      yield* agent()
      yield* Chat.answer(session, [Approval.deny((yield* pending)[0]!, "keep it")])
      assert.strictEqual(yield* agent(), "I kept it.")
      assert.deepStrictEqual(runs, [])
    })))
})
