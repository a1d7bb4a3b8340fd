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
// Ids
// =============================================================================

/**
 * Some servers count their requests anew with each response, and an id stands for one request: the second of an id is `id#2`.
 * Which request at OpenAI an answer is to is in the answer's own id, and nowhere that a history could say otherwise (law L4).
 */
export const unique = (id: string, isTaken: (id: string) => boolean): string => {
  let found = id
  for (let count = 2; isTaken(found); count++) found = `${id}#${count}`
  return found
}

/** The id that OpenAI gave to a request. */
export const given = (approvalId: string): string => approvalId.replace(/#\d+$/, "")

// =============================================================================
// What OpenAI asks
// =============================================================================

/** A call that waits, and the request for its approval. */
export const asked = (
  item: Responses.ResponseOutputItem.McpApprovalRequest,
  approvalId: string,
  toolName: string,
  origin: { readonly [key: string]: unknown }
): readonly [Response.ToolCallPartEncoded, Response.ToolApprovalRequestPartEncoded] => {
  const assent = hostedSource(item)
  return [
    {
      type: "tool-call",
      id: approvalId,
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
    { type: "tool-approval-request", approvalId, toolCallId: approvalId }
  ]
}

/** Which tool of which server it is, for a policy on `mcp.<server label>.*`. */
export const hostedSource = (
  item: { readonly server_label: string; readonly name: string; readonly arguments: string }
): HostedSource => {
  const source = `mcp.${item.server_label}`
  return { source, toolName: `${source}.${item.name}`, params: parseArguments(item.arguments) }
}

/** Whether a call of a response stands for a request. */
export const isRequest = (part: Response.ToolCallPartEncoded): boolean =>
  requestOf(Metadata.read({ options: part.metadata })) !== undefined

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
  /** The last request to which OpenAI gave this id. */
  readonly lastOf: (givenId: string) => Asked | undefined
}

export const read = (messages: ReadonlyArray<Prompt.Message>): History => {
  const byApproval = new Map<string, Asked>()
  const byCall = new Map<Prompt.ToolCallPart, Asked>()
  const last = new Map<string, Asked>()
  // The latest call of an id: a request asks about it.
  const calls = new Map<string, readonly [Prompt.ToolCallPart, number]>()
  const add = (approvalId: string, call: Prompt.ToolCallPart, messageIndex: number): void => {
    if (byApproval.has(approvalId)) return
    const asked: Asked = { approvalId, call, messageIndex, answer: undefined, inline: false, result: undefined }
    byApproval.set(approvalId, asked)
    byCall.set(call, asked)
    last.set(given(approvalId), asked)
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
          if (asked !== undefined) asked.answer ??= part
          break
        }
        case "tool-result": {
          if (!part.providerExecuted) break
          const call = calls.get(part.id)?.[0]
          const asked = last.get(Metadata.text(Metadata.read(part), "approvalRequestId") ?? "") ??
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
  return { byApproval, byCall, lastOf: (givenId) => last.get(givenId) }
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
  const id = Metadata.text(fields, fields["itemType"] === requestType ? "itemId" : "approvalRequestId")
  return id !== undefined && given(call.id) === id ? call.id : id
}

// =============================================================================
// What OpenAI is told
// =============================================================================

/** The request as it came, for an OpenAI that keeps nothing; `undefined` where the history lost a part of it. */
export const requestItem = ({ approvalId, call }: Asked): Responses.ResponseInputItem.McpApprovalRequest | undefined =>
  requestOf({ ...Metadata.read(call), itemType: requestType, itemId: given(approvalId) })

/** Whether the history holds what OpenAI ran for a request: then it does not run it again. */
export const isExecuted = ({ approvalId, result }: Asked): boolean => {
  const { item } = result === undefined ? {} : Metadata.read(result)
  return Metadata.isRecord(item) && item["type"] === "mcp_call" && item["approval_request_id"] === given(approvalId)
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
  approval_request_id: given(approvalId),
  approve: false,
  reason: "Superseded by a new message before anyone answered. Nothing ran; it may be asked again."
})

export const answerItem = (
  answer: Prompt.ToolApprovalResponsePart
): Responses.ResponseInputItem.McpApprovalResponse => ({
  type: "mcp_approval_response",
  approval_request_id: given(answer.approvalId),
  approve: answer.approved,
  ...(answer.reason === undefined || answer.reason.length === 0 ? undefined : { reason: answer.reason })
})
