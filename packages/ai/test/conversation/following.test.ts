/** A turn that is being taken is read by whoever asks, early or late, at any pace, and does not notice; in another process too. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import {
  Approval,
  Conversation,
  ConversationStore,
  LanguageModel,
  Prompt,
  Store,
  Tool,
  Toolkit
} from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import { failure, intercept } from "../store/intercept.ts"
import * as W from "../waiting/support.ts"
import * as F from "./following.ts"
import * as S from "./stopping.ts"
import * as C from "./support.ts"

const turns: ReadonlyArray<ScriptedModel.Turn> = [
  [ScriptedModel.text("Let me look."), C.read("a")],
  [ScriptedModel.text("One more."), C.read("b"), C.remove("c"), C.ask("Size?")],
  "All done."
]

describe("a turn", () => {
  it.effect("reads the same to whoever comes early, late or is slow, and leaves at any part", () =>
    Effect.gen(function*() {
      const play = (leaveAt: number) =>
        Effect.gen(function*() {
          const gates = { a: yield* F.makeGate, b: yield* F.makeGate }
          let count = 0
          const { conversation, steps } = yield* C.start({
            turns,
            before: (step) => step === "ReadFile" ? (count++ === 0 ? gates.a.pass : gates.b.pass) : Effect.void
          })
          const turn = yield* conversation.start("Go.")
          const leaver = yield* Effect.forkChild(
            leaveAt === 0 ? Effect.void : Effect.asVoid(Stream.runCollect(Stream.take(turn.parts, leaveAt))),
            { startImmediately: true }
          )
          const early = yield* Effect.forkChild(F.collect(turn.parts), { startImmediately: true })
          const slow = yield* Effect.forkChild(
            F.collect(Stream.tap(turn.parts, () => Effect.sleep("1 second"))),
            { startImmediately: true }
          )
          yield* gates.a.entered
          yield* gates.a.open
          yield* gates.b.entered
          const late = yield* Effect.forkChild(F.collect((yield* conversation.turn)!.parts), { startImmediately: true })
          yield* gates.b.open
          const requests = C.requestsOf(yield* turn.outcome)
          const all = yield* Fiber.join(early)
          if (leaveAt > all.length) yield* Fiber.interrupt(leaver)
          else yield* Fiber.join(leaver)
          assert.deepStrictEqual(F.gist(yield* Fiber.join(late)), F.gist(all))
          assert.isTrue(yield* W.advance(slow, "1 second", 60))
          assert.deepStrictEqual(F.gist(yield* Fiber.join(slow)), F.gist(all))
          assert.deepStrictEqual(steps, [["ReadFile", "a"], ["ReadFile", "b"], ["start", "Size?"]])
          const roles = (yield* conversation.history).content.map(({ role }) => role)
          assert.deepStrictEqual(roles, ["user", "assistant", "tool", "assistant", "tool"])
          assert.deepStrictEqual(yield* conversation.pending(), requests)
          // What was asked about runs in the next one, which is left at the same part.
          const answers = requests.map((request) =>
            request.awaited === undefined ? Approval.approve(request) : Approval.answer(request, "large")
          )
          const next = yield* conversation.start("And hurry.", { answers })
          const nextLeaver = yield* Effect.forkChild(
            leaveAt === 0 ? Effect.void : Effect.asVoid(Stream.runCollect(Stream.take(next.parts, leaveAt))),
            { startImmediately: true }
          )
          assert.strictEqual(C.finished(yield* next.outcome), "All done.")
          yield* Fiber.interrupt(nextLeaver)
          assert.sameDeepMembers(steps.slice(3), [["DeleteFile", "c"], ["text", "large"]])
          const rest = (yield* conversation.history).content.slice(5).map(({ role }) => role)
          assert.deepStrictEqual(rest, ["tool", "user", "tool", "assistant"])
          assert.deepStrictEqual(yield* conversation.pending(), [])
          return all
        })
      const all = yield* play(0)
      assert.deepStrictEqual(F.gist(all), [
        "Let me look.",
        "tool-call read-a",
        "tool-result read-a",
        "One more.",
        "tool-call read-b",
        "tool-call remove-c",
        "tool-call ask-Size?",
        "tool-result read-b",
        "request of remove-c",
        "request of ask-Size?"
      ])
      for (let index = 1; index <= all.length; index++) yield* play(index)
    }))

  it.effect("is seen by whoever asks, whoever began it, as soon as something of it is known", () =>
    Effect.gen(function*() {
      for (const way of ["send", "stream", "decide", "wake", "start"] as const) {
        const gate = yield* F.makeGate
        let isOpen = true
        const { again, conversation } = yield* C.start({
          turns: way === "decide"
            ? [[C.remove("x")], [ScriptedModel.text("Let me look."), C.read("a")], "Done."]
            : way === "wake"
            ? [[C.menu("timer")], [ScriptedModel.text("Let me look."), C.read("a")], "Done."]
            : [[ScriptedModel.text("Let me look."), C.read("a")], "Done."],
          before: (step) => isOpen || step !== "ReadFile" ? Effect.void : gate.pass
        })
        const requests = way === "decide" || way === "wake" ? C.requestsOf(yield* conversation.send("First.")) : []
        yield* TestClock.adjust("3 hours")
        isOpen = false
        const taking: Effect.Effect<unknown, unknown> = way === "send"
          ? conversation.send("Go.")
          : way === "stream"
          ? Stream.runDrain(conversation.stream("Go."))
          : way === "decide"
          ? conversation.decide(Approval.approve(requests[0]!))
          : way === "wake"
          ? conversation.wake
          : Effect.flatMap(conversation.start("Go."), ({ outcome }) => outcome)
        const other = yield* again
        assert.isUndefined(yield* other.turn)
        const before = (yield* conversation.history).content.length
        const fiber = yield* Effect.forkChild(taking, { startImmediately: true })
        yield* gate.entered
        const turn = (yield* other.turn)!
        const seen = yield* F.collect(
          Stream.takeUntil(turn.parts, ({ id, type }: any) => type === "tool-call" && id === "read-a")
        )
        assert.deepStrictEqual(F.gist(seen).slice(-2), ["Let me look.", "tool-call read-a"], way)
        yield* gate.open
        const all = yield* F.collect(turn.parts)
        yield* Fiber.join(fiber)
        assert.deepStrictEqual(
          F.gist(all).filter((said) => !said.endsWith("remove-x") && !said.endsWith("menu-timer")),
          ["Let me look.", "tool-call read-a", "tool-result read-a", "Done."],
          way
        )
        assert.strictEqual(F.typesOf(all).filter((type) => type === "finish").length, 2, way)
        assert.notInclude(F.typesOf(all), "text", way)
        assert.strictEqual(C.finished(yield* turn.outcome), "Done.")
        const position = way === "decide" || way === "wake" ? before + (way === "decide" ? 1 : 0) : before + 1
        assert.strictEqual(turn.messageId, `m${position}`, way)
        assert.isUndefined(yield* other.turn)
      }
    }))

  for (const how of ["leaves", "fails", "dies"] as const) {
    it.effect(`whose reader took it, and ${how}, says to those who follow it that it was left`, () =>
      Effect.gen(function*() {
        const entered = yield* Deferred.make<void>()
        const leave = yield* Deferred.make<void>()
        const { conversation } = yield* C.start({
          turns: [[C.read("a")], "Done."],
          before: () => Effect.andThen(Deferred.succeed(entered, undefined), Effect.never)
        })
        const leaving = Effect.andThen(
          Deferred.await(leave),
          how === "leaves" ? Effect.interrupt : how === "fails" ? Effect.fail("of its own") : Effect.die("of its own")
        )
        const parts = Stream.tap(conversation.stream("Go."), ({ type }) => type === "tool-call" ? leaving : Effect.void)
        const fiber = yield* Effect.forkChild(Stream.runDrain(parts), { startImmediately: true })
        yield* Deferred.await(entered)
        const turn = (yield* conversation.turn)!
        yield* Deferred.succeed(leave, undefined)
        yield* Fiber.await(fiber)
        assert.isTrue(S.isCancelled(yield* Effect.exit(turn.outcome)))
        assert.isTrue(S.isCancelled(yield* Effect.exit(F.collect(turn.parts))))
        assert.isUndefined(yield* conversation.turn)
        assert.include(JSON.stringify(yield* conversation.history), "read-a")
      }))
  }

  it.effect("that failed, fails for those who follow it [stream]", () =>
    Effect.gen(function*() {
      const gate = yield* F.makeGate
      const { conversation } = yield* C.start({
        turns: [[C.read("a")]],
        before: () => gate.pass,
        afterLastTurn: undefined
      })
      const fiber = yield* Effect.forkChild(Effect.exit(Stream.runDrain(conversation.stream("Go."))), {
        startImmediately: true
      })
      yield* gate.entered
      const turn = (yield* conversation.turn)!
      yield* gate.open
      const failed = yield* Fiber.join(fiber)
      assert.isTrue(Exit.isFailure(failed))
      assert.isFalse(S.isCancelled(failed))
      assert.deepStrictEqual(yield* Effect.exit(turn.outcome), failed as never)
    }))
})

describe("a turn in another process", () => {
  it.effect("is followed as it comes on record, to its end", () =>
    Effect.gen(function*() {
      const gates = { a: yield* F.makeGate, b: yield* F.makeGate }
      const shared = yield* C.makeShared
      let count = 0
      const first = yield* C.start({
        turns,
        shared,
        before: (step) => step === "ReadFile" ? (count++ === 0 ? gates.a.pass : gates.b.pass) : Effect.void
      })
      const { conversation } = yield* C.start({ turns: ["Never."], shared })
      assert.isUndefined(yield* conversation.turn)
      const own = yield* first.conversation.start("Go.")
      yield* gates.a.entered
      const turn = (yield* conversation.turn)!
      assert.strictEqual(turn.messageId, own.messageId)
      const early = yield* Effect.forkChild(F.collect(turn.parts), { startImmediately: true })
      const outcome = yield* Effect.forkChild(turn.outcome, { startImmediately: true })
      assert.deepStrictEqual(
        F.gist(yield* F.collect(Stream.takeUntil(turn.parts, ({ type }) => type === "tool-call"))),
        [
          "Let me look.",
          "tool-call read-a"
        ]
      )
      yield* gates.a.open
      yield* gates.b.entered
      yield* TestClock.adjust("1 second")
      const late = yield* Effect.forkChild(F.collect((yield* conversation.turn)!.parts), { startImmediately: true })
      yield* gates.b.open
      const mine = yield* own.outcome
      for (const fiber of [early, late, outcome]) assert.isTrue(yield* W.advance(fiber as never, "1 second"))
      const said = F.gist(yield* F.collect(own.parts))
      assert.sameDeepMembers(F.gist(yield* Fiber.join(early)), said)
      assert.sameDeepMembers(F.gist(yield* Fiber.join(late)), said)
      assert.deepStrictEqual(
        C.requestsOf(yield* Fiber.join(outcome)).map(({ approvalId }) => approvalId),
        C.requestsOf(mine).map(({ approvalId }) => approvalId)
      )
      assert.isUndefined(yield* conversation.turn)
    }))

  it.effect("has what a tool tells the model of its result", () =>
    Effect.gen(function*() {
      const toolkit = Toolkit.make(Tool.make("Bill", {
        success: Schema.Number,
        toModelOutput: (total) => [Prompt.textPart({ text: `${total} euros` })]
      }))
      const store = Store.make(yield* C.makeShared)
      const gate = yield* F.makeGate
      let count = 0
      const make = Effect.gen(function*() {
        const bill = (id: string) => [ScriptedModel.toolCall({ id, name: "Bill", params: {} })]
        const { model } = yield* ScriptedModel.make({ turns: [bill("one"), bill("two"), "Done."] })
        return yield* Conversation.make({ id: "bills", toolkit }).pipe(
          Effect.provideService(LanguageModel.LanguageModel, model),
          Effect.provide(toolkit.toLayer({ Bill: () => count++ === 0 ? Effect.succeed(7) : Effect.as(gate.pass, 8) })),
          Effect.provideService(
            ConversationStore.ConversationStore,
            yield* ConversationStore.make({ store, heartbeat: "1 second" })
          )
        )
      })
      const [own, other] = [yield* make, yield* make]
      yield* own.start("Go.")
      yield* gate.entered
      const parts = yield* F.collect(
        Stream.takeUntil((yield* other.turn)!.parts, ({ type }) => type === "tool-result")
      )
      const result = parts.at(-1)
      assert.deepStrictEqual(result?.type === "tool-result" && result.modelOutput, [
        Prompt.textPart({ text: "7 euros" })
      ])
      yield* gate.open
    }))

  it.effect("says what it says itself: nothing of the turn before it, nor of the next one", () =>
    Effect.gen(function*() {
      const gates = { a: yield* F.makeGate, b: yield* F.makeGate }
      const shared = yield* C.makeShared
      let count = 0
      const first = yield* C.start({
        turns: [[C.menu("external")], [C.read("a")], [C.menu("external", "again")], [C.read("b")], "Done."],
        shared,
        before: (step) => step === "ReadFile" ? (count++ === 0 ? gates.a.pass : gates.b.pass) : Effect.void
      })
      const { conversation } = yield* C.start({ turns: [], shared })
      const [one] = C.requestsOf(yield* first.conversation.send("Go."))
      // Nothing is said in it: what it says begins right behind what was said before.
      const second = yield* first.conversation.start([], { answers: Approval.answer(one!, { paid: "1" }) })
      yield* gates.a.entered
      const turn = (yield* conversation.turn)!
      assert.strictEqual(turn.messageId, second.messageId)
      const reader = yield* Effect.forkChild(F.collect(turn.parts), { startImmediately: true })
      yield* W.idle
      // It ends, and another one is taken, before anybody looks again.
      yield* gates.a.open
      const [two] = C.requestsOf(yield* second.outcome)
      const third = yield* first.conversation.start([], { answers: Approval.answer(two!, { paid: "2" }) })
      yield* gates.b.entered
      assert.isTrue(yield* W.advance(reader, "1 second"))
      assert.sameMembers(F.gist(yield* Fiber.join(reader)), [
        "tool-result menu-external",
        "tool-call read-a",
        "tool-result read-a",
        "tool-call again",
        "request of again"
      ])
      yield* gates.b.open
      assert.strictEqual(C.finished(yield* third.outcome), "Done.")
    }))

  it.effect("that dies ends for those who follow it, with what is on record", () =>
    Effect.gen(function*() {
      const held = yield* S.makeHeld
      const memory = yield* C.makeShared
      let isDead = false
      const shared = intercept(memory, (operation, _, run) =>
        Effect.suspend(() => isDead ? Effect.fail(failure(operation)) : run))
      const first = yield* C.start({ turns: [[C.read("a")]], shared, before: held.run })
      yield* first.conversation.start("Go.")
      yield* held.entered
      const { conversation } = yield* C.start({ turns: ["I see."], shared: memory })
      const turn = (yield* conversation.turn)!
      const seen: Array<F.Part> = []
      const reader = yield* Effect.forkChild(
        Effect.exit(Stream.runForEach(turn.parts, (part) =>
          Effect.sync(() => void seen.push(part)))),
        { startImmediately: true }
      )
      const outcome = yield* Effect.forkChild(Effect.exit(turn.outcome), { startImmediately: true })
      yield* TestClock.adjust("1 minute")
      assert.isUndefined(reader.pollUnsafe())
      isDead = true
      for (const fiber of [reader, outcome]) assert.isTrue(yield* W.advance(fiber, "1 second", 20))
      assert.isTrue(S.isCancelled(yield* Fiber.join(reader)))
      assert.isTrue(S.isCancelled(yield* Fiber.join(outcome)))
      assert.deepStrictEqual(F.gist(seen), ["tool-call read-a"])
      assert.isUndefined(yield* conversation.turn)
    }))
})
