/**
 * Settled exchanges: an assistant message with calls, and the tool message directly behind it that holds one result for
 * each of them and nothing about any other. What else a history says changes nothing about them, so a long history
 * of them is read without remembering anything but where they are.
 */
import type * as Prompt from "effect/ai/Prompt"

/** The form of two messages that are a settled exchange; `undefined` if they are none, or have to be looked at closely. */
export type Form = "plain" | "with approvals" | undefined

/** Two messages in a row; never throws, whatever they are. */
export const formOf = (assistant: Prompt.AssistantMessage, tool: Prompt.ToolMessage): Form => {
  const asked = assistant.content
  const answered = tool.content
  if (!Array.isArray(asked) || !Array.isArray(answered) || asked.length > maxParts) return undefined
  let calls = 0
  let approvals = false
  for (let index = 0; index < asked.length; index++) {
    const part = asked[index]!
    if (part.type === "tool-call") {
      if (part.providerExecuted === true || typeof part.id !== "string" || typeof part.name !== "string") {
        return undefined
      }
      calls++
    } else if (part.type === "tool-approval-request") {
      if (typeof part.approvalId !== "string" || callOf(asked, part.toolCallId, index) === undefined) return undefined
      approvals = true
    } else if (part.type === "tool-result" || typeof part.type !== "string") {
      return undefined
    }
  }
  if (calls === 0) return undefined
  let results = 0
  for (let index = 0; index < answered.length; index++) {
    const part = answered[index]!
    if (part.type === "tool-result") {
      if (!isOwnResult(asked, part) || (results > 0 && resultOf(answered, part.id, index) !== undefined)) {
        return undefined
      }
      results++
    } else if (part.type === "tool-approval-response") {
      const request = requestOf(asked, part.approvalId)
      if (request === undefined || typeof part.approved !== "boolean") return undefined
      // A denial behind the result has to be looked at.
      if (!part.approved && resultOf(answered, request.toolCallId, index) !== undefined) return undefined
      approvals = true
    } else {
      return undefined
    }
  }
  // Of two calls of one id, one has no result of its own.
  return results !== calls ? undefined : approvals ? "with approvals" : "plain"
}

// More are looked at closely, because each is compared with the others here.
const maxParts = 32

const isOwnResult = (asked: ReadonlyArray<Prompt.AssistantMessagePart>, part: Prompt.ToolResultPart): boolean => {
  // A result of `undefined` has to be rewritten.
  if (part.providerExecuted === true || part.result === undefined) return false
  if (callOf(asked, part.id, asked.length)?.name !== part.name) return false
  const assent: unknown = part.options?.assent
  if (typeof assent !== "object" || assent === null) return true
  // One that came late is told elsewhere, and one that says that nobody knows is looked up again.
  if ("earlier" in assent || "told" in assent || "unknown" in assent) return false
  return !("approvalId" in assent) || typeof assent.approvalId !== "string" ||
    requestOf(asked, assent.approvalId)?.toolCallId === part.id
}

const callOf = (
  parts: ReadonlyArray<Prompt.AssistantMessagePart>,
  id: string,
  end: number
): Prompt.ToolCallPart | undefined => {
  for (let index = 0; index < end && index < parts.length; index++) {
    const part = parts[index]!
    if (part.type === "tool-call" && part.id === id) return part
  }
  return undefined
}

const requestOf = (
  parts: ReadonlyArray<Prompt.AssistantMessagePart>,
  approvalId: string
): Prompt.ToolApprovalRequestPart | undefined => {
  for (const part of parts) if (part.type === "tool-approval-request" && part.approvalId === approvalId) return part
  return undefined
}

/** The result of a call among the first `end` parts of its tool message. */
export const resultOf = (
  parts: ReadonlyArray<Prompt.ToolMessagePart>,
  id: string,
  end: number
): Prompt.ToolResultPart | undefined => {
  for (let index = 0; index < end; index++) {
    const part = parts[index]!
    if (part.type === "tool-result" && part.id === id) return part
  }
  return undefined
}

