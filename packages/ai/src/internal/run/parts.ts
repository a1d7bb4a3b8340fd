/** What is said of a decision: results that the engine writes itself, and requests that are asked about again. */
import * as Effect from "effect/Effect"
import type * as Approval from "../../Approval.ts"
import * as ApprovalError from "../../ApprovalError.ts"
import type { Decision } from "../decide/decision.ts"
import * as Words from "../decide/words.ts"
import type { Case, File } from "../gather/file.ts"
import * as Proof from "../gather/proof.ts"
import * as Reply from "../gather/reply.ts"
import * as Suspension from "../gather/suspension.ts"
import * as Who from "../gather/who.ts"
import * as Late from "../history/late.ts"
import * as Results from "../history/results.ts"
import * as Ours from "./ours.ts"

/** The request that results name: of a run that has waited, the first. */
export const rootOf = ({ questions, root, waits }: File, at: number): string =>
  waits && root !== undefined ? root : questions[at]!.sealed.approvalId

/** A result of it, as one that came late if it did (law L7), and one that ends the turn if its denial had that effect. */
export const marked = (
  { call, late, questions, root, stops, waits }: File,
  part: Results.ResultPart
): Results.ResultPart => {
  const told = late === undefined || root === undefined ? part : Late.mark(part, late, root)
  return stops === true && (waits || Results.isDenied(part))
    ? Results.stopping(told, root ?? questions[0]?.sealed.approvalId ?? call.toolCallId)
    : told
}

/** A result without any run. */
export const toldPart = (file: File, { at, why }: Extract<Decision, { _tag: "Tell" }>): Results.ResultPart => {
  const { denial, failure, judged, recalled, root } = file
  const call = { id: file.call.toolCallId, name: file.call.toolName }
  switch (why) {
    case "cut":
      return Results.truncatedFinish(call, file.cut ?? "unknown")
    case "unknownTool":
      return Results.interrupted(call, Words.unknownTool(call.name))
    case "unfit":
      return Results.interrupted(call, failure!.message)
    case "lost":
      return Results.earlier(Results.interrupted(call, Results.lostReason))
    case "forged":
      return Results.interrupted(call, Proof.refusal(failure!.reason, hasBegun(file)), root)
    case "denied":
      return Results.denied(call, denial?.note, root, denial?.by, begunOf(file))
    case "noToolkit":
      return Results.interrupted(call, Results.noToolkitReason, file.questions[at]!.sealed.approvalId)
    case "blocked":
      return Results.denied(call, Ours.blockedReason(judged))
    case "remembered":
      return Results.denied(call, recalled?.reason, undefined, recalled?.decidedBy)
    case "unfinished":
      return Results.interrupted(call, Results.unfinishedReason)
    case "recorded": {
      const { entry } = file.questions[at]!
      return Results.ofEntry(call, entry!, rootOf(file, at), begunOf(file))
    }
    case "gone":
      return Results.interrupted(call, Words.gone, root)
    case "over":
      return Results.interrupted(call, Words.over, root)
  }
}

// Of requests none of which proves anything, each says of itself what it asks.
const hasBegun = ({ failure, history, waits }: File): boolean =>
  waits || (failure !== undefined &&
    history?.call.requests.some(({ part: { approvalId } }) => Suspension.isIdOf(approvalId)) === true)

/** What is to be said of a call whose tool had begun, where it did not come to its end. */
export const begunOf = (file: File): string | undefined => hasBegun(file) ? Words.begunAndEnded : undefined

/** A request that stays open, with why. */
export const openRequest = Effect.fnUntraced(function*(
  { file, standing }: Case,
  decision: Extract<Decision, { _tag: "Open" }>
): Effect.fn.Return<Approval.ApprovalRequest> {
  const asked = file.questions[decision.at]!
  const reason = Ours.openReason(file, standing, decision)
  if (file.tip !== undefined) {
    const said = Words.sentences(reason, Who.progress(file, asked))
    return Suspension.requestOf(file.environment.within, file.tip.suspension, said, Who.needed(file, asked))
  }
  const needs = yield* Reply.shownAgain(file, asked)
  return file.request(asked, Reply.withProgress(file, asked, reason === undefined ? needs : { ...needs, reason }))
})

/** What the turn fails with. */
export const failureOf = Effect.fnUntraced(function*(
  one: Case,
  { at, why }: Extract<Decision, { _tag: "Fail" }>
): Effect.fn.Return<ApprovalError.ApprovalError> {
  if (why === "forged") return one.file.failure!
  const request = yield* openRequest(one, { _tag: "Open", at, why: "asked" })
  return ApprovalError.make(new ApprovalError.ApprovalRequired({ requests: [request], content: [] }))
})
