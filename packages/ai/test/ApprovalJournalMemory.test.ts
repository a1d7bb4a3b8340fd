/** `ApprovalJournal` in memory: which steps it takes, and what it forgets and when. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import * as Approval from "../src/Approval.ts"
import * as ApprovalJournal from "../src/ApprovalJournal.ts"
import * as Store from "../src/Store.ts"
import { claimOf, makeCounted, makeHeld, ranWith, refusedBy, startReader } from "./fixtures/journal.ts"

const hour = 3_600_000

const day = 24 * hour

// =============================================================================
// Steps
// =============================================================================

const endings = ["denied", "expired", "superseded", "cancelled", "void"] as const

/** A store that notes every step from one state to another. */
const watched = (store: Store.Store) => {
  const steps = new Set<string>()
  return {
    steps,
    store: Store.make({
      ...store,
      requests: {
        ...store.requests,
        decide: (name, version, decided) =>
          Effect.gen(function*() {
            const before = yield* store.requests.get(name.nonce)
            const won = yield* store.requests.decide(name, version, decided)
            if (won) steps.add(`${before?.state ?? "pending"} -> ${decided.state}`)
            return won
          })
      }
    })
  }
}

describe("ApprovalJournal's steps", () => {
  const legal = new Set([
    ...["approved", "edited", "denied", "answered", "expired", "superseded", "cancelled", "void", "running"].map((to) =>
      `pending -> ${to}`
    ),
    ...["approved", "edited", "answered"].flatMap((from) =>
      ["running", "suspended", "expired", "void"].map((to) => `${from} -> ${to}`)
    ),
    ...["running", "denied", "expired", "void"].map((to) => `suspended -> ${to}`),
    ...["done", "failed", "unknown", "suspended", "pending"].map((to) => `running -> ${to}`),
    ...["running", "done", "failed", "suspended"].map((to) => `unknown -> ${to}`)
  ])
  const states = Approval.ApprovalState.literals

  it("isLegalStep is a table: nothing follows an end, and only what could not begin goes back to pending", () => {
    for (const from of states) {
      for (const to of states) {
        assert.strictEqual(Approval.isLegalStep(from, to), legal.has(`${from} -> ${to}`), `${from} -> ${to}`)
      }
    }
    for (const end of [...endings, "done", "failed"] as const) {
      assert.deepStrictEqual(states.filter((to) => Approval.isLegalStep(end, to)), [])
    }
    assert.deepStrictEqual(states.filter((from) => Approval.isLegalStep(from, "pending")), ["running"])
  })

  const Attempt = Schema.Struct({
    which: Schema.Literals(["a", "b"]),
    what: Schema.Literals([...endings, "ran", "failed", "crashed", "stopped"]),
    idempotent: Schema.Boolean
  })

  it.effect.prop("takes only legal steps, whatever is asked of it at once", {
    attempts: Schema.Array(Attempt)
  }, ({ attempts }) =>
    Effect.gen(function*() {
      const { steps, store } = watched(yield* Store.makeMemory({ maxResultBytes: 0 }))
      const journal = yield* ApprovalJournal.make({ store })
      yield* Effect.forEach(attempts, ({ idempotent, what, which }) => {
        const claim = claimOf(which)
        switch (what) {
          case "ran":
          case "failed":
          case "crashed":
          case "stopped": {
            const outcome = what === "crashed"
              ? Effect.die("Boom")
              : what === "stopped"
              ? Effect.interrupt
              : Effect.succeed(ranWith(1, what === "failed"))
            return Effect.asVoid(journal.run(claim, { effect: Effect.andThen(Effect.yieldNow, outcome), idempotent }))
          }
          default:
            return Effect.asVoid(journal.end(claim, what, "why"))
        }
      }, { concurrency: 4 })
      assert.deepStrictEqual([...steps].filter((step) => !legal.has(step)), [])
    }))
})

// =============================================================================
// What it remembers
// =============================================================================

