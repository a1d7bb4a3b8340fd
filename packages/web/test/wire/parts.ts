/** Parts of responses and of histories, as the engine writes them. */
import { Approval, Prompt, Response } from "@assent/ai"
import * as Predicate from "effect/Predicate"

export const call = (id: string, path: string) =>
  Response.makePart("tool-call", { id, name: "DeleteFile", params: { path }, providerExecuted: false })

export const request = (approvalId: string, toolCallId: string, fields: Partial<Approval.ApprovalRequest> = {}) =>
  new Approval.ApprovalRequest({
    approvalId,
    toolCallId,
    toolName: "DeleteFile",
    params: { path: "a" },
    description: "DeleteFile(path='a')",
    interaction: "approval",
    providerExecuted: false,
    ...fields
  })

export const asking = (approvalId: string, toolCallId: string) => {
  const { approvalId: id, description, interaction, params, providerExecuted, toolName } = request(
    approvalId,
    toolCallId
  )
  const assent = { approvalId: id, description, interaction, params, providerExecuted, toolCallId, toolName }
  return Response.toolApprovalRequestPart({ approvalId, toolCallId, metadata: { assent } })
}

export const result = (
  id: string,
  encodedResult: unknown,
  options: { readonly isFailure?: boolean; readonly preliminary?: boolean; readonly assent?: object } = {}
) =>
  Response.makePart("tool-result", {
    id,
    name: "DeleteFile",
    providerExecuted: false,
    preliminary: options.preliminary === true,
    result: encodedResult,
    encodedResult,
    isFailure: options.isFailure === true,
    ...(options.assent === undefined ? undefined : { metadata: { assent: options.assent } })
  } as never) as Response.AnyPart

export const finish = (reason: Response.FinishReason = "stop") =>
  Response.makePart("finish", {
    reason,
    usage: new Response.Usage({
      inputTokens: { uncached: undefined, total: undefined, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: undefined, text: undefined, reasoning: undefined }
    }),
    response: undefined
  })

// `makePart` takes what both kinds of sources have.
export const sourceOf = (source: object) => Response.makePart("source", source as never)

export const denied = (reason: string) => ({ type: "execution-denied", reason })

export const interrupted = (reason: string) => ({ type: "execution-interrupted", reason })

// =============================================================================
// Histories
// =============================================================================

export const user = (text: string) => Prompt.make(text).content

/** What the assistant said, and the results that are known by then. */
export const said = (...parts: ReadonlyArray<Response.AnyPart>) => Prompt.fromResponseParts(parts).content

export const answers = (...some: ReadonlyArray<Approval.ApprovalAnswer>) => Prompt.approvalResponses(some).content

/** A history as a conversation gives it. */
export const kept = (history: ReadonlyArray<Prompt.Message>) =>
  history.map((message, position) => ({ id: nameOf(message) ?? `m${position}`, message }))

const nameOf = ({ options: { assent } }: Prompt.Message): string | undefined =>
  Predicate.hasProperty(assent, "messageId") ? String(assent.messageId) : undefined
