/**
 * What a page posts, as far as it is believed: the texts and files of a new message, and answers. The rest of what it says happened in
 * the conversation is not read: it is the server's to know.
 */
import { Approval, Prompt } from "@assent/ai"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Files from "./files.ts"

/** What a click on a card cannot say, and the page posts beside it. */
export const Details = Schema.Struct({
  params: Schema.optionalKey(Schema.Json),
  answer: Schema.optionalKey(Schema.Json),
  note: Schema.optionalKey(Schema.String),
  remember: Schema.optionalKey(Schema.Json),
  stop: Schema.optionalKey(Schema.Boolean)
})

/** By the ids of the requests. */
export const DetailsById = Schema.Record(Schema.String, Details)

export type Details = typeof Details.Type

/** An answer as a card has it, with the id that its call has there. */
export interface Clicked {
  readonly approvalId: string
  readonly toolCallId: string
  readonly approved: boolean
  readonly reason: string | undefined
}

/** A message of the user: its texts and files, in their order. */
export interface Said {
  readonly messageId: string
  readonly content: Prompt.UserMessage["content"]
}

/** What was said, for a conversation: a text alone may be the answer to a question. */
export const promptOf = ({ content }: Said): Prompt.RawInput => {
  const texts = content.flatMap((part) => part.type === "text" ? [part.text] : [])
  return texts.length === content.length ? texts.join("\n") : [Prompt.makeMessage("user", { content })]
}

export interface Post {
  readonly id: string
  /** What the user says; `undefined` where the assistant is to go on. */
  readonly said: Said | undefined
  /**
   * What the user said last, where the assistant is to go on: it may never have arrived, because the process died in which it
   * waited for its turn. No more than this one message of a page is ever said.
   */
  readonly unsaid: Said | undefined
  readonly clicked: ReadonlyArray<Clicked>
  readonly details: ReadonlyMap<string, Details>
  /**
   * The message that the client goes on with, and the ids of its calls; `undefined` where it begins a new one. `steps` is how many
   * of the model's responses it has, 0 where it does not say.
   */
  readonly target: {
    readonly messageId: string
    readonly steps: number
    readonly toolCallIds: ReadonlySet<string>
    readonly clicked: ReadonlyArray<Clicked>
  } | undefined
  /** The ids of the messages that the client has. */
  readonly messageIds: ReadonlySet<string>
  /** The client has thrown away the message that it wants anew. */
  readonly isRegenerating: boolean
}

/** What a page posts is no request of this kind. The sentence says what is wrong. */
export class Unreadable {
  readonly sentence: string
  constructor(sentence: string) {
    this.sentence = sentence
  }
}

/** The longest id that a route of effect's router takes as it is. */
export const maxIdLength = 100

/** How many answers are read of one post, the newest first. */
export const maxClicked = 1_000

const maxMessages = 100_000

const maxTextLength = 1_000_000

const Id = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(maxIdLength))

const Message = Schema.Struct({
  id: Schema.String,
  role: Schema.Literals(["system", "user", "assistant"]),
  parts: Schema.Array(Schema.Unknown)
})

type Message = typeof Message.Type

const Envelope = Schema.Struct({
  id: Id,
  messages: Schema.optional(Schema.Array(Message).check(Schema.isMaxLength(maxMessages))),
  // What a page posts that leaves out its history: its transport says so.
  message: Schema.optional(Message),
  trigger: Schema.optional(Schema.Literals(["submit-message", "regenerate-message"])),
  messageId: Schema.optional(Schema.NullOr(Schema.String)),
  details: Schema.optional(DetailsById)
})

const decodeEnvelope = Schema.decodeUnknownEffect(Envelope)

const decodeDetails = Schema.decodeUnknownEffect(DetailsById)

const decodeCall = Schema.decodeUnknownOption(Schema.Struct({ type: Schema.String, toolCallId: Schema.String }))

const decodeText = Schema.decodeUnknownOption(Schema.Struct({ type: Schema.Literal("text"), text: Schema.String }))

const decodeClicked = Schema.decodeUnknownOption(Schema.Struct({
  type: Schema.String,
  toolCallId: Schema.String,
  state: Schema.Literal("approval-responded"),
  approval: Schema.Struct({
    id: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(512)),
    approved: Schema.Boolean,
    reason: Schema.optional(Schema.NullOr(Schema.String))
  })
}))

export const read = (body: unknown): Effect.Effect<Post, Unreadable> =>
  Effect.flatMap(
    Effect.mapError(decodeEnvelope(body), () => unreadable),
    ({ details, id, message, messageId, messages: all, trigger }) => {
      const messages = all ?? (message === undefined ? [] : [message])
      const last = messages.at(-1)
      // Who wants the first message anew has none left.
      if (last === undefined && trigger !== "regenerate-message") return Effect.fail(nothing)
      const target = targetOf(messages, trigger, messageId ?? undefined)
      const isRegenerating = trigger === "regenerate-message"
      // Who wants an answer anew may have said what has never arrived.
      const said = target === undefined && last?.role === "user" && !(isRegenerating && isSilent(last))
        ? saidIn(last)
        : undefined
      if (said !== undefined && Result.isFailure(said)) return Effect.fail(said.failure)
      return Effect.succeed({
        id,
        said: said?.success,
        unsaid: said === undefined ? unsaidIn(messages) : undefined,
        clicked: clickedIn(messages),
        details: new Map(Object.entries(details ?? {})),
        target,
        messageIds: new Set(messages.map(({ id }) => id)),
        isRegenerating
      })
    }
  )

