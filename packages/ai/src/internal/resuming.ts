/**
 * A call whose run waits: settled by the request as which it waits now, the journal, what was answered in the history,
 * to the store or by the clock, and the policy again (law L11). Nothing here runs a tool.
 */
import type * as Prompt from "effect/ai/Prompt"
import type * as Tool from "effect/ai/Tool"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Approval from "../Approval.ts"
import * as ApprovalError from "../ApprovalError.ts"
import * as ApprovalEvents from "../ApprovalEvents.ts"
import type * as ApprovalJournal from "../ApprovalJournal.ts"
import * as Interaction from "../Interaction.ts"
import type * as SuspensionStore from "../SuspensionStore.ts"
import { abandonable } from "./abandon.ts"
import * as Answering from "./answering.ts"
import * as Decision from "./decision.ts"
import * as Deferral from "./deferral.ts"
import type * as Environment from "./environment.ts"
import * as Interactions from "./interaction.ts"
import * as Judge from "./judge.ts"
import * as Prepare from "./prepare.ts"
import * as Results from "./results.ts"
import * as Suspending from "./suspending.ts"
import type * as Transcript from "./transcript.ts"

const goneReason =
  "The tool had begun and was waiting, but what it must remember to go on is not known here any more." +
  " What it did until then stands. Check before calling it again."

const resumedReason =
  "The tool had begun, was answered, and went on before; what became of it is not known here. Check" +
  " before calling it again."

const runningReason = "The answer was given, and the tool is still running."

const heldReason =
  "The approval policy failed, so the tool did not go on yet. Nothing is lost: mend the policy and try" +
  " again."

const noToolkitReason = "No toolkit was given on this turn, so the tool could not go on. Nothing is lost: give the" +
  " turn that carries the answer the toolkit of the turn that asked."

export interface Subject {
  readonly environment: Environment.Environment
  readonly transcript: Transcript.Transcript
  /** `undefined` on a turn without a toolkit. */
  readonly tools: Decision.Tools | undefined
  /** False when the caller resolves tool calls itself: then nothing is asked, claimed or run. */
  readonly resolvesCalls: boolean
}

/** Settles a call that waits, or has waited, as this request: one of ours. */
export const settle = Effect.fnUntraced(function*(
  subject: Subject,
  call: Decision.SuspendedCall,
  first: string
): Effect.fn.Return<Decision.Decision, ApprovalError.ApprovalError> {
  const { environment } = subject
  const { journal, seal, suspensions } = environment
  const name = { id: call.toolCallId, name: call.toolName }
  let approvalId = first
  while (true) {
    const parsed = seal.parse(approvalId)
    if (Result.isFailure(parsed)) return Decision.result(Results.interrupted(name, goneReason, call.root))
    const claim = Decision.claimOf(parsed.success, call)
    const entry = yield* journal.find(claim)
    if (entry?.state === "suspended" && entry.suspendedAs !== undefined) {
      approvalId = entry.suspendedAs
      continue
    }
    const asked = subject.transcript.allRequests.find(({ part }) => part.approvalId === approvalId)
    const responses = Answering.responsesTo(asked)
    if (entry !== undefined && responses.length > 0) {
      yield* refuseLate({ ...Decision.about(call), approvalId }, responses, entry, yield* suspensions.find(approvalId))
    }
    if (entry !== undefined && entry.state !== "running" && entry.state !== "unknown") {
      const ended = Results.ofEnding(name, entry, call.root)
      // Whoever executes it gets the result as its first reader had it.
      return ended === undefined && subject.resolvesCalls && call.prepared !== undefined
        ? joining(call, claim, call.prepared)
        : Decision.result(ended ?? Results.ofRecorded(name, entry, call.root))
    }
    const found = yield* suspensions.find(approvalId)
    if (found === undefined || !(yield* Suspending.isSealedFor(parsed.success, found.suspension.awaited))) {
      return Decision.result(
        entry?.state === "unknown"
          ? Results.ofRecorded(name, entry, call.root)
          : Results.interrupted(name, goneReason, call.root)
      )
    }
    const tip: Answering.Tip = { call, claim, ...found, askedAt: asked?.messageIndex, responses }
    return entry === undefined ? yield* pending(subject, tip) : yield* begun(subject, tip, entry)
  }
})

