/**
 * What became of a request: what the conversation waits for, what its history says of the call, and what the journal has of
 * it. The journal is asked only about what was asked here, which an id proves by its seal: a history may be made up, and
 * says no more than it says itself (law L4).
 */
import * as Prompt from "effect/ai/Prompt"
import type * as Toolkit from "effect/ai/Toolkit"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Approval from "../../Approval.ts"
import * as ApprovalError from "../../ApprovalError.ts"
import * as ApprovalJournal from "../../ApprovalJournal.ts"
import * as ApprovalSeal from "../../ApprovalSeal.ts"
import * as Approver from "../../Approver.ts"
import type * as ConversationStore from "../../ConversationStore.ts"
import * as SuspensionStore from "../../SuspensionStore.ts"
import * as Words from "../decide/words.ts"
import type * as Model from "../environment/model.ts"
import { definedFields } from "../fields.ts"
import * as History from "../gather/history.ts"
import * as Proof from "../gather/proof.ts"
import * as Request from "../gather/request.ts"
import * as Suspension from "../gather/suspension.ts"
import * as Wait from "../gather/wait.ts"
import * as ConversationTurn from "../held/turn.ts"
import * as Results from "../history/results.ts"
import * as Transcript from "../history/transcript.ts"
import * as HostedCase from "../hosted/case.ts"
import * as JournalWords from "../journal/words.ts"
import type * as Conversation from "./model.ts"
import * as TakenBack from "./takenBack.ts"

type State = Conversation.RequestState
type Failure = ConversationStore.ConversationError | ApprovalError.ApprovalError
type AnyToolkit = Toolkit.WithHandler<Model.AnyTools>

/** `undefined` of what was never asked in this conversation. */
export const stateOf = Effect.fnUntraced(function*(
  place: ConversationTurn.Place,
  toolkit: AnyToolkit,
  approvalId: string
): Effect.fn.Return<State | undefined, Failure> {
  const kept = yield* ConversationTurn.read(place)
  const open = kept.open.find((request) => request.approvalId === approvalId)
  const transcript = Transcript.readWhole(kept.history.content)
  const asked = Transcript.requestOf(transcript, approvalId)
  if (open === undefined && asked === undefined) {
    const within = yield* ofAgent(place, approvalId)
    return within ?? (yield* ofAnsweredHere(toolkit, transcript, approvalId))
  }
  const { result } = asked?.call ?? asked?.providerCall ?? {}
  const cancelled = asked?.responses.find(TakenBack.isAnswer)
  if (cancelled !== undefined) {
    const request = open ?? shownIn(asked!)
    return { state: "cancelled", ...resultIn(result), ...definedFields({ request, reason: cancelled.reason }) }
  }
  const seal = yield* ApprovalSeal.ApprovalSeal
  // Nobody but a turn writes what is open.
  const sealed = open?.providerExecuted === false ? Result.getOrUndefined(seal.parse(approvalId)) : undefined
  const proof = sealed === undefined && asked !== undefined ? yield* prove(toolkit, asked) : sealed ?? "provider's"
  if (proof === "forged" && open === undefined && result === undefined) return undefined
  const about: About = { approvalId, kept, open, asked, isPassed: isPassed(transcript, asked), result, proof }
  const entry = typeof proof === "string" ? undefined : yield* find(proof, open ?? Request.named(asked!.toolCall!))
  const state = entry === undefined || entry.state === "pending"
    ? result === undefined ? yield* ofUndecided(about) : ofResult(asked!, result, proof)
    : entry.suspendedAs === undefined
    ? ofEntry(about, entry)
    : yield* ofSuspended(about, entry)
  // What was made up is shown to nobody.
  const request = open ?? (proof === "forged" ? undefined : shownIn(asked!))
  return { ...state, ...definedFields({ request }) }
})

