/**
 * A history, read in one pass.
 *
 * A call is keyed by its position, never by its id alone, so that ids that repeat never share approvals or results
 * (law L13). A result that names the approval it settles goes to that approval's call; any other result goes to the
 * latest call of its id that has none yet.
 */
import type * as Prompt from "effect/ai/Prompt"
import * as Beginnings from "./beginnings.ts"
import * as Cut from "./cut.ts"
import * as Exchange from "./exchange.ts"
import * as Parts from "./parts.ts"
import { Repeated, uniqueIdsAfter } from "./repeatedIds.ts"
import * as Results from "./results.ts"
import { TextIndex } from "./textIndex.ts"
import type { LateDenial, ProviderCall, Transcript, TranscriptCall, TranscriptRequest } from "./transcriptModel.ts"

export type { LateDenial, ProviderCall, Transcript, TranscriptCall, TranscriptRequest } from "./transcriptModel.ts"

/** A message stands as it is in any case. */
export const stands = 0
/** What becomes of a message has to be found out. */
export const changes = 1
/** A message of a settled exchange, without its approval parts. */
export const settled = 2

// Shared by all that have none of something, so that a long settled history allocates little; never written to.
const none: Array<never> = []
const noMovedResults: ReadonlyMap<number, ReadonlyArray<Prompt.ToolResultPart>> = new Map()
const noToldResults: ReadonlySet<Prompt.AssistantMessagePart> = new Set()

/** Throws a `TypeError` for what is not a message. */
export const read = (messages: ReadonlyArray<Prompt.Message>): Transcript => new Reader(messages, true).read()

/** Reads settled exchanges as closely as everything else, so that nothing is missing of them. */
export const readWhole = (messages: ReadonlyArray<Prompt.Message>): Transcript => new Reader(messages, false).read()

// A class, because what is compiled for the methods of one reader serves the next: closures would be compiled anew.
class Reader {
  private readonly messages: ReadonlyArray<Prompt.Message>
  private readonly settled: Exchange.SettledExchanges | undefined
  private readonly known: Beginnings.Beginning | undefined
  private readonly calls: Array<TranscriptCall> = []
  // The call of an id or, of an id used again, all that is to be known of its uses.
  private readonly callsById = new Map<string, TranscriptCall | Repeated<TranscriptCall>>()
  // The call of the provider's that is the latest of its id.
  private providerCalls: Map<string, ProviderCall> | undefined = undefined
  private readonly requests: Array<TranscriptRequest> = []
  private readonly requestsById = new TextIndex(approvalIdOf)
  // Within one prompt an answer may stand before its request.
  private earlyAnswers: Map<string, Array<Answer>> | undefined = undefined
  private movedResults: Map<number, Array<Prompt.ToolResultPart>> | undefined = undefined
  private toldResults: Set<Prompt.AssistantMessagePart> | undefined = undefined
  private lateDenials: Array<LateDenial> | undefined = undefined
  private lastUserIndex = -1
  // The latest message with calls.
  private lastCallsIndex = -1
  // From here on, calls are to be answered by the next message for the history to be well formed as it stands.
  private firstDue = 0
  private changes: Uint8Array | undefined = undefined

  constructor(messages: ReadonlyArray<Prompt.Message>, passesSettled: boolean) {
    this.messages = messages
    this.known = passesSettled ? Beginnings.find(messages) : undefined
    this.settled = passesSettled ? new Exchange.SettledExchanges(messages, this.known?.exchanges) : undefined
  }

