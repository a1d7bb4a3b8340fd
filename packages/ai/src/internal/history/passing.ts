/** What came between a request and its answer, or its end. */
import type * as Prompt from "effect/ai/Prompt"
import type { Transcript, TranscriptRequest } from "./transcript.ts"

/**
 * Whether somebody who changed the history moved the provider's request behind its answer, or behind what its call came to:
 * no provider asks so, and none takes it back.
 */
export const wasMoved = ({ answeredAt, messageIndex, providerCall }: TranscriptRequest): boolean =>
  messageIndex > Math.min(answeredAt ?? Infinity, providerCall?.resultAt ?? Infinity)

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
    else if (newMessage && saysSomething(message)) return true
  }
  return false
}

/** Whether the model says more in it than that it asks. */
export const saysSomething = (message: Prompt.Message): boolean =>
  message.role === "assistant" && message.content.some(isContent)

const isContent = (part: Prompt.AssistantMessagePart): boolean => part.type !== "tool-approval-request"
