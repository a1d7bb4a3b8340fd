/** A turn belongs to the process: who began it or reads it may leave, come late and be slow, and it does not notice. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import { Approval, ApprovalError, type ConversationStore, type Response } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import { failure, intercept } from "../store/intercept.ts"
import * as W from "../waiting/support.ts"
import * as S from "./stopping.ts"
import * as C from "./support.ts"

type Part = Response.AnyPart

const collect = <E>(parts: Stream.Stream<Part, E>) => Effect.map(Stream.runCollect(parts), (chunk) => Array.from(chunk))

const typesOf = (parts: ReadonlyArray<Part>) => parts.map(({ type }) => type)

/** What was said, however it was cut into parts. */
const gist = (parts: ReadonlyArray<Part>) => {
  const all: Array<string> = []
  let text: string | undefined
  for (const part of parts) {
    if (part.type === "text-delta") text = (text ?? "") + part.delta
    if (part.type === "text-end") all.push(text ?? "")
    if (part.type === "text-end") text = undefined
    if (part.type === "tool-call" || part.type === "tool-result") all.push(`${part.type} ${part.id}`)
    if (part.type === "tool-approval-request") all.push(`request of ${part.toolCallId}`)
  }
  return text === undefined ? all : [...all, `${text}…`]
}

/** A step that waits until it is let go on. */
const makeGate = Effect.gen(function*() {
  const entered = yield* Deferred.make<void>()
  const open = yield* Deferred.make<void>()
  return {
    entered: Deferred.await(entered),
    open: Deferred.succeed(open, undefined),
    pass: Effect.andThen(Deferred.succeed(entered, undefined), Deferred.await(open))
  }
})

const turns: ReadonlyArray<ScriptedModel.Turn> = [
  [ScriptedModel.text("Let me look."), C.read("a")],
  [ScriptedModel.text("One more."), C.read("b"), C.remove("c"), C.ask("Size?")]
]

