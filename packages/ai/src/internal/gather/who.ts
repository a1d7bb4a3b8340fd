/** What somebody's decision is worth, as a fact; and whoever decided and may not is told (law L16). */
import * as Effect from "effect/Effect"
import * as ApprovalError from "../../ApprovalError.ts"
import * as ApprovalEvents from "../../ApprovalEvents.ts"
import type * as Standing from "../decide/standing.ts"
import * as Prepare from "../tool/prepare.ts"
import * as Approvers from "./approvers.ts"
import { type Asked, type File, type Given, withAnswer, withQuestion } from "./file.ts"
import * as Request from "./request.ts"

const ruleFor = ({ environment, judged }: File, given?: Given): Approvers.Rule | undefined =>
  Approvers.ruleOf([...Approvers.namingOf(judged), ...Approvers.namingOf(given?.target?.judged)], environment.scope)

/** Of what edited parameters a person has approved. */
export const paramsOf = ({ target }: Given): Effect.Effect<string | undefined> =>
  target === undefined ? Effect.undefined : Prepare.paramsDigest(target.prepared)

export const gather = Effect.fnUntracedEager(function*(
  file: File,
  standing: Standing.Standing,
  at: number,
  by: number
): Effect.fn.Return<Standing.Standing, ApprovalError.ApprovalError> {
  const asked = file.questions[at]!
  const given = asked.given[by]!
  const rule = ruleFor(file, given)
  if (file.kept !== undefined && rule !== undefined && rule.lists.length > 1) asked.entry ??= yield* file.kept(file)
  const answer = typeof standing.questions === "string" ? undefined : standing.questions[at]?.answers[by]
  const who = rule === undefined || (given.isProgram === true && answer?.says === "no")
    ? "counts"
    : answer?.says === "no"
    ? Approvers.problemOf(rule, given.by) === undefined ? "counts" : "stranger"
    : Approvers.approvalOf(rule, given.by, asked.entry, yield* paramsOf(given))
  if (rule !== undefined && (who === "stranger" || who === "already")) {
    yield* refuse(file, asked, given, rule, Approvers.problemOf(rule, given.by))
  }
  return withAnswer(standing, at, by, { who })
})

/** What it was claimed by is worth: whoever shows the history again is not who let it run. */
export const gatherClaim = (file: File, standing: Standing.Standing, at: number): Standing.Standing => {
  const rule = ruleFor(file)
  const { entry } = file.questions[at]!
  return withQuestion(standing, at, {
    claimCounts: entry !== undefined && (rule === undefined || Approvers.haveBegun(rule, entry, undefined))
  })
}

/** Tells whoever has to know that a decision settles nothing. */
export const refuse = (
  file: File,
  { entry, sealed: { approvalId } }: Asked,
  given: Given,
  rule: Approvers.Rule,
  problem: Approvers.Problem = "approved already"
): Effect.Effect<void> => {
  const approvers = Approvers.missing(rule, entry)
  const refusal = new ApprovalError.NotAnApprover({ approvalId, approvers, decidedBy: given.by, problem })
  // Nobody is told twice, and what was kept a moment ago is no news.
  if (given.isRefused === true) file.refusal ??= refusal
  else file.refusal = refusal
  if (given.isAdded === true || given.isRefused === true) return Effect.void
  given.isRefused = true
  file.environment.onRefused(approvalId, refusal)
  return ApprovalEvents.publish((occasion) => ({
    _tag: "Refused",
    ...occasion,
    ...Request.about(file.call),
    approvalId,
    reason: refusal
  }))
}

const ruleNow = ({ environment, judged, tip }: File): Approvers.Rule | undefined =>
  Approvers.ruleOf(tip === undefined ? Approvers.namingOf(judged) : [tip.suspension.awaited], environment.scope)

/** Who has approved it already, in words. */
export const progress = (file: File, { entry }: Asked): string | undefined => Approvers.progressOf(ruleNow(file), entry)

/** Who is needed still, where somebody has approved it already: whoever shows it is to show it to them. */
export const needed = (file: File, { entry }: Asked): ReadonlyArray<ReadonlyArray<string>> | undefined => {
  const rule = ruleNow(file)
  return rule === undefined || entry?.state !== "pending" ? undefined : Approvers.missing(rule, entry)
}
