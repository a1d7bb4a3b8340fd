/**
 * Calls that stand in the history without a result: each is settled by its verified request, the journal, the answers,
 * and the policy again (law L11). Nothing here runs a tool.
 */
import type * as Prompt from "effect/ai/Prompt"
import type * as Tool from "effect/ai/Tool"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as ApprovalError from "../ApprovalError.ts"
import * as ApprovalEvents from "../ApprovalEvents.ts"
import type * as ApprovalJournal from "../ApprovalJournal.ts"
import type * as ApprovalSeal from "../ApprovalSeal.ts"
import * as Canonical from "./canonical.ts"
import * as Consult from "./consult.ts"
import * as Decision from "./decision.ts"
import type * as Environment from "./environment.ts"
import * as Judge from "./judge.ts"
import * as Prepare from "./prepare.ts"
import * as Presentation from "./presentation.ts"
import * as Remembering from "./remembering.ts"
import * as Results from "./results.ts"
import * as Resuming from "./resuming.ts"
import * as Suspending from "./suspending.ts"
import * as Transcript from "./transcript.ts"

const heldReason =
  "The approval policy failed, so the approved call did not run yet. Nothing is lost: mend the policy" +
  " and try again."

const untrustedEdit = "they came in a message history, which anybody may have written."

const untrustedEditReason = "Edited parameters count only from a trusted channel, so the call did not run. Approve or" +
  " deny it as it was proposed."

const runningReason = "The call was approved and is still running."

interface Verified {
  readonly request: Transcript.TranscriptRequest
  readonly sealed: ApprovalSeal.Sealed
  /** The parameters that were sealed. */
  readonly canonical: string
}

type Subject = Resuming.Subject

