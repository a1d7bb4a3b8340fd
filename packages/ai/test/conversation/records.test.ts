/** What is written of a conversation: all that was said, whatever it is, and never over what another has written. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Fiber, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import {
  Approval,
  ApprovalError,
  Conversation,
  ConversationStore,
  LanguageModel,
  Prompt,
  type Store,
  Tool,
  Toolkit
} from "../../src/index.ts"
import * as ConversationTurn from "../../src/internal/held/turn.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import { failure, intercept, silenceable } from "../store/intercept.ts"
import * as W from "../waiting/support.ts"
import * as C from "./support.ts"

describe("what a tool gives", () => {
  const results: ReadonlyArray<readonly [name: string, given: unknown, kept: unknown]> = [
    ["nothing", undefined, null],
    ["nothing in a field", { a: undefined, b: 1 }, { b: 1 }],
    ["a date", { at: W.at }, { at: W.at.toISOString() }],
    ["a number that JSON has not", Number.NaN, null]
  ]
  for (const [name, given, kept] of results) {
    it.effect(`is kept as it is sent: ${name}`, () =>
      Effect.gen(function*() {
        const { history, outcome } = yield* say(given)
        assert.strictEqual(outcome._tag, "Completed")
        assert.deepStrictEqual(history.flatMap(resultsIn), [kept])
      }))
  }

  it.effect("is kept as a failed result that says so, where it has no JSON", () =>
    Effect.gen(function*() {
      const { history, outcome } = yield* say({ big: 1n })
      assert.strictEqual(outcome._tag, "Completed")
      assert.include(JSON.stringify(history.flatMap(resultsIn)), "cannot be written as JSON")
    }))

  const Anything = Tool.make("Anything", { success: Schema.Unknown })
  const toolkit = Toolkit.make(Anything)
  const say = (given: unknown) =>
    Effect.gen(function*() {
      const { model } = yield* ScriptedModel.make({
        turns: [[ScriptedModel.toolCall({ id: "call-1", name: "Anything", params: {} })], "Done."]
      })
      const conversation = yield* Conversation.make({ id: "anything", toolkit }).pipe(
        Effect.provideService(LanguageModel.LanguageModel, model),
        Effect.provide(toolkit.toLayer({ Anything: () => Effect.succeed(given) })),
        Effect.provide(ConversationStore.layerMemory())
      )
      const outcome = yield* conversation.send("Go.")
      return { outcome, history: (yield* conversation.history).content }
    })
  const resultsIn = ({ content, role }: Prompt.Message): ReadonlyArray<unknown> =>
    role === "tool" ? content.flatMap((part) => part.type === "tool-result" ? [part.result] : []) : []
})

describe("what a user says", () => {
  it.effect("is refused where it cannot be written, and the conversation goes on without it", () =>
    Effect.gen(function*() {
      const { conversation } = yield* C.start({ turns: ["Hello."] })
      const options: any = { provider: { big: 1n } }
      const said = Prompt.fromMessages([
        Prompt.makeMessage("user", { content: [Prompt.makePart("text", { text: "Hi.", options })] })
      ])
      assert.instanceOf(yield* Effect.flip(conversation.send(said)), ApprovalError.ApprovalError)
      assert.strictEqual(C.finished(yield* conversation.send("Hi.")), "Hello.")
    }))
})

describe("to look at a conversation", () => {
  /** A store whose next read of a conversation is answered late, with what it was when it was asked. */
  const slowly = Effect.gen(function*() {
    const memory = yield* C.makeShared
    const release = yield* Deferred.make<void>()
    let isSlow = false
    const store = intercept(memory, (operation, _, run) =>
      Effect.flatMap(run, (found) => {
        if (!isSlow || (operation !== "conversations.get" && operation !== "conversations.read")) {
          return Effect.succeed(found)
        }
        isSlow = false
        return Effect.as(Deferred.await(release), found)
      }))
    return { store, slow: Effect.sync(() => (isSlow = true)), release: Deferred.succeed(release, undefined) }
  })

  it.effect("while a turn is taken does not disturb it", () =>
    Effect.gen(function*() {
      const { release, slow, store } = yield* slowly
      const gates = { a: yield* Deferred.make<void>(), b: yield* Deferred.make<void>() }
      const begun = yield* Deferred.make<void>()
      let reads = 0
      const { conversation } = yield* C.start({
        turns: [[C.read("a")], [C.read("b")], "Done."],
        shared: store,
        before: () =>
          reads++ === 0
            ? Deferred.await(gates.a)
            : Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(gates.b))
      })
      const turn = yield* Effect.forkChild(conversation.send("Go."), { startImmediately: true })
      yield* slow
      const looking = yield* Effect.forkChild(conversation.pending(), { startImmediately: true })
      yield* Deferred.succeed(gates.a, undefined)
      yield* Deferred.await(begun)
      yield* release
      assert.deepStrictEqual(yield* Fiber.join(looking), [])
      yield* Deferred.succeed(gates.b, undefined)
      assert.strictEqual(C.finished(yield* Fiber.join(turn)), "Done.")
    }))

  it.effect("does not give a turn that was taken over what the other process wrote", () =>
    Effect.gen(function*() {
      const memory = yield* C.makeShared
      const { silence, store: shared } = silenceable(memory)
      const release = yield* Deferred.make<void>()
      const first = yield* C.start({ turns: [[C.read("a")], "First."], shared, before: () => Deferred.await(release) })
      const running = yield* Effect.forkChild(Effect.flip(first.conversation.send("One.")), { startImmediately: true })
      silence()
      yield* TestClock.adjust("2 minutes")
      const begun = yield* Deferred.make<void>()
      const goOn = yield* Deferred.make<void>()
      const other = yield* C.start({
        turns: [[C.read("b")], "Second."],
        shared: memory,
        before: () => Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(goOn))
      })
      const taken = yield* Effect.forkChild(other.conversation.send("Two."), { startImmediately: true })
      yield* C.afterDeath(Deferred.await(begun))
      yield* first.conversation.pending()
      yield* Deferred.succeed(release, undefined)
      const error = yield* Fiber.join(running)
      yield* Deferred.succeed(goOn, undefined)
      assert.strictEqual(C.finished(yield* Fiber.join(taken)), "Second.")
      assert.strictEqual(error instanceof ConversationStore.ConversationError && error.reason, "Conflict")
      assert.include(JSON.stringify(yield* other.conversation.history), "Second.")
    }))
})

