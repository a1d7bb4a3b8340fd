/**
 * Writes what the provider receives (law L7): every local call directly followed by its one result, all results of
 * one assistant message in one tool message, no approval request, and no answer but those the provider asked for.
 *
 * Messages that need no change stay the same objects. Rewritten ones are interned, so that upstream's
 * `ResponseIdTracker` recognises them on the next turn and incremental requests stay incremental.
 */
import * as Prompt from "effect/ai/Prompt"
import * as Equal from "effect/Equal"
import * as Transcript from "./transcript.ts"

export interface Options {
  /** The result of a call that has none in the history; every call must have one by now. */
  readonly resultOf: (call: Transcript.TranscriptCall) => Prompt.ToolResultPart | undefined
  /** Whether a new message supersedes requests that were open, so that an answer after it comes too late (law L6). */
  readonly supersedes: boolean
  /** Whether an approval id is one of ours, which no provider is to see. */
  readonly isOurs: (approvalId: string) => boolean
}

export const write = (
  original: Prompt.Prompt,
  transcript: Transcript.Transcript,
  options: Options
): Prompt.Prompt => {
  if (transcript.wellFormed) return original
  const asked = providerRequests(transcript, options)
  const prompt = writeMessages(transcript, options, asked, noRequests)
  if (asked.size > 0) withRequestsOf.set(prompt, writeMessages(transcript, options, asked, asked))
  return prompt
}

// The provider's own requests that were answered in time. The one answer that stands goes to it, with its reason, at
// its own place (law L9); its own hook gets the request back too. What the policy forbade after all stays forbidden.
const providerRequests = (transcript: Transcript.Transcript, options: Options): Asked => {
  const asked: Map<Prompt.ToolApprovalRequestPart, Answer> = new Map()
  for (const request of transcript.requests.values()) {
    const response = Transcript.standingResponse(request.responses)
    if (request.toolCall?.providerExecuted !== true || response === undefined) continue
    if (options.isOurs(request.part.approvalId)) continue
    if (options.supersedes && Transcript.wasPassedOver(transcript, request)) continue
    const sent = response.approved ? denialOf(request) ?? response : response
    asked.set(request.part, { written: response, sent })
  }
  return asked
}

const denialOf = (
  { part, providerCall }: Transcript.TranscriptRequest
): Prompt.ToolApprovalResponsePart | undefined => {
  const result = providerCall?.result
  return result?.isFailure !== true || !Transcript.isNaming(result.options?.assent)
    ? undefined
    : Prompt.makePart("tool-approval-response", { approvalId: part.approvalId, approved: false })
}

