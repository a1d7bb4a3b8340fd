/** What is listed as open of a conversation and of the agents within it, at every level: those that nobody has answered. */
import * as Effect from "effect/Effect"
import type * as Approval from "../../Approval.ts"
import type * as ConversationStore from "../../ConversationStore.ts"
import type * as ConversationTurn from "./turn.ts"

type Stored<A> = Effect.Effect<A, ConversationStore.ConversationError>

export const all = (
  place: ConversationTurn.Place,
  after?: string
): Stored<ReadonlyArray<Approval.ApprovalRequest>> => {
  const { key: { name, principal, tenant }, store } = place
  return Effect.flatMap(
    store.page({ conversation: name, principal, tenant }, { after, limit: 100 }),
    ({ next, requests }) => {
      const found = requests.map(({ request }) => request)
      return next === undefined ? Effect.succeed(found) : Effect.map(all(place, next), (more) => [...found, ...more])
    }
  )
}

export const ids = (place: ConversationTurn.Place): Stored<ReadonlySet<string>> =>
  Effect.map(all(place), (requests) => new Set(requests.map(({ approvalId }) => approvalId)))

export const isNested = ({ path = [] }: Approval.ApprovalRequest): boolean => path.length > 0

/** What is asked in the agents of the outermost conversation. */
export const nested = (place: ConversationTurn.Place): Stored<ReadonlyArray<Approval.ApprovalRequest>> =>
  place.within !== undefined ? Effect.succeed([]) : Effect.map(all(place), (requests) => requests.filter(isNested))
