/**
 * What ends with a request: everything that is asked and waits in the agents within its call, at every level. Nobody said no
 * to it, and no agent goes on with it. What runs there by now comes to its own end.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Approval from "../../Approval.ts"
import type * as Store from "../../Store.ts"
import { encodeEntry, Entry } from "./entry.ts"

/** A request that has ended so. */
export interface Ended {
  readonly row: Store.RequestRow
  readonly entry: Entry
}

// What becomes of what is asked within a call that came to such an end.
const endings: { readonly [State in Approval.ApprovalState]?: "cancelled" | "expired" | "superseded" } = {
  denied: "cancelled",
  expired: "expired",
  superseded: "superseded",
  cancelled: "cancelled",
  void: "cancelled",
  done: "cancelled",
  failed: "cancelled"
}

/** What it ends as; `undefined` where a step ends nothing within. */
export const endingOf = ({ state, stopped }: Entry): "cancelled" | "expired" | "superseded" | undefined =>
  state === "unknown" && stopped === true ? "cancelled" : endings[state]

const reasonOf = {
  cancelled: "was cancelled",
  expired: "expired",
  superseded: "was superseded by a new message"
} as const

/** Ends what waits within a call. To be done in the transaction that ends the call. */
export const endWithin: (
  requests: Store.Requests,
  parent: string,
  state: "cancelled" | "expired" | "superseded"
) => Effect.Effect<ReadonlyArray<Ended>, Store.StoreError> = Effect.fnUntraced(function*(
  requests: Store.Requests,
  parent: string,
  state: "cancelled" | "expired" | "superseded"
): Effect.fn.Return<ReadonlyArray<Ended>, Store.StoreError> {
  const at = yield* Clock.currentTimeMillis
  const ended: Array<Ended> = []
  for (const row of yield* requests.within(parent)) {
    const { nonce, toolCallId, toolName, version } = row
    if (row.state === "pending") {
      const reason = `The call that its agent worked for ${reasonOf[state]}. Nothing ran; it may be asked again.`
      const entry = new Entry({ state, toolName, toolCallId, at, reason })
      if (!(yield* requests.decide(row, version, { state, ...encodeEntry(entry) }))) continue
      if (row.waits === "open" || row.waits === "taken") yield* requests.advance(nonce, ["open", "taken"], "over")
      ended.push({ row, entry })
    } else {
      ended.push(...yield* endWithin(requests, nonce, state))
    }
  }
  return ended
})
