/** What a message of a conversation is called: by who said it, or else by where it stands. */
import type * as Prompt from "effect/ai/Prompt"
import * as Predicate from "effect/Predicate"

/** The same in every process and on every turn: a history only grows. */
export const messageIdOf = (message: Prompt.Message, position: number): string => {
  const assent: unknown = message.options?.assent
  return Predicate.hasProperty(assent, "messageId") && typeof assent.messageId === "string"
    ? assent.messageId
    : `m${position}`
}
