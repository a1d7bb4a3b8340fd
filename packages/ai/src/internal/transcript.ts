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
  requests: Array<TranscriptRequest>
  /** The first result; later ones are dropped. */
  result: Prompt.ToolResultPart | undefined
}

/** A call of a history that the provider runs itself. */
export interface ProviderCall {
  readonly part: Prompt.ToolCallPart
  readonly messageIndex: number
  result: Prompt.ToolResultPart | undefined
}

/** A request of a history; a request repeated by polling is one request, at its first place. */
export interface TranscriptRequest {
  readonly part: Prompt.ToolApprovalRequestPart
  readonly messageIndex: number
  /** The local call it asks about. */
  readonly call: TranscriptCall | undefined
  /** The call of the provider's it asks about. */
  readonly providerCall: ProviderCall | undefined
  /** The call it asks about, local or the provider's; `undefined` when it was trimmed from the history (law L10). */
  readonly toolCall: Prompt.ToolCallPart | undefined
  responses: Array<Prompt.ToolApprovalResponsePart>
  /** Where the first answer stands. */
  answeredAt: number | undefined
}

export interface Transcript {
  readonly messages: ReadonlyArray<Prompt.Message>
  /** Local calls, in order. */
  readonly calls: ReadonlyArray<TranscriptCall>
  readonly requests: ReadonlyMap<string, TranscriptRequest>
  /** The results a provider is to see, by the index of the assistant message with their calls. */
  readonly callsByMessage: ReadonlyArray<ReadonlyArray<TranscriptCall> | undefined>
  readonly lastUserIndex: number
  /** Results of provider-executed calls that stand in tool messages, by the assistant message they belong into. */
  readonly movedResults: ReadonlyMap<number, ReadonlyArray<Prompt.ToolResultPart>>
  /** Every local call has its one result in the tool message directly after it, and there is no approval part. */
  readonly wellFormed: boolean
}

// Shared by all that have none of something, so that a long settled history allocates little; never written to.
const none: Array<never> = []
const noRequests: ReadonlyMap<string, TranscriptRequest> = new Map()
const noMovedResults: ReadonlyMap<number, ReadonlyArray<Prompt.ToolResultPart>> = new Map()

