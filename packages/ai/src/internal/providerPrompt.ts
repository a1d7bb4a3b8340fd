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

/** `resultOf` gives the result of a call that has none in the history; every call must have one by now. */
export const write = (
  original: Prompt.Prompt,
  transcript: Transcript.Transcript,
  resultOf: (call: Transcript.TranscriptCall) => Prompt.ToolResultPart | undefined
): Prompt.Prompt => {
  if (transcript.wellFormed) return original
  const asked = providerRequests(transcript)
  const prompt = writeMessages(transcript, resultOf, noRequests)
  if (asked.size > 0) withRequestsOf.set(prompt, writeMessages(transcript, resultOf, asked))
  return prompt
}

// The requests a provider's own hook gets back with their answers (law L9).
const providerRequests = (transcript: Transcript.Transcript): ReadonlySet<string> => {
  const asked = new Set<string>()
  for (const [approvalId, request] of transcript.requests) {
    if (request.toolCall?.providerExecuted === true && request.responses.length > 0) asked.add(approvalId)
  }
  return asked
}

const noRequests: ReadonlySet<string> = new Set()

// A foreign service would run a request it finds answered, even here (law L9), so it gets the prompt without them; the
// hooks of our own `make` find the other one by it.
const withRequestsOf = new WeakMap<Prompt.Prompt, Prompt.Prompt>()

/** The provider's request with the approval requests it asked for back in their places. */
export const withRequests = <Request extends { readonly prompt: Prompt.Prompt }>(request: Request): Request => {
  const prompt = withRequestsOf.get(request.prompt)
  return prompt === undefined ? request : { ...request, prompt }
}

const writeMessages = (
  transcript: Transcript.Transcript,
  resultOf: (call: Transcript.TranscriptCall) => Prompt.ToolResultPart | undefined,
  kept: ReadonlySet<string>
): Prompt.Prompt => {
  const messages: Array<Prompt.Message> = []
  const { callsByMessage, requests } = transcript
  for (let index = 0; index < transcript.messages.length; index++) {
    const message = transcript.messages[index]!
    if (message.role === "assistant") {
      const calls = callsByMessage.get(index)
      const rewritten = assistantMessage(message, calls, kept)
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
      const answers = message.content.filter((part): part is Prompt.ToolApprovalResponsePart =>
        part.type === "tool-approval-response" && isForProvider(requests.get(part.approvalId), part)
      )
      if (answers.length === 0) continue
      messages.push(
        answers.length === message.content.length ? message : answerMessage(message, answers)
      )
    } else {
      messages.push(message)
    }
  }
  return Prompt.fromMessages(messages)
}

// The one answer that stands goes to the provider, with its reason, at its own place (law L9).
const isForProvider = (
  request: Transcript.TranscriptRequest | undefined,
  part: Prompt.ToolApprovalResponsePart
): boolean => request?.toolCall?.providerExecuted === true && Transcript.standingResponse(request.responses) === part

const isLocalResult = (part: { readonly type: string; readonly providerExecuted?: boolean }): boolean =>
  part.type === "tool-result" && part.providerExecuted !== true

const assistantMessages = new WeakMap<Prompt.AssistantMessage, Prompt.AssistantMessage>()

const assistantMessage = (
  message: Prompt.AssistantMessage,
  calls: ReadonlyArray<Transcript.TranscriptCall> | undefined,
  kept: ReadonlySet<string>
): Prompt.AssistantMessage | undefined => {
  const interned = kept.size === 0 ? assistantMessages.get(message) : undefined
  if (interned !== undefined) return interned
  const stays = (part: Prompt.AssistantMessagePart) =>
    part.type === "tool-approval-request" ? kept.has(part.approvalId) : !isLocalResult(part)
  const renamed = calls?.filter((call) => call.sentId !== call.part.id)
  const staying = message.content.filter(stays)
  if (staying.length === 0) return undefined
  if (staying.length === message.content.length && !renamed?.length) return message
  const content = !renamed?.length ? staying : staying.map((part) => {
    const call = renamed.find((call) => call.part === part)
    return call === undefined ? part : { ...call.part, id: call.sentId }
  })
  const rewritten = Prompt.makeMessage("assistant", { ...message, content })
  if (kept.size === 0) assistantMessages.set(message, rewritten)
  return rewritten
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
