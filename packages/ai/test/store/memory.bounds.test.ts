/** What a store in memory gives up when there is no room, and what it never does. */
import { Store } from "@assent/ai"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { answer, minute, named, nonces, shown, waits, written } from "./laws/support.ts"

const done = { state: "done", entry: "ran", result: "1234567890" } as const
const running = { state: "running", entry: "runs" } as const

const refused = <A>(effect: Effect.Effect<A, Store.StoreError>) =>
  Effect.map(Effect.flip(effect), ({ description, reason }) => {
    assert.strictEqual(reason, "Full")
    assert.match(description, /^The store .*\. Nothing was written\. Let .*raise the capacity.*@assent\/sql/)
  })

describe("a store in memory: its bounds", () => {
  it.effect("full of what goes on, it takes nothing new, and goes on with what it has", () =>
    Effect.gen(function*() {
      const store = yield* Store.makeMemory({ capacity: 4 })
      yield* store.requests.open([shown("a"), shown("b")])
      const version = yield* store.conversations.write("c", undefined, written())
      yield* store.remembered.insert(answer("r", { uses: 2 }))
      yield* refused(store.requests.open([shown("x")]))
      yield* refused(store.requests.decide(named("x"), 0, running))
      yield* refused(store.requests.suspend(waits("x")))
      yield* refused(store.conversations.write("x", undefined, written()))
      yield* refused(store.remembered.insert(answer("x")))
      yield* refused(store.owners.beat({ id: "o", beat: 0, every: 1 }))
      // None of several, where there is no room for all.
      yield* store.requests.close(["b"])
      yield* refused(store.requests.open([shown("a"), shown("y"), shown("z")]))
      assert.deepStrictEqual(nonces((yield* store.requests.page({}, { limit: 9 })).requests), ["a"])
      yield* store.requests.open([shown("a", {}, "new"), shown("b")])
      assert.isTrue(yield* store.requests.decide(named("a"), 0, running))
      assert.isDefined(yield* store.conversations.write("c", version, written({ append: ["1", "2", "3"] })))
      assert.strictEqual(yield* store.remembered.take("r"), 1)
      // A no needs no room.
      assert.isTrue(yield* store.requests.decide(named("x"), 0, { state: "denied", entry: "no" }))
      assert.isTrue(yield* store.requests.decide(named("b"), 0, { state: "superseded", entry: "later" }))
      assert.isTrue(yield* store.requests.decide(named("y"), 0, running))
    }))

  it.effect("a reader is one row, however often it moves", () =>
    Effect.gen(function*() {
      const store = yield* Store.makeMemory({ capacity: 2 })
      let version = yield* store.readers.move("r", undefined, {})
      for (let n = 0; n < 5; n++) version = yield* store.readers.move("r", version, { cursor: `${n}` })
      yield* store.requests.open([shown("a")])
      yield* refused(store.requests.open([shown("b")]))
      yield* refused(store.readers.move("other", undefined, {}))
    }))

  it.effect("what is settled takes no room of what goes on: one after the other, and each is known", () =>
    Effect.gen(function*() {
      const store = yield* Store.makeMemory({ capacity: 3 })
      for (let index = 0; index < 1_000; index++) {
        const name = named(`n${index}`)
        yield* store.requests.open([{ ...name, request: "shown" }])
        assert.isTrue(yield* store.requests.decide(name, 0, running))
        assert.isTrue(yield* store.requests.decide(name, 1, done))
        yield* store.requests.suspend(waits(`w${index}`))
        yield* store.requests.advance(`w${index}`, ["open"], "over", "null")
        yield* store.remembered.insert(answer(`r${index}`, { uses: 1 }))
        assert.strictEqual(yield* store.remembered.take(`r${index}`), 0)
      }
      for (const index of [0, 500, 999]) {
        assert.isFalse(yield* store.requests.decide(named(`n${index}`), 0, running))
        assert.isFalse(yield* store.remembered.insert(answer(`r${index}`)))
      }
    }))

  it.effect("once it knows of as many as it may, nothing begins, and what goes on may end", () =>
    Effect.gen(function*() {
      const store = yield* Store.makeMemory({ capacity: 3, maxSettled: 3 })
      const end = (nonce: string) => store.requests.decide(named(nonce), 0, { state: "denied", entry: "no" })
      yield* store.requests.open([shown("a")])
      yield* store.requests.decide(named("b"), 0, running)
      for (const nonce of ["1", "2", "3"]) yield* end(nonce)
      yield* refused(store.requests.open([shown("x")]))
      yield* refused(store.requests.decide(named("x"), 0, running))
      yield* refused(store.remembered.insert(answer("x")))
      assert.isTrue(yield* store.requests.decide(named("b"), 1, done))
      for (const nonce of ["4", "5"]) assert.isTrue(yield* end(nonce))
      // There is room for a no even then, and an end of that.
      yield* refused(end("6"))
      assert.isTrue(yield* end("a"))
      assert.deepStrictEqual((yield* store.requests.get("1"))?.state, "denied")
    }))

  it.effect("room is made by what expires, with each write", () =>
    Effect.gen(function*() {
      const store = yield* Store.makeMemory({ capacity: 4, maxSettled: 4 })
      for (let round = 0; round < 3; round++) {
        const at = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
        for (let index = 0; index < 4; index++) {
          const name = named(`${round} ${index}`, { expiresAt: at + minute })
          yield* store.requests.open([{ ...name, request: "shown" }])
          if (index > 1) yield* store.requests.decide(name, 0, { state: "denied", entry: "no" })
        }
        yield* TestClock.adjust(minute + Store.margin)
      }
      assert.isAtMost(yield* store.sweep(100), 4)
      assert.strictEqual(yield* store.sweep(100), 0)
    }))

  it.effect("a conversation that begins anew has nothing of the one that expired, whether that was reclaimed or not", () =>
    Effect.gen(function*() {
      const store = yield* Store.makeMemory()
      for (let index = 0; index < 10; index++) {
        yield* store.conversations.write(`c${index}`, undefined, written({ expiresAt: minute + index, append: ["1"] }))
        yield* store.requests.open([shown(`n${index}`, { conversation: `c${index}` })])
      }
      yield* TestClock.adjust(2 * minute)
      yield* store.conversations.write("c9", undefined, written())
      assert.isUndefined(yield* store.requests.get("n9"))
      assert.deepStrictEqual((yield* store.conversations.read("c9"))?.messages, [])
    }))

  it.effect("bodies of what is settled are given up, the oldest first; what became of it never is", () =>
    Effect.gen(function*() {
      const store = yield* Store.makeMemory({ maxResultBytes: 25 })
      for (const nonce of ["a", "b", "c"]) yield* store.requests.decide(named(nonce), 0, done)
      const kept = (...all: ReadonlyArray<string>) =>
        Effect.forEach(all, (nonce) => Effect.map(store.requests.get(nonce), (row) => [row?.entry, row?.result]))
      const whole = ["ran", "1234567890"]
      const rest = ["ran", undefined]
      assert.deepStrictEqual(yield* kept("a", "b", "c"), [rest, whole, whole])
      // What still goes on is nobody's to give up, however much it is.
      yield* store.requests.suspend(waits("w", { suspension: "x".repeat(1_000) }))
      yield* store.requests.decide(named("d"), 0, { ...done, state: "failed" })
      assert.deepStrictEqual(yield* kept("b", "c", "d"), [rest, whole, whole])
      assert.lengthOf((yield* store.requests.get("w"))?.suspension ?? "", 1_000)
      // One that alone is too much.
      yield* store.requests.decide(named("e"), 0, { ...done, result: "x".repeat(26) })
      assert.deepStrictEqual(yield* kept("c", "d", "e"), [rest, rest, rest])
      // What was undone has given nothing up.
      yield* store.requests.decide(named("f"), 0, done)
      yield* Effect.flip(store.atomically(Effect.andThen(
        store.requests.decide(named("g"), 0, { ...done, result: "x".repeat(20) }),
        Effect.fail("no")
      )))
      assert.deepStrictEqual(yield* kept("f"), [whole])
    }))

  it("is there at once where nobody is inside, for what is made without a fiber", () => {
    const store = Effect.runSync(Store.makeMemory())
    Effect.runSync(store.atomically(store.requests.open([shown("a")])))
    assert.isTrue(Effect.runSync(store.requests.decide(named("a"), 0, running)))
    assert.isFalse(store.isShared)
  })
})
