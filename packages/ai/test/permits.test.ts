/** So many at once, first come, first served, whoever leaves the line. */
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Permits from "../src/internal/permits.ts"

describe("permits", () => {
  for (const [free, count] of [[1, 200], [3, 200], [500, 200]] as const) {
    it.effect(`${free} at once of ${count}, and in their order`, () =>
      Effect.gen(function*() {
        const permits = Permits.make(free)
        const begun: Array<number> = []
        let running = 0
        let most = 0
        yield* Effect.forEach(
          Array.from({ length: count }, (_, index) => index),
          (index) =>
            permits.withPermit(Effect.gen(function*() {
              begun.push(index)
              most = Math.max(most, ++running)
              yield* Effect.yieldNow
              running--
            })),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(begun, begun.toSorted((a, b) => a - b))
        assert.deepStrictEqual([begun.length, most, running], [count, Math.min(free, count), 0])
      }))
  }

  it.effect("whoever is interrupted in the line, while it is served, or while it runs, keeps nobody waiting", () =>
    Effect.gen(function*() {
      const permits = Permits.make(1)
      const gate = yield* Deferred.make<void>()
      const ran: Array<string> = []
      const use = (name: string, effect: Effect.Effect<void> = Effect.void) =>
        Effect.forkChild(permits.withPermit(Effect.andThen(Effect.sync(() => ran.push(name)), effect)), {
          startImmediately: true
        })
      const first = yield* use("first", Deferred.await(gate))
      const inLine = yield* use("in line")
      const served = yield* use("served")
      const last = yield* use("last", Effect.never)
      yield* Fiber.interrupt(inLine)
      // The permit is given to the next, which is interrupted before it takes it.
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.await(first)
      yield* Fiber.interrupt(served)
      yield* Effect.yieldNow
      yield* Effect.yieldNow
      yield* Fiber.interrupt(last)
      const exit = yield* Effect.exit(permits.withPermit(Effect.fail("no")))
      assert.isTrue(Exit.isFailure(exit))
      yield* permits.withPermit(Effect.sync(() => ran.push("after")))
      assert.deepStrictEqual(ran.filter((name) => name !== "served"), ["first", "last", "after"])
    }))

  it.effect("whoever leaves the line gives back nothing", () =>
    Effect.gen(function*() {
      const permits = Permits.make(1)
      const gate = yield* Deferred.make<void>()
      let running = 0
      const use = Effect.forkChild(
        permits.withPermit(Effect.andThen(Effect.sync(() => running++), Deferred.await(gate))),
        { startImmediately: true }
      )
      yield* use
      yield* use
      yield* Fiber.interrupt(yield* use)
      yield* Effect.yieldNow
      yield* Effect.yieldNow
      assert.strictEqual(running, 1)
      yield* Deferred.succeed(gate, undefined)
    }))

  it.effect("thousands behind one another need no stack of their own", () =>
    Effect.gen(function*() {
      const permits = Permits.make(1)
      let done = 0
      const one = permits.withPermit(Effect.sync(() => done++))
      const gate = yield* Effect.forkChild(permits.withPermit(Effect.sleep(1)), { startImmediately: true })
      const all = yield* Effect.forkChild(
        Effect.all(Array.from({ length: 5_000 }, () => one), { concurrency: "unbounded", discard: true }),
        { startImmediately: true }
      )
      yield* Fiber.interrupt(gate)
      yield* Fiber.join(all)
      assert.strictEqual(done, 5_000)
    }))
})
