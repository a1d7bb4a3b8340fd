/**
 * A call whose run waits: settled by the request as which it waits now, the journal, what was answered in the history,
 * to the store or by the clock, and the policy again (law L11). Nothing here runs a tool.
 */
import type * as Prompt from "effect/ai/Prompt"
import type * as Tool from "effect/ai/Tool"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import type * as Approval from "../Approval.ts"
import * as ApprovalError from "../ApprovalError.ts"
import * as ApprovalEvents from "../ApprovalEvents.ts"
import type * as ApprovalJournal from "../ApprovalJournal.ts"
import * as Interaction from "../Interaction.ts"
import type * as SuspensionStore from "../SuspensionStore.ts"
import { abandonable } from "./abandon.ts"
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

/** What a call waits for now: the last of the requests that its runs became. */
interface Tip {
  readonly call: Decision.SuspendedCall
  readonly claim: ApprovalJournal.Claim
  readonly suspension: SuspensionStore.Suspension
  readonly status: "open" | "taken" | "over"
  readonly delivered: Schema.Json | undefined
  /** Where its request stands in the history, if it does. */
  readonly askedAt: number | undefined
  readonly responses: ReadonlyArray<Prompt.ToolApprovalResponsePart>
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
    const responses = responsesTo(asked)
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
    const tip: Tip = { call, claim, ...found, askedAt: asked?.messageIndex, responses }
    return entry === undefined ? yield* pending(subject, tip) : yield* begun(subject, tip, entry)
  }
})

// =============================================================================
// A run that has the claim
// =============================================================================

// A run that goes on is joined; one whose outcome is unknown may be repeated, if all that allowed it still does.
const begun = Effect.fnUntraced(function*(
  subject: Subject,
  tip: Tip,
  entry: ApprovalJournal.Entry
): Effect.fn.Return<Decision.Decision, ApprovalError.ApprovalError> {
  const { call, claim, suspension } = tip
  const { prepared } = call
  if (!subject.resolvesCalls || prepared === undefined) {
    return entry.state === "running"
      ? open(tip, runningReason)
      : Decision.result(Results.ofRecorded({ id: call.toolCallId, name: call.toolName }, entry, call.root))
  }
  const joined = joining(call, claim, prepared)
  const tool = toolOf(subject, tip)
  if (entry.state !== "unknown" || tool === undefined || isDenied(tip)) return joined
  if ((yield* isOver(suspension)) || tip.status === "over") return joined
  const answered = yield* findAnswer(subject.environment, tip, tool.interaction)
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
  tip: Tip
): Effect.fn.Return<Decision.Decision, ApprovalError.ApprovalError> {
  const { environment, tools, transcript } = subject
  const { askedAt, call, suspension } = tip
  const { approvalId, awaited } = suspension
  const name = { id: call.toolCallId, name: call.toolName }
  const ending = (state: ApprovalJournal.Ending, reason: string | undefined) => end(subject, tip, state, reason)

  // The store knows more than the journal: that was another one, or has forgotten.
  if (tip.status === "over") return Decision.result(Results.interrupted(name, resumedReason, call.root))
  const denial = denialOf(tip)
  if (denial !== undefined && awaited.kind !== "getApproval") return yield* ending("denied", denial.reason)
  if (yield* isOver(suspension)) {
    return yield* ending("expired", new ApprovalError.Expired({ approvalId, expiredAt: suspension.expiresAt }).message)
  }
  const tool = toolOf(subject, tip)
  // What cannot be read without its tool is looked at where it was given.
  const answered = tool === undefined ? none : yield* findAnswer(subject.environment, tip, tool.interaction)
  const answersNow = isAnsweredSince(transcript, approvalId, transcript.lastUserIndex)
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
  if (tools === undefined) return open(tip, isAnsweredAtAll(tip) ? noToolkitReason : undefined)
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
    answered: (decision) => answeredInline(subject, tip, tool, decision)
  }
})

const answeredInline = Effect.fnUntraced(function*(
  subject: Subject,
  tip: Tip,
  tool: WaitingTool,
  decision: Approval.ApprovalDecision
): Effect.fn.Return<Decision.Decision, ApprovalError.ApprovalError> {
  const { approvalId, awaited } = tip.suspension
  if (decision._tag === "Info") return open(tip, decision.note)
  const isVerdict = awaited.kind === "getApproval"
  if (decision._tag === "Denied" && !isVerdict) return yield* end(subject, tip, "denied", decision.note)
  if (yield* isOver(tip.suspension)) {
    const { expiresAt } = tip.suspension
    return yield* end(
      subject,
      tip,
      "expired",
      new ApprovalError.Expired({ approvalId, expiredAt: expiresAt }).message
    )
  }
  const json = isVerdict
    ? verdictOf(decision._tag === "Approved", decision.note, decision._tag === "Approved" ? decision.answer : undefined)
    : decision._tag === "Approved"
    ? decision.answer
    : undefined
  const read = yield* Effect.result(readAnswer(tip, tool.interaction, json))
  if (Result.isSuccess(read)) return yield* goOn(subject, tip, tool, read.success)
  const invalid = new ApprovalError.InvalidAnswer({ approvalId, description: read.failure })
  yield* refuse(tip.call, approvalId, invalid)
  return open(tip, invalid.message)
})

// =============================================================================
// Answers
// =============================================================================

/** An answer that fits: as it was given, and as the tool gets it. */
interface Answer {
  readonly json: Schema.Json
  readonly decoded: unknown
}

interface Answered {
  readonly answer: Answer | undefined
  /** What is wrong with answers of the history. */
  readonly invalid: ReadonlyArray<string>
  /** What is wrong with an answer that was given to the store, and so can be given no more. */
  readonly undeliverable: string | undefined
}

