/** The parts of messages that nobody has read yet: those made by hand may be anything. */
import type * as Prompt from "effect/ai/Prompt"

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