describe("start", () => {
  it.effect("gives a turn that goes on when whoever began it leaves", () =>
    Effect.gen(function*() {
      const gate = yield* makeGate
      const { conversation, steps } = yield* C.start({
        turns: [[C.read("a")], "Done."],
        before: () => gate.pass
      })
      const beginning = yield* Effect.forkChild(
        Effect.andThen(conversation.start("Go."), Effect.never),
        { startImmediately: true }
      )
      yield* gate.entered
      yield* Fiber.interrupt(beginning)
      const turn = (yield* conversation.turn)!
      yield* gate.open
      assert.strictEqual(C.finished(yield* turn.outcome), "Done.")
      assert.deepStrictEqual(steps, [["ReadFile", "a"]])
      assert.isUndefined(yield* conversation.turn)
      assert.strictEqual(C.finished(yield* conversation.outcome), "Done.")
      assert.include(JSON.stringify((yield* conversation.history).content.at(-1)), "Done.")
    }))

  it.effect("succeeds when its beginning is written, and fails as that does", () =>
    Effect.gen(function*() {
      const gate = yield* makeGate
      const shared = yield* C.makeShared
      const { conversation } = yield* C.start({
        turns: [[C.read("a")], "Done."],
        shared,
        before: () => gate.pass,
        busyFor: "1 second"
      })
      const turn = yield* conversation.start("Go.")
      yield* gate.entered
      const elsewhere = yield* C.start({ turns: [], shared })
      assert.include(JSON.stringify(yield* elsewhere.conversation.history), "Go.")
      const busy = yield* Effect.forkChild(Effect.flip(conversation.start("And?")), { startImmediately: true })
      yield* TestClock.adjust("1 second")
      assert.strictEqual(((yield* Fiber.join(busy)) as ConversationStore.ConversationError).reason, "Busy")
      yield* gate.open
      yield* turn.outcome
      const invalid = yield* Effect.flip(conversation.start(" "))
      assert.instanceOf(invalid, ApprovalError.ApprovalError)
      const full = yield* C.start({ turns: [], maxBytes: 10 })
      const error = yield* Effect.flip(full.conversation.start("Much more than ten bytes."))
      assert.strictEqual((error as ConversationStore.ConversationError).reason, "Full")
    }))

  it.effect("ends nothing else when it fails: who reads it is told, and the next turn goes on", () =>
    Effect.gen(function*() {
      const { conversation } = yield* C.start({ turns: [], afterLastTurn: undefined })
      const turn = yield* conversation.start("Go.")
      const failed = yield* Effect.exit(turn.outcome)
      assert.isTrue(Exit.isFailure(failed))
      assert.deepStrictEqual(yield* Effect.exit(collect(turn.parts)), failed as never)
      assert.include(JSON.stringify(yield* conversation.history), "Go.")
      assert.isUndefined(yield* conversation.turn)
    }))

  it.effect("twice with the same answers: one is told that it was decided, and nothing runs twice", () =>
    Effect.gen(function*() {
      const gate = yield* makeGate
      const { again, conversation, steps } = yield* C.start({
        turns: [[C.remove("a")], "Removed."],
        before: () => gate.pass
      })
      const [request] = C.requestsOf(yield* conversation.send("Go."))
      const answers = Approval.approve(request!)
      const first = yield* conversation.start([], { answers })
      const second = yield* Effect.forkChild(Effect.flip((yield* again).start([], { answers })), {
        startImmediately: true
      })
      yield* gate.open
      assert.strictEqual(C.finished(yield* first.outcome), "Removed.")
      assert.strictEqual(((yield* Fiber.join(second)) as ApprovalError.ApprovalError).reason._tag, "AlreadyDecided")
      assert.deepStrictEqual(steps, [["DeleteFile", "a"]])
    }))

  it.effect("with answers that leave what waits as it is, gives a turn that is over", () =>
    Effect.gen(function*() {
      const { conversation } = yield* C.start({ turns: [[C.remove("a")]] })
      const [{ approvalId }] = C.requestsOf(yield* conversation.send("Go.")) as [Approval.ApprovalRequest]
      const answers = new Approval.ApprovalAnswer({ approvalId, decision: new Approval.Info({ note: "ask Ann" }) })
      const turn = yield* conversation.start([], { answers })
      assert.deepStrictEqual(yield* collect(turn.parts), [])
      assert.strictEqual(C.requestsOf(yield* turn.outcome)[0]?.reason, "ask Ann")
      assert.isUndefined(yield* conversation.turn)
    }))

  it.effect("is stopped by `cancel`, and ended by its limit of time", () =>
    Effect.gen(function*() {
      const held = yield* S.makeHeld
      const cancelled = yield* C.start({ turns: [[C.read("a")]], before: held.run })
      const turn = yield* cancelled.conversation.start("Go.")
      const reader = yield* Effect.forkChild(collect(turn.parts), { startImmediately: true })
      yield* held.entered
      yield* cancelled.conversation.cancel()
      assert.isTrue(S.isCancelled(yield* Effect.exit(turn.outcome)))
      assert.isTrue(S.isCancelled(yield* Fiber.await(reader)))
      assert.match(held.seen[1]!, /was stopped$/)

      const slow = yield* C.start({
        turns: [[C.read("a")]],
        limits: { time: "1 minute" },
        before: () => Effect.sleep("1 hour")
      })
      const limited = yield* slow.conversation.start("Go.")
      yield* TestClock.adjust("1 minute")
      assert.deepInclude(yield* limited.outcome, { _tag: "Limited", limit: "time" })
      assert.deepStrictEqual(gist(yield* collect(limited.parts)), ["tool-call read-a"])
    }))

  it.effect("belongs to the store: when that closes, the turn is stopped and its end is written", () =>
    Effect.gen(function*() {
      const held = yield* S.makeHeld
      const shared = yield* C.makeShared
      const scope = yield* Scope.make()
      const { conversation } = yield* Scope.provide(
        C.start({ turns: [[ScriptedModel.text("Let me look."), C.read("a")]], shared, before: held.run }),
        scope
      )
      const turn = yield* conversation.start("Go.")
      yield* held.entered
      yield* Scope.close(scope, Exit.void)
      assert.match(held.seen[1]!, /was stopped$/)
      assert.isTrue(S.isCancelled(yield* Effect.exit(turn.outcome)))
      // Nobody waits until that process is found dead.
      const other = yield* C.start({ turns: ["I see."], shared })
      assert.isUndefined(yield* other.conversation.turn)
      const history = JSON.stringify(yield* other.conversation.history)
      assert.include(history, "Let me look.")
      assert.strictEqual(C.finished(yield* other.conversation.send("Well?")), "I see.")
      const [sent] = yield* C.prompts(other.script)
      assert.include(JSON.stringify(sent), "whether it ran before is unknown")
      // And nothing begins any more.
      const late = yield* Effect.exit(conversation.start("Once more."))
      assert.isTrue(S.isCancelled(late))
    }))
})

