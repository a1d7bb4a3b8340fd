/** Which processes live, by their own beats: `internal/journal/liveness.ts`. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import * as Liveness from "../../src/internal/journal/liveness.ts"
import * as NotingStore from "./notingStore.ts"

describe("L2 which processes live", () => {
  const begin = Effect.gen(function*() {
    const { store, writes } = yield* NotingStore.make
    const process = (owner: string, heartbeat: Duration.Input | undefined, isBusy = () => false) =>
      Effect.map(Effect.scope, (scope) =>
        Liveness.make({
          owners: store.owners,
          owner,
          heartbeat: heartbeat === undefined ? undefined : Duration.fromInputUnsafe(heartbeat),
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
      assert.deepStrictEqual(writes, ["owners.beat one"])
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
      // And it is heard again for as long as it is busy.
      busy = true
      yield* one.beating
      for (let i = 0; i < 10; i++) yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual([yield* other.isAlive("one"), writes.length], [true, 22])
    }))

  it.effect("L2 a process that has nothing to do is not kept alive by its heart: no fiber of it waits for the next beat", () =>
    Effect.gen(function*() {
      const { process } = yield* begin
      let asleep = 0
      const time = yield* Clock.Clock
      const clock: Clock.Clock = {
        ...time,
        sleep: (duration) =>
          Effect.suspend(() => {
            asleep++
            return Effect.ensuring(time.sleep(duration), Effect.sync(() => asleep--))
          })
      }
      let busy = true
      const one = yield* process("one", "10 seconds", () => busy)
      yield* Effect.provideService(one.beating, Clock.Clock, clock)
      yield* TestClock.adjust("30 seconds")
      const before = asleep
      busy = false
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual([before, asleep], [1, 0])
    }))

  it.effect("L2 where processes share a store each says every 5 seconds that it lives, unless it is told otherwise", () =>
    Effect.gen(function*() {
      const { store } = yield* begin
      const shared = { ...store, isShared: true }
      const millis = (of: typeof store, heartbeat?: Duration.Input) => {
        const every = Liveness.heartbeatOf(of, heartbeat)
        return every === undefined ? undefined : Duration.toMillis(every)
      }
      assert.deepStrictEqual([millis(shared), millis(shared, "1 second")], [5_000, 1_000])
      assert.deepStrictEqual([millis(store), millis(store, "1 second")], [undefined, 1_000])
    }))

  it.effect("L2 nobody lives of whom nothing was heard", () =>
    Effect.gen(function*() {
      const { process } = yield* begin
      const one = yield* process("one", "10 seconds")
      yield* one.beating
      for (const owner of [undefined, "nobody"]) assert.isFalse(yield* one.isAlive(owner))
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
