/**
 * Whether a person has stopped the turn with a denial: then the model is not called before somebody says something new.
 * Whoever wrote that into a history, it only makes less happen, so it needs no proof.
 */
import type * as Prompt from "effect/ai/Prompt"
import * as Answer from "./answer.ts"

/** Whether it was stopped since somebody said something. */
export const isStopped = (messages: ReadonlyArray<Prompt.Message>): boolean => {
  const said = messages.findLastIndex(({ role }) => role === "user")
  return messages.some((message, index) =>
    index > said && message.role !== "system" && message.role !== "user" && message.content.some(stops)
  )
}

const stops = (part: Prompt.AssistantMessagePart | Prompt.ToolMessagePart): boolean =>
  (part.type === "tool-result" || (part.type === "tool-approval-response" && !part.approved)) && Answer.saysStop(part)
