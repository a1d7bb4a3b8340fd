/**
 * Several answers at once stand alone: one that is stale, too late, unknown, of somebody who may not, or does not fit has no
 * effect and is named with why, and the others count (laws L4, L16).
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Approval, ApprovalError, ApprovalJournal, ApprovalPolicy, type Conversation } from "../../src/index.ts"
import * as ApprovalId from "../../src/internal/seal/approvalId.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as C from "./support.ts"
import * as W from "./who.ts"

const fatesOf = ({ refused }: Pick<C.Outcome, "refused">) =>
  refused.map(({ approvalId, error }) => [approvalId, error.reason._tag])

const reasonOf = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), (error) => error instanceof ApprovalError.ApprovalError ? error.reason._tag : error)

const ids = (requests: ReadonlyArray<Approval.ApprovalRequest>) => requests.map(({ approvalId }) => approvalId)

const removals = (paths: string) => [...paths].map((path) => C.remove(path))

describe("several answers at once", () => {
  it.effect("one that was settled before does not take the one with it that is open", () =>
    Effect.gen(function*() {
      const { conversation, steps } = yield* C.start({ turns: [removals("ab"), "Done."] })
      const [first, second] = C.requestsOf(yield* conversation.send("Clean up."))
      yield* conversation.decide(Approval.deny(first!))
      const outcome = yield* conversation.decide([Approval.approve(first!), Approval.approve(second!)])
      assert.strictEqual(C.finished(outcome), "Done.")
      assert.deepStrictEqual(fatesOf(outcome), [[first!.approvalId, "AlreadyDecided"]])
      const [{ error }] = outcome.refused as [Conversation.RefusedAnswer]
      assert.strictEqual(error.reason._tag === "AlreadyDecided" && error.reason.state, "denied")
      assert.deepStrictEqual(steps, [["DeleteFile", "b"]])
    }))

  it.effect("one that somebody settled elsewhere, where the conversation does not see it, is named too", () =>
    Effect.gen(function*() {
      const shared = yield* C.makeShared
      const { conversation, steps } = yield* C.start({ shared, turns: [removals("ab"), "Done."] })
      const [gone, open] = C.requestsOf(yield* conversation.send("Clean up."))
      const { approvalId, toolCallId, toolName } = gone!
      const journal = yield* ApprovalJournal.make({ store: shared })
      yield* journal.end({ ...ApprovalId.parse(approvalId)!, approvalId, toolCallId, toolName }, "denied", "no")
      const outcome = yield* conversation.decide([Approval.approve(gone!), Approval.approve(open!)])
      assert.deepStrictEqual(fatesOf(outcome), [[approvalId, "AlreadyDecided"]])
      assert.deepStrictEqual(steps, [["DeleteFile", "b"]])
    }))

  it.effect("every kind of answer that has no effect is named, and the one that has one counts", () =>
    Effect.gen(function*() {
      const { conversation, steps } = yield* C.start({
        turns: [[...removals("abc"), C.ask("Size?"), C.menu("external")], "Done."]
      })
      const [settled, open, edited, size, paid] = C.requestsOf(yield* conversation.send("Clean up."))
      yield* conversation.decide(Approval.approve(settled!))
      const outcome = yield* conversation.decide([
        Approval.deny(settled!),
        { approvalId: "made-up", approved: true },
        { approvalId: size!.approvalId, approved: "maybe" } as never,
        Approval.answer(paid!, { paid: "nothing" }),
        Approval.approve(edited!, { params: { path: 7 } }),
        Approval.approve(open!)
      ])
      assert.sameDeepMembers(fatesOf(outcome), [
        [size!.approvalId, "InvalidAnswer"],
        [settled!.approvalId, "AlreadyDecided"],
        ["made-up", "UnknownApproval"],
        [paid!.approvalId, "InvalidAnswer"],
        [edited!.approvalId, "InvalidEdit"]
      ])
      assert.deepStrictEqual(steps.filter(([step]) => step === "DeleteFile"), [["DeleteFile", "a"], [
        "DeleteFile",
        "b"
      ]])
      const left = [edited!, size!, paid!]
      assert.deepStrictEqual(ids(C.requestsOf(outcome)), ids(left))
      assert.deepStrictEqual(ids(yield* conversation.pending()), ids(left))
      // What was refused is not in the way of what is answered later, nor in the history.
      assert.notInclude(JSON.stringify((yield* conversation.history).content), "\"path\":7")
      yield* conversation.decide([Approval.approve(edited!), Approval.answer(size!, "42")])
      assert.strictEqual(C.finished(yield* conversation.decide(Approval.answer(paid!, { paid: "20" }))), "Done.")
    }))

  it.effect("where none has an effect it fails with why the first has none, and changes nothing", () =>
    Effect.gen(function*() {
      const { conversation, script } = yield* C.start({ turns: [removals("ab"), "Done."] })
      const [first] = C.requestsOf(yield* conversation.send("Clean up."))
      yield* conversation.decide(Approval.approve(first!))
      const before = [yield* conversation.history, yield* conversation.pending(), yield* script.calls]
      const stale = conversation.decide([Approval.approve(first!), { approvalId: "made-up", approved: false }])
      assert.strictEqual(yield* reasonOf(stale), "AlreadyDecided")
      const unread = conversation.decide([{ approvalId: first!.approvalId, approved: "maybe" } as never])
      assert.strictEqual(yield* reasonOf(unread), "InvalidAnswer")
      assert.deepStrictEqual([yield* conversation.history, yield* conversation.pending(), yield* script.calls], before)
    }))

  it.effect("a remark counts, beside an answer that does not", () =>
    Effect.gen(function*() {
      const { conversation, script } = yield* C.start({ turns: [removals("a"), "Done."] })
      const [request] = C.requestsOf(yield* conversation.send("Clean up."))
      const remark = { approvalId: request!.approvalId, decision: { _tag: "Info", note: "ask Ann" } } as const
      const outcome = yield* conversation.decide([{ approvalId: "made-up", approved: true }, remark])
      assert.deepStrictEqual(fatesOf(outcome), [["made-up", "UnknownApproval"]])
      assert.deepStrictEqual(C.requestsOf(outcome).map(({ reason }) => reason), ["ask Ann"])
      assert.strictEqual(yield* script.calls, 1)
    }))

  it.effect("an approval that comes too late is named, and the others count", () =>
    Effect.gen(function*() {
      const world = yield* W.makeWorld({
        turns: [[W.pay(20), W.pay(30)], "Well."],
        policy: ApprovalPolicy.make(({ params }) =>
          Effect.succeed(
            Approval.needsApproval((params as { amount: number }).amount > 25 ? { expiresIn: 3_600_000 } : {})
          )
        )
      })
      const asked = yield* world.conversation.send("Pay.")
      const requests = asked._tag === "Waiting" ? asked.requests : []
      yield* TestClock.adjust("2 hours")
      const outcome = yield* world.conversation.decide(requests.map((request) => Approval.approve(request)))
      assert.deepStrictEqual([outcome._tag, outcome.text], ["Completed", "Well."])
      assert.deepStrictEqual(fatesOf(outcome), [[requests[1]!.approvalId, "Expired"]])
      assert.deepStrictEqual(world.ran, ["paid 20"])
      assert.strictEqual((yield* world.entry(requests[1]!))?.state, "expired")
    }))

  it.effect("an edit of what the provider asks about is named, and the request stays open", () =>
    Effect.gen(function*() {
      const hosted = [
        ScriptedModel.toolCall({ id: "p1", name: "Search", params: { query: "a" }, providerExecuted: true }),
        { type: "tool-approval-request", approvalId: "mcpr_1", toolCallId: "p1" }
      ] as const
      const { conversation, script, steps } = yield* C.start({ turns: [[...hosted, C.remove("a")], "Done."] })
      const requests = C.requestsOf(yield* conversation.send("Clean up."))
      const outcome = yield* conversation.decide(
        requests.map((request) =>
          Approval.approve(request, request.providerExecuted ? { params: { query: "b" } } : undefined)
        )
      )
      assert.deepStrictEqual(fatesOf(outcome), [["mcpr_1", "InvalidEdit"]])
      assert.deepStrictEqual(ids(C.requestsOf(outcome)), ["mcpr_1"])
      assert.deepStrictEqual(steps, [["DeleteFile", "a"]])
      assert.strictEqual(yield* script.calls, 1)
    }))

  it.effect("the outcome of a turn in which every answer counts names none, nor does how it stands", () =>
    Effect.gen(function*() {
      const { conversation } = yield* C.start({ turns: [removals("ab"), "Done."] })
      const [first, second] = C.requestsOf(yield* conversation.send("Clean up."))
      assert.deepStrictEqual((yield* conversation.decide(Approval.approve(first!))).refused, [])
      const outcome = yield* conversation.decide([Approval.approve(first!), Approval.approve(second!)])
      assert.lengthOf(outcome.refused, 1)
      assert.deepStrictEqual((yield* conversation.outcome)?.refused, outcome.refused)
      assert.deepStrictEqual((yield* conversation.decide([])).refused, [])
    }))
})
