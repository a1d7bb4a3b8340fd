/** The hand for calls that run here: it seals, ends in the journal, and tells what was decided. Nothing here runs a tool. */
import * as Effect from "effect/Effect"
import * as JsonPatch from "effect/JsonPatch"
import * as Result from "effect/Result"
import * as Approval from "../../Approval.ts"
import * as ApprovalError from "../../ApprovalError.ts"
import * as ApprovalEvents from "../../ApprovalEvents.ts"
import type * as ApprovalJournal from "../../ApprovalJournal.ts"
import type * as ApprovalSeal from "../../ApprovalSeal.ts"
import type { DecidedBy } from "../../Approver.ts"
import * as Within from "../agent/within.ts"
import type { Decision, EndWhy } from "../decide/decision.ts"
import type * as Standing from "../decide/standing.ts"
import * as Words from "../decide/words.ts"
import * as Answering from "../gather/answering.ts"
import * as Fate from "../gather/fate.ts"
import {
  type Approved,
  type Asked,
  type File,
  forgetWho,
  type Given,
  type Judged,
  question,
  withQuestion
} from "../gather/file.ts"
import * as Remembering from "../gather/remembering.ts"
import * as Request from "../gather/request.ts"
import * as Verdict from "../gather/verdict.ts"
import * as Wait from "../gather/wait.ts"
import * as Who from "../gather/who.ts"
import * as Results from "../history/results.ts"
import { InPassing } from "../seal/passing.ts"
import * as Prepare from "../tool/prepare.ts"
import * as Presentation from "../tool/presentation.ts"
import type { Hand } from "./loop.ts"

// =============================================================================
// Making a request
// =============================================================================

/** What a call of this turn is asked with: more than the policy says, where nobody knows what was answered before. */
export const needsOf = ({ doubt, judged }: File): Approval.NeedsApproval =>
  doubt !== undefined && Result.isSuccess(judged!) && judged.success._tag === "PreApproved"
    ? new Approval.NeedsApproval({ reason: doubt })
    : Verdict.needsOf(judged!)

// Only calls of this very response are ever sealed (law L4), and only when it came to a complete finish.
const seal: Hand["seal"] = Effect.fnUntraced(function*(file, standing) {
  const { environment } = file
  const prepared = file.prepared!
  const needs = needsOf(file)
  file.needs = Presentation.sanitized(needs)
  const digest = yield* Presentation.sealedDigest(needs)
  const binding = yield* Prepare.binding(prepared, environment.scope, digest)
  const sealed = yield* environment.seal.seal(binding, {
    expiresIn: needs.expiresIn ?? environment.options.expiresIn
  }).pipe(Effect.provideService(InPassing, environment.controller.ask !== undefined || environment.endsWithProcess))
  const asked = { sealed, canonical: prepared.canonical, given: [] }
  const { needs: shown } = file
  file.questions = [asked]
  yield* ApprovalEvents.publish((occasion) => ({
    _tag: "Requested",
    ...occasion,
    ...Request.about(prepared, sealed),
    request: Within.shownOutside(environment.within, file.request(asked, shown))
  }))
  return { ...standing, questions: [question(sealedAs(sealed))] }
})

/** What a request that was just sealed says of itself. */
export const sealedAs = (sealed: ApprovalSeal.Sealed): Pick<Standing.Question, "named" | "shown"> => ({
  named: Presentation.namesIn(sealed),
  shown: Presentation.shownIn(sealed) === undefined ? "nothing" : undefined
})

// =============================================================================
// Ending a request
// =============================================================================

/** By whose answer a request ends; what ends it by itself is nobody's. */
export const deciderOf = (
  { denial, questions, recalled }: File,
  { at, by, why }: { readonly at: number; readonly by: number; readonly why: EndWhy }
): DecidedBy | undefined =>
  why === "said" ? (questions[at]!.given[by] ?? denial)?.by : why === "remembered" ? recalled?.decidedBy : undefined

