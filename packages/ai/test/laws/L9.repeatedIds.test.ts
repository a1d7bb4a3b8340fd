/**
 * L9 and L13 for ids that the provider uses again: a request of another call is another request. Its answer is its own,
 * and nothing that was said to the one before counts for it.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Approval, Conversation, ConversationStore, LanguageModel, Prompt, Toolkit } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as C from "./conversation.ts"
import * as H from "./hosted.ts"

/** The server counts anew: the id of the request is the one before, and so may be the call's. */
const again = (toolCallId: string, tool = "delete_repository") => [
  ScriptedModel.toolCall({
    id: toolCallId,
    name: "Mcp",
    params: { name: tool, path: "other" },
    providerExecuted: true,
    metadata: { assent: { source: "mcp.github", toolName: `mcp.github.${tool}`, params: { path: "other" } } }
  }),
  H.request("mcpr_1", toolCallId)
]

const answer = (approved: boolean, reason?: string) =>
  Prompt.fromMessages([
    Prompt.toolMessage({
      content: [Prompt.toolApprovalResponsePart({ approvalId: "mcpr_1", approved, ...(reason && { reason }) })]
    })
  ])

const asks = H.withPolicy(() => Approval.needsApproval({}))

const deciders: Record<string, <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>> = {
  "where nobody decides here": (effect) => effect,
  "where a policy wants a person": asks
}

/** The last answer that the provider got, and how many it got. */
const lastAnswer = (prompt: Prompt.Prompt) => {
  const answers = H.approvals(prompt).filter((one) => !one.startsWith("request"))
  return [answers.length, answers.at(-1)]
}

for (const [where, decides] of Object.entries(deciders)) {
  for (const callId of ["mcp_1", "mcp_2"]) {
    describe(`L9 L13 the provider's request of an id used again, for ${callId}, ${where}`, () => {
      C.everyWay(`it is asked about, and the "no" to it is told, ${callId}, ${where}`, function*(way) {
        const { chat } = yield* H.begin(way, [
          H.asking(1),
          [H.done(1), ScriptedModel.text("One."), ...again(callId)],
          "Then not."
        ])
        yield* chat.send("go")
        const asked = yield* decides(chat.send(answer(true)))
        assert.deepStrictEqual(asked.requests.map(({ approvalId, toolName }) => [approvalId, toolName]), [
          ["mcpr_1", "mcp.github.delete_repository"]
        ])
        // What was said to the one before is no consent to this one.
        const waits = yield* decides(chat.send([]))
        assert.deepStrictEqual([waits.finishReason, yield* chat.calls], ["pause", 2])
        assert.deepStrictEqual(waits.requests.map(({ params }) => params), [{ path: "other" }])
        const denied = yield* decides(chat.send(answer(false, "not that one")))
        assert.deepStrictEqual([denied.text, yield* chat.calls], ["Then not.", 3])
        assert.deepStrictEqual(lastAnswer(yield* chat.lastPrompt), [2, "deny mcpr_1 not that one"])
      })

      C.everyWay(`a "no" to the first is none to the second, ${callId}, ${where}`, function*(way) {
        const { chat } = yield* H.begin(way, [H.asking(1), [ScriptedModel.text("Well."), ...again(callId)], "Done."])
        yield* chat.send("go")
        const asked = yield* decides(chat.send(answer(false)))
        assert.lengthOf(asked.requests, 1)
        assert.strictEqual((yield* decides(chat.send(answer(true)))).text, "Done.")
        assert.deepStrictEqual(lastAnswer(yield* chat.lastPrompt), [2, "approve mcpr_1"])
      })
    })
  }
}

describe("L9 L16 an id used again, where two have to approve", () => {
  it.effect("what one has said of the call before does not count for this one", () =>
    C.fresh(Effect.gen(function*() {
      const script = yield* ScriptedModel.make({
        turns: [H.asking(1), [H.done(1), ScriptedModel.text("One."), ...again("mcp_1")], "Two."],
        strict: H.allowed
      })
      const both = H.withPolicy(() => Approval.needsApproval({ approvers: [["ada"], ["bob"]] }))
      const conversation = yield* Conversation.make({ id: "again", toolkit: Toolkit.make(H.Mcp) }).pipe(
        Effect.provideServiceEffect(LanguageModel.LanguageModel, LanguageModel.make(script.params)),
        Effect.provide(ConversationStore.layerMemory())
      )
      const open = Effect.map(conversation.pending(), (requests) => requests[0]!)
      yield* both(conversation.send("go"))
      yield* both(conversation.decide(Approval.approve(yield* open), { by: { id: "ada" } }))
      assert.strictEqual(yield* script.calls, 1)
      yield* both(conversation.decide(Approval.approve(yield* open), { by: { id: "bob" } }))
      assert.strictEqual(yield* script.calls, 2)
      // Asked again under both ids: of other parameters.
      assert.strictEqual((yield* open).toolName, "mcp.github.delete_repository")
      yield* both(conversation.decide(Approval.approve(yield* open), { by: { id: "bob" } }))
      assert.strictEqual(yield* script.calls, 2)
      yield* both(conversation.decide(Approval.deny(yield* open, "no"), { by: { id: "ada" } }))
      assert.strictEqual(yield* script.calls, 3)
      const { prompt } = (yield* script.requests).at(-1)!
      assert.deepStrictEqual(lastAnswer(prompt), [2, "deny mcpr_1 no"])
    })))
})
