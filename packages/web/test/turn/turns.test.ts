/** Turns that wait to begin go on when whoever waits for them leaves, and no more wait than people would. */
import { ConversationStore } from "@assent/ai"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import type { Taken } from "../../src/internal/turn/taking.ts"
import * as Turns from "../../src/internal/turn/turns.ts"
import * as Calls from "../../src/internal/wire/calls.ts"

const outcome = Effect.succeed({ refused: [] })

const taken: Taken = {
  turn: { messageId: "m1", parts: Stream.empty, outcome },
  messageId: "m1",
  before: undefined,
  isAnew: true,
  calledIn: "m1",
  calls: Calls.make(),
  cards: new Map(),
  told: []
}

/** One that begins when it is told to. */
const waiting = Effect.map(Deferred.make<Taken, string>(), (begin) => ({
  begin: Deferred.succeed(begin, taken),
  take: Deferred.await(begin)
}))

describe("turns", () => {
  it.effect("one begins, though whoever waits for it has left, and who comes back finds it", () =>
    Effect.gen(function*() {
      const turns = yield* Turns.make
      const { begin, take } = yield* waiting
      const reader = yield* Effect.forkChild(Effect.flatten(turns.take("a", take)), { startImmediately: true })
      yield* Fiber.interrupt(reader)
      const again = turns.waiting("a")
      assert.isUndefined(turns.waiting("b"))
      yield* begin
      assert.strictEqual((yield* again!).cards, taken.cards)
      assert.isUndefined(turns.waiting("a"))
    }))

  it.effect("the end of one can be read a moment longer, and by a page that has loaded its middle", () =>
    Effect.gen(function*() {
      const turns = yield* Turns.make
      yield* Effect.flatten(turns.take("a", Effect.succeed(taken)))
      yield* turns.isLoaded("b")
      yield* TestClock.adjust("4 seconds")
      assert.deepStrictEqual([yield* turns.ended("a"), yield* turns.ended("b")], ["ended", "ended"])
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual([yield* turns.ended("a"), yield* turns.ended("b")], [undefined, "ended"])
      yield* TestClock.adjust("25 seconds")
      assert.isUndefined(yield* turns.ended("b"))
    }))

  it.effect("that one was stopped is known to whoever has read it to its end", () =>
    Effect.gen(function*() {
      const turns = yield* Turns.make
      const cancelled = new ConversationStore.ConversationError({ reason: "Cancelled", description: "Stopped." })
      const stopped = { ...taken, turn: { ...taken.turn!, outcome: Effect.fail(cancelled) } }
      const { turn } = yield* Effect.flatten(turns.take("a", Effect.succeed(stopped)))
      assert.strictEqual(yield* Effect.flip(turn!.outcome), cancelled)
      assert.strictEqual(yield* turns.ended("a"), "stopped")
    }))

  it.effect("what is being stopped can be waited for, by everybody, until all of it is", () =>
    Effect.gen(function*() {
      const turns = yield* Turns.make
      assert.isUndefined(turns.stopping("a"))
      const ends = [yield* Deferred.make<void>(), yield* Deferred.make<void, string>()] as const
      const stops = [
        yield* Effect.forkChild(turns.stop("a", Deferred.await(ends[0])), { startImmediately: true }),
        yield* Effect.forkChild(Effect.exit(turns.stop("a", Deferred.await(ends[1]))), { startImmediately: true })
      ] as const
      assert.isUndefined(turns.stopping("b"))
      const waiting = yield* Effect.forkChild(turns.stopping("a")!, { startImmediately: true })
      yield* Deferred.succeed(ends[0], undefined)
      yield* Fiber.join(stops[0])
      assert.isUndefined(waiting.pollUnsafe())
      assert.isDefined(turns.stopping("a"))
      // One that fails is over as well.
      yield* Deferred.fail(ends[1], "The store is gone.")
      yield* Fiber.join(stops[1])
      yield* Fiber.join(waiting)
      assert.isUndefined(turns.stopping("a"))
    }))

  it.effect("L17 no more than sixteen wait", () =>
    Effect.gen(function*() {
      const turns = yield* Turns.make
      for (let count = 0; count < 16; count++) yield* turns.take("a", Effect.never)
      assert.match(yield* Effect.flip(yield* turns.take("a", Effect.never)), /^Too many messages/)
      assert.strictEqual((yield* Effect.flatten(turns.take("b", Effect.succeed(taken)))).cards, taken.cards)
    }))

  it.effect("a server that stops says so to whoever waits", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const turns = yield* Scope.provide(Turns.make, scope)
      const taking = yield* turns.take("a", Effect.never)
      yield* Effect.yieldNow
      yield* Scope.close(scope, Exit.void)
      assert.match(yield* Effect.flip(taking), /^The server stopped/)
      // A request that was let in before it did.
      assert.match(yield* Effect.flip(yield* turns.take("a", Effect.never)), /^The server stopped/)
      assert.isUndefined(turns.waiting("a"))
    }))
})
