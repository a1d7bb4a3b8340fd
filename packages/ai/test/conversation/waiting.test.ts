/** Tools that wait, in a conversation: who answers them, by what, and what never answers them. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Option } from "effect"
import { TestClock } from "effect/testing"
import { Approval, ApprovalError, Store, SuspensionStore } from "../../src/index.ts"
import { intercept } from "../store/intercept.ts"
import * as W from "../waiting/support.ts"
import * as C from "./support.ts"

const reasonOf = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), (error) => error instanceof ApprovalError.ApprovalError ? error.reason._tag : error)

describe("a text", () => {
  it.effect("answers the one question that a tool has put to the user", () =>
    Effect.gen(function*() {
      const { conversation, script, steps } = yield* C.start({ turns: [[C.ask("Which one?")], "The red one, then."] })
      const [request] = C.requestsOf(yield* conversation.send("Buy socks."))
      assert.strictEqual(request?.interaction, "askUser")
      assert.strictEqual(C.finished(yield* conversation.send("the red one")), "The red one, then.")
      assert.deepStrictEqual(steps, [["start", "Which one?"], ["text", "the red one"]])
      assert.lengthOf((yield* C.prompts(script)).at(-1)!.content.filter(({ role }) => role === "user"), 1)
    }))

  it.effect("answers a choice by one of its options, in any case, and is a new message otherwise", () =>
    Effect.gen(function*() {
      const { conversation, steps } = yield* C.start({ turns: [[C.menu("one")], [C.menu("many")], "Enjoy."] })
      yield* conversation.send("Lunch.")
      C.requestsOf(yield* conversation.send(" FISH of the day "))
      assert.strictEqual(C.finished(yield* conversation.send("soup")), "Enjoy.")
      assert.deepStrictEqual(steps.filter(([name]) => name !== "start"), [["one", "fish"], ["many", ["soup"]]])
      const other = yield* C.start({ turns: [[C.menu("one")], "Nothing then."] })
      yield* other.conversation.send("Lunch.")
      assert.strictEqual(C.finished(yield* other.conversation.send("I am not hungry")), "Nothing then.")
      assert.deepStrictEqual(other.steps, [["start", "one"]])
    }))

  it.effect("answers the question that the program says it answers, where several are open", () =>
    Effect.gen(function*() {
      const turns = [[C.ask("Size?"), C.ask("Colour?")], "Well."]
      const routed = yield* C.start({
        turns,
        routeText: (text, open) =>
          open.find(({ awaited }) => awaited?.prompt === (text === "red" ? "Colour?" : "Size?"))
      })
      yield* routed.conversation.send("Buy socks.")
      assert.lengthOf(C.requestsOf(yield* routed.conversation.send("red")), 1)
      assert.strictEqual(C.finished(yield* routed.conversation.send("42")), "Well.")
      assert.deepStrictEqual(routed.steps.slice(2), [["text", "red"], ["text", "42"]])
    }))
})

const sentenceOf = <A, E extends { readonly message: string }>(effect: Effect.Effect<A, E>) =>
  Effect.map(Effect.flip(effect), ({ message }) => message)

describe("resume", () => {
  it.effect("gives a typed answer to what one tool waits for, step by step, until the model has it all", () =>
    Effect.gen(function*() {
      const { conversation, steps } = yield* C.start({
        turns: [[{ ...C.ask("x"), name: "Submit", params: { item: "desk", amount: "250" } }], "Submitted."]
      })
      yield* conversation.send("Submit my expense.")
      const [director] = C.requestsOf(yield* conversation.resume(W.Submit, "manager", { approved: true }))
      assert.strictEqual(director?.awaited?.name, "director")
      assert.deepStrictEqual(yield* conversation.pending("getApproval"), [director])
      assert.strictEqual(
        C.finished(yield* conversation.resume(W.Submit, "director", { approved: true, note: "fine" })),
        "Submitted."
      )
      assert.deepStrictEqual(steps.map(([name]) => name), ["start", "manager", "director"])
    }))

  it.effect("is refused where nothing waits for it, or several do and none is named", () =>
    Effect.gen(function*() {
      const { conversation, steps } = yield* C.start({ turns: [[C.ask("Size?"), C.ask("Colour?")], "Well."] })
      assert.strictEqual(yield* reasonOf(conversation.resume(W.Ask, "text", "red")), "UnknownApproval")
      assert.include(yield* sentenceOf(conversation.resume(W.Ask, "text", "red")), "No tool waits here.")
      const requests = C.requestsOf(yield* conversation.send("Buy socks."))
      assert.strictEqual(yield* reasonOf(conversation.resume(W.Ask, "text", "red")), "UnknownApproval")
      assert.include(
        yield* sentenceOf(conversation.resume(W.Ask, "text", "red")),
        "2 calls wait for \"text\" of \"Ask\". Say which one: pass its request as `request`."
      )
      assert.strictEqual(
        yield* sentenceOf(conversation.resume(W.Submit, "manager", { approved: true })),
        "Nothing waits for \"manager\" of \"Submit\" in this conversation. What waits here: \"text\" of \"Ask\"."
      )
      const invalid = conversation.resume(W.Ask, "text", "  ", { request: requests[0]! })
      assert.strictEqual(yield* reasonOf(invalid), "InvalidAnswer")
      assert.lengthOf(yield* conversation.pending(), 2)
      C.requestsOf(yield* conversation.resume(W.Ask, "text", "42", { request: requests[0]! }))
      assert.strictEqual(C.finished(yield* conversation.resume(W.Ask, "text", "red")), "Well.")
      assert.deepStrictEqual(steps.slice(2), [["text", "42"], ["text", "red"]])
    }))
})

describe("decide", () => {
  it.effect("answers as a person does, and a denial ends the call", () =>
    Effect.gen(function*() {
      const { conversation, script, steps } = yield* C.start({ turns: [[C.ask("Size?"), C.menu("external")], "Well."] })
      const [size, paid] = C.requestsOf(yield* conversation.send("Buy socks."))
      C.requestsOf(yield* conversation.decide(Approval.answer(size!, "42")))
      assert.strictEqual(C.finished(yield* conversation.decide(Approval.deny(paid!, "no money"))), "Well.")
      assert.deepStrictEqual(steps.slice(2), [["text", "42"]])
      assert.include(JSON.stringify((yield* C.prompts(script)).at(-1)), "no money")
    }))

  it.effect("tells what only the program knows", () =>
    Effect.gen(function*() {
      const { conversation, steps } = yield* C.start({ turns: [[C.menu("external")], "Paid."] })
      const [paid] = C.requestsOf(yield* conversation.send("Pay."))
      assert.strictEqual(C.finished(yield* conversation.decide(Approval.answer(paid!, { paid: "20" }))), "Paid.")
      assert.deepStrictEqual(steps.slice(1), [["external", { paid: 20 }]])
    }))
})

describe("wake", () => {
  it.effect("goes on when a timer is due, and does nothing where nobody is waited for", () =>
    Effect.gen(function*() {
      const { conversation, script, steps } = yield* C.start({ turns: [[C.menu("timer")], "Time is up."] })
      assert.isUndefined(yield* conversation.wake)
      C.requestsOf(yield* conversation.send("Remind me."))
      C.requestsOf(yield* conversation.wake)
      assert.strictEqual(yield* script.calls, 1)
      yield* TestClock.adjust("3 hours")
      assert.strictEqual(C.finished(yield* conversation.wake), "Time is up.")
      assert.deepStrictEqual(steps.map(([name]) => name), ["start", "timer"])
      assert.isUndefined(yield* conversation.wake)
    }))

  it.effect("is what watches a store's timers calls", () =>
    Effect.gen(function*() {
      const shared = yield* C.makeShared
      const { conversation, steps } = yield* C.start({ turns: [[C.menu("timer")], "Time is up."], shared })
      yield* conversation.send("Remind me.")
      const watching = yield* SuspensionStore.watchTimers((suspension) =>
        suspension.scope.conversation === conversation.id ? conversation.wake : Effect.void
      ).pipe(
        Effect.provideService(SuspensionStore.SuspensionStore, SuspensionStore.make({ store: shared })),
        Effect.forkChild({ startImmediately: true })
      )
      yield* TestClock.adjust("1 hour")
      assert.lengthOf(steps, 1)
      yield* TestClock.adjust("1 hour")
      yield* TestClock.adjust("2 seconds")
      while ((yield* conversation.outcome)?._tag !== "Completed") yield* W.idle
      assert.lengthOf(steps, 2)
      assert.strictEqual((yield* conversation.outcome)?.text, "Time is up.")
      yield* Fiber.interrupt(watching)
    }))

  it.effect("what waits beside the conversation is still pending while the model goes on", () =>
    Effect.gen(function*() {
      const { conversation, steps } = yield* C.start({ turns: [[C.menu("timer")], "Of course.", "Time is up."] })
      const [timer] = C.requestsOf(yield* conversation.send("Remind me."))
      assert.strictEqual(C.finished(yield* conversation.send("How are you?")), "Of course.")
      assert.deepStrictEqual((yield* conversation.pending()).map(({ approvalId }) => approvalId), [timer!.approvalId])
      yield* TestClock.adjust("3 hours")
      assert.strictEqual(C.finished(yield* conversation.wake), "Time is up.")
      assert.deepStrictEqual(steps.map(([name]) => name), ["start", "timer"])
      assert.deepStrictEqual(yield* conversation.pending(), [])
    }))
})

describe("a store that is away for a moment", () => {
  it.effect("when a tool is to go on: the turn fails, the answer is kept, and the next turn goes on", () =>
    Effect.gen(function*() {
      let isAway = false
      const memory = yield* C.makeShared
      const shared = intercept(memory, (operation, _, run) =>
        isAway && operation === "requests.advance"
          ? Effect.fail(new Store.StoreError({ operation, description: "Away.", reason: "Busy" }))
          : run)
      const { conversation, script, steps } = yield* C.start({ turns: [[C.ask("Which?")], "The red one."], shared })
      const [request] = C.requestsOf(yield* conversation.send("Buy socks."))
      isAway = true
      const answer = conversation.decide(Approval.answer(request!, "red"))
      const error = yield* Effect.flip(answer)
      assert.strictEqual(Option.getOrUndefined(ApprovalError.fromAiError(error))?.reason._tag, "SuspensionsUnavailable")
      assert.deepStrictEqual([steps.length, yield* script.calls, yield* conversation.pending()], [1, 1, []])
      isAway = false
      assert.strictEqual(C.finished(yield* conversation.send([])), "The red one.")
      assert.deepStrictEqual(steps, [["start", "Which?"], ["text", "red"]])
    }))
})
