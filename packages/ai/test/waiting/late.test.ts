/** What waits for long: answers that come in time and are looked at late, and steps that outlive the first request. */
import { assert, describe } from "@effect/vitest"
import { TestClock } from "effect/testing"
import { Approval, ApprovalError, ApprovalJournal, DeferredTool, Prompt } from "../../src/index.ts"
import * as ApprovalId from "../../src/internal/seal/approvalId.ts"
import { published } from "../laws/approvers.ts"
import * as Support from "./support.ts"

describe("a request that has expired", () => {
  Support.inEachMode("goes on with what was delivered before, and was accepted", function*(mode) {
    const { chat, first, names } = yield* Support.begin(mode, [Support.call("c1", "Menu", { kind: "external" })])
    yield* TestClock.adjust("719 hours")
    yield* DeferredTool.deliver(Support.Menu, "external", Support.only(first), { paid: 20 })
    yield* TestClock.adjust("2 hours")
    const last = yield* chat.take([])
    assert.deepStrictEqual(Support.resultsOf(last), [["c1", { paid: 20 }]])
    assert.deepStrictEqual(names(), ["start", "external"])
  })

  Support.inEachMode("is of one step alone: the next one waits for as long", function*(mode) {
    const { chat, first, names } = yield* Support.begin(mode, [Support.submit("c1")])
    yield* TestClock.adjust("29 days")
    const second = yield* chat.take(Support.answers(Approval.approve(Support.only(first))))
    // Nothing is known of the first request any more.
    yield* TestClock.adjust("10 days")
    const last = yield* chat.take(Support.answers(Approval.approve(Support.only(second))))
    assert.deepStrictEqual(Support.resultsOf(last), [
      ["c1", { said: "chairs approved by manager, director", at: Support.at }]
    ])
    assert.deepStrictEqual(names(), ["start", "manager", "director"])
  })
})

describe("an answer to what was taken back meanwhile", () => {
  Support.inOneMode("generateText", "comes too late, and whoever looks is told so (law L3)", function*(mode) {
    for (const call of [Support.submit("c1"), Support.ask("c1", "Size?")]) {
      const { first, names, reply } = yield* Support.begin(mode, [call])
      const { approvalId, toolCallId, toolName } = Support.only(first)
      const journal = yield* ApprovalJournal.ApprovalJournal
      const claim = { ...ApprovalId.parse(approvalId)!, approvalId, toolCallId, toolName }
      yield* journal.end(claim, "cancelled", "Cancelled.")
      const [, events] = yield* published(reply(Approval.answer(Support.only(first), { approved: true })))
      assert.deepStrictEqual(
        events.flatMap((event) => event._tag === "Refused" ? [event.reason] : []),
        [new ApprovalError.AlreadyDecided({ approvalId, state: "cancelled" })]
      )
      assert.deepStrictEqual(names(), ["start"])
    }
  })
})

describe("a no", () => {
  Support.inEachMode("is a no, whatever answer is written beside it (law L3)", function*(mode) {
    const { chat, first, steps } = yield* Support.begin(mode, [Support.submit("c1")])
    const { approvalId } = Support.only(first)
    yield* chat.take(Prompt.fromMessages([
      Prompt.makeMessage("tool", {
        content: [
          Prompt.makePart("tool-approval-response", {
            approvalId,
            approved: false,
            reason: "too much",
            options: { assent: { answer: { approved: true } } }
          })
        ]
      })
    ]))
    assert.deepStrictEqual(steps.map(([name, verdict]) => name === "manager" ? verdict : name), [
      "start",
      { approved: false, note: "too much" }
    ])
  })
})
