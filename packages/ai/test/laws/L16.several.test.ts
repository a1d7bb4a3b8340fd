/**
 * L16, several who must approve: an approval that is not the last one needed is kept with the request and claims nothing; one
 * person counts once; any approver's denial ends it; and an edit starts anew.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Approval, ApprovalJournal, ApprovalSeal, Store } from "../../src/index.ts"
import * as A from "./approvers.ts"
import * as Support from "./support.ts"

const two = ["generateText", "Chat.streamText"] as const

describe("L16 two who must be two", () => {
  Support.forEachMode("L16 runs when each of both has approved, and says of both", function*(mode) {
    const { answer, request, tools } = yield* A.deletion(mode, A.both)
    const [first, events] = yield* A.published(A.by(A.ada)(answer(Approval.approve(request))))
    assert.deepStrictEqual(first.requests.map(({ approvalId }) => approvalId), [request.approvalId])
    assert.match(first.requests[0]!.reason ?? "", /Approved already by Ada\. Still needed: bob\./)
    assert.deepStrictEqual(events.flatMap((event) => event._tag === "PartlyApproved" ? [event.decidedBy.id] : []), [
      "ada"
    ])
    assert.deepStrictEqual(A.refusals(events), [])
    assert.strictEqual(tools.count("DeleteFile"), 0)
    const [second, later] = yield* A.published(A.by(A.bob)(answer(Approval.approve(request))))
    assert.deepStrictEqual(second.results.map(({ metadata }) => metadata.assent), [
      { approvalId: request.approvalId, decidedBy: { id: "bob", name: "Bob", via: "conversation" } }
    ])
    assert.deepStrictEqual(
      later.flatMap((event) => event._tag === "Changed" ? [`${event.state} ${event.decidedBy?.id}`] : []),
      ["running bob", "done bob"]
    )
    assert.strictEqual(tools.count("DeleteFile"), 1)
  }, two)

  Support.forEachMode(
    "L16 an approval of one, that comes when another has just denied it, is told of nobody",
    function*(mode) {
      const { answer, request, tools } = yield* A.deletion(mode, A.both)
      const journal = yield* ApprovalJournal.ApprovalJournal
      const raced: ApprovalJournal.Service = {
        ...journal,
        approve: (claim) => Effect.andThen(journal.end(claim, "denied", "not today"), journal.approve(claim))
      }
      const [turn, events] = yield* A.published(A.by(A.ada)(answer(Approval.approve(request)))).pipe(
        Effect.provideService(ApprovalJournal.ApprovalJournal, raced)
      )
      assert.match(Support.failureReason(turn.results[0]), /not today/)
      assert.notInclude(events.map(({ _tag }) => _tag), "PartlyApproved")
      assert.strictEqual(tools.count("DeleteFile"), 0)
    },
    two
  )

  Support.forEachMode("L16 the same one twice is one, and is told so in words", function*(mode) {
    const { answer, request, tools } = yield* A.deletion(mode, A.both)
    yield* A.by(A.ada)(answer(Approval.approve(request)))
    const [again, events] = yield* A.published(A.by(A.ada)(answer(Approval.approve(request))))
    assert.deepStrictEqual(A.refusals(events), ["approved already"])
    assert.match(again.requests[0]!.reason ?? "", /Approved already by Ada\. Still needed: bob\./)
    assert.strictEqual(tools.count("DeleteFile"), 0)
  }, two)

  Support.forEachMode("L16 a denial by either ends it, and one by a stranger does not", function*(mode) {
    const { answer, request, tools } = yield* A.deletion(mode, A.both)
    yield* A.by(A.ada)(answer(Approval.approve(request)))
    const open = yield* A.by(A.eve)(answer(Approval.deny(request, "never")))
    assert.match(open.requests[0]!.reason ?? "", /Eve may not decide this.*Approved already by Ada/)
    const denied = yield* A.by(A.bob)(answer(Approval.deny(request, "not today")))
    assert.match(Support.failureReason(denied.results[0]), /not today/)
    const late = yield* A.by(A.ada)(answer(Approval.approve(request)))
    assert.deepStrictEqual(late.requests, [])
    assert.strictEqual(tools.count("DeleteFile"), 0)
  }, two)

  Support.forEachMode("L16 an edit starts anew: approvals of other parameters do not count", function*(mode) {
    const { answer, request, tools } = yield* A.deletion(mode, A.both)
    const edited = Approval.approve(request, { params: { path: "b" } })
    yield* A.by(A.ada)(answer(Approval.approve(request)))
    const open = yield* A.by(A.bob)(answer(edited))
    assert.match(open.requests[0]!.reason ?? "", /Approved already by Bob, with changed parameters/)
    assert.strictEqual(tools.count("DeleteFile"), 0)
    yield* A.by(A.ada)(answer(edited))
    assert.deepStrictEqual(tools.runs.map(({ params }) => params), [{ path: "b" }])
  }, ["generateText"])

  Support.forEachMode("L16 who is on both lists is enough alone", function*(mode) {
    const { answer, request, tools } = yield* A.deletion(mode, { approvers: [["ada", "eve"], ["bob", "eve"]] })
    yield* A.by(A.eve)(answer(Approval.approve(request)))
    assert.strictEqual(tools.count("DeleteFile"), 1)
  }, ["streamText"])

  Support.forEachMode("L16 inline and later count together", function*(mode) {
    const { answer, request, tools } = yield* A.deletion(mode, A.both)
    const shown: Array<string | undefined> = []
    yield* A.asking(() => true, A.ada)(answer())
    yield* A.by(A.bob)(
      A.asking(({ reason }) => (shown.push(reason), false), A.eve)(answer(Approval.approve(request)))
    )
    assert.deepStrictEqual([shown, tools.count("DeleteFile")], [[], 1])
  }, ["generateText"])
})

/** A process of its own over a store that others have too. */
const startProcess = (store: Store.Store) =>
  Effect.gen(function*() {
    const journal = yield* ApprovalJournal.make({ store, grace: 0 })
    const seal = yield* Effect.provide(ApprovalSeal.ApprovalSeal, ApprovalSeal.layer({ key: Support.key }))
    return <B, E, R>(effect: Effect.Effect<B, E, R>): Effect.Effect<B, E, R> =>
      effect.pipe(
        Effect.provideService(ApprovalJournal.ApprovalJournal, journal),
        Effect.provideService(ApprovalSeal.ApprovalSeal, seal)
      )
  })