// What an agent asks has its history elsewhere.
const ofAgent = Effect.fnUntraced(function*(
  { key }: ConversationTurn.Place,
  approvalId: string
): Effect.fn.Return<State | undefined, Failure> {
  const suspensions = yield* SuspensionStore.SuspensionStore
  const became = yield* suspensions.became(approvalId, key.id)
  if (became === undefined) return undefined
  const sealed = Result.getOrUndefined((yield* ApprovalSeal.ApprovalSeal).parse(approvalId))
  const { isGiven, request } = became
  const shown = definedFields({ request })
  const entry = sealed === undefined ? undefined : yield* find(sealed, became)
  if (entry === undefined || entry.state === "pending") return { state: isGiven ? "answered" : "open", ...shown }
  const about = { approvalId, result: undefined }
  return { ...(entry.suspendedAs === undefined ? ofEntry(about, entry) : yield* ofSuspended(about, entry)), ...shown }
})

// =============================================================================
// What is looked at
// =============================================================================

interface About {
  readonly approvalId: string
  readonly kept: ConversationStore.Kept
  /** As the conversation waits for it, answered or not. */
  readonly open: Approval.ApprovalRequest | undefined
  /** As its history asks it. */
  readonly asked: Transcript.TranscriptRequest | undefined
  /** What became of its call, in the history. */
  readonly result: Prompt.ToolResultPart | undefined
  /** Something else was said since. */
  readonly isPassed: boolean
  readonly proof: Proof
}

/** The seal, where it proves that it was asked here; a provider's request has none of ours. */
type Proof = ApprovalSeal.Sealed | "provider's" | "unknown" | "forged"

const isPassed = (
  { lastUserIndex }: Transcript.Transcript,
  asked: Transcript.TranscriptRequest | undefined
): boolean => asked !== undefined && lastUserIndex > asked.messageIndex

const prove = Effect.fnUntraced(function*(
  toolkit: AnyToolkit,
  { call, part: { approvalId }, providerCall }: Transcript.TranscriptRequest
): Effect.fn.Return<Proof> {
  if (call === undefined) return providerCall === undefined ? "forged" : "provider's"
  return yield* proveOf(toolkit, call, approvalId)
})

const proveOf = Effect.fnUntraced(function*(
  { tools }: AnyToolkit,
  call: Transcript.TranscriptCall,
  approvalId: string
): Effect.fn.Return<Proof> {
  const environment = { seal: yield* ApprovalSeal.ApprovalSeal, scope: yield* Approval.Scope }
  const tool = Object.hasOwn(tools, call.part.name) ? tools[call.part.name] : undefined
  const proven = yield* Proof.verify(environment, call, yield* History.prepare(tool, call.part))
  if (Result.isFailure(proven)) return proven.failure.reason._tag === "UnknownKey" ? "unknown" : "forged"
  return proven.success.find(({ request }) => request.part.approvalId === approvalId)?.sealed ?? "forged"
})

// A run whose process is dead goes on nowhere: whoever goes on with the conversation will be told so.
const find = Effect.fnUntraced(function*(
  sealed: ApprovalSeal.Sealed,
  call: Request.Named
): Effect.fn.Return<ApprovalJournal.Entry | undefined, ApprovalError.ApprovalError> {
  const journal = yield* ApprovalJournal.ApprovalJournal
  const claim = Request.claimOf(sealed, call)
  const entry = yield* journal.find(claim)
  if (entry?.state !== "running" || journal.isRunning === undefined || (yield* journal.isRunning(claim, entry))) {
    return entry
  }
  return new ApprovalJournal.Entry({ ...entry, state: "unknown", reason: JournalWords.lostReason })
})

const isUnsure = (result: Prompt.ToolResultPart | undefined): boolean =>
  Predicate.hasProperty(result?.options.assent, "unknown")

const decodeRequest = Schema.decodeUnknownResult(Schema.toCodecJson(Approval.ApprovalRequest))

// What a provider asks, its call says.
const shownIn = (
  { part: { approvalId, options }, providerCall }: Transcript.TranscriptRequest
): Approval.ApprovalRequest | undefined => {
  const request = Result.getOrUndefined(decodeRequest(options?.assent))
  return request?.approvalId === approvalId
    ? request
    : providerCall && HostedCase.requestOf({ scope: {} }, approvalId, providerCall.part)
}