describe("a turn", () => {
  it.effect("reads the same to whoever comes early, late or is slow, and leaves at any part", () =>
    Effect.gen(function*() {
      const play = (leaveAt: number) =>
        Effect.gen(function*() {
          const gates = { a: yield* makeGate, b: yield* makeGate }
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
          const early = yield* Effect.forkChild(collect(turn.parts), { startImmediately: true })
          const slow = yield* Effect.forkChild(
            collect(Stream.tap(turn.parts, () => Effect.sleep("1 second"))),
            { startImmediately: true }
          )
          yield* gates.a.entered
          yield* gates.a.open
          yield* gates.b.entered
          const late = yield* Effect.forkChild(collect((yield* conversation.turn)!.parts), { startImmediately: true })
          yield* gates.b.open
          C.requestsOf(yield* turn.outcome)
          const all = yield* Fiber.join(early)
          if (leaveAt > all.length) yield* Fiber.interrupt(leaver)
          else yield* Fiber.join(leaver)
          assert.deepStrictEqual(gist(yield* Fiber.join(late)), gist(all))
          assert.isTrue(yield* W.advance(slow, "1 second", 60))
          assert.deepStrictEqual(gist(yield* Fiber.join(slow)), gist(all))
          assert.deepStrictEqual(steps, [["ReadFile", "a"], ["ReadFile", "b"], ["start", "Size?"]])
          const roles = (yield* conversation.history).content.map(({ role }) => role)
          assert.deepStrictEqual(roles, ["user", "assistant", "tool", "assistant", "tool"])
          assert.lengthOf(yield* conversation.pending(), 2)
          return all
        })
      const all = yield* play(0)
      assert.deepStrictEqual(gist(all), [
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
        const gate = yield* makeGate
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
        const seen = yield* collect(
          Stream.takeUntil(turn.parts, ({ id, type }: any) => type === "tool-call" && id === "read-a")
        )
        assert.deepStrictEqual(gist(seen).slice(-2), ["Let me look.", "tool-call read-a"], way)
        yield* gate.open
        const all = yield* collect(turn.parts)
        yield* Fiber.join(fiber)
        assert.deepStrictEqual(
          gist(all).filter((said) => !said.endsWith("remove-x") && !said.endsWith("menu-timer")),
          ["Let me look.", "tool-call read-a", "tool-result read-a", "Done."],
          way
        )
        assert.strictEqual(typesOf(all).filter((type) => type === "finish").length, 2, way)
        assert.notInclude(typesOf(all), "text", way)
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
        assert.isTrue(S.isCancelled(yield* Effect.exit(collect(turn.parts))))
        assert.isUndefined(yield* conversation.turn)
        assert.include(JSON.stringify(yield* conversation.history), "read-a")
      }))
  }

  it.effect("that failed, fails for those who follow it [stream]", () =>
    Effect.gen(function*() {
      const gate = yield* makeGate
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
      const gates = { a: yield* makeGate, b: yield* makeGate }
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
      const early = yield* Effect.forkChild(collect(turn.parts), { startImmediately: true })
      const outcome = yield* Effect.forkChild(turn.outcome, { startImmediately: true })
      assert.deepStrictEqual(gist(yield* collect(Stream.takeUntil(turn.parts, ({ type }) => type === "tool-call"))), [
        "Let me look.",
        "tool-call read-a"
      ])
      yield* gates.a.open
      yield* gates.b.entered
      yield* TestClock.adjust("1 second")
      const late = yield* Effect.forkChild(collect((yield* conversation.turn)!.parts), { startImmediately: true })
      yield* gates.b.open
      const mine = yield* own.outcome
      for (const fiber of [early, late, outcome]) assert.isTrue(yield* W.advance(fiber as never, "1 second"))
      const said = gist(yield* collect(own.parts))
      assert.sameDeepMembers(gist(yield* Fiber.join(early)), said)
      assert.sameDeepMembers(gist(yield* Fiber.join(late)), said)
      assert.deepStrictEqual(
        C.requestsOf(yield* Fiber.join(outcome)).map(({ approvalId }) => approvalId),
        C.requestsOf(mine).map(({ approvalId }) => approvalId)
      )
      assert.isUndefined(yield* conversation.turn)
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
      const seen: Array<Part> = []
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
      assert.deepStrictEqual(gist(seen), ["tool-call read-a"])
      assert.isUndefined(yield* conversation.turn)
    }))
})