describe("ApprovalJournal in memory", () => {
  const provide = (options?: Parameters<typeof ApprovalJournal.layerMemory>[0]) =>
    Effect.provide(ApprovalJournal.layerMemory(options))

  it.effect("L2 At most once: a full journal refuses to claim, runs nothing, and forgets nothing", () =>
    Effect.gen(function*() {
      const journal = yield* ApprovalJournal.ApprovalJournal
      const first = makeCounted()
      yield* journal.run(claimOf("a"), first)
      yield* journal.end(claimOf("b"), "denied", "no")
      const held = yield* makeHeld
      const running = yield* Effect.forEach(["d", "e"], (nonce) => startReader(journal.run(claimOf(nonce), held)))
      const late = makeCounted()
      assert.match(yield* refusedBy(journal.run(claimOf("c"), late)), /holds 2 rows.*answers are still good/)
      assert.strictEqual(late.runs, 0)
      assert.isUndefined(yield* journal.find(claimOf("c")))
      assert.strictEqual((yield* journal.run(claimOf("a"), makeCounted())).entry.state, "done")
      assert.strictEqual((yield* journal.run(claimOf("b"), makeCounted())).entry.state, "denied")
      assert.strictEqual(first.runs, 1)
      // What ends takes no room that a claim needs, and a denial none at all (law L2).
      assert.strictEqual((yield* journal.end(claimOf("f"), "denied", "no")).state, "denied")

      yield* held.release
      yield* Fiber.joinAll(running)
      assert.strictEqual((yield* journal.run(claimOf("c"), late)).entry.state, "done")
      assert.strictEqual(late.runs, 1)
    }).pipe(provide({ capacity: 2 })))

  it.effect("L2 At most once: of many more calls than there is room for, one after the other, none is refused or run again", () =>
    Effect.gen(function*() {
      const journal = yield* ApprovalJournal.ApprovalJournal
      const counted = makeCounted()
      const claims = Array.from({ length: 500 }, (_, i) => claimOf(`n${i}`, Infinity))
      for (let round = 0; round < 2; round++) {
        for (const claim of claims) yield* journal.run(claim, counted)
      }
      assert.strictEqual(counted.runs, 500)
    }).pipe(provide({ capacity: 3 })))

  it.effect("L2 At most once: an entry outlives its seal by a day, and then is gone", () =>
    Effect.gen(function*() {
      const journal = yield* ApprovalJournal.ApprovalJournal
      const ran = claimOf("ran", 2 * hour)
      yield* journal.run(ran, makeCounted())
      yield* journal.end(claimOf("denied", 0), "denied", "no")
      yield* journal.end(claimOf("never", Number.MAX_SAFE_INTEGER), "denied", "no")
      yield* TestClock.adjust(day - 1)
      assert.strictEqual((yield* journal.find(claimOf("denied", 0)))?.state, "denied")
      yield* TestClock.adjust(1)
      assert.isUndefined(yield* journal.find(claimOf("denied", 0)))
      yield* TestClock.adjust(2 * hour - 1)
      assert.strictEqual((yield* journal.run(ran, makeCounted())).entry.state, "done")
      yield* TestClock.adjust(1)
      assert.isUndefined(yield* journal.find(ran))
      yield* TestClock.adjust(1_000 * day)
      assert.strictEqual((yield* journal.find(claimOf("never", Number.MAX_SAFE_INTEGER)))?.state, "denied")
    }).pipe(provide()))

  it.effect(
    "L2 At most once: of 20,000 calls it remembers those whose seals live, and a day's more",
    () =>
      Effect.gen(function*() {
        // A thousand at a time, each sealed for an hour, and half a day from one thousand to the next.
        const store = yield* Store.makeMemory({ maxSettled: 4_000, maxResultBytes: 10_000 })
        const journal = yield* ApprovalJournal.make({ store })
        const counted = makeCounted()
        for (let now = 0; now < 10 * day; now += day / 2) {
          for (let i = 0; i < 1_000; i++) yield* journal.run(claimOf(`${now}-${i}`, now + hour), counted)
          yield* TestClock.adjust(day / 2)
        }
        assert.strictEqual(counted.runs, 20_000)
        let left = 0
        for (let now = 0; now < 10 * day; now += day / 2) {
          for (let i = 0; i < 1_000; i++) {
            if ((yield* journal.find(claimOf(`${now}-${i}`, now + hour))) !== undefined) left++
          }
        }
        assert.isAtMost(left, 3_000)
        // The others were reclaimed while these came.
        assert.isAtMost(yield* store.sweep(100_000), 3_000)
      }),
    30_000
  )

  it.effect("L2 At most once: bodies of results are given up for room, oldest first, and what ran is not", () =>
    Effect.gen(function*() {
      const journal = yield* ApprovalJournal.ApprovalJournal
      const body = "x".repeat(300)
      for (const nonce of ["a", "b", "c"]) {
        const { entry, ran } = yield* journal.run(claimOf(nonce), makeCounted(Effect.succeed(ranWith(body))))
        assert.strictEqual(entry.recorded?.encodedResult, body)
        assert.strictEqual(ran?.result, body)
      }
      const huge = yield* journal.run(claimOf("huge"), makeCounted(Effect.succeed(ranWith("x".repeat(5_000)))))
      assert.strictEqual(huge.ran?.recorded.encodedResult, "x".repeat(5_000), "who waited for it gets it")
      yield* journal.run(claimOf("d"), makeCounted(Effect.succeed(ranWith(body))))
      for (const [nonce, kept] of [["a", false], ["b", false], ["c", false], ["huge", false], ["d", true]] as const) {
        const again = makeCounted()
        for (const idempotent of [false, true]) {
          const { entry } = yield* journal.run(claimOf(nonce), { ...again, idempotent })
          assert.strictEqual(entry.state, "done")
          assert.strictEqual(entry.toolCallId, `call-of-${nonce}`)
          assert.strictEqual(entry.recorded !== undefined, kept, nonce)
        }
        assert.strictEqual(again.runs, 0)
      }
    }).pipe(provide({ maxResultBytes: 1_000 })))

  it.effect("keeps as many bodies as there is room for", () =>
    Effect.gen(function*() {
      const journal = yield* ApprovalJournal.ApprovalJournal
      const nonces = Array.from({ length: 10 }, (_, i) => `n${i}`)
      for (const nonce of nonces) {
        yield* journal.run(claimOf(nonce), makeCounted(Effect.succeed(ranWith("x".repeat(300)))))
      }
      const kept = yield* Effect.filter(
        nonces,
        (nonce) => Effect.map(journal.find(claimOf(nonce)), (entry) => entry?.recorded !== undefined)
      )
      assert.deepStrictEqual(kept, ["n8", "n9"])
    }).pipe(provide({ maxResultBytes: 1_000 })))

  it.effect("bodies whose records have expired take no room from one that lives longer", () =>
    Effect.gen(function*() {
      const journal = yield* ApprovalJournal.ApprovalJournal
      const run = (claim: ApprovalJournal.Claim) =>
        journal.run(claim, makeCounted(Effect.succeed(ranWith("x".repeat(300)))))
      const month = claimOf("month", 30 * day)
      yield* run(month)
      for (let now = 0; now < 20 * day; now += 2 * day) {
        yield* run(claimOf(`at-${now}`, now + hour))
        assert.isDefined((yield* journal.find(month))?.recorded, `after ${now / day} days`)
        yield* TestClock.adjust(2 * day)
      }
    }).pipe(provide({ maxResultBytes: 1_000 })))

  it.effect("a journal that is not named is the process's own, and one for all", () =>
    Effect.gen(function*() {
      const journal = yield* ApprovalJournal.ApprovalJournal
      assert.isFalse(journal.named)
      yield* journal.end(claimOf("ApprovalJournalMemory.test", 0), "denied", "no")
      const elsewhere = yield* Effect.provide(ApprovalJournal.ApprovalJournal, ApprovalJournal.layerMemory())
      assert.isUndefined(yield* elsewhere.find(claimOf("ApprovalJournalMemory.test", 0)))
      const again = Effect.runSync(ApprovalJournal.ApprovalJournal)
      assert.strictEqual((yield* again.find(claimOf("ApprovalJournalMemory.test", 0)))?.state, "denied")
    }))
})