describe("a turn that another process waits for", () => {
  /** A process in a turn of another conversation, so that it lives; and one that waits for it. */
  const processes = (shared: Store.Store) =>
    Effect.gen(function*() {
      const busy = yield* ConversationStore.make({ store: shared, heartbeat: "1 second" })
      yield* busy.hold(yield* ConversationStore.keyOf("other", {}))
      const other = yield* ConversationStore.make({ store: shared, heartbeat: "1 second" })
      const key = yield* ConversationStore.keyOf("c1", {})
      const placeOf = (store: ConversationStore.Service): ConversationTurn.Place => ({
        store,
        key,
        busyFor: Duration.minutes(1),
        known: undefined
      })
      return { mine: placeOf(busy), theirs: placeOf(other) }
    })

  /** A turn with something to go on for. */
  const begin = (place: ConversationTurn.Place) =>
    Effect.map(ConversationTurn.begin(place, () => Effect.succeed(true)), ({ turn }) => turn)

  it.effect("is given up when it is interrupted as it begins", () =>
    Effect.gen(function*() {
      const memory = yield* C.makeShared
      const written = yield* Deferred.make<void>()
      let isFirst = true
      const { mine, theirs } = yield* processes(intercept(memory, (operation, _, run) =>
        Effect.tap(run, () => {
          if (operation !== "conversations.write" || !isFirst) return Effect.void
          isFirst = false
          return Effect.andThen(Deferred.succeed(written, undefined), Effect.sleep("1 second"))
        })))
      const beginning = yield* Effect.forkChild(Effect.scoped(begin(mine)), { startImmediately: true })
      yield* Deferred.await(written)
      const interrupted = yield* Effect.forkChild(Fiber.interrupt(beginning), { startImmediately: true })
      yield* TestClock.adjust("2 seconds")
      yield* Fiber.join(interrupted)
      const next = yield* Effect.forkChild(Effect.scoped(begin(theirs)), { startImmediately: true })
      assert.isTrue(yield* W.advance(next, "1 second"))
      yield* Fiber.join(next)
    }))

  it.effect("is given up with what it had written, where the rest has no JSON", () =>
    Effect.gen(function*() {
      const { mine, theirs } = yield* processes(yield* C.makeShared)
      const options: any = { provider: { big: 1n } }
      yield* Effect.scoped(Effect.gen(function*() {
        const turn = yield* begin(mine)
        ConversationTurn.say(turn, Prompt.make("Words."))
        yield* ConversationTurn.save(mine, turn)
        ConversationTurn.say(
          turn,
          Prompt.fromMessages([
            Prompt.makeMessage("user", { content: [Prompt.makePart("text", { text: "More.", options })] })
          ])
        )
        const error = yield* Effect.flip(ConversationTurn.save(mine, turn))
        assert.strictEqual(error.reason, "Unwritable")
      }))
      const { history } = yield* Effect.scoped(begin(theirs))
      assert.include(JSON.stringify(history), "Words.")
    }))

  it.effect("is given up as soon as its end can be written, if the store fails for less than four seconds", () =>
    Effect.gen(function*() {
      const memory = yield* C.makeShared
      let failing = false
      const { mine, theirs } = yield* processes(intercept(
        memory,
        (operation, _, run) => failing && operation === "conversations.write" ? Effect.fail(failure(operation)) : run
      ))
      yield* Effect.scoped(Effect.gen(function*() {
        const turn = yield* begin(mine)
        ConversationTurn.say(turn, Prompt.make("Words."))
        failing = true
      }))
      const next = yield* Effect.forkChild(Effect.scoped(begin(theirs)), { startImmediately: true })
      yield* TestClock.adjust("2 seconds")
      failing = false
      yield* TestClock.adjust("10 seconds")
      assert.isTrue(yield* W.advance(next, "1 second"))
      assert.include(JSON.stringify((yield* Fiber.join(next)).history), "Words.")
    }))
})

