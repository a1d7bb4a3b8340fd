/**
 * What OpenAI has of a history already, so that it is told nothing twice.
 *
 * With `previous_response_id` or a conversation it knows everything up to some message. Which one is said by the parts:
 * each names the response and the conversation that it came in.
 */
import type * as Prompt from "effect/ai/Prompt"
import * as Metadata from "../metadata.ts"

/** Where OpenAI goes on from. */
export type Base =
  | { readonly type: "nothing" }
  /** The response that `ResponseIdTracker` found: it is the last message of the assistant. */
  | { readonly type: "last" }
  | { readonly type: "response"; readonly id: string }
  | { readonly type: "conversation"; readonly id: string }

/** The index of the first message that OpenAI does not have. */
export const start = (messages: ReadonlyArray<Prompt.Message>, base: Base): number => {
  if (base.type === "nothing") return 0
  let unnamed = 0
  for (let index = messages.length - 1; index >= 0; index--) {
    const message = messages[index]!
    if (message.role !== "assistant") continue
    if (base.type === "last") return index + 1
    const found = standing(message, base)
    if (found === "known") return index + 1
    // An item that does not say where it belongs, as one written by another provider, is taken to be there.
    if (found === "unnamed" && unnamed === 0) unnamed = index + 1
  }
  return unnamed
}

const standing = (
  message: Prompt.AssistantMessage,
  base: Exclude<Base, { readonly type: "nothing" | "last" }>
): "known" | "unnamed" | "unknown" => {
  const key = base.type === "response" ? "responseId" : "conversationId"
  let unnamed = false
  for (const part of message.content) {
    const fields = Metadata.read(part)
    if (fields[key] === base.id) return "known"
    if (typeof fields["itemId"] === "string" && typeof fields["responseId"] !== "string") unnamed = true
  }
  return unnamed ? "unnamed" : "unknown"
}