/** Settles one call of the history that has no result. */
export const settle = Effect.fnUntraced(function*(
  subject: Subject,
  call: Transcript.TranscriptCall
): Effect.fn.Return<Decision.Decision, ApprovalError.ApprovalError> {
  const { environment, resolvesCalls, tools, transcript } = subject
  const { part } = call
  const responses = call.requests.flatMap((request) => request.responses)
  if (call.requests.length === 0) return Decision.result(Results.earlier(Results.interrupted(part, Results.lostReason)))
  const denial = responses.find((response) => !response.approved)
  const tool = tools === undefined ? undefined : Judge.toolOf(tools, part.name)
  const prepared = yield* prepare(tool, part)
  const checked = yield* verify(environment, call, prepared)
  if (Result.isFailure(checked)) {
    const { approvalId } = call.requests[0]!.part
    yield* refuse(part, approvalId, checked.failure.reason)
    // A denial needs no proof: nothing runs.
    if (denial !== undefined) return Decision.result(Results.denied(part, denial.reason, approvalId))
    if (environment.options.onInvalid === "fail") return yield* checked.failure
    return Decision.result(Results.interrupted(part, checked.failure.message, approvalId))
  }

  const verified = yield* Effect.filter(checked.success, (one) => isOwn(subject, call, one))
  if (verified.length === 0) return Decision.result(Results.earlier(Results.interrupted(part, Results.lostReason)))
  const named = Decision.named(part)
  const waiting = (one: Verified, approvalId: string) =>
    Resuming.settle(
      subject,
      { ...named, root: call.requests[0]!.part.approvalId, canonical: one.canonical, prepared },
      approvalId
    )
  // The last of its steps: what became of those before may be forgotten by now.
  const suspension = verified.findLast(({ sealed }) => Suspending.isSealedSuspension(sealed))
  if (suspension !== undefined) return yield* waiting(suspension, suspension.sealed.approvalId)
  const shown = prepared ?? unprepared(part)
  // Only an answer to a request that we sealed for this very call counts, and only as it was proposed.
  // As it was proposed, the call is judged once, by whoever has to know.
  const judged = prepared === undefined
    ? Effect.succeed(Result.fail(ApprovalError.make(new ApprovalError.PolicyFailed({ toolName: part.name }))))
    : yield* Effect.cached(Effect.result(Judge.askPolicy(environment, prepared, transcript.messages)))
  const { trustsAnswers } = environment
  const countsEdits = verified.some(isEdited) && (trustsAnswers || (yield* isEditable(judged)))
  const counts = countsEdits ? isApproval : isPlainApproval
  const approval = verified.find(({ request }) => request.responses.some(counts))
  const { canonical, request, sealed } = approval ?? verified[0]!
  const claim = Decision.claimOf(sealed, named)
  const standing = {
    runnable: resolvesCalls ? prepared : undefined,
    whileRunning: () => Decision.open(sealed, shown, { reason: runningReason })
  }
  for (const one of verified) {
    const claimed = Decision.claimOf(one.sealed, named)
    const entry = yield* environment.journal.find(claimed)
    if (entry !== undefined && contradicts(responses, entry)) {
      yield* refuse(part, claimed.approvalId, new ApprovalError.AlreadyDecided({ ...claimed, state: entry.state }))
    }
    if (entry?.suspendedAs !== undefined) return yield* waiting(one, entry.suspendedAs)
    // A run whose outcome is unknown may be repeated, if all that allowed it still does; anything else stands.
    if (entry !== undefined && !isUnfinished(entry)) return Decision.fromEntry(entry, claimed, standing)
    if (entry !== undefined) {
      const repeated = denial === undefined ? yield* allows(judged, call, tool, prepared, one) : false
      const decision = Decision.fromEntry(entry, claimed, standing)
      return repeated && decision._tag === "Run" ? { ...decision, joinOnly: false } : decision
    }
  }
  const ending = (state: ApprovalJournal.Ending, reason: string | undefined, ended?: Effect.Effect<void>) =>
    Decision.end(environment, claim, state, reason, standing, ended)

  if (denial !== undefined) {
    return yield* ending("denied", denial.reason, rememberDenial(subject, prepared, claim, denial))
  }
  const expired = yield* Judge.expiry(sealed)
  if (expired !== undefined) return yield* ending("expired", expired)
  if (approval === undefined && transcript.lastUserIndex > request.messageIndex) {
    switch (environment.options.onNewMessage) {
      case "supersede":
        return yield* ending("superseded", Results.supersededReason)
      case "keep":
        return { _tag: "Keep", call: part, approvalId: sealed.approvalId }
      case "fail":
        return yield* ApprovalError.make(
          new ApprovalError.ApprovalRequired({ requests: [Decision.makeRequest(sealed, shown, {})], content: [] })
        )
      case "hold":
        return Decision.open(sealed, shown, {})
    }
  }
  if (tools === undefined) {
    if (approval === undefined) return Decision.open(sealed, shown, {})
    yield* Effect.logWarning(
      `Assent: an approval of "${part.name}" came on a turn without a toolkit, so it could not run. Give the turn that` +
        " carries the answer the toolkit of the turn that asked."
    )
    return Decision.result(Results.interrupted(part, Results.noToolkitReason, sealed.approvalId))
  }
  const drift = yield* driftOf(part.name, tool, prepared, sealed, canonical)
  if (drift !== undefined) return yield* ending("void", drift)
  const ready = prepared!

  if (approval !== undefined) {
    let invalid: ApprovalError.InvalidEdit | undefined
    // The first that can have an effect (law L3): parameters that count for nothing are no answer.
    for (const response of request.responses.filter(counts)) {
      const { params, remember } = saidBy(response)
      const accepted = yield* Consult.accept(environment, ready, sealed, params, transcript.messages, judged)
      switch (accepted._tag) {
        case "Run": {
          if (!resolvesCalls) return Decision.open(sealed, ready, {})
          const { edits, needs } = accepted
          // What would have to be asked as it is now, only somebody who may edit that call may turn this one into.
          if (edits === undefined || needs === undefined || needs.editable === true || trustsAnswers) {
            // That it is not to be remembered takes nobody's trust.
            const counts = needs?.rememberable === true || remember === "none" || trustsAnswers
            const said = counts ? remember : undefined
            const accepting = Consult.accept(environment, ready, sealed, params, transcript.messages)
            return yield* Consult.toRun(
              environment,
              claim,
              accepted,
              said,
              Consult.again(sealed, accepting, (refused) =>
                refused._tag === "Ended"
                  ? ending(refused.state, refused.reason)
                  : Effect.succeed(Decision.open(sealed, ready, { reason: heldReason })))
            )
          }
          const { approvalId } = sealed
          invalid ??= new ApprovalError.InvalidEdit({ approvalId, description: untrustedEdit })
          break
        }
        case "Held":
          return Decision.open(sealed, ready, { reason: heldReason })
        case "Invalid":
          invalid ??= accepted.error
          break
        case "Ended":
          return yield* ending(accepted.state, accepted.reason)
      }
    }
    if (invalid !== undefined) {
      yield* refuse(part, sealed.approvalId, invalid)
      return Decision.open(sealed, ready, { reason: invalid.message })
    }
  }
  const verdict = yield* judged
  if (Result.isSuccess(verdict) && verdict.success._tag === "Blocked") {
    return yield* ending("denied", verdict.success.reason)
  }
  const consultation = yield* Judge.again(ready, sealed, verdict)
  if (responses.length > 0) {
    const { approvalId } = sealed
    yield* refuse(part, approvalId, new ApprovalError.InvalidEdit({ approvalId, description: untrustedEdit }))
    return Decision.open(sealed, ready, { ...consultation.needs, reason: untrustedEditReason })
  }
  return resolvesCalls
    ? yield* Consult.unlessAnswered(environment, consultation, transcript.messages)
    : Decision.open(sealed, ready, consultation.needs)
})