/** A settled call, found again. */
export interface SettledCall {
  readonly part: Prompt.ToolCallPart
  readonly messageIndex: number
  readonly result: Prompt.ToolResultPart | undefined
}

/** A settled call that was asked about, found again by one of its requests. */
export interface SettledRequests {
  readonly call: SettledCall
  readonly requests: ReadonlyArray<Prompt.ToolApprovalRequestPart>
}

/**
 * Where the settled exchanges of a history are, for the few questions that what is not settled asks about them. The
 * first are answered by looking; only when there are many is an index made.
 */
export class SettledExchanges {
  private readonly messages: ReadonlyArray<Prompt.Message>
  private readonly places: Array<number>
  private looks = 0
  private index: Index | undefined = undefined

  /** Those at the places given are known already. */
  constructor(messages: ReadonlyArray<Prompt.Message>, places: ReadonlyArray<number> = none) {
    this.messages = messages
    this.places = places.slice()
  }

  get isEmpty(): boolean {
    return this.places.length === 0
  }

  /** Where they begin. */
  all(): ReadonlyArray<number> {
    return this.places.slice()
  }

  /** The exchange that begins at an index. */
  add(place: number): void {
    this.places.push(place)
    if (this.index !== undefined) addTo(this.index, this.partsAt(place), place)
  }

  hasRequest(approvalId: string): boolean {
    const index = this.indexed()
    if (index !== undefined) return index.requests.has(approvalId)
    return this.places.some((place) => requestOf(this.partsAt(place), approvalId) !== undefined)
  }

  /** What was asked about the call that a request asks about. */
  askedWith(approvalId: string): SettledRequests | undefined {
    const index = this.indexed()
    const place = index === undefined
      ? this.places.find((place) => requestOf(this.partsAt(place), approvalId) !== undefined)
      : index.requests.get(approvalId)
    if (place === undefined) return undefined
    const parts = this.partsAt(place)
    const id = requestOf(parts, approvalId)?.toolCallId
    const call = id === undefined ? undefined : this.callAt(place, id)
    return call === undefined ? undefined : {
      call,
      requests: parts.flatMap((part) => part.type === "tool-approval-request" && part.toolCallId === id ? [part] : [])
    }
  }

  /** The latest call of an id. */
  latestCall(id: string): SettledCall | undefined {
    const index = this.indexed()
    const place = index === undefined
      ? this.places.findLast((place) => callOf(this.partsAt(place), id, maxParts) !== undefined)
      : index.calls.get(id)
    return place === undefined ? undefined : this.callAt(place, id)
  }

  private callAt(place: number, id: string): SettledCall | undefined {
    const parts = this.partsAt(place)
    const tool = this.messages[place + 1]
    const part = callOf(parts, id, parts.length)
    return part === undefined ? undefined : {
      part,
      messageIndex: place,
      result: tool?.role === "tool" ? resultOf(tool.content, id, tool.content.length) : undefined
    }
  }

  private partsAt(place: number): ReadonlyArray<Prompt.AssistantMessagePart> {
    const message = this.messages[place]
    return message?.role === "assistant" ? message.content : none
  }

  private indexed(): Index | undefined {
    if (this.index !== undefined || ++this.looks <= maxLooks) return this.index
    const index: Index = { calls: new Map(), requests: new Map() }
    for (const place of this.places) addTo(index, this.partsAt(place), place)
    return this.index = index
  }
}

const maxLooks = 8

const none: ReadonlyArray<never> = []

interface Index {
  /** Where the latest call of an id is. */
  readonly calls: Map<string, number>
  /** Where a request is. */
  readonly requests: Map<string, number>
}

const addTo = (index: Index, parts: ReadonlyArray<Prompt.AssistantMessagePart>, place: number): void => {
  for (const part of parts) {
    if (part.type === "tool-call") index.calls.set(part.id, place)
    else if (part.type === "tool-approval-request") index.requests.set(part.approvalId, place)
  }
}
