/** What is asked in a step: by the conversation itself, in the agents within it, and what is shown to nobody. */
import type * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import * as Option from "effect/Option"
import * as Approval from "../../Approval.ts"
import * as Responses from "../../Response.ts"

/** What is to be known of a turn for that. */
interface Turn {
  readonly open: ReadonlyArray<Approval.ApprovalRequest>
  readonly history: Prompt.Prompt
  readonly isAgent: boolean
  hidden: ReadonlyArray<Response.AnyPart>
}

// What is asked in agents is kept there, and said by whatever is outermost.
export const isOwn = (part: Response.AnyPart): boolean =>
  part.type !== "tool-approval-request" || !isOfAgent(Responses.approvalRequest(part))

const isOfAgent = (request: Option.Option<Approval.ApprovalRequest>): boolean =>
  Option.isSome(request) && request.value.toolCallId.includes("/") && (request.value.path?.length ?? 0) > 0

/** What of these parts its readers see; that it waits for agents is kept for the history. */
export const hide = <Part extends Response.AnyPart>(
  turn: Turn,
  parts: ReadonlyArray<Part>
): ReadonlyArray<Part> => {
  const hidden = parts.filter(isHidden)
  if (hidden.length === 0) return parts
  turn.hidden = [...turn.hidden, ...hidden]
  return parts.filter((part) => !isHidden(part))
}

export const isHidden = (part: Response.AnyPart): boolean =>
  part.type === "tool-approval-request" &&
  Option.exists(Responses.approvalRequest(part), ({ interaction }) => interaction === "nested")

/**
 * The parts without the requests that stand in the history as they are: those calls wait still. What is asked is written once, so
 * that what is kept grows with the answers and not with what is left at each of them. Behind a new message it is asked anew; but
 * not within agents, of which whoever says it knows nothing.
 */
export const withoutKnown = (
  { history, isAgent, open }: Turn,
  parts: ReadonlyArray<Response.AnyPart>
): ReadonlyArray<Response.AnyPart> => {
  if (open.length === 0 || !parts.some(({ type }) => type === "tool-approval-request")) return parts
  const since = askedSinceUser(history)
  return parts.filter((part) =>
    part.type !== "tool-approval-request" || !(isAgent || isHidden(part) || since.has(part.approvalId)) ||
    !Option.exists(Responses.approvalRequest(part), (request) => sameOf(open, request) !== undefined)
  )
}

const askedSinceUser = ({ content }: Prompt.Prompt): ReadonlySet<string> => {
  const asked = new Set<string>()
  for (let index = content.length - 1; index >= 0; index--) {
    const message = content[index]!
    if (message.role === "user") break
    if (message.role !== "assistant") continue
    for (const part of message.content) if (part.type === "tool-approval-request") asked.add(part.approvalId)
  }
  return asked
}

const sameOf = (
  open: ReadonlyArray<Approval.ApprovalRequest>,
  request: Approval.ApprovalRequest
): Approval.ApprovalRequest | undefined => {
  const known = open.find(({ approvalId }) => approvalId === request.approvalId)
  return known !== undefined && JSON.stringify(known) === JSON.stringify(request) ? known : undefined
}

// Those that wait for agents, too. What did not change are the same objects.
export const requestsIn = (
  { open }: Turn,
  parts: ReadonlyArray<Response.AnyPart>
): ReadonlyArray<Approval.ApprovalRequest> => {
  const nested = parts.filter(isHidden).flatMap((part) => Option.toArray(Responses.approvalRequest(part)))
  return [...nested, ...Responses.approvalRequests(parts)].map((request) => sameOf(open, request) ?? request)
}

/** What is told of a step: its text, or else the calls that it makes. */
export const toldOf = (parts: ReadonlyArray<Response.AnyPart>, text: string): string =>
  text !== "" ? text : parts
    .flatMap((part) => part.type === "tool-call" ? [Approval.describe(part.name, part.params)] : [])
    .join(", ")
