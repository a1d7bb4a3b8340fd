/** L3 and L5 of a run that waits: what was said to other questions about the same call, and to a caller who resolves calls. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { Approval, type Prompt } from "../../src/index.ts"
import * as Support from "./support.ts"

const gated = [Support.call("c1", "Gated", { question: "Size?" })]

const taking = Effect.fnUntraced(function*(mode: Support.Mode, toolkit: Support.Waiting["toolkit"]) {
  const { model } = yield* Support.answering
  return (history: Prompt.Prompt, prompt: Prompt.RawInput = [], options?: { disableToolCallResolution?: true }) =>
    Support.takeTurn(mode, { model, toolkit, history, prompt, ...options })
})

describe("a call that was asked about twice, and waits", () => {
  Support.inEachMode("L3 a no to the question that it did not begin by is a no for ever", function*(mode) {
    const { steps, toolkit } = yield* Support.makeWaiting()
    const [one, two] = [
      yield* Support.firstTurn(mode, toolkit, gated),
      yield* Support.firstTurn(mode, toolkit, gated)
    ]
    const [a, b] = [Support.only(one), Support.only(two)]
    const take = yield* taking(mode, toolkit)
    const begun = yield* take(one.history, Support.answers(Approval.approve(a)))
    assert.strictEqual(Support.only(begun).interaction, "askUser")
    const both = Support.rewrite(
      begun.history,
      (part) =>
        part.type === "tool-approval-request" && part.approvalId === a.approvalId
          ? [part, Support.requestPart(b.approvalId, "c1")]
          : part
    )
    const denied = yield* take(both, Support.answers(Approval.deny(b, "once is enough")))
    assert.deepStrictEqual(Support.only(denied).approvalId, Support.only(begun).approvalId, "it waits as before")
    const again = yield* take(two.history, Support.answers(Approval.approve(b)))
    assert.strictEqual(Support.failureReason(again.results[0]), "once is enough")
    assert.deepStrictEqual(steps.map(([name]) => name), ["start"])
  })
})

describe("a call that waits, for a caller who resolves calls", () => {
  Support.inEachMode("L5 an answer that does not fit leaves it open, and says why", function*(mode) {
    const { toolkit } = yield* Support.makeWaiting()
    const asked = yield* Support.firstTurn(mode, toolkit, [Support.call("c1", "Menu", { kind: "one" })])
    const take = yield* taking(mode, toolkit)
    const turn = yield* take(
      asked.history,
      Support.answers(Approval.answer(Support.only(asked), "none of them")),
      { disableToolCallResolution: true }
    )
    assert.isDefined(Support.only(turn).reason)
  })
})
