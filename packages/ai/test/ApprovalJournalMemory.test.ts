/**
 * `ApprovalJournal` in memory: which steps it takes, what it forgets and when, and what it does when its store fails.
 * Two journals over one store stand for two processes here; real ones are in `ApprovalJournalFileSystem.test.ts`.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import * as Approval from "../src/Approval.ts"
import type * as ApprovalError from "../src/ApprovalError.ts"
import * as ApprovalJournal from "../src/ApprovalJournal.ts"
import * as AtomicStore from "../src/AtomicStore.ts"
import { claimOf, makeCounted, ranWith, startReader } from "./fixtures/journal.ts"

const hour = 3_600_000

const day = 24 * hour

const refusedBy = <A>(effect: Effect.Effect<A, ApprovalError.ApprovalError>) =>
  Effect.map(Effect.flip(effect), (error) => {
    assert.strictEqual(error._tag, "ApprovalError")
    assert.strictEqual(error.reason._tag, "JournalUnavailable")
    assert.match(error.message, /^The approval journal cannot be used: .*Nothing ran/)
    return error.message
  })

// =============================================================================
// Steps
// =============================================================================

const endings = ["denied", "expired", "superseded", "cancelled", "void"] as const

const decodeState = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Struct({ state: Approval.ApprovalState })))

/** A store that notes every step from one state to another. */
const watched = (store: AtomicStore.AtomicStore) => {
  const steps = new Set<string>()
  const note = (from: Approval.ApprovalState, to: string) =>
    Effect.sync(() => void steps.add(`${from} -> ${decodeState(to).state}`))
  return {
    steps,
    store: AtomicStore.make({
      ...store,
      putIfAbsent: (key, value, options) =>
        Effect.tap(store.putIfAbsent(key, value, options), (won) => won ? note("pending", value) : Effect.void),
      compareAndSet: (key, expected, value) =>
        Effect.gen(function*() {
          const before = yield* store.get(key)
          const won = yield* store.compareAndSet(key, expected, value)
          if (won) yield* note(decodeState(before?.value).state, value)
          return won
        })
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
    ...["done", "failed", "unknown", "suspended"].map((to) => `running -> ${to}`),
    "unknown -> running"
  ])
  const states = Approval.ApprovalState.literals

  it("isLegalStep is a table: nothing follows an end, and nothing goes back to pending", () => {
    for (const from of states) {
      for (const to of states) {
        assert.strictEqual(Approval.isLegalStep(from, to), legal.has(`${from} -> ${to}`), `${from} -> ${to}`)
      }
    }
    for (const end of [...endings, "done", "failed"] as const) {
      assert.deepStrictEqual(states.filter((to) => Approval.isLegalStep(end, to)), [])
    }
    assert.deepStrictEqual(states.filter((from) => Approval.isLegalStep(from, "pending")), [])
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
      const { steps, store } = watched(yield* AtomicStore.makeMemory())
      const journal = yield* ApprovalJournal.make({ store, maxResultBytes: 0 })
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
      // Giving up the body of a result is not a step.
      steps.delete("done -> done")
      steps.delete("failed -> failed")
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
      const late = makeCounted()
      assert.match(yield* refusedBy(journal.run(claimOf("c"), late)), /holds 2 keys.*answers are still good/)
      yield* refusedBy(journal.end(claimOf("c"), "denied", "no"))
      assert.strictEqual(late.runs, 0)
      assert.isUndefined(yield* journal.find(claimOf("c")))
      assert.strictEqual((yield* journal.run(claimOf("a"), makeCounted())).entry.state, "done")
      assert.strictEqual((yield* journal.run(claimOf("b"), makeCounted())).entry.state, "denied")
      assert.strictEqual(first.runs, 1)

      yield* TestClock.adjust(hour + day)
      assert.strictEqual((yield* journal.run(claimOf("c", 2 * day), late)).entry.state, "done")
      assert.strictEqual(late.runs, 1)
    }).pipe(provide({ capacity: 2 })))

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
        const store = yield* AtomicStore.makeMemory({ capacity: 4_000 })
        const journal = yield* ApprovalJournal.make({ store, maxResultBytes: 10_000 })
        const counted = makeCounted()
        for (let now = 0; now < 10 * day; now += day / 2) {
          for (let i = 0; i < 1_000; i++) yield* journal.run(claimOf(`${now}-${i}`, now + hour), counted)
          yield* TestClock.adjust(day / 2)
        }
        assert.strictEqual(counted.runs, 20_000)
        assert.isAtMost((yield* store.listByPrefix("", { limit: 100_000 })).length, 3_000)
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

// =============================================================================
// A store that fails, and one that is shared
// =============================================================================

const unavailable = (method: AtomicStore.AtomicStoreError["method"]) =>
  Effect.fail(
    new AtomicStore.AtomicStoreError({ method, key: "", description: "The disk is gone.", reason: "Unavailable" })
  )

/** A store whose operations fail while their names are in `broken`. */
const breakable = Effect.map(AtomicStore.makeMemory(), (store) => {
  const broken = new Set<AtomicStore.AtomicStoreError["method"]>()
  return {
    broken,
    store: AtomicStore.make({
      ...store,
      get: (key) => broken.has("get") ? unavailable("get") : store.get(key),
      put: (key, value, options) => broken.has("put") ? unavailable("put") : store.put(key, value, options),
      putIfAbsent: (key, value, options) =>
        broken.has("putIfAbsent") ? unavailable("putIfAbsent") : store.putIfAbsent(key, value, options),
      compareAndSet: (key, expected, value) =>
        broken.has("compareAndSet") ? unavailable("compareAndSet") : store.compareAndSet(key, expected, value)
    })
  }
})

describe("ApprovalJournal over a store", () => {
  for (const method of ["get", "put", "putIfAbsent"] as const) {
    it.effect(`runs nothing while the store's ${method} fails, and recovers with it`, () =>
      Effect.gen(function*() {
        const { broken, store } = yield* breakable
        const journal = yield* ApprovalJournal.make({ store, heartbeat: "1 second" })
        if (method === "get") yield* journal.end(claimOf("a"), "denied", "no")
        broken.add(method)
        const counted = makeCounted()
        for (let i = 0; i < 2; i++) {
          assert.match(yield* refusedBy(journal.run(claimOf("a"), counted)), /The disk is gone/)
        }
        broken.clear()
        const { entry } = yield* journal.run(claimOf("a"), counted)
        assert.strictEqual(entry.state, method === "get" ? "denied" : "done")
        assert.strictEqual(counted.runs, method === "get" ? 0 : 1)
      }))
  }

  const breaking = (broken: Set<string>) =>
    makeCounted(Effect.sync(() => (broken.add("compareAndSet"), ranWith("gone"))))

  for (const heartbeat of [undefined, "1 second"] as const) {
    const title = "a run that could not be recorded counts as unknown and is not run again"
    it.effect(`L2 At most once: ${title}, ${heartbeat === undefined ? "without" : "with"} a heartbeat`, () =>
      Effect.gen(function*() {
        const { broken, store } = yield* breakable
        const journal = yield* ApprovalJournal.make({ store, heartbeat, grace: 0 })
        const counted = breaking(broken)
        const reader = yield* startReader(journal.run(claimOf("a"), counted))
        yield* TestClock.adjust("1 second")
        assert.strictEqual((yield* Fiber.join(reader)).ran?.result, "gone")
        broken.clear()
        assert.strictEqual((yield* journal.run(claimOf("a"), counted)).entry.state, "unknown")
        assert.strictEqual(counted.runs, 1)
      }))
  }

  for (const down of ["100 millis", "1 minute"] as const) {
    it.effect(`L2 At most once: what ran is recorded when a store that was down for ${down} is back`, () =>
      Effect.gen(function*() {
        const { broken, store } = yield* breakable
        const journal = yield* ApprovalJournal.make({ store })
        const reader = yield* startReader(journal.run(claimOf("a"), breaking(broken)))
        yield* TestClock.adjust(down)
        broken.clear()
        yield* TestClock.adjust("10 seconds")
        assert.strictEqual((yield* Fiber.join(reader)).entry.state, "done")
        assert.strictEqual((yield* journal.find(claimOf("a")))?.recorded?.encodedResult, "gone")
      }))
  }

  const openTwo = Effect.gen(function*() {
    const store = yield* AtomicStore.makeMemory()
    const open = Effect.map(Scope.make(), (scope) => ({
      scope,
      make: Scope.provide(ApprovalJournal.make({ store, heartbeat: "1 second" }), scope)
    }))
    const [one, other] = [yield* open, yield* open]
    return { one: yield* one.make, other: yield* other.make, closeOther: Scope.close(other.scope, Exit.void) }
  })

  /** A run that goes on until it is let go. */
  const makeHeld = Effect.map(Deferred.make<ApprovalJournal.Ran>(), (released) => ({
    ...makeCounted(Deferred.await(released)),
    release: Deferred.succeed(released, ranWith("gone"))
  }))

  it.effect("L2 At most once: a claim is waited for as long as its owner lives, however long it was idle before", () =>
    Effect.gen(function*() {
      const { one, other } = yield* openTwo
      yield* one.run(claimOf("earlier"), makeCounted())
      yield* TestClock.adjust("1 hour")
      const held = yield* makeHeld
      yield* startReader(one.run(claimOf("a"), held))
      const again = makeCounted()
      const waiting = yield* startReader(other.run(claimOf("a"), { ...again, idempotent: true }))
      for (let second = 0; second < 60; second++) {
        yield* TestClock.adjust("1 second")
        assert.strictEqual((yield* other.find(claimOf("a")))?.state, "running")
      }
      yield* held.release
      yield* TestClock.adjust("1 second")
      const { entry, ran } = yield* Fiber.join(waiting)
      assert.strictEqual(entry.recorded?.encodedResult, "gone")
      assert.isUndefined(ran)
      assert.strictEqual(again.runs, 0)
    }))

  it.effect("stopping a run of another process says that there is none here, and who waits for it waits on", () =>
    Effect.gen(function*() {
      const { one, other } = yield* openTwo
      const held = yield* makeHeld
      yield* startReader(one.run(claimOf("a"), held))
      const waiting = yield* startReader(other.run(claimOf("a"), makeCounted()))
      yield* TestClock.adjust("1 second")
      assert.isFalse(yield* other.interrupt(claimOf("a").approvalId))
      yield* held.release
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* Fiber.join(waiting)).entry.state, "done")
    }))

  it.effect("a journal that only waits for another process closes at once, and says so to whoever waits", () =>
    Effect.gen(function*() {
      const { closeOther, one, other } = yield* openTwo
      yield* startReader(one.run(claimOf("a"), yield* makeHeld))
      const waiting = yield* startReader(other.run(claimOf("a"), makeCounted()))
      yield* TestClock.adjust("1 second")
      const closing = yield* startReader(closeOther)
      yield* TestClock.adjust("1 second")
      const closed = closing.pollUnsafe() !== undefined
      yield* TestClock.adjust("10 seconds")
      assert.isTrue(closed)
      assert.strictEqual((yield* one.find(claimOf("a")))?.state, "running")
      yield* refusedBy(Fiber.join(waiting))
    }))
})