  read(): Transcript {
    const { messages } = this
    for (let index = this.readBeginning(); index < messages.length; index++) {
      const message = messages[index]!
      if (message.role === "tool") {
        this.takeToolMessage(message, index)
        continue
      }
      this.expectNoneDue()
      if (message.role === "assistant") {
        if (this.takeSettled(message, index)) index++
        else this.takeAssistantMessage(message, index)
      } else if (message.role === "user") {
        Parts.assert(message.content)
        this.lastUserIndex = index
      } else if (typeof message.content !== "string") {
        throw new TypeError("a system message without text")
      }
    }
    this.expectNoneDue()
    return {
      messages,
      calls: this.calls,
      hasCalls: this.calls.length > 0 || this.settled?.isEmpty === false,
      allRequests: this.requests,
      requests: this.requests.filter(({ call }) => call?.result === undefined),
      lateDenials: this.lateDenials ?? none,
      lastUserIndex: this.lastUserIndex,
      movedResults: this.movedResults ?? noMovedResults,
      toldResults: this.toldResults ?? noToldResults,
      changes: this.changes
    }
  }

  // Up to where there is anything but texts and settled exchanges, of which nothing else in a history changes what they are.
  private readBeginning(): number {
    const { known, messages, settled } = this
    if (settled === undefined) return 0
    let index = known?.length ?? 0
    if (known !== undefined) {
      this.lastUserIndex = known.lastUserIndex
      if (known.changes !== undefined) this.marks.set(known.changes)
    }
    for (; index < messages.length; index++) {
      const message = messages[index]!
      if (message.role === "user") {
        Parts.assert(message.content)
        this.lastUserIndex = index
      } else if (message.role === "system") {
        if (typeof message.content !== "string") break
      } else if (message.role !== "assistant") {
        break
      } else if (this.takeSettled(message, index)) {
        index++
      } else if (!Parts.areSaid(message.content) || Cut.isCut(message)) {
        break
      }
    }
    if (Beginnings.isNews(known, index)) {
      Beginnings.remember(known, {
        messages,
        length: index,
        exchanges: settled.all(),
        changes: this.changes?.slice(0, index),
        lastUserIndex: this.lastUserIndex,
        cuts: Cut.found()
      })
    }
    return index
  }

  private get marks(): Uint8Array {
    return this.changes ??= new Uint8Array(this.messages.length)
  }

  // An assistant message and the tool message directly after it change together.
  private change(index: number): void {
    const { marks, messages } = this
    marks[index] = changes
    const tool = messages[index]!.role === "tool"
    const other = tool ? index - 1 : index + 1
    if (messages[other]?.role === (tool ? "assistant" : "tool")) marks[other] = changes
  }

  // A request of an id that was asked about before is no new one, and its answer is that one's.
  private asksAgain({ content }: Prompt.AssistantMessage): boolean {
    return this.requests.length > 0 &&
      content.some((part) =>
        part.type === "tool-approval-request" && this.requestsById.get(part.approvalId) !== undefined
      )
  }

  private takeSettled(message: Prompt.AssistantMessage, index: number): boolean {
    const following = this.messages[index + 1]
    if (this.settled === undefined || following?.role !== "tool") return false
    const form = Exchange.formOf(message, following)
    if (form === undefined || (form === "with approvals" && this.asksAgain(message))) return false
    this.settled.add(index)
    this.lastCallsIndex = index
    if (form === "with approvals") {
      const { marks } = this
      marks[index] = settled
      marks[index + 1] = settled
    }
    if (this.providerCalls !== undefined) {
      for (const part of message.content) if (part.type === "tool-call") this.hideProviderCall(part.id)
    }
    return true
  }

  private expectNoneDue(): void {
    if (this.firstDue === this.calls.length) return
    this.change(this.lastCallsIndex)
    this.firstDue = this.calls.length
  }

  private takeToolMessage({ content }: Prompt.ToolMessage, index: number): void {
    Parts.assert(content)
    let answered = 0
    for (const part of content) {
      if (part.type === "tool-approval-response") {
        this.takeResponse(part, index)
      } else if (part.type === "tool-result") {
        if (part.providerExecuted === true) this.takeProviderResult(part, index)
        else if (this.takeResult(part, index)?.messageIndex === index - 1 && part.result !== undefined) answered++
      }
    }
    const due = this.calls.length - this.firstDue
    if (due === 0 || answered !== due || answered !== content.length) this.change(index)
    this.firstDue = this.calls.length
  }

