/** The signal of a callback (`async-callbacks.md`): aborted when nobody waits for the answer any more, and not before. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import { ApprovalController, LanguageModel } from "../src/index.ts"
import { ScriptedModel } from "../src/testing/index.ts"
import * as Conversation from "./conversation/support.ts"
import * as C from "./laws/conversation.ts"
import * as M from "./laws/remembered.ts"
import { idle } from "./laws/support.ts"

/** A dialog that stays open until it is told that nobody waits. */
const dialog = () => {
  const signals: Array<AbortSignal> = []
  const state = { open: 0 }
  const shown = <A>(signal: AbortSignal, answer: A) => {
    signals.push(signal)
    state.open++
    return new Promise<A>((resolve) =>
      signal.addEventListener("abort", () => {
        state.open--
        resolve(answer)
      })
    )
  }
  return { signals, state, shown }
}

const controllers = {
  interactive: ({ shown }: ReturnType<typeof dialog>) =>
    ApprovalController.interactive((_, { signal }) => shown(signal, true)),
  batch: ({ shown }: ReturnType<typeof dialog>) =>
    ApprovalController.batch((requests, { signal }) => shown(signal, requests.map(() => true)), { window: 0 })
}

const answeredBy = (controller: ApprovalController.Service) =>
  Effect.provideService(ApprovalController.ApprovalController, controller)

describe("the signal of a callback", () => {
  for (const [name, make] of Object.entries(controllers)) {
    C.everyWay(
      `${name}: is aborted when the turn is interrupted or runs out of time, and nothing runs`,
      function*(way) {
        for (const leave of ["interrupted", "late"] as const) {
          const { chat, runs } = yield* M.deleting(way, [["a"]])
          const { shown, signals, state } = dialog()
          const turn = answeredBy(make({ shown, signals, state }))(chat.send("go"))
          const asking = yield* Effect.forkChild(Effect.exit(Effect.timeout(turn, "1 minute")))
          yield* TestClock.adjust("1 second")
          yield* idle
          assert.deepStrictEqual([state.open, signals.map(({ aborted }) => aborted)], [1, [false]])
          yield* leave === "late" ? TestClock.adjust("1 minute") : Fiber.interrupt(asking)
          yield* Fiber.await(asking)
          yield* idle
          assert.deepStrictEqual([state.open, signals.map(({ aborted }) => aborted), runs], [0, [true], []])
        }
      }
    )
  }

  it.effect("is aborted when the reader of a stream leaves", () =>
    C.fresh(Effect.gen(function*() {
      const { shown, signals, state } = dialog()
      const { runs, toolkit } = yield* C.fileTools
      const { model } = yield* ScriptedModel.make({ turns: [[C.deleteCall("c1", "a")]] })
      const reading = yield* LanguageModel.streamText({ prompt: "go", toolkit }).pipe(
        Stream.runDrain,
        Effect.provideService(LanguageModel.LanguageModel, model),
        answeredBy(controllers.interactive({ shown, signals, state })),
        Effect.forkChild
      )
      yield* idle
      assert.strictEqual(state.open, 1)
      yield* Fiber.interrupt(reading)
      assert.deepStrictEqual([state.open, signals.at(-1)?.aborted, runs], [0, true, []])
    })))

  it.effect("is aborted when a conversation's turn is cancelled", () =>
    Effect.gen(function*() {
      const { shown, signals, state } = dialog()
      const { conversation, steps } = yield* Conversation.start({ turns: [[Conversation.remove("a")]] })
      const turn = yield* Effect.forkChild(
        Effect.exit(answeredBy(controllers.interactive({ shown, signals, state }))(conversation.send("go")))
      )
      yield* idle
      assert.strictEqual(state.open, 1)
      yield* conversation.cancel()
      yield* Fiber.await(turn)
      assert.deepStrictEqual([state.open, signals.map(({ aborted }) => aborted), steps.length], [0, [true], 0])
    }).pipe(Effect.scoped))

  it.effect("stays as it is where the callback answers, fails, or another of the list is left", () =>
    Effect.gen(function*() {
      const signals: Array<AbortSignal> = []
      const replies = [
        () => true,
        async () => true,
        () => Effect.succeed(true),
        () => Effect.fail("no"),
        () => Promise.reject(new Error("no"))
      ]
      for (const reply of replies) {
        const controller = ApprovalController.interactive((_, { signal }) => {
          signals.push(signal)
          return reply()
        })
        yield* Effect.exit(ApprovalController.request({ name: "deploy" }).pipe(answeredBy(controller)))
      }
      const list = ApprovalController.batch((requests, { signal }) =>
        Effect.sleep("1 second").pipe(Effect.map(() => {
          signals.push(signal)
          return requests.map(() => true)
        }))
      )
      const ask = () => Effect.forkChild(ApprovalController.request({ name: "deploy" }).pipe(answeredBy(list)))
      const [left, stays] = [yield* ask(), yield* ask()]
      yield* TestClock.adjust("100 millis")
      yield* Fiber.interrupt(left)
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* Fiber.join(stays))._tag, "Approved")
      assert.deepStrictEqual(signals.map(({ aborted }) => aborted), [false, false, false, false, false, false])
    }))
})
