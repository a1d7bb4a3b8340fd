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
        const [next] = C.requestsOf(yield* C.afterDeath(other.conversation.send([])))
        assert.notStrictEqual(next?.approvalId, request?.approvalId)
        const answer = next?.interaction === "askUser" ? Approval.answer(next, "42") : Approval.deny(next!)
        assert.strictEqual(C.finished(yield* other.conversation.decide(answer)), "Done.")
        assert.strictEqual(first.steps.length + other.steps.length, name === "an approved call" ? 2 : 3)
        assert.deepStrictEqual(yield* other.conversation.pending(), [])
        yield* Fiber.interrupt(deciding)
      }))
  }
})

describe("a process that dies at any operation of its store", () => {
  /** Dies before the operation of this number, or when it is done and nobody was told: nothing of it is done any more. */
  const dying = (memory: C.Shared, at: number, isDone: boolean) => {
    let count = 0
    const store = intercept(memory, (operation, _, run) =>
      Effect.suspend(() => {
        const gone = Effect.fail(failure(operation))
        return ++count < at ? run : count === at && isDone ? Effect.andThen(run, gone) : gone
      }))
    return { store, isDead: () => count >= at }
  }

  const said = "Go on with it."

  for (const isDone of [false, true]) {
    it.effect(
      `${isDone ? "with" : "before"} it loses nothing it was told, and nothing is done twice`,
      () =>
        Effect.gen(function*() {
          let died = 0
          for (let at = 1; at === 1 || died === at - 1; at++) {
            const memory = yield* C.makeShared
            const { isDead, store } = dying(memory, at, isDone)
            const turns = [[C.read("r"), C.remove("a"), C.ask("q")], "Done."]
            const first = yield* C.start({ turns, shared: store })
            let accepted = false
            const outcome = yield* Effect.result(Effect.gen(function*() {
              const asked = C.requestsOf(yield* first.conversation.send(said))
              accepted = true
              return yield* first.conversation.decide(asked.map(answer))
            }))
            if (isDead()) died++
            assert.strictEqual(outcome._tag === "Failure", isDead(), `at ${at}`)
            yield* TestClock.adjust("2 minutes")
            const other = yield* C.start({
              turns: (yield* first.script.calls) === 0 ? turns : turns.slice(1),
              afterLastTurn: "Done.",
              shared: memory
            })
            const { conversation } = other
            // What was not accepted is said again.
            const { content } = yield* conversation.history
            if (accepted) assert.include(JSON.stringify(content), "remove-a", `at ${at}`)
            let next = yield* C.afterDeath(conversation.send(content.length === 0 ? said : []))
            for (let turn = 0; turn < 3 && next._tag === "Waiting"; turn++) {
              next = yield* C.afterDeath(conversation.decide(next.requests.map(answer)))
            }
            assert.strictEqual(next._tag, "Completed", `at ${at}`)
            const history = JSON.stringify(yield* conversation.history)
            assert.lengthOf(history.split(said), 2, `at ${at}`)
            const steps = [...first.steps, ...other.steps].map(([name]) => name)
            for (const step of ["DeleteFile", "text"]) {
              assert.isAtMost(steps.filter((name) => name === step).length, 1, `${step} at ${at}`)
            }
            assert.deepStrictEqual(yield* conversation.pending(), [], `at ${at}`)
            assert.deepStrictEqual(yield* C.inbox(memory), [], `at ${at}`)
          }
          assert.isAbove(died, 20)
        }),
      30_000
    )
  }

  const answer = (request: Approval.ApprovalRequest) =>
    request.interaction === "askUser" ? Approval.answer(request, "x") : Approval.approve(request)
})
