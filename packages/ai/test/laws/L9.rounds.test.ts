/** L9 between the rounds of one turn: what a person answered at once is neither lost nor taken for granted. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { Approval, Prompt, Response } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as C from "./conversation.ts"
import { allowed, approvals, asking, begin, done, withController, withPolicy } from "./hosted.ts"
import * as M from "./remembered.ts"
import * as Support from "./support.ts"

describe("L9 a policy that fails when the turn goes on", () => {
  C.everyWay(
    "L9 asks again about every call that was approved at once, because the program's history holds none of the answers",
    function*(way) {
      const { chat } = yield* begin(way, [
        [...asking(1), ...asking(2)],
        [done(1), done(2), ScriptedModel.text("Both done.")]
      ])
      let asked = 0
      const policy = withPolicy((call) => {
        if (call.toolName !== "mcp.github.create_issue") return undefined
        asked++
        // Both are judged, both are approved, and then the policy dies when the first is judged again.
        return asked === 3 ? Effect.die(new Error("no database")) : Approval.needsApproval({})
      })
      const approving = withController(({ approvalId }) => Approval.approve({ approvalId }).decision)
      const turn = yield* approving(policy(chat.send("go")))
      assert.isTrue(Response.isWaiting(turn.parts))
      assert.deepStrictEqual(
        turn.parts.flatMap((part) => part.type === "tool-approval-request" ? [part.approvalId] : []).toSorted(),
        ["mcpr_1", "mcpr_2"]
      )
      const answers = Response.approvalRequests(turn.parts).map((request) => Approval.approve(request))
      assert.lengthOf(answers, 2)
      const next = yield* chat.send(Prompt.approvalResponses(answers))
      assert.strictEqual(next.text, "Both done.")
      assert.deepStrictEqual(approvals(yield* chat.lastPrompt).filter((one) => one.startsWith("approve")), [
        "approve mcpr_1",
        "approve mcpr_2"
      ])
      C.assertWellFormed(yield* chat.lastPrompt, allowed)
    }
  )
})

describe("L9 a turn that goes on", () => {
  C.everyWay("L9 the model is told of the local calls of the response, run or blocked, each once", function*(way) {
    const { chat, runs } = yield* begin(way, [
      [C.readCall("r1", "x"), C.deleteCall("c1", "a"), ...asking(1)],
      [done(1), ScriptedModel.text("Done.")]
    ])
    const turn = yield* withController(({ approvalId }) => Approval.approve({ approvalId }).decision)(
      chat.send("go")
    ).pipe(M.withPolicy(({ toolName }) => toolName === "DeleteFile" ? Approval.blocked("never") : undefined))
    assert.deepStrictEqual([turn.text, runs], ["Done.", ["read x"]])
    const results = Support.partsOf(yield* chat.lastPrompt).filter((part) => part.type === "tool-result")
    assert.deepStrictEqual(results.map((part) => [part.id, part.isFailure, part.result]), [
      ["r1", false, "x"],
      ["c1", true, { type: "execution-denied", reason: "never" }]
    ])
  })

  C.everyWay("L9 of two hosted calls that wait and are denied, each has its own result", function*(way) {
    const { chat } = yield* begin(way, [[...asking(1), ...asking(2)], "Done."])
    yield* chat.send("go")
    const turn = yield* withController(() => false)(chat.send([]))
    assert.deepStrictEqual(turn.results.map(({ id }) => id).toSorted(), ["mcp_1", "mcp_2"])
  })
})
