/** The calls of a response: read, judged, sealed or run, and the requests that the provider makes of its own. */
import * as AiError from "effect/ai/AiError"
import * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Semaphore from "effect/Semaphore"
import type * as Approval from "../Approval.ts"
import type * as ApprovalError from "../ApprovalError.ts"
import * as Approvals from "../Prompt.ts"
import * as Decision from "./decision.ts"
import * as Deferral from "./deferral.ts"
import * as Execution from "./execution.ts"
import * as Hosted from "./hosted.ts"
import * as Judge from "./judge.ts"
import * as Prepare from "./prepare.ts"
import * as Results from "./results.ts"
import * as Suspending from "./suspending.ts"
import * as Turn from "./turn.ts"

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
  readonly turn: Turn.Turn
}

/**
 * Answers the provider's requests of a response, if the policy or the controller can answer all of them and nothing else
 * is open. Then the model is called again with `parts`, the response, and the answers behind them.
 */
export const goOn = Effect.fnUntraced(function*(
  turn: Turn.Turn,
  settled: Turn.Settled,
  asked: Asked,
  outcomes: ReadonlyArray<Turn.Outcome>,
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
  return { denials, turn: { ...Turn.continued(turn, prompt), round: turn.round + 1, approvedAtOnce } }
})

/** The tool of a local call; a call of a tool that is not there fails as upstream's strict validation does. */
export const declaredTool = (turn: Turn.Turn, { call }: ReceivedCall) => {
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

export const receiveCall = (turn: Turn.Turn, call: LocalCall): Effect.Effect<ReceivedCall> => {
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
  turn: Turn.Turn,
  { call, prepared }: ReceivedCall,
  messages: ReadonlyArray<Prompt.Message>
): Effect.Effect<Decision.Judgement> => Judge.judge(turn.environment, call, prepared, messages)

/** Seals a question, if the response has come to a finish; else nobody can be asked. */
export const seal = (
  turn: Turn.Turn,
  question: Decision.Question,
  finished: boolean
): Effect.Effect<Decision.Decision, ApprovalError.ApprovalError> => {
  if (finished) return Judge.seal(turn.environment, question)
  const { toolCallId: id, toolName: name } = question.prepared
  return Effect.succeed({ _tag: "Result", part: Results.interrupted({ id, name }, Results.unfinishedReason) })
}

/** Runs a call that needs nobody. One that is to wait is asked about once the response has come to its finish. */
export const runDirect = (
  turn: Turn.Turn,
  { call, prepared }: ReceivedCall,
  permits: Semaphore.Semaphore | undefined,
  sink: Turn.Sink
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
export type Started = Turn.Outcome | Waits

/** The handler of a call ended without a result; nobody knows of it yet. */
export interface Waits {
  readonly _tag: "Waits"
  readonly prepared: Prepare.Prepared
  readonly suspended: Deferral.Suspended
}

/** What becomes of a call that needed nobody, when it is known whether the response came to its finish. */
export const finishDirect = (
  turn: Turn.Turn,
  started: Started,
  finished: boolean,
  sink: Turn.Sink
): Effect.Effect<Turn.Outcome, ApprovalError.ApprovalError> => {
  if (!("_tag" in started)) return Effect.succeed(started)
  const { prepared, suspended } = started
  const { toolCallId: id, toolName: name } = prepared
  const call = Turn.suspendedCall(prepared, { approvalId: "" })
  const asked = finished
    ? Suspending.suspend(turn.environment, { call, prepared, previous: undefined, edits: undefined }, suspended)
    : Effect.fail(Results.notAskedReason)
  return Effect.matchEffect(asked, {
    onFailure: (reason) => Turn.carryOut(turn, Decision.result(Results.interrupted({ id, name }, reason)), sink),
    onSuccess: (approvalId) =>
      Turn.carryOut(turn, { _tag: "Suspended", approvalId, call: { ...call, root: approvalId } }, sink)
  })
}

export const directPermits = (turn: Turn.Turn): Semaphore.Semaphore | undefined =>
  typeof turn.concurrency === "number" ? Semaphore.makeUnsafe(Turn.permitsOf(turn.concurrency)) : undefined

export const firstFailure = (outcomes: ReadonlyArray<Turn.Outcome>): Cause.Cause<unknown> | undefined =>
  outcomes.find((outcome) => outcome.failure !== undefined)?.failure

/** A turn that fails tells nobody what its calls wait for: what was kept of them is given up (law L8). */
export const fail = (
  { environment }: Turn.Turn,
  outcomes: ReadonlyArray<Turn.Outcome>,
  failure: Cause.Cause<unknown>
): Effect.Effect<never, unknown> =>
  Effect.andThen(
    Effect.forEach(
      outcomes.flatMap(({ request }) => request?.awaited === undefined ? [] : [request.approvalId]),
      (approvalId) => Effect.ignore(environment.suspensions.end(approvalId)),
      { discard: true }
    ),
    Effect.failCause(failure)
  )
