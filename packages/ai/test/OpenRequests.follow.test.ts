/** Whoever follows what happens under a name handles each event at least once, in order, wherever it stopped. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Logger } from "effect"
import { TestClock } from "effect/testing"
import { ConversationStore, OpenRequests, Store } from "../src/index.ts"
import * as C from "./conversation/support.ts"
import { failure, intercept } from "./store/intercept.ts"

/** Requests of these names wait, each in a conversation of its own. */
const ask = (shared: Store.Store, ...names: ReadonlyArray<string>) =>
  Effect.forEach(names, (name) =>
    Effect.flatMap(
      C.start({ turns: [[C.remove(name)]], shared, id: name }),
      ({ conversation }) => conversation.send("Go.")
    ))

/** A process that reads under the name, and notes what it handles. */
const reader = Effect.fnUntraced(function*(
  shared: Store.Store,
  handled: Array<string>,
  {
    handle = () => Effect.void,
    who = "",
    ...options
  }: OpenRequests.FollowOptions & {
    readonly handle?: (path: string) => Effect.Effect<unknown, unknown>
    readonly who?: string
  } = {}
) {
  const store = yield* ConversationStore.make({ store: shared })
  const following = OpenRequests.follow("mails", (event) =>
    Effect.suspend(() => {
      const what = event.kind === "missed" ? event.kind : String((event.request.params as any).path)
      return Effect.andThen(handle(what), Effect.sync(() => handled.push(who + what)))
    }), options)
  const fiber = yield* Effect.forkChild(
    following.pipe(
      Effect.provideService(ConversationStore.ConversationStore, store),
      Effect.provide(Logger.layer([]))
    ),
    { startImmediately: true }
  )
  yield* TestClock.adjust(1)
  return fiber
})

/** Its process is dead: nothing of it is done any more, and nothing tells the others. */
const mortal = (shared: Store.Store) => {
  const state = { isDead: false }
  const store = intercept(
    shared,
    (_, __, run) => Effect.suspend(() => state.isDead ? Effect.interruptible(Effect.never) : run)
  )
  return { state, store }
}

