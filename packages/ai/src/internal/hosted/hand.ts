/** The hand for calls that the provider runs: what is decided becomes an answer to it. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Approval from "../../Approval.ts"
import * as ApprovalError from "../../ApprovalError.ts"
import * as ApprovalEvents from "../../ApprovalEvents.ts"
import type { DecidedBy } from "../../Approver.ts"
import type { Decision } from "../decide/decision.ts"
import { type Asked, type File, type Given, withQuestion } from "../gather/file.ts"
import * as Remembering from "../gather/remembering.ts"
import * as Request from "../gather/request.ts"
import { advance, conclude, type Hand } from "../run/loop.ts"
import * as Ours from "../run/ours.ts"
import type { HostedCase } from "./case.ts"

/** What the provider is told: an answer, or nothing but what the history says; or the request stays open. */
export type Settled =
  | { readonly _tag: "Answered"; readonly answer: Approval.ApprovalAnswer | undefined }
  | { readonly _tag: "Open"; readonly request: Approval.ApprovalRequest }

export const settle = (one: HostedCase): Effect.Effect<Settled, ApprovalError.ApprovalError> =>
  Effect.flatMap(
    Effect.flatMap(
      advance(hand, one, ["reply"]),
      (said) => said._tag === "Need" ? conclude(hand, one) : Effect.succeed(said)
    ),
    (decision) => settledBy(one, decision)
  )

const settledBy = (
  { file, request }: HostedCase,
  decision: Decision
): Effect.Effect<Settled, ApprovalError.ApprovalError> => {
  const answered = (answer: Approval.ApprovalAnswer | undefined) =>
    Effect.succeed<Settled>({ _tag: "Answered", answer })
  switch (decision._tag) {
    case "Open":
    case "Keep":
    case "Wait":
      return Effect.succeed({ _tag: "Open", request })
    case "Leave":
      return answered(undefined)
    case "Run":
      return answered(isAdded(file) ? Approval.approve(request, { note: approvalNote(file) }) : undefined)
    case "Tell":
      return answered(
        decision.why === "denied"
          ? undefined
          : Approval.deny(request, file.questions[0]!.ended ?? file.failure?.message)
      )
    case "Fail":
      return Effect.fail(
        decision.why === "forged"
          ? file.failure!
          : ApprovalError.make(new ApprovalError.ApprovalRequired({ requests: [request], content: [] }))
      )
  }
}

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
  const [given] = asked.given
  switch (decision._tag) {
    case "Fail":
    case "Tell":
      if (decision.why === "forged") yield* refuse(file.request(asked, {}), file.failure!.reason)
      return
    case "Leave":
      if (standing.denied) yield* remember(file, "denied", file.denial)
      return
    case "Run":
      if (isAdded(file)) yield* changed(file, asked, "approved", approvalNote(file), given?.by)
      yield* remember(file, "approved", given)
  }
})

/** Nothing is sealed for the provider's own request. */
export const hand: Hand = { seal: (_, standing) => Effect.succeed(standing), end, decided }

// What a history says reaches the provider from there.
const isAdded = ({ questions }: File): boolean => questions[0]!.given[0]?.response === undefined

const approvalNote = ({ judged, questions }: File): string | undefined =>
  questions[0]!.given[0]?.note ??
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

export const refuse = (request: Approval.ApprovalRequest, reason: ApprovalError.ApprovalErrorReason) =>
  ApprovalEvents.publish((occasion) => ({ _tag: "Refused", ...occasion, ...Request.about(request, request), reason }))

// The answer has its effect when the provider is told. In a history it counts only where whoever wrote it is trusted; the
// memory keeps it once, by the id of its request.
const remember = Effect.fnUntraced(function*(
  file: File,
  decision: "approved" | "denied",
  given: Given | undefined
): Effect.fn.Return<void> {
  const { call: { toolCallId }, environment } = file
  if (given === undefined || !environment.memory.remembers) return
  if (given.response !== undefined && (given.remember === undefined || !environment.trustsAnswers)) return
  const { approvalId, nonce } = file.questions[0]!.sealed
  const judged = file.judged ?? (yield* Effect.result(file.judge(undefined)))
  const needs = Result.isSuccess(judged) && judged.success._tag === "NeedsApproval" ? judged.success : undefined
  if (Result.isFailure(judged)) return
  const answered = yield* Remembering.answeredOf(
    environment,
    yield* file.subject,
    { nonce, approvalId, toolCallId },
    decision,
    { remember: Remembering.rememberOf(needs, given.remember), note: given.note, decidedBy: given.by }
  )
  yield* Remembering.take(environment, answered, given.response !== undefined)
})
