/**
 * Requests for approval that are sent again (law L4). With `store: false` OpenAI keeps nothing: an approval goes back with
 * the very request it answers, out of a history that anybody may have written, and OpenAI runs what stands there. So the
 * call is sealed as it comes, with all that OpenAI said of it, and an approval of another goes back as a denial.
 */
import type * as ApprovalError from "@assent/ai/ApprovalError"
import * as LanguageModel from "@assent/ai/LanguageModel"
import * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import * as Effect from "effect/Effect"
import * as Approvals from "./approvals.ts"

/** Seals a call that OpenAI asks about; one that cannot be sealed is never approved. */
export const seal = <Part extends { readonly type: string }>(part: Part): Effect.Effect<Part> =>
  isCall(part) && Approvals.isRequest(part) ? LanguageModel.sealRequest(part, part.id) : Effect.succeed(part)

const isCall = (part: { readonly type: string }): part is Response.ToolCallPartEncoded => part.type === "tool-call"

/** Turns approvals of requests that are to be sent again, and are not the sealed ones, into denials. */
export const check = (history: Approvals.History): Effect.Effect<void> =>
  Effect.forEach(
    history.byCall.values(),
    (asked) =>
      asked.answer?.approved !== true || Approvals.isExecuted(asked)
        ? Effect.void
        : Effect.match(LanguageModel.verifyRequest(asked.call, asked.approvalId), {
          onSuccess: () => {},
          onFailure: (error: ApprovalError.ApprovalError) => {
            asked.answer = Prompt.makePart("tool-approval-response", {
              approvalId: asked.approvalId,
              approved: false,
              reason: error.message
            })
          }
        }),
    { discard: true }
  )
