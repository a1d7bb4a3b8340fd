/** A conversation as it stands at one moment, for whoever shows it. */
import * as Effect from "effect/Effect"
import type * as ConversationStore from "../../ConversationStore.ts"
import { messageIdOf } from "./messageId.ts"
import type * as Conversation from "./model.ts"
import * as Pending from "./pending.ts"
import * as ConversationTurn from "./turn.ts"

/** One reading of the store, so that all of it fits. */
export const read = (
  place: ConversationTurn.Place
): Effect.Effect<Conversation.Reading, ConversationStore.ConversationError> =>
  Effect.gen(function*() {
    const kept = yield* ConversationTurn.read(place)
    return {
      messages: kept.history.content.map((message, position) => ({ id: messageIdOf(message, position), message })),
      pending: yield* Pending.all(place, kept),
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
