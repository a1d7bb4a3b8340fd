/**
 * L2, L7: when the reader leaves while an approved call runs, the next turn's model is told of it, and pays once. On record
 * first: the call, and its fate, however the turn ended.
 */
import { assert, describe } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import * as R from "./support.ts"

/** How a reader leaves; of a limit and a cancellation the conversation knows, of the others nobody. */
const leavings: ReadonlyArray<{
  readonly title: string
  readonly only: ReadonlyArray<R.Way>
  readonly limits?: { readonly time: "5 seconds" }
  readonly closes?: true
  readonly leave: (reader: Fiber.Fiber<R.Parts, unknown>, world: R.World) => Effect.Effect<unknown, unknown>
}> = [
  {
    title: "the turn is interrupted",
    only: R.ways,
    leave: (reader) => Fiber.interrupt(reader)
  },
  {
    title: "the stream is closed",
    only: R.streamWays,
    closes: true,
    leave: (reader) => Fiber.join(reader)
  },
  {
    title: "the turn's time limit (`limits.time`) is over",
    only: R.conversationWays,
    limits: { time: "5 seconds" },
    leave: (reader) => Effect.andThen(TestClock.adjust("5 seconds"), Fiber.join(reader))
  },
  {
    title: "a timeout around the turn is over",
    only: R.ways,
    leave: (reader) => Effect.andThen(TestClock.adjust("7 seconds"), Fiber.await(reader))
  }
]

/** A turn that was left while `Pay` runs. */
const left = Effect.fnUntraced(function*(
  way: R.Way,
  { closes, leave, limits }: (typeof leavings)[number]
) {
  const hold = yield* R.makeHold
  const world = yield* R.make(way, {
    turns: [[R.pay], R.paysUnlessTold],
    limits,
    closing: closes === true ? hold.entered : undefined,
    handlers: { Pay: R.heldOnce(hold, ({ amount }) => `paid ${amount}`) }
  })
  const reader = yield* Effect.forkChild(Effect.timeout(world.begin, "7 seconds"))
  yield* hold.entered
  assert.isTrue(yield* R.settles(yield* Effect.forkChild(leave(reader, world))), "a reader can leave at once")
  return { hold, world }
})

describe("the reader leaves while an approved call runs", () => {
  for (const leaving of leavings) {
    R.inWays(`${leaving.title}: the next turn's model is told the recorded result, and pays once`, function*(way) {
      const { hold, world } = yield* left(way, leaving)
      yield* hold.release
      yield* R.idle
      yield* world.say("And now?")
      yield* R.assertToldResult(world, "pay-1", "paid 5")
      assert.strictEqual(world.count("Pay"), 1)
      // And so are all that follow.
      yield* world.say("Thanks.")
      yield* R.assertToldResult(world, "pay-1", "paid 5")
      assert.strictEqual(world.count("Pay"), 1)
    }, leaving.only)

    R.inWays(`${leaving.title}: the next turn waits for the run that goes on, and is told its result`, function*(way) {
      const { hold, world } = yield* left(way, leaving)
      const next = yield* Effect.forkChild(world.say("And now?"))
      yield* R.idle
      assert.isTrue(next.pollUnsafe() === undefined, "it waits")
      assert.strictEqual(world.count("Pay"), 1)
      yield* hold.release
      yield* Fiber.join(next)
      yield* R.assertToldResult(world, "pay-1", "paid 5")
      assert.strictEqual(world.count("Pay"), 1)
    }, leaving.only)
  }

  R.inWays(
    "cancelled: the next turn's model is told that it was stopped and what it did is unknown, and pays once",
    function*(way) {
      const { world } = yield* left(way, {
        title: "it is cancelled",
        only: R.conversationWays,
        leave: (reader, { conversation }) => Effect.andThen(conversation!.cancel("stop it"), Fiber.await(reader))
      })
      yield* world.say("And now?")
      yield* R.assertToldUnknown(world, "pay-1")
      assert.strictEqual(world.count("Pay"), 1)
      yield* world.say("Thanks.")
      yield* R.assertToldUnknown(world, "pay-1")
      assert.strictEqual(world.count("Pay"), 1)
    },
    R.conversationWays
  )
})
