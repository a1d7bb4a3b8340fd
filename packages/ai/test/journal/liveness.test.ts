/** Which processes live, as others see it: `internal/journal/liveness.ts`. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Duration, Effect, Exit, Scope } from "effect"
import { TestClock } from "effect/testing"
import { Store } from "../../src/index.ts"
import * as Liveness from "../../src/internal/journal/liveness.ts"
import { makeClock } from "./asleep.ts"
import * as NotingStore from "./notingStore.ts"

/** The same clock, whose wall shows another time: so much more. */
const clockThatIs = (time: Clock.Clock, more: number | (() => number)): Clock.Clock => {
  const millis = () => time.currentTimeMillisUnsafe() + (typeof more === "number" ? more : more())
  const nanos = () => BigInt(millis()) * 1_000_000n
  return {
    ...time,
    currentTimeMillisUnsafe: millis,
    currentTimeMillis: Effect.sync(millis),
    currentTimeNanosUnsafe: nanos,
    currentTimeNanos: Effect.sync(nanos)
  }
}

/** Somebody who may own something, in the process that this store is of. */
const join = (store: Store.Store, heartbeat: Duration.Input | undefined, isBusy = () => false) =>
  Effect.flatMap(Effect.scope, (scope) =>
    Liveness.make({
      store,
      heartbeat: heartbeat === undefined ? undefined : Duration.fromInputUnsafe(heartbeat),
      isBusy,
      scope
    }))

