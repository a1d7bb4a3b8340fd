/** What a conversation keeps grows with the answers that are given, and not with what is left open at each of them (law L17). */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Approval, Response } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as C from "./support.ts"

/** So many calls of one response, answered one by one: how long the history is then, and how often each request stands in it. */
const answered = (count: number, onNewMessage: "hold" | "supersede" = "supersede") =>
  Effect.gen(function*() {
    const calls = Array.from({ length: count }, (_, index) => C.remove(`/tmp/${index}`, `c${index}`))
    const { conversation, steps } = yield* C.start({ turns: [calls, "Done."], approval: { onNewMessage } })
    const requests = C.requestsOf(yield* conversation.send("Go."))
    for (const [index, request] of requests.entries()) {
      const outcome = yield* conversation.decide(Approval.approve(request))
      const left = requests.slice(index + 1).map(({ approvalId }) => approvalId)
      assert.deepStrictEqual((yield* conversation.pending()).map(({ approvalId }) => approvalId), left)
      if (left.length === 0) continue
      // Whoever reads the turn is told of all that is open, whatever is kept of it.
      assert.sameMembers(C.requestsOf(outcome).map(({ approvalId }) => approvalId), left)
      assert.sameMembers(Response.approvalRequests(outcome.content).map(({ approvalId }) => approvalId), left)
    }
    assert.lengthOf(steps, count)
    const { content } = yield* conversation.history
    const asked = content.flatMap((message) =>
      message.role === "assistant" ? message.content.filter(({ type }) => type === "tool-approval-request") : []
    )
    return { bytes: JSON.stringify(content).length, asked: asked.length }
  })

describe("a response with many calls that are answered one by one", () => {
  it.effect("L17 is asked about once in the history, which grows with the answers", () =>
    Effect.gen(function*() {
      const few = yield* answered(5)
      const many = yield* answered(20)
      assert.deepStrictEqual([few.asked, many.asked], [5, 20])
      assert.isAtMost(many.bytes / few.bytes, 4.5)
    }))

  it.effect("L6 can be answered behind a new message that is held", () =>
    Effect.gen(function*() {
      const { conversation } = yield* C.start({
        turns: [[C.remove("a"), C.remove("b")], "Done."],
        approval: { onNewMessage: "hold" }
      })
      const [first, second] = C.requestsOf(yield* conversation.send("Go."))
      yield* conversation.send("And hurry.")
      yield* conversation.decide(Approval.approve(first!))
      assert.strictEqual(C.finished(yield* conversation.decide(Approval.approve(second!))), "Done.")
    }))
})

describe("what is open while new messages are held", () => {
  it.effect("L6 L17 is asked about once in the history, however often something is said", () =>
    Effect.gen(function*() {
      const { conversation, script } = yield* C.start({ turns: [[C.remove("a")]], approval: { onNewMessage: "hold" } })
      const requests = C.requestsOf(yield* conversation.send("Go."))
      for (const text of ["And hurry.", "Please.", "Now."]) {
        assert.deepStrictEqual(C.requestsOf(yield* conversation.send(text)), requests)
      }
      const { content } = yield* conversation.history
      assert.deepStrictEqual(content.map(({ role }) => role), ["user", "assistant", "user", "user", "user"])
      assert.strictEqual(yield* script.calls, 1)
    }))
})

describe("a response of more parts than a function takes arguments", () => {
  it.effect("L17 is a turn like any other", () =>
    Effect.gen(function*() {
      const texts = Array.from({ length: 130_000 }, () => ScriptedModel.text("."))
      const { conversation } = yield* C.start({ turns: [texts], strict: false })
      assert.lengthOf(C.finished(yield* conversation.send("Go.")), 130_000)
    }))
})
