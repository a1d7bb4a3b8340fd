/** What a post leads to: a turn of the conversation in which what was answered is decided, and what was said is said. */
import { Approval, ApprovalError, ConversationStore, Interaction, Prompt } from "@assent/ai"
import type { Approver, Conversation as Engine } from "@assent/ai"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Body from "../wire/body.ts"
import * as Calls from "../wire/calls.ts"
import * as Messages from "../wire/messages.ts"
import type { UiMessage } from "../wire/model.ts"
import * as Sentences from "../wire/sentences.ts"
import type { Conversation, Turn } from "./conversation.ts"

export interface Input {
  readonly conversation: Conversation
  /** What was posted; its answers are read already. */
  readonly post: Pick<Body.Post, "clicked" | "messageIds" | "said" | "unsaid">
  readonly answers: ReadonlyArray<Approval.ApprovalAnswer>
  /** Why what was clicked is no answer, by the ids of the requests. */
  readonly withheld: ReadonlyMap<string, string>
  readonly by: Approver.Person | undefined
}

/** A turn, and the message of a page that it goes on with. */
export interface Taken {
  /** `undefined` where there is nothing to take one for. */
  readonly turn: Turn | undefined
  readonly messageId: string | undefined
  /** What the message had said before the turn; `undefined` for a new one. */
  readonly before: UiMessage | undefined
  /** It begins with what a page has just said, to which nothing was said before. */
  readonly isAnew: boolean
  /** The message of which `calls` are: the one above what was said late, where a page reads on. */
  readonly calledIn: string | undefined
  readonly calls: Calls.Calls
  /** What was asked here, by every id under which that was. */
  readonly cards: ReadonlyMap<string, Messages.Card>
  /** Why an answer does not count, by the id of its request. */
  readonly told: ReadonlyArray<readonly [approvalId: string, reason: string]>
}

export interface Read {
  readonly messages: Messages.Messages
  readonly isTurnTaken: boolean
  /** What became of requests, where the history does not have it. */
  readonly states: ReadonlyMap<string, Engine.RequestState>
}

/** The conversation as a page has it after a reload. */
export const read = Effect.fnUntraced(function*(conversation: Conversation): Effect.fn.Return<Read, unknown> {
  const { isTurnTaken, messages, pending } = yield* conversation.read
  const shown = Messages.make(messages, pending)
  const states = new Map<string, Engine.RequestState>()
  // What nobody goes on with may have come to an end that the history does not have.
  if (isTurnTaken || shown.unsettled.length === 0) return { messages: shown, isTurnTaken, states }
  for (const approvalId of shown.unsettled) {
    const state = yield* conversation.stateOf(approvalId)
    if (state !== undefined) states.set(approvalId, state)
  }
  return { messages: Messages.make(messages, pending, states), isTurnTaken, states }
})

/** For whoever reads a turn from its beginning. */
export const follow = Effect.fnUntraced(function*(
  conversation: Conversation,
  turn: Turn | undefined,
  told: Taken["told"] = [],
  saying: Saying = nothing
): Effect.fn.Return<Taken, unknown> {
  if (turn === undefined) {
    const { cards, current } = (yield* read(conversation)).messages
    const messageId = current?.message.id
    const calls = current?.calls ?? Calls.make()
    return { turn, messageId, before: current?.message, isAnew: false, calledIn: messageId, calls, cards, told }
  }
  const { messages, pending } = yield* conversation.read
  const from = messages.findIndex(({ id }) => id === turn.messageId)
  const before = from < 0 ? messages : messages.slice(0, from)
  const { cards, current } = Messages.make(before, pending)
  const isAnew = saying.messageId !== undefined && before.at(-1)?.id === saying.messageId
  // On the page it stands above the message that it reads on.
  const above = isAnew && saying.isLate ? Messages.make(before.slice(0, -1), pending).current : current
  return {
    turn,
    messageId: current?.message.id ?? turn.messageId,
    before: current?.message,
    isAnew,
    calledIn: above?.message.id ?? turn.messageId,
    calls: above?.calls ?? Calls.make(),
    cards,
    told
  }
})

/** What is said in a turn. */
interface Saying {
  readonly prompt: Prompt.RawInput
  readonly messageId: string | undefined
  /** It should have been said in an earlier one. */
  readonly isLate: boolean
}

const nothing: Saying = { prompt: [], messageId: undefined, isLate: false }

/** Takes a turn. It may wait for others, so it does not belong to a request. */
export const take = Effect.fnUntraced(function*(input: Input): Effect.fn.Return<Taken, unknown> {
  const { conversation, post } = input
  const { said } = post
  const going = yield* waitFor(conversation, said)
  if (going !== undefined) return yield* follow(conversation, going)
  const before = yield* read(conversation)
  const { messages } = before
  if (said !== undefined && !Messages.has(messages, said)) {
    return yield* begin(input, before, {
      prompt: Body.promptOf(said),
      messageId: Messages.nameFor(messages, said),
      isLate: false
    })
  }
  const unsaid = unsaidIn(post, messages)
  if (unsaid === undefined) return yield* begin(input, before, nothing)
  // Written before what has been asked since, so that it answers nothing of that.
  const prompt = [Prompt.makeMessage("user", { content: unsaid.content })]
  const late = begin(input, before, { prompt, messageId: Messages.nameFor(messages, unsaid), isLate: true })
  return yield* Effect.catchIf(late, isUnsayable, () => begin(input, before, nothing))
})

