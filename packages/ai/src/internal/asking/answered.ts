/** What a program's own question was answered with, and by whom (law L16). */
import * as Approval from "../../Approval.ts"
import type * as ApprovalMemory from "../../ApprovalMemory.ts"
import * as Approver from "../../Approver.ts"
import { definedFields } from "../fields.ts"

/**
 * What a program's own question was answered with, and by whom: see `ApprovalController.request`.
 *
 * @category models
 * @since 0.1.0
 */
export type Answered = (Approval.Approved | Approval.Denied) & { readonly decidedBy: Approver.DecidedBy }

/** A decision of its own: one that a controller gives may be given again, and by somebody else. */
export const answered = (
  decision: Approval.Approved | Approval.Denied,
  decidedBy: Approver.DecidedBy
): Answered =>
  Object.assign(
    decision._tag === "Approved" ? new Approval.Approved({ ...decision }) : new Approval.Denied({ ...decision }),
    { decidedBy }
  )

export const remembered = ({ decidedBy, decision, note }: ApprovalMemory.Remembered): Answered =>
  answered(
    decision === "approved" ? new Approval.Approved({}) : new Approval.Denied(definedFields({ note })),
    Approver.decidedBy(decidedBy, "memory")
  )
