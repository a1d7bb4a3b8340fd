/**
 * Upstream's `Response`, with the questions a program asks about approvals: is somebody waited for, and for what?
 *
 * @since 0.1.0
 */
import type * as Response from "effect/ai/Response"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Approval from "./Approval.ts"
import * as HostedCall from "./internal/tool/hostedCall.ts"

export * from "effect/ai/Response"
// Readers of the built package get the types of `assent` on parts too: an import without names would not be in it.
export type { CallMetadata, RequestMetadata, ResultMetadata } from "./internal/augment.ts"

/**
 * The parts of a response, or the response itself.
 *
 * @category models
 * @since 0.1.0
 */
export type PartsInput = ReadonlyArray<Response.AnyPart> | { readonly content: ReadonlyArray<Response.AnyPart> }

/**
 * Whether a response waits for somebody: it holds a request. The loop of a program with approvals is
 * `while (Response.isWaiting(turn)) turn = yield* chat.generateText({ prompt: Prompt.approvalResponses(answers), toolkit })`.
 *
 * @example
 * import { Response } from "@assent/ai"
 *
 * Response.isWaiting([Response.toolApprovalRequestPart({ approvalId: "id-1", toolCallId: "call-1" })]) // => true
 * Response.isWaiting([Response.makePart("text", { text: "Done." })]) // => false
 *
 * @category approvals
 * @since 0.1.0
 */
export const isWaiting = (response: PartsInput): boolean =>
  partsOf(response).some((part) => part.type === "tool-approval-request")

/**
 * The requests of a response, each once, joined with their calls.
 *
 * @category approvals
 * @since 0.1.0
 */
export const approvalRequests = (response: PartsInput): ReadonlyArray<Approval.ApprovalRequest> => {
  const parts = partsOf(response)
  const calls = new Map<string, Response.ToolCallPart<string, unknown>>()
  for (const part of parts) {
    if (part.type === "tool-call") calls.set(part.id, part)
  }
  const requests = new Map<string, Approval.ApprovalRequest>()
  for (const part of parts) {
    if (part.type !== "tool-approval-request" || requests.has(part.approvalId)) continue
    requests.set(
      part.approvalId,
      Option.getOrElse(approvalRequest(part), () => fromCall(part, calls.get(part.toolCallId)))
    )
  }
  return Array.from(requests.values())
}

/**
 * The request a part of a stream carries; none when it is another part, or a request that is not ours.
 *
 * @category approvals
 * @since 0.1.0
 */
export const approvalRequest = (part: Response.AnyPart): Option.Option<Approval.ApprovalRequest> =>
  part.type !== "tool-approval-request" ? Option.none() : Option.filter(
    decodeRequest(part.metadata.assent),
    (request) => request.approvalId === part.approvalId && request.toolCallId === part.toolCallId
  )

// =============================================================================
// Internals
// =============================================================================

const decodeRequest = Schema.decodeUnknownOption(Schema.toCodecJson(Approval.ApprovalRequest))

const partsOf = (response: PartsInput): ReadonlyArray<Response.AnyPart> =>
  "content" in response ? response.content : response

const fromCall = (
  part: Response.ToolApprovalRequestPart,
  call: Response.ToolCallPart<string, unknown> | undefined
): Approval.ApprovalRequest => {
  const { params, source, toolName } = HostedCall.asked(call ?? { id: part.toolCallId, name: "unknown", params: null })
  return new Approval.ApprovalRequest({
    approvalId: part.approvalId,
    toolCallId: part.toolCallId,
    toolName,
    params,
    description: Approval.describe(toolName, params),
    interaction: "approval",
    providerExecuted: call?.providerExecuted === true,
    ...(source === undefined ? undefined : { source })
  })
}
