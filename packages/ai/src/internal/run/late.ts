/**
 * A denial that came when the call had its result already. If the call never ran, as without a toolkit, it never will,
 * whatever history comes later (law L3); else it changes nothing.
 */
import * as Effect from "effect/Effect"
import type * as ApprovalError from "../../ApprovalError.ts"
import * as Answering from "../gather/answering.ts"
import * as History from "../gather/history.ts"
import * as Order from "../gather/order.ts"
import * as Proof from "../gather/proof.ts"
import * as Request from "../gather/request.ts"
import * as Suspension from "../gather/suspension.ts"
import * as Results from "../history/results.ts"
import type * as Transcript from "../history/transcript.ts"
import * as Ours from "./ours.ts"

/** Writes it down. */
export const deny = Effect.fnUntraced(function*(
  subject: History.Subject,
  { call, denial }: Transcript.LateDenial
): Effect.fn.Return<void, ApprovalError.ApprovalError> {
  const { environment, transcript } = subject
  const { file } = yield* History.read(subject, call, { recalling: Order.none, runs: Order.make() })
  const given = Answering.givenOf(environment, transcript.messages)(denial)
  for (const { expired, request, sealed } of file.questions) {
    if (expired !== undefined || !(yield* Proof.isOwn(environment, transcript, call, { request: request!, sealed }))) {
      continue
    }
    const claim = Request.claimOf(sealed, file.call, given.by)
    const entry = yield* environment.journal.end(claim, "denied", Results.reasonOr(denial.reason))
    if (entry.state !== "denied") continue
    if (Suspension.isSealed(sealed)) yield* Effect.ignore(environment.suspensions.end(sealed.approvalId))
    else yield* Ours.rememberDenial(file, claim, given)
  }
})
