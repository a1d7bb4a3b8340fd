/** A line of calls: each has its turn after those that took their places before it, however long each of them takes. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Schema } from "effect"
import { TestClock } from "effect/testing"
import * as Order from "../../src/internal/gather/order.ts"

/** What each does when it has joined: how long it takes before its turn, and in it. */
const Visitor = Schema.Struct({
  before: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 50 })),
  during: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 50 })),
  /** It needs no turn, or gives up waiting for it. */
  leaves: Schema.Literals(["after its turn", "at once", "while it waits"])
})

describe("order", () => {
  it.effect.prop(
    "turns come in the order of the places, one after the other, and nobody waits for one that has left",
    [Schema.Array(Visitor)],
    ([visitors]) =>
      Effect.gen(function*() {
        const line = Order.make()
        const seen: Array<string> = []
        const visit = Effect.fnUntraced(function*(
          { before, during, leaves }: typeof Visitor.Type,
          index: number,
          turn: Order.Turn
        ) {
          yield* Effect.sleep(before)
          if (leaves === "at once") return
          const taken = Effect.gen(function*() {
            yield* turn.wait
            seen.push(`${index} begins`)
            yield* Effect.sleep(during)
            seen.push(`${index} ends`)
          })
          yield* leaves === "while it waits" ? Effect.timeoutOption(turn.wait, 0) : taken
        })
        const fibers = yield* Effect.forEach(visitors, (visitor, index) => {
          const turn = line.join()
          return Effect.forkChild(Effect.ensuring(visit(visitor, index, turn), turn.leave))
        })
        yield* TestClock.adjust(100 * (visitors.length + 1))
        yield* Effect.forEach(fibers, Fiber.join)
        const expected = visitors.flatMap(({ leaves }, index) =>
          leaves === "after its turn" ? [`${index} begins`, `${index} ends`] : []
        )
        assert.deepStrictEqual(seen, expected)
      })
  )

  it.effect("whoever leaves twice, or before anybody waits, holds up nobody", () =>
    Effect.gen(function*() {
      const line = Order.make()
      const [first, second, third] = [line.join(), line.join(), line.join()]
      yield* second.leave
      yield* second.leave
      const waiting = yield* Effect.forkChild(third.wait, { startImmediately: true })
      assert.isUndefined(waiting.pollUnsafe())
      yield* first.leave
      yield* Fiber.join(waiting)
      // Whose turn it was may ask again.
      yield* first.wait
    }))
})
