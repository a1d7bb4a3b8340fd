/** Which question a plain text answers. It is never read as consent, whoever says which. */
import * as Approval from "../../Approval.ts"
import type * as Conversation from "./model.ts"

/** The first asked of the texts that the user was asked for, and of the choices that have an option of these words. */
const routeText: Conversation.RouteText = (text, open) => {
  let first: Approval.ApprovalRequest | undefined
  for (const request of open) {
    if (request.interaction !== "askUser" && optionOf(text, request) === undefined) continue
    // A tool that has gone on may ask anew in the place of its first question.
    if (first === undefined || (request.issuedAt ?? 0) < (first.issuedAt ?? 0)) first = request
  }
  return first
}

const optionOf = (text: string, { awaited, interaction }: Approval.ApprovalRequest) => {
  if (interaction !== "selectOptions") return undefined
  const said = text.trim().toLowerCase()
  return awaited?.options?.find(({ label, value }) => value.toLowerCase() === said || label.toLowerCase() === said)
    ?.value
}

// Text is never read as consent: only what is a text, or the words of an option, is answered with one.
export const answerOf = (
  text: string,
  open: ReadonlyArray<Approval.ApprovalRequest>,
  route: Conversation.RouteText = routeText
): Approval.ApprovalAnswer | undefined => {
  const named = route(text, open)
  const request = open.find(({ approvalId }) => approvalId === named?.approvalId)
  if (request?.interaction === "askUser") return Approval.answer(request, text)
  const option = request === undefined ? undefined : optionOf(text, request)
  return request === undefined || option === undefined
    ? undefined
    : Approval.answer(request, request.awaited?.multiple === true ? [option] : option)
}