/** What is said of a request that ends. */
export const reasonOf = (
  file: File,
  { at, by, why }: { readonly at: number; readonly by: number; readonly why: EndWhy }
): string | undefined => {
  const asked = file.questions[at]!
  const given = asked.given[by]
  const { tip } = file
  switch (why) {
    case "said":
      return (given ?? file.denial)?.note
    case "blocked":
      return blockedReason(file.judged)
    case "editBlocked":
      return blockedReason(given?.target?.judged)
    case "remembered":
      return file.recalled?.reason
    case "editDenied":
      return given?.target?.denied
    case "expired":
      return asked.expired
    case "superseded":
      return tip === undefined ? Results.supersededReason : Wait.superseded(tip)
    case "drifted":
      return tip === undefined ? asked.drift : Wait.driftOf(file, tip)
    case "shownChanged":
      return asked.changed
    case "undeliverable":
      return Words.stands(`What was delivered cannot be used any more: ${tip?.problems?.[0]}`)
    case "unfitParameters":
      return Wait.unfitParameters(file)
    case "unfitState":
      return Wait.unfitState(file)
  }
}

export const blockedReason = (judged: Judged | undefined): string | undefined =>
  judged !== undefined && Result.isSuccess(judged) && judged.success._tag === "Blocked"
    ? judged.success.reason
    : undefined

const end: Hand["end"] = Effect.fnUntraced(function*(file, standing, ending) {
  const { environment, tip } = file
  const { at, state } = ending
  const asked = file.questions[at]!
  const claim = {
    ...Request.claimOf(asked.sealed, file.call, deciderOf(file, ending)),
    within: tip?.suspension.awaited.kind === "nested" ? tip.suspension.began : undefined
  }
  const entry = yield* environment.journal.end(claim, state, Results.reasonOr(reasonOf(file, ending)))
  asked.entry = entry
  if (entry.state === state) {
    if (tip !== undefined) yield* Effect.ignore(environment.suspensions.end(claim.approvalId))
    // Who resolves calls themselves has nobody asked, and whether it is to be remembered is the policy's to say.
    else if (ending.why === "said" && standing.powers !== "reads") {
      yield* rememberDenial(file, claim, asked.given[ending.by] ?? file.denial)
    }
  }
  return withQuestion(standing, at, { fate: Fate.of(entry, true) })
})

/** What is to be remembered of a "no", of which the policy has a say where it came in a history. */
export const rememberDenial = Effect.fnUntraced(function*(
  file: File,
  claim: ApprovalJournal.Claim,
  denial: Given | undefined
): Effect.fn.Return<void> {
  const { environment, prepared } = file
  if (denial?.remember === undefined || prepared === undefined || !environment.memory.remembers) return
  let said: typeof denial.remember | undefined = denial.remember
  if (denial.response === undefined) said = Remembering.rememberOf(file.needs, said)
  else {
    const verdict = yield* Effect.result(file.judge(prepared))
    if (Result.isFailure(verdict) || verdict.success._tag !== "NeedsApproval") return
    if (verdict.success.rememberable !== true && !Answering.isTrusted(environment, denial.response)) return
  }
  const subject = yield* file.subject
  const answered = yield* Remembering.answeredOf(environment, subject, claim, "denied", {
    remember: said,
    isOfHistory: denial.response !== undefined,
    note: denial.note,
    decidedBy: denial.by
  })
  yield* Remembering.take(environment, answered, denial.response !== undefined)
})

// =============================================================================
// Approvals of several
// =============================================================================

const add: Hand["add"] = Effect.fnUntraced(function*(file, standing, { at, by }) {
  const asked = file.questions[at]!
  const given = asked.given[by]
  const answer = file.tip?.answer
  const decidedBy = answer?.by ?? given?.by
  const params = yield* file.tip === undefined ? Who.paramsOf(given!) : Wait.approvedAs(file.tip)
  const claim = { ...Request.claimOf(asked.sealed, file.call, decidedBy), params }
  const entry = yield* file.environment.journal.approve(claim)
  asked.entry = entry
  for (const one of asked.given) if (one.by === decidedBy) one.isAdded = true
  if (entry.state === "pending" && decidedBy !== undefined) yield* kept(file, asked, decidedBy)
  return file.tip === undefined
    ? withQuestion(forgetWho(standing, at), at, { fate: Fate.of(entry, true) })
    : Wait.forgetAnswer(withQuestion(standing, at, { fate: Fate.of(entry, true) }))
})

