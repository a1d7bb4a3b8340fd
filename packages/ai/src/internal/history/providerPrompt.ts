/**
 * Writes what the provider receives (law L7): every local call directly followed by its one result, all results of
 * one assistant message in one tool message, no approval request, and no answer but those the provider asked for. Where
 * nobody says anything, notes tell what came late and what was cut short.
 *
 * Messages that need no change stay the same objects. Rewritten ones are interned, so that upstream's
 * `ResponseIdTracker` recognises them on the next turn and incremental requests stay incremental.
 */
import * as Prompt from "effect/ai/Prompt"
import * as Equal from "effect/Equal"
import * as HistoryAnswer from "./answer.ts"
import * as Cut from "./cut.ts"
import * as Exchange from "./exchange.ts"
import * as Late from "./late.ts"
import * as Passing from "./passing.ts"
import * as Results from "./results.ts"
import * as Transcript from "./transcript.ts"

export interface Options {
  /**
   * The result of a call that has none in the history; every call must have one by now. Of one that nobody knew the result
   * of, what is known since.
   */
  readonly resultOf: (call: Transcript.TranscriptCall) => Prompt.ToolResultPart | undefined
  /** Whether a new message supersedes requests that were open, so that an answer after it comes too late (law L6). */
  readonly supersedes: boolean
  /** Whether an approval id is one of ours, or anybody's but the provider's, which no provider is to see. */
  readonly isOurs: (approvalId: string) => boolean
  /** Whether an answer settles nothing, so that no provider is to see it. */
  readonly isRefused?: (response: Prompt.ToolApprovalResponsePart) => boolean
}

export const write = (
  original: Prompt.Prompt,
  transcript: Transcript.Transcript,
  options: Options
): Prompt.Prompt => {
  const { changes } = transcript
  if (changes === undefined) return original
  const asked = providerRequests(transcript, options)
  const late = Late.read(transcript, options.resultOf)
  const writer = new Writer(transcript, options, asked, { late })
  const prompt = writer.write(changes)
  if (asked.size > 0) {
    withRequestsOf.set(prompt, new Writer(transcript, options, asked, { late, kept: asked }).write(changes))
  }
  if (writer.hasNotes) withoutNotesOf.set(prompt, new Writer(transcript, options, asked, {}).write(changes))
  return prompt
}

const withoutNotesOf = new WeakMap<Prompt.Prompt, Prompt.Prompt>()

/**
 * What policies are shown of a prompt that was written here: every result stands in its place, and there are no notes,
 * which would read as if the user had said them.
 */
export const shown = (prompt: Prompt.Prompt): Prompt.Prompt => withoutNotesOf.get(prompt) ?? prompt

// The provider's own requests that were answered in time. The one answer that stands goes to it, with its reason, at
// its own place (law L9); its own hook gets the request back too. What the policy forbade after all stays forbidden.
const providerRequests = (transcript: Transcript.Transcript, options: Options): Asked => {
  const asked: Map<Prompt.ToolApprovalRequestPart, Answer> = new Map()
  for (const request of transcript.requests) {
    if (request.toolCall?.providerExecuted !== true) continue
    const responses = request.responses.filter((response) => options.isRefused?.(response) !== true)
    const response = Transcript.standingResponse(responses)
    if (response === undefined) continue
    if (options.isOurs(request.part.approvalId)) continue
    if (Passing.wasMoved(request)) continue
    if (options.supersedes && Passing.wasPassedOver(transcript, request)) continue
    const sent = response.approved ? denialOf(request) ?? response : response
    asked.set(request.part, { request: request.part, written: response, sent: HistoryAnswer.toProvider(sent) })
  }
  return asked
}

const denialOf = (
  { part, providerCall }: Transcript.TranscriptRequest
): Prompt.ToolApprovalResponsePart | undefined => {
  const result = providerCall?.result
  if (result?.isFailure !== true || !Transcript.isNaming(result.options?.assent)) return undefined
  return Prompt.makePart("tool-approval-response", {
    approvalId: part.approvalId,
    approved: false,
    ...Results.reasonOf(result)
  })
}

/** An answer as it stands in the history, and as the provider gets it. */
interface Answer {
  readonly request: Prompt.ToolApprovalRequestPart
  readonly written: Prompt.ToolApprovalResponsePart
  readonly sent: Prompt.ToolApprovalResponsePart
}

type Asked = ReadonlyMap<Prompt.ToolApprovalRequestPart, Answer>

const noRequests: Asked = new Map()

// A foreign service would run a request it finds answered, even here (law L9), so it gets the prompt without them; the
// hooks of our own `make` find the other one by it.
const withRequestsOf = new WeakMap<Prompt.Prompt, Prompt.Prompt>()

