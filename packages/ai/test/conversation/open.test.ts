/** What a conversation says that it waits for is what it waits for, whatever becomes of its turns; and what wakes it. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import { Approval, ApprovalError } from "../../src/index.ts"
import { intercept } from "../store/intercept.ts"
import * as W from "../waiting/support.ts"
import * as C from "./support.ts"

const idsOf = (requests: ReadonlyArray<Approval.ApprovalRequest>) => requests.map(({ approvalId }) => approvalId)

const reasonOf = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), (error) => error instanceof ApprovalError.ApprovalError ? error.reason._tag : error)

/** Holds the first step of that name until it is let go on. */
const gate = (name: string) =>
  Effect.gen(function*() {
    const entered = yield* Deferred.make<void>()
    const release = yield* Deferred.make<void>()
    return {
      before: (step: string) =>
        step === name ? Effect.andThen(Deferred.succeed(entered, undefined), Deferred.await(release)) : Effect.void,
      entered: Deferred.await(entered),
      release: Deferred.succeed(release, undefined)
    }
  })

describe("a request that was answered", () => {
  it.effect("is pending no more when the turn fails after it was carried out, and the next one has its result", () =>
    Effect.gen(function*() {
      const { conversation, script, steps } = yield* C.start({ turns: [[C.remove("a")]] })
      const [request] = C.requestsOf(yield* conversation.send("Go."))
      yield* Effect.flip(conversation.decide(Approval.approve(request!)))
      assert.deepStrictEqual(steps, [["DeleteFile", "a"]])
      assert.deepStrictEqual(yield* conversation.pending(), [])
      yield* Effect.flip(conversation.send([]))
      assert.lengthOf(steps, 1)
      assert.include(JSON.stringify((yield* C.prompts(script)).at(-1)), "deleted")
    }))

  it.effect("is pending no more when its turn is at its limit of time, and cancel still denies it", () =>
    Effect.gen(function*() {
      const { before, entered } = yield* gate("ReadFile")
      const { conversation, steps } = yield* C.start({
        turns: [[C.ask("Size?"), C.remove("a")], "Well."],
        limits: { time: "1 minute" },
        before: (step) => step === "text" ? before("ReadFile") : Effect.void
      })
      const [ask, remove] = C.requestsOf(yield* conversation.send("Go."))
      const turn = yield* Effect.forkChild(conversation.decide(Approval.answer(ask!, "42")), { startImmediately: true })
      yield* entered
      yield* TestClock.adjust("2 minutes")
      assert.strictEqual((yield* Fiber.join(turn))._tag, "Limited")
      assert.deepStrictEqual(idsOf(yield* conversation.pending()), [remove!.approvalId])
      yield* conversation.cancel("enough")
      assert.deepStrictEqual(yield* conversation.pending(), [])
      assert.strictEqual(C.finished(yield* conversation.send("Well?")), "Well.")
      assert.deepStrictEqual(steps.map(([name]) => name), ["start", "text"])
    }))

  it.effect("wrongly is pending again, also when the model goes on beside it", () =>
    Effect.gen(function*() {
      const { conversation } = yield* C.start({
        turns: [[C.menu("one")], "Of course.", "Enjoy."],
        approval: { onNewMessage: "keep" }
      })
      const [request] = C.requestsOf(yield* conversation.send("Lunch."))
      assert.strictEqual(yield* reasonOf(conversation.decide(Approval.answer(request!, "steak"))), "InvalidAnswer")
      assert.strictEqual(C.finished(yield* conversation.send("How are you?")), "Of course.")
      assert.deepStrictEqual(idsOf(yield* conversation.pending()), [request!.approvalId])
      assert.strictEqual(C.finished(yield* conversation.decide(Approval.answer(request!, "soup"))), "Enjoy.")
      assert.deepStrictEqual(yield* conversation.pending(), [])
    }))

  it.effect("for another call of the same id is not the one that still waits (law L13)", () =>
    Effect.gen(function*() {
      const { conversation } = yield* C.start({
        turns: [[C.menu("timer", "call-1")], [C.remove("a", "call-1")], "Done.", "Time is up."]
      })
      const [timer] = C.requestsOf(yield* conversation.send("Remind me."))
      const requests = C.requestsOf(yield* conversation.send("And delete a."))
      assert.deepStrictEqual(requests.map(({ toolName }) => toolName), ["Menu", "DeleteFile"])
      assert.strictEqual(C.finished(yield* conversation.decide(Approval.approve(requests[1]!))), "Done.")
      assert.deepStrictEqual(idsOf(yield* conversation.pending()), [timer!.approvalId])
    }))
})

describe("what only the program tells", () => {
  for (const answer of [undefined, { paid: "much" }]) {
    it.effect(`is refused where it does not fit, and its request stays open: ${JSON.stringify(answer)}`, () =>
      Effect.gen(function*() {
        const { conversation, steps } = yield* C.start({ turns: [[C.menu("external")], "Paid."] })
        const [request] = C.requestsOf(yield* conversation.send("Pay."))
        const wrong = answer === undefined ? Approval.approve(request!) : Approval.answer(request!, answer)
        assert.strictEqual(yield* reasonOf(conversation.decide(wrong)), "InvalidAnswer")
        assert.lengthOf(yield* conversation.pending(), 1)
        assert.strictEqual(C.finished(yield* conversation.decide(Approval.answer(request!, { paid: "20" }))), "Paid.")
        assert.deepStrictEqual(steps.slice(1), [["external", { paid: 20 }]])
      }))
  }

  it.effect("reaches the store of the model's own layer", () =>
    Effect.gen(function*() {
      const { conversation } = yield* C.start({ turns: [[C.menu("external")], "Paid."], layered: true })
      yield* conversation.send("Pay.")
      assert.strictEqual(C.finished(yield* conversation.resume(W.Menu, "external", { paid: 20 })), "Paid.")
    }))
})

