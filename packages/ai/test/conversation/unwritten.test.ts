/** A turn whose end the store cannot write: nothing that was said is lost while its process lives. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Logger, Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import { type Store } from "../../src/index.ts"
import * as Laws from "../laws/conversation.ts"
import { advance } from "../laws/support.ts"
import { failure, intercept } from "../store/intercept.ts"
import * as C from "./support.ts"

/** A store that refuses to write conversations from the second write on, until it is told to work. */
const failing = Effect.gen(function*() {
  const memory = yield* C.makeShared
  let writes = 0
  let reason: Store.StoreError["reason"] | undefined = "Unavailable"
  const shared = intercept(
    memory,
    (operation, _, run) =>
      Effect.suspend(() =>
        operation === "conversations.write" && ++writes > 1 && reason !== undefined
          ? Effect.fail(failure(operation, reason))
          : run
      )
  )
  return { memory, shared, set: (how: typeof reason) => void (reason = how) }
})

/** More than it is tried again by itself. */
const later = TestClock.adjust("10 seconds")

const told = Effect.gen(function*() {
  const lines: Array<string> = []
  const logger = Logger.make(({ message }) => void lines.push(String(message)))
  return { lines, layer: Logger.layer([logger]) }
})

const outline = (conversation: C.Started["conversation"]) => Effect.map(conversation.history, Laws.outline)

const whole = ["user:[Hi.]", "assistant:[Hello.]"]

describe("what a turn could not write at its end", () => {
  for (const reason of ["Unavailable", "Full"] as const) {
    it.effect(`is written before the conversation goes on, when the store is back from ${reason}`, () =>
      Effect.gen(function*() {
        const { memory, set, shared } = yield* failing
        set(reason)
        const { conversation, script } = yield* C.start({ turns: ["Hello.", "Bye."], shared })
        assert.strictEqual((yield* Effect.flip(conversation.send("Hi.")))._tag, "ConversationError")
        yield* later
        const refused = yield* Effect.flip(conversation.send("Still there?"))
        assert.include(String(refused), "not written yet")
        assert.strictEqual(yield* script.calls, 1)
        set(undefined)
        assert.strictEqual(C.finished(yield* conversation.send("Bye.")), "Bye.")
        assert.deepStrictEqual(yield* outline(conversation), [...whole, "user:[Bye.]", "assistant:[Bye.]"])
        const other = yield* C.start({ turns: [], shared: memory })
        assert.deepStrictEqual(yield* outline(other.conversation), [...whole, "user:[Bye.]", "assistant:[Bye.]"])
      }))
  }

  it.effect("is given up, and said to be, where the store is damaged: no time mends that", () =>
    Effect.gen(function*() {
      const { set, shared } = yield* failing
      set("Corrupt")
      const { layer, lines } = yield* told
      yield* Effect.gen(function*() {
        const { conversation } = yield* C.start({ turns: ["Hello."], shared })
        const error = yield* Effect.flip(conversation.send("Hi."))
        assert.strictEqual(error._tag === "ConversationError" && error.reason, "Unreadable")
        assert.deepStrictEqual(yield* outline(conversation), ["user:[Hi.]"])
      }).pipe(Effect.provide(layer))
      assert.match(lines.join(), /could not write down the end of a turn/)
    }))

  it.effect("is written by whoever only looks, and what a reader left is not given up either", () =>
    Effect.gen(function*() {
      const { set, shared } = yield* failing
      const { conversation } = yield* C.start({ turns: ["Hello."], shared })
      yield* Stream.runDrain(Stream.takeUntil(conversation.stream("Hi."), ({ type }) => type === "text-end"))
      yield* later
      assert.deepStrictEqual(yield* outline(conversation), ["user:[Hi.]"])
      set(undefined)
      assert.deepStrictEqual(yield* outline(conversation), whole)
    }))

  it.effect("is no failure of whoever takes back what waits: that is done, and is written by itself", () =>
    Effect.gen(function*() {
      const memory = yield* C.makeShared
      let left: number | undefined
      const shared = intercept(
        memory,
        (operation, _, run) =>
          Effect.suspend(() =>
            operation === "conversations.write" && left !== undefined && left-- <= 0
              ? Effect.fail(failure(operation))
              : run
          )
      )
      const { conversation } = yield* C.start({ turns: [[C.remove("a")]], shared })
      const requests = C.requestsOf(yield* conversation.send("Go."))
      // It can be written that the turn begins, and no more.
      left = 1
      assert.deepStrictEqual(yield* conversation.clear(), requests)
      left = undefined
      yield* later
      const other = yield* C.start({ turns: [], shared: memory })
      assert.deepStrictEqual(yield* other.conversation.pending(), [])
    }))

  it.effect("is written by itself when the store is back within seconds", () =>
    Effect.gen(function*() {
      const { memory, set, shared } = yield* failing
      const { conversation } = yield* C.start({ turns: ["Hello."], shared })
      yield* Effect.flip(conversation.send("Hi."))
      set(undefined)
      yield* later
      const other = yield* C.start({ turns: [], shared: memory })
      assert.deepStrictEqual(yield* outline(other.conversation), whole)
    }))

  for (const isBack of [true, false]) {
    it.effect(`is tried a last time when the store is closed, ${isBack ? "and written" : "and said to be lost"}`, () =>
      Effect.gen(function*() {
        const { memory, set, shared } = yield* failing
        const { layer, lines } = yield* told
        const scope = yield* Scope.make()
        yield* Effect.gen(function*() {
          const { conversation } = yield* Scope.provide(C.start({ turns: ["Hello."], shared }), scope)
          yield* Effect.flip(conversation.send("Hi."))
          yield* later
          if (isBack) set(undefined)
          yield* Scope.close(scope, Exit.void)
        }).pipe(Effect.provide(layer))
        yield* TestClock.adjust("2 minutes")
        const other = yield* C.start({ turns: [], shared: memory })
        assert.deepStrictEqual(yield* outline(other.conversation), isBack ? whole : whole.slice(0, 1))
        assert.strictEqual(lines.some((line) => line.includes("is lost")), !isBack)
      }))
  }

  it.effect("does not overwrite what another process went on with meanwhile", () =>
    Effect.gen(function*() {
      const { memory, set, shared } = yield* failing
      const { layer, lines } = yield* told
      yield* Effect.gen(function*() {
        const { conversation } = yield* C.start({ turns: ["Hello.", "Bye."], shared })
        yield* Effect.flip(conversation.send("Hi."))
        const other = yield* C.start({ turns: ["It is me."], shared: memory })
        const takingOver = yield* Effect.forkChild(other.conversation.send("Who?"))
        assert.isTrue(yield* advance(takingOver, "5 seconds"))
        set(undefined)
        yield* conversation.send("Bye.")
        assert.deepStrictEqual(yield* outline(conversation), [
          "user:[Hi.]",
          "user:[Who?]",
          "assistant:[It is me.]",
          "user:[Bye.]",
          "assistant:[Bye.]"
        ])
      }).pipe(Effect.provide(layer))
      assert.isTrue(lines.some((line) => line.includes("Another process went on")))
    }))
})