  private takeAssistantMessage(message: Prompt.AssistantMessage, index: number): void {
    const { content } = message
    Parts.assert(content)
    if (content.length === 0 || Cut.isCut(message)) this.change(index)
    let uniqueId: ((id: string) => string) | undefined
    for (const part of content) {
      if (part.type === "tool-call") {
        if (part.providerExecuted === true) {
          // Its id is not ours to change: a local call that has the same gets another, before it or behind it.
          const before = this.calls.findLast((call) => call.messageIndex === index && call.sentId === part.id)
          uniqueId ??= uniqueIdsAfter(this.calls[this.firstDue])
          uniqueId(part.id)
          if (before !== undefined) {
            before.sentId = uniqueId(part.id)
            this.change(index)
          }
          ;(this.providerCalls ??= new Map()).set(part.id, {
            part,
            messageIndex: index,
            result: undefined,
            resultAt: undefined,
            isHidden: false
          })
          continue
        }
        if (this.calls.length > this.firstDue) uniqueId ??= uniqueIdsAfter(this.calls[this.firstDue])
        const sentId = uniqueId === undefined ? part.id : uniqueId(part.id)
        if (sentId !== part.id) this.change(index)
        this.takeCall(part, index, sentId)
      } else if (part.type === "tool-result") {
        if (part.providerExecuted === true) {
          const call = this.providerCalls?.get(part.id)
          if (call !== undefined && call.result === undefined) {
            call.result = part
            call.resultAt = index
          }
          if (isTellingOf(call, part)) {
            ;(this.toldResults ??= new Set()).add(part)
            this.change(index)
          }
        } else {
          this.change(index)
          this.takeResult(part, index)
        }
      } else if (part.type === "tool-approval-request") {
        this.change(index)
        this.takeRequest(part, index)
      }
    }
    if (this.firstDue < this.calls.length) this.lastCallsIndex = index
  }

  private takeCall(part: Prompt.ToolCallPart, messageIndex: number, sentId: string): void {
    const call: TranscriptCall = { part, messageIndex, sentId, requests: none, result: undefined, resultAt: undefined }
    this.calls.push(call)
    const known = this.callsById.get(part.id)
    if (known === undefined) this.callsById.set(part.id, call)
    else if (known instanceof Repeated) known.add(call)
    else this.callsById.set(part.id, new Repeated(known).add(call))
    this.hideProviderCall(part.id)
  }

  private hideProviderCall(id: string): void {
    const call = this.providerCalls?.get(id)
    if (call !== undefined) call.isHidden = true
  }

  private takeRequest(part: Prompt.ToolApprovalRequestPart, messageIndex: number): void {
    if (typeof part.approvalId !== "string") return
    const latest = this.providerCalls?.get(part.toolCallId)
    const providerCall = latest?.isHidden === false ? latest : undefined
    const known = this.requestsById.get(part.approvalId)
    if (known !== undefined && !isAnother(known, providerCall)) return
    if (this.settled?.hasRequest(part.approvalId) === true) return
    const call = providerCall === undefined ? this.askedCall(part.toolCallId, messageIndex) : undefined
    const request = makeRequest(part, messageIndex, call, providerCall)
    this.requests.push(request)
    this.requestsById.set(request)
    for (const answer of this.earlyAnswers?.get(part.approvalId) ?? none) this.answer(request, answer)
  }

  private askedCall(id: string, messageIndex: number): TranscriptCall | undefined {
    const known = this.callsById.get(id)
    const call = known instanceof Repeated ? known.latest : known
    if (call?.messageIndex === messageIndex) return call
    // What has its result is asked about no more: a later request is about one that has begun and waits.
    const waiting = known instanceof Repeated ? known.withoutResult() : call
    if (waiting !== undefined && waiting.result === undefined) return waiting
    const settled = this.settled?.latestCall(id)
    return settled === undefined || (call !== undefined && call.messageIndex > settled.messageIndex)
      ? call
      : asUnread(settled)
  }

