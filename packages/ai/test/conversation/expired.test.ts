/** Nobody answered, in a conversation: it is woken like by a timer, in any process, and nothing that expired is shown. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { Approval, ApprovalError, SuspensionStore } from "../../src/index.ts"
import * as Laws from "../laws/support.ts"
import { failure, intercept } from "../store/intercept.ts"
import * as W from "../waiting/support.ts"
import * as C from "./support.ts"
import * as Ticket from "./ticket.ts"

const promptsOf = (requests: ReadonlyArray<Approval.ApprovalRequest>) => requests.map(({ awaited }) => awaited?.prompt)

const reasonOf = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), (error) => error instanceof ApprovalError.ApprovalError ? error.reason : undefined)

describe("wake", () => {
  it.effect("goes on with what nobody answered, reminds, escalates, and does nothing before its time", () =>
    Effect.gen(function*() {
      const { conversation, script, steps } = yield* Ticket.start({ turns: [[Ticket.call], "Lea does."] })
      yield* conversation.send("Help.")
      yield* conversation.wake
      assert.deepStrictEqual(steps, [])
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(promptsOf(C.requestsOf(yield* conversation.wake)), ["Really nobody?"])
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(promptsOf(C.requestsOf(yield* conversation.wake)), ["Your team is silent."])
      assert.strictEqual(yield* script.calls, 1)
      assert.strictEqual(C.finished(yield* conversation.send("I do")), "Lea does.")
      assert.deepStrictEqual(steps, ["asked 1 times", "asked 2 times", "lead: I do"])
    }).pipe(Effect.scoped))

  it.effect("in another process, after a restart: who watches timers finds it, with the conversation it belongs to", () =>
    Effect.gen(function*() {
      const shared = yield* C.makeShared
      yield* Effect.scoped(Effect.flatMap(
        Ticket.start({ turns: [[Ticket.call]], shared, id: "c7", scope: { tenant: "acme" } }),
        ({ conversation }) => conversation.send("Help.")
      ))
      yield* TestClock.adjust("3 days")
      const { conversation, steps } = yield* Ticket.start({
        turns: ["Well."],
        shared,
        id: "c7",
        scope: { tenant: "acme" }
      })
      const found: Array<unknown> = []
      const watching = yield* SuspensionStore.watchTimers((suspension) => {
        found.push([suspension.toolName, suspension.awaited.name, suspension.scope])
        return conversation.wake
      }).pipe(
        Effect.provideService(SuspensionStore.SuspensionStore, SuspensionStore.make({ store: shared })),
        Effect.forkChild({ startImmediately: true })
      )
      while (steps.length === 0) yield* W.idle
      while ((yield* conversation.outcome) === undefined) yield* W.idle
      assert.deepStrictEqual(steps, ["asked 1 times"])
      assert.deepStrictEqual(found, [["Ticket", "agent", { tenant: "acme", conversation: "c7" }]])
      assert.deepStrictEqual(promptsOf(yield* conversation.pending()), ["Really nobody?"])
      yield* Fiber.interrupt(watching)
    }).pipe(Effect.scoped))

  it.effect("L2 of two processes that are told of it, one goes on", () =>
    Effect.gen(function*() {
      const shared = yield* C.makeShared
      const one = yield* Ticket.start({ turns: [[Ticket.call]], shared })
      const other = yield* Ticket.start({ turns: [], shared })
      yield* one.conversation.send("Help.")
      yield* TestClock.adjust("1 hour")
      const waking = yield* Effect.forkChild(Effect.all([one.conversation.wake, other.conversation.wake], {
        concurrency: "unbounded"
      }))
      assert.isTrue(yield* Laws.advance(waking, "200 millis"))
      for (const outcome of yield* Fiber.join(waking)) {
        assert.deepStrictEqual(promptsOf(C.requestsOf(outcome)), ["Really nobody?"])
      }
      assert.deepStrictEqual([...one.steps, ...other.steps], ["asked 1 times"])
    }).pipe(Effect.scoped))

  it.effect("L6 goes on beside what the model has gone on with, without calling it, and tells the end late", () =>
    Effect.gen(function*() {
      const { conversation, script, steps } = yield* Ticket.start({
        turns: [[Ticket.call], "Hi.", "Lea does."],
        approval: { onNewMessage: "keep" },
        routeText: () => undefined
      })
      yield* conversation.send("Help.")
      assert.strictEqual(C.finished(yield* conversation.send("Hello?")), "Hi.")
      for (const prompt of ["Really nobody?", "Your team is silent."]) {
        yield* TestClock.adjust("1 hour")
        assert.deepStrictEqual(promptsOf(C.requestsOf(yield* conversation.wake)), [prompt])
      }
      assert.strictEqual(yield* script.calls, 2)
      assert.strictEqual(C.finished(yield* conversation.resume(Ticket.Ticket, "lead", "I do")), "Lea does.")
      assert.deepStrictEqual(steps, ["asked 1 times", "asked 2 times", "lead: I do"])
      assert.match(JSON.stringify((yield* C.prompts(script)).at(-1)?.content.at(-1)), /late-tool-result.*I do/)
    }).pipe(Effect.scoped))

  it.effect("of an approval that expired runs nothing, and the model is told", () =>
    Effect.gen(function*() {
      const { conversation, steps } = yield* C.start({
        turns: [[C.remove("a")], "Too late."],
        approval: { expiresIn: "1 hour" }
      })
      C.requestsOf(yield* conversation.send("Go."))
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(C.finished(yield* conversation.wake), "Too late.")
      assert.deepStrictEqual(steps, [])
    }).pipe(Effect.scoped))
})

describe("what has expired", () => {
  it.effect("with its whole conversation is not known to who answers it, in the process that asked and in another", () =>
    Effect.gen(function*() {
      const shared = yield* C.makeShared
      const options = { shared, timeToLive: "1 hour" } as const
      const asking = yield* C.start({ ...options, turns: [[C.remove("a")]] })
      const [request] = C.requestsOf(yield* asking.conversation.send("Go."))
      yield* TestClock.adjust("2 hours")
      const other = yield* C.start({ ...options, turns: [] })
      for (const conversation of [other.conversation, asking.conversation]) {
        const reason = yield* reasonOf(conversation.decide(Approval.approve(request!)))
        assert.strictEqual(reason?._tag, "UnknownApproval")
      }
      assert.deepStrictEqual(asking.steps, [])
    }).pipe(Effect.scoped))

  it.effect("is not pending, nor on a page, and a click on it says that it expired, before anybody looked and after", () =>
    Effect.gen(function*() {
      const shared = yield* C.makeShared
      const { conversation, script, steps } = yield* Ticket.start({
        turns: [[Ticket.call, C.remove("a")], "Well."],
        shared,
        approval: { expiresIn: "1 hour" }
      })
      const requests = C.requestsOf(yield* conversation.send("Help."))
      assert.lengthOf(requests, 2)
      yield* TestClock.adjust("59 minutes")
      assert.lengthOf(yield* conversation.pending(), 2)
      assert.lengthOf(yield* C.inbox(shared), 2)
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(yield* conversation.pending(), [])
      assert.deepStrictEqual(yield* C.inbox(shared), [])
      assert.deepStrictEqual(C.requestsOf(yield* conversation.decide([])), [])
      const click = (request: Approval.ApprovalRequest) =>
        conversation.decide(request.awaited === undefined ? Approval.approve(request) : Approval.answer(request, "me"))
      const [first] = requests
      // The turn that the first click takes ends them; nothing comes of the click.
      const outcome = yield* click(first!)
      assert.deepStrictEqual(outcome.refused.map(({ approvalId, error }) => [approvalId, error.reason._tag]), [
        [first!.approvalId, "Expired"]
      ])
      assert.deepStrictEqual([yield* script.calls, steps], [1, ["asked 1 times"]])
      yield* conversation.wake
      for (const request of requests) {
        const { approvalId } = request
        const ended = new ApprovalError.AlreadyDecided({ approvalId, state: "expired" })
        assert.deepStrictEqual(yield* reasonOf(click(request)), ended)
      }
      assert.deepStrictEqual(steps, ["asked 1 times"])
    }).pipe(Effect.scoped))

  it.effect("takes no late no either, where a no is an answer that the tool goes on with", () =>
    Effect.gen(function*() {
      const { conversation, steps } = yield* C.start({
        turns: [[{ ...C.ask("x"), name: "Submit", params: { item: "desk", amount: "250" } }], "Nobody decided."],
        approval: { expiresIn: "1 hour" }
      })
      const [request] = C.requestsOf(yield* conversation.send("Submit it."))
      yield* TestClock.adjust("1 hour")
      const { refused } = yield* conversation.decide(Approval.deny(request!))
      assert.deepStrictEqual(refused.map(({ error }) => error.reason._tag), ["Expired"])
      assert.deepStrictEqual(steps.map(([name]) => name), ["start"])
    }).pipe(Effect.scoped))

  it.effect("is not what a text answers: that is a new message", () =>
    Effect.gen(function*() {
      const { conversation, script, steps } = yield* C.start({
        turns: [[C.ask("Which one?")], "Pardon?"],
        approval: { expiresIn: "1 hour" }
      })
      yield* conversation.send("Buy socks.")
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(C.finished(yield* conversation.send("the red one")), "Pardon?")
      assert.deepStrictEqual(steps.map(([name]) => name), ["start"])
      assert.include(JSON.stringify((yield* C.prompts(script)).at(-1)), "the red one")
    }).pipe(Effect.scoped))

  it.effect("can still be taken back: then nobody goes on with it", () =>
    Effect.gen(function*() {
      const { conversation, steps } = yield* Ticket.start({ turns: [[Ticket.call], "Well."] })
      yield* conversation.send("Help.")
      yield* TestClock.adjust("1 hour")
      assert.lengthOf(yield* conversation.clear(), 1)
      assert.strictEqual(C.finished(yield* conversation.send("And now?")), "Well.")
      assert.deepStrictEqual(steps, [])
    }).pipe(Effect.scoped))
})

describe("an answer that was accepted in time", () => {
  for (const takes of ["decide", "a text"] as const) {
    it.effect(`wins, also where its turn failed and the next is taken too late: ${takes}`, () =>
      Effect.gen(function*() {
        let fails = false
        const shared = intercept(
          yield* C.makeShared,
          (operation, _, run) => fails && operation === "requests.decide" ? Effect.fail(failure(operation)) : run
        )
        const { conversation, steps } = yield* Ticket.start({ turns: [[Ticket.call], "Well."], shared })
        const [request] = C.requestsOf(yield* conversation.send("Help."))
        yield* TestClock.adjust("59 minutes")
        fails = true
        const failing = takes === "decide"
          ? conversation.decide(Approval.answer(request!, "me"))
          : conversation.send("me")
        yield* Effect.flip(failing)
        yield* TestClock.adjust("1 hour")
        fails = false
        assert.deepStrictEqual(yield* conversation.pending(), [])
        assert.strictEqual(C.finished(yield* conversation.wake), "Well.")
        assert.deepStrictEqual(steps, ["agent: me"])
      }).pipe(Effect.scoped))
  }
})
