/** The hand for calls that the provider runs: what is decided becomes an answer to it. */
import type * as Prompt from "effect/ai/Prompt"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Approval from "../../Approval.ts"
import * as ApprovalError from "../../ApprovalError.ts"
import * as ApprovalEvents from "../../ApprovalEvents.ts"
import type { DecidedBy } from "../../Approver.ts"
import type { Decision } from "../decide/decision.ts"
import type * as Standing from "../decide/standing.ts"
import * as Words from "../decide/words.ts"
import { definedFields } from "../fields.ts"
import * as Answering from "../gather/answering.ts"
import { type Asked, type File, forgetWho, type Given, withQuestion } from "../gather/file.ts"
import * as Proof from "../gather/proof.ts"
import * as Remembering from "../gather/remembering.ts"
import * as Request from "../gather/request.ts"
import * as Who from "../gather/who.ts"
import { advance, conclude, type Hand } from "../run/loop.ts"
import * as Ours from "../run/ours.ts"
import { claimOf, type HostedCase } from "./case.ts"

/** What the provider is told: an answer, or nothing but what the history says; or the request stays open. */
export type Settled =
  | {
    readonly _tag: "Answered"
    readonly answer: Approval.ApprovalAnswer | undefined
    /** The answer of the history that counts, where one does. */
    readonly counts: Prompt.ToolApprovalResponsePart | undefined
  }
  | { readonly _tag: "Open"; readonly request: Approval.ApprovalRequest }

export const settle = (one: HostedCase): Effect.Effect<Settled, ApprovalError.ApprovalError> =>
  Effect.flatMap(
    Effect.flatMap(
      advance(hand, one, ["reply"]),
      (said) => said._tag === "Need" ? conclude(hand, one) : Effect.succeed(said)
    ),
    (decision) => settledBy(one, decision)
  )

// The "no" of a history that counts.
const denialIn = ({ denial, questions }: File, standing: Standing.Standing): Given | undefined => {
  if (standing.denied || typeof standing.questions === "string") return denial
  return questions[0]!
    .given[standing.questions[0]!.answers.findIndex(({ says, who }) => says === "no" && who !== "stranger")]
}

const settledBy = (
  { file, request, standing }: HostedCase,
  decision: Decision
): Effect.Effect<Settled, ApprovalError.ApprovalError> => {
  const answered = (answer: Approval.ApprovalAnswer | undefined, counts?: Given | undefined) =>
    Effect.succeed<Settled>({ _tag: "Answered", answer, counts: counts?.response })
  switch (decision._tag) {
    case "Open":
    case "Keep":
    case "Wait":
      return Effect.succeed({ _tag: "Open", request: shownOpen(file, request, standing, decision) })
    case "Leave":
      return answered(undefined, denialIn(file, standing))
    case "Run":
      return isAdded(file, decision)
        ? answered(Approval.approve(request, { note: approvalNote(file, decision) }))
        : answered(undefined, file.questions[0]!.given[decision.by])
    case "Tell":
      return answered(
        decision.why === "denied"
          ? undefined
          : Approval.deny(request, file.questions[0]!.ended ?? unproven(file), { stop: file.stops })
      )
    case "Fail":
      return Effect.fail(
        decision.why === "forged"
          ? file.failure!
          : ApprovalError.make(new ApprovalError.ApprovalRequired({ requests: [request], content: [] }))
      )
  }
}

// The model reads it.
const unproven = ({ failure }: File): string | undefined =>
  failure === undefined ? undefined : Proof.refusal(failure.reason, false)

// With why what was decided settles nothing, and who has approved already.
const shownOpen = (
  file: File,
  request: Approval.ApprovalRequest,
  standing: Standing.Standing,
  decision: Decision
): Approval.ApprovalRequest => {
  const needs =
    file.judged !== undefined && Result.isSuccess(file.judged) && file.judged.success._tag === "NeedsApproval"
      ? file.judged.success
      : undefined
  const refused = decision._tag === "Open" && (decision.why === "notAnApprover" || decision.why === "othersNeeded")
    ? Ours.openReason(file, standing, decision)
    : undefined
  const reason = Words.sentences(refused, Who.progress(file, file.questions[0]!))
  const selfApproval = needs?.selfApproval === false ? false : undefined
  return needs?.approvers === undefined && selfApproval === undefined && reason === undefined
    ? request
    : new Approval.ApprovalRequest({
      ...request,
      ...definedFields({ approvers: needs?.approvers, selfApproval, reason: reason ?? request.reason })
    })
}

