/** What people answer: to a request for approval, and to what a tool waits for. */
import type { Schema } from "effect"
import { Approval } from "../../src/index.ts"
import type * as Plan from "./plan.ts"

/** The same parameters with another amount. */
export const edited = (params: unknown): Schema.Json => {
  const fields = params as { readonly amount: string | number }
  return { ...fields, amount: typeof fields.amount === "string" ? "7" : 7 } as Schema.Json
}

/** An answer of this kind, with these words where it is one in words. */
export const answer = (
  request: Approval.ApprovalRequest,
  decision: Plan.Answer["decision"],
  words: string
): Approval.ApprovalAnswer => {
  if (decision === "deny") return Approval.deny(request, "I would rather not.")
  const { awaited } = request
  if (awaited === undefined) {
    return Approval.approve(request, decision === "edit" ? { params: edited(request.params) } : undefined)
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