/** A prompt that one of our engines wrote, as another one around it should read it: with the provider's requests. */
export const asRead = (prompt: Prompt.Prompt): Prompt.Prompt => withRequestsOf.get(prompt) ?? prompt

/** The provider's request with the approval requests it asked for back in their places. */
export const withRequests = <Request extends { readonly prompt: Prompt.Prompt }>(request: Request): Request => {
  const prompt = withRequestsOf.get(request.prompt)
  return prompt === undefined ? request : { ...request, prompt }
}

// A class, as the transcript's reader is.
class Writer {
  private readonly transcript: Transcript.Transcript
  private readonly resultOf: Options["resultOf"]
  private readonly passing: ReadonlyMap<Prompt.ToolMessagePart, Answer>
  private readonly kept: Asked
  private readonly late: ReturnType<typeof Late.read> | undefined
  // What our own hooks see has the requests back; only what every provider sees has to be the same objects each time.
  private readonly interns: boolean
  private readonly run = new Run()
  private readonly written: Array<Prompt.Message> = []
  // What was written last, if it was cut short.
  private cut: Prompt.AssistantMessage | undefined = undefined
  hasNotes: boolean

  constructor(
    transcript: Transcript.Transcript,
    options: Options,
    asked: Asked,
    { kept = noRequests, late }: { readonly kept?: Asked; readonly late?: ReturnType<typeof Late.read> }
  ) {
    this.transcript = transcript
    this.resultOf = options.resultOf
    this.passing = new Map(Array.from(asked.values(), (answer) => [answer.written, answer]))
    this.kept = kept
    this.late = late
    this.hasNotes = late !== undefined && late.size > 0
    this.interns = late !== undefined && kept.size === 0
  }

  write(changes: Uint8Array): Prompt.Prompt {
    const { calls, messages } = this.transcript
    let next = 0
    for (let index = 0; index < messages.length; index++) {
      const message = messages[index]!
      this.writeNotes(index, message)
      if (changes[index] === Transcript.stands) {
        this.written.push(message)
      } else if (changes[index] === Transcript.settled) {
        if (message.role === "assistant") this.writeSettled(message, messages[index + 1])
      } else if (message.role === "assistant") {
        while (next < calls.length && calls[next]!.messageIndex < index) next++
        const first = next
        while (next < calls.length && calls[next]!.messageIndex === index) next++
        this.writeAssistant(message, index, first === next ? none : calls.slice(first, next))
      } else if (message.role === "tool") {
        this.writeAnswers(message)
      } else {
        this.written.push(message)
      }
    }
    this.writeNotes(messages.length, undefined)
    return Prompt.fromMessages(this.written)
  }

  // What the model is told where nobody says anything: what came late, and that it was cut short.
  private writeNotes(index: number, next: Prompt.Message | undefined): void {
    if (this.late === undefined) return
    const late = this.late.size === 0 ? undefined : this.late.get(index)
    if (late !== undefined) this.written.push(Late.note(late))
    const { cut } = this
    if (cut === undefined || (late === undefined && next?.role === "tool")) return
    this.cut = undefined
    if (late !== undefined || (next !== undefined && next.role !== "assistant")) return
    this.hasNotes = true
    this.written.push(Cut.noteAfter(cut))
  }

  // A settled exchange, without its approval parts.
  private writeSettled(message: Prompt.AssistantMessage, following: Prompt.Message | undefined): void {
    const before = this.run.next(message)
    this.written.push(before.alone ??= withoutRequests(message))
    if (following?.role !== "tool") return
    if (following !== before.following) {
      before.results = following.content.some(isResponse)
        ? resultsMessage(before, settledResults(message.content, following.content))
        : following
      before.following = following
    }
    this.written.push(before.results!)
  }

  private writeAssistant(
    message: Prompt.AssistantMessage,
    index: number,
    calls: ReadonlyArray<Transcript.TranscriptCall>
  ): void {
    const { messages, movedResults } = this.transcript
    const before = writtenOf(message)
    const sent = this.assistantMessage(message, calls, movedResults.get(index) ?? none, before)
    if (sent.content.length === 0) return
    this.written.push(sent)
    if (calls.length === 0 && Cut.isCut(message)) this.cut = message
    if (calls.length > 0) this.written.push(this.resultMessage(calls, messages[index + 1], before))
  }

  private assistantMessage(
    message: Prompt.AssistantMessage,
    calls: ReadonlyArray<Transcript.TranscriptCall>,
    moved: ReadonlyArray<Prompt.ToolResultPart>,
    before: Written
  ): Prompt.AssistantMessage {
    const alone = this.interns && before.alone !== undefined ? before.alone : this.aloneMessage(message, calls, before)
    if (moved.length === 0) return alone
    const content = [...alone.content, ...moved]
    if (!this.interns) return { ...message, content }
    return before.completed !== undefined && isSame(before.completed.content, content)
      ? before.completed
      : before.completed = { ...message, content }
  }