describe("follow", () => {
  it.effect("handles what is kept and what comes, and goes on where it stopped", () =>
    Effect.gen(function*() {
      const shared = yield* C.makeShared
      const handled: Array<string> = []
      yield* ask(shared, "a", "b")
      const first = yield* reader(shared, handled)
      assert.deepStrictEqual(handled, ["a", "b"])
      yield* ask(shared, "c")
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(handled, ["a", "b", "c"])
      yield* Fiber.interrupt(first)
      yield* ask(shared, "d")
      yield* TestClock.adjust("1 hour")
      // It left, so nobody waits for it.
      yield* reader(shared, handled, { after: yield* shared.events.latest })
      assert.deepStrictEqual(handled, ["a", "b", "c", "d"])
    }))

  it.effect("begins where it is told to, under a name that nobody has read under", () =>
    Effect.gen(function*() {
      const shared = yield* C.makeShared
      const handled: Array<string> = []
      yield* ask(shared, "a")
      yield* reader(shared, handled, { after: yield* shared.events.latest })
      yield* ask(shared, "b")
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(handled, ["b"])
    }))

  it.effect("tries again what fails or dies, ever more slowly, and skips nothing", () =>
    Effect.gen(function*() {
      const shared = yield* C.makeShared
      const handled: Array<string> = []
      const tries: Array<number> = []
      yield* ask(shared, "a", "b")
      yield* reader(shared, handled, {
        handle: (path) =>
          Effect.gen(function*() {
            if (path !== "a") return
            tries.push(yield* Effect.clockWith((clock) => clock.currentTimeMillis))
            if (tries.length < 3) yield* Effect.fail("no")
            if (tries.length < 8) yield* Effect.die(new Error("a defect"))
            if (tries.length < 9) yield* Effect.interrupt
          })
      })
      for (let second = 0; second < 250; second++) yield* TestClock.adjust("1 second")
      const waited = tries.slice(1).map((at, index) => (at - tries[index]!) / 1_000)
      assert.deepStrictEqual(waited, [1, 2, 4, 8, 16, 32, 60, 60])
      assert.deepStrictEqual(handled, ["a", "b"])
    }))

  it.effect("handles again what was handled when its process died before it kept that", () =>
    Effect.gen(function*() {
      const shared = yield* C.makeShared
      const handled: Array<string> = []
      const { state, store } = mortal(shared)
      yield* ask(shared, "a", "b", "c")
      yield* reader(store, handled, {
        who: "1 ",
        handle: (path) => Effect.sync(() => (state.isDead = path === "b"))
      })
      assert.deepStrictEqual(handled, ["1 a", "1 b"])
      yield* reader(shared, handled, { who: "2 " })
      for (let second = 0; second < 29; second++) yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(handled, ["1 a", "1 b"])
      for (let second = 0; second < 12; second++) yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(handled, ["1 a", "1 b", "2 b", "2 c"])
    }))

  it.effect("is done by one of several who share a name, however long it takes, and by another when that one ends", () =>
    Effect.gen(function*() {
      const shared = yield* C.makeShared
      const handled: Array<string> = []
      yield* ask(shared, "a", "b", "c")
      const handle = () => Effect.sleep("5 minutes")
      const readers = yield* Effect.forEach(["1 ", "2 ", "3 "], (who) => reader(shared, handled, { who, handle }))
      for (let minute = 0; minute < 60; minute++) yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(handled, ["1 a", "1 b"])
      yield* Fiber.interrupt(readers[0]!)
      for (let minute = 0; minute < 60; minute++) yield* TestClock.adjust("10 seconds")
      assert.lengthOf(handled, 3)
      assert.match(handled[2]!, /^[23] c$/)
    }))

  it.effect("is begun by one of two who find nobody at once", () =>
    Effect.gen(function*() {
      const shared = yield* C.makeShared
      const handled: Array<string> = []
      const late = intercept(
        shared,
        (operation, _, run) => operation === "readers.get" ? Effect.tap(run, () => Effect.sleep(5)) : run
      )
      yield* ask(shared, "a")
      yield* reader(late, handled, { who: "1 " })
      yield* reader(shared, handled, { who: "2 " })
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(handled, ["2 a"])
    }))

  it.effect("is taken over within the lease, however seldom it is looked for events", () =>
    Effect.gen(function*() {
      const shared = yield* C.makeShared
      const handled: Array<string> = []
      const { state, store } = mortal(shared)
      yield* ask(shared, "a", "b")
      yield* reader(store, handled, { who: "1 ", handle: (path) => Effect.sync(() => (state.isDead = path === "a")) })
      yield* reader(shared, handled, { who: "2 ", every: "1 hour" })
      for (let second = 0; second < 41; second++) yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(handled, ["1 a", "2 a", "2 b"])
    }))

  it.effect("writes three times in a lease while nothing happens, and no more", () =>
    Effect.gen(function*() {
      const shared = yield* C.makeShared
      let moves = 0
      const counting = intercept(shared, (operation, _, run) => {
        if (operation === "readers.move") moves++
        return run
      })
      yield* reader(counting, [], { every: "1 second", lease: "30 seconds" })
      for (let second = 0; second < 60; second++) yield* TestClock.adjust("1 second")
      assert.strictEqual(moves, 1 + 60 / 10)
    }))

  const others: Record<string, { readonly handle: Effect.Effect<void>; readonly handled: ReadonlyArray<string> }> = {
    "has handled it": { handle: Effect.void, handled: ["2 a", "2 b"] },
    "is in the middle of it": { handle: Effect.never, handled: [] }
  }
  for (const [how, other] of Object.entries(others)) {
    it.effect(`is interrupted in the middle of an event where another has taken over, which ${how}, and waits then`, () =>
      Effect.gen(function*() {
        const shared = yield* C.makeShared
        const handled: Array<string> = []
        const isCut = { first: false }
        let isAway = false
        const away = intercept(
          shared,
          (operation, _, run) => Effect.suspend(() => isAway ? Effect.fail(failure(operation)) : run)
        )
        yield* ask(shared, "a", "b")
        yield* reader(away, handled, {
          who: "1 ",
          handle: () => Effect.onInterrupt(Effect.never, () => Effect.sync(() => (isCut.first = true)))
        })
        isAway = true
        yield* reader(shared, handled, { who: "2 ", handle: () => other.handle })
        for (let second = 0; second < 45; second++) yield* TestClock.adjust("1 second")
        assert.deepStrictEqual([handled, isCut.first], [other.handled, false])
        isAway = false
        for (let second = 0; second < 60; second++) yield* TestClock.adjust("1 second")
        assert.deepStrictEqual([handled, isCut.first], [other.handled, true])
      }))
  }

  it.effect("goes on when the store does, whichever operation failed, also one that was carried out", () =>
    Effect.gen(function*() {
      for (const isDone of [false, true]) {
        const shared = yield* C.makeShared
        const handled: Array<string> = []
        let fails = 0
        const failing = intercept(shared, (operation, _, run) =>
          Effect.suspend(() => {
            if ((fails++ * 7) % 5 < 3) return run
            return isDone ? Effect.andThen(run, Effect.fail(failure(operation))) : Effect.fail(failure(operation))
          }))
        yield* ask(shared, "a", "b", "c")
        yield* reader(failing, handled)
        for (let second = 0; second < 60; second++) yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(handled, ["a", "b", "c"])
      }
    }))

  it.effect("does not take itself for another, where the store had written what it said it could not", () =>
    Effect.gen(function*() {
      const shared = yield* C.makeShared
      const handled: Array<string> = []
      let moves = 0
      let begun = 0
      const failing = intercept(shared, (operation, _, run) =>
        operation === "readers.move" && ++moves % 2 === 0
          ? Effect.andThen(run, Effect.fail(failure(operation)))
          : run)
      yield* ask(shared, "a", "b")
      yield* reader(failing, handled, {
        handle: () => Effect.suspend(() => (begun++, Effect.sleep("5 minutes")))
      })
      for (let minute = 0; minute < 66; minute++) yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual([handled, begun], [["a", "b"], 2])
      assert.isAbove(moves, 60)
    }))

  it.effect("says what was missed once, and keeps its place where nothing is for it", () =>
    Effect.gen(function*() {
      const shared = yield* Store.makeMemory({ maxEvents: 3 })
      const handled: Array<string> = []
      const first = yield* reader(shared, handled)
      yield* TestClock.adjust("1 minute")
      yield* Fiber.interrupt(first)
      yield* ask(shared, "a", "b", "c", "d")
      const second = yield* reader(shared, handled, { filter: { tenant: "nobody" } })
      assert.deepStrictEqual(handled, ["missed"])
      yield* TestClock.adjust("1 minute")
      yield* Fiber.interrupt(second)
      assert.strictEqual((yield* shared.readers.get("mails"))?.cursor, yield* shared.events.latest)
      yield* reader(shared, handled)
      assert.deepStrictEqual(handled, ["missed"])
    }))
})
