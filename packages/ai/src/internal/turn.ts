/**
 * What generate, stream and object have in common: settle the history, then resolve the calls of a response.
 */
import type * as LanguageModel from "effect/ai/LanguageModel"
import type * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import * as Semaphore from "effect/Semaphore"
import type * as Approval from "../Approval.ts"
import type * as ApprovalError from "../ApprovalError.ts"
import * as Asking from "./asking.ts"
import * as Consult from "./consult.ts"
import * as Decision from "./decision.ts"
import type * as Environment from "./environment.ts"
import * as Execution from "./execution.ts"
import * as Hosted from "./hosted.ts"
import type * as Prepare from "./prepare.ts"
import * as ProviderPrompt from "./providerPrompt.ts"
import * as RepeatedIds from "./repeatedIds.ts"
import * as Results from "./results.ts"
import * as Resuming from "./resuming.ts"
import * as Settle from "./settle.ts"
import * as Spans from "./spans.ts"
import * as Transcript from "./transcript.ts"

export interface Turn {
  readonly method: string
  readonly environment: Environment.Environment
  readonly prompt: Prompt.Prompt
  readonly transcript: Transcript.Transcript
  readonly handlers: Execution.Handlers | undefined
  /** False when the caller resolves tool calls itself: then nothing runs here. */
  readonly resolvesCalls: boolean
  readonly concurrency: LanguageModel.GenerateTextOptions<{}>["concurrency"]
  readonly approvedPermits: Semaphore.Semaphore
  /** For the calls that were approved by what was shown of them: they run one after the other, in their order. */
  readonly shown: { readonly permits: Semaphore.Semaphore; hasRun: boolean }
  /** Gives the second use of a local call's id within one turn an id of its own (law L13). */
  readonly uniqueId: <Part extends Response.AnyPart>(part: Part) => Part
  /** How often the model was called again because its own requests were answered at once. */
  readonly round: number
  /** Those that were approved so, and that the model was not told of yet: the program's history does not hold them. */
  readonly approvedAtOnce: ReadonlyArray<Approval.ApprovalRequest>
}

export const make = (
  options: Omit<Turn, "approvedPermits" | "shown" | "uniqueId" | "round" | "approvedAtOnce">
): Turn => ({
  ...options,
  uniqueId: makeCallIds(),
  round: 0,
  approvedAtOnce: [],
  shown: { permits: Semaphore.makeUnsafe(1), hasRun: false },
  approvedPermits: Semaphore.makeUnsafe(
    permitsOf(options.concurrency ?? options.environment.options.concurrency)
  )
})

// At least one, so that nothing waits for ever for a permit that is not there.
export const permitsOf = (concurrency: Exclude<Turn["concurrency"], undefined>): number =>
  concurrency === "unbounded" ? Number.MAX_SAFE_INTEGER : concurrency >= 1 ? Math.floor(concurrency) : 1

const makeCallIds = () => {
  const unique = RepeatedIds.makeUniqueIds()
  return <Part extends Response.AnyPart>(part: Part): Part => {
    if (part.type !== "tool-call") return part
    const id = unique(part.id)
    return id === part.id || part.providerExecuted === true ? part : { ...part, id }
  }
}

// =============================================================================
// The history
// =============================================================================

export interface Settled {
  /** Results of settled calls, in the order of their calls. */
  readonly results: ReadonlyArray<Results.ResultPart>
  /** Requests that are open; while there is one, the model is not called (law L5). */
  readonly open: ReadonlyArray<Approval.ApprovalRequest>
  /** The history, with answers that the policy or the controller gave to the provider's requests. */
  readonly history: Prompt.Prompt
  /** What the provider is to see. */
  readonly prompt: Prompt.Prompt
  readonly failure: Cause.Cause<unknown> | undefined
}

/** Where results go as soon as they are known. */
export interface Sink {
  readonly preliminary: Execution.Emit
  /** Never waits: a run that belongs to the journal does not stand still because its reader does (law L2). */
  readonly approvedPreliminary: Execution.Emit
  readonly result: (part: Results.ResultPart) => Effect.Effect<void>
}

/** Settles every call of the history that has no result; results are emitted as soon as they are known. */
export const settleHistory = (turn: Turn, sink: Sink): Effect.Effect<Settled, ApprovalError.ApprovalError> => {
  const pending = unsettled(turn.transcript)
  const settled = settleCalls(turn, pending, sink)
  return pending.length === 0 ? settled : Spans.settle(settled, pending.length)
}

