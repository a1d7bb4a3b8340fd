/** Brings the one fact that a decision turns on. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as ApprovalError from "../../ApprovalError.ts"
import type { Need } from "../decide/decision.ts"
import type * as Standing from "../decide/standing.ts"
import * as Presentation from "../tool/presentation.ts"
import * as Edits from "./edits.ts"
import * as Fate from "./fate.ts"
import { type File, withQuestion } from "./file.ts"
import * as Proof from "./proof.ts"
import * as Remembering from "./remembering.ts"
import * as Reply from "./reply.ts"
import * as Verdict from "./verdict.ts"
import * as Wait from "./wait.ts"
import * as Who from "./who.ts"

export const gather = (
  file: File,
  standing: Standing.Standing,
  need: Need
): Effect.Effect<Standing.Standing, ApprovalError.ApprovalError> => {
  switch (need.fact) {
    case "own":
      return own(file, standing, need.at)
    case "fate":
      return Fate.gather(file, standing, need.at)
    case "claim":
      return Effect.succeed(Who.gatherClaim(file, standing, need.at))
    case "wait":
      return Wait.gather(file, standing, need.at)
    case "answer":
      return Wait.gatherAnswer(file, standing)
    case "state":
      return Wait.gatherState(file, standing)
    case "verdict":
      return verdict(file, standing)
    case "shown":
      return shown(file, standing, need.at)
    case "leads":
      return Edits.gatherLeads(file, standing, need.at, need.by)
    case "editVerdict":
      return Edits.gatherVerdict(file, standing, need.at, need.by)
    case "editDenied":
      return Edits.gatherDenied(file, standing, need.at, need.by)
    case "who":
      return Who.gather(file, standing, need.at, need.by)
    case "recall":
      return Reply.gatherRecall(file, standing)
    case "finish":
      // Whoever reads the response says how it ended; a call that is decided without one had it whole.
      return Effect.succeed({ ...standing, finish: "complete" })
    case "reply":
      return Reply.gather(file, standing)
  }
}

const own = (
  { environment, history, questions }: File,
  standing: Standing.Standing,
  at: number
): Effect.Effect<Standing.Standing, ApprovalError.ApprovalError> => {
  const { request, sealed } = questions[at]!
  return history === undefined || request === undefined
    ? Effect.succeed(withQuestion(standing, at, { own: true }))
    : Effect.mapEager(
      Proof.isOwn(environment, history.transcript, history.call, { request, sealed }),
      (own) => withQuestion(standing, at, { own })
    )
}

const verdict = Effect.fnUntracedEager(function*(
  file: File,
  standing: Standing.Standing
): Effect.fn.Return<Standing.Standing> {
  const prepared = file.tip === undefined ? file.prepared : yield* Wait.prepare(file)
  file.judged = yield* Effect.matchEager(file.judge(prepared), { onFailure: Result.fail, onSuccess: Result.succeed })
  if (Result.isSuccess(file.judged)) {
    yield* Remembering.warnForgetful(file.environment, file.judged.success, file.call.toolName)
  }
  if (Result.isFailure(file.judged) && prepared !== undefined && standing.questions === "none") {
    yield* Verdict.warn(prepared)
  }
  return { ...standing, verdict: Verdict.verdictOf(file.judged) }
})

// What a person was shown is part of what they approved.
const shown = Effect.fnUntracedEager(function*(
  { judged, questions }: File,
  standing: Standing.Standing,
  at: number
): Effect.fn.Return<Standing.Standing> {
  const asked = questions[at]!
  asked.changed = judged === undefined || Result.isFailure(judged)
    ? undefined
    : yield* Presentation.drift(asked.sealed, judged.success)
  return withQuestion(standing, at, { shown: asked.changed === undefined ? "same" : "changed" })
})
