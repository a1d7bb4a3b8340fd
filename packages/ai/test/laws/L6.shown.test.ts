/**
 * L6: an open request that a new message passed over is still the same question. Whoever shows it while it is held, or
 * when the turn fails for it, shows what is shown without the message.
 */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { Approval, ApprovalMatcher, ApprovalPolicy, type LanguageModel, type Prompt, Tool } from "../../src/index.ts"
import * as A from "./approvers.ts"
import * as Support from "./support.ts"

const presentation = new Approval.ApprovalPresentation({ type: "text", content: "the only copy of a" })

const judges: Record<string, Parameters<typeof ApprovalPolicy.make>[0]> = {
  "a policy": () =>
    Approval.needsApproval({
      reason: "it cannot be undone",
      description: "Delete the file a",
      presentation,
      approvers: ["ada", "grace"],
      editable: true,
      rememberable: true,
      session: { covers: ApprovalMatcher.tool.description }
    }),
  "its tool": () => Approval.needsApproval({ approvers: ["ada"], editable: false, rememberable: false })
}

const begin = Effect.fnUntraced(function*(
  mode: Support.Mode,
  approval: LanguageModel.ApprovalOptions,
  judge: Parameters<typeof ApprovalPolicy.make>[0]
) {
  const tools = yield* Support.makeTools([Tool.present(Support.DeleteFile, () => presentation), Support.ReadFile])
  let current = judge
  const policy = ApprovalPolicy.make((call) => call.toolName === "DeleteFile" ? current(call) : undefined)
  const withPolicy = Effect.provideService(ApprovalPolicy.ApprovalPolicy, policy)
  const first = yield* withPolicy(Support.ask(mode, {
    toolkit: tools.toolkit,
    approval,
    calls: ["c1", "c2"].map((id) => Support.call(id, "DeleteFile", { path: id }))
  }))
  const script = yield* Support.answering
  const take = (prompt: Prompt.RawInput, toolkit: Support.AnyToolkit | undefined = tools.toolkit) =>
    withPolicy(Support.takeTurn(mode, { model: script.model, toolkit, approval, history: first.history, prompt }))
  return {
    first,
    script,
    tools,
    take,
    without: (prompt: Prompt.RawInput) =>
      withPolicy(Support.takeTurn(mode, { model: script.model, approval, history: first.history, prompt })),
    change: (next: typeof judge) => void (current = next)
  }
})

for (const [who, judge] of Object.entries(judges)) {
  describe(`L6 what ${who} shows of a request that was passed over`, () => {
    Support.forEachMode(`L6 hold: what ${who} shows of it is shown again, whole`, function*(mode) {
      const { first, script, take } = yield* begin(mode, { onNewMessage: "hold" }, judge)
      assert.deepStrictEqual(first.requests.map((request) => request.presentation), [presentation, presentation])
      assert.isDefined(first.requests[0]!.approvers)
      const poll = yield* take([])
      const held = yield* take("what time is it?")
      assert.deepStrictEqual(held.requests, poll.requests)
      assert.deepStrictEqual(held.requests, first.requests)
      assert.deepStrictEqual([held.finish, yield* script.calls], ["pause", 0])
    })

    Support.forEachMode(
      `L6 hold: what ${who} shows of the one that is left is whole when the other is answered`,
      function*(mode) {
        const { first, take, tools } = yield* begin(mode, { onNewMessage: "hold" }, judge)
        const answers = Support.answers(Approval.deny(first.requests[0]!, "keep it"))
        const held = yield* A.by(A.ada)(take([...answers.content, ...messageOf("and now?")]))
        assert.deepStrictEqual(held.requests, [first.requests[1]])
        assert.deepStrictEqual(tools.runs, [])
      }
    )

    Support.forEachMode(`L6 fail: what ${who} shows of it is in the error, whole`, function*(mode) {
      const { first, script, take } = yield* begin(mode, { onNewMessage: "fail" }, judge)
      const poll = yield* take([])
      assert.deepStrictEqual(poll.requests, first.requests)
      const reason = yield* Support.reasonOf(take("what time is it?"))
      assert.strictEqual(reason._tag, "ApprovalRequired")
      if (reason._tag !== "ApprovalRequired") return
      assert.isNotEmpty(reason.requests)
      for (const request of reason.requests) {
        assert.deepStrictEqual(request, first.requests.find(({ approvalId }) => approvalId === request.approvalId))
      }
      assert.strictEqual(yield* script.calls, 0)
    })
  })
}

const messageOf = (text: string): ReadonlyArray<Prompt.MessageEncoded> => [{ role: "user", content: text }]

describe("L6 what is shown of a request that was passed over", () => {
  Support.forEachMode(
    "L6 hold: under a policy that fails by now it is shown as it is without the message",
    function*(mode) {
      const { change, first, take } = yield* begin(mode, { onNewMessage: "hold" }, judges["a policy"]!)
      change(() => Effect.fail("the database is down"))
      const poll = yield* take([])
      assert.notDeepEqual(poll.requests, first.requests)
      assert.deepStrictEqual((yield* take("what time is it?")).requests, poll.requests)
    }
  )

  for (const onNewMessage of ["hold", "fail"] as const) {
    Support.forEachMode(`L6 ${onNewMessage}: without a toolkit nobody knows more of it than the call`, function*(mode) {
      const { first, without } = yield* begin(mode, { onNewMessage }, judges["a policy"]!)
      const bare = first.requests.map(({ approvalId, expiresAt, issuedAt, params, toolCallId, toolName }) =>
        new Approval.ApprovalRequest({
          approvalId,
          toolCallId,
          toolName,
          params,
          description: `DeleteFile(path='${toolCallId}')`,
          interaction: "approval",
          providerExecuted: false,
          ...(issuedAt === undefined ? undefined : { issuedAt }),
          ...(expiresAt === undefined ? undefined : { expiresAt })
        })
      )
      if (onNewMessage === "hold") {
        assert.deepStrictEqual((yield* without("what time is it?")).requests, bare)
        return
      }
      const reason = yield* Support.reasonOf(without("what time is it?"))
      assert.strictEqual(reason._tag, "ApprovalRequired")
      if (reason._tag === "ApprovalRequired") assert.deepStrictEqual(reason.requests[0], bare[0])
    })
  }
})