  private takeResponse(part: Prompt.ToolApprovalResponsePart, messageIndex: number): void {
    if (typeof part.approvalId !== "string" || typeof part.approved !== "boolean") return
    const answer = { part, messageIndex }
    const request = this.requestsById.get(part.approvalId)
    if (request !== undefined) return this.answer(request, answer)
    const settled = part.approved ? undefined : this.settled?.askedWith(part.approvalId)
    if (settled !== undefined) return this.answerSettled(settled, answer)
    const answers = (this.earlyAnswers ??= new Map()).get(part.approvalId)
    if (answers === undefined) this.earlyAnswers.set(part.approvalId, [answer])
    else answers.push(answer)
  }

  private answerSettled(settled: Exchange.SettledRequests, answer: Answer): void {
    const call = asUnread(settled.call)
    for (const asked of settled.requests) {
      const request = makeRequest(asked, call.messageIndex, call, undefined)
      if (asked.approvalId === answer.part.approvalId) this.answer(request, answer)
    }
  }

  private answer(request: TranscriptRequest, { messageIndex, part }: Answer): void {
    const { call, providerCall } = request
    const isLate = call?.result !== undefined ||
      (providerCall?.resultAt !== undefined && messageIndex > providerCall.resultAt)
    if (isLate || (providerCall !== undefined && isEdit(part))) {
      request.ignored = withOneMore(request.ignored, part)
      if (call !== undefined && !part.approved) (this.lateDenials ??= []).push({ call, at: messageIndex, denial: part })
      return
    }
    request.responses = withOneMore(request.responses, part)
    request.answeredAt ??= messageIndex
  }

  private takeResult(part: Prompt.ToolResultPart, index: number): TranscriptCall | undefined {
    const assent = part.options?.assent
    const request = isNaming(assent) ? this.requestsById.get(assent.approvalId) : undefined
    // A settled call has its result.
    if (isNaming(assent) && request === undefined && this.settled?.hasRequest(assent.approvalId) === true) {
      return undefined
    }
    const named = request?.call
    const known = this.callsById.get(part.id)
    const call = named ??
      (known instanceof Repeated ? known.answeredBy(part, isEarlier(assent), this.lastCallsIndex) : known)
    if (call === undefined || call.part.id !== part.id || call.part.name !== part.name) return undefined
    const { result, resultAt } = call
    if (result !== undefined) {
      if (named === undefined || !replaces(assent, result)) return undefined
      call.replaced = { result, resultAt }
    }
    call.result = part
    call.resultAt = index
    if (isTold(assent) || isUnknown(assent)) this.change(index)
    return result === undefined ? call : undefined
  }

  private takeProviderResult(part: Prompt.ToolResultPart, index: number): void {
    const call = this.providerCalls?.get(part.id)
    if (call === undefined || call.result !== undefined) return
    call.result = part
    call.resultAt = index
    this.change(call.messageIndex)
    if (isTellingOf(call, part)) return
    const moved = (this.movedResults ??= new Map()).get(call.messageIndex)
    if (moved === undefined) this.movedResults.set(call.messageIndex, [part])
    else moved.push(part)
  }
}

/** The latest request of an id. */
export const requestOf = (
  { allRequests }: Pick<Transcript, "allRequests">,
  approvalId: string
): TranscriptRequest | undefined => {
  // Whoever asks may have been given anything.
  if (typeof approvalId !== "string") return undefined
  let index = requestIndexes.get(allRequests)
  if (index === undefined) {
    index = new TextIndex(approvalIdOf)
    for (const request of allRequests) index.set(request)
    requestIndexes.set(allRequests, index)
  }
  return index.get(approvalId)
}