// =============================================================================
// What is said of it
// =============================================================================

// That a tool goes on when nobody answers is no answer.
const states = {
  approved: "answered",
  edited: "answered",
  answered: "answered",
  denied: "denied",
  expired: "expired",
  superseded: "superseded",
  cancelled: "cancelled",
  // What was approved could not be carried out as it was shown: nothing ran, and nobody said no.
  void: "cancelled",
  running: "running",
  done: "done",
  failed: "failed",
  unknown: "unknown"
} as const

/** By the journal, which knows it before the history does, and also where nobody knew when that was written. */
const ofEntry = ({ approvalId, result }: Pick<About, "approvalId" | "result">, entry: ApprovalJournal.Entry): State => {
  const { decidedBy, state, toolCallId: id, toolName: name } = entry
  // These two have their own ways.
  if (state === "pending" || state === "suspended") return { state: "open" }
  const known = isUnsure(result) && state !== "unknown" ? undefined : result
  const begun = Suspension.isIdOf(approvalId) ? Words.begunAndEnded : undefined
  const told = known ?? (state === "running"
    ? undefined
    : Results.toPromptPart(Results.ofEntry({ id, name }, entry, approvalId, begun)))
  return {
    state: hasExpired(entry) ? "expired" : states[state],
    ...resultIn(known ?? (entry.recorded === undefined ? undefined : told)),
    ...definedFields({ decidedBy, reason: reasonIn(told) })
  }
}

const hasExpired = ({ decidedBy, state }: ApprovalJournal.Entry): boolean =>
  state === "expired" || decidedBy?.via === Wait.byExpiry.via

/** Its run has begun, and waits as another request: what becomes of it is what becomes of that one's call. */
const ofSuspended = Effect.fnUntraced(function*(
  { approvalId, result }: Pick<About, "approvalId" | "result">,
  entry: ApprovalJournal.Entry
): Effect.fn.Return<State, ApprovalError.ApprovalError> {
  const seal = yield* ApprovalSeal.ApprovalSeal
  const { decidedBy } = entry
  const known = { ...resultIn(result), ...definedFields({ decidedBy }) }
  if (hasExpired(entry)) return { state: "expired", ...known }
  if (result !== undefined && !isUnsure(result)) {
    // Who said no to what it waited for has not said no to this one.
    return { state: result.isFailure ? "failed" : "done", ...known, ...definedFields({ reason: reasonIn(result) }) }
  }
  let tip: ApprovalJournal.Entry | undefined = entry
  while (tip?.suspendedAs !== undefined) {
    const sealed: ApprovalSeal.Sealed | undefined = Result.getOrUndefined(seal.parse(tip.suspendedAs))
    tip = sealed === undefined ? undefined : yield* find(sealed, entry)
  }
  if (tip === undefined || tip.state === "pending") {
    return { state: "running", ...known, reason: Words.begunAndWaits }
  }
  const { state, ...come } = ofEntry({ approvalId, result }, tip)
  const ended = state === "running" || state === "unknown" || state === "done"
  return { ...come, ...known, state: state === "answered" ? "running" : ended ? state : "failed" }
})

/** By the history alone. */
const ofResult = (
  { call, part }: Transcript.TranscriptRequest,
  result: Prompt.ToolResultPart,
  proof: Proof
): State => {
  const reason = reasonIn(result)
  // A call that has waited was asked about more than once, and what was said last was said to the last of them.
  const isLast = call === undefined || call.requests.at(-1)?.part === part
  const decidedBy = isLast && proof !== "forged" ? decidedByIn(result) : undefined
  return { state: stateIn(result, isLast), ...resultIn(result), ...definedFields({ decidedBy, reason }) }
}

const stateIn = (result: Prompt.ToolResultPart, isLast: boolean): State["state"] =>
  !result.isFailure
    ? "done"
    : isUnsure(result)
    ? "unknown"
    : Results.isDenied(result) && isLast
    ? "denied"
    : reasonIn(result) === Results.supersededReason
    ? "superseded"
    : "failed"

