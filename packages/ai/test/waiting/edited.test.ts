/**
 * L11 for a tool that waits and was approved with other parameters than the model proposed: before it goes on, in the same
 * turn or a later one, the policy is asked of the call that ran.
 */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { Approval, ApprovalController, ApprovalPolicy } from "../../src/index.ts"
import * as Support from "./support.ts"

describe("a run that waits, of a call that a person edited", () => {
  Support.inEachMode(
    "L11 the policy is asked of the call that ran before it goes on",
    (mode) =>
      Effect.gen(function*() {
        const judged: Array<unknown> = []
        let isAsked = false
        const person = ApprovalController.interactive((request) => {
          if (request.interaction === "approval") {
            return Approval.approve(request, { params: { question: "Colour?" } })
          }
          isAsked = true
          return Approval.answer(request, "42")
        })
        const policy = ApprovalPolicy.make(({ encodedParams }) => {
          judged.push(encodedParams)
          const isEdited = JSON.stringify(encodedParams) === `{"question":"Colour?"}`
          return isEdited && isAsked ? Approval.blocked("not that one") : Approval.needsApproval({})
        })
        const { first, names } = yield* Support.begin(mode, [Support.call("c1", "Gated", { question: "Size?" })]).pipe(
          Effect.provideService(ApprovalController.ApprovalController, person),
          Effect.provideService(ApprovalPolicy.ApprovalPolicy, policy)
        )
        assert.deepStrictEqual(judged.at(-1), { question: "Colour?" })
        assert.deepStrictEqual(names(), ["start"])
        assert.match(Support.failureReason(first.results[0]), /not that one/)
      })
  )
})
