/** Whoever follows a turn of another process, and comes while it begins: between two writes of it, or of its store. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { Approval } from "../../src/index.ts"
import { intercept } from "../store/intercept.ts"
import * as W from "../waiting/support.ts"
import * as F from "./following.ts"
import * as C from "./support.ts"

/** One process begins a turn and is held at one of its operations of the store, where another looks. */
const beginHeldAt = (index: number) =>
  Effect.gen(function*() {
    const memory = yield* C.makeShared
    const gate = yield* F.makeGate
    const reading = yield* F.makeGate
    let count: number | undefined
    const held = intercept(
      memory,
      (_operation, _key, run) =>
        Effect.suspend(() => count !== undefined && count++ === index ? Effect.andThen(gate.pass, run) : run)
    )
    const first = yield* C.start({
      turns: [[C.menu("external"), C.remove("c")], [C.read("a")], "Done."],
      shared: held,
      before: (step) => step === "ReadFile" ? reading.pass : Effect.void
    })
    const { conversation } = yield* C.start({ turns: [], shared: memory })
    const [external, remove] = C.requestsOf(yield* first.conversation.send("Go."))
    count = 0
    const answers = [Approval.answer(external!, { paid: "1" }), Approval.approve(remove!)]
    const beginning = yield* Effect.forkChild(first.conversation.start("And hurry.", { answers }), {
      startImmediately: true
    })
    yield* gate.entered
    const followed = yield* Effect.forkChild(
      Effect.gen(function*() {
        const turn = yield* conversation.turn
        return turn === undefined ? undefined : {
          messageId: turn.messageId,
          parts: F.gist(yield* F.collect(turn.parts)),
          outcome: (yield* turn.outcome)._tag
        }
      }),
      { startImmediately: true }
    )
    yield* W.idle
    yield* gate.open
    const own = yield* Fiber.join(beginning)
    yield* reading.entered
    yield* TestClock.adjust("1 second")
    yield* reading.open
    const { _tag: outcome } = yield* own.outcome
    assert.isTrue(yield* W.advance(followed, "1 second"))
    const { messageId, parts } = own
    return {
      followed: yield* Fiber.join(followed),
      own: { messageId, parts: F.gist(yield* F.collect(parts)), outcome }
    }
  })

describe("a turn of another process that begins", () => {
  it.effect("is followed to its end, wherever it is by then: none of its beginning is its end", () =>
    Effect.gen(function*() {
      let seen = 0
      for (let index = 2; index < 10; index++) {
        const { followed, own } = yield* beginHeldAt(index)
        if (followed === undefined) continue
        seen++
        assert.deepStrictEqual(
          { ...followed, parts: followed.parts.toSorted() },
          { ...own, parts: own.parts.toSorted() },
          `held at ${index}`
        )
      }
      assert.isAtLeast(seen, 4)
    }))
})
