/** L2: a process that dies at any moment loses nothing of what has come to its end. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { Approval } from "../../src/index.ts"
import { failure, intercept } from "../store/intercept.ts"
import * as C from "./support.ts"

describe("a process that dies when a tool has begun to wait", () => {
  const calls = {
    "an approved call": [C.ask("Size?")].map((call) => ({ ...call, name: "Gated" })),
    "one that goes on": [{ ...C.ask("x"), name: "Submit", params: { item: "desk", amount: "250" } }]
  }
  for (const [name, turn] of Object.entries(calls)) {
    it.effect(`before its conversation knows of it loses neither the state nor the question: ${name}`, () =>
      Effect.gen(function*() {
        const memory = yield* C.makeShared
        const died = yield* Deferred.make<void>()
        let isNear = false
        let isDying = false
        const shared = intercept(memory, (operation, _, run) => {
          if (isDying && operation === "owners.beat") return Effect.fail(failure(operation))
          if (isDying && operation === "conversations.write") {
            return Effect.andThen(Deferred.succeed(died, undefined), Effect.fail(failure(operation)))
          }
          return Effect.tap(run, () => Effect.sync(() => (isDying ||= isNear && operation === "requests.suspend")))
        })
        const first = yield* C.start({ turns: [turn], shared })
        const [request] = C.requestsOf(yield* first.conversation.send("Go."))
        isNear = true
        const deciding = yield* Effect.forkChild(first.conversation.decide(Approval.approve(request!)), {
          startImmediately: true
        })
        yield* Deferred.await(died)
        yield* TestClock.adjust("2 minutes")
        const other = yield* C.start({ turns: ["Done."], shared: memory })
        const [next] = C.requestsOf(yield* other.conversation.send([]))
        assert.notStrictEqual(next?.approvalId, request?.approvalId)
        const answer = next?.interaction === "askUser" ? Approval.answer(next, "42") : Approval.deny(next!)
        assert.strictEqual(C.finished(yield* other.conversation.decide(answer)), "Done.")
        assert.strictEqual(first.steps.length + other.steps.length, name === "an approved call" ? 2 : 3)
        assert.deepStrictEqual(yield* other.conversation.pending(), [])
        yield* Fiber.interrupt(deciding)
      }))
  }
})
