/** L2: a process that dies at any moment loses nothing of what has come to its end. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { Approval, AtomicStore } from "../../src/index.ts"
import * as C from "./support.ts"

describe("a process that dies when a tool has begun to wait", () => {
  const calls = {
    "an approved call": [C.ask("Size?")].map((call) => ({ ...call, name: "Gated" })),
    "one that goes on": [{ ...C.ask("x"), name: "Submit", params: { item: "desk", amount: "250" } }]
  }
  for (const [name, turn] of Object.entries(calls)) {
    it.effect(`before the journal knows of it loses neither the state nor the question: ${name}`, () =>
      Effect.gen(function*() {
        const memory = yield* C.makeShared
        const died = yield* Deferred.make<void>()
        const buried = yield* Deferred.make<void>()
        let isNear = false
        let isDying = false
        const gone = (key: string) =>
          new AtomicStore.AtomicStoreError({ method: "put", key, description: "gone", reason: "Unavailable" })
        const shared = AtomicStore.make({
          ...memory,
          putIfAbsent: (key, value, options) =>
            Effect.tap(
              memory.putIfAbsent(key, value, options),
              () => Effect.sync(() => (isDying ||= isNear && key.startsWith("suspension/")))
            ),
          put: (key, value, options) =>
            isDying && key.startsWith("owner/") ? Effect.fail(gone(key)) : memory.put(key, value, options),
          compareAndSet: (key, version, value) =>
            isDying && key.startsWith("approval/")
              ? Deferred.succeed(died, undefined).pipe(
                Effect.andThen(Deferred.await(buried)),
                Effect.andThen(Effect.fail(gone(key)))
              )
              : memory.compareAndSet(key, version, value)
        })
        const first = yield* C.start({ turns: [turn], shared })
        yield* Effect.addFinalizer(() => Deferred.succeed(buried, undefined))
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
        yield* Deferred.succeed(buried, undefined)
        yield* Fiber.interrupt(deciding)
      }))
  }
})
