/**
 * A history, read in one pass.
 *
 * A call is keyed by its position, never by its id alone, so that ids that repeat never share approvals or results
 * (law L13). A result that names the approval it settles goes to that approval's call; any other result goes to the
 * latest call of its id that has none yet.
 */
import type * as Prompt from "effect/ai/Prompt"

/** A local tool call of a history, with everything the history says of it. */
export interface TranscriptCall {
  readonly part: Prompt.ToolCallPart
  readonly messageIndex: number
  /** The id the provider sees: its own, unless an earlier call of the same message has it (law L13). */
  readonly sentId: string
  /** Distinct by approval id, in order. */
  readonly requests: Array<TranscriptRequest>
  /** The first result; later ones are dropped. */
  result: Prompt.ToolResultPart | undefined
}

/** A request of a history; a request repeated by polling is one request, at its first place. */
export interface TranscriptRequest {
  readonly part: Prompt.ToolApprovalRequestPart
  readonly messageIndex: number
  /** The local call it asks about. */
  readonly call: TranscriptCall | undefined
  /** The call it asks about, local or the provider's; `undefined` when it was trimmed from the history (law L10). */
  readonly toolCall: Prompt.ToolCallPart | undefined
  readonly responses: Array<Prompt.ToolApprovalResponsePart>
}

export interface Transcript {
  readonly messages: ReadonlyArray<Prompt.Message>
  /** Local calls, in order. */
  readonly calls: ReadonlyArray<TranscriptCall>
  readonly requests: ReadonlyMap<string, TranscriptRequest>
  /** The results a provider is to see, by the index of the assistant message with their calls. */
  readonly callsByMessage: ReadonlyMap<number, ReadonlyArray<TranscriptCall>>
  readonly lastUserIndex: number
  /** Ids of provider-executed calls that have their result. */
  readonly providerResults: ReadonlySet<string>
  /** Every local call has its one result in the tool message directly after it, and there is no approval part. */
  readonly wellFormed: boolean
}

const noCalls: ReadonlyArray<TranscriptCall> = []
const noRequests: ReadonlyMap<string, TranscriptRequest> = new Map()
const noIds: ReadonlySet<string> = new Set()
const noCallsByMessage: ReadonlyMap<number, ReadonlyArray<TranscriptCall>> = new Map()

export const read = (messages: ReadonlyArray<Prompt.Message>): Transcript => {
  let calls: Array<TranscriptCall> | undefined
  let callsByMessage: Map<number, Array<TranscriptCall>> | undefined
  let requests: Map<string, TranscriptRequest> | undefined
  let responses: Array<Prompt.ToolApprovalResponsePart> | undefined
  // The calls of an id, latest last: a result finds its call from the end.
  let open: Map<string, Array<TranscriptCall>> | undefined
  let providerCalls: Map<string, Prompt.ToolCallPart> | undefined
  let providerResults: Set<string> | undefined
  let callByApproval: Map<string, TranscriptCall> | undefined
  let lastUserIndex = -1
  let wellFormed = true
  // The local calls that the next message has to answer for the history to be well formed as it stands.
  let due: Array<TranscriptCall> | undefined

  const takeResult = (part: Prompt.ToolResultPart): TranscriptCall | undefined => {
    const approvalId = part.options?.assent?.approvalId
    const named = typeof approvalId === "string" ? callByApproval?.get(approvalId) : undefined
    if (named !== undefined) {
      if (named.result !== undefined || named.part.id !== part.id) return undefined
      named.result = part
      return named
    }
    const candidates = open?.get(part.id)
    if (candidates === undefined) return undefined
    for (let i = candidates.length - 1; i >= 0; i--) {
      const call = candidates[i]!
      if (call.result === undefined && call.part.name === part.name) {
        call.result = part
        return call
      }
    }
    return undefined
  }

  for (let index = 0; index < messages.length; index++) {
    const message = messages[index]!
    if (message.role === "tool") {
      if (message.content.length === 0) wellFormed = false
      let answered = 0
      for (const part of message.content) {
        if (part.type === "tool-approval-response") {
          wellFormed = false
          if (typeof part.approvalId === "string" && typeof part.approved === "boolean") (responses ??= []).push(part)
        } else if (part.type === "tool-result") {
          const call = part.providerExecuted === true ? undefined : takeResult(part)
          if (call === undefined || call.messageIndex !== index - 1 || part.result === undefined) wellFormed = false
          else answered++
        } else {
          wellFormed = false
        }
      }
      if (answered !== (due === undefined ? 0 : due.length)) wellFormed = false
      due = undefined
      continue
    }
    if (due !== undefined) {
      wellFormed = false
      due = undefined
    }
    if (message.role === "user") {
      lastUserIndex = index
      continue
    }
    if (message.role !== "assistant") continue
    if (message.content.length === 0) wellFormed = false
    for (const part of message.content) {
      if (part.type === "tool-call") {
        if (part.providerExecuted === true) {
          ;(providerCalls ??= new Map()).set(part.id, part)
          open?.delete(part.id)
          continue
        }
        const sentId = uniqueId(part.id, due)
        if (sentId !== part.id) wellFormed = false
        const call: TranscriptCall = { part, messageIndex: index, sentId, requests: [], result: undefined }
        ;(calls ??= []).push(call)
        ;(due ??= []).push(call)
        open ??= new Map()
        const sameId = open.get(part.id)
        if (sameId === undefined) open.set(part.id, [call])
        else sameId.push(call)
        providerCalls?.delete(part.id)
      } else if (part.type === "tool-result") {
        if (part.providerExecuted !== true) {
          wellFormed = false
          takeResult(part)
        } else {
          ;(providerResults ??= new Set()).add(part.id)
        }
      } else if (part.type === "tool-approval-request") {
        wellFormed = false
        if (typeof part.approvalId !== "string" || requests?.has(part.approvalId)) continue
        const call = lastOf(open?.get(part.toolCallId))
        const request: TranscriptRequest = {
          part,
          messageIndex: index,
          call,
          toolCall: call?.part ?? providerCalls?.get(part.toolCallId),
          responses: []
        }
        ;(requests ??= new Map()).set(part.approvalId, request)
        if (call !== undefined) {
          call.requests.push(request)
          ;(callByApproval ??= new Map()).set(part.approvalId, call)
        }
      }
    }
    if (due !== undefined) {
      ;(callsByMessage ??= new Map()).set(index, due)
    }
  }
  if (due !== undefined) wellFormed = false
  // Answers are matched last: within one prompt an answer may stand before its request.
  if (responses !== undefined && requests !== undefined) {
    for (const response of responses) requests.get(response.approvalId)?.responses.push(response)
  }
  return {
    messages,
    calls: calls ?? noCalls,
    requests: requests ?? noRequests,
    callsByMessage: callsByMessage ?? noCallsByMessage,
    lastUserIndex,
    providerResults: providerResults ?? noIds,
    wellFormed
  }
}

const uniqueId = (id: string, siblings: ReadonlyArray<TranscriptCall> | undefined): string => {
  let unique = id
  for (let count = 2; siblings?.some((call) => call.sentId === unique); count++) unique = `${id}_${count}`
  return unique
}

const lastOf = <A>(values: ReadonlyArray<A> | undefined): A | undefined => values?.[values.length - 1]

/** Deny wins over approve, in any order; among equals the first wins (law L3). */
export const standingResponse = (
  responses: ReadonlyArray<Prompt.ToolApprovalResponsePart>
): Prompt.ToolApprovalResponsePart | undefined => responses.find((response) => !response.approved) ?? responses[0]