// The provider's request is in no journal but for this, and its id is the provider's: it is kept for a while.
const lifetime = Duration.toMillis(Duration.days(30))

const add: Hand["add"] = Effect.fnUntraced(function*(file, standing, { at, by }) {
  const asked = file.questions[at]!
  const given = asked.given[by]!
  const claim = yield* claimOf(file)
  asked.entry = yield* file.environment.journal.approve({
    ...claim,
    decidedBy: given.by,
    expiresAt: (yield* Clock.currentTimeMillis) + lifetime
  })
  given.isAdded = true
  yield* Ours.kept(file, asked, given.by)
  return forgetWho(standing, at)
})

const end: Hand["end"] = Effect.fnUntraced(function*(file, standing, ending) {
  const { at, state, why } = ending
  const asked = file.questions[at]!
  const reason = Ours.reasonOf(file, ending)
  asked.ended = reason
  yield* changed(file, asked, state, reason, Ours.deciderOf(file, ending))
  if (why === "said") yield* remember(file, "denied", file.denial)
  return withQuestion(standing, at, { fate: { state, written: true } })
})

const decided: Hand["decided"] = Effect.fnUntraced(function*(file, standing, decision) {
  const asked = file.questions[0]!
  switch (decision._tag) {
    case "Fail":
    case "Tell":
      if (decision.why === "forged") yield* refuse(file, file.request(asked, {}), file.failure!.reason)
      return
    case "Leave":
      return yield* remember(file, "denied", denialIn(file, standing))
    case "Open":
      return
    case "Run": {
      const given = asked.given[decision.by]
      const decidedBy = given?.by
      if (isAdded(file, decision)) {
        yield* changed(file, asked, "approved", approvalNote(file, decision), decidedBy)
      }
      yield* remember(file, "approved", given)
    }
  }
})

/** Nothing is sealed for the provider's own request. */
export const hand: Hand = { seal: (_, standing) => Effect.succeed(standing), end, add, decided }

// What a history says reaches the provider from there.
const isAdded = ({ questions }: File, { by }: Run): boolean => questions[0]!.given[by]?.response === undefined

type Run = Extract<Decision, { _tag: "Run" }>

const approvalNote = ({ judged, questions }: File, { by }: Run): string | undefined =>
  questions[0]!.given[by]?.note ??
    (judged !== undefined && Result.isSuccess(judged) && judged.success._tag === "PreApproved"
      ? judged.success.reason
      : undefined)

const changed = (
  { call }: File,
  { sealed }: Asked,
  state: Approval.ApprovalState,
  reason: string | undefined,
  decidedBy: DecidedBy | undefined
) =>
  ApprovalEvents.publish((occasion) => ({
    _tag: "Changed",
    ...occasion,
    ...Request.about(call, sealed),
    state,
    reason,
    decidedBy
  }))

export const refuse = (
  { environment }: File,
  request: Approval.ApprovalRequest,
  reason: ApprovalError.ApprovalErrorReason
) => {
  environment.onRefused(request.approvalId, reason)
  return ApprovalEvents.publish((occasion) => ({
    _tag: "Refused",
    ...occasion,
    ...Request.about(request, request),
    reason
  }))
}

// The answer has its effect when the provider is told. In a history it counts only where whoever wrote it is trusted; the
// memory keeps it once, by the id of its request.
const remember = Effect.fnUntraced(function*(
  file: File,
  decision: "approved" | "denied",
  given: Given | undefined
): Effect.fn.Return<void> {
  const { call: { toolCallId }, environment } = file
  if (given === undefined || !environment.memory.remembers) return
  if (
    given.response !== undefined && (given.remember === undefined || !Answering.isTrusted(environment, given.response))
  ) return
  const { approvalId, nonce } = file.questions[0]!.sealed
  const judged = file.judged ?? (yield* Effect.result(file.judge(undefined)))
  const needs = Result.isSuccess(judged) && judged.success._tag === "NeedsApproval" ? judged.success : undefined
  if (Result.isFailure(judged)) return
  const answered = yield* Remembering.answeredOf(
    environment,
    yield* file.subject,
    { nonce, approvalId, toolCallId },
    decision,
    {
      remember: Remembering.rememberOf(needs, given.remember),
      isOfHistory: given.response !== undefined,
      note: given.note,
      decidedBy: given.by
    }
  )
  yield* Remembering.take(environment, answered, given.response !== undefined)
})
