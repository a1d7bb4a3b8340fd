/** What was said, as messages that a history keeps: of a response that did not come to its end, too. */
import * as Prompt from "effect/ai/Prompt"
import * as Response from "effect/ai/Response"
import * as Prompts from "../../Prompt.ts"
import * as Bounded from "./bounded.ts"
import * as Results from "./results.ts"

export const messages = (parts: ReadonlyArray<Response.AnyPart>): ReadonlyArray<Prompt.Message> => {
  const whole = [...parts, ...missingEnds(parts)].map(keepable)
  const said = Bounded.prompt(Prompts.fromResponseParts(whole), Number.POSITIVE_INFINITY)
  return said.content.flatMap(withoutEmptyTexts)
}

// A history has texts that came to their end alone. Reasoning that did not is none: providers sign it at its end.
const missingEnds = (parts: ReadonlyArray<Response.AnyPart>): ReadonlyArray<Response.AnyPart> => {
  const open = new Map<string, Response.AnyPart>()
  for (const part of parts) {
    if (part.type === "text-start") open.set(part.id, Response.makePart("text-end", { id: part.id }))
    else if (part.type === "text-end") open.delete(part.id)
  }
  return Array.from(open.values())
}

// As the record has it, so that what the model was sent is what it will be sent in another process.
const keepable = (part: Response.AnyPart): Response.AnyPart => {
  if (part.type !== "tool-result") return part
  const { encodedResult, ...sent } = Results.sendable(part, Number.POSITIVE_INFINITY)
  return { ...part, ...sent, encodedResult: encodedResult === undefined ? null : encodedResult }
}

// No provider takes a text of nothing, and one that began when its reader left is one.
const withoutEmptyTexts = (message: Prompt.Message): ReadonlyArray<Prompt.Message> => {
  if (message.role !== "assistant") return [message]
  const content = message.content.filter((part) => part.type !== "text" || part.text !== "")
  if (content.length === message.content.length) return [message]
  return content.length === 0 ? [] : [Prompt.makeMessage("assistant", { ...message, content })]
}
