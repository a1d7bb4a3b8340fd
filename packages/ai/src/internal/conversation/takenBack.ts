/**
 * What tells a provider that its request was taken back: to it, that is a no, and in the history it is known not to be
 * anybody's.
 */
import * as Prompt from "effect/ai/Prompt"

/** The answer, as a message. */
export const answer = ({ approvalId }: { readonly approvalId: string }, reason: string): Prompt.Message =>
  Prompt.makeMessage("tool", {
    content: [
      Prompt.makePart("tool-approval-response", {
        approvalId,
        approved: false,
        reason,
        options: { assent: { cancelled: true } }
      })
    ]
  })

export const isAnswer = ({ approved, options }: Prompt.ToolApprovalResponsePart): boolean => {
  const assent: unknown = options?.assent
  return !approved && typeof assent === "object" && assent !== null && "cancelled" in assent
}
