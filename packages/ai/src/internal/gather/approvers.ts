/**
 * Who may decide on a call, as the policy has it now, and what somebody's decision is worth (law L16). Where several lists of
 * approvers are named, one of each has to approve the same parameters; whoever did so already is kept with the request in
 * the journal.
 */
import * as Result from "effect/Result"
import type * as Approval from "../../Approval.ts"
import type * as ApprovalError from "../../ApprovalError.ts"
import type * as ApprovalJournal from "../../ApprovalJournal.ts"
import * as Approver from "../../Approver.ts"
import type * as Standing from "../decide/standing.ts"
import * as Words from "../decide/words.ts"

/** One person of each list, and not whoever asked for it. */
export interface Rule {
  readonly lists: ReadonlyArray<ReadonlyArray<string>>
  readonly requester: string | undefined
}

/** What names who may decide. */
type Naming = Pick<Approval.NeedsApproval, "approvers" | "selfApproval">

export const names = ({ approvers, selfApproval }: Naming): boolean => approvers !== undefined || selfApproval === false

export const ruleOf = (
  namings: ReadonlyArray<Naming>,
  { principal }: Approval.ApprovalScope
): Rule | undefined => {
  const naming = namings.filter(names)
  return naming.length === 0 ? undefined : {
    lists: naming.flatMap(({ approvers }) => Approver.lists(approvers)),
    requester: naming.some(({ selfApproval }) => selfApproval === false) ? principal : undefined
  }
}

/** What the policy says of who may decide. */
export const namingOf = (
  judged: Result.Result<Approval.ApprovalResult, ApprovalError.ApprovalError> | undefined
): ReadonlyArray<Naming> =>
  judged !== undefined && Result.isSuccess(judged) && judged.success._tag === "NeedsApproval" ? [judged.success] : []

export type Problem = ApprovalError.NotAnApprover["problem"]

/** Why somebody may not decide; `undefined` if they may. */
export const problemOf = ({ lists, requester }: Rule, { id }: Approver.DecidedBy): Problem | undefined =>
  id === undefined
    ? "unknown"
    : id === requester
    ? "requester"
    : lists.length > 0 && !lists.some((ids) => ids.includes(id))
    ? "not named"
    : undefined

/** Whether these people are enough. */
export const isEnough = (rule: Rule, people: ReadonlyArray<Approver.DecidedBy>): boolean => {
  const may = people.filter((one) => problemOf(rule, one) === undefined)
  return may.length > 0 && rule.lists.every((ids) => may.some(({ id }) => ids.includes(id!)))
}

/** Those who have approved just these parameters before. */
const before = (
  entry: ApprovalJournal.Entry | undefined,
  params: string | undefined
): ReadonlyArray<Approver.DecidedBy> =>
  (entry?.approvals ?? []).flatMap((one) => one.params === params ? [one.decidedBy] : [])

/**
 * Whether those who are on record with what has begun are enough, if it has with these parameters: they allowed it, whoever
 * asks again.
 */
export const haveBegun = (rule: Rule, entry: ApprovalJournal.Entry, params: string | undefined): boolean => {
  const { decidedBy } = entry
  return isEnough(rule, [
    ...before(entry, params),
    ...(decidedBy === undefined || entry.params !== params ? [] : [decidedBy])
  ])
}

/** What an approval of these parameters is worth. */
export const approvalOf = (
  rule: Rule,
  by: Approver.DecidedBy,
  entry: ApprovalJournal.Entry | undefined,
  params: string | undefined
): Standing.Who => {
  if (entry !== undefined && entry.state !== "pending") return haveBegun(rule, entry, params) ? "counts" : "stranger"
  if (problemOf(rule, by) !== undefined) return "stranger"
  const people = before(entry, params)
  return isEnough(rule, [...people, by]) ? "counts" : people.some(({ id }) => id === by.id) ? "already" : "more"
}

/** The lists of which nobody has approved it. */
export const missing = (
  { lists }: Rule,
  entry: ApprovalJournal.Entry | undefined
): ReadonlyArray<ReadonlyArray<string>> => {
  const people = new Set((entry?.approvals ?? []).map(({ decidedBy }) => decidedBy.id))
  return lists.filter((ids) => !ids.some((id) => people.has(id)))
}

/** Who has approved it, and who is needed still; nothing where nobody has. */
export const progressOf = (rule: Rule | undefined, entry: ApprovalJournal.Entry | undefined): string | undefined => {
  const approvals = entry?.state === "pending" ? entry.approvals ?? [] : []
  return approvals.length === 0 ? undefined : Words.approvedBy(
    approvals.map(({ decidedBy: { id, name } }) => name ?? id ?? "somebody"),
    rule === undefined ? [] : missing(rule, entry),
    approvals.some(({ params }) => params !== undefined)
  )
}