describe("wake", () => {
  it.effect("waits for the turn that is being taken: what it begins to wait for may be there already", () =>
    Effect.gen(function*() {
      const { before, entered, release } = yield* gate("ReadFile")
      const { conversation, steps } = yield* C.start({
        turns: [[C.menu("timer"), C.read("a")], "Time is up."],
        before
      })
      const turn = yield* Effect.forkChild(conversation.send("Remind me."), { startImmediately: true })
      yield* entered
      yield* W.idle
      yield* TestClock.adjust("3 hours")
      const woken = yield* Effect.forkChild(conversation.wake, { startImmediately: true })
      yield* release
      yield* Fiber.join(turn)
      yield* W.idle
      const outcome = yield* Fiber.join(woken)
      assert.strictEqual(C.finished(outcome ?? (yield* conversation.outcome)), "Time is up.")
      assert.deepStrictEqual(steps.map(([name]) => name), ["start", "ReadFile", "timer"])
    }))

  it.effect("does not call the model where nothing has come", () =>
    Effect.gen(function*() {
      const { conversation, script } = yield* C.start({ turns: [[C.menu("timer")], "Of course.", "Time is up."] })
      yield* conversation.send("Remind me.")
      yield* conversation.send("How are you?")
      const before = yield* conversation.history
      assert.lengthOf(C.requestsOf(yield* conversation.wake), 1)
      assert.strictEqual(yield* script.calls, 2)
      assert.deepStrictEqual(yield* conversation.history, before)
      yield* TestClock.adjust("3 hours")
      assert.strictEqual(C.finished(yield* conversation.wake), "Time is up.")
    }))

  it.effect("goes on with what has expired", () =>
    Effect.gen(function*() {
      const { conversation } = yield* C.start({
        turns: [[C.remove("a")], "Too late."],
        approval: { expiresIn: "1 hour" }
      })
      yield* conversation.send("Go.")
      C.requestsOf(yield* conversation.wake)
      yield* TestClock.adjust("2 hours")
      assert.strictEqual(C.finished(yield* conversation.wake), "Too late.")
    }))
})

describe("cancel", () => {
  it.effect("stops a run that begins as it is called, and what was approved does not run later", () =>
    Effect.gen(function*() {
      let begun = 0
      for (let yields = 0; yields < 60; yields++) {
        let running = 0
        const memory = yield* C.makeShared
        const { conversation } = yield* C.start({
          // Each reading takes a moment, so that the cancel comes between any two.
          shared: intercept(
            memory,
            (operation, _, run) => C.isReading(operation) ? Effect.andThen(Effect.yieldNow, run) : run
          ),
          turns: [[C.remove("a")], "Well."],
          before: (step) =>
            step !== "DeleteFile" ? Effect.void : Effect.sync(() => {
              running++
              begun++
            }).pipe(Effect.andThen(Effect.never), Effect.ensuring(Effect.sync(() => running--)))
        })
        const [request] = C.requestsOf(yield* conversation.send("Go."))
        const deciding = yield* Effect.forkChild(Effect.exit(conversation.decide(Approval.approve(request!))), {
          startImmediately: true
        })
        for (let i = 0; i < yields; i++) yield* Effect.yieldNow
        yield* conversation.cancel("stop")
        assert.strictEqual(running, 0, `after ${yields}`)
        yield* Fiber.join(deciding)
        assert.strictEqual(C.finished(yield* conversation.send("Well?")), "Well.")
        assert.strictEqual(running, 0, `later, after ${yields}`)
      }
      assert.isAbove(begun, 0)
    }))
})

describe("an outcome", () => {
  it.effect("is there where nothing is decided", () =>
    Effect.gen(function*() {
      const { conversation } = yield* C.start({ turns: ["Hello."] })
      assert.strictEqual((yield* conversation.decide([]))._tag, "Completed")
      yield* conversation.send("Hi.")
      assert.strictEqual((yield* conversation.decide([]))._tag, "Completed")
      assert.strictEqual((yield* conversation.outcome)?.text, "Hello.")
    }))

  it.effect("is none after a turn that failed, also behind another one", () =>
    Effect.gen(function*() {
      const { before, entered, release } = yield* gate("ReadFile")
      const { conversation } = yield* C.start({ turns: [[C.read("a")], "Read."], before })
      const first = yield* Effect.forkChild(conversation.send("Go."), { startImmediately: true })
      yield* entered
      const second = yield* Effect.forkChild(Effect.exit(Stream.runDrain(conversation.stream("And?"))), {
        startImmediately: true
      })
      yield* release
      yield* Fiber.join(first)
      yield* Fiber.join(second)
      assert.isUndefined(yield* conversation.outcome)
    }))
})
