/**
 * Whether a person has stopped the turn with a denial: then the model is not called before somebody says something new.
 * What has had that effect is marked on the result of the denied call. Whoever wrote it into a history, it only makes less
 * happen, so it needs no proof.
 */
import type * as Prompt from "effect/ai/Prompt"
import * as Answer from "./answer.ts"
import type * as Transcript from "./transcript.ts"

/** Whether one of these answers stops the turn, and nobody has said anything since. */
export const isStoppedBy = (
  transcript: Transcript.Transcript,
  responses: ReadonlyArray<Prompt.ToolApprovalResponsePart>
): boolean =>
  responses.some((response) =>
    !response.approved && Answer.saysStop(response) &&
    sinceUser(transcript).some((message) => message.role === "tool" && message.content.includes(response))
  )

/** Whether it was stopped since somebody said something: a result says so, or what the provider's own request was answered. */
export const isStopped = (transcript: Transcript.Transcript): boolean =>
  sinceUser(transcript).some((message) =>
    (message.role === "tool" || message.role === "assistant") &&
    message.content.some((part) => part.type === "tool-result" && Answer.saysStop(part))
  ) ||
  transcript.requests.some(({ responses, toolCall }) =>
    toolCall?.providerExecuted === true && isStoppedBy(transcript, responses)
  )

const sinceUser = ({ lastUserIndex, messages }: Transcript.Transcript) => messages.slice(lastUserIndex + 1)
