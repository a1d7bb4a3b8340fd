/** Which processes live, by their own beats: `internal/journal/liveness.ts`. */
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import * as Liveness from "../../src/internal/journal/liveness.ts"
import * as NotingStore from "./notingStore.ts"

describe("L2 which processes live", () => {
  const begin = Effect.gen(function*() {
    const { store, writes } = yield* NotingStore.make
    const process = (owner: string, heartbeat: Duration.Input | undefined, isBusy = () => false) =>
      Effect.map(Effect.scope, (scope) =>
        Liveness.make({
          store,
          owner,
          heartbeat: heartbeat === undefined ? undefined : Duration.fromInputUnsafe(heartbeat),
          margin: 86_400_000,
          isBusy,
          scope
        }))
    return { process, store, writes }
  })

  it.effect("L2 six of its own beats of silence are death, and not a millisecond less", () =>
    Effect.gen(function*() {
      const { process } = yield* begin
      const slow = yield* process("slow", "10 seconds")
      const quick = yield* process("quick", "1 second")
      yield* slow.beating
      yield* quick.beating
      yield* TestClock.adjust(5_999)
      assert.deepStrictEqual([yield* slow.isAlive("quick"), yield* quick.isAlive("slow")], [true, true])
      yield* TestClock.adjust(1)
      assert.deepStrictEqual([yield* slow.isAlive("quick"), yield* quick.isAlive("slow")], [false, true])
      yield* TestClock.adjust(53_999)
      assert.isTrue(yield* quick.isAlive("slow"))
      yield* TestClock.adjust(1)
      assert.isFalse(yield* quick.isAlive("slow"))
    }))

  it.effect("L2 a process is heard for as long as it is busy, and says so once a beat", () =>
    Effect.gen(function*() {
      const { process, writes } = yield* begin
      let busy = true
      const one = yield* process("one", "10 seconds", () => busy)
      const other = yield* process("other", "10 seconds")
      yield* one.beating
      yield* one.beating
      assert.deepStrictEqual(writes, ["owner/one"])
      for (let i = 0; i < 10; i++) yield* TestClock.adjust("10 seconds")
      assert.isTrue(yield* other.isAlive("one"))
      assert.lengthOf(writes, 11)
      busy = false
      yield* TestClock.adjust("1 hour")
      assert.isFalse(yield* other.isAlive("one"))
      assert.lengthOf(writes, 11)
      // Silent for long, it has to be heard before it claims anything.
      yield* one.beating
      assert.deepStrictEqual([yield* other.isAlive("one"), writes.length], [true, 12])
    }))

  it.effect("L2 nobody lives of whom nothing, or nothing to be understood, was heard", () =>
    Effect.gen(function*() {
      const { process, store } = yield* begin
      const one = yield* process("one", "10 seconds")
      yield* one.beating
      yield* store.put("owner/odd", "now", { expiresAt: 1_000_000 })
      for (const owner of [undefined, "nobody", "odd"]) assert.isFalse(yield* one.isAlive(owner))
      assert.isFalse(yield* one.isAlive("one"), "a claim of our own that no run here has never started")
    }))

  it.effect("L2 where no other process can have a claim nothing is written, and nobody lives", () =>
    Effect.gen(function*() {
      const { process, writes } = yield* begin
      const only = yield* process("only", undefined)
      yield* only.beating
      assert.deepStrictEqual([yield* only.isAlive("other"), writes], [false, []])
    }))
})
