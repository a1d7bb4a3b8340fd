/**
 * What generate, stream and object have in common: settle the history, then resolve the calls of a response.
 */
import * as AiError from "effect/ai/AiError"
import type * as LanguageModel from "effect/ai/LanguageModel"
import * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import * as Semaphore from "effect/Semaphore"
import type * as Approval from "../Approval.ts"
import type * as ApprovalError from "../ApprovalError.ts"
import * as Approvals from "../Prompt.ts"
import * as Asking from "./asking.ts"
import * as Consult from "./consult.ts"
import * as Decision from "./decision.ts"
import * as Deferral from "./deferral.ts"
import type * as Environment from "./environment.ts"
import * as Execution from "./execution.ts"
import * as Hosted from "./hosted.ts"
import * as Judge from "./judge.ts"
import * as Prepare from "./prepare.ts"
import * as ProviderPrompt from "./providerPrompt.ts"
import * as RepeatedIds from "./repeatedIds.ts"
import * as Results from "./results.ts"
import * as Resuming from "./resuming.ts"
import * as Settle from "./settle.ts"
import * as Spans from "./spans.ts"
import * as Suspending from "./suspending.ts"
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
  /** Gives the second use of a local call's id within one turn an id of its own (law L13). */
  readonly uniqueId: <Part extends Response.AnyPart>(part: Part) => Part
  /** How often the model was called again because its own requests were answered at once. */
  readonly round: number
  /** Those that were approved so, and that the model was not told of yet: the program's history does not hold them. */
  readonly approvedAtOnce: ReadonlyArray<Approval.ApprovalRequest>
}

export const make = (options: Omit<Turn, "approvedPermits" | "uniqueId" | "round" | "approvedAtOnce">): Turn => ({
  ...options,
  uniqueId: makeCallIds(),
  round: 0,
  approvedAtOnce: [],
  approvedPermits: Semaphore.makeUnsafe(
    permitsOf(options.concurrency ?? options.environment.options.concurrency)
  )
})

// At least one, so that nothing waits for ever for a permit that is not there.
const permitsOf = (concurrency: Exclude<Turn["concurrency"], undefined>): number =>
  concurrency === "unbounded" ? Number.MAX_SAFE_INTEGER : concurrency >= 1 ? Math.floor(concurrency) : 1

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

const continued = (turn: Turn, prompt: Prompt.Prompt): Turn => ({
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
      return Effect.flatMap(
        turn.approvedPermits.withPermit(
          Execution.approved(turn.environment, turn.handlers!, decision, sink.approvedPreliminary)
        ),
        (executed) => ended(turn, executed, suspendedCall(decision.asked ?? decision.prepared, decision.claim), sink)
      )
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
      const { answered, request } = decision
      const { controller } = turn.environment
      const asked = Effect.flatMap(
        Asking.ask(controller, request),
        (reply) => reply === undefined ? Effect.succeed<Decision.Decision>({ _tag: "Open", request }) : answered(reply)
      )
      return Effect.flatMap(Asking.inTurn(controller, asked), (decision) => carryOut(turn, decision, sink))
    }
  }
}

