/** What people answer: to a request for approval, and to what a tool waits for. */
import type { Schema } from "effect"
import { Approval, ApprovalMatcher, type ApprovalMemory } from "../../src/index.ts"
import type * as Plan from "./plan.ts"

/** The same parameters with another amount. */
export const edited = (params: unknown): Schema.Json => {
  const fields = params as { readonly amount: string | number }
  return { ...fields, amount: typeof fields.amount === "string" ? "7" : 7 } as Schema.Json
}

/** What an answer says of being remembered: for this very call, every call of the tool, or one more call of it. */
export const remembering = {
  call: "session",
  tool: { covers: ApprovalMatcher.tool.description },
  once: { covers: ApprovalMatcher.tool.description, uses: 1 }
} satisfies { readonly [what: string]: ApprovalMemory.Remember }

/** An answer of this kind, with these words where it is one in words. */
export const answer = (
  request: Approval.ApprovalRequest,
  decision: Plan.Answer["decision"],
  words: string,
  lasting: Plan.Answer["remember"] = "no"
): Approval.ApprovalAnswer => {
  const remember = lasting === "no" ? undefined : remembering[lasting]
  if (decision === "deny") return Approval.deny(request, "I would rather not.", { remember })
  const { awaited } = request
  if (awaited === undefined) {
    return Approval.approve(request, {
      params: decision === "edit" ? edited(request.params) : undefined,
      remember
    })
  }
  if (decision === "edit") return Approval.answer(request, { nonsense: words })
  switch (awaited.kind) {
    case "askUser":
      return Approval.answer(request, words)
    case "timer":
      return Approval.answer(request, { dueAt: 0, firedAt: 0 })
    case "external":
      return Approval.answer(request, { told: words })
    default:
      return Approval.approve(request)
  }
}