/** What is posted ahead of a click. */
export const readDetails = (body: unknown): Effect.Effect<ReadonlyMap<string, Details>, Unreadable> =>
  Effect.mapBoth(decodeDetails(body), {
    onFailure: () => noDetails,
    onSuccess: (details) => new Map(Object.entries(details))
  })

// As the client finds it.
const targetOf = (messages: ReadonlyArray<Message>, trigger: string | undefined, messageId: string | undefined) => {
  if (trigger === "regenerate-message") return undefined
  const named = messageId === undefined ? undefined : messages.find(({ id }) => id === messageId)
  const message = named ?? messages.at(-1)
  if (message?.role !== "assistant") return undefined
  const toolCallIds = message.parts.flatMap((part) => {
    const call = Option.getOrUndefined(decodeCall(part))
    return call === undefined || !isTool(call.type) ? [] : [call.toolCallId]
  })
  const steps = message.parts.filter((part) => Predicate.hasProperty(part, "type") && part.type === "step-start").length
  return { messageId: message.id, steps, toolCallIds: new Set(toolCallIds), clicked: clickedIn([message]) }
}

const isTool = (type: string): boolean => type.startsWith("tool-") || type === "dynamic-tool"

const isSilent = ({ parts }: Message): boolean => !parts.some((part) => isFile(part) || isTelling(part))

const isFile = (part: unknown): boolean => Predicate.hasProperty(part, "type") && part.type === "file"

const isTelling = (part: unknown): boolean => Option.exists(decodeText(part), ({ text }) => text.trim() !== "")

const saidIn = ({ id: messageId, parts }: Message): Result.Result<Said, Unreadable> =>
  Result.gen(function*() {
    const content: Array<Prompt.UserMessage["content"][number]> = []
    let length = 0
    for (const part of parts) {
      const said = Option.getOrUndefined(decodeText(part))
      if (isFile(part)) {
        content.push(yield* Result.mapError(Files.read(part), (sentence) => new Unreadable(sentence)))
      } else if (said !== undefined && said.text.trim() !== "") {
        content.push(Prompt.makePart("text", { text: said.text }))
        length += said.text.length
      }
    }
    if (content.length === 0) return yield* Result.fail(silent)
    if (length > maxTextLength) return yield* Result.fail(tooLong)
    return { messageId, content }
  })

// What could not be said keeps no answer from counting.
const unsaidIn = (messages: ReadonlyArray<Message>): Said | undefined => {
  const last = messages.findLast(({ role }) => role === "user")
  return last === undefined ? undefined : Result.getOrUndefined(saidIn(last))
}

// Of two answers to one request, the one that says no counts (law L3).
const clickedIn = (messages: ReadonlyArray<Message>): ReadonlyArray<Clicked> => {
  const clicked = new Map<string, Clicked>()
  for (const { parts, role } of messages.toReversed()) {
    if (role !== "assistant") continue
    for (const part of parts) {
      const found = Option.getOrUndefined(decodeClicked(part))
      if (found === undefined || !isTool(found.type) || clicked.size >= maxClicked) continue
      const { approval: { approved, id: approvalId, reason }, toolCallId } = found
      const before = clicked.get(approvalId)
      if (before === undefined || (before.approved && !approved)) {
        clicked.set(approvalId, { approvalId, toolCallId, approved, reason: reason ?? undefined })
      }
    }
  }
  return Array.from(clicked.values())
}

const unreadable = new Unreadable(
  `This is not a message of useChat: it has an id of at most ${maxIdLength} characters, and messages.`
)

const noDetails = new Unreadable("These are no details of clicks, by the ids of their requests.")

const nothing = new Unreadable("There is no message in it.")

const silent = new Unreadable("The message says nothing. Only its texts and files are read.")

const tooLong = new Unreadable(`The message is longer than ${maxTextLength} characters.`)

// =============================================================================
// Answers
// =============================================================================

/** What the reason of a click says where something goes with it that a click cannot say. */
export const withDetails = "assent:with-details"

/** Whether a click says that something goes with it. */
export const isAnnounced = ({ reason }: Clicked): boolean => reason?.startsWith(withDetails) === true

/**
 * What a click decides; `undefined` where it announces what did not arrive: then nothing may run, least of all as it was
 * before somebody changed it.
 */
export const answerOf = (clicked: Clicked, details: Details | undefined): Approval.ApprovalAnswer | undefined => {
  const announced = isAnnounced(clicked)
  if (announced && clicked.approved && details === undefined) return undefined
  const said = announced ? clicked.reason?.slice(withDetails.length).trim() : clicked.reason?.trim()
  const note = details?.note ?? (said === "" ? undefined : said)
  return clicked.approved
    ? new Approval.ApprovalAnswer({
      approvalId: clicked.approvalId,
      decision: new Approval.Approved({
        ...(details?.params === undefined ? undefined : { params: details.params }),
        ...(details?.answer === undefined ? undefined : { answer: details.answer }),
        ...(details?.remember === undefined ? undefined : { remember: details.remember }),
        ...(note === undefined ? undefined : { note })
      })
    })
    : Approval.deny(clicked, note, { remember: details?.remember, stop: details?.stop })
}
