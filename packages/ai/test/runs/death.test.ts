/**
 * L2: death is observed, not computed. A run is dead when its beat has not changed for six of the observer's own beats of
 * one second, whatever the clocks say; and another process goes on in under ten seconds.
 */
import { assert, describe } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import * as Processes from "./processes.ts"
import * as R from "./support.ts"

const clocks = {
  "one clock": "0 minutes",
  "its clock ten minutes ahead": "10 minutes",
  "its clock ten minutes behind": "-10 minutes"
} as const

/** A process in whose turn `Pay` runs, and another one that shares its store. */
const two = Effect.fnUntraced(function*(way: R.Way, ahead: string, options: Partial<R.Options> = {}) {
  const hold = yield* R.makeHold
  const shared = yield* Processes.makeShared
  yield* TestClock.adjust("1 day")
  const first = Processes.make(shared, ahead as "1 minute")
  const other = Processes.make(shared)
  const world = yield* R.make(way, {
    turns: [[R.pay], R.paysUnlessTold],
    handlers: { Pay: R.heldOnce(hold, () => "paid 5") },
    ...options,
    store: first.store,
    within: first.within
  })
  const reader = yield* Effect.forkDetach(world.begin)
  yield* hold.entered
  const next = yield* R.make("send", {
    turns: [R.paysUnlessTold],
    busyFor: "10 minutes",
    ...options,
    store: other.store,
    within: other.within
  })
  return { first, hold, next, other, reader, shared, world }
})

const paid = (...worlds: ReadonlyArray<R.World>) => worlds.reduce((sum, world) => sum + world.count("Pay"), 0)

for (const [clock, ahead] of Object.entries(clocks)) {
  const ways: ReadonlyArray<R.Way> = clock === "one clock" ? R.conversationWays : ["send", "decide"]

  describe(`a process that dies while an approved call runs, ${clock}`, () => {
    R.inWays("is taken over in under ten seconds; what the call did is unknown, and it is paid once", function*(way) {
      const { first, next, world } = yield* two(way, ahead)
      first.die()
      const taken = yield* Effect.forkChild(next.say("And now?"))
      assert.isTrue(yield* R.endsWithin(taken, 9), "in under ten seconds")
      yield* Fiber.join(taken)
      yield* R.assertToldUnknown(next, "pay-1")
      assert.strictEqual(paid(world, next), 1)
      assert.deepStrictEqual(yield* next.conversation!.pending(), [])
    }, ways)

    R.inWays("also when it has been dead for long", function*(way) {
      const { first, next, world } = yield* two(way, ahead)
      first.die()
      yield* TestClock.adjust("1 hour")
      const taken = yield* Effect.forkChild(next.say([]))
      assert.isTrue(yield* R.endsWithin(taken, 9), "in under ten seconds")
      yield* Fiber.join(taken)
      yield* R.assertToldUnknown(next, "pay-1")
      assert.strictEqual(paid(world, next), 1)
    }, ways)
  })

  describe(`a process that lives while an approved call runs, ${clock}`, () => {
    R.inWays("is waited for, however long it takes, and the result is told", function*(way) {
      const { hold, next, reader, world } = yield* two(way, ahead)
      const waiting = yield* Effect.forkChild(next.say("And now?"))
      assert.isFalse(yield* R.endsWithin(waiting, 30), "six beats of it are never missing")
      yield* TestClock.adjust("5 minutes")
      yield* R.idle
      assert.isTrue(waiting.pollUnsafe() === undefined)
      yield* hold.release
      assert.isTrue(yield* R.endsWithin(waiting, 10))
      yield* Fiber.join(waiting)
      yield* Fiber.join(reader)
      yield* R.assertToldResult(next, "pay-1", "paid 5")
      assert.strictEqual(paid(world, next), 1)
    }, ways)

    R.inWays("is waited for when its reader left: its result is told in another process", function*(way) {
      const { hold, next, reader, world } = yield* two(way, ahead)
      yield* Fiber.interrupt(reader)
      const waiting = yield* Effect.forkChild(next.say("And now?"))
      assert.isFalse(yield* R.endsWithin(waiting, 30), "it waits")
      yield* hold.release
      assert.isTrue(yield* R.endsWithin(waiting, 10))
      yield* Fiber.join(waiting)
      yield* R.assertToldResult(next, "pay-1", "paid 5")
      assert.strictEqual(paid(world, next), 1)
    }, ways)
  })

  describe(`a process that is blocked for a minute while an approved call runs, ${clock}`, () => {
    R.inWays("is taken over as dead; its late result replaces \"unknown\", and the model is told it", function*(way) {
      const { first, hold, next, reader, world } = yield* two(way, ahead)
      first.block()
      const taken = yield* Effect.forkChild(next.say("And now?"))
      assert.isTrue(yield* R.endsWithin(taken, 9), "in under ten seconds")
      yield* Fiber.join(taken)
      yield* R.assertToldUnknown(next, "pay-1")
      yield* TestClock.adjust("51 seconds")
      yield* hold.release
      yield* first.goOn
      assert.isTrue(yield* R.endsWithin(reader, 30))
      const again = yield* Effect.forkChild(next.say("Well?"))
      assert.isTrue(yield* R.endsWithin(again, 10))
      yield* Fiber.join(again)
      assert.include(JSON.stringify(yield* R.sent(next)), "paid 5")
      assert.strictEqual(paid(world, next), 1)
    }, ways)

    R.inWays("and is blocked for less than six beats keeps what it has, and is told once", function*(way) {
      const { first, hold, next, reader, world } = yield* two(way, ahead)
      const waiting = yield* Effect.forkChild(next.say("And now?"))
      assert.isFalse(yield* R.endsWithin(waiting, 3))
      first.block()
      assert.isFalse(yield* R.endsWithin(waiting, 4))
      yield* first.goOn
      assert.isFalse(yield* R.endsWithin(waiting, 10))
      yield* hold.release
      assert.isTrue(yield* R.endsWithin(waiting, 10))
      yield* Fiber.join(waiting)
      yield* Fiber.join(reader)
      yield* R.assertToldResult(next, "pay-1", "paid 5")
      assert.strictEqual(paid(world, next), 1)
    }, ways)
  })
}
