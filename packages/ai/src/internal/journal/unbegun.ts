/** A run that was claimed and could not begin. */
import type * as ApprovalError from "../../ApprovalError.ts"
import type { Claim } from "./entry.ts"

/**
 * A run that could not begin: nothing of it was done, for a reason that may pass. Its claim is given back, so that it can be
 * tried again, and whoever waits for it fails with the reason.
 *
 * @category models
 * @since 0.1.0
 */
export interface Unbegun {
  readonly unbegun: ApprovalError.ApprovalError
}

/** The claim that is given back: who let it begin has decided nothing by that. */
export const nobodys = (claim: Claim): Claim => ({ ...claim, decidedBy: undefined })
