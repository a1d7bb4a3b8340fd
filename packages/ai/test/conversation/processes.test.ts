/** One conversation, many processes: it outlives them, and no two of them ever interleave. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Scope } from "effect"
import { TestClock } from "effect/testing"
import { Approval, ConversationStore, Store } from "../../src/index.ts"
import { failure, intercept, silenceable } from "../store/intercept.ts"
import * as W from "../waiting/support.ts"
import * as C from "./support.ts"

describe("a conversation that is kept", () => {
  it.effect("goes on in another process, with the same requests, after each of its steps", () =>
    Effect.gen(function*() {
      const shared = yield* C.makeShared
      const turns = [[C.remove("a"), C.ask("Size?")], "Done."]
      const run = <A, E>(use: (started: C.Started) => Effect.Effect<A, E>, skip: number) =>
        Effect.scoped(Effect.flatMap(C.start({ turns: turns.slice(skip), shared }), use))
      const asked = C.requestsOf(yield* run(({ conversation }) => conversation.send("Go."), 0))
      yield* run(({ conversation, steps }) =>
        Effect.gen(function*() {
          assert.deepStrictEqual(yield* conversation.pending(), asked)
          C.requestsOf(yield* conversation.decide(Approval.approve(asked[0]!, { params: { path: "b" } })))
          assert.deepStrictEqual(steps, [["DeleteFile", "b"]])
        }), 1)
      yield* run(({ conversation, steps }) =>
        Effect.gen(function*() {
          assert.strictEqual(C.finished(yield* conversation.send("42")), "Done.")
          assert.deepStrictEqual(steps, [["text", "42"]])
        }), 1)
    }))

  it.effect("is that of one tenant, one principal and one id alone", () =>
    Effect.gen(function*() {
      const shared = yield* C.makeShared
      const turns = ["Hello."]
      const mine = yield* C.start({ turns, shared, scope: { tenant: "t", principal: "p" } })
      yield* mine.conversation.send("It is me.")
      for (
        const other of [{ scope: { tenant: "t" } }, { scope: { principal: "p" } }, {
          scope: { tenant: "t", principal: "p" },
          id: "c2"
        }]
      ) {
        const { conversation } = yield* C.start({ turns, shared, ...other })
        assert.deepStrictEqual((yield* conversation.history).content, [])
      }
      const again = yield* C.start({ turns, shared, scope: { tenant: "t", principal: "p" } })
      assert.lengthOf((yield* again.conversation.history).content, 2)
    }))
})

describe("one turn at a time", () => {
  const held = Effect.gen(function*() {
    const shared = yield* C.makeShared
    const entered = yield* Deferred.make<void>()
    const release = yield* Deferred.make<void>()
    const first = yield* C.start({
      turns: [[C.read("a")], "First."],
      shared,
      before: () => Effect.andThen(Deferred.succeed(entered, undefined), Deferred.await(release))
    })
    const running = yield* Effect.forkChild(first.conversation.send("One."), { startImmediately: true })
    yield* Deferred.await(entered)
    return { shared, first, running, release: Deferred.succeed(release, undefined) }
  })

  it.effect("two sends of one process wait for each other, and both are in the history in order", () =>
    Effect.gen(function*() {
      const { first, release, running } = yield* held
      const second = yield* Effect.forkChild(Effect.exit(first.conversation.send("Two.")), { startImmediately: true })
      yield* release
      yield* Fiber.join(running)
      yield* Fiber.join(second)
      const { content } = yield* first.conversation.history
      assert.deepStrictEqual(content.map(({ role }) => role), ["user", "assistant", "tool", "assistant", "user"])
    }))

  it.effect("another process waits until the turn is over", () =>
    Effect.gen(function*() {
      const { release, running, shared } = yield* held
      const other = yield* C.start({ turns: ["Second."], shared })
      const second = yield* Effect.forkChild(other.conversation.send("Two."), { startImmediately: true })
      yield* W.idle
      assert.strictEqual(yield* other.script.calls, 0)
      yield* release
      C.finished(yield* Fiber.join(running))
      assert.isTrue(yield* W.advance(second, "1 second"))
      assert.strictEqual(C.finished(yield* Fiber.join(second)), "Second.")
      const said = (yield* other.conversation.history).content.flatMap(({ content, role }) =>
        role === "user" || role === "assistant"
          ? content.flatMap((part) => part.type === "text" ? [part.text] : [])
          : []
      )
      assert.deepStrictEqual(said, ["One.", "First.", "Two.", "Second."])
    }))

  it.effect("two that begin at one moment are taken one after the other, though both found nobody", () =>
    Effect.gen(function*() {
      const memory = yield* C.makeShared
      const found = yield* Deferred.make<void>()
      let reads = 0
      // Both have read it before either writes.
      const shared = intercept(memory, (operation, _, run) =>
        operation !== "conversations.read"
          ? run
          : Effect.tap(run, () => ++reads < 2 ? Deferred.await(found) : Deferred.succeed(found, undefined)))
      const first = yield* C.start({ turns: ["First."], shared })
      const second = yield* C.start({ turns: ["Second."], shared })
      const turns = yield* Effect.forEach(
        [first.conversation.send("One."), second.conversation.send("Two.")],
        (turn) => Effect.forkChild(turn, { startImmediately: true })
      )
      for (const turn of turns) {
        assert.isTrue(yield* W.advance(turn, "1 second"))
        C.finished(yield* Fiber.join(turn))
      }
      const { content } = yield* first.conversation.history
      assert.deepStrictEqual(content.map(({ role }) => role), ["user", "assistant", "user", "assistant"])
      assert.isAbove(reads, 2)
    }))

  it.effect("a turn that does not end in time is Busy, and nothing is done", () =>
    Effect.gen(function*() {
      const { release, running, shared } = yield* held
      const other = yield* C.start({ turns: ["Second."], shared, busyFor: "10 seconds" })
      const second = yield* Effect.forkChild(Effect.flip(other.conversation.send("Two.")), { startImmediately: true })
      assert.isTrue(yield* W.advance(second, "1 second"))
      const error = yield* Fiber.join(second)
      assert.instanceOf(error, ConversationStore.ConversationError)
      assert.strictEqual(error instanceof ConversationStore.ConversationError && error.reason, "Busy")
      assert.notInclude(JSON.stringify(yield* other.conversation.history), "Two.")
      yield* release
      yield* Fiber.join(running)
    }))

  it.effect("a process that died in a turn is taken over, with what it had written; if it lives after all, it adds nothing", () =>
    Effect.gen(function*() {
      const memory = yield* C.makeShared
      const { silence, store: shared } = silenceable(memory)
      const entered = yield* Deferred.make<void>()
      const release = yield* Deferred.make<void>()
      const first = yield* C.start({
        turns: [[C.read("a")], [C.read("b")], "First."],
        shared,
        before: (step) =>
          Effect.gen(function*() {
            if (yield* Deferred.isDone(entered)) return
            yield* Deferred.succeed(entered, undefined)
            yield* Deferred.await(release)
          }).pipe(Effect.when(Effect.sync(() => step === "ReadFile")))
      })
      const running = yield* Effect.forkChild(Effect.flip(first.conversation.send("One.")), { startImmediately: true })
      yield* Deferred.await(entered)
      silence()
      yield* TestClock.adjust("2 minutes")
      const other = yield* C.start({ turns: ["Second."], shared: memory })
      assert.strictEqual(C.finished(yield* C.afterDeath(other.conversation.send("Two."))), "Second.")
      yield* Deferred.succeed(release, undefined)
      const error = yield* Fiber.join(running)
      assert.strictEqual(error instanceof ConversationStore.ConversationError && error.reason, "Conflict")
      const history = JSON.stringify(yield* other.conversation.history)
      assert.include(history, "One.")
      assert.include(history, "Second.")
      assert.notInclude(history, "text of a")
    }))
})

describe("cancel", () => {
  it.effect("denies whatever is open, and the model reads of it in the next turn", () =>
    Effect.gen(function*() {
      const { conversation, script, steps } = yield* C.start({
        turns: [[C.remove("a"), C.ask("Size?")], "As you like."]
      })
      yield* conversation.send("Go.")
      yield* conversation.cancel("changed my mind")
      assert.deepStrictEqual(yield* conversation.pending(), [])
      assert.strictEqual(yield* script.calls, 1)
      assert.isUndefined(yield* conversation.wake)
      assert.strictEqual(C.finished(yield* conversation.send("Sorry.")), "As you like.")
      assert.include(JSON.stringify((yield* C.prompts(script)).at(-1)), "changed my mind")
      assert.deepStrictEqual(steps, [["start", "Size?"]])
    }))

  it.effect("stops the turn that is being taken, and the approved calls that run in it", () =>
    Effect.gen(function*() {
      const entered = yield* Deferred.make<void>()
      let ended = "running"
      const { conversation } = yield* C.start({
        turns: [[C.remove("a")], "Never."],
        before: (step) =>
          step !== "DeleteFile" ? Effect.void : Deferred.succeed(entered, undefined).pipe(
            Effect.andThen(Effect.never),
            Effect.onExit((exit) => Effect.sync(() => (ended = Exit.isSuccess(exit) ? "done" : "stopped")))
          )
      })
      const [request] = C.requestsOf(yield* conversation.send("Go."))
      const running = yield* Effect.forkChild(Effect.flip(conversation.decide(Approval.approve(request!))), {
        startImmediately: true
      })
      yield* Deferred.await(entered)
      yield* conversation.cancel()
      const error = yield* Fiber.join(running)
      assert.strictEqual(error instanceof ConversationStore.ConversationError && error.reason, "Cancelled")
      assert.strictEqual(ended, "stopped")
    }))
})

describe("a store", () => {
  it.effect("that cannot be read or written is a typed error, and what it does not know is left alone", () =>
    Effect.gen(function*() {
      const memory = yield* C.makeShared
      const key = yield* ConversationStore.keyOf("c1", {})
      const foreign = { name: "c1", state: "not a conversation", keep: 0, append: [] }
      yield* memory.conversations.write(key.id, undefined, foreign)
      const { conversation } = yield* C.start({ turns: ["Hello."], shared: memory })
      const reason = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
        Effect.map(Effect.flip(effect), (error) => error instanceof ConversationStore.ConversationError && error.reason)
      assert.strictEqual(yield* reason(conversation.send("Hi.")), "Unreadable")
      assert.strictEqual((yield* memory.conversations.get(key.id))?.state, "not a conversation")
      const full = yield* C.start({ turns: ["Hello."], shared: yield* Store.makeMemory({ capacity: 1 }) })
      assert.strictEqual(yield* reason(full.conversation.send("Hi.")), "Full")
      assert.strictEqual(yield* full.script.calls, 0)
      const gone = intercept(memory, (operation) => Effect.fail(failure(operation)))
      const lost = yield* C.start({ turns: ["Hello."], shared: gone })
      assert.strictEqual(yield* reason(lost.conversation.send("Hi.")), "Unavailable")
    }))

  it.effect("whose history does not ask what is said to be asked there is a typed error", () =>
    Effect.gen(function*() {
      const shared = yield* C.makeShared
      const { id } = yield* ConversationStore.keyOf("c1", {})
      const { conversation } = yield* C.start({ turns: [[C.remove("a")]], shared })
      yield* conversation.send("Go.")
      const { state, version } = (yield* shared.conversations.get(id))!
      const at = /"at":\d+/
      assert.match(state, at)
      for (const elsewhere of [0, 9]) {
        const moved = { name: "c1", state: state.replace(at, `"at":${elsewhere}`), keep: 2, append: [] }
        yield* shared.conversations.write(id, version + (elsewhere && 1), moved)
        const again = yield* C.start({ turns: ["Never."], shared })
        const error = yield* Effect.flip(again.conversation.send("Hi."))
        assert.strictEqual(error instanceof ConversationStore.ConversationError && error.reason, "Unreadable")
      }
    }))

  it.effect("gives up what nobody holds any more", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const store = yield* ConversationStore.make({ store: yield* C.makeShared }).pipe(Scope.provide(scope))
      const key = yield* ConversationStore.keyOf("a", {})
      yield* Effect.scoped(store.hold(key))
      const waiting = yield* Scope.make()
      yield* Scope.provide(store.hold(key), waiting)
      const second = yield* Effect.forkChild(Effect.scoped(store.hold(key)), { startImmediately: true })
      assert.isUndefined(second.pollUnsafe())
      yield* Scope.close(waiting, Exit.void)
      yield* Fiber.join(second)
      yield* Scope.close(scope, Exit.void)
    }))
})
