/** A reason that a person gave is never lost, whichever of its names it was posted by, and wherever (law L14). */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type Approval, ApprovalError, Chat, Prompt } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as Conversation from "../conversation/support.ts"
import * as Waiting from "../waiting/support.ts"
import * as C from "./conversation.ts"
import * as H from "./hosted.ts"
import * as M from "./remembered.ts"

const posted = (value: unknown): Approval.AnswerInput => JSON.parse(JSON.stringify(value))

describe("law L14: what was posted with a denial", () => {
  const parts: ReadonlyArray<readonly [part: object, reason: string]> = [
    [{ reason: "keep it" }, "keep it"],
    [{ options: { assent: { note: "keep it" } } }, "keep it"],
    [{ options: { assent: { reason: "keep it" } } }, "keep it"],
    [{ reason: "for ever", options: { assent: { note: "keep it" } } }, "keep it\nfor ever"],
    [{ options: { assent: { note: 7 } } }, "The user denied this call."]
  ]
  C.everyWay(
    "reaches the model from a part of the history",
    (way) =>
      Effect.forEach(parts, ([part, reason]) =>
        Effect.gen(function*() {
          const { chat, runs } = yield* M.deleting(way, [["a"], "ok"])
          const { requests: [request] } = yield* chat.send("go")
          const answer = Prompt.toolApprovalResponsePart({ approvalId: request!.approvalId, approved: false, ...part })
          const { results } = yield* chat.send(Prompt.fromMessages([Prompt.toolMessage({ content: [answer] })]))
          assert.deepStrictEqual([results.map(C.reasonOf), runs], [[reason], []])
        }))
  )

  C.everyWay("reaches the provider that asked, by its own name", function*(way) {
    const { chat } = yield* H.begin(way, [H.asking(1), "ok"])
    yield* chat.send("go")
    yield* chat.send(M.posted({ approvalId: "mcpr_1", approved: false, assent: { note: "keep it" } }))
    assert.include(H.approvals(yield* chat.lastPrompt), "deny mcpr_1 keep it")
  })

  it.effect("is read from the JSON that a conversation and a chat are given; what cannot be read changes nothing", () =>
    Effect.gen(function*() {
      const { conversation, steps } = yield* Conversation.start({ turns: [[Conversation.remove("a")], "ok"] })
      const [request] = Conversation.requestsOf(yield* conversation.send("go"))
      const { approvalId } = request!
      const chat = yield* Chat.fromPrompt(yield* conversation.history)
      for (
        const answer of [
          { approvalId, decision: { _tag: "approved" } },
          { approvalId, approved: "true" },
          { approvalId, approved: true, decision: { _tag: "Denied" } },
          null
        ]
      ) {
        const refused = yield* Effect.flip(conversation.decide(posted(answer)))
        assert.strictEqual(refused instanceof ApprovalError.ApprovalError && refused.reason._tag, "InvalidAnswer")
        assert.strictEqual((yield* Effect.flip(Chat.answer(chat, [posted(answer)]))).reason._tag, "InvalidAnswer")
      }
      assert.deepStrictEqual((yield* conversation.pending()).length, 1)
      yield* Chat.answer(chat, [posted({ approvalId, approved: false, reason: "keep it" })])
      const outcome = yield* conversation.decide(
        posted({ approvalId, decision: { _tag: "Denied", reason: "keep it" } })
      )
      const [result] = C.toTurn(outcome.content).results
      assert.deepStrictEqual([C.reasonOf(result!), steps.length], ["keep it", 0])
    }).pipe(Effect.scoped))

  it.effect("is what a tool that asked for a yes or no is given", () =>
    Effect.gen(function*() {
      const submit = ScriptedModel.toolCall({ id: "s1", name: "Submit", params: { item: "chairs", amount: "250" } })
      for (
        const answer of [
          { decision: { _tag: "Denied", reason: "too much" } },
          { decision: { _tag: "Approved", answer: { approved: false, reason: "too much" } } },
          { approved: false, reason: "too much" },
          { decision: { _tag: "Approved", answer: { approved: false, note: "too much", reason: " " } } }
        ]
      ) {
        const { conversation, steps } = yield* Conversation.start({ turns: [[submit], "ok"] })
        const [request] = Conversation.requestsOf(yield* conversation.send("go"))
        yield* conversation.decide(posted({ approvalId: request!.approvalId, ...answer }))
        assert.deepStrictEqual(steps.at(-1)?.slice(0, 2), ["manager", { approved: false, note: "too much" }])
      }
      const { conversation, steps } = yield* Conversation.start({ turns: [[submit], "ok"] })
      const [{ approvalId }] = Conversation.requestsOf(yield* conversation.send("go")) as [Approval.ApprovalRequest]
      const before = steps.length
      for (const note of [3, null]) {
        const answer = { approved: false, note, reason: "too much" }
        const wrong = posted({ approvalId, decision: { _tag: "Approved", answer } })
        const refused = yield* Effect.flip(conversation.decide(wrong))
        assert.match(refused.message, /The request stays open/, `${note} is no note`)
        assert.lengthOf(steps, before)
      }
      const verdict = JSON.parse(`{ "approved": false, "note": "too much", "reason": "ask again" }`)
      yield* conversation.resume(Waiting.Submit, "manager", verdict)
      assert.deepStrictEqual(steps.at(-1)?.slice(0, 2), ["manager", { approved: false, note: "too much\nask again" }])
    }).pipe(Effect.scoped))
})