/**
 * Writes down a denial that came when the call had its result already. If the call never ran, as without a toolkit, it
 * never will, whatever history comes later (law L3); else it changes nothing.
 */
export const denyLate = Effect.fnUntraced(function*(
  subject: Subject,
  { call, denial }: Transcript.LateDenial
): Effect.fn.Return<void, ApprovalError.ApprovalError> {
  const { environment, tools } = subject
  const prepared = yield* prepare(tools === undefined ? undefined : Judge.toolOf(tools, call.part.name), call.part)
  const verified = yield* verify(environment, call, prepared)
  if (Result.isFailure(verified)) return
  for (const one of verified.success) {
    const { sealed } = one
    if (!(yield* isOwn(subject, call, one))) continue
    if ((yield* Judge.expiry(sealed)) !== undefined) continue
    const claim = Decision.claimOf(sealed, Decision.named(call.part))
    const entry = yield* environment.journal.end(claim, "denied", Results.reasonOr(denial.reason))
    if (entry.state !== "denied") continue
    if (Suspending.isSealedSuspension(sealed)) yield* Effect.ignore(environment.suspensions.end(sealed.approvalId))
    else yield* rememberDenial(subject, prepared, claim, denial)
  }
})

const prepare = (
  tool: Tool.Any | undefined,
  part: Prompt.ToolCallPart
): Effect.Effect<Prepare.Prepared | undefined> =>
  tool === undefined
    ? Effect.undefined
    : Effect.map(Effect.result(Prepare.prepare(tool, part)), Result.getOrUndefined)

const isEdited = ({ request }: Verified): boolean => request.responses.some(Transcript.isEdit)

// Whether the policy lets a history change the parameters.
const isEditable = (judged: Consult.Judged): Effect.Effect<boolean> =>
  Effect.map(
    judged,
    (verdict) =>
      Result.isSuccess(verdict) && verdict.success._tag === "NeedsApproval" && verdict.success.editable === true
  )

const rememberDenial = Effect.fnUntraced(function*(
  { environment, transcript }: Subject,
  prepared: Prepare.Prepared | undefined,
  claim: ApprovalJournal.Claim,
  denial: Prompt.ToolApprovalResponsePart
): Effect.fn.Return<void> {
  const { remember } = saidBy(denial)
  if (remember === undefined || prepared === undefined || !environment.memory.remembers) return
  const verdict = yield* Effect.result(Judge.askPolicy(environment, prepared, transcript.messages))
  if (Result.isFailure(verdict) || verdict.success._tag !== "NeedsApproval") return
  if (verdict.success.rememberable !== true && !environment.trustsAnswers) return
  const { reason: note } = denial
  const subject = yield* Decision.subjectOf(prepared)
  const answered = yield* Remembering.answeredOf(environment, subject, claim, "denied", { remember, note })
  yield* Remembering.give(environment, answered)
  yield* Remembering.keep(environment, answered)
})

// What an answer of a history says besides yes or no. It counts only where the policy says so (law L4).
const saidBy = (
  response: Prompt.ToolApprovalResponsePart | undefined
): { readonly params: Schema.Json | undefined; readonly remember: Schema.Json | undefined } => {
  const said: unknown = response?.options?.assent
  if (typeof said !== "object" || said === null) return { params: undefined, remember: undefined }
  return {
    params: "params" in said ? said.params as Schema.Json | undefined : undefined, // prepared before it is used
    remember: "remember" in said ? said.remember as Schema.Json | undefined : undefined // decoded before it is used
  }
}

const refuse = (part: Prompt.ToolCallPart, approvalId: string, reason: ApprovalError.ApprovalErrorReason) =>
  ApprovalEvents.publish((occasion) => ({
    _tag: "Refused",
    ...occasion,
    ...Decision.named(part),
    approvalId,
    reason
  }))

// An answer that comes after the other one has had its effect (law L3).
const contradicts = (
  responses: ReadonlyArray<Prompt.ToolApprovalResponsePart>,
  { state }: ApprovalJournal.Entry
): boolean => {
  const ran = state === "running" || state === "unknown" || state === "done" || state === "failed"
  return responses.some((response) => response.approved !== ran)
}

const isUnfinished = (entry: ApprovalJournal.Entry): boolean => entry.state === "running" || entry.state === "unknown"

