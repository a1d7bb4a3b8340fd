/** The states of a request, and the steps between them. */
import * as Schema from "effect/Schema"

/**
 * The states of a request. `pending` means that there is no record of it, or one that nobody has decided. The states
 * after it are written to the journal once, by compare and set (law L2).
 *
 * @category models
 * @since 0.1.0
 */
export const ApprovalState = Schema.Literals([
  "pending",
  "approved",
  "edited",
  "denied",
  "answered",
  "expired",
  "superseded",
  "cancelled",
  "void",
  "suspended",
  "running",
  "done",
  "failed",
  "unknown"
])

/**
 * The states of a request.
 *
 * @category models
 * @since 0.1.0
 */
export type ApprovalState = typeof ApprovalState.Type

const next: Record<ApprovalState, ReadonlyArray<ApprovalState>> = {
  pending: ["approved", "edited", "denied", "answered", "expired", "superseded", "cancelled", "void", "running"],
  approved: ["running", "suspended", "expired", "void"],
  edited: ["running", "suspended", "expired", "void"],
  answered: ["running", "suspended", "expired", "void"],
  suspended: ["running", "denied", "expired", "void"],
  running: ["done", "failed", "unknown", "suspended", "pending"],
  unknown: ["running", "done", "failed", "suspended"],
  denied: [],
  expired: [],
  superseded: [],
  cancelled: [],
  void: [],
  done: [],
  failed: []
}

/**
 * Whether a request may go from one state to another. It may go from `unknown` to `running` for tools that are
 * `Tool.Idempotent`, and from `unknown` to an end when the process that had the claim records it after all. It may go
 * from `running` back to `pending` where what was claimed could not begin.
 *
 * @example
 * import { Approval } from "@assent/ai"
 *
 * Approval.isLegalStep("pending", "denied") // => true
 * Approval.isLegalStep("denied", "running") // => false
 *
 * @category guards
 * @since 0.1.0
 */
export const isLegalStep = (from: ApprovalState, to: ApprovalState): boolean => next[from].includes(to)
