/** A turn that is started belongs to the process: it goes on when whoever began it leaves, and ends with its store. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Scope } from "effect"
import { TestClock } from "effect/testing"
import { Approval, ApprovalError, type ConversationStore } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as W from "../waiting/support.ts"
import * as F from "./following.ts"
import * as S from "./stopping.ts"
import * as C from "./support.ts"

describe("start", () => {
  it.effect("gives a turn that goes on when whoever began it leaves", () =>
    Effect.gen(function*() {
      const gate = yield* F.makeGate
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
      const gate = yield* F.makeGate
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

  it.effect("that waits for another turn and is left before it begins says nothing", () =>
    Effect.gen(function*() {
      const gate = yield* F.makeGate
      const { conversation } = yield* C.start({ turns: [[C.read("a")], "Done."], before: () => gate.pass })
      const turn = yield* conversation.start("Go.")
      yield* gate.entered
      const second = yield* Effect.forkChild(conversation.start("And this."), { startImmediately: true })
      yield* Fiber.interrupt(second)
      yield* gate.open
      yield* turn.outcome
      yield* W.idle
      assert.isUndefined(yield* conversation.turn)
      assert.notInclude(JSON.stringify(yield* conversation.history), "And this.")
    }))

  it.effect("keeps what was said, and not in how many pieces it came", () =>
    Effect.gen(function*() {
      const { conversation } = yield* C.start({
        turns: [[ScriptedModel.text("Once upon a time"), C.read("a")], "Bye."]
      })
      const turn = yield* conversation.start("Go.")
      const { content } = yield* turn.outcome
      const deltas = content.flatMap((part) => part.type === "text-delta" ? [part.delta] : [])
      assert.deepStrictEqual(deltas, ["Once upon a time", "Bye."])
      assert.deepStrictEqual(yield* F.collect(turn.parts), content as never)
    }))

  it.effect("ends nothing else when it fails: who reads it is told, and the next turn goes on", () =>
    Effect.gen(function*() {
      const { conversation } = yield* C.start({ turns: [], afterLastTurn: undefined })
      const turn = yield* conversation.start("Go.")
      const failed = yield* Effect.exit(turn.outcome)
      assert.isTrue(Exit.isFailure(failed))
      assert.deepStrictEqual(yield* Effect.exit(F.collect(turn.parts)), failed as never)
      assert.include(JSON.stringify(yield* conversation.history), "Go.")
      assert.isUndefined(yield* conversation.turn)
    }))

  it.effect("twice with the same answers: one is told that it was decided, and nothing runs twice", () =>
    Effect.gen(function*() {
      const gate = yield* F.makeGate
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
      assert.deepStrictEqual(yield* F.collect(turn.parts), [])
      assert.strictEqual(C.requestsOf(yield* turn.outcome)[0]?.reason, "ask Ann")
      assert.isUndefined(yield* conversation.turn)
    }))

  it.effect("is stopped by `cancel`, and ended by its limit of time", () =>
    Effect.gen(function*() {
      const held = yield* S.makeHeld
      const cancelled = yield* C.start({ turns: [[C.read("a")]], before: held.run })
      const turn = yield* cancelled.conversation.start("Go.")
      const reader = yield* Effect.forkChild(F.collect(turn.parts), { startImmediately: true })
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
      assert.deepStrictEqual(F.gist(yield* F.collect(limited.parts)), ["tool-call read-a"])
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
