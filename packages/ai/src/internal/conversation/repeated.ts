/** What is still open is asked again in each turn; the history has it once, or N answers would leave N × N copies (law L17). */
import type * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"

/** The parts without the requests that stand in the history as they are, with nothing said by a user since. */
export const without = (
  parts: ReadonlyArray<Response.AnyPart>,
  history: Prompt.Prompt
): ReadonlyArray<Response.AnyPart> => {
  if (!parts.some(({ type }) => type === "tool-approval-request")) return parts
  const asked = askedLast(history)
  return parts.filter((part) =>
    part.type !== "tool-approval-request" || !asked.has(part.approvalId) ||
    asked.get(part.approvalId) !== JSON.stringify(part.metadata.assent)
  )
}

const askedLast = ({ content }: Prompt.Prompt): ReadonlyMap<string, string | undefined> => {
  const asked = new Map<string, string | undefined>()
  for (let index = content.length - 1; index >= 0; index--) {
    const message = content[index]!
    if (message.role === "user") break
    if (message.role !== "assistant") continue
    for (const part of message.content) {
      if (part.type !== "tool-approval-request" || asked.has(part.approvalId)) continue
      asked.set(part.approvalId, JSON.stringify(part.options.assent))
    }
  }
  return asked
}