// =============================================================================
// A run that has the claim
// =============================================================================

// A run that goes on is joined; one whose outcome is unknown may be repeated, if all that allowed it still does.
const begun = Effect.fnUntraced(function*(
  subject: Subject,
  tip: Answering.Tip,
  entry: ApprovalJournal.Entry
): Effect.fn.Return<Decision.Decision, ApprovalError.ApprovalError> {
  const { call, claim } = tip
  const { prepared } = call
  if (!subject.resolvesCalls || prepared === undefined) {
    return entry.state === "running"
      ? open(tip, runningReason)
      : Decision.result(Results.ofRecorded({ id: call.toolCallId, name: call.toolName }, entry, call.root))
  }
  const joined = joining(call, claim, prepared)
  const tool = toolOf(subject, tip)
  if (entry.state !== "unknown" || tool === undefined || Answering.isDenied(tip)) return joined
  if ((yield* isOver(tip)) || tip.status === "over") return joined
  const answered = yield* Answering.findAnswer(subject.environment, tip, tool.interaction)
  if (answered.answer === undefined) return joined
  const resumed = yield* goOn(subject, tip, tool, answered.answer)
  return resumed._tag === "Resume" ? resumed : joined
})

const joining = (
  call: Decision.SuspendedCall,
  claim: ApprovalJournal.Claim,
  prepared: Prepare.Prepared
): Decision.Resume => ({ _tag: "Resume", claim, call, prepared, edits: undefined, resumption: undefined })

// =============================================================================
// A request that nobody has decided
// =============================================================================

const pending = Effect.fnUntraced(function*(
  subject: Subject,
  tip: Answering.Tip
): Effect.fn.Return<Decision.Decision, ApprovalError.ApprovalError> {
  const { environment, tools, transcript } = subject
  const { askedAt, call, suspension } = tip
  const { approvalId, awaited } = suspension
  const name = { id: call.toolCallId, name: call.toolName }
  const ending = (state: ApprovalJournal.Ending, reason: string | undefined) => end(subject, tip, state, reason)

  // The store knows more than the journal: that was another one, or has forgotten.
  if (tip.status === "over") return Decision.result(Results.interrupted(name, resumedReason, call.root))
  const denial = Answering.denialOf(tip)
  if (denial !== undefined && awaited.kind !== "getApproval") return yield* ending("denied", denial.reason)
  if (yield* isOver(tip)) {
    return yield* ending("expired", new ApprovalError.Expired({ approvalId, expiredAt: suspension.expiresAt }).message)
  }
  const tool = toolOf(subject, tip)
  // What cannot be read without its tool is looked at where it was given.
  const answered = tool === undefined
    ? Answering.none
    : yield* Answering.findAnswer(subject.environment, tip, tool.interaction)
  const answersNow = Answering.isAnsweredSince(transcript, approvalId, transcript.lastUserIndex)
  if (
    answered.answer === undefined && answered.undeliverable === undefined && !answersNow && askedAt !== undefined &&
    transcript.lastUserIndex > askedAt
  ) {
    switch (messageMode(environment, tip, tool)) {
      case "supersede":
        return yield* ending("superseded", supersededReason(awaited))
      case "keep":
        return { _tag: "Keep", call: name, approvalId: call.root, reason: waitingReason(awaited) }
      case "fail":
        return yield* ApprovalError.make(
          new ApprovalError.ApprovalRequired({ requests: [Suspending.requestOf(suspension)], content: [] })
        )
      case "hold":
        return open(tip)
    }
  }
  if (tools === undefined) return open(tip, Answering.isAnsweredAtAll(tip) ? noToolkitReason : undefined)
  if (tool === undefined) return yield* ending("void", driftOf(tools, tip))
  if (answered.undeliverable !== undefined) {
    return yield* ending("void", `What was delivered cannot be used any more: ${answered.undeliverable}`)
  }
  if (answered.answer !== undefined) {
    return subject.resolvesCalls ? yield* goOn(subject, tip, tool, answered.answer) : open(tip)
  }
  for (const description of answered.invalid) {
    yield* refuse(call, approvalId, new ApprovalError.InvalidAnswer({ approvalId, description }))
  }
  const [invalid] = answered.invalid
  if (invalid !== undefined) {
    return open(tip, new ApprovalError.InvalidAnswer({ approvalId, description: invalid }).message)
  }
  if (!subject.resolvesCalls || environment.controller.ask === undefined || !Interaction.isForPeople(awaited.kind)) {
    return open(tip)
  }
  return {
    _tag: "Inquire",
    request: Suspending.requestOf(suspension),
    check: (answer) =>
      Effect.match(Answering.readAnswer(tip, tool.interaction, answer), {
        onFailure: (problem) => problem,
        onSuccess: () => undefined
      }),
    answered: (decision) => answeredInline(subject, tip, tool, decision)
  }
})

