/**
 * `ApprovalJournal` over a store that fails, and over one that is shared. Two journals over one store stand for two processes
 * here; real ones are in `ApprovalJournal.processes.test.ts`.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import * as ApprovalJournal from "../src/ApprovalJournal.ts"
import * as Store from "../src/Store.ts"
import { claimOf, makeCounted, makeHeld, ranWith, refusedBy, startReader } from "./fixtures/journal.ts"
import { makeClock } from "./journal/asleep.ts"
import { type Line, logged } from "./laws/logs.ts"

const errorsIn = (lines: ReadonlyArray<Line>) => lines.filter(({ level }) => level === "Error").map(({ text }) => text)

type Broken = "get" | "beat" | "claim" | "record"

/** A store that fails while it says so in `broken`: what is read, a beat, the first step of a request, or a later one. */
const breakable = Effect.map(Store.makeMemory(), (store) => {
  const broken = new Set<Broken>()
  const unless = <A>(what: Broken, run: Effect.Effect<A, Store.StoreError>) =>
    Effect.suspend(() =>
      broken.has(what)
        ? Effect.fail(
          new Store.StoreError({ operation: what, description: "The disk is gone.", reason: "Unavailable" })
        )
        : run
    )
  return {
    broken,
    store: Store.make({
      ...store,
      requests: {
        ...store.requests,
        get: (nonce) => unless("get", store.requests.get(nonce)),
        decide: (name, version, decided) =>
          unless(version === 0 ? "claim" : "record", store.requests.decide(name, version, decided))
      },
      owners: { ...store.owners, beat: (owner) => unless("beat", store.owners.beat(owner)) }
    })
  }
})

describe("ApprovalJournal over a store", () => {
  for (const method of ["get", "beat", "claim"] as const) {
    it.effect(`runs nothing while the store fails at: ${method}, and recovers with it`, () =>
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

  const breaking = (broken: Set<Broken>) => makeCounted(Effect.sync(() => (broken.add("record"), ranWith("gone"))))

  for (const heartbeat of [undefined, "1 second"] as const) {
    const title = "a run that could not be recorded before its process ended counts as unknown and is not run again"
    it.effect(`L2 At most once: ${title}, ${heartbeat === undefined ? "without" : "with"} a heartbeat`, () =>
      Effect.gen(function*() {
        const { broken, store } = yield* breakable
        const scope = yield* Scope.make()
        const journal = yield* Scope.provide(ApprovalJournal.make({ store, heartbeat, grace: 0 }), scope)
        const counted = breaking(broken)
        const reader = yield* startReader(journal.run(claimOf("a"), counted))
        yield* TestClock.adjust("1 second")
        assert.strictEqual((yield* Fiber.join(reader)).ran?.result, "gone")
        yield* Scope.close(scope, Exit.void)
        broken.clear()
        yield* TestClock.adjust("1 minute")
        const next = yield* ApprovalJournal.make({ store, heartbeat, grace: 0 })
        const asked = yield* startReader(next.run(claimOf("a"), counted))
        yield* TestClock.adjust("7 seconds")
        assert.strictEqual((yield* Fiber.join(asked)).entry.state, "unknown")
        assert.strictEqual(counted.runs, 1)
      }))
  }

  it.effect("L2 At most once: what could not be recorded is, before anybody who asks when the store is back is told", () =>
    Effect.gen(function*() {
      const { broken, store } = yield* breakable
      const journal = yield* ApprovalJournal.make({ store, grace: 0 })
      const counted = breaking(broken)
      yield* journal.run(claimOf("a"), counted)
      assert.strictEqual((yield* journal.find(claimOf("a")))?.state, "running")
      broken.clear()
      const { entry, ran } = yield* journal.run(claimOf("a"), { ...counted, idempotent: true })
      assert.deepStrictEqual([entry.recorded?.encodedResult, ran, counted.runs], ["gone", undefined, 1])
      assert.strictEqual((yield* store.requests.get("a"))?.state, "done")
    }))

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

  describe("that fails for ever", () => {
    const begin = Effect.gen(function*() {
      const { broken, store } = yield* breakable
      const scope = yield* Scope.make()
      const journal = yield* Scope.provide(ApprovalJournal.make({ store, heartbeat: "1 second" }), scope)
      const run = Effect.asVoid(journal.run(claimOf("a"), breaking(broken)))
      return { broken, close: Scope.close(scope, Exit.void), journal, run }
    })

    it.effect("L17 a journal whose scope is closed says once what was not recorded, and ends within 5 seconds", () =>
      Effect.gen(function*() {
        const { close, journal, run } = yield* begin
        const [, before] = yield* logged(run)
        assert.deepStrictEqual(errorsIn(before), [
          "Assent could not record yet that \"DeleteFile\" ran; it will try again."
        ])
        yield* TestClock.adjust("1 hour")
        assert.strictEqual((yield* journal.find(claimOf("a")))?.state, "running")
        const [isClosed, lines] = yield* logged(Effect.gen(function*() {
          const closing = yield* startReader(close)
          yield* TestClock.adjust("5 seconds")
          return closing.pollUnsafe() !== undefined
        }))
        assert.isTrue(isClosed)
        assert.deepStrictEqual(errorsIn(lines), [
          "Assent could not record how 1 run ended (\"DeleteFile\"), because the store failed until the journal was" +
          " closed. Whoever asks will be told that it is unknown."
        ])
      }))

    it.effect("L17 a journal that nobody closes and nobody uses does nothing after 5 seconds", () =>
      Effect.gen(function*() {
        const { broken, journal, run } = yield* begin
        const { asleep, clock } = yield* makeClock
        yield* Effect.provideService(run, Clock.Clock, clock)
        yield* TestClock.adjust("1 millis")
        assert.isAbove(asleep(), 0)
        broken.add("beat").add("get").add("claim")
        yield* TestClock.adjust("5 seconds")
        assert.strictEqual(asleep(), 0)
        // What was acknowledged is not lost for that: it is recorded as soon as the store is used again.
        broken.clear()
        assert.strictEqual((yield* journal.find(claimOf("a")))?.recorded?.encodedResult, "gone")
      }))

    it.effect("L2 one that cannot be recorded is not in the way of others that can", () =>
      Effect.gen(function*() {
        const { broken, store } = yield* breakable
        const never: Store.Store = {
          ...store,
          requests: {
            ...store.requests,
            decide: (name, version, decided) =>
              name.nonce === "a" && version > 0
                ? Effect.fail(new Store.StoreError({ operation: "", description: "Bad row.", reason: "Corrupt" }))
                : store.requests.decide(name, version, decided)
          }
        }
        const journal = yield* ApprovalJournal.make({ store: never, grace: 0 })
        for (const nonce of ["a", "b", "c"]) yield* journal.run(claimOf(nonce), breaking(broken))
        broken.clear()
        yield* TestClock.adjust("5 seconds")
        for (const [nonce, state] of [["a", "running"], ["b", "done"], ["c", "done"]] as const) {
          assert.strictEqual((yield* store.requests.get(nonce))?.state, state)
        }
      }))
  })

  const openTwo = Effect.gen(function*() {
    const store = yield* Store.makeMemory()
    const open = Effect.map(Scope.make(), (scope) => ({
      scope,
      make: Scope.provide(ApprovalJournal.make({ store: Store.make(store), heartbeat: "1 second" }), scope)
    }))
    const [one, other] = [yield* open, yield* open]
    return { one: yield* one.make, other: yield* other.make, closeOther: Scope.close(other.scope, Exit.void) }
  })

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
