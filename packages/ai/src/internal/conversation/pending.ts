/** What a conversation waits for, and what is asked in the agents within it, at every level. */
import * as Effect from "effect/Effect"
import type * as Approval from "../../Approval.ts"
import type * as ConversationStore from "../../ConversationStore.ts"
import * as Deciding from "./deciding.ts"
import * as Listed from "./listed.ts"
import type * as ConversationTurn from "./turn.ts"

export const isOfAgents = ({ interaction }: Approval.ApprovalRequest): boolean => interaction === "nested"

/** All that can be answered now. */
export const all = (
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