const answeredInline = Effect.fnUntraced(function*(
  subject: Subject,
  tip: Answering.Tip,
  tool: WaitingTool,
  decision: Approval.ApprovalDecision
): Effect.fn.Return<Decision.Decision, ApprovalError.ApprovalError> {
  const { approvalId, awaited } = tip.suspension
  if (decision._tag === "Info") return open(tip, decision.note)
  const isVerdict = awaited.kind === "getApproval"
  if (decision._tag === "Denied" && !isVerdict) return yield* end(subject, tip, "denied", decision.note)
  if (yield* isOver(tip)) {
    const { expiresAt } = tip.suspension
    return yield* end(
      subject,
      tip,
      "expired",
      new ApprovalError.Expired({ approvalId, expiredAt: expiresAt }).message
    )
  }
  const json = isVerdict
    ? Answering.verdictOf(
      decision._tag === "Approved",
      decision.note,
      decision._tag === "Approved" ? decision.answer : undefined
    )
    : decision._tag === "Approved"
    ? decision.answer
    : undefined
  const read = yield* Effect.result(Answering.readAnswer(tip, tool.interaction, json))
  if (Result.isSuccess(read)) return yield* goOn(subject, tip, tool, read.success)
  const invalid = new ApprovalError.InvalidAnswer({ approvalId, description: read.failure })
  yield* refuse(tip.call, approvalId, invalid)
  return open(tip, invalid.message)
})

// =============================================================================
// Going on
// =============================================================================

interface WaitingTool {
  readonly tool: Tool.Any
  readonly deferral: Deferral.Deferral
  readonly interaction: Interaction.Any
}

// With everything that has to hold when it goes on.
const goOn = Effect.fnUntraced(function*(
  subject: Subject,
  tip: Answering.Tip,
  { deferral, tool }: WaitingTool,
  { decoded, json }: Answering.Answer
): Effect.fn.Return<Decision.Decision, ApprovalError.ApprovalError> {
  const { environment, transcript } = subject
  const { call, suspension } = tip
  const { awaited, params, state, stateVersion } = suspension
  const { toolCallId: id, toolName: name } = call
  const prepared = yield* Effect.result(Prepare.prepare(tool, { id, name, params }))
  if (Result.isFailure(prepared)) {
    return yield* end(subject, tip, "void", drifted(tip, `Its parameters no longer fit the schema of "${name}".`))
  }
  const remembered = yield* deferral.decodeState(state, stateVersion).pipe(
    abandonable,
    Effect.timeout("30 seconds"),
    Effect.sandbox,
    Effect.result
  )
  if (Result.isFailure(remembered)) {
    const versions = stateVersion === deferral.stateVersion
      ? `it does not fit the schema of its state.`
      : `it is of version ${stateVersion}, from which nothing leads to version ${deferral.stateVersion}.`
    return yield* end(subject, tip, "void", drifted(tip, `What "${name}" remembered cannot be used: ${versions}`))
  }
  if (Judge.isGated(environment.policy, tool)) {
    const verdict = yield* Effect.result(Judge.askPolicy(environment, prepared.success, transcript.messages))
    if (Result.isFailure(verdict)) return open(tip, heldReason)
    if (verdict.success._tag === "Blocked") return yield* end(subject, tip, "denied", verdict.success.reason)
  }
  const digest = yield* Interactions.answerDigest(awaited.kind === "timer" ? { dueAt: awaited.dueAt ?? 0 } : json)
  return {
    _tag: "Resume",
    claim: { ...tip.claim, params: digest },
    call,
    prepared: prepared.success,
    edits: suspension.edits,
    resumption: { interaction: awaited.name, answer: decoded, state: remembered.success }
  }
})

