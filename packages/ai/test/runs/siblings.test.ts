/** L2, L8: a turn that is left is told of everything that ran in it: what had ended, what went on, what was only asked. */
import { assert, describe } from "@effect/vitest"
import { Deferred, Effect, Fiber, Ref } from "effect"
import { ApprovalController } from "../../src/index.ts"
import * as R from "./support.ts"

/** Leaves the first turn once it has come to a place. */
const leaveAt = Effect.fnUntraced(function*(world: R.World, place: Effect.Effect<unknown>) {
  const reader = yield* Effect.forkChild(world.begin)
  yield* place
  yield* R.idle
  yield* Fiber.interrupt(reader)
})

describe("the reader leaves while one of several calls runs", () => {
  R.inWays("both that ran are told with their results", function*(way) {
    const holds = [yield* R.makeHold, yield* R.makeHold] as const
    const world = yield* R.make(way, {
      turns: [[R.pay, R.ship]],
      handlers: { Pay: R.heldOnce(holds[0], () => "paid late"), Ship: R.heldOnce(holds[1], () => "shipped late") }
    })
    yield* leaveAt(world, Effect.andThen(holds[0].entered, holds[1].entered))
    yield* holds[1].release
    const next = yield* Effect.forkChild(world.say("And now?"))
    yield* R.idle
    yield* holds[0].release
    yield* Fiber.join(next)
    yield* R.assertToldResult(world, "pay-1", "paid late")
    yield* R.assertToldResult(world, "ship-1", "shipped late")
    assert.deepStrictEqual([world.count("Pay"), world.count("Ship")], [1, 1])
  })

  const late: ReadonlyArray<readonly [string, R.Options["turns"], ended: "pay-1" | "look-1", ReadonlyArray<R.Way>]> = [
    [
      "siblings that had ended are told with their results, and the one that ran with its own",
      [[R.pay, R.ship]],
      "pay-1",
      R.ways
    ],
    ["a call that needs nobody and had ended is told with its result", [[R.look, R.pay]], "look-1", R.inlineWays],
    ["what an earlier step of the turn had done is told too", [[R.pay], [R.ship]], "pay-1", R.conversationWays]
  ]
  for (const [title, turns, ended, ways] of late) {
    R.inWays(title, function*(way) {
      const hold = yield* R.makeHold
      const [first, second] = ended === "pay-1" ? ["Pay", "Ship"] as const : ["Look", "Pay"] as const
      const world = yield* R.make(way, { turns, handlers: { [second]: R.heldOnce(hold, () => "done late") } })
      yield* leaveAt(world, hold.entered)
      yield* hold.release
      yield* R.idle
      yield* world.say("And now?")
      yield* R.assertToldResult(world, ended, ended === "pay-1" ? "paid 5" : "the stock")
      yield* R.assertToldResult(world, `${second.toLowerCase()}-1`, "done late")
      assert.deepStrictEqual([world.count(first), world.count(second)], [1, 1])
    }, ways)
  }
})

describe("the reader leaves while a call runs that needs nobody", () => {
  R.inWays("it is told that what the call did is unknown, and to check", function*(way) {
    const hold = yield* R.makeHold
    const world = yield* R.make(way, { turns: [[R.look]], handlers: { Look: R.heldOnce(hold, () => "late") } })
    yield* leaveAt(world, hold.entered)
    yield* world.say("And now?")
    yield* R.assertToldUnknown(world, "look-1")
    assert.strictEqual(world.count("Look"), 1)
  }, R.inlineWays)

  R.inWays("and of an approved sibling that had ended it is told the result", function*(way) {
    const hold = yield* R.makeHold
    const paid = yield* R.makeHold
    yield* paid.release
    const world = yield* R.make(way, {
      turns: [[R.pay, R.look]],
      handlers: { Look: R.heldOnce(hold, () => "late"), Pay: R.heldOnce(paid, () => "paid") }
    })
    yield* leaveAt(world, Effect.andThen(hold.entered, paid.entered))
    yield* world.say("And now?")
    yield* R.assertToldUnknown(world, "look-1")
    yield* R.assertToldResult(world, "pay-1", "paid")
    assert.deepStrictEqual([world.count("Look"), world.count("Pay")], [1, 1])
    // A stream asks at its finish, when those that need nobody have ended.
  }, ["send", "decide, inline", "Chat.generateText"])
})

describe("the reader leaves while a person is asked", () => {
  /** Left before anybody answered; whoever is asked in a later turn says no. */
  const left = Effect.fnUntraced(function*(way: R.Way, turns: R.Options["turns"]) {
    const asked = yield* Deferred.make<void>()
    const isFirst = yield* Ref.make(true)
    const controller = ApprovalController.interactive(({ toolName }) =>
      toolName === "Note" ? true : Effect.flatMap(
        Ref.getAndSet(isFirst, false),
        (first) => first ? Effect.andThen(Deferred.succeed(asked, undefined), Effect.never) : Effect.succeed(false)
      )
    )
    const world = yield* R.make(way, { turns, controller })
    yield* leaveAt(world, Deferred.await(asked))
    return world
  })

  R.inWays("nothing ran, and the next turn's model is told so", function*(way) {
    const world = yield* left(way, [[R.pay]])
    yield* world.say("And now?")
    yield* R.assertToldNothingRan(world, "pay-1")
    assert.strictEqual(world.count("Pay"), 0)
  }, R.inlineWays)

  R.inWays("a sibling that needs nobody and had ended is told with its result", function*(way) {
    const world = yield* left(way, [[R.look, R.pay]])
    yield* world.say("And now?")
    yield* R.assertToldResult(world, "look-1", "the stock")
    yield* R.assertToldNothingRan(world, "pay-1")
    assert.deepStrictEqual([world.count("Look"), world.count("Pay")], [1, 0])
  }, R.inlineWays)

  R.inWays("no question is open that nobody can answer: not before the next turn, and not after it", function*(way) {
    const world = yield* left(way, [[R.pay]])
    assert.deepStrictEqual(yield* world.conversation!.pending(), [])
    yield* world.say("And now?")
    assert.deepStrictEqual(yield* world.conversation!.pending(), [])
    assert.strictEqual((yield* world.conversation!.outcome)?._tag, "Completed")
  }, R.inlineWays.filter((way) => !way.startsWith("Chat")))
})