const none: Answered = { answer: undefined, invalid: [], undeliverable: undefined }

const readAnswer = (
  { suspension }: Tip,
  interaction: Interaction.Any,
  json: Schema.Json | undefined
): Effect.Effect<Answer, string> =>
  json === undefined
    ? Effect.fail("it says yes, where an answer is asked for.")
    : Effect.map(Interactions.decodeAnswer(interaction, suspension.awaited, json), (decoded) => ({ json, decoded }))

// The clock's answer, the store's, or the first of the history's that fits.
const findAnswer = Effect.fnUntraced(function*(
  { trustsAnswers }: Environment.Environment,
  tip: Tip,
  interaction: Interaction.Any
): Effect.fn.Return<Answered> {
  const { dueAt, kind } = tip.suspension.awaited
  if (tip.delivered !== undefined && denialOf(tip) === undefined) {
    const read = yield* Effect.result(readAnswer(tip, interaction, tip.delivered))
    return Result.isSuccess(read) ? { ...none, answer: read.success } : { ...none, undeliverable: read.failure }
  }
  if (kind === "timer" && dueAt !== undefined) {
    const now = yield* Clock.currentTimeMillis
    if (now >= dueAt) {
      const fired: Interaction.Fired = { dueAt, firedAt: now }
      return { ...none, answer: { json: { ...fired }, decoded: fired } }
    }
  }
  const { responses } = tip
  if (!Interaction.isForPeople(kind) && !trustsAnswers) {
    return { ...none, invalid: responses.filter(({ approved }) => approved).map(() => elsewhere) }
  }
  const given = kind === "getApproval" ? verdicts(responses) : responses.map(answerIn)
  const invalid: Array<string> = []
  for (const json of given) {
    const read = yield* Effect.result(readAnswer(tip, interaction, json))
    if (Result.isSuccess(read)) return { ...none, answer: read.success }
    invalid.push(read.failure)
  }
  return { ...none, invalid }
})

const elsewhere = "nobody is asked for it in a message history, which anybody may have written."

const verdictOf = (approved: boolean, note: string | undefined, answer: Schema.Json | undefined): Schema.Json =>
  answer ?? (note === undefined ? { approved } : { approved, note })

// A no wins over a yes, in any order (law L3).
const verdicts = (responses: ReadonlyArray<Prompt.ToolApprovalResponsePart>): ReadonlyArray<Schema.Json> => {
  const given = responses.map((response) => verdictOf(response.approved, response.reason, answerIn(response)))
  const saysNo = (verdict: Schema.Json) =>
    typeof verdict === "object" && verdict !== null && "approved" in verdict && verdict.approved === false
  return [...given.filter(saysNo), ...given.filter((verdict) => !saysNo(verdict))]
}

const answerIn = ({ options }: Prompt.ToolApprovalResponsePart): Schema.Json | undefined => {
  const assent: unknown = options?.assent
  return typeof assent === "object" && assent !== null && "answer" in assent
    ? assent.answer as Schema.Json | undefined // read by the interaction's schema before it is used
    : undefined
}

// A request that is put behind a later call of the same id may find that one ended, and its own answers thought too late.
const responsesTo = (
  asked: Transcript.TranscriptRequest | undefined
): ReadonlyArray<Prompt.ToolApprovalResponsePart> =>
  asked === undefined ? [] : asked.call?.result === undefined ? asked.responses : [...asked.responses, ...asked.ignored]

const denialOf = ({ responses }: Tip): Prompt.ToolApprovalResponsePart | undefined =>
  responses.find(({ approved }) => !approved)

const isDenied = (tip: Tip): boolean => tip.suspension.awaited.kind !== "getApproval" && denialOf(tip) !== undefined

const isAnsweredAtAll = ({ delivered, responses }: Tip): boolean => delivered !== undefined || responses.length > 0

const isAnsweredSince = ({ messages }: Transcript.Transcript, approvalId: string, index: number): boolean =>
  messages.some((message, at) =>
    at > index && message.role === "tool" &&
    message.content.some((part) => part.type === "tool-approval-response" && part.approvalId === approvalId)
  )

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
  tip: Tip,
  { deferral, tool }: WaitingTool,
  { decoded, json }: Answer
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

const toolOf = ({ tools }: Subject, { call, suspension }: Tip): WaitingTool | undefined => {
  const tool = tools === undefined ? undefined : Judge.toolOf(tools, call.toolName)
  const deferral = tool === undefined ? undefined : Deferral.of(tool)
  const interaction = deferral === undefined ? undefined : Deferral.interactionOf(deferral, suspension.awaited.name)
  return tool === undefined || deferral === undefined || interaction?.kind !== suspension.awaited.kind
    ? undefined
    : { tool, deferral, interaction }
}

const driftOf = (tools: Decision.Tools, tip: Tip): string => {
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

const drifted = (_: Tip, description: string): string =>
  `${description} What it did before it waited stands, and it did not go on. Check before calling it again.`

// =============================================================================
// What becomes of it otherwise
// =============================================================================

const open = ({ suspension }: Tip, reason?: string): Decision.Decision => ({
  _tag: "Open",
  request: Suspending.requestOf(suspension, reason)
})

// Ends it, unless it was decided before; what it remembered is given up only where it ended so.
const end = Effect.fnUntraced(function*(
  { environment }: Subject,
  tip: Tip,
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

const isOver = ({ expiresAt }: SuspensionStore.Suspension): Effect.Effect<boolean> =>
  Effect.map(Clock.currentTimeMillis, (now) => now >= expiresAt)

const messageMode = (
  { options }: Environment.Environment,
  { suspension }: Tip,
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
