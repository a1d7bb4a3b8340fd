/**
 * L2 for requests that nobody set an expiry for: what became of one is known as long as its approval could be shown
 * again, in memory and in a store that outlives its process.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import * as ApprovalJournal from "../../src/ApprovalJournal.ts"
import * as Store from "../../src/Store.ts"

const claimOf = (nonce: string): ApprovalJournal.Claim => ({
  approvalId: `id-of-${nonce}`,
  nonce,
  expiresAt: Infinity,
  toolName: "Append",
  toolCallId: "call-1"
})

const recorded = new ApprovalJournal.Recorded({ isFailure: false, encodedResult: "ran" })

const runs = {
  effect: Effect.succeed({ recorded, result: "ran", encodedResult: "ran" }),
  idempotent: false
}

const mustNotRun = { effect: Effect.die(new Error("It ran.")), idempotent: true }

const settle = (journal: ApprovalJournal.Service) =>
  Effect.gen(function*() {
    yield* journal.run(claimOf("ran"), runs)
    yield* journal.end(claimOf("denied"), "denied", "no")
  })

const isKnown = (journal: ApprovalJournal.Service) =>
  Effect.gen(function*() {
    const { entry } = yield* journal.run(claimOf("ran"), mustNotRun)
    assert.deepStrictEqual([entry.state, entry.recorded], ["done", recorded])
    assert.strictEqual((yield* journal.run(claimOf("denied"), mustNotRun)).entry.state, "denied")
  })

describe("L2 a request that has no expiry", () => {
  it.effect("is never forgotten by a journal in memory, which refuses to claim once it is full", () =>
    Effect.gen(function*() {
      const journal = yield* ApprovalJournal.ApprovalJournal
      yield* settle(journal)
      yield* TestClock.adjust("36500 days")
      yield* isKnown(journal)
      for (const nonce of ["one", "two"]) {
        const goesOn = journal.run(claimOf(nonce), { effect: Effect.never, idempotent: false })
        yield* Effect.forkChild(goesOn, { startImmediately: true })
      }
      const { reason } = yield* Effect.flip(journal.run(claimOf("new"), mustNotRun))
      assert.strictEqual(reason._tag, "JournalUnavailable")
      yield* isKnown(journal)
    }).pipe(Effect.provide(ApprovalJournal.layerMemory({ capacity: 2, grace: 0 }))))

  it.effect("is never swept from a store, and is known to a process that starts later", () =>
    Effect.gen(function*() {
      const store = yield* Store.makeMemory()
      const opened = <A, E, R>(use: (journal: ApprovalJournal.Service) => Effect.Effect<A, E, R>) =>
        Effect.scoped(Effect.flatMap(ApprovalJournal.make({ store }), use))
      yield* opened(settle)
      yield* TestClock.adjust("36500 days")
      yield* store.sweep(1_000)
      yield* opened(isKnown)
    }))
})