/** Tells that somebody has approved what others are needed for too. */
export const kept = (file: File, asked: Asked, decidedBy: DecidedBy): Effect.Effect<void> =>
  ApprovalEvents.publish((occasion) => ({
    _tag: "PartlyApproved",
    ...occasion,
    ...Request.about(file.call, asked.sealed),
    decidedBy
  }))

// =============================================================================
// What is decided
// =============================================================================

const decided: Hand["decided"] = Effect.fnUntracedEager(function*(file, standing, decision) {
  switch (decision._tag) {
    case "Fail":
      if (decision.why === "forged") yield* refuse(file, file.root!, file.failure!.reason)
      return
    case "Tell":
      return yield* told(file, decision)
    case "Open":
      return yield* refuseAnswers(file, standing, decision)
    case "Run":
      if (decision.as === "free") return yield* allowed(file, standing)
      // Looked at again before it runs, the same answer is no news.
      if (decision.as === "claim" && file.approvedBy !== decision.by) {
        file.approval = yield* approve(file, decision)
        file.approvedBy = decision.by
      }
  }
})

const told = (file: File, { why }: Extract<Decision, { _tag: "Tell" }>): Effect.Effect<void> => {
  switch (why) {
    case "forged":
      return Effect.andThen(
        refuse(file, file.root!, file.failure!.reason),
        file.failure!.reason._tag === "UnknownKey" ? Effect.logWarning(`Assent: ${file.failure!.message}`) : Effect.void
      )
    // A denial needs no proof: it counts.
    case "denied":
      return refused(file, file.root!, file.failure!.reason)
    case "blocked":
      return blocked(file, blockedReason(file.judged))
    case "remembered":
      return blocked(file, file.recalled?.reason)
    case "noToolkit":
      return noToolkit(file, `an approval of "${file.call.toolName}"`)
    default:
      return Effect.void
  }
}

// The model, and whoever is asked, cannot do anything about it.
const noToolkit = ({ call: { toolName } }: File, what: string): Effect.Effect<void> =>
  Effect.logWarning(
    `Assent: ${what} came on a turn without a toolkit, so "${toolName}" could not run. Pass` +
      " the toolkit of the turn that asked to the turn with the answer too."
  )

const blocked = ({ call }: File, reason: string | undefined): Effect.Effect<void> =>
  ApprovalEvents.publish((occasion) => ({
    _tag: "Blocked",
    ...occasion,
    ...Request.about(call),
    reason: Results.reasonOr(reason)
  }))

// A call that nobody could have been asked about is no news.
const allowed = ({ call, judged, recalled }: File, { tool }: Standing.Standing): Effect.Effect<void> => {
  if (tool === "free") return Effect.void
  const reason = recalled?.reason ??
    (judged !== undefined && Result.isSuccess(judged) && judged.success._tag === "PreApproved"
      ? judged.success.reason
      : undefined)
  return ApprovalEvents.publish((occasion) => ({
    _tag: "PreApproved",
    ...occasion,
    ...Request.about(call),
    reason,
    decidedBy: recalled?.decidedBy
  }))
}

const refuseAnswers = (
  file: File,
  { reply }: Standing.Standing,
  { at, why }: Extract<Decision, { _tag: "Open" }>
): Effect.Effect<void> => {
  if (why === "noToolkit") return noToolkit(file, `an answer to what "${file.call.toolName}" waits for`)
  if (why === "invalidAnswer") {
    return Effect.forEach(invalidAnswers(file), (invalid) => refuse(file, invalid.approvalId, invalid), {
      discard: true
    })
  }
  // Who was asked here is told, and asked again; what is refused stands in a history.
  const invalid = reply === "given" ? undefined : invalidEdit(file, at, why)
  return invalid === undefined ? Effect.void : refuse(file, invalid.approvalId, invalid)
}

/** What is wrong with what was answered to a run that waits. */
export const invalidAnswers = ({ questions, tip }: File): ReadonlyArray<ApprovalError.InvalidAnswer> =>
  (tip?.problems ?? []).map((description) =>
    new ApprovalError.InvalidAnswer({ approvalId: questions[0]!.sealed.approvalId, description })
  )

