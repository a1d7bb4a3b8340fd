/** What the random interleavings have found wrong, each told by itself. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import { Approval, ApprovalError } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import { intercept } from "../store/intercept.ts"
import * as W from "../waiting/support.ts"
import * as C from "./support.ts"

const reasonOf = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), (error) => error instanceof ApprovalError.ApprovalError ? error.reason._tag : error)

describe("decide", () => {
  it.effect("refuses an answer that does not fit, of whatever kind, and the request stays as it was", () =>
    Effect.gen(function*() {
      const turns = [[C.ask("Size?"), C.menu("one"), C.menu("timer"), C.menu("external")], "Well."]
      const { conversation, steps } = yield* C.start({ turns })
      const requests = C.requestsOf(yield* conversation.send("Go."))
      const before = yield* conversation.history
      for (const request of requests) {
        for (const answer of [Approval.answer(request, { wrong: true }), Approval.approve(request)]) {
          assert.strictEqual(yield* reasonOf(conversation.decide(answer)), "InvalidAnswer", request.interaction)
        }
      }
      const [size, , , external] = requests
      const both = conversation.decide([Approval.answer(size!, 42), Approval.answer(external!, { paid: "no" })])
      assert.strictEqual(yield* reasonOf(both), "InvalidAnswer")
      assert.deepStrictEqual(yield* conversation.history, before)
      assert.deepStrictEqual(yield* conversation.pending(), requests)
      assert.deepStrictEqual(steps.filter(([name]) => name !== "start"), [])
      C.requestsOf(yield* conversation.decide(Approval.answer(external!, { paid: "20" })))
      assert.deepStrictEqual(steps.at(-1), ["external", { paid: 20 }])
    }))
})

describe("a stream", () => {
  it.effect("whose reader leaves before a word was written leaves no empty text behind", () =>
    Effect.gen(function*() {
      const { conversation } = yield* C.start({ turns: [[ScriptedModel.text("Once")], "Bye."] })
      yield* Stream.runDrain(Stream.takeUntil(conversation.stream("Go."), (part) => part.type === "text-start"))
      const { content } = yield* conversation.history
      assert.deepStrictEqual(content.map(({ role }) => role), ["user"])
      assert.strictEqual(C.finished(yield* conversation.send("Go on.")), "Bye.")
    }))
})

describe("pending", () => {
  it.effect("L13 still has what waits when another call of the same id is asked about", () =>
    Effect.gen(function*() {
      const { conversation, steps } = yield* C.start({
        turns: [[C.menu("external", "call-1")], [C.remove("a", "call-1")], "Done.", "Paid."]
      })
      const [external] = C.requestsOf(yield* conversation.send("Pay."))
      const both = C.requestsOf(yield* conversation.send("Clean up."))
      assert.deepStrictEqual(both.map(({ interaction }) => interaction), ["external", "approval"])
      yield* conversation.decide(Approval.approve(both[1]!))
      assert.deepStrictEqual((yield* conversation.pending()).map(({ approvalId }) => approvalId), [
        external!.approvalId
      ])
      yield* conversation.resume(W.Menu, "external", { paid: 20 })
      assert.deepStrictEqual(steps.map(([name]) => name), ["start", "DeleteFile", "external"])
      assert.deepStrictEqual(yield* conversation.pending(), [])
    }))
})

describe("a turn", () => {
  it.effect("that is left while it begins holds nobody up, whatever was being written", () =>
    Effect.gen(function*() {
      for (let moment = 0; moment < 12; moment++) {
        const memory = yield* C.makeShared
        const left: { fiber?: Fiber.Fiber<unknown, unknown> } = {}
        let writes = 0
        const leaving = <A, E>(write: Effect.Effect<A, E>) =>
          Effect.tap(write, () => {
            if (writes++ === moment) left.fiber?.interruptUnsafe()
            return Effect.yieldNow
          })
        const shared = intercept(memory, (operation, _, run) => C.isReading(operation) ? run : leaving(run))
        const first = yield* C.start({ turns: ["First."], shared })
        left.fiber = yield* Effect.forkChild(first.conversation.send("One."))
        yield* Effect.exit(Fiber.join(left.fiber))
        const other = yield* C.start({ turns: ["Second."], shared: memory })
        const second = yield* Effect.forkChild(other.conversation.send("Two."), { startImmediately: true })
        // The clock stands still: nobody is waited for.
        assert.isTrue(yield* W.advance(second, 0), `at write ${moment}`)
        assert.strictEqual(C.finished(yield* Fiber.join(second)), "Second.")
      }
    }))
})
