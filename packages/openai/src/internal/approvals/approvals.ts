/**
 * Approvals of calls on MCP servers that OpenAI runs.
 *
 * OpenAI's request becomes a tool call with a request behind it; the person's answer goes back once, in its place, with
 * the request it answers unless OpenAI has that already; what it ran then is the result of the call that waited.
 */
import * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import type * as Responses from "openai/resources/responses/responses"
import type { HostedSource } from "../augment.ts"
import * as Metadata from "../metadata.ts"

const requestType = "mcp_approval_request"

// =============================================================================
// What OpenAI asks
// =============================================================================

/** A call that waits, and the request for its approval. */
export const asked = (
  item: Responses.ResponseOutputItem.McpApprovalRequest,
  toolName: string,
  origin: { readonly [key: string]: unknown }
): readonly [Response.ToolCallPartEncoded, Response.ToolApprovalRequestPartEncoded] => {
  const assent = hostedSource(item)
  return [
    {
      type: "tool-call",
      id: item.id,
      name: toolName,
      params: { server_label: item.server_label, name: item.name, arguments: assent.params },
      providerExecuted: true,
      metadata: {
        // A chat keeps what stands on the call and drops what stands on the request.
        openai: Metadata.json({
          ...origin,
          itemId: item.id,
          itemType: requestType,
          approvalRequestId: item.id,
          serverLabel: item.server_label,
          name: item.name,
          arguments: item.arguments
        }),
        assent: { ...assent }
      }
    },
    { type: "tool-approval-request", approvalId: item.id, toolCallId: item.id }
  ]
}

/** Which tool of which server it is, for a policy on `mcp.<server label>.*`. */
export const hostedSource = (
  item: { readonly server_label: string; readonly name: string; readonly arguments: string }
): HostedSource => {
  const source = `mcp.${item.server_label}`
  return { source, toolName: `${source}.${item.name}`, params: parseArguments(item.arguments) }
}

/** The request that a call of a response stands for, if it does. */
export const requestOfCall = (
  part: { readonly type: string; readonly metadata?: unknown }
): Responses.ResponseInputItem.McpApprovalRequest | undefined =>
  part.type === "tool-call" ? requestOf(Metadata.read({ options: part.metadata })) : undefined