describe("a step that was cut short, wherever it was", () => {
  for (const way of ["send", "stream"] as const) {
    it.effect(
      `loses no words, runs nothing twice and can always be gone on from (${way})`,
      () =>
        Effect.gen(function*() {
          for (let yields = 0; yields < 100; yields++) {
            const memory = yield* C.makeShared
            // Each operation takes a moment before and after, so that the interruption comes between any two.
            const slow = <A, E>(run: Effect.Effect<A, E>) =>
              Effect.andThen(Effect.yieldNow, Effect.tap(run, () => Effect.yieldNow))
            const { conversation, script, steps } = yield* C.start({
              turns: [[C.remove("a"), C.ask("q")]],
              afterLastTurn: "done",
              shared: intercept(memory, (_, __, run) => slow(run))
            })
            const [removing, asking] = C.requestsOf(yield* conversation.send("Go."))
            const turn = way === "send"
              ? conversation.decide([Approval.approve(removing!), Approval.answer(asking!, "x")])
              : Effect.andThen(
                conversation.decide(Approval.approve(removing!)),
                Stream.runDrain(conversation.stream("x"))
              )
            const fiber = yield* Effect.forkChild(Effect.exit<unknown, unknown, never>(turn), {
              startImmediately: true
            })
            for (let i = 0; i < yields; i++) yield* Effect.yieldNow
            yield* Fiber.interrupt(fiber)
            let outcome = yield* conversation.send([])
            if (outcome._tag === "Waiting") {
              outcome = yield* conversation.decide(
                outcome.requests.map((one) =>
                  one === removing || one.interaction === "approval"
                    ? Approval.approve(one)
                    : Approval.answer(one, "x")
                )
              )
            }
            assert.strictEqual(outcome._tag, "Completed", `after ${yields}`)
            assert.deepStrictEqual(
              steps.map(([name]) => name).toSorted(),
              ["DeleteFile", "start", "text"],
              `after ${yields}`
            )
            assert.deepStrictEqual(yield* conversation.pending(), [])
            assert.include(JSON.stringify((yield* C.prompts(script)).at(-1)), "deleted")
          }
        }),
      60_000
    )
  }
})