/** What became of a run: its result goes out, and one that waits is settled by the request as which it does. */
const ended = (
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

const suspendedCall = (
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

// =============================================================================
// The calls of a response
// =============================================================================

type LocalCall = Response.ToolCallPart<string, unknown>

export const isLocalCall = (part: { readonly type: string; readonly providerExecuted?: boolean }): part is LocalCall =>
  part.type === "tool-call" && part.providerExecuted !== true

/** A provider cannot ask about a call that we run: only what we sealed counts, and only that is shown. */
export const asksForLocalCall = (part: Response.AnyPart, calls: ReadonlyArray<ReceivedCall>): boolean =>
  part.type === "tool-approval-request" && calls.some(({ call }) => call.id === part.toolCallId)

/** A request of the provider's, without anything that could pass for ours. */
export const plainRequest = <Part extends Response.AnyPart>(part: Part): Part => {
  if (part.type !== "tool-approval-request" || !("assent" in part.metadata)) return part
  const { assent: _, ...metadata } = part.metadata
  return { ...part, metadata }
}

const makeCallIds = () => {
  const unique = RepeatedIds.makeUniqueIds()
  return <Part extends Response.AnyPart>(part: Part): Part => {
    if (part.type !== "tool-call") return part
    const id = unique(part.id)
    return id === part.id || part.providerExecuted === true ? part : { ...part, id }
  }
}

const completeFinishReasons: ReadonlySet<string> = new Set(["stop", "tool-calls", "pause"])

/** `undefined` until a finish part was seen; then whether the response came to its end, or why not. */
export const finishOf = (
  finish: ReadonlyArray<Response.FinishPart>
): { readonly complete: boolean; readonly reason: string } | undefined => {
  // Of several, one that is incomplete is enough.
  const decisive = finish.find(({ reason }) => !completeFinishReasons.has(reason)) ?? finish[finish.length - 1]
  return decisive === undefined
    ? undefined
    : { complete: completeFinishReasons.has(decisive.reason), reason: decisive.reason }
}

/** The provider's requests of a response, and the calls they ask about. */
export interface Asked {
  readonly requests: ReadonlyArray<Response.ToolApprovalRequestPart>
  readonly calls: ReadonlyMap<string, LocalCall>
}

/** The turn goes on: what was denied of the provider's requests, and the next call of the model. */
export interface Continuation {
  readonly denials: ReadonlyArray<Results.ResultPart>
  readonly turn: Turn
}

/**
 * Answers the provider's requests of a response, if the policy or the controller can answer all of them and nothing else
 * is open. Then the model is called again with `parts`, the response, and the answers behind them.
 */
export const goOn = Effect.fnUntraced(function*(
  turn: Turn,
  settled: Settled,
  asked: Asked,
  outcomes: ReadonlyArray<Outcome>,
  parts: ReadonlyArray<Response.AnyPart>
): Effect.fn.Return<Continuation | undefined> {
  const tools = turn.handlers?.tools
  if (asked.requests.length === 0 || turn.round >= Hosted.maxRounds) return undefined
  if (!Hosted.mayAnswer(turn.environment, tools)) return undefined
  if (outcomes.some((outcome) => outcome.part === undefined)) return undefined
  const subject = { environment: turn.environment, tools, messages: settled.prompt.content }
  const answers = yield* Hosted.answerAll(subject, asked.requests, asked.calls)
  if (answers === undefined) return undefined
  const calls = new Map(asked.requests.map((part) => [part.approvalId, asked.calls.get(part.toolCallId)!]))
  const denials: Array<Results.ResultPart> = []
  const approvedAtOnce: Array<Approval.ApprovalRequest> = []
  for (const { approvalId, decision } of answers) {
    const call = calls.get(approvalId)!
    if (decision._tag === "Denied") denials.push(Results.hostedDenial(call, decision.note, approvalId))
    else approvedAtOnce.push(Hosted.requestOf(approvalId, call))
  }
  const said = Approvals.fromResponseParts([...settled.results, ...parts, ...asked.requests])
  const prompt = Hosted.withAnswers(Prompt.concat(settled.history, said), answers)
  return { denials, turn: { ...continued(turn, prompt), round: turn.round + 1, approvedAtOnce } }
})

/** The tool of a local call; a call of a tool that is not there fails as upstream's strict validation does. */
export const declaredTool = (turn: Turn, { call }: ReceivedCall) => {
  const tool = turn.handlers === undefined ? undefined : Judge.toolOf(turn.handlers.tools, call.name)
  return tool !== undefined ? Effect.succeed(tool) : Effect.fail(AiError.make({
    module: "LanguageModel",
    method: turn.method,
    reason: new AiError.InvalidOutputError({
      description: `The model called a tool that is not in the toolkit: "${call.name.slice(0, 128)}"`
    })
  }))
}

/** A call of the response, read once. */
export interface ReceivedCall {
  /**
   * As it goes out: the parameters of one that may have to be asked about are in the form that is sealed, so that what a
   * person sees in the history, what is sealed and what runs are one and the same (law L4).
   */
  readonly call: LocalCall
  /** `undefined` for a call that can need nobody. */
  readonly prepared: Judge.Preparation | undefined
}

export const receiveCall = (turn: Turn, call: LocalCall): Effect.Effect<ReceivedCall> => {
  const tool = turn.handlers === undefined ? undefined : Judge.toolOf(turn.handlers.tools, call.name)
  return tool === undefined || !(Judge.isGated(turn.environment.policy, tool) || Judge.mayWait(tool))
    ? Effect.succeed({ call, prepared: undefined })
    : Effect.map(Effect.result(Prepare.prepare(tool, call)), (prepared) => ({
      call: Result.isSuccess(prepared) ? { ...call, params: prepared.success.encoded } : call,
      prepared
    }))
}

/** What the policy says about a call of the response. */
export const judge = (
  turn: Turn,
  { call, prepared }: ReceivedCall,
  messages: ReadonlyArray<Prompt.Message>
): Effect.Effect<Decision.Judgement> => Judge.judge(turn.environment, call, prepared, messages)

/** Seals a question, if the response has come to a finish; else nobody can be asked. */
export const seal = (
  turn: Turn,
  question: Decision.Question,
  finished: boolean
): Effect.Effect<Decision.Decision, ApprovalError.ApprovalError> => {
  if (finished) return Judge.seal(turn.environment, question)
  const { toolCallId: id, toolName: name } = question.prepared
  return Effect.succeed({ _tag: "Result", part: Results.interrupted({ id, name }, Results.unfinishedReason) })
}

/** Runs a call that needs nobody. One that is to wait is asked about once the response has come to its finish. */
export const runDirect = (
  turn: Turn,
  { call, prepared }: ReceivedCall,
  permits: Semaphore.Semaphore | undefined,
  sink: Sink
): Effect.Effect<Started> => {
  const waits = prepared !== undefined && Result.isSuccess(prepared) && Deferral.of(prepared.success.tool) !== undefined
    ? prepared.success
    : undefined
  const executed = Execution.directSettled(
    turn.environment,
    turn.handlers!,
    call,
    waits !== undefined,
    sink.preliminary
  )
  return Effect.flatMap(
    permits === undefined ? executed : permits.withPermit(executed),
    ({ suspended, ...outcome }): Effect.Effect<Started> =>
      suspended !== undefined && waits !== undefined
        ? Effect.succeed({ _tag: "Waits", prepared: waits, suspended })
        : Effect.as(outcome.part === undefined ? Effect.void : sink.result(outcome.part), outcome)
  )
}

/** A call that needs nobody and was run: it ended, or is to wait. */
export type Started = Outcome | Waits

/** The handler of a call ended without a result; nobody knows of it yet. */
export interface Waits {
  readonly _tag: "Waits"
  readonly prepared: Prepare.Prepared
  readonly suspended: Deferral.Suspended
}

/** What becomes of a call that needed nobody, when it is known whether the response came to its finish. */
export const finishDirect = (
  turn: Turn,
  started: Started,
  finished: boolean,
  sink: Sink
): Effect.Effect<Outcome, ApprovalError.ApprovalError> => {
  if (!("_tag" in started)) return Effect.succeed(started)
  const { prepared, suspended } = started
  const { toolCallId: id, toolName: name } = prepared
  const call = suspendedCall(prepared, { approvalId: "" })
  const asked = finished
    ? Suspending.suspend(turn.environment, { call, prepared, previous: undefined, edits: undefined }, suspended)
    : Effect.fail(Results.notAskedReason)
  return Effect.matchEffect(asked, {
    onFailure: (reason) => carryOut(turn, Decision.result(Results.interrupted({ id, name }, reason)), sink),
    onSuccess: (approvalId) =>
      carryOut(turn, { _tag: "Suspended", approvalId, call: { ...call, root: approvalId } }, sink)
  })
}

export const directPermits = (turn: Turn): Semaphore.Semaphore | undefined =>
  typeof turn.concurrency === "number" ? Semaphore.makeUnsafe(permitsOf(turn.concurrency)) : undefined

export const firstFailure = (outcomes: ReadonlyArray<Outcome>): Cause.Cause<unknown> | undefined =>
  outcomes.find((outcome) => outcome.failure !== undefined)?.failure
