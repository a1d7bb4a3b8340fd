/**
 * What is remembered of a call, and what whoever answers for a person says of it now. The person may take their time, and
 * may change the parameters.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import * as Approval from "../../Approval.ts"
import * as ApprovalEvents from "../../ApprovalEvents.ts"
import * as Approver from "../../Approver.ts"
import * as Within from "../agent/within.ts"
import * as Asking from "../asking/asking.ts"
import * as MemoryGuard from "../asking/memoryGuard.ts"
import * as Standing from "../decide/standing.ts"
import * as Words from "../decide/words.ts"
import * as Prepare from "../tool/prepare.ts"
import * as Answering from "./answering.ts"
import * as Approvers from "./approvers.ts"
import { type Asked, type File, type Given, question, withQuestion } from "./file.ts"
import * as Order from "./order.ts"
import * as Proof from "./proof.ts"
import * as Remembering from "./remembering.ts"
import * as Request from "./request.ts"
import * as Suspension from "./suspension.ts"
import * as Verdict from "./verdict.ts"
import * as Wait from "./wait.ts"
import * as Who from "./who.ts"

// =============================================================================
// What was answered before
// =============================================================================

/** Looked up in the order of the calls: an approval that is remembered may have few uses (law L2). */
export const gatherRecall = Effect.fnUntraced(function*(
  file: File,
  standing: Standing.Standing
): Effect.fn.Return<Standing.Standing> {
  yield* file.recalling.wait
  const { judged, questions } = file
  const said = questions.length === 0 || standing.way === "hosted"
    ? Result.isSuccess(judged!) ? judged.success : Verdict.needsOf(judged!)
    : yield* shownAgain(file, questions[first(standing)]!)
  const known = yield* Effect.result(recall(file, said))
  if (Result.isFailure(known)) {
    file.doubt = known.failure === MemoryGuard.doubtful ? doubtful : unavailable
    return { ...standing, recall: "unsure" }
  }
  file.recalled = known.success
  const { success } = known
  if (success === undefined) return { ...standing, recall: "nothing" }
  if (success.decision === "denied" || typeof standing.questions === "string") {
    return { ...standing, recall: success.decision }
  }
  const { expired } = questions[first(standing)]!
  return {
    ...withReply(file, standing, remembered(success), expired),
    recall: "approved",
    // It was asked a moment ago, and nobody took any time since.
    verdict: standing.verdict
  }
})

const recall = (file: File, said: Approval.ApprovalResult) =>
  Effect.flatMap(
    file.subject,
    (subject) => Remembering.recall(file.environment, subject, said, file.call.toolCallId)
  )

// What answers here was remembered before: it is no new answer, to be remembered anew.
const remembered = ({ decidedBy, decision, reason }: Remembering.Recalled): Asking.Reply => ({
  decision: decision === "denied"
    ? new Approval.Denied({ note: reason })
    : new Approval.Approved({ note: reason, remember: "none" }),
  decidedBy,
  isProgram: false
})

const unavailable = "The remembered answers could not be read, so a person is asked."

const doubtful = "It is not clear whether a remembered denial covers this call, so a person is asked."

// =============================================================================
// Whoever can be asked
// =============================================================================

/** The controller's answer, or what is remembered by now: an answer to a sibling may cover this call too. */
export const gather = Effect.fnUntraced(function*(
  file: File,
  standing: Standing.Standing
): Effect.fn.Return<Standing.Standing> {
  const at = first(standing)
  const asked = file.questions[at]!
  const request = Within.shownOutside(file.environment.within, yield* requestOf(file, asked))
  const known = file.tip !== undefined || !file.environment.memory.remembers
    ? undefined
    : yield* Effect.orElseSucceed(recall(file, file.needs ?? new Approval.NeedsApproval({})), () => undefined)
  const reply = known !== undefined ? remembered(known) : yield* ask(file, request, expiryOf(file, standing))
  if (reply === "late") {
    file.questions = file.questions.with(at, { ...asked, expired: yield* expired(file, asked) })
    // A run may go on without an answer: what the policy said of that is old by now (law L11).
    return file.tip === undefined
      ? { ...standing, reply }
      : { ...withQuestion(standing, at, { expired: true }), reply: "none", verdict: undefined }
  }
  if (reply === undefined || reply.decision._tag === "Info") {
    file.note = reply?.decision.note
    return { ...standing, reply: "none" }
  }
  if (reply.decision._tag === "Denied" && reply.decision.stop === true) file.stops = true
  if (file.tip !== undefined) {
    const { decidedBy, decision, isProgram } = reply
    return Wait.withReply(file, standing, decision, decidedBy, isProgram, yield* expired(file, asked))
  }
  // It is to run when those are through that were approved before it.
  if (reply.decision._tag === "Approved" && shownOf(standing) !== "nothing") file.running ??= file.runs?.join()
  return withReply(file, standing, reply, yield* expired(file, asked))
})

const expired = ({ tip }: File, { sealed }: Asked): Effect.Effect<string | undefined> =>
  tip === undefined ? Proof.expiry(sealed) : Wait.expiry(tip)

