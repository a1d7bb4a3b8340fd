/**
 * Where the model was cut short. What it had said by then stands in the history, and no provider goes on from there
 * without being told to (law L7).
 */
import * as Prompt from "effect/ai/Prompt"

/** The history with the last message of the assistant marked, if one was added from here on: it is known wherever it is read. */
export const markFrom = (history: Prompt.Prompt, from: number): Prompt.Prompt => {
  const at = history.content.findLastIndex(({ role }) => role === "assistant")
  const message = history.content[at]
  return message?.role !== "assistant" || at < from || isMarked(message)
    ? history
    : Prompt.fromMessages(history.content.with(
      at,
      Prompt.makeMessage("assistant", { ...message, options: { ...message.options, assent: { cut: true } } })
    ))
}

const isMarked = ({ options }: Prompt.AssistantMessage): boolean => {
  const assent: unknown = options?.assent
  return typeof assent === "object" && assent !== null && "cut" in assent && assent.cut === true
}

// Who keeps the history itself, or has upstream's Chat keep it, marks nothing. In this process it is known all the same:
// by the message that the prompt ended with, and then by what was said to it.
const answeredInPart = new WeakSet<Prompt.Message>()
const cut = new WeakSet<Prompt.Message>()
let count = 0

/** How often a message was found to be cut short: when it was another number, it may not have been known of one yet. */
export const found = (): number => count

/** The answer to a prompt was cut short. */
export const note = ({ content }: Prompt.Prompt): void => {
  const last = content.at(-1)
  if (last !== undefined) answeredInPart.add(last)
}

/** A prompt is answered, perhaps once more: what is said to it now is not what was cut short. */
export const begin = ({ content }: Prompt.Prompt): void => {
  recognize(content)
  // Of a turn that came to no word of the model, results and answers may stand behind what it answered.
  for (let at = content.length - 1; at >= 0; at--) {
    const message = content[at]
    if (message === null || message === undefined) return
    answeredInPart.delete(message)
    if (message.role !== "tool") return
  }
}

/**
 * Finds what was said when an answer was cut short: at the end of a history, before the next turn adds to it. Where it
 * stands, or none.
 */
export const recognize = (messages: ReadonlyArray<Prompt.Message | null | undefined>): number | undefined => {
  // It is looked at when nobody has read the messages yet: those made by hand may be anything.
  const at = messages.findLastIndex((message) => message?.role === "assistant")
  for (let before = at - 1; before >= 0; before--) {
    const message = messages[before]
    if (message === null || message === undefined) return undefined
    if (answeredInPart.has(message)) {
      const message = messages[at]!
      if (!cut.has(message)) count++
      cut.add(message)
      return at
    }
    if (message.role !== "tool") return undefined
  }
  return undefined
}

export const isCut = (message: Prompt.AssistantMessage): boolean => cut.has(message) || isMarked(message)

const notes = new WeakMap<Prompt.AssistantMessage, Prompt.UserMessage>()

/** What the model is told where nobody else said anything since. */
export const noteAfter = (message: Prompt.AssistantMessage): Prompt.UserMessage => {
  let note = notes.get(message)
  if (note === undefined) {
    note = Prompt.makeMessage("user", { content: [Prompt.makePart("text", { text })] })
    notes.set(message, note)
  }
  return note
}

const text = "<message-cut>\nThis is not from the user. Your last message was cut before it came to its end; go on.\n" +
  "</message-cut>"
