/** What an answer that stands in a history says besides yes or no. Nobody vouches for it. */
import * as Prompt from "effect/ai/Prompt"
import * as Denial from "../denial.ts"

type Response = Prompt.ToolApprovalResponsePart

/** What of it is ours. */
export const assentOf = (
  { options }: { readonly options?: { readonly assent?: unknown } }
): object | undefined => {
  const said: unknown = options?.assent
  return typeof said === "object" && said !== null ? said : undefined
}

/** Its reason: upstream's field, and what whoever writes ours calls it. */
export const noteOf = (response: Response): string | undefined => {
  const { note, reason } = (assentOf(response) ?? {}) as { readonly note?: unknown; readonly reason?: unknown }
  return note === undefined && reason === undefined
    ? response.reason
    : Denial.oneReason(Denial.oneReason(textOf(note), textOf(reason)), response.reason)
}

/** Whether it ends the turn. */
export const saysStop = (part: { readonly options?: { readonly assent?: unknown } }): boolean => {
  const said = assentOf(part)
  return said !== undefined && "stop" in said && said.stop === true
}

/** As a provider reads it, where its reason has upstream's name. */
export const toProvider = (response: Response): Response => {
  const reason = noteOf(response)
  return reason === undefined || reason === response.reason
    ? response
    : Prompt.makePart("tool-approval-response", { ...response, reason })
}

const textOf = (said: unknown): string | undefined => typeof said === "string" ? said : undefined