/** The arguments as JSON; what does not parse is shown as it came. */
export const parseArguments = (text: string): HostedSource["params"] => {
  if (text.trim().length === 0) return {}
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

// =============================================================================
// What the history says
// =============================================================================

/** A call of a history that OpenAI asked about. */
export interface Asked {
  readonly approvalId: string
  readonly call: Prompt.ToolCallPart
  readonly messageIndex: number
  /** The answer that stands: the engine gives no other. */
  answer: Prompt.ToolApprovalResponsePart | undefined
  /** True for an answer that stands in no message: the policy or a controller gave it within the turn. */
  inline: boolean
  /** What OpenAI ran for it. */
  result: Prompt.ToolResultPart | undefined
}

export interface History {
  readonly byApproval: ReadonlyMap<string, Asked>
  readonly byCall: ReadonlyMap<Prompt.ToolCallPart, Asked>
  /** What an answer is to; an id may be asked about again. */
  readonly byResponse: ReadonlyMap<Prompt.ToolApprovalResponsePart, Asked>
  /** The call that waited for an approval, by the approval's id. */
  readonly callOf: (approvalId: string) => Prompt.ToolCallPart | undefined
}

export const read = (messages: ReadonlyArray<Prompt.Message>): History => {
  const byApproval = new Map<string, Asked>()
  const byCall = new Map<Prompt.ToolCallPart, Asked>()
  const byResponse = new Map<Prompt.ToolApprovalResponsePart, Asked>()
  // The latest call of an id: a request asks about it.
  const calls = new Map<string, readonly [Prompt.ToolCallPart, number]>()
  const add = (approvalId: string, call: Prompt.ToolCallPart, messageIndex: number): void => {
    const known = byApproval.get(approvalId)
    // Some servers count their requests anew: what was answered and asked again is another request of the same id.
    if (known !== undefined && (known.call === call || (known.answer === undefined && known.result === undefined))) {
      return
    }
    const asked: Asked = { approvalId, call, messageIndex, answer: undefined, inline: false, result: undefined }
    byApproval.set(approvalId, asked)
    byCall.set(call, asked)
  }
  for (let index = 0; index < messages.length; index++) {
    const message = messages[index]!
    if (message.role !== "assistant" && message.role !== "tool") continue
    for (const part of message.content) {
      switch (part.type) {
        case "tool-call": {
          if (!part.providerExecuted) break
          calls.set(part.id, [part, index])
          const approvalId = approvalIdOf(part)
          if (approvalId !== undefined) add(approvalId, part, index)
          break
        }
        case "tool-approval-request": {
          const call = calls.get(part.toolCallId)
          if (call !== undefined) add(part.approvalId, ...call)
          break
        }
        case "tool-approval-response": {
          const asked = byApproval.get(part.approvalId)
          if (asked === undefined) break
          asked.answer ??= part
          byResponse.set(part, asked)
          break
        }
        case "tool-result": {
          if (!part.providerExecuted) break
          const call = calls.get(part.id)?.[0]
          const asked = byApproval.get(Metadata.text(Metadata.read(part), "approvalRequestId") ?? "") ??
            (call === undefined ? undefined : byCall.get(call))
          if (asked !== undefined) asked.result ??= part
        }
      }
    }
  }
  for (const asked of byCall.values()) {
    if (asked.answer !== undefined || asked.result === undefined) continue
    asked.inline = true
    asked.answer = answerOfResult(asked.approvalId, asked.result)
  }
  return { byApproval, byCall, byResponse, callOf: (approvalId) => byApproval.get(approvalId)?.call }
}

// A call that has a result was answered. The engine writes the result of a denied one, and names the approval in it.
const answerOfResult = (approvalId: string, result: Prompt.ToolResultPart): Prompt.ToolApprovalResponsePart => {
  const { assent } = result.options
  const denied = result.isFailure && Metadata.isRecord(assent) && "approvalId" in assent
  const reason = denied && Metadata.isRecord(result.result) ? Metadata.text(result.result, "reason") : undefined
  return Prompt.makePart("tool-approval-response", {
    approvalId,
    approved: !denied,
    ...(reason === undefined ? undefined : { reason })
  })
}

const approvalIdOf = (call: Prompt.ToolCallPart): string | undefined => {
  const fields = Metadata.read(call)
  return fields["itemType"] === requestType
    ? Metadata.text(fields, "itemId")
    : Metadata.text(fields, "approvalRequestId")
}

// =============================================================================
// What OpenAI is told
// =============================================================================

/** The request as it came, for an OpenAI that keeps nothing; `undefined` where the history lost a part of it. */
export const requestItem = ({ approvalId, call }: Asked): Responses.ResponseInputItem.McpApprovalRequest | undefined =>
  requestOf({ ...Metadata.read(call), itemType: requestType, itemId: approvalId })

/** Whether the history holds what OpenAI ran for a request: then it does not run it again. */
export const isExecuted = ({ approvalId, result }: Asked): boolean => {
  const { item } = result === undefined ? {} : Metadata.read(result)
  return Metadata.isRecord(item) && item["type"] === "mcp_call" && item["approval_request_id"] === approvalId
}

const requestOf = (fields: Metadata.Fields): Responses.ResponseInputItem.McpApprovalRequest | undefined => {
  if (fields["itemType"] !== requestType) return undefined
  const id = Metadata.text(fields, "itemId")
  const server_label = Metadata.text(fields, "serverLabel")
  const name = Metadata.text(fields, "name")
  const { arguments: text } = fields
  if (id === undefined || server_label === undefined || name === undefined || typeof text !== "string") return undefined
  return { type: requestType, id, server_label, name, arguments: text }
}

/** OpenAI goes on from its request only with an answer; a request that nobody answered is withdrawn. */
export const withdrawnItem = ({ approvalId }: Asked): Responses.ResponseInputItem.McpApprovalResponse => ({
  type: "mcp_approval_response",
  approval_request_id: approvalId,
  approve: false,
  reason: "Superseded by a new message before anyone answered. Nothing ran; it may be asked again."
})

export const answerItem = (
  answer: Prompt.ToolApprovalResponsePart
): Responses.ResponseInputItem.McpApprovalResponse => ({
  type: "mcp_approval_response",
  approval_request_id: answer.approvalId,
  approve: answer.approved,
  ...(answer.reason === undefined || answer.reason.length === 0 ? undefined : { reason: answer.reason })
})