// Whether everything that is asked of an approval before it runs still holds.
const allows = Effect.fnUntraced(function*(
  judged: Consult.Judged,
  call: Transcript.TranscriptCall,
  tool: Tool.Any | undefined,
  prepared: Prepare.Prepared | undefined,
  { canonical, request, sealed }: Verified
): Effect.fn.Return<boolean> {
  if (prepared === undefined || !request.responses.some(isPlainApproval)) return false
  if ((yield* Judge.expiry(sealed)) !== undefined) return false
  if ((yield* driftOf(call.part.name, tool, prepared, sealed, canonical)) !== undefined) return false
  const verdict = yield* judged
  return Result.isSuccess(verdict) && verdict.success._tag !== "Blocked" &&
    (yield* Presentation.drift(sealed, verdict.success)) === undefined
})

// Every request of the call whose seal fits it, by the schema the seal itself names: whether that is still the tool's
// is asked later, so that a request of ours is known as ours even without the tool.
const verify = Effect.fnUntraced(function*(
  environment: Environment.Environment,
  call: Transcript.TranscriptCall,
  prepared: Prepare.Prepared | undefined
): Effect.fn.Return<Result.Result<ReadonlyArray<Verified>, ApprovalError.ApprovalError>> {
  const verified: Array<Verified> = []
  let failure: ApprovalError.ApprovalError | undefined
  const written = canonicalParams(call.part)
  if (Result.isFailure(written)) return Result.fail(written.failure)
  // The history's own form first: the calls we write into responses are in it.
  const forms = prepared === undefined || prepared.canonical === written.success
    ? [written.success]
    : [written.success, prepared.canonical]
  const current = prepared === undefined ? "unknown" : yield* Prepare.fingerprintOf(prepared.tool)
  for (const request of call.requests) {
    const { approvalId } = request.part
    const parsed = environment.seal.parse(approvalId)
    const schemaFingerprint = Result.isSuccess(parsed) ? parsed.success.schemaFingerprint : current
    for (const canonical of forms) {
      const binding = Prepare.bindingOf(
        { ...Decision.named(call.part), canonical, schemaFingerprint },
        environment.scope
      )
      const sealed = yield* Effect.result(environment.seal.verify(approvalId, binding))
      if (Result.isSuccess(sealed)) {
        verified.push({ request, sealed: sealed.success, canonical })
        break
      }
      failure ??= sealed.failure
    }
  }
  return verified.length > 0 ? Result.succeed(verified) : Result.fail(failure!)
})

// What a run waits for is asked when another call may have its id already: it belongs to the call whose run it was.
const isOwn = Effect.fnUntraced(function*(
  { environment, transcript }: Subject,
  call: Transcript.TranscriptCall,
  { request, sealed }: Verified
): Effect.fn.Return<boolean, ApprovalError.ApprovalError> {
  if (request.messageIndex === call.messageIndex || !Suspending.isSealedSuspension(sealed)) return true
  const previous = (yield* environment.suspensions.find(sealed.approvalId))?.suspension.previous
  const other = transcript.allRequests.find(({ part }) => part.approvalId === previous)?.call
  return other === undefined || other === call
})

const canonicalParams = (part: Prompt.ToolCallPart): Result.Result<string, ApprovalError.ApprovalError> =>
  Result.mapError(
    Canonical.canonicalize(part.params),
    (description) => ApprovalError.make(new ApprovalError.InvalidParameters({ toolName: part.name, description }))
  )

// What changed since the person was asked (law L10).
const driftOf = Effect.fnUntraced(function*(
  toolName: string,
  tool: Tool.Any | undefined,
  prepared: Prepare.Prepared | undefined,
  sealed: ApprovalSeal.Sealed,
  canonical: string
): Effect.fn.Return<string | undefined> {
  const drifted = (description: string) => new ApprovalError.Drifted({ toolName, description }).message
  if (tool === undefined) {
    return drifted(
      `The tool "${toolName}" is no longer available: it was removed or renamed since the person was asked.`
    )
  }
  if (prepared === undefined) {
    return drifted(
      `The parameters no longer fit the schema of "${toolName}", which changed since the person was asked.`
    )
  }
  const changed = prepared.canonical === canonical
    ? yield* Prepare.changeSince(sealed.schemaFingerprint, tool)
    : "parameters"
  switch (changed) {
    case undefined:
      return undefined
    case "parameters":
      return drifted(`The parameters of "${toolName}" are not what they were when the person was asked.`)
    case "definition":
      return drifted(`What "${toolName}" is said to be and to do, or whose it is, changed since the person was asked.`)
  }
})

// =============================================================================
// Internals
// =============================================================================

const unprepared = (part: Prompt.ToolCallPart): Decision.Named & { readonly encoded: Schema.Json } => {
  const canonical = Canonical.canonicalize(part.params)
  return { ...Decision.named(part), encoded: Result.isSuccess(canonical) ? JSON.parse(canonical.success) : null }
}

const isApproval = ({ approved }: Prompt.ToolApprovalResponsePart): boolean => approved

const isPlainApproval = (response: Prompt.ToolApprovalResponsePart): boolean =>
  response.approved && !Transcript.isEdit(response)
