/** The parts of messages: those that nobody has read yet, which made by hand may be anything, and what they say. */
import type * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"

interface PartLike {
  readonly type: unknown
  readonly id?: unknown
  readonly name?: unknown
}

/** What is not a message is the caller's mistake, and is said before anything else. */
export const assert = (content: ReadonlyArray<PartLike>): void => {
  if (!Array.isArray(content)) throw new TypeError("a message without parts")
  for (const part of content as ReadonlyArray<PartLike>) {
    const named = part.type === "tool-call" || part.type === "tool-result"
    if (typeof part.type !== "string" || (named && (typeof part.id !== "string" || typeof part.name !== "string"))) {
      throw new TypeError("a part without its type, id or name")
    }
  }
}

/** Whether the assistant said something and did nothing else. */
export const areSaid = (content: ReadonlyArray<Prompt.AssistantMessagePart>): boolean =>
  Array.isArray(content) && content.length > 0 && content.every(isSaid)

const isSaid = ({ type }: Prompt.AssistantMessagePart): boolean =>
  type === "text" || type === "reasoning" || type === "file"

/** What the last message of a history says, if the model said it. */
export const lastText = ({ content }: Prompt.Prompt): string => {
  const last = content.at(-1)
  return last?.role === "assistant" ? textOf(last.content) : ""
}

/** What is said after the last call. */
export const textOf = (parts: ReadonlyArray<Response.AnyPart | Prompt.AssistantMessagePart>): string => {
  let text = ""
  for (const part of parts) {
    if (part.type === "text") text += part.text
    else if (part.type === "text-delta") text += part.delta
    else if (part.type === "tool-call" || part.type === "tool-params-start") text = ""
  }
  return text
}