/** An answer as it stands in the history, and as the provider gets it. */
interface Answer {
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

const writeMessages = (
  transcript: Transcript.Transcript,
  { resultOf }: Options,
  asked: Asked,
  kept: Asked
): Prompt.Prompt => {
  const messages: Array<Prompt.Message> = []
  const passing = new Map<Prompt.ToolMessagePart, Prompt.ToolApprovalResponsePart>()
  for (const { sent, written } of asked.values()) passing.set(written, sent)
  const { callsByMessage } = transcript
  for (let index = 0; index < transcript.messages.length; index++) {
    const message = transcript.messages[index]!
    if (message.role === "assistant") {
      const calls = callsByMessage[index]
      const rewritten = assistantMessage(message, calls, transcript.movedResults.get(index), kept)
      if (rewritten === undefined) continue
      messages.push(rewritten)
      if (calls === undefined) continue
      const results: Array<Prompt.ToolResultPart> = []
      for (const call of calls) {
        const result = call.result ?? resultOf(call)
        if (result !== undefined) results.push(sentResult(call, result))
      }
      const following = transcript.messages[index + 1]
      messages.push(
        following?.role === "tool" && holdsExactly(following, results) ? following : resultMessage(message, results)
      )
    } else if (message.role === "tool") {
      const answers = message.content.flatMap((part) => passing.get(part) ?? [])
      if (answers.length === 0) continue
      const unchanged = answers.length === message.content.length &&
        answers.every((part, index) => part === message.content[index])
      messages.push(unchanged ? message : answerMessage(message, answers))
    } else {
      messages.push(message)
    }
  }
  return Prompt.fromMessages(messages)
}

const isLocalResult = (part: { readonly type: string; readonly providerExecuted?: boolean }): boolean =>
  part.type === "tool-result" && part.providerExecuted !== true

// What a message becomes by itself, and what it becomes with parts from elsewhere in the history.
const assistantMessages = new WeakMap<Prompt.AssistantMessage, Prompt.AssistantMessage>()
const completedMessages = new WeakMap<Prompt.AssistantMessage, Prompt.AssistantMessage>()

const assistantMessage = (
  message: Prompt.AssistantMessage,
  calls: ReadonlyArray<Transcript.TranscriptCall> | undefined,
  moved: ReadonlyArray<Prompt.ToolResultPart> | undefined,
  kept: Asked
): Prompt.AssistantMessage | undefined => {
  const pure = kept.size === 0 && moved === undefined
  const interned = pure ? assistantMessages.get(message) : undefined
  if (interned !== undefined) return interned
  const stays = (part: Prompt.AssistantMessagePart) =>
    part.type === "tool-approval-request" ? kept.has(part) : !isLocalResult(part)
  const renamed = renamedCalls(calls)
  const staying = [...message.content.filter(stays), ...moved ?? []]
  if (staying.length === 0) return undefined
  if (staying.length === message.content.length && renamed === undefined && moved === undefined) return message
  const content = renamed === undefined ? staying : staying.map((part) => renamed.get(part) ?? part)
  const before = kept.size === 0 && !pure ? completedMessages.get(message) : undefined
  if (before?.content.length === content.length && before.content.every((part, index) => part === content[index])) {
    return before
  }
  const rewritten = Prompt.makeMessage("assistant", { ...message, content })
  if (pure) assistantMessages.set(message, rewritten)
  else if (kept.size === 0) completedMessages.set(message, rewritten)
  return rewritten
}

const renamedCalls = (
  calls: ReadonlyArray<Transcript.TranscriptCall> | undefined
): ReadonlyMap<Prompt.AssistantMessagePart, Prompt.ToolCallPart> | undefined => {
  let renamed: Map<Prompt.AssistantMessagePart, Prompt.ToolCallPart> | undefined
  for (const { part, sentId } of calls ?? []) {
    if (sentId !== part.id) (renamed ??= new Map()).set(part, { ...part, id: sentId })
  }
  return renamed
}

// A tool whose success is `void` has an undefined result, which no provider takes.
const sentResult = (call: Transcript.TranscriptCall, part: Prompt.ToolResultPart): Prompt.ToolResultPart =>
  part.result !== undefined && part.id === call.sentId
    ? part
    : { ...part, id: call.sentId, result: part.result === undefined ? null : part.result }

const holdsExactly = (message: Prompt.ToolMessage, results: ReadonlyArray<Prompt.ToolResultPart>): boolean =>
  message.content.length === results.length &&
  results.every((result) => message.content.some((part) => part === result))

const resultMessages = new WeakMap<Prompt.AssistantMessage, Prompt.ToolMessage>()

const resultMessage = (
  message: Prompt.AssistantMessage,
  results: ReadonlyArray<Prompt.ToolResultPart>
): Prompt.ToolMessage => {
  const interned = resultMessages.get(message)
  if (interned !== undefined && interned.content.length === results.length) {
    // A result we wrote comes back from the history as another object that says the same.
    if (results.every((result, index) => saysTheSame(interned.content[index]!, result))) return interned
  }
  const written = Prompt.makeMessage("tool", { content: results })
  resultMessages.set(message, written)
  return written
}

const saysTheSame = (left: Prompt.ToolMessagePart, right: Prompt.ToolResultPart): boolean =>
  left === right || (
    left.type === "tool-result" && left.id === right.id && left.name === right.name &&
    left.isFailure === right.isFailure && Equal.equals(left.result, right.result) &&
    Equal.equals(left.modelOutput, right.modelOutput)
  )

const answerMessages = new WeakMap<Prompt.ToolMessage, Prompt.ToolMessage>()

const answerMessage = (
  message: Prompt.ToolMessage,
  answers: ReadonlyArray<Prompt.ToolApprovalResponsePart>
): Prompt.ToolMessage => {
  const interned = answerMessages.get(message)
  if (interned !== undefined && Equal.equals(interned.content, answers)) return interned
  const written = Prompt.makeMessage("tool", { ...message, content: answers })
  answerMessages.set(message, written)
  return written
}
