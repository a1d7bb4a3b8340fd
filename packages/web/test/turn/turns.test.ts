/** The turns of a server: one at a time for each conversation, on the server's own time. */
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import type { Live } from "../../src/internal/turn/live.ts"
import * as Turns from "../../src/internal/turn/turns.ts"

const said = (messageId: string) => ({ messageId, text: "Hello" })

const make = Turns.make({ maxBytes: 1_000_000 })

/** A turn that goes on until it is told to end. */
const waiting = Effect.map(Deferred.make<void>(), (end) => ({
  end: Deferred.succeed(end, undefined),
  run: (live: Live) => Effect.andThen(Deferred.await(end), Effect.sync(() => live.end({})))
}))

describe("turns", () => {
  it.effect("a turn goes on when whoever began it is gone", () =>
    Effect.gen(function*() {
      const turns = yield* make
      const turn = yield* waiting
      const reader = yield* Effect.forkChild(turns.take("a", said("u1"), turn.run))
      yield* Effect.yieldNow
      const live = turns.current("a")
      assert.isUndefined(live?.ending())
      yield* turn.end
      yield* Effect.yieldNow
      yield* Effect.yieldNow
      assert.deepStrictEqual(live?.ending(), {})
      assert.isDefined(reader)
    }))

  it.effect("the next turn of a conversation waits, and another conversation does not", () =>
    Effect.gen(function*() {
      const turns = yield* make
      const begun: Array<string> = []
      const first = yield* waiting
      const run = (name: string) => (live: Live) =>
        Effect.suspend(() => {
          begun.push(name)
          return name === "first" ? first.run(live) : Effect.sync(() => live.end({}))
        })
      const running = yield* turns.take("a", said("u1"), run("first"))
      yield* turns.take("a", said("u2"), run("second"))
      yield* turns.take("b", said("u1"), run("other"))
      yield* TestClock.adjust("1 milli")
      assert.deepStrictEqual(begun, ["first", "other"])
      assert.strictEqual(turns.current("a"), running)
      yield* first.end
      yield* TestClock.adjust("1 milli")
      assert.deepStrictEqual(begun, ["first", "other", "second"])
    }))

  it.effect("a message that is posted again while it is answered gets that answer, and is not said twice", () =>
    Effect.gen(function*() {
      const turns = yield* make
      const turn = yield* waiting
      const live = yield* turns.take("a", said("u1"), turn.run)
      assert.strictEqual(yield* turns.take("a", said("u1"), turn.run), live)
      assert.notStrictEqual(yield* turns.take("a", { ...said("u1"), text: "Another" }, turn.run), live)
      assert.notStrictEqual(yield* turns.take("a", undefined, turn.run), live)
      assert.notStrictEqual(yield* turns.take("b", said("u1"), turn.run), live)
    }))

  it.effect("a message that was answered is known to have been, for a page that did not hear of it", () =>
    Effect.gen(function*() {
      const turns = yield* make
      const told: Array<boolean> = []
      const run = (live: Live, isRepeated: boolean) =>
        Effect.sync(() => {
          told.push(isRepeated)
          live.end({})
        })
      for (const one of [said("u1"), said("u1"), { ...said("u1"), text: "Another" }, undefined, undefined]) {
        yield* turns.take("a", one, run)
        yield* TestClock.adjust("1 hour")
      }
      assert.deepStrictEqual(told, [false, true, false, false, false])
    }))

  it.effect("a message whose turn has failed is tried again", () =>
    Effect.gen(function*() {
      const turns = yield* make
      const live = yield* turns.take(
        "a",
        said("u1"),
        (live) => Effect.sync(() => live.end({ error: "It failed." }))
      )
      yield* TestClock.adjust("1 milli")
      assert.strictEqual(live.ending()?.error, "It failed.")
      assert.notStrictEqual(yield* turns.take("a", said("u1"), () => Effect.void), live)
    }))

  it.effect("a turn that has ended is there a moment longer, and then nothing is kept of it", () =>
    Effect.gen(function*() {
      const turns = yield* make
      const live = yield* turns.take("a", said("u1"), (live) => Effect.sync(() => live.end({})))
      yield* TestClock.adjust("4 seconds")
      assert.strictEqual(turns.current("a"), live)
      yield* TestClock.adjust("1 second")
      assert.isUndefined(turns.current("a"))
    }))

  it.effect("L17 no more than sixteen wait", () =>
    Effect.gen(function*() {
      const turns = yield* make
      const turn = yield* waiting
      for (let count = 0; count < 16; count++) {
        assert.isUndefined((yield* turns.take("a", said(`u${count}`), turn.run)).ending())
      }
      const refused = yield* turns.take("a", said("u16"), turn.run)
      assert.match(refused.ending()?.error ?? "", /^Too many messages/)
      assert.isUndefined((yield* turns.take("b", said("u16"), turn.run)).ending())
    }))

  it.effect("a server that stops says so to whoever reads", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const turns = yield* Scope.provide(make, scope)
      const turn = yield* waiting
      const live = yield* turns.take("a", said("u1"), turn.run)
      yield* TestClock.adjust("1 milli")
      yield* Scope.close(scope, Exit.void)
      assert.match(live.ending()?.error ?? "", /^The server stopped/)
    }))
})
