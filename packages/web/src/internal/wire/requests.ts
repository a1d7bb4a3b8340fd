/** How a request stands on a card. */
import { Approval, Response } from "@assent/ai"
import type { Prompt } from "@assent/ai"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { Call } from "./calls.ts"
import type { Chunk, Descriptor, ToolApproval } from "./model.ts"

const encode = Schema.encodeSync(Schema.toCodecJson(Approval.ApprovalRequest))

const decode = Schema.decodeUnknownOption(Schema.toCodecJson(Approval.ApprovalRequest))

export const ofResponse = (part: Response.ToolApprovalRequestPart): Approval.ApprovalRequest | undefined =>
  Option.getOrUndefined(Response.approvalRequest(part))

export const ofHistory = (part: Prompt.ToolApprovalRequestPart): Approval.ApprovalRequest | undefined =>
  Option.getOrUndefined(Option.filter(
    decode(part.options.assent),
    (request) => request.approvalId === part.approvalId && request.toolCallId === part.toolCallId
  ))

/** It waits for agents, and is shown to nobody. */
export const isOfAgents = (request: Approval.ApprovalRequest | undefined): boolean => request?.interaction === "nested"

const descriptorOf = (request: Approval.ApprovalRequest): Descriptor => {
  const { params: _, ...descriptor } = encode(request) as typeof Approval.ApprovalRequest.Encoded
  return descriptor
}

/** What is asked, and why. A request of which no more is known, as a provider makes it, has neither. */
const shown = (request: Approval.ApprovalRequest | undefined) =>
  request === undefined ? undefined : {
    descriptor: descriptorOf(request),
    reason: request.reason ?? request.awaited?.prompt ?? request.description
  }

export const chunk = (
  approvalId: string,
  { wireId }: Pick<Call, "wireId">,
  request: Approval.ApprovalRequest | undefined
): Chunk => {
  const about = shown(request)
  return {
    type: "tool-approval-request",
    approvalId,
    toolCallId: wireId,
    ...(about === undefined ? undefined : { reason: about.reason, approvalDescriptor: about.descriptor })
  }
}

/** The same in a message. */
export const approval = (approvalId: string, request: Approval.ApprovalRequest | undefined): ToolApproval => {
  const about = shown(request)
  return {
    id: approvalId,
    ...(about === undefined ? undefined : { requestReason: about.reason, descriptor: about.descriptor })
  }
}