describe("L2 which processes live", () => {
  const begin = Effect.gen(function*() {
    const { store, writes } = yield* NotingStore.make
    const process = (heartbeat: Duration.Input | undefined, isBusy = () => false) =>
      join(Store.make(store), heartbeat, isBusy)
    return { process, store, writes }
  })

  /** Two processes that beat every second, one of which has begun to. */
  const two = Effect.gen(function*() {
    const { process } = yield* begin
    const one = yield* process("1 second")
    const other = yield* process("1 second")
    yield* one.beating
    return { one, other }
  })

  /** Looks as often as whoever waits does, for so long; whether it was alive each time. */
  const lookFor = (one: Liveness.Liveness, owner: string, millis: number) =>
    Effect.gen(function*() {
      const seen: Array<boolean> = []
      for (let at = 0; at < millis; at += 200) {
        seen.push(yield* one.isAlive(owner))
        yield* TestClock.adjust(Math.min(200, millis - at))
      }
      return seen.every((alive) => alive)
    })

  it.effect("L2 six beats without a change are death, and not a millisecond less; a slow one's beats are longer", () =>
    Effect.gen(function*() {
      const { process } = yield* begin
      const slow = yield* process("10 seconds")
      const quick = yield* process("1 second")
      yield* slow.beating
      yield* quick.beating
      for (const [one, other, millis] of [[slow, quick, 6_000], [quick, slow, 60_000]] as const) {
        assert.isTrue(yield* lookFor(one, other.owner, millis - 1))
        assert.isTrue(yield* one.isAlive(other.owner))
        yield* TestClock.adjust(1)
        assert.isFalse(yield* one.isAlive(other.owner))
      }
    }))

  it.effect("L2 a process that beats again lives again, and is dead after another six beats", () =>
    Effect.gen(function*() {
      const { one, other } = yield* two
      yield* lookFor(other, one.owner, 6_000)
      assert.isFalse(yield* other.isAlive(one.owner))
      yield* one.beating
      assert.isTrue(yield* lookFor(other, one.owner, 6_000))
      assert.isFalse(yield* other.isAlive(one.owner))
    }))

  it.effect("L2 who looks once takes nobody for dead, however long it was silent", () =>
    Effect.gen(function*() {
      const { process } = yield* begin
      const one = yield* process("1 second")
      yield* one.beating
      yield* TestClock.adjust("1 hour")
      const other = yield* process("1 second")
      assert.isTrue(yield* other.isAlive(one.owner))
    }))

  it.effect("L2 who was blocked for 60 seconds itself does not take its own absence for the other's death", () =>
    Effect.gen(function*() {
      const { one, other } = yield* two
      for (const blocked of [59_000, 60_000, 3_600_000]) {
        assert.isTrue(yield* lookFor(other, one.owner, 2_000))
        yield* TestClock.adjust(blocked)
        assert.isTrue(yield* other.isAlive(one.owner))
        // Both were: the other one beats a moment later.
        yield* one.beating
      }
      yield* lookFor(other, one.owner, 6_000)
      assert.isFalse(yield* other.isAlive(one.owner), "one that is dead is found dead all the same")
    }))

  it.effect("L2 who was blocked hears again as long as ever: nothing is made up for, and what is long ago is forgotten", () =>
    Effect.gen(function*() {
      const { one, other } = yield* two
      assert.isTrue(yield* other.isAlive(one.owner))
      yield* TestClock.adjust("30 seconds")
      assert.isTrue(yield* lookFor(other, one.owner, 5_000))
      yield* TestClock.adjust("60 seconds")
      assert.isTrue(yield* lookFor(other, one.owner, 6_000))
      assert.isFalse(yield* other.isAlive(one.owner))
    }))

  it.effect("L2 who was looked at long ago is looked at anew, also while others are looked at all the time", () =>
    Effect.gen(function*() {
      const { process } = yield* begin
      const [one, another, other] = [yield* process("1 second"), yield* process("1 second"), yield* process("1 second")]
      yield* one.beating
      yield* another.beating
      assert.isTrue(yield* other.isAlive(another.owner))
      assert.isTrue(yield* lookFor(other, one.owner, 5_999))
      // One short of its death nobody asks for it any more.
      yield* lookFor(other, another.owner, 60_000)
      assert.isTrue(yield* lookFor(other, one.owner, 6_000))
      assert.isFalse(yield* other.isAlive(one.owner))
    }))

  it.effect("L2 a look that comes late counts for one beat, so that one who is slow finds the dead too", () =>
    Effect.gen(function*() {
      const { one, other } = yield* two
      for (let look = 0; look < 6; look++) {
        assert.isTrue(yield* other.isAlive(one.owner))
        yield* TestClock.adjust("5 seconds")
      }
      assert.isFalse(yield* other.isAlive(one.owner))
    }))

  for (const minutes of [-10, 10]) {
    it.effect(`L2 two clocks ${minutes} minutes apart are never compared: who beats lives, and who does not is dead`, () =>
      Effect.gen(function*() {
        const { process } = yield* begin
        const one = yield* process("1 second", () => true)
        const other = yield* process("1 second")
        const time = yield* Clock.Clock
        const inOthers = Effect.provideService(Clock.Clock, clockThatIs(time, minutes * 60_000))
        yield* one.beating
        for (let at = 0; at < 100; at++) {
          assert.isTrue(yield* inOthers(other.isAlive(one.owner)))
          yield* TestClock.adjust(200)
        }
        const silent = yield* process("1 second")
        yield* silent.beating
        for (let at = 0; at < 30; at++) {
          assert.isTrue(yield* inOthers(other.isAlive(silent.owner)))
          yield* TestClock.adjust(200)
        }
        assert.isFalse(yield* inOthers(other.isAlive(silent.owner)))
      }))

    it.effect(`L2 a wall clock that jumps ${minutes} minutes under who looks or who beats changes nothing`, () =>
      Effect.gen(function*() {
        const { process, writes } = yield* begin
        const one = yield* process("1 second", () => true)
        const other = yield* process("1 second")
        const time = yield* Clock.Clock
        let jumped = 0
        const clock = clockThatIs(time, () => jumped)
        const at = (millis: number) => Effect.sync(() => jumped = millis)
        yield* Effect.gen(function*() {
          yield* one.beating
          yield* lookFor(other, one.owner, 2_000)
          yield* at(minutes * 60_000)
          yield* one.beating
          assert.isTrue(yield* lookFor(other, one.owner, 2_000))
          yield* at(0)
          yield* one.beating
          assert.isTrue(yield* lookFor(other, one.owner, 2_000))
        }).pipe(Effect.provideService(Clock.Clock, clock))
        assert.strictEqual(writes.length, 7)
      }))
  }

  it.effect("L2 a beat that cannot be read is none: dead after six beats, as one that is not there, without an error", () =>
    Effect.gen(function*() {
      const { store } = yield* begin
      const rows = [
        undefined,
        { id: "one", beat: Number.NaN, every: 1_000 },
        { id: "one", beat: 1, every: -1 },
        { id: "one", beat: 1, every: 9e15 }
      ].map((row) => Effect.succeed(row))
      const corrupt = new Store.StoreError({ operation: "owners.get", description: "Bad row.", reason: "Corrupt" })
      for (const get of [...rows, Effect.fail(corrupt)]) {
        const other = yield* join(Store.make({ ...store, owners: { ...store.owners, get: () => get } }), "1 second")
        assert.isTrue(yield* lookFor(other, "one", 6_000))
        assert.isFalse(yield* other.isAlive("one"))
      }
    }))

  it.effect("L2 a store that fails is nobody's death", () =>
    Effect.gen(function*() {
      const { store } = yield* begin
      let fails = false
      const failure = new Store.StoreError({ operation: "owners.get", description: "Down.", reason: "Unavailable" })
      const get = (id: string) => Effect.suspend(() => fails ? Effect.fail(failure) : store.owners.get(id))
      const other = yield* join(Store.make({ ...store, owners: { ...store.owners, get } }), "1 second")
      yield* store.owners.beat({ id: "one", beat: 1, every: 1_000 })
      assert.isTrue(yield* other.isAlive("one"))
      fails = true
      for (let look = 0; look < 50; look++) {
        assert.strictEqual(yield* Effect.flip(other.isAlive("one")), failure)
        yield* TestClock.adjust(200)
      }
      fails = false
      assert.isTrue(yield* other.isAlive("one"))
    }))

  it.effect("L2 a process is heard for as long as it is busy, and says so once a beat", () =>
    Effect.gen(function*() {
      const { process, writes } = yield* begin
      let busy = true
      const one = yield* process("10 seconds", () => busy)
      const other = yield* process("10 seconds")
      yield* one.beating
      yield* one.beating
      assert.lengthOf(writes, 1)
      assert.isTrue(yield* lookFor(other, one.owner, 100_000))
      assert.lengthOf(writes, 11)
      busy = false
      assert.isFalse(yield* lookFor(other, one.owner, 100_000))
      assert.lengthOf(writes, 11)
      // Silent for long, it has to be heard before it claims anything.
      yield* one.beating
      assert.deepStrictEqual([yield* other.isAlive(one.owner), writes.length], [true, 12])
      // And it is heard again for as long as it is busy.
      busy = true
      yield* one.beating
      assert.deepStrictEqual([yield* lookFor(other, one.owner, 100_000), writes.length], [true, 22])
    }))

  it.effect("L2 a process that has nothing to do is not kept alive by its heart: no fiber of it waits for the next beat", () =>
    Effect.gen(function*() {
      const { process } = yield* begin
      const { asleep, clock } = yield* makeClock
      let busy = true
      const one = yield* process("10 seconds", () => busy)
      yield* Effect.provideService(one.beating, Clock.Clock, clock)
      yield* TestClock.adjust("30 seconds")
      const before = asleep()
      busy = false
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual([before, asleep()], [1, 0])
    }))

  it.effect("L2 where processes share a store each says every second that it lives, which cannot be switched off", () =>
    Effect.gen(function*() {
      const { store } = yield* begin
      const shared = { ...store, isShared: true }
      const millis = (of: typeof store, heartbeat?: Duration.Input) => {
        const every = Liveness.heartbeatOf(of, heartbeat)
        return every === undefined ? undefined : Duration.toMillis(every)
      }
      assert.deepStrictEqual([millis(shared), millis(shared, "5 seconds")], [1_000, 5_000])
      assert.deepStrictEqual([millis(store), millis(store, "5 seconds")], [undefined, 5_000])
      for (const off of [undefined, 0, -1, "Infinity", "2 days", Number.NaN] as const) {
        assert.deepStrictEqual([millis(shared, off), millis(store, off)], [1_000, undefined], String(off))
      }
    }))

  it.effect("L2 a claim without an owner, and one of our own that no run here has, is nobody's that lives", () =>
    Effect.gen(function*() {
      const { process } = yield* begin
      const one = yield* process("10 seconds")
      yield* one.beating
      for (const owner of [undefined, one.owner]) assert.isFalse(yield* one.isAlive(owner))
    }))

  it.effect("L2 all that is in one process has one heart, which beats for each that is busy and no more often", () =>
    Effect.gen(function*() {
      const { process, store, writes } = yield* begin
      const mine = Store.make(store)
      const busy = { one: true, two: true }
      const one = yield* join(mine, "1 second", () => busy.one)
      const two = yield* join(mine, "1 second", () => busy.two)
      const other = yield* process("1 second")
      yield* one.beating
      yield* TestClock.adjust(500)
      yield* two.beating
      assert.isTrue(yield* lookFor(other, one.owner, 9_500))
      assert.lengthOf(new Set(writes), 1)
      assert.isAtMost(writes.length, 11)
      busy.one = false
      assert.isTrue(yield* lookFor(other, two.owner, 10_000))
      busy.two = false
      yield* lookFor(other, two.owner, 8_000)
      assert.isFalse(yield* other.isAlive(two.owner))
      // It is the same process, of which nothing was heard.
      assert.isFalse(yield* other.isAlive(one.owner))
    }))

  it.effect("L2 who is in the same process lives as long as it does something, and is not looked up", () =>
    Effect.gen(function*() {
      const { store } = yield* begin
      const mine = Store.make({ ...store, owners: { ...store.owners, get: () => Effect.die(new Error("It looked.")) } })
      let busy = true
      const scope = yield* Scope.make()
      const one = yield* Effect.provideService(join(mine, "1 second", () => busy), Scope.Scope, scope)
      const two = yield* join(mine, "1 second")
      assert.deepStrictEqual([yield* two.isAlive(one.owner), yield* one.isAlive(two.owner)], [true, false])
      busy = false
      assert.isFalse(yield* two.isAlive(one.owner))
      busy = true
      yield* Scope.close(scope, Exit.void)
      assert.isFalse(yield* two.isAlive(one.owner))
    }))

  it.effect("L2 where those in one process are to beat at different paces, the slower is what it promises", () =>
    Effect.gen(function*() {
      const { process, store } = yield* begin
      const mine = Store.make(store)
      const quick = yield* join(mine, "1 second", () => true)
      const slow = yield* join(mine, "10 seconds", () => true)
      const other = yield* process("1 second")
      yield* quick.beating
      yield* slow.beating
      for (const { owner } of [quick, slow]) assert.isTrue(yield* lookFor(other, owner, 100_000))
    }))

  it.effect("L2 where no other process can have a claim nothing is written, and nobody lives", () =>
    Effect.gen(function*() {
      const { process, writes } = yield* begin
      const only = yield* process(undefined)
      yield* only.beating
      assert.deepStrictEqual([yield* only.isAlive("other"), writes], [false, []])
    }))
})
