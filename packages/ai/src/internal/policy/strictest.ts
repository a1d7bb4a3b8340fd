/**
 * Two results as one that allows nothing which either of them does not.
 */
import * as Approval from "../../Approval.ts"
import * as Approver from "../../Approver.ts"
import { definedFields } from "../fields.ts"

/** Blocked before asked before let run; of two that ask, each field is the narrower one. */
export const strictest = (self: Approval.ApprovalResult, that: Approval.ApprovalResult): Approval.ApprovalResult => {
  if (self._tag === "Blocked") {
    if (that._tag === "Blocked" && that.reason === self.reason) return self
    return that._tag === "Blocked" ? Approval.blocked(join(self.reason, that.reason)!) : self
  }
  if (that._tag === "Blocked") return that
  if (self._tag === "NeedsApproval") return that._tag === "NeedsApproval" ? both(self, that) : self
  if (that._tag === "NeedsApproval") return that
  return Approval.preApproved(join(self.reason, that.reason))
}

const join = (self: string | undefined, that: string | undefined): string | undefined =>
  self === undefined || self === that ? that : that === undefined ? self : `${self} ${that}`

const both = (self: Approval.NeedsApproval, that: Approval.NeedsApproval): Approval.ApprovalResult => {
  const approvers = oneOfEach(self.approvers, that.approvers)
  if (Approver.lists(approvers).some((ids) => ids.length === 0)) {
    return Approval.blocked("Nobody may approve it: its list of approvers is empty.")
  }
  // What two want to leave behind is left behind only if it is the same.
  const differ = self.remember !== undefined && that.remember !== undefined &&
    JSON.stringify(self.remember) !== JSON.stringify(that.remember)
  const rememberable = differ ? false : least(self.rememberable, that.rememberable)
  return Approval.needsApproval(definedFields({
    reason: join(self.reason, that.reason),
    description: self.description ?? that.description,
    presentation: self.presentation ?? that.presentation,
    expiresIn: self.expiresIn === undefined || that.expiresIn === undefined
      ? self.expiresIn ?? that.expiresIn
      : Math.min(self.expiresIn, that.expiresIn),
    approvers,
    selfApproval: least(self.selfApproval, that.selfApproval),
    editable: least(self.editable, that.editable),
    rememberable,
    remember: rememberable === false ? undefined : self.remember ?? that.remember,
    // What only one of them would have is wider than this very call.
    session: JSON.stringify(self.session) === JSON.stringify(that.session) ? self.session : undefined
  }))
}

/** `false` wins; who says nothing has no word. */
const least = (self: boolean | undefined, that: boolean | undefined): boolean | undefined =>
  self === undefined || that === undefined ? self ?? that : self && that

// A list that another one holds whole stays beside it: one person may count for both, but whoever is on either may deny
// (law L3). In one order, whichever is said first.
const oneOfEach = (
  self: Approver.Approvers | undefined,
  that: Approver.Approvers | undefined
): Approver.Approvers | undefined => {
  if (self === undefined || that === undefined) return self ?? that
  const lists = [...Approver.lists(self), ...Approver.lists(that)]
  const isSame = (one: ReadonlyArray<string>, other: ReadonlyArray<string>): boolean =>
    one.every((id) => other.includes(id)) && other.every((id) => one.includes(id))
  const needed = lists.filter((list, index) => lists.findIndex((other) => isSame(list, other)) === index)
  return needed.length === 1 ? needed[0]! : needed.toSorted((a, b) => JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)
}