describe("L16 processes that share a journal", () => {
  it.effect("L16 an approval is kept over a restart", () =>
    Effect.gen(function*() {
      const store = yield* Store.makeMemory()
      const one = yield* startProcess(store)
      const other = yield* startProcess(store)
      const { answer, request, tools } = yield* one(A.deletion("generateText", A.both))
      yield* one(A.by(A.ada)(answer(Approval.approve(request))))
      yield* other(A.by(A.bob)(answer(Approval.approve(request))))
      assert.strictEqual(tools.count("DeleteFile"), 1)
    }))

  it.effect("L16 racing, no approval is lost, and what is complete is claimed once", () =>
    Effect.gen(function*() {
      for (const people of [[A.ada, A.bob], [A.bob, A.ada, A.ada], [A.ada, A.ada]]) {
        const store = yield* Store.makeMemory()
        const { options, request, told, tools } = yield* (yield* startProcess(store))(
          A.deletion("generateText", A.both)
        )
        const prompt = Support.answers(Approval.approve(request))
        yield* Effect.forEach(
          people,
          (person) =>
            Effect.flatMap(
              startProcess(store),
              (within) => within(A.by(person)(told(Support.takeTurn("generateText", { ...options, prompt }))))
            ),
          { concurrency: "unbounded", discard: true }
        )
        assert.strictEqual(tools.count("DeleteFile"), people.includes(A.bob) ? 1 : 0)
      }
    }))
})
