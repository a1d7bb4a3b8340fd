/**
 * A message that its sender has named is said once, however often it is sent (`TurnOptions.messageId`). Its id stands in the
 * history: on what the user said, or on the answer that a text was. It is the program's word: what a prompt or a model says
 * of ids is not read.
 */
import * as Prompt from "effect/ai/Prompt"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as ApprovalError from "../../ApprovalError.ts"
import * as Canonical from "../seal/canonical.ts"

const maxLength = 256

/** What a message is called: by who said it, or else by where it stands; the same in every process and on every turn. */
export const messageIdOf = (message: Prompt.Message, position: number): string => {
  const assent: unknown = message.options?.assent
  return Predicate.hasProperty(assent, "messageId") && typeof assent.messageId === "string"
    ? assent.messageId
    : `m${position}`
}

// As `messageIdOf` writes them, so that what somebody calls a message is never where another one stands.
const positional = /^m\d+$/

/** Whether the history has the message of that id, as it is said. Fails where the id is none, or another message has it. */
export const isSaid = (
  { content }: Prompt.Prompt,
  said: string | Prompt.Prompt,
  messageId: string | undefined
): Effect.Effect<boolean, ApprovalError.ApprovalError> =>
  Effect.suspend(() => {
    if (messageId === undefined || (typeof said !== "string" && said.content.length === 0)) return Effect.succeed(false)
    if (!isId(messageId)) return invalid(`its id is not a text of 1 to ${maxLength} characters.`)
    const at = content.findIndex((message, position) => messageIdOf(message, position) === messageId)
    if (at >= 0) {
      return isSame(content[at]!, said) ? Effect.succeed(true) : invalid(
        "another message of the conversation has its id. What was said stays; give what is new an id of its own."
      )
    }
    return positional.test(messageId)
      ? invalid("ids such as \"m7\" are those of messages that nobody named. Give it another one.")
      : Effect.succeed(false)
  })

/** A prompt as it is to be kept: its message of the user is called so, and no other one is called anything. */
export const named = (
  prompt: Prompt.Prompt,
  messageId: string | undefined
): Effect.Effect<Prompt.Prompt, ApprovalError.ApprovalError> => {
  const content = prompt.content.some(isNamed) ? prompt.content.map(unnamed) : prompt.content
  const said = content === prompt.content ? prompt : Prompt.fromMessages(content)
  if (messageId === undefined || content.length === 0) return Effect.succeed(said)
  const at = content.findLastIndex(({ role }) => role === "user")
  const message = content[at]
  return message?.role !== "user"
    ? invalid("it has an id, and no message of the user that could have it.")
    : Effect.succeed(Prompt.fromMessages(content.with(
      at,
      Prompt.makeMessage("user", { ...message, options: withAssent(message.options, { messageId }) })
    )))
}

/** What somebody wrote, and what they call it. */
export interface Written {
  readonly text: string
  readonly messageId: string | undefined
}

/** The message with an answer that somebody's text was: a repeat is known by what they wrote. */
export const answering = (prompt: Prompt.Prompt, { messageId, text }: Written = unwritten): Prompt.Prompt =>
  messageId === undefined ? prompt : Prompt.fromMessages(
    prompt.content.map((message) =>
      message.role !== "tool"
        ? message
        : Prompt.makeMessage("tool", { ...message, options: withAssent(message.options, { messageId, text }) })
    )
  )

/** Whether its sender has called it something, so that it must be known when it comes again. */
export const isNamed = ({ options }: Prompt.Message): boolean => Predicate.hasProperty(options?.assent, "messageId")

// =============================================================================
// Internals
// =============================================================================

const unwritten: Written = { text: "", messageId: undefined }

const isId = (messageId: unknown): boolean =>
  typeof messageId === "string" && messageId.length <= maxLength && Canonical.isWellFormedId(messageId, Infinity)

const withAssent = (
  options: Prompt.Message["options"],
  fields: { readonly messageId: string; readonly text?: string }
) => ({ ...options, assent: { ...assentOf(options), ...fields } })

const assentOf = (options: Prompt.Message["options"]): object | undefined =>
  Predicate.isObject(options?.assent) ? options.assent : undefined

const unnamed = (message: Prompt.Message): Prompt.Message => {
  if (!isNamed(message)) return message
  const { messageId: _, ...assent } = { messageId: undefined, ...assentOf(message.options) }
  // Only the options are others.
  return { ...message, options: { ...message.options, assent } } as Prompt.Message
}

const isSame = (kept: Prompt.Message, said: string | Prompt.Prompt): boolean => {
  if (kept.role === "tool") return typeof said === "string" && isObjectWith(kept.options?.assent, said)
  const message = (typeof said === "string" ? Prompt.make(said) : said).content.findLast(isUsers)
  return message !== undefined && isUsers(kept) && Equal.equals(encodingOf(message), encodingOf(kept))
}

const isObjectWith = (assent: unknown, text: string): boolean =>
  Predicate.hasProperty(assent, "text") && assent.text === text

const isUsers = (message: Prompt.Message): message is Prompt.UserMessage => message.role === "user"

const encode = Schema.encodeUnknownResult(Schema.toCodecJson(Prompt.UserMessage))

// What it says, and not what is beside it: that may come from elsewhere.
const encodingOf = ({ content }: Prompt.UserMessage) =>
  Result.getOrUndefined(encode(Prompt.makeMessage("user", { content })))

const invalid = (description: string) =>
  Effect.fail(ApprovalError.make(new ApprovalError.InvalidPrompt({ description })))
