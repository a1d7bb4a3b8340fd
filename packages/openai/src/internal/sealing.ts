/**
 * Requests for approval that are sent again (law L4). With `store: false` OpenAI keeps nothing: an approval goes back with
 * the very request it answers, out of a history that anybody may have written, and OpenAI runs what stands there. So the
 * request is sealed as it comes, and an approval whose request is not the sealed one goes back as a denial.
 */
import * as Approval from "@assent/ai/Approval"
import * as ApprovalError from "@assent/ai/ApprovalError"
import * as ApprovalSeal from "@assent/ai/ApprovalSeal"
import * as Prompt from "effect/ai/Prompt"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Responses from "openai/resources/responses/responses"
import * as Approvals from "./approvals.ts"

type Request = Responses.ResponseInputItem.McpApprovalRequest

const bindingOf = (request: Request, scope: Approval.ApprovalScope): ApprovalSeal.Binding => ({
  source: `mcp.${request.server_label}`,
  toolName: request.name,
  toolCallId: request.id,
  schemaFingerprint: "mcp",
  // Letter by letter: what OpenAI runs is this text, however it would be parsed.
  params: JSON.stringify([request.server_label, request.name, request.arguments]),
  scope
})

/** Seals the call of a request as it came. One that cannot be sealed has no seal, and so is never approved. */
export const seal = <Part extends { readonly type: string }>(part: Part): Effect.Effect<Part> => {
  const request = Approvals.requestOfCall(part)
  if (request === undefined) return Effect.succeed(part)
  return Effect.gen(function*() {
    const service = yield* ApprovalSeal.ApprovalSeal
    const sealed = yield* Effect.result(service.seal(bindingOf(request, yield* Approval.Scope)))
    return Result.isSuccess(sealed) ? Approvals.withSeal(part, sealed.success.approvalId) : part
  })
}

/** Turns approvals of requests that are to be sent again, and are not the sealed ones, into denials. */
export const check = (history: Approvals.History): Effect.Effect<void> =>
  Effect.forEach(
    history.byCall.values(),
    (asked) =>
      asked.answer?.approved !== true || Approvals.isExecuted(asked)
        ? Effect.void
        : Effect.match(verify(asked), {
          onSuccess: () => {},
          onFailure: (error) => {
            asked.answer = Prompt.makePart("tool-approval-response", {
              approvalId: asked.approvalId,
              approved: false,
              reason: error.message
            })
          }
        }),
    { discard: true }
  )

const verify = Effect.fnUntraced(function*(
  asked: Approvals.Asked
): Effect.fn.Return<void, ApprovalError.ApprovalError> {
  const { approvalId } = asked
  const request = Approvals.requestItem(asked)
  const token = Approvals.sealOf(asked.call)
  if (request === undefined || token === undefined) {
    return yield* ApprovalError.make(new ApprovalError.Forged({ approvalId }))
  }
  const service = yield* ApprovalSeal.ApprovalSeal
  const { expiresAt } = yield* service.verify(token, bindingOf(request, yield* Approval.Scope))
  if ((yield* Clock.currentTimeMillis) >= expiresAt) {
    return yield* ApprovalError.make(new ApprovalError.Expired({ approvalId, expiredAt: expiresAt }))
  }
})
