/**
 * How a prompt ends. What a provider gets must not end with the assistant because of what was taken away (law L7): most
 * refuse it, and others go on with a text that was at its end.
 */
import type * as Prompt from "effect/ai/Prompt"
import * as Results from "./results.ts"
import * as Transcript from "./transcript.ts"

type Messages = ReadonlyArray<Prompt.Message>

/** Whether there is nothing for the model to answer. A provider goes on from what it ran itself. */
export const endsWithAssistant = (messages: Messages): boolean => {
  const last = messages.at(-1)
  const end = last?.role === "assistant" ? last.content.at(-1) : undefined
  return end !== undefined && !("providerExecuted" in end && end.providerExecuted === true)
}

/** Whether somebody has begun the assistant's message, for the model to go on with. */
export const isPrefilled = (messages: Messages): boolean => {
  const last = messages.at(-1)
  return last?.role === "assistant" && last.content.some(isSaid)
}

const isSaid = (part: Prompt.AssistantMessagePart): boolean =>
  part.type !== "tool-approval-request" && (part.type !== "tool-result" || part.providerExecuted === true)

/** Whether there is nothing at its end but answers. */
export const endsWithAnswers = (messages: Messages): boolean => {
  let some = false
  for (let at = messages.length - 1; messages[at]?.role === "tool"; at--) {
    const { content } = messages[at] as Prompt.ToolMessage
    if (content.some(({ type }) => type !== "tool-approval-response")) return false
    some ||= content.length > 0
  }
  return some
}

/** An answer that a history ends with, and what is known of its call. */
export interface Answered {
  readonly approvalId: string
  /** What it answers, if that is known. */
  readonly request: Transcript.TranscriptRequest | undefined
  /** `undefined` where there is none, or it is another answer's here. */
  readonly result: Results.ResultPart | undefined
}

/** What was answered at the end, where nothing came of it, and what stands in the history. */
export const answered = (messages: Messages): ReadonlyArray<Answered> => {
  const end = messages.findLastIndex(({ role }) => role !== "tool")
  const ids = new Set(
    messages.slice(end + 1).flatMap(({ content }) =>
      typeof content === "string"
        ? []
        : content.flatMap((part) => part.type === "tool-approval-response" ? [part.approvalId] : [])
    )
  )
  if (ids.size === 0) return []
  const requests = new Map(
    Transcript.readWhole(messages).allRequests.map((request) => [request.part.approvalId, request])
  )
  const told = new Set<Transcript.TranscriptCall | Transcript.ProviderCall>()
  return Array.from(ids, (approvalId) => {
    const request = requests.get(approvalId)
    const call = request?.call ?? request?.providerCall
    if (call?.result === undefined || told.has(call)) return { approvalId, request, result: undefined }
    told.add(call)
    return { approvalId, request, result: Results.recorded(call.result, approvalId) }
  })
}

/** What became of a request that is not open, by the history alone. */
export const stateOf = (
  { call, providerCall }: Transcript.TranscriptRequest
): "answered" | "denied" | "superseded" | "unknown" | "failed" | "done" => {
  const result = (call ?? providerCall)?.result
  if (result === undefined) return "answered"
  if (!result.isFailure) return "done"
  if (Transcript.isUnknown(result.options?.assent)) return "unknown"
  if (Results.isDenied(result)) return "denied"
  return Results.reasonOf(result).reason === Results.supersededReason ? "superseded" : "failed"
}
