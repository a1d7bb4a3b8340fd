/** Stop means stop: `cancel` reaches a run however it was approved, from any object of its conversation. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { Approval, ApprovalError, ApprovalMemory, SuspensionStore } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import { intercept } from "../store/intercept.ts"
import * as W from "../waiting/support.ts"
import * as S from "./stopping.ts"
import * as C from "./support.ts"

/** A turn whose call runs and does not end by itself. */
const begin = (how: "send" | "stream", way: S.Way) =>
  Effect.gen(function*() {
    const { before, call } = S.ways[way]
    const held = yield* S.makeHeld
    let isPreparing = before !== undefined
    const shared = yield* C.makeShared
    const started = yield* C.start({
      turns: [...(before === undefined ? [] : [[before], "Removed."]), [call], "Never."],
      shared,
      before: (step) => isPreparing ? Effect.void : held.run(step)
    })
    if (before !== undefined) {
      const [request] = C.requestsOf(yield* started.conversation.send("First."))
      yield* started.conversation.decide(Approval.approve(request!, { remember: "session" }))
      isPreparing = false
    }
    let turn = S.say(started, how, "Go.")
    if (way === "that was approved by decide") {
      yield* turn
      const [request] = yield* started.conversation.pending()
      turn = started.conversation.decide(Approval.approve(request!))
    }
    const running = yield* Effect.forkChild(turn, { startImmediately: true })
    yield* held.entered
    return { ...started, shared, seen: held.seen, running }
  })

const inEveryWay = (title: string, test: (how: "send" | "stream", way: S.Way) => Effect.Effect<void, unknown>) => {
  for (const way of Object.keys(S.ways) as Array<S.Way>) {
    for (const how of ["send", "stream"] as const) {
      it.effect(`${title} a call ${way} [${how}]`, () => Effect.provide(test(how, way), S.ways[way].around))
    }
  }
}

