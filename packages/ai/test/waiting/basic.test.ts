/** Tools that wait: the way from a call to its result, over the requests as which it waits. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { Approval } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as Support from "./support.ts"

describe("a tool that waits", () => {
  Support.forEachMode(
    "two approvals, one after the other, and then the result",
    (mode) =>
      Support.fresh(Effect.gen(function*() {
        const { steps, toolkit } = yield* Support.makeWaiting()
        const script = yield* ScriptedModel.make({
          turns: [[Support.call("c1", "Submit", { item: "chairs", amount: "250" })], "Paid.", "Bye."]
        })
        const chat = yield* Support.converse(mode, { model: script.model, toolkit })
        const first = yield* chat.take("Expense 250 for chairs")
        assert.isTrue(first.waiting)
        assert.deepStrictEqual(first.results, [])
        const [manager] = first.requests
        assert.deepStrictEqual(
          [manager?.interaction, manager?.awaited?.name, manager?.awaited?.prompt, manager?.description],
          ["getApproval", "manager", "$250 for chairs?", "$250 for chairs?"]
        )
        const second = yield* chat.take(Support.answers(Approval.approve(manager!)))
        assert.strictEqual(second.finish, "pause")
        const [director] = second.requests
        assert.deepStrictEqual([director?.awaited?.name, director?.toolCallId], ["director", "c1"])
        assert.notStrictEqual(director?.approvalId, manager?.approvalId)
        assert.deepStrictEqual(second.results, [])
        const third = yield* chat.take(Support.answers(Approval.approve(director!)))
        assert.isFalse(third.waiting)
        assert.deepStrictEqual(
          third.results.map(({ id, result }) => [id, result]),
          [["c1", { said: "chairs approved by manager, director", at: Support.at }]]
        )
        assert.strictEqual(third.text, "Paid.")
        const sent = yield* Support.sentResults(script)
        assert.deepStrictEqual(sent.map(({ result }) => result), [{
          said: "chairs approved by manager, director",
          at: "2026-01-02T03:04:05.000Z"
        }])
        assert.deepStrictEqual(steps.map(([name]) => name), ["start", "manager", "director"])
        const fourth = yield* chat.take("Thanks")
        assert.strictEqual(fourth.text, "Bye.")
      }))
  )
})
