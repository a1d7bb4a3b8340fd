/** What a post leads to: a turn of the conversation in which what was answered is decided, and what was said is said. */
import { Approval, ApprovalError, Interaction } from "@assent/ai"
import type { Approver, Conversation as Engine } from "@assent/ai"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Calls from "../wire/calls.ts"
import * as Messages from "../wire/messages.ts"
import type { UiMessage } from "../wire/model.ts"
import * as Sentences from "../wire/sentences.ts"
import type { Conversation, Turn } from "./conversation.ts"

export interface Input {
  readonly conversation: Conversation
  readonly said: { readonly messageId: string; readonly text: string } | undefined
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
  readonly calls: Calls.Calls
  /** What was asked here, by every id under which that was. */
  readonly cards: ReadonlyMap<string, Messages.Card>
  /** Why an answer does not count, by the id of its request. */
  readonly told: ReadonlyArray<readonly [approvalId: string, reason: string]>
}

/** The conversation as a page has it after a reload. */
export const read = Effect.fnUntraced(function*(
  conversation: Conversation
): Effect.fn.Return<{ readonly messages: Messages.Messages; readonly isTurnTaken: boolean }, unknown> {
  const { isTurnTaken, messages, pending } = yield* conversation.read
  const shown = Messages.make(messages, pending)
  // What nobody goes on with may have come to an end that the history does not have.
  if (isTurnTaken || shown.unsettled.length === 0) return { messages: shown, isTurnTaken }
  const states = new Map<string, Engine.RequestState>()
  for (const approvalId of shown.unsettled) {
    const state = yield* conversation.stateOf(approvalId)
    if (state !== undefined) states.set(approvalId, state)
  }
  return { messages: Messages.make(messages, pending, states), isTurnTaken }
})

/** For whoever reads a turn from its beginning. */
export const follow = Effect.fnUntraced(function*(
  conversation: Conversation,
  turn: Turn | undefined,
  told: Taken["told"] = [],
  messageId?: string
): Effect.fn.Return<Taken, unknown> {
  const { messages, pending } = yield* conversation.read
  const from = turn === undefined ? -1 : messages.findIndex(({ id }) => id === turn.messageId)
  const before = from < 0 ? messages : messages.slice(0, from)
  const { cards, current } = Messages.make(before, pending)
  return {
    turn,
    messageId: current?.message.id ?? turn?.messageId,
    before: current?.message,
    isAnew: messageId !== undefined && before.at(-1)?.id === messageId,
    calls: current?.calls ?? Calls.make(),
    cards,
    told
  }
})

/** Takes a turn. It may wait for others, so it does not belong to a request. */
export const take = Effect.fnUntraced(function*(
  { answers, by, conversation, said, withheld }: Input
): Effect.fn.Return<Taken, unknown> {
  const going = yield* waitFor(conversation, said)
  if (going !== undefined) return yield* follow(conversation, going)
  const { messages: before } = yield* read(conversation)
  const told = new Map(withheld)
  // What was never asked here is told by whoever reads the turn for the page that posted it.
  const counting = answers.filter(({ approvalId, decision }) => {
    const card = before.cards.get(approvalId)
    if (card === undefined) return false
    const reason = Messages.isSettled(card)
      ? Sentences.decidedAlready
      : decision._tag === "Approved" && !isPersonal(card)
      ? Sentences.notForPeople
      : undefined
    if (reason !== undefined) told.set(approvalId, reason)
    return reason === undefined
  })
  // Said under this id already, so that the turn goes on from there.
  const isSaid = said === undefined || Messages.has(before, said)
  if (isSaid && counting.length === 0 && before.messages.length === 0) {
    return yield* follow(conversation, undefined, Array.from(told))
  }
  const messageId = isSaid ? undefined : Messages.nameFor(before, said)
  const start = (answers: Input["answers"]) => conversation.start(isSaid ? [] : said.text, { answers, by, messageId })
  const turn = yield* Effect.catchIf(start(counting), () => counting.length > 0 && isSaid, (error) => {
    // Where no answer counts, nothing is done; what was begun goes on.
    if (!(error instanceof ApprovalError.ApprovalError)) return Effect.fail(error)
    for (const { approvalId } of counting) {
      if (isAbout(error, approvalId)) told.set(approvalId, Sentences.ofApproval(error))
    }
    return start([])
  })
  return yield* follow(conversation, turn, Array.from(told), messageId)
})

/** Waits for the turn that others take; where that one answers what was said, it is given. */
const waitFor = Effect.fnUntraced(function*(
  conversation: Conversation,
  said: Input["said"]
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
