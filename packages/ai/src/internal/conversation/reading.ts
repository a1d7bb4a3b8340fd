/** A conversation as it stands at one moment, for whoever shows it. */
import * as Effect from "effect/Effect"
import type * as Approval from "../../Approval.ts"
import type * as ConversationStore from "../../ConversationStore.ts"
import * as Listed from "../held/listed.ts"
import * as ConversationTurn from "../held/turn.ts"
import * as Deciding from "./deciding.ts"
import type * as Conversation from "./model.ts"
import { messageIdOf } from "./naming.ts"

/** One reading of the store, so that all of it fits. */
export const read = (
  place: ConversationTurn.Place
): Effect.Effect<Conversation.Reading, ConversationStore.ConversationError> =>
  Effect.gen(function*() {
    const kept = yield* ConversationTurn.read(place)
    return {
      messages: kept.history.content.map((message, position) => ({ id: messageIdOf(message, position), message })),
      pending: yield* pendingIn(place, kept),
      isTurnTaken: yield* isTaken(place, kept)
    }
  })

// Of one that is taken here nobody else says that it lives.
const isTaken = (
  { store }: ConversationTurn.Place,
  { turn }: ConversationStore.Kept
): Effect.Effect<boolean, ConversationStore.ConversationError> =>
  turn === undefined
    ? Effect.succeed(false)
    : turn.owner === store.owner
    ? Effect.succeed(true)
    : store.isAlive(turn.owner)

export const isOfAgents = ({ interaction }: Approval.ApprovalRequest): boolean => interaction === "nested"

/** All that can be answered now. */
export const pendingIn = (
  place: ConversationTurn.Place,
  kept: ConversationStore.Kept
): Effect.Effect<ReadonlyArray<Approval.ApprovalRequest>, ConversationStore.ConversationError> =>
  Effect.flatMap(Deciding.answerable(kept), (own) =>
    // While a turn is taken, agents may have begun in it, and answers are kept beside it.
    place.within !== undefined || (kept.turn === undefined && !kept.open.some(isOfAgents))
      ? Effect.succeed(own)
      : Effect.map(Listed.all(place), (listed) => {
        const nested = listed.filter(Listed.isNested)
        if (kept.turn === undefined) return nested.length === 0 ? own : [...own, ...nested]
        const ids = new Set(listed.map(({ approvalId }) => approvalId))
        return [...own.filter(({ approvalId }) => ids.has(approvalId)), ...nested]
      }))