  private aloneMessage(
    message: Prompt.AssistantMessage,
    calls: ReadonlyArray<Transcript.TranscriptCall>,
    before: Written
  ): Prompt.AssistantMessage {
    const kept = staying(message.content, (part) => this.stays(part))
    if (kept === message.content && calls.every(keepsId)) return message
    const renamed = renamedCalls(calls)
    const content = renamed === undefined ? kept : kept.map((part) => renamed.get(part) ?? part)
    const alone = { ...message, content }
    if (this.interns) before.alone = alone
    return alone
  }

  private stays(part: Prompt.AssistantMessagePart): boolean {
    return part.type === "tool-approval-request"
      ? this.kept.has(part)
      : part.type !== "tool-result" || (part.providerExecuted === true && !this.transcript.toldResults.has(part))
  }

  private resultMessage(
    calls: ReadonlyArray<Transcript.TranscriptCall>,
    following: Prompt.Message | undefined,
    before: Written
  ): Prompt.ToolMessage {
    const sent = calls.map(this.sentResult, this)
    const results = sent.every(isThere) ? sent : sent.filter(isThere)
    if (following?.role === "tool" && holdsExactly(following, results)) return following
    const written = resultsMessage(before, results)
    if (this.interns) before.results = written
    return written
  }

  // A tool whose success is `void` has an undefined result, which no provider takes.
  private sentResult(call: Transcript.TranscriptCall): Prompt.ToolResultPart | undefined {
    const last = this.resultOf(call) ?? call.result
    const part = this.late === undefined ? last : Late.inPlace(call, last)
    return part === undefined || (part.result !== undefined && part.id === call.sentId)
      ? part
      : { ...part, id: call.sentId, result: part.result === undefined ? null : part.result }
  }

  private writeAnswers(message: Prompt.ToolMessage): void {
    if (this.passing.size === 0) return
    const answers = message.content.flatMap((part) => this.passing.get(part) ?? [])
    if (answers.length === 0) return
    this.cut = undefined
    this.written.push(answerMessage(message, answers))
  }
}

const none: ReadonlyArray<never> = []

/** What was made of a message before, so that it is sent again as the same objects. */
interface Written {
  readonly message: Prompt.AssistantMessage
  /** What it becomes by itself. */
  alone: Prompt.AssistantMessage | undefined
  /** What it becomes with parts from elsewhere in the history. */
  completed: Prompt.AssistantMessage | undefined
  /** The results of its calls. */
  results: Prompt.ToolMessage | undefined
  /** The message they were read from, if it is a settled exchange. */
  following: Prompt.ToolMessage | undefined
}

const writtenBefore = new WeakMap<Prompt.AssistantMessage, Written>()

const makeWritten = (message: Prompt.AssistantMessage): Written => ({
  message,
  alone: undefined,
  completed: undefined,
  results: undefined,
  following: undefined
})

const writtenOf = (message: Prompt.AssistantMessage): Written => {
  let written = writtenBefore.get(message)
  if (written === undefined) {
    written = makeWritten(message)
    writtenBefore.set(message, written)
  }
  return written
}

/**
 * Settled exchanges are remembered in runs, by the first of each: an entry in a weak map for every one of them would
 * take longer than all else that writing a long history does. A run is short, because it lives as long as its first.
 */
class Run {
  private known: ReadonlyArray<Written> = none
  private place = 0
  private made: Array<Written> | undefined = undefined

  next(message: Prompt.AssistantMessage): Written {
    const expected = this.known[this.place]
    if (expected?.message === message) {
      this.place++
      return expected
    }
    const known = runs.get(message)
    if (known !== undefined) {
      this.known = known
      this.place = 1
      this.made = undefined
      return known[0]!
    }
    this.known = none
    const written = writtenBefore.get(message) ?? makeWritten(message)
    if (this.made !== undefined && this.made.length < maxRun) {
      this.made.push(written)
    } else {
      this.made = [written]
      runs.set(message, this.made)
    }
    return written
  }
}

const maxRun = 32

const runs = new WeakMap<Prompt.AssistantMessage, ReadonlyArray<Written>>()

const isSame = <A>(left: ReadonlyArray<A>, right: ReadonlyArray<A>): boolean =>
  left.length === right.length && left.every((one, index) => one === right[index])

const keepsId = ({ part, sentId }: Transcript.TranscriptCall): boolean => sentId === part.id

