/** One answer that is refused never voids the others. */
import { Approval, ApprovalError, Approver, ConversationStore, Prompt } from "@assent/ai"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Conversation } from "../../src/internal/turn/conversation.ts"
import * as Deciding from "../../src/internal/turn/deciding.ts"
import { request, result } from "../wire/parts.ts"

const ran = result("c1", "done")

/** A conversation that refuses a batch whole, as long as it holds one of these. */
const conversationOf = (
  refusals: Readonly<Record<string, unknown>>,
  pending: ReadonlyArray<Approval.ApprovalRequest> = []
) => {
  const batches: Array<ReadonlyArray<string>> = []
  const people: Array<Approver.Person | undefined> = []
  const conversation: Conversation = {
    cancel: () => Effect.die("nothing is stopped here"),
    history: Effect.succeed(Prompt.empty),
    pending: () => Effect.succeed(pending),
    stream: () => Stream.empty,
    decide: (answers, { by }) => {
      batches.push(answers.map(({ approvalId }) => approvalId))
      people.push(by)
      const refused = answers.find(({ approvalId }) => approvalId in refusals)
      return refused === undefined ? Effect.succeed({ content: [ran] }) : Effect.fail(refusals[refused.approvalId])
    }
  }
  return { batches, conversation, people }
}

const approve = (...ids: ReadonlyArray<string>) => ids.map((approvalId) => Approval.approve({ approvalId }))

const ada = { id: "ada" }

describe("deciding", () => {
  it.effect("all are decided in one turn, by whoever is logged in", () =>
    Effect.gen(function*() {
      const { batches, conversation, people } = conversationOf({})
      const decided = yield* Deciding.decide(conversation, approve("a", "b"), ada)
      assert.deepStrictEqual(decided, { content: [ran], isTaken: true, refused: new Map() })
      assert.deepStrictEqual([batches, people], [[["a", "b"]], [ada]])
    }))

  it.effect("those that are refused are left out, each with a sentence", () =>
    Effect.gen(function*() {
      const unknownId = "u".repeat(100)
      const { batches, conversation } = conversationOf({
        stale: ApprovalError.make(new ApprovalError.AlreadyDecided({ approvalId: "stale", state: "denied" })),
        [unknownId]: ApprovalError.make(new ApprovalError.UnknownApproval({ approvalId: unknownId.slice(0, 64) })),
        theirs: ApprovalError.make(
          new ApprovalError.NotAnApprover({
            approvalId: "theirs",
            approvers: [["bob"]],
            decidedBy: new Approver.DecidedBy({ id: "ada", via: "conversation" }),
            problem: "not named"
          })
        )
      })
      const decided = yield* Deciding.decide(conversation, approve("stale", "good", unknownId, "theirs"), ada)
      assert.isTrue(decided.isTaken)
      assert.deepStrictEqual(batches.at(-1), ["good"])
      assert.deepStrictEqual([...decided.refused.keys()], ["stale", unknownId, "theirs"])
      assert.strictEqual(decided.refused.get("stale"), "This was decided already, and what was decided stands.")
      assert.include(decided.refused.get("theirs"), "bob")
    }))

  it.effect("those that the turn itself left out are told as well", () =>
    Effect.gen(function*() {
      const { conversation } = conversationOf({})
      const error = ApprovalError.make(new ApprovalError.AlreadyDecided({ approvalId: "stale", state: "done" }))
      const decide: Conversation["decide"] = () =>
        Effect.succeed({ content: [ran], refused: [{ approvalId: "stale", error }] })
      const decided = yield* Deciding.decide({ ...conversation, decide }, approve("stale", "good"), ada)
      assert.deepStrictEqual(decided, {
        content: [ran],
        isTaken: true,
        refused: new Map([["stale", "This was decided already, and what was decided stands."]])
      })
    }))

  it.effect("where all are refused no turn is taken", () =>
    Effect.gen(function*() {
      const stale = ApprovalError.make(new ApprovalError.AlreadyDecided({ approvalId: "stale", state: "done" }))
      const decided = yield* Deciding.decide(conversationOf({ stale }).conversation, approve("stale"), ada)
      assert.deepStrictEqual([decided.isTaken, decided.refused.size], [false, 1])
    }))

  it.effect("a turn that fails has failed", () =>
    Effect.gen(function*() {
      const busy = new ConversationStore.ConversationError({ reason: "Busy", description: "Busy." })
      const decided = Deciding.decide(conversationOf({ a: busy }).conversation, approve("a"), ada)
      assert.strictEqual(yield* Effect.flip(decided), busy)
    }))

  it.effect("nobody answers in the place of a webhook, a timer or the program", () =>
    Effect.gen(function*() {
      const pending = ["webhook", "timer", "external"].map((interaction) => request(interaction, "c", { interaction }))
      const { batches, conversation } = conversationOf({}, [...pending, request("a", "c1")])
      const decided = yield* Deciding.decide(conversation, approve("webhook", "timer", "external", "a"), ada)
      assert.deepStrictEqual(batches, [["a"]])
      assert.deepStrictEqual([...decided.refused.keys()], ["webhook", "timer", "external"])
      // To take it back is for people.
      const denied = yield* Deciding.decide(conversation, [Approval.deny({ approvalId: "timer" })], ada)
      assert.strictEqual(denied.refused.size, 0)
    }))
})