describe("cancel", () => {
  inEveryWay("stops, with its finalizers done when it returns,", (how, way) =>
    Effect.scoped(Effect.gen(function*() {
      const { conversation, running, script, seen } = yield* begin(how, way)
      yield* conversation.cancel()
      assert.lengthOf(seen, 2)
      assert.match(seen[1]!, /was stopped$/)
      yield* S.assertCancelled(running)
      assert.deepStrictEqual(yield* conversation.pending(), [])
      assert.strictEqual(yield* script.calls, way === "whose approval is remembered" ? 3 : 1)
      // The next turn is told, and nothing runs again.
      yield* Effect.ignore(conversation.send("Well?"))
      const told = way === "that was approved by decide" || way === "that was approved inline"
        ? "The run was stopped before it finished; what it did is unknown."
        : "It is not run now, and whether it ran before is unknown."
      assert.include(JSON.stringify((yield* C.prompts(script)).at(-1)), told)
      assert.lengthOf(seen, 2)
    })))

  inEveryWay("through another object of the conversation stops", (how, way) =>
    Effect.scoped(Effect.gen(function*() {
      const { again, running, seen } = yield* begin(how, way)
      const other = yield* ScriptedModel.make({ turns: [] })
      yield* (yield* again).withModel(other.model).cancel()
      assert.match(seen[1]!, /was stopped$/)
      yield* S.assertCancelled(running)
    })))

  inEveryWay("in another process stops", (how, way) =>
    Effect.scoped(Effect.gen(function*() {
      const { running, seen, shared } = yield* begin(how, way)
      const other = yield* C.start({ turns: ["I see."], shared })
      const cancelling = yield* Effect.forkChild(other.conversation.cancel(), { startImmediately: true })
      assert.isTrue(yield* W.advance(cancelling, "1 second"))
      yield* Fiber.join(cancelling)
      assert.match(seen[1]!, /was stopped$/)
      yield* S.assertCancelled(running)
      assert.strictEqual(C.finished(yield* other.conversation.send("Well?")), "I see.")
      assert.lengthOf(seen, 2)
    })))

  it.effect("stops what has outlived its turn, here and in another process", () =>
    Effect.gen(function*() {
      for (const by of ["here", "elsewhere"]) {
        const held = yield* S.makeHeld
        const shared = yield* C.makeShared
        const first = yield* C.start({
          turns: [[C.remove("a")]],
          shared,
          limits: { time: "1 minute" },
          before: held.run
        })
        const turn = yield* Effect.forkChild(Effect.provide(first.conversation.send("Go."), S.yes), {
          startImmediately: true
        })
        yield* held.entered
        yield* TestClock.adjust("1 minute")
        assert.strictEqual((yield* Fiber.join(turn))._tag, "Limited")
        assert.lengthOf(held.seen, 1)
        const { conversation } = by === "here" ? first : yield* C.start({ turns: [], shared })
        const cancelling = yield* Effect.forkChild(conversation.cancel(), { startImmediately: true })
        assert.isTrue(yield* W.advance(cancelling, "1 second"))
        yield* Fiber.join(cancelling)
        assert.deepStrictEqual(held.seen, ["DeleteFile began", "DeleteFile was stopped"], by)
      }
    }))

  it.effect("is looked for as long as there is something to stop, and then no more", () =>
    Effect.gen(function*() {
      const memory = yield* C.makeShared
      let looks = 0
      const shared = intercept(memory, (operation, _, run) => {
        if (operation === "conversations.get") looks++
        return run
      })
      const held = yield* S.makeHeld
      const { conversation } = yield* C.start({ turns: [[C.read("a")], "Done."], shared, before: held.run })
      const turn = yield* Effect.forkChild(conversation.send("Go."), { startImmediately: true })
      yield* held.entered
      looks = 0
      yield* TestClock.adjust("10 seconds")
      assert.isAtLeast(looks, 9)
      yield* conversation.cancel()
      yield* Fiber.await(turn)
      looks = 0
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(looks, 0)
    }))

  it.effect("of a conversation stops no other, and no turn of it that is taken afterwards", () =>
    Effect.gen(function*() {
      const shared = yield* C.makeShared
      const held = yield* S.makeHeld
      const other = yield* C.start({ id: "c2", turns: [[C.read("a")]], shared, before: held.run })
      yield* Effect.forkChild(other.conversation.send("Go."), { startImmediately: true })
      yield* held.entered
      const { conversation } = yield* C.start({ turns: ["Hello.", "Yes."], shared })
      yield* conversation.cancel()
      assert.strictEqual(C.finished(yield* conversation.send("Hi.")), "Hello.")
      yield* conversation.cancel()
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(C.finished(yield* conversation.send("Well?")), "Yes.")
      assert.deepStrictEqual(held.seen, ["ReadFile began"])
    }))

  it.effect("reaches a turn that waits for the one that is stopped: it says what it was to say, and no more", () =>
    Effect.gen(function*() {
      const { conversation, running, script } = yield* begin("send", "that nobody is asked about")
      const second = yield* Effect.forkChild(conversation.send("And this."), { startImmediately: true })
      yield* conversation.cancel()
      yield* S.assertCancelled(running)
      yield* S.assertCancelled(second)
      assert.strictEqual(yield* script.calls, 1)
      assert.include(JSON.stringify((yield* conversation.history).content.at(-1)), "And this.")
    }))

  it.effect("ends what waits as cancelled: no handler goes on with it, nothing is remembered, and the model is told", () =>
    Effect.gen(function*() {
      const shared = yield* C.makeShared
      const calls = [C.remove("a"), C.ask("Size?"), C.menu("external"), C.menu("timer")]
      const { conversation, script, steps } = yield* C.start({
        turns: [calls, "I see.", [C.remove("a", "again")]],
        shared
      })
      const requests = C.requestsOf(yield* conversation.send("Go."))
      const begun = steps.length
      // Accepted, and not gone on with yet.
      yield* SuspensionStore.deliver(requests[2]!.approvalId, { paid: "20" }).pipe(
        Effect.provideService(SuspensionStore.SuspensionStore, SuspensionStore.make({ store: shared }))
      )
      yield* conversation.cancel("changed my mind")
      assert.deepStrictEqual(yield* conversation.pending(), [])
      assert.deepStrictEqual(yield* C.inbox(shared), [])
      for (const { approvalId } of requests) {
        const row = yield* shared.requests.get(approvalId.split(".")[2]!)
        assert.strictEqual(row?.state, "cancelled")
      }
      assert.strictEqual(C.finished(yield* conversation.send("Sorry.")), "I see.")
      yield* TestClock.adjust("3 hours")
      assert.isUndefined(yield* conversation.wake)
      assert.lengthOf(steps, begun)
      const sent = (yield* C.prompts(script)).at(-1)!
      const results = sent.content.flatMap(({ content }) =>
        typeof content === "string" ? [] : content.filter(({ type }) => type === "tool-result")
      )
      assert.lengthOf(results, 4)
      for (const result of results) assert.include(JSON.stringify(result), "Cancelled")
      assert.notInclude(JSON.stringify(sent), "denied")
      // Nobody said no: it is asked about again.
      const [again] = C.requestsOf(yield* conversation.send("Once more."))
      assert.strictEqual(again?.toolCallId, "again")
    }).pipe(Effect.provide(ApprovalMemory.layerSession())))

  it.effect("keeps what was approved and has not begun from ever running", () =>
    Effect.gen(function*() {
      const shared = yield* C.makeShared
      const asking = yield* C.start({ turns: [[C.remove("a")]], shared })
      const [request] = C.requestsOf(yield* asking.conversation.send("Go."))
      const { conversation } = yield* C.start({ turns: [], shared, limits: { steps: 0 } })
      assert.strictEqual((yield* conversation.decide(Approval.approve(request!)))._tag, "Limited")
      yield* conversation.cancel()
      const other = yield* C.start({ turns: ["Well."], shared })
      assert.strictEqual(C.finished(yield* other.conversation.send([])), "Well.")
      assert.deepStrictEqual(other.steps, [])
      const [sent] = yield* C.prompts(other.script)
      assert.include(JSON.stringify(sent), "Cancelled before it began. Nothing ran; it may be asked again.")
    }))

  it.effect("leaves nothing to answer: late answers are told what became of it, run nothing and call no model", () =>
    Effect.gen(function*() {
      const held = yield* S.makeHeld
      const { conversation, script } = yield* C.start({
        turns: [[C.remove("a"), C.remove("b")], "Never."],
        before: held.run
      })
      const [a, b] = C.requestsOf(yield* conversation.send("Go.")) as [
        Approval.ApprovalRequest,
        Approval.ApprovalRequest
      ]
      const turn = yield* Effect.forkChild(conversation.decide(Approval.approve(a)), { startImmediately: true })
      yield* held.entered
      yield* conversation.cancel()
      yield* S.assertCancelled(turn)
      for (const how of ["send", "start"] as const) {
        for (const [request, state] of [[a, "answered"], [b, "cancelled"]] as const) {
          const error = yield* Effect.flip<unknown, unknown, never>(
            conversation[how]([], { answers: Approval.approve(request), by: { id: "bob" } })
          )
          assert.instanceOf(error, ApprovalError.ApprovalError)
          assert.deepInclude(error.reason, { _tag: "AlreadyDecided", state })
        }
      }
      assert.strictEqual((yield* conversation.stateOf(b.approvalId))?.state, "cancelled")
      assert.strictEqual(yield* script.calls, 1)
      assert.lengthOf(held.seen, 2)
    }))

  it.effect("stops a turn that begins with an answer that was given just before: nothing of it goes on", () =>
    Effect.gen(function*() {
      const held = yield* S.makeHeld
      const { again, conversation, script } = yield* C.start({
        turns: [[C.remove("a"), C.remove("b")], "Never."],
        before: held.run
      })
      const [a, b] = C.requestsOf(yield* conversation.send("Go."))
      const turn = yield* Effect.forkChild(conversation.decide(Approval.approve(a!)), { startImmediately: true })
      yield* held.entered
      const second = yield* Effect.forkChild(
        Effect.exit((yield* again).start([], { answers: Approval.approve(b!) })),
        { startImmediately: true }
      )
      const cancelling = yield* Effect.forkChild(conversation.cancel(), { startImmediately: true })
      assert.isTrue(yield* W.advance(cancelling, "1 second"))
      yield* Fiber.join(cancelling)
      yield* S.assertCancelled(turn)
      yield* Fiber.join(second)
      const seen = [...held.seen]
      assert.deepStrictEqual(seen.filter((one) => one.endsWith("began")).length * 2, seen.length, String(seen))
      assert.deepStrictEqual(yield* conversation.pending(), [])
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(held.seen, seen)
      assert.strictEqual(yield* script.calls, 1)
    }))

  it.effect("within the turn, by what runs in it, stops that too", () =>
    Effect.gen(function*() {
      for (const call of [C.read("a"), C.remove("a")]) {
        let stop: Effect.Effect<void> = Effect.void
        let goesOn = false
        const { conversation, script } = yield* C.start({
          turns: [[call], "Never."],
          before: () => Effect.suspend(() => stop).pipe(Effect.andThen(Effect.sync(() => (goesOn = true))))
        })
        stop = Effect.orDie(conversation.cancel())
        const turn = yield* Effect.forkChild(Effect.provide(conversation.send("Go."), S.yes))
        yield* S.assertCancelled(turn)
        assert.isFalse(goesOn)
        assert.strictEqual(yield* script.calls, 1)
      }
    }))
})