// What is not the page of this conversation has nothing to say in it: one that was removed does not come back so.
const unsaidIn = ({ clicked, messageIds, unsaid }: Input["post"], before: Messages.Messages) => {
  const isOfHere = clicked.length > 0
    ? clicked.some(({ approvalId }) => before.cards.has(approvalId))
    : before.messages.some(({ id, role }) => role === "assistant" && messageIds.has(id))
  // What a page has changed since it was said is no news, nor what it calls otherwise than the program that said it.
  const isKnown = unsaid === undefined || before.said.has(unsaid.messageId) || Messages.has(before, unsaid) ||
    Messages.isLast(before, unsaid)
  return isKnown || !isOfHere ? undefined : unsaid
}

// What it could not be said with is decided without it.
const isUnsayable = (error: unknown): boolean =>
  error instanceof ApprovalError.ApprovalError
    ? error.reason._tag === "InvalidPrompt"
    : error instanceof ConversationStore.ConversationError &&
      (error.reason === "Full" || error.reason === "Unwritable")

const begin = Effect.fnUntraced(function*(
  { answers, by, conversation, post: { clicked }, withheld }: Input,
  before: Read,
  saying: Saying
): Effect.fn.Return<Taken, unknown> {
  const { messageId, prompt } = saying
  const { cards, messages } = before.messages
  const told = new Map(withheld)
  // What was never asked here is told by whoever reads the turn for the page that posted it.
  const counting = answers.filter(({ approvalId, decision }) => {
    const card = cards.get(approvalId)
    if (card === undefined) return false
    const reason = Messages.isSettled(card)
      ? Sentences.decidedAlready
      : decision._tag === "Approved" && !isPersonal(card)
      ? Sentences.notForPeople
      : undefined
    if (reason !== undefined) told.set(approvalId, reason)
    return reason === undefined
  })
  const isSilent = messageId === undefined
  if (isSilent && counting.length === 0 && (messages.length === 0 || isStopped(before, clicked, by))) {
    return yield* follow(conversation, undefined, Array.from(told))
  }
  const start = (answers: Input["answers"]) => conversation.start(prompt, { answers, by, messageId })
  const turn = yield* Effect.catchIf(
    start(counting),
    () => counting.length > 0 && isSilent,
    Effect.fnUntraced(function*(error) {
      // Where no answer counts, nothing is done; what was begun goes on.
      if (!(error instanceof ApprovalError.ApprovalError)) return yield* Effect.fail(error)
      for (const { approvalId } of counting) {
        if (isAbout(error, approvalId)) told.set(approvalId, Sentences.ofApproval(error))
      }
      return isTakenBack(error) || isStopped(yield* read(conversation), clicked, by) ? undefined : yield* start([])
    })
  )
  return yield* follow(conversation, turn, Array.from(told), saying)
})

/**
 * Whether what was begun was stopped, so that no click goes on with it, and no model is called: something was taken back, or
 * its run was cut short, and it is not whoever had it run that posts their click again.
 */
const isStopped = (
  { messages: { cards }, states }: Read,
  clicked: Body.Post["clicked"],
  by: Approver.Person | undefined
): boolean => {
  const ended = Array.from(states.values(), ({ state }) => state)
  if (clicked.length === 0) return false
  if (ended.includes("cancelled")) return true
  return ended.includes("unknown") && clicked.every(({ approvalId }) => {
    const decidedBy = cards.get(approvalId)?.fate?.decidedBy
    return decidedBy === undefined || decidedBy.id !== by?.id
  })
}

const isTakenBack = ({ reason }: ApprovalError.ApprovalError): boolean =>
  reason._tag === "AlreadyDecided" && reason.state === "cancelled"

/** Waits for the turn that others take; where that one answers what was said, it is given. */
const waitFor = Effect.fnUntraced(function*(
  conversation: Conversation,
  said: Body.Said | undefined
): Effect.fn.Return<Turn | undefined, unknown> {
  for (let turns = 0; turns < maxTurns; turns++) {
    const turn = yield* conversation.turn
    if (turn === undefined) return undefined
    const { messages } = yield* conversation.read
    const last = messages.findLast(({ message }) => message.role === "user")
    if (said !== undefined && last?.id === said.messageId) return turn
    yield* Effect.exit(turn.outcome)
  }
  return undefined
})

/** To begin one waits, too. */
const maxTurns = 8

// What a webhook, a timer or the program is to tell, nobody says in their place: to decide is the program's own word.
const isPersonal = ({ part }: Messages.Card): boolean => {
  const interaction = part.approval?.descriptor?.interaction
  return !isKind(interaction) || Interaction.isForPeople(interaction)
}

const isKind = Schema.is(Approval.InteractionKind)

// An id that is unknown is cut.
const isAbout = ({ reason }: ApprovalError.ApprovalError, approvalId: string): boolean =>
  "approvalId" in reason && approvalId.startsWith(reason.approvalId)