const settleCalls = Effect.fnUntraced(function*(
  turn: Turn,
  pending: ReadonlyArray<Transcript.TranscriptCall>,
  sink: Sink
): Effect.fn.Return<Settled, ApprovalError.ApprovalError> {
  const { environment, transcript } = turn
  const subject = subjectOf(turn)
  yield* Effect.forEach(transcript.lateDenials, (late) => Settle.denyLate(subject, late), { discard: true })
  // Decided side by side, carried out in the order of the calls. What was answered comes first where answers are
  // remembered: it may answer the others too.
  const decided = new Map<Transcript.TranscriptCall, Exit.Exit<Decision.Decision, ApprovalError.ApprovalError>>()
  const passes = environment.memory.remembers ? [pending.filter(isAnswered), pending] : [pending]
  for (const calls of passes) {
    yield* Effect.forEach(
      calls.filter((call) => !decided.has(call)),
      (call) => Effect.map(Effect.exit(Settle.settle(subject, call)), (decision) => decided.set(call, decision)),
      { concurrency: "unbounded", discard: true }
    )
  }
  const decisions = pending.map((call) => decided.get(call)!)
  const outcomes = yield* collect(
    decisions,
    (decision) => Effect.flatMap(decision, (decision) => carryOut(turn, decision, sink))
  )
  const results: Array<Results.ResultPart> = []
  const open: Array<Approval.ApprovalRequest> = []
  // For each call that had none, in order.
  const written: Array<Prompt.ToolResultPart | undefined> = []
  let failure: Cause.Cause<unknown> | undefined
  for (const outcome of outcomes) {
    failure ??= outcome.failure
    if (outcome.request !== undefined) open.push(outcome.request)
    if (outcome.part !== undefined) results.push(outcome.part)
    const standing = outcome.part ?? outcome.waiting
    written.push(standing === undefined ? undefined : Results.toPromptPart(standing))
  }
  const undecided = open.length === 0 && failure === undefined
  const hosted = yield* Hosted.settle(
    { environment, tools: subject.tools, messages: transcript.messages },
    transcript,
    { judges: undecided, asks: undecided && turn.resolvesCalls }
  )
  open.push(...hosted.open)
  if (open.length > 0 || failure !== undefined) {
    // If the model is not called, nobody has been told of them: they are asked about again rather than lost.
    open.push(...turn.approvedAtOnce.filter((one) => !open.some(({ approvalId }) => approvalId === one.approvalId)))
    return { results, open, history: turn.prompt, prompt: turn.prompt, failure }
  }
  results.push(...yield* denyHosted(transcript, hosted.answers, sink))
  const answered = hosted.answers.length === 0 ? turn : continued(turn, Hosted.withAnswers(turn.prompt, hosted.answers))
  const writtenFor = new Map(unsettled(answered.transcript).map((call, index) => [call, written[index]]))
  const prompt = ProviderPrompt.write(answered.prompt, answered.transcript, {
    resultOf: (call) => writtenFor.get(call),
    supersedes: environment.options.onNewMessage === "supersede",
    isOurs: (approvalId) => hosted.bogus.has(approvalId) || Result.isSuccess(environment.seal.parse(approvalId))
  })
  return { results, open, history: answered.prompt, prompt, failure }
})

const subjectOf = ({ environment, handlers, resolvesCalls, transcript }: Turn): Resuming.Subject => ({
  environment,
  transcript,
  tools: handlers?.tools,
  resolvesCalls
})

const isAnswered = ({ requests }: Transcript.TranscriptCall): boolean =>
  requests.some(({ responses }) => responses.length > 0)

const unsettled = ({ calls }: Transcript.Transcript): ReadonlyArray<Transcript.TranscriptCall> =>
  calls.filter((call) => call.result === undefined)

export const continued = (turn: Turn, prompt: Prompt.Prompt): Turn => ({
  ...turn,
  prompt,
  transcript: Transcript.read(prompt.content)
})

const denyHosted = (
  { requests }: Transcript.Transcript,
  answers: ReadonlyArray<Approval.ApprovalAnswer>,
  sink: Sink
) =>
  Effect.forEach(
    answers.flatMap(({ approvalId, decision }) => {
      const call = requests.find(({ part }) => part.approvalId === approvalId)?.toolCall
      return call === undefined || decision._tag !== "Denied"
        ? []
        : [Results.hostedDenial(call, decision.note, approvalId)]
    }),
    (part) => Effect.as(sink.result(part), part)
  )