/** What is wrong with the parameters that a person changed. */
export const invalidEdit = (
  { questions }: File,
  at: number,
  why: Extract<Decision, { _tag: "Open" }>["why"]
): ApprovalError.InvalidEdit | undefined => {
  if (why !== "unfitEdit" && why !== "untrustedEdit") return undefined
  const { approvalId } = questions[at]!.sealed
  const description = why === "unfitEdit"
    ? "they do not fit the tool's schema."
    : "they came in a message history, which anybody may have written."
  return new ApprovalError.InvalidEdit({ approvalId, description })
}

/** Tells of an answer that has no effect, whoever gave it too. */
export const refuse = (file: File, approvalId: string, reason: ApprovalError.ApprovalErrorReason) => {
  file.environment.onRefused(approvalId, reason)
  return refused(file, approvalId, reason)
}

const refused = ({ call }: File, approvalId: string, reason: ApprovalError.ApprovalErrorReason) =>
  ApprovalEvents.publish((occasion) => ({ _tag: "Refused", ...occasion, ...Request.about(call), approvalId, reason }))

/** What is to run of an approved call, and of what a person changed. */
export const targetOf = (
  { prepared, questions }: File,
  at: number,
  by: number
): Pick<Approved, "asked" | "edits" | "prepared"> => {
  const proposed = prepared!
  const target = questions[at]?.given[by]?.target?.prepared
  return target === undefined
    ? { prepared: proposed }
    : { prepared: target, asked: proposed, edits: JsonPatch.get(proposed.encoded, target.encoded) }
}

/** The run of what was approved, with what is to be remembered of it. It holds at once for the other calls of the turn. */
export const approve = Effect.fnUntracedEager(function*(
  file: File,
  { at, by }: Extract<Decision, { _tag: "Run" }>
): Effect.fn.Return<Approved> {
  const { environment } = file
  const asked = file.questions[at]!
  const given = asked.given[by]!
  const decidedBy = given.by
  const claim = Request.claimOf(asked.sealed, file.call, decidedBy)
  const target = targetOf(file, at, by)
  const { edits, prepared } = target
  if (edits !== undefined) {
    yield* ApprovalEvents.publish((occasion) => ({
      _tag: "Edited",
      ...occasion,
      ...Request.about(prepared, claim),
      edits,
      decidedBy
    }))
  }
  const run = { ...target, claim, joinOnly: false, isNew: asked.entry === undefined }
  if (!environment.memory.remembers) return run
  const judged = edits === undefined ? file.judged! : given.target!.judged!
  const needs = Result.isSuccess(judged) && judged.success._tag === "NeedsApproval" ? judged.success : undefined
  // In a history it counts where the policy says so; that it is not to be remembered takes nobody's trust.
  const counts = given.response === undefined || needs?.rememberable === true || given.remember === "none" ||
    Answering.isTrusted(environment, given.response)
  const said = Remembering.rememberOf(needs, counts ? given.remember : undefined)
  const subject = yield* Remembering.subjectOf(prepared)
  const isOfHistory = given.response !== undefined && counts && given.remember !== undefined
  const answered = yield* Remembering.answeredOf(environment, subject, claim, "approved", {
    remember: said,
    isOfHistory,
    decidedBy
  })
  yield* Remembering.give(environment, answered)
  return { ...run, answered }
})

export const hand: Hand = { seal, end, add, decided }

/** The words for why a call of ours is still open. */
export const openReason = (
  file: File,
  { reply }: Standing.Standing,
  { at, why }: Extract<Decision, { _tag: "Open" }>
): string | undefined => {
  if (why === "invalidAnswer") return invalidAnswers(file)[0]?.message
  if (why === "notAnApprover") return file.refusal?.message
  // Who has approved already stands beside it.
  if (why === "othersNeeded") return file.refusal?.problem === "approved already" ? undefined : file.refusal?.message
  if (file.tip !== undefined) return why === "held" ? Words.heldWaiting : why === "asked" ? file.note : Words.open[why]
  // Whoever was asked a moment ago is asked again as they were.
  if (why === "held" && reply === "given") return undefined
  return why === "unfitEdit" ? invalidEdit(file, at, why)?.message : Words.open[why]
}
