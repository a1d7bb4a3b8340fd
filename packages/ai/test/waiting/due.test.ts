/** Who is due is woken, however many are due before and whatever becomes of those. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { ApprovalSeal, DeferredTool, SuspensionStore } from "../../src/index.ts"
import * as Support from "./support.ts"
import * as Timers from "./timers.ts"

const layer = Layer.merge(
  SuspensionStore.layerMemory,
  ApprovalSeal.layer({ key: "the key of tests of what is due, 32" })
)

const fill = (count: number) =>
  Effect.flatMap(SuspensionStore.SuspensionStore, (store) => Timers.fill(store, "Menu", count))

describe("one look", () => {
  it.effect("wakes all that are due, also behind many whose conversations cannot be woken", () =>
    Effect.gen(function*() {
      yield* fill(250)
      yield* TestClock.adjust("1 hour")
      const woken: Array<string> = []
      const wake = ({ toolCallId }: SuspensionStore.Suspension) =>
        Number(toolCallId.slice(1)) < 200
          ? Effect.fail("not now")
          : Effect.sync(() => woken.push(toolCallId))
      yield* SuspensionStore.wakeDue(wake)
      assert.lengthOf(woken, 50)
      yield* SuspensionStore.wakeDue(wake)
      assert.lengthOf(woken, 50)
      const store = yield* SuspensionStore.SuspensionStore
      assert.lengthOf(yield* store.due({ now: Number.MAX_SAFE_INTEGER }), 100)
      assert.lengthOf(yield* store.due({ now: 3_000 }), 3)
    }).pipe(Effect.provide(layer)))

  it.effect("does not keep the others waiting while one takes a long turn", () =>
    Effect.gen(function*() {
      yield* fill(3)
      yield* TestClock.adjust("1 hour")
      const release = yield* Deferred.make<void>()
      const woken: Array<string> = []
      const looking = yield* Effect.forkChild(
        SuspensionStore.wakeDue(({ toolCallId }) =>
          Effect.andThen(
            toolCallId === "c0" ? Deferred.await(release) : Effect.void,
            Effect.sync(() => woken.push(toolCallId))
          )
        ),
        { startImmediately: true }
      )
      yield* Support.idle
      assert.deepStrictEqual(woken, ["c1", "c2"])
      yield* Deferred.succeed(release, undefined)
      yield* Fiber.join(looking)
      assert.lengthOf(woken, 3)
    }).pipe(Effect.provide(layer)))

  it.effect("wakes whoever was answered in time, also when the request has expired by then", () =>
    Effect.gen(function*() {
      const { first } = yield* Support.begin("generateText", [Support.call("c1", "Menu", { kind: "external" })])
      yield* TestClock.adjust("719 hours")
      yield* DeferredTool.deliver(Support.Menu, "external", Support.only(first), { paid: 20 })
      yield* TestClock.adjust("2 hours")
      let woken = 0
      yield* SuspensionStore.wakeDue(() => Effect.sync(() => woken++))
      assert.strictEqual(woken, 1)
    }).pipe(Effect.provide(SuspensionStore.layerMemory), Effect.scoped))
})