/** Throws a `TypeError` for what is not a message. */
export const read = (messages: ReadonlyArray<Prompt.Message>): Transcript => {
  let calls: Array<TranscriptCall> | undefined
  let callsByMessage: Array<ReadonlyArray<TranscriptCall> | undefined> | undefined
  let requests: Map<string, TranscriptRequest> | undefined
  let responses: Array<readonly [part: Prompt.ToolApprovalResponsePart, index: number]> | undefined
  // The latest call of an id, which a request asks about.
  let open: Map<string, TranscriptCall> | undefined
  // The call of an id or, of an id used again, the calls of each name: a result answers one of them.
  let unanswered: Map<string, TranscriptCall | Map<string, Waiting>> | undefined
  // The latest call of an id that the provider runs.
  let providerCalls: Map<string, ProviderCall> | undefined
  let movedResults: Map<number, Array<Prompt.ToolResultPart>> | undefined
  let callByApproval: Map<string, TranscriptCall> | undefined
  let lastUserIndex = -1
  // The latest message with calls.
  let lastCallsIndex = -1
  let wellFormed = true
  let sentIds: ((id: string) => string) | undefined
  // The local calls that the next message has to answer for the history to be well formed as it stands.
  let due: Array<TranscriptCall> | undefined

  const takeResult = (part: Prompt.ToolResultPart): TranscriptCall | undefined => {
    const assent = part.options?.assent
    const named = isNaming(assent) ? callByApproval?.get(assent.approvalId) : undefined
    if (named !== undefined) {
      if (named.result !== undefined || named.part.id !== part.id) return undefined
      named.result = part
      return named
    }
    const waiting = unanswered?.get(part.id)
    if (waiting === undefined) return undefined
    const call = waiting instanceof Map
      ? answeredBy(waiting.get(part.name), isEarlier(assent), lastCallsIndex)
      : waiting.result === undefined && waiting.part.name === part.name
      ? waiting
      : undefined
    if (call !== undefined) call.result = part
    return call
  }

  for (let index = 0; index < messages.length; index++) {
    const message = messages[index]!
    if (message.role === "tool") {
      assertParts(message.content)
      if (message.content.length === 0) wellFormed = false
      let answered = 0
      for (const part of message.content) {
        if (part.type === "tool-approval-response") {
          wellFormed = false
          if (typeof part.approvalId === "string" && typeof part.approved === "boolean") {
            ;(responses ??= []).push([part, index])
          }
        } else if (part.type === "tool-result") {
          if (part.providerExecuted === true) {
            wellFormed = false
            const call = providerCalls?.get(part.id)
            if (call === undefined || call.result !== undefined) continue
            call.result = part
            const moved = (movedResults ??= new Map()).get(call.messageIndex)
            if (moved === undefined) movedResults.set(call.messageIndex, [part])
            else moved.push(part)
            continue
          }
          const call = takeResult(part)
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
      assertParts(message.content)
      lastUserIndex = index
      continue
    }
    if (message.role === "system") {
      if (typeof message.content !== "string") throw new TypeError("a system message without text")
      continue
    }
    assertParts(message.content)
    if (message.content.length === 0) wellFormed = false
    for (const part of message.content) {
      if (part.type === "tool-call") {
        if (part.providerExecuted === true) {
          ;(providerCalls ??= new Map()).set(part.id, { part, messageIndex: index, result: undefined })
          open?.delete(part.id)
          continue
        }
        const sentId = due === undefined ? part.id : (sentIds ??= uniqueIdsAfter(due))(part.id)
        if (sentId !== part.id) wellFormed = false
        const call: TranscriptCall = { part, messageIndex: index, sentId, requests: none, result: undefined }
        ;(calls ??= []).push(call)
        ;(due ??= []).push(call)
        ;(open ??= new Map()).set(part.id, call)
        const waiting = (unanswered ??= new Map()).get(part.id)
        if (waiting === undefined) unanswered.set(part.id, call)
        else if (waiting instanceof Map) addWaiting(waiting, call)
        else unanswered.set(part.id, addWaiting(addWaiting(new Map(), waiting), call))
        providerCalls?.delete(part.id)
      } else if (part.type === "tool-result") {
        if (part.providerExecuted !== true) {
          wellFormed = false
          takeResult(part)
        } else {
          const call = providerCalls?.get(part.id)
          if (call !== undefined) call.result ??= part
        }
      } else if (part.type === "tool-approval-request") {
        wellFormed = false
        if (typeof part.approvalId !== "string" || requests?.has(part.approvalId)) continue
        const call = open?.get(part.toolCallId)
        const request: TranscriptRequest = {
          part,
          messageIndex: index,
          call,
          providerCall: call === undefined ? providerCalls?.get(part.toolCallId) : undefined,
          toolCall: call?.part ?? providerCalls?.get(part.toolCallId)?.part,
          responses: none,
          answeredAt: undefined
        }
        ;(requests ??= new Map()).set(part.approvalId, request)
        if (call !== undefined) {
          if (call.requests === none) call.requests = [request]
          else call.requests.push(request)
          ;(callByApproval ??= new Map()).set(part.approvalId, call)
        }
      }
    }
    if (due !== undefined) {
      sentIds = undefined
      lastCallsIndex = index
      ;(callsByMessage ??= [])[index] = due
    }
  }
  if (due !== undefined) wellFormed = false
  // Answers are matched last: within one prompt an answer may stand before its request.
  if (responses !== undefined && requests !== undefined) {
    for (const [response, index] of responses) {
      const request = requests.get(response.approvalId)
      if (request === undefined) continue
      if (request.responses === none) request.responses = [response]
      else request.responses.push(response)
      request.answeredAt ??= index
    }
  }
  return {
    messages,
    calls: calls ?? none,
    requests: requests ?? noRequests,
    callsByMessage: callsByMessage ?? none,
    lastUserIndex,
    movedResults: movedResults ?? noMovedResults,
    wellFormed
  }
}

// Messages made by hand may be anything. What is not a message is the caller's mistake, and is said before anything else.
const assertParts = (content: ReadonlyArray<PartLike>): void => {
  if (!Array.isArray(content)) throw new TypeError("a message without parts")
  for (const part of content as ReadonlyArray<PartLike>) {
    const named = part.type === "tool-call" || part.type === "tool-result"
    if (typeof part.type !== "string" || (named && (typeof part.id !== "string" || typeof part.name !== "string"))) {
      throw new TypeError("a part without its type, id or name")
    }
  }
}

interface PartLike {
  readonly type: unknown
  readonly id?: unknown
  readonly name?: unknown
}

/** Gives the second use of an id one of its own. */
export const makeUniqueIds = (): (id: string) => string => {
  const used = new Set<string>()
  const counts = new Map<string, number>()
  return (id) => {
    let unique = id
    let count = counts.get(id) ?? 1
    while (used.has(unique)) unique = `${id}_${++count}`
    counts.set(id, count)
    used.add(unique)
    return unique
  }
}

/** Whether a result names the approval it settles. */
export const isNaming = (assent: unknown): assent is { readonly approvalId: string } =>
  typeof assent === "object" && assent !== null && "approvalId" in assent && typeof assent.approvalId === "string"

const isEarlier = (assent: unknown): boolean => typeof assent === "object" && assent !== null && "earlier" in assent

interface Waiting {
  readonly calls: Array<TranscriptCall>
  /** Every call before it has its result. */
  first: number
}

const addWaiting = (byName: Map<string, Waiting>, call: TranscriptCall): Map<string, Waiting> => {
  const waiting = byName.get(call.part.name)
  if (waiting === undefined) byName.set(call.part.name, { calls: [call], first: 0 })
  else waiting.calls.push(call)
  return byName
}

const answeredBy = (waiting: Waiting | undefined, isEarlier: boolean, lastIndex: number): TranscriptCall | undefined =>
  waiting === undefined ? undefined : isEarlier ? earliest(waiting, lastIndex) : latest(waiting)

const uniqueIdsAfter = (siblings: ReadonlyArray<TranscriptCall>): (id: string) => string => {
  const uniqueId = makeUniqueIds()
  for (const { part } of siblings) uniqueId(part.id)
  return uniqueId
}

const latest = ({ calls }: Waiting): TranscriptCall | undefined => {
  while (calls.length > 0 && calls[calls.length - 1]!.result !== undefined) calls.pop()
  return calls[calls.length - 1]
}

// The earliest of an earlier message than the last, if there is one.
const earliest = (waiting: Waiting, lastIndex: number): TranscriptCall | undefined => {
  while (waiting.calls[waiting.first]?.result !== undefined) waiting.first++
  const call = waiting.calls[waiting.first]
  return call !== undefined && call.messageIndex < lastIndex ? call : latest(waiting)
}

/** Deny wins over approve, in any order; among equals the first wins (law L3). */
export const standingResponse = (
  responses: ReadonlyArray<Prompt.ToolApprovalResponsePart>
): Prompt.ToolApprovalResponsePart | undefined => responses.find((response) => !response.approved) ?? responses[0]

/**
 * Whether the model went on with a new user message before anyone answered: then an answer comes too late for a request
 * that a new message supersedes. For our own requests the journal knows; this is for those of the provider.
 */
export const wasPassedOver = (transcript: Transcript, request: TranscriptRequest): boolean => {
  const end = request.answeredAt ?? transcript.messages.length
  let newMessage = false
  for (let index = request.messageIndex + 1; index < end; index++) {
    const message = transcript.messages[index]!
    if (message.role === "user") newMessage = true
    else if (newMessage && message.role === "assistant" && message.content.some(isContent)) return true
  }
  return false
}

const isContent = (part: Prompt.AssistantMessagePart): boolean => part.type !== "tool-approval-request"
