/** Who hears that the process is to end: a run of the default journal, and only beside somebody else who does. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Shutdown from "../../src/internal/shutdown.ts"

const listeners = () => process.listenerCount("SIGTERM")

describe("a run of the default journal", () => {
  it.effect("listens beside whoever listens, as long as it goes on; where nobody does, a signal ends the process as ever", () =>
    Effect.gen(function*() {
      const others = process.listeners("SIGTERM")
      yield* Effect.acquireRelease(
        Effect.sync(() => process.removeAllListeners("SIGTERM")),
        () => Effect.sync(() => others.forEach((listener) => process.on("SIGTERM", listener)))
      )
      const counting = Shutdown.running(Effect.sync(listeners), Effect.void)
      assert.strictEqual(yield* counting, 0)
      const main = () => {}
      yield* Effect.acquireRelease(
        Effect.sync(() => process.on("SIGTERM", main)),
        () => Effect.sync(() => process.removeListener("SIGTERM", main))
      )
      assert.strictEqual(yield* counting, 2)
      assert.strictEqual(yield* Shutdown.running(counting, Effect.void), 2)
      assert.strictEqual(listeners(), 1)
    }))

  it.effect("is stopped by who leaves after the signal, and by nobody before", () =>
    Effect.gen(function*() {
      const main = () => {}
      yield* Effect.acquireRelease(
        Effect.sync(() => process.on("SIGTERM", main)),
        () => Effect.sync(() => process.removeListener("SIGTERM", main))
      )
      const stopped: Array<string> = []
      const stop = Effect.sync(() => stopped.push("stopped")).pipe(Effect.asVoid)
      const leaving = Shutdown.running(Shutdown.leaving, stop)
      yield* leaving
      assert.deepStrictEqual(stopped, [])
      yield* Shutdown.running(
        Effect.andThen(Effect.sync(() => process.listeners("SIGTERM")[0]?.("SIGTERM")), Shutdown.leaving),
        stop
      )
      assert.deepStrictEqual(stopped, ["stopped"])
      yield* Shutdown.leaving
      assert.lengthOf(stopped, 1)
    }))
})
