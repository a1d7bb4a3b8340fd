/** L2, L4: a clock that ran ahead and came back opens nothing: neither what ran nor what it took for expired runs again. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { ApprovalJournal, Approver, Store } from "../../src/index.ts"
import { claimOf, makeCounted, ranWith } from "../fixtures/journal.ts"

const hours = (count: number) => count * 3_600_000

const begin = Effect.gen(function*() {
  const store = yield* Store.makeMemory()
  const journal = yield* ApprovalJournal.make({ store, grace: 0, heartbeat: "1 second" })
  const other = yield* ApprovalJournal.make({ store: Store.make(store), grace: 0, heartbeat: "1 second" })
  return { journal, other, store }
})

const claim: ApprovalJournal.Claim = { ...claimOf("a"), issuedAt: 0 }

describe("L2 a clock that ran ahead and came back", () => {
  for (const ahead of [1, 24, 26, 24 * 365]) {
    for (const idempotent of [false, true]) {
      it.effect(`L2 by ${ahead} hours does not let run again what ran, idempotent: ${idempotent}`, () =>
        Effect.gen(function*() {
          const { journal, other, store } = yield* begin
          const run = { ...makeCounted(Effect.succeed(ranWith("once"))), idempotent }
          yield* journal.run(claim, run)
          yield* TestClock.setTime(hours(ahead))
          while ((yield* store.sweep(10)) > 0) { /* again */ }
          yield* TestClock.setTime(60_000)
          const again = makeCounted()
          const { entry, ran } = yield* other.run(claim, { ...again, idempotent })
          assert.deepStrictEqual([ran, again.runs], [undefined, 0])
          const isKept = ahead < 25
          assert.strictEqual(entry.state, isKept ? "done" : "unknown")
          if (!isKept) assert.match(entry.reason ?? "", /not known any more.*Check/)
          // Whatever is asked from now on runs.
          const later = { ...claimOf("later"), issuedAt: 60_000 }
          assert.strictEqual((yield* other.run(later, makeCounted())).entry.state, "done")
        }))
    }

    it.effect(`L4 by ${ahead} hours does not let run what it took for expired`, () =>
      Effect.gen(function*() {
        const { journal, other, store } = yield* begin
        yield* TestClock.setTime(hours(ahead))
        assert.strictEqual((yield* journal.end(claim, "expired", "Too late.")).state, "expired")
        while ((yield* store.sweep(10)) > 0) { /* again */ }
        yield* TestClock.setTime(60_000)
        const run = makeCounted()
        const { entry } = yield* other.run(claim, run)
        assert.strictEqual(run.runs, 0)
        assert.strictEqual(entry.state, ahead < 25 ? "expired" : "unknown")
      }))
  }

  it.effect("L2 does not let an approval be kept with a request that it gave up", () =>
    Effect.gen(function*() {
      const { journal, other, store } = yield* begin
      yield* journal.run(claim, makeCounted())
      yield* TestClock.setTime(hours(72))
      while ((yield* store.sweep(10)) > 0) { /* again */ }
      yield* TestClock.setTime(60_000)
      const by = { ...claim, decidedBy: new Approver.DecidedBy({ id: "ann", via: "conversation" }) }
      const error = yield* Effect.flip(other.approve(by))
      assert.strictEqual(error._tag === "ApprovalError" && error.reason._tag, "JournalUnavailable")
      assert.isUndefined(yield* other.find(claim))
    }))
})