const renamedCalls = (
  calls: ReadonlyArray<Transcript.TranscriptCall>
): ReadonlyMap<Prompt.AssistantMessagePart, Prompt.ToolCallPart> | undefined =>
  calls.every(keepsId)
    ? undefined
    : new Map(calls.filter((call) => !keepsId(call)).map(({ part, sentId }) => [part, { ...part, id: sentId }]))

const withoutRequests = (message: Prompt.AssistantMessage): Prompt.AssistantMessage => {
  const content = staying(message.content, isNoRequest)
  return content === message.content ? message : { ...message, content }
}

// Not `filter`, which makes arrays with room for more: these live as long as the history.
function staying<A, B extends A>(content: ReadonlyArray<A>, stays: (part: A) => part is B): ReadonlyArray<B>
function staying<A>(content: ReadonlyArray<A>, stays: (part: A) => boolean): ReadonlyArray<A>
function staying<A>(content: ReadonlyArray<A>, stays: (part: A) => boolean): ReadonlyArray<A> {
  let count = 0
  for (const part of content) if (stays(part)) count++
  if (count === content.length) return content
  const kept = new Array<A>(count)
  let next = 0
  for (const part of content) if (stays(part)) kept[next++] = part
  return kept
}

const isNoRequest = ({ type }: Prompt.AssistantMessagePart): boolean => type !== "tool-approval-request"

const isResponse = ({ type }: Prompt.ToolMessagePart): boolean => type === "tool-approval-response"

// In the order of their calls.
const settledResults = (
  asked: ReadonlyArray<Prompt.AssistantMessagePart>,
  answered: ReadonlyArray<Prompt.ToolMessagePart>
): ReadonlyArray<Prompt.ToolResultPart> => {
  const kept = staying(answered, isResult)
  if (kept.length === 1) return kept
  return asked.flatMap((part) => part.type === "tool-call" ? Exchange.resultOf(kept, part.id, kept.length) ?? [] : [])
}

// A result we wrote comes back from the history as another object that says the same.
const resultsMessage = (before: Written, results: ReadonlyArray<Prompt.ToolResultPart>): Prompt.ToolMessage =>
  before.results !== undefined && saySame(before.results.content, results)
    ? before.results
    : { ...emptyToolMessage, content: results }

// All others are made of it: to copy is faster than to make, and what nobody may change need not be there twice.
const emptyToolMessage = Prompt.makeMessage("tool", { content: [] })

const isThere = (part: Prompt.ToolResultPart | undefined): part is Prompt.ToolResultPart => part !== undefined

const isResult = (part: Prompt.ToolMessagePart): part is Prompt.ToolResultPart => part.type === "tool-result"

const holdsExactly = ({ content }: Prompt.ToolMessage, results: ReadonlyArray<Prompt.ToolResultPart>): boolean =>
  content.length === results.length &&
  results.every((result, index) => content[index] === result || content.includes(result))

const saySame = (
  before: ReadonlyArray<Prompt.ToolMessagePart>,
  results: ReadonlyArray<Prompt.ToolResultPart>
): boolean => before.length === results.length && results.every((result, index) => saysTheSame(before[index]!, result))

const saysTheSame = (left: Prompt.ToolMessagePart, right: Prompt.ToolResultPart): boolean =>
  left === right || (
    left.type === "tool-result" && left.id === right.id && left.name === right.name &&
    left.isFailure === right.isFailure && Equal.equals(left.result, right.result) &&
    Equal.equals(left.modelOutput, right.modelOutput)
  )

// By the first request they answer: an answer that was given here stands in the history later, in another message. Of
// histories that share a beginning, one may have a yes where the other has a no.
const answerMessages = new WeakMap<Prompt.ToolApprovalRequestPart, ReadonlyArray<Prompt.ToolMessage>>()

const maxAnswerMessages = 4

const answerMessage = (message: Prompt.ToolMessage, answers: ReadonlyArray<Answer>): Prompt.ToolMessage => {
  const { request } = answers[0]!
  const content = answers.map(({ sent }) => sent)
  const before = answerMessages.get(request) ?? none
  const isAlone = isSame(message.content, content)
  const interned = isAlone ? undefined : before.find((one) => saySameAnswers(one, message, content))
  if (interned !== undefined) return interned
  const written = isAlone ? message : Prompt.makeMessage("tool", { ...message, content })
  if (!before.includes(written)) answerMessages.set(request, [written, ...before.slice(0, maxAnswerMessages - 1)])
  return written
}

const saySameAnswers = (
  interned: Prompt.ToolMessage,
  { options }: Prompt.ToolMessage,
  content: ReadonlyArray<Prompt.ToolApprovalResponsePart>
): boolean => Equal.equals(interned.options, options) && Equal.equals(interned.content, content)