/** Until when whoever is asked may answer. */
export const expiryOf = ({ questions, tip }: File, standing: Standing.Standing): number =>
  tip === undefined ? questions[first(standing)]!.sealed.expiresAt : tip.suspension.expiresAt

// The next may be asked once this question is put, and not when it is about to be.
const ask = Effect.fnUntraced(function*(
  file: File,
  request: Approval.ApprovalRequest,
  expiresAt: number
): Effect.fn.Return<Asking.Reply | "late" | undefined> {
  const { controller } = file.environment
  const remaining = expiresAt - (yield* Clock.currentTimeMillis)
  if (remaining <= 0) return "late"
  if (file.announces) {
    yield* ApprovalEvents.publish((occasion) => ({
      _tag: "Requested",
      ...occasion,
      ...Request.about(file.call, request),
      request
    }))
  }
  const asked = Asking.ask(controller, request, aboutAnswers(file))
  // Whoever is asked is told by their signal that nobody waits any more.
  const answer: Effect.Effect<Asking.Reply | "late" | undefined> = remaining === Infinity
    ? asked
    : Effect.timeoutOrElse(asked, { duration: remaining, orElse: () => Effect.succeed("late" as const) })
  if (file.asking === Order.none) return yield* answer
  const asking = yield* Effect.forkChild(answer, { startImmediately: true })
  yield* file.asking.leave
  return yield* Fiber.join(asking)
})

const nobody = Approver.decidedBy(undefined, "controller")

// What a controller may know of a call that it is asked about.
const aboutAnswers = (file: File): Asking.About => {
  const { environment, prepared, tip } = file
  if (tip !== undefined) {
    return {
      remembers: undefined,
      check: (answer) =>
        Effect.match(Answering.readAnswer(tip, tip.waiting!.interaction, answer, nobody), {
          onFailure: (problem) => problem,
          onSuccess: () => undefined
        })
    }
  }
  const remembers = Remembering.lifetimeOf(environment)
  return prepared === undefined
    ? { remembers }
    : { remembers, check: (params) => Prepare.problemOf(prepared, params) }
}

/** The request as a person sees it now. */
export const requestOf = Effect.fnUntraced(function*(
  file: File,
  asked: Asked
): Effect.fn.Return<Approval.ApprovalRequest> {
  if (file.tip !== undefined) {
    return Suspension.requestOf(
      file.environment.within,
      file.tip.suspension,
      Who.progress(file, asked),
      Who.needed(file, asked)
    )
  }
  file.needs = yield* shownAgain(file, asked)
  return file.request(asked, withProgress(file, asked, file.needs))
})

/** Whoever is asked is told who has approved already. */
export const withProgress = (file: File, asked: Asked, needs: Request.Shown): Request.Shown => {
  const progress = Who.progress(file, asked)
  return progress === undefined
    ? needs
    : { ...needs, reason: Words.sentences(needs.reason, progress), approvers: Who.needed(file, asked) }
}

/** How it was asked in this turn, or how it is asked again: what was sealed is what may be shown. */
export const shownAgain = ({ judged, needs }: File, { sealed }: Asked): Effect.Effect<Approval.NeedsApproval> =>
  needs !== undefined
    ? Effect.succeed(needs)
    : judged === undefined
    ? Effect.succeed(new Approval.NeedsApproval({}))
    : Verdict.shownAgain(sealed, judged)

// The answer stands among the others from here on; what the policy said is old by now (law L11).
const withReply = (
  file: File,
  standing: Standing.Standing,
  { decidedBy: by, decision: reply, isProgram }: Asking.Reply,
  expired: string | undefined
): Standing.Standing => {
  const at = first(standing)
  const shown = shownOf(standing)
  // They were asked as the policy has it now.
  const named = (typeof standing.questions !== "string" && standing.questions[at]!.named) ||
    Approvers.namingOf(file.judged).some(Approvers.names)
  const params = reply._tag === "Approved" ? reply.params : undefined
  const remember = reply._tag === "Info" ? undefined : reply.remember
  const isApproval = reply._tag === "Approved"
  const { note } = reply
  const given: Given = isApproval
    ? { by, note, remember, params }
    : { by, note, isProgram, remember: remember ?? "none" }
  file.denial = isApproval ? undefined : given
  file.questions = [{ ...file.questions[at]!, given: [given], expired }]
  return {
    ...standing,
    reply: "given",
    denied: !isApproval && !named,
    trusted: true,
    verdict: file.judgedAgain ? standing.verdict : undefined,
    questions: [question({
      answers: [!isApproval ? Standing.no : params === undefined ? Standing.yes : Standing.edit],
      expired: expired !== undefined,
      named,
      shown: shown === "nothing" ? "nothing" : undefined
    })]
  }
}

const shownOf = (standing: Standing.Standing): Standing.Question["shown"] =>
  typeof standing.questions === "string" ? undefined : standing.questions[first(standing)]!.shown

/** The place of the question that is asked: the first of this call. */
export const first = ({ questions }: Standing.Standing): number =>
  typeof questions === "string" ? 0 : Math.max(0, questions.findIndex(({ own }) => own === true))