/** What became of one call. */
export interface Outcome {
  readonly part?: Results.ResultPart | undefined
  readonly request?: Approval.ApprovalRequest | undefined
  /** What the model sees in the place of a result that is still waited for. */
  readonly waiting?: Results.ResultPart | undefined
  readonly failure?: Cause.Cause<unknown> | undefined
}

type Run = Extract<Decision.Decision, { readonly _tag: "Run" }>

const runApproved = (turn: Turn, decision: Run, sink: Sink): Effect.Effect<Outcome, ApprovalError.ApprovalError> =>
  Effect.flatMap(
    turn.approvedPermits.withPermit(
      Execution.approved(turn.environment, turn.handlers!, decision, sink.approvedPreliminary)
    ),
    (executed) => ended(turn, executed, suspendedCall(decision.asked ?? decision.prepared, decision.claim), sink)
  )

// What was shown of this call may be what the one before it has changed.
const runShown = Effect.fnUntraced(function*(
  turn: Turn,
  decision: Run,
  again: Exclude<Run["again"], undefined>,
  sink: Sink
): Effect.fn.Return<Outcome, ApprovalError.ApprovalError> {
  const changed = turn.shown.hasRun ? yield* again : undefined
  if (changed !== undefined) return yield* carryOut(turn, changed, sink)
  turn.shown.hasRun = true
  return yield* runApproved(turn, decision, sink)
})

/** Does what was decided about a call. */
export const carryOut = (
  turn: Turn,
  decision: Decision.Decision,
  sink: Sink
): Effect.Effect<Outcome, ApprovalError.ApprovalError> => {
  switch (decision._tag) {
    case "Result":
      return Effect.as(sink.result(decision.part), { part: decision.part })
    case "Open":
      return Effect.succeed({ request: decision.request })
    case "Keep":
      return Effect.succeed({
        waiting: Results.interrupted(decision.call, decision.reason ?? Results.waitingReason, decision.approvalId)
      })
    case "Consult":
      return Effect.flatMap(
        Consult.consult(turn.environment, decision, turn.transcript.messages),
        (decision) => carryOut(turn, decision, sink)
      )
    case "Run":
      return decision.again === undefined
        ? runApproved(turn, decision, sink)
        : turn.shown.permits.withPermit(runShown(turn, decision, decision.again, sink))
    case "Resume":
      return Effect.flatMap(
        turn.approvedPermits.withPermit(
          Execution.resumed(turn.environment, turn.handlers!, decision, sink.approvedPreliminary)
        ),
        (executed) => ended(turn, executed, decision.call, sink)
      )
    case "Suspended":
      return Effect.flatMap(
        Resuming.settle(subjectOf(turn), decision.call, decision.approvalId),
        (decision) => carryOut(turn, decision, sink)
      )
    case "Inquire": {
      const { answered, check, request } = decision
      const { controller } = turn.environment
      const asked = Effect.flatMap(
        Asking.ask(controller, request, { check, remembers: undefined }),
        (reply) => reply === undefined ? Effect.succeed<Decision.Decision>({ _tag: "Open", request }) : answered(reply)
      )
      return Effect.flatMap(Asking.inTurn(controller, asked), (decision) => carryOut(turn, decision, sink))
    }
  }
}

/** What became of a run: its result goes out, and one that waits is settled by the request as which it does. */
export const ended = (
  turn: Turn,
  executed: Execution.Executed,
  call: Decision.SuspendedCall,
  sink: Sink
): Effect.Effect<Outcome, ApprovalError.ApprovalError> => {
  const { part, suspendedAs } = executed
  return suspendedAs !== undefined
    ? carryOut(turn, { _tag: "Suspended", approvalId: suspendedAs, call }, sink)
    : Effect.as(part === undefined ? Effect.void : sink.result(part), executed)
}

export const suspendedCall = (
  prepared: Prepare.Prepared,
  { approvalId }: { readonly approvalId: string }
): Decision.SuspendedCall => ({
  ...Decision.about(prepared),
  root: approvalId,
  canonical: prepared.canonical,
  prepared
})

// Every call is carried through before the first failure is raised: one call's trouble is not another's (law L8).
export const collect = <A, E>(
  items: Iterable<A>,
  each: (item: A) => Effect.Effect<Outcome, E>
): Effect.Effect<ReadonlyArray<Outcome>, E> =>
  Effect.flatMap(
    Effect.forEach(items, (item) => Effect.exit(each(item)), { concurrency: "unbounded" }),
    (exits) => Effect.forEach(exits, (exit) => exit)
  )
