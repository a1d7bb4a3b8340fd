/** What comes when a call has its result already: a denial, or what nobody knew then. */
import type * as Prompt from "effect/ai/Prompt"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as ApprovalError from "../../ApprovalError.ts"
import type * as ApprovalJournal from "../../ApprovalJournal.ts"
import type * as ApprovalSeal from "../../ApprovalSeal.ts"
import type * as Environment from "../environment/environment.ts"
import * as Answering from "../gather/answering.ts"
import * as History from "../gather/history.ts"
import * as Order from "../gather/order.ts"
import * as Proof from "../gather/proof.ts"
import * as Request from "../gather/request.ts"
import * as Suspension from "../gather/suspension.ts"
import * as Tools from "../gather/tools.ts"
import * as Late from "../history/late.ts"
import * as Results from "../history/results.ts"
import * as Transcript from "../history/transcript.ts"
import * as Execution from "./execution.ts"
import * as Ours from "./ours.ts"

/**
 * Writes a denial down. If the call never ran, as without a toolkit, it never will, whatever history comes later (law L3);
 * else it changes nothing.
 */
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

/**
 * What is on record by now of a call whose result says that nobody knew: a result that comes late (law L2). It is of a
 * request that proves to be its own; of anything else nothing is told.
 */
export const tell = (
  subject: History.Subject,
  call: Transcript.TranscriptCall
): Effect.Effect<Results.ResultPart | undefined> =>
  // What the model was told stays true: it is looked up again in the next turn.
  Effect.orElseSucceed(lookUp(subject, call), () => undefined)

const lookUp = Effect.fnUntraced(function*(
  { environment, tools, transcript }: History.Subject,
  call: Transcript.TranscriptCall
): Effect.fn.Return<Results.ResultPart | undefined, ApprovalError.ApprovalError> {
  const { messageIndex, part, requests, result } = call
  const assent: unknown = result?.options?.assent
  const told = result === undefined ? undefined : Results.reasonOf(result).reason
  if (told === undefined || !Transcript.isUnknown(assent)) return undefined
  const { approvalId } = assent
  if (!requests.some((request) => request.part.approvalId === approvalId)) return undefined
  const prepared = yield* History.prepare(Tools.toolOf(tools, part.name), part)
  const checked = yield* Proof.verify(environment, call, prepared)
  const seen = new Set<string>()
  for (const verified of Result.isFailure(checked) ? [] : checked.success) {
    if (!(yield* Proof.isOwn(environment, transcript, call, verified))) continue
    const entry = yield* lastEntry(environment, part, verified.sealed, seen)
    if (entry?.state !== "done" && entry?.state !== "failed") continue
    const recorded = yield* Execution.recorded(entry, part, {
      root: approvalId,
      tool: prepared?.tool,
      begun: undefined,
      waitsAs: approvalId
    })
    if (recorded.part === undefined) return undefined
    return Late.mark(recorded.part, { told, after: Late.countAfter(transcript.messages, messageIndex) }, approvalId)
  }
  return undefined
})

// A run that waits goes on under another request, which the history may not have.
const lastEntry = Effect.fnUntraced(function*(
  { journal, seal }: Environment.Environment,
  part: Prompt.ToolCallPart,
  first: ApprovalSeal.Sealed,
  seen: Set<string>
): Effect.fn.Return<ApprovalJournal.Entry | undefined, ApprovalError.ApprovalError> {
  let sealed = first
  while (!seen.has(sealed.approvalId)) {
    seen.add(sealed.approvalId)
    const entry = yield* journal.find(Request.claimOf(sealed, Request.named(part)))
    if (entry?.suspendedAs === undefined) return entry
    const parsed = seal.parse(entry.suspendedAs)
    if (Result.isFailure(parsed)) return undefined
    sealed = parsed.success
  }
  return undefined
})
