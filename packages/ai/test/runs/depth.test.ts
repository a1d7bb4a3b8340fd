/** L17: a result that is nested too deep is found out before it is kept, and does not break the conversation. */
import { assert, describe } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { failureReason } from "../laws/support.ts"
import * as R from "./support.ts"

const nested = (depth: number): unknown => {
  let value: unknown = "the end"
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { value }
  return value
}

describe("a result that is nested too deep", () => {
  // 512 is the bound; the last is one that could be written once, and never again.
  for (const depth of [600, 6_000]) {
    R.inWays(`of ${depth} levels: the model is told that the call ran, and the conversation goes on`, function*(way) {
      const world = yield* R.make(way, {
        turns: [[R.deep, R.pay]],
        handlers: { Deep: () => Effect.sync(() => nested(depth)) }
      })
      yield* world.begin
      for (const words of ["And now?", "Well?"]) {
        yield* world.say(words)
        const reason = failureReason(yield* R.toldOf(world, "deep-1"))
        assert.match(reason, /\bran\b/)
        assert.notMatch(reason, /nothing ran/i)
        yield* R.assertToldResult(world, "pay-1", "paid 5")
      }
      assert.deepStrictEqual([world.count("Deep"), world.count("Pay")], [1, 1])
    })
  }

  R.inWays("of a turn that was left: the next turn's model is told that the call ran", function*(way) {
    const hold = yield* R.makeHold
    const world = yield* R.make(way, {
      turns: [[R.deep, R.pay]],
      handlers: { Deep: R.heldOnce(hold, () => nested(600)) }
    })
    const reader = yield* Effect.forkChild(world.begin)
    yield* hold.entered
    yield* R.idle
    yield* Fiber.interrupt(reader)
    yield* hold.release
    yield* R.idle
    for (const words of ["And now?", "Well?"]) {
      yield* world.say(words)
      assert.match(failureReason(yield* R.toldOf(world, "deep-1")), /\bran\b/)
      yield* R.assertToldResult(world, "pay-1", "paid 5")
    }
    assert.deepStrictEqual([world.count("Deep"), world.count("Pay")], [1, 1])
  })

  R.inWays("and one of 500 levels is kept as it is", function*(way) {
    const value = nested(500)
    const world = yield* R.make(way, { turns: [[R.deep]], handlers: { Deep: () => Effect.succeed(value) } })
    yield* world.begin
    yield* world.say("And now?")
    yield* R.assertToldResult(world, "deep-1", value)
  })
})