const requestIndexes = new WeakMap<ReadonlyArray<TranscriptRequest>, TextIndex<TranscriptRequest>>()

// Some providers count their requests anew: of another call it is another request, whatever was said to the one before.
const isAnother = (known: TranscriptRequest, providerCall: ProviderCall | undefined): boolean =>
  providerCall !== undefined && known.call === undefined && known.providerCall !== providerCall

// What the provider was never told of, and what is told again of a call that has its result.
const isTellingOf = (call: ProviderCall | undefined, part: Prompt.ToolResultPart): boolean =>
  isNaming(part.options?.assent) &&
  (Results.isHostedSuperseded(part) || (call !== undefined && call.result !== part))

/** Whether somebody was asked in the turn itself, and nobody since: a new message leaves nobody who can answer. */
export const wasAskedInline = ({ requests }: Pick<TranscriptCall, "requests">): boolean =>
  requests.length > 0 && requests.every(({ part }) => isInline(part.options?.assent))

const isInline = (assent: unknown): boolean =>
  typeof assent === "object" && assent !== null && "inline" in assent && assent.inline === true

const makeRequest = (
  part: Prompt.ToolApprovalRequestPart,
  messageIndex: number,
  call: TranscriptCall | undefined,
  providerCall: ProviderCall | undefined
): TranscriptRequest => {
  const toolCall = call?.part ?? providerCall?.part
  const request: TranscriptRequest = {
    part,
    messageIndex,
    call,
    providerCall,
    toolCall,
    responses: none,
    ignored: none,
    answeredAt: undefined
  }
  if (call !== undefined) call.requests = withOneMore(call.requests, request)
  return request
}

const asUnread = (call: Exchange.SettledCall): TranscriptCall => ({
  ...call,
  sentId: call.part.id,
  requests: none,
  resultAt: undefined
})

const withOneMore = <A>(some: Array<A>, one: A): Array<A> => {
  if (some === none) return [one]
  some.push(one)
  return some
}

const approvalIdOf = (request: TranscriptRequest): string => request.part.approvalId

/** Whether a result names the approval it settles. */
export const isNaming = (assent: unknown): assent is { readonly approvalId: string } =>
  typeof assent === "object" && assent !== null && "approvalId" in assent && typeof assent.approvalId === "string"

/** Whether a result says what the model was told in its place. */
export const isTold = (assent: unknown): assent is { readonly told: string; readonly after?: unknown } =>
  typeof assent === "object" && assent !== null && "told" in assent && typeof assent.told === "string"

/** Whether a result says that nobody knew what became of its call, so that it is looked up again. */
export const isUnknown = (assent: unknown): assent is { readonly approvalId: string } =>
  isNaming(assent) && "unknown" in assent && assent.unknown === true

// Whoever knows has said so late.
const replaces = (assent: unknown, { options }: Prompt.ToolResultPart): boolean => {
  const before: unknown = options?.assent
  return isTold(assent) && !isUnknown(assent) && isUnknown(before) && isNaming(assent) &&
    assent.approvalId === before.approvalId
}

const isEarlier = (assent: unknown): boolean => typeof assent === "object" && assent !== null && "earlier" in assent

interface Answer {
  readonly part: Prompt.ToolApprovalResponsePart
  readonly messageIndex: number
}

/** Deny wins over approve, in any order; among equals the first wins (law L3). */
export const standingResponse = (
  responses: ReadonlyArray<Prompt.ToolApprovalResponsePart>
): Prompt.ToolApprovalResponsePart | undefined => responses.find((response) => !response.approved) ?? responses[0]

/** Whether an answer changes the parameters of what it approves. */
export const isEdit = (response: Prompt.ToolApprovalResponsePart): boolean => {
  const assent: unknown = response.options?.assent
  return response.approved && typeof assent === "object" && assent !== null && "params" in assent
}
