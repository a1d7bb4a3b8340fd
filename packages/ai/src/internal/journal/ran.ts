/** How a run may end. */
import type * as Cause from "effect/Cause"
import type * as Effect from "effect/Effect"
import type * as ApprovalError from "../../ApprovalError.ts"
import type { Recorded } from "./entry.ts"

/**
 * What a run gives those who wait for it in the same process: what is recorded, the decoded `result` and its encoded
 * form, and the cause with which it is to fail the turn, for tools whose failure mode is "error".
 *
 * @category models
 * @since 0.1.0
 */
export interface Ran {
  readonly recorded: Recorded
  readonly result: unknown
  readonly encodedResult: unknown
  readonly failure?: Cause.Cause<unknown> | undefined
}

/**
 * A run that did not end but waits: as the request of this id. That request has a nonce, and a record, of its own. `keep`
 * keeps what it waits for, in one step with the journal's word that it does where both are in one store: then there is both,
 * or neither and the run ends with `otherwise`. `kept` is done after that.
 *
 * @category models
 * @since 0.1.0
 */
export interface Suspended {
  readonly suspendedAs: string
  readonly waiting?: {
    readonly keep: Effect.Effect<void, ApprovalError.ApprovalError>
    readonly kept: Effect.Effect<void>
    readonly otherwise: (error: ApprovalError.ApprovalError) => Effect.Effect<Ran>
  } | undefined
}

/**
 * A run that waited, was taken up, and waits for the same again: its claim is given back. `keep` is done in one step with that.
 *
 * @category models
 * @since 0.1.0
 */
export interface Again {
  readonly again: Effect.Effect<void, ApprovalError.ApprovalError>
}
