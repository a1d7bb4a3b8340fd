/** What the journal knows of a request (law L2). What is read is a hint: only its compare-and-set guards a run. */
import * as Effect from "effect/Effect"
import * as ApprovalError from "../../ApprovalError.ts"
import * as ApprovalEvents from "../../ApprovalEvents.ts"
import type * as ApprovalJournal from "../../ApprovalJournal.ts"
import * as Standing from "../decide/standing.ts"
import { type File, withQuestion } from "./file.ts"
import * as Request from "./request.ts"

/** `written`: it is what a write of ours found. */
export const of = (entry: ApprovalJournal.Entry | undefined, written: boolean): Standing.Fate => {
  if (entry === undefined || entry.state === "pending") return Standing.pending
  if (entry.suspendedAs !== undefined) return { state: "suspended", written }
  // What was taken back has ended as what was passed over has: nothing ran for it, and nobody said no.
  if (entry.state === "cancelled") return { state: "superseded", written }
  // Of one that says not for what it waits nobody can know more than that it began.
  return { state: entry.state === "suspended" ? "unknown" : entry.state as Standing.Decided, written }
}

export const gather = Effect.fnUntraced(function*(
  file: File,
  standing: Standing.Standing,
  at: number
): Effect.fn.Return<Standing.Standing, ApprovalError.ApprovalError> {
  const { call, environment, history, questions } = file
  const asked = questions[at]!
  const claim = Request.claimOf(asked.sealed, call)
  const entry = yield* environment.journal.find(claim)
  asked.entry = entry
  // An answer that comes after the other one has had its effect (law L3).
  if (entry !== undefined && history !== undefined && contradicts(history.call.requests, entry)) {
    const { approvalId } = claim
    const reason = new ApprovalError.AlreadyDecided({ approvalId, state: entry.state })
    environment.onRefused(approvalId, reason)
    yield* ApprovalEvents.publish((occasion) => ({
      _tag: "Refused",
      ...occasion,
      ...Request.about(call),
      approvalId,
      reason
    }))
  }
  return withQuestion(standing, at, { fate: of(entry, false) })
})

const contradicts = (
  requests: NonNullable<File["history"]>["call"]["requests"],
  { state }: ApprovalJournal.Entry
): boolean => {
  if (state === "pending") return false
  const ran = state === "running" || state === "unknown" || state === "done" || state === "failed" ||
    state === "suspended"
  return requests.some(({ responses }) => responses.some(({ approved }) => approved !== ran))
}