/** Somebody was asked in the turn itself, so that no request stands in the history: what a result says may be made up. */
const ofAnsweredHere = Effect.fnUntraced(function*(
  toolkit: AnyToolkit,
  { calls }: Transcript.Transcript,
  approvalId: string
): Effect.fn.Return<State | undefined> {
  const call = calls.find(({ result }) => {
    const assent: unknown = result?.options.assent
    return Transcript.isNaming(assent) && assent.approvalId === approvalId
  })
  const result = call?.result
  if (call === undefined || result === undefined) return undefined
  const request: Transcript.TranscriptRequest = {
    part: Prompt.makePart("tool-approval-request", { approvalId, toolCallId: call.part.id }),
    messageIndex: call.messageIndex,
    call,
    providerCall: undefined,
    toolCall: call.part,
    responses: [],
    ignored: [],
    answeredAt: undefined
  }
  if ((yield* proveOf(toolkit, { ...call, requests: [request] }, approvalId)) === "forged") return undefined
  return {
    state: stateIn(result, true),
    ...resultIn(result),
    ...definedFields({ decidedBy: decidedByIn(result), reason: reasonIn(result) })
  }
})

/** Nothing came of it yet. */
const ofUndecided = Effect.fnUntraced(function*(about: About): Effect.fn.Return<State, ApprovalError.ApprovalError> {
  const { approvalId, asked, isPassed, kept, open, proof } = about
  const decidedBy = Object.hasOwn(kept.deciders, approvalId) ? kept.deciders[approvalId] : undefined
  const delivered = open?.awaited === undefined ? undefined : yield* deliveredTo(approvalId)
  if (kept.answered.includes(approvalId) || delivered?.delivered !== undefined) {
    return { state: "answered", ...definedFields({ decidedBy: decidedBy ?? delivered?.deliveredBy }) }
  }
  if (open !== undefined) {
    const suspensions = yield* SuspensionStore.SuspensionStore
    // It was kept while a turn was taken, which has not come to it yet.
    const [given] = yield* suspensions.given(approvalId)
    if (given !== undefined) return { state: "answered", decidedBy: given.decidedBy }
    const { expiresAt = Infinity } = open
    return expiresAt > (yield* Clock.currentTimeMillis)
      ? { state: "open" }
      : { state: "expired", reason: new ApprovalError.Expired({ approvalId, expiredAt: expiresAt }).message }
  }
  const response = asked?.responses.at(-1)
  if (response !== undefined) {
    const { approved, reason } = response
    return {
      state: approved ? "answered" : "denied",
      ...definedFields({ decidedBy, reason: approved ? undefined : reason })
    }
  }
  if (asked !== undefined && Transcript.wasAskedInline({ requests: [asked] })) {
    // Whoever takes the turn asks somebody now; once it is left, the next one says that nobody was asked.
    return isPassed || kept.turn === undefined
      ? { state: "superseded", reason: Results.supersededReason }
      : { state: "open" }
  }
  return { state: "unknown", reason: proof === "unknown" ? Words.unknownKey : Words.notRunNow }
})

const deliveredTo = (approvalId: string) =>
  Effect.flatMap(SuspensionStore.SuspensionStore, (suspensions) => suspensions.find(approvalId))

const resultIn = (part: Prompt.ToolResultPart | undefined): Pick<State, "result" | "isFailure"> =>
  part === undefined ? {} : { result: part.result, isFailure: part.isFailure }

// What a tool says of its own failure is its result.
const reasonIn = (part: Prompt.ToolResultPart | undefined): string | undefined =>
  part === undefined ? undefined : Results.ownEndingOf(part)?.reason

const decodeDecidedBy = Schema.decodeUnknownResult(Approver.DecidedBy)

const decidedByIn = ({ options: { assent } }: Prompt.ToolResultPart): Approver.DecidedBy | undefined =>
  Predicate.hasProperty(assent, "decidedBy") ? Result.getOrUndefined(decodeDecidedBy(assent.decidedBy)) : undefined
