/** What a conversation waits for, and what is asked in the agents within it, at every level. */
import * as Effect from "effect/Effect"
import type * as Approval from "../../Approval.ts"
import type * as ConversationStore from "../../ConversationStore.ts"
import * as Deciding from "./deciding.ts"
import type * as ConversationTurn from "./turn.ts"

type Stored<A> = Effect.Effect<A, ConversationStore.ConversationError>

export const isOfAgents = ({ interaction }: Approval.ApprovalRequest): boolean => interaction === "nested"

/** All that can be answered now. */
export const all = (
  place: ConversationTurn.Place,
  kept: ConversationStore.Kept
): Stored<ReadonlyArray<Approval.ApprovalRequest>> =>
  Effect.flatMap(Deciding.answerable(kept), (own) =>
    // While a turn is taken, agents may have begun in it.
    kept.turn === undefined && !kept.open.some(isOfAgents)
      ? Effect.succeed(own)
      : Effect.map(nested(place), (nested) => nested.length === 0 ? own : [...own, ...nested]))

/** What is asked in the agents of the outermost conversation. */
export const nested = (place: ConversationTurn.Place): Stored<ReadonlyArray<Approval.ApprovalRequest>> => {
  const { key: { name, principal, tenant }, store, within } = place
  if (within !== undefined) return Effect.succeed([])
  const from = (after: string | undefined): Stored<ReadonlyArray<Approval.ApprovalRequest>> =>
    Effect.flatMap(store.page({ conversation: name, principal, tenant }, { after, limit: 100 }), ({ next, requests }) => {
      const found = requests.flatMap(({ request }) => (request.path?.length ?? 0) > 0 ? [request] : [])
      return next === undefined ? Effect.succeed(found) : Effect.map(from(next), (more) => [...found, ...more])
    })
  return from(undefined)
}