const toolOf = ({ tools }: Subject, { call, suspension }: Answering.Tip): WaitingTool | undefined => {
  const tool = tools === undefined ? undefined : Judge.toolOf(tools, call.toolName)
  const deferral = tool === undefined ? undefined : Deferral.of(tool)
  const interaction = deferral === undefined ? undefined : Deferral.interactionOf(deferral, suspension.awaited.name)
  return tool === undefined || deferral === undefined || interaction?.kind !== suspension.awaited.kind
    ? undefined
    : { tool, deferral, interaction }
}

const driftOf = (tools: Decision.Tools, tip: Answering.Tip): string => {
  const { call, suspension } = tip
  const { toolName } = call
  const tool = Judge.toolOf(tools, toolName)
  return drifted(
    tip,
    tool === undefined
      ? `The tool "${toolName}" is no longer available: it was removed or renamed while it waited.`
      : Deferral.of(tool) === undefined
      ? `The tool "${toolName}" no longer waits for anything.`
      : `The tool "${toolName}" no longer waits for "${suspension.awaited.name}": it was removed, renamed or changed.`
  )
}

const drifted = (_: Answering.Tip, description: string): string =>
  `${description} What it did before it waited stands, and it did not go on. Check before calling it again.`

// =============================================================================
// What becomes of it otherwise
// =============================================================================

const open = ({ suspension }: Answering.Tip, reason?: string): Decision.Decision => ({
  _tag: "Open",
  request: Suspending.requestOf(suspension, reason)
})

// Ends it, unless it was decided before; what it remembered is given up only where it ended so.
const end = Effect.fnUntraced(function*(
  { environment }: Subject,
  tip: Answering.Tip,
  state: ApprovalJournal.Ending,
  reason: string | undefined
): Effect.fn.Return<Decision.Decision, ApprovalError.ApprovalError> {
  const { call, claim } = tip
  const { approvalId } = tip.suspension
  const ended = yield* Decision.end(
    environment,
    claim,
    state,
    reason,
    {
      runnable: undefined,
      whileRunning: () => ({ _tag: "Open", request: Suspending.requestOf(tip.suspension, runningReason) })
    },
    Effect.ignore(environment.suspensions.end(approvalId))
  )
  return ended._tag === "Result"
    ? Decision.result({ ...ended.part, metadata: { assent: { approvalId: call.root } } })
    : ended
})

// What was given to the store was accepted in time, however late anybody looks.
const isOver = ({ delivered, suspension: { expiresAt } }: Answering.Tip): Effect.Effect<boolean> =>
  Effect.map(Clock.currentTimeMillis, (now) => delivered === undefined && now >= expiresAt)

const messageMode = (
  { options }: Environment.Environment,
  { suspension }: Answering.Tip,
  tool: WaitingTool | undefined
): Environment.Options["onNewMessage"] => {
  if (options.onNewMessage !== "supersede") return options.onNewMessage
  return tool?.interaction.onNewMessage ?? (Interaction.isForPeople(suspension.awaited.kind) ? "supersede" : "keep")
}

const supersededReason = ({ name }: Approval.Awaited): string =>
  `Superseded by a new message while the tool waited for "${name}". It did not go on, and what it did before it waited` +
  " stands; it may be asked again."

const waitingReason = ({ name }: Approval.Awaited): string =>
  `The tool has begun and waits for "${name}"; its result will stand here.`

const refuse = (call: Decision.Named, approvalId: string, reason: ApprovalError.ApprovalErrorReason) =>
  ApprovalEvents.publish((occasion) => ({
    _tag: "Refused",
    ...occasion,
    ...Decision.about(call),
    approvalId,
    reason
  }))

// An answer that comes after another one has had its effect (law L3).
const refuseLate = (
  request: Decision.Named & { readonly approvalId: string },
  responses: ReadonlyArray<Prompt.ToolApprovalResponsePart>,
  { state }: ApprovalJournal.Entry,
  found: SuspensionStore.Found | undefined
): Effect.Effect<void> => {
  const ended = state === "denied" || state === "expired" || state === "superseded" || state === "void"
  const isLate = found?.suspension.awaited.kind === "getApproval"
    ? ended
    : responses.some(({ approved }) => approved === ended)
  const { approvalId } = request
  return isLate ? refuse(request, approvalId, new ApprovalError.AlreadyDecided({ approvalId, state })) : Effect.void
}
