/** Whose turn it is to be asked: where the question has only so much time, and where there is nobody to ask. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import * as Asking from "../../src/internal/asking/asking.ts"

describe("a turn that ends with its time", () => {
  it.effect("what has begun is not begun again when the time is over, and comes to its own end", () =>
    Effect.gen(function*() {
      let begun = 0
      const asked = Effect.suspend(() => Effect.as(Effect.sleep("1 minute"), ++begun))
      const fiber = yield* Effect.forkChild(Asking.inTurn({ ask: () => Effect.undefined }, asked, 30_000))
      yield* TestClock.adjust("30 seconds")
      yield* TestClock.adjust("30 seconds")
      assert.deepStrictEqual([fiber.pollUnsafe() !== undefined, begun, yield* Fiber.join(fiber)], [true, 1, 1])
    }))
})

describe("a turn of nobody", () => {
  it.effect("where nobody is there to ask, nothing waits for what goes on before it", () =>
    Effect.gen(function*() {
      const nobody: Asking.Controller = {}
      yield* Effect.forkChild(Asking.inTurn(nobody, Effect.never), { startImmediately: true })
      const next = yield* Effect.forkChild(Asking.inTurn(nobody, Effect.succeed("next")), { startImmediately: true })
      assert.isDefined(next.pollUnsafe())
    }))
})
