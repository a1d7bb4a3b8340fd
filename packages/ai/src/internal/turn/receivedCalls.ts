/** The calls of a response: read, decided, sealed or run, and the requests that the provider makes of its own. */
import * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import type * as Approval from "../../Approval.ts"
import * as ApprovalError from "../../ApprovalError.ts"
import * as Approvals from "../../Prompt.ts"
import type { Decision } from "../decide/decision.ts"
import type { Finish } from "../decide/standing.ts"
import * as Words from "../decide/words.ts"
import * as Environment from "../environment/environment.ts"
import * as Recorder from "../environment/recorder.ts"
import { type Case, make, standing } from "../gather/file.ts"
import * as Order from "../gather/order.ts"
import * as Remembering from "../gather/remembering.ts"
import * as Reply from "../gather/reply.ts"
import * as Request from "../gather/request.ts"
import * as Suspension from "../gather/suspension.ts"
import * as Tools from "../gather/tools.ts"
import * as Verdict from "../gather/verdict.ts"
import * as Bounded from "../history/bounded.ts"
import * as Results from "../history/results.ts"
import * as HostedCase from "../hosted/case.ts"
import * as Hosted from "../hosted/hosted.ts"
import * as Execution from "../run/execution.ts"
import type { Stop } from "../run/loop.ts"
import * as Outcome from "../run/outcome.ts"
import { InPassing } from "../seal/passing.ts"
import * as Prepare from "../tool/prepare.ts"
import type * as Batch from "./batch.ts"
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

/** The same, with whom it is for where the scope says so: a provider knows nothing of that. */
export const addressed = <Part extends Response.AnyPart>(
  { environment }: Turn.Turn,
  part: Part,
  calls: ReadonlyMap<string, LocalCall>
): Part => {
  const plain = plainRequest(part)
  if (plain.type !== "tool-approval-request") return plain
  const call = calls.get(plain.toolCallId)
  if (
    call === undefined || (environment.scope.conversation === undefined && environment.scope.principal === undefined)
  ) return plain
  const { metadata } = Results.requestPart(HostedCase.requestOf(environment, plain.approvalId, call))
  return { ...plain, metadata: { ...plain.metadata, ...metadata } }
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

/** What was denied of the provider's requests, and the next call of the model. */
export interface Continuation {
  readonly denials: ReadonlyArray<Results.ResultPart>
  /** `undefined` where one of the denials ended the turn. */
  readonly turn: Turn.Turn | undefined
  /** What the provider was not told of: it is asked about again rather than lost. */
  readonly requests: ReadonlyArray<Response.ToolApprovalRequestPart>
}

/**
 * Answers the provider's requests of a response, if the policy or the controller can answer all of them and nothing else
 * is open. Then the model is called again with `parts`, the response, and the answers behind them; unless a denial ended the
 * turn.
 */
export const goOn = Effect.fnUntraced(function*(
  turn: Turn.Turn,
  settled: Turn.Settled,
  asked: Asked,
  outcomes: ReadonlyArray<Outcome.Outcome>,
  parts: ReadonlyArray<Response.AnyPart>
): Effect.fn.Return<Continuation | undefined, ApprovalError.ApprovalError> {
  const tools = turn.handlers?.tools
  if (asked.requests.length === 0 || turn.round >= Hosted.maxRounds) return undefined
  if (!Hosted.mayAnswer(turn.environment, tools)) return undefined
  if (outcomes.some(({ part }) => part === undefined || Results.isStopping(part))) return undefined
  const subject = { environment: turn.environment, tools, messages: settled.shown.content }
  const answers = yield* Hosted.answerAll(subject, asked.requests, asked.calls)
  if (answers === undefined) return undefined
  const calls = new Map(asked.requests.map((part) => [part.approvalId, asked.calls.get(part.toolCallId)!]))
  const denials: Array<Results.ResultPart> = []
  const approvedAtOnce: Array<Approval.ApprovalRequest> = []
  for (const { approvalId, decision } of answers) {
    const call = calls.get(approvalId)!
    if (decision._tag === "Denied") denials.push(Results.hostedDenial(call, decision, approvalId))
    else approvedAtOnce.push(HostedCase.requestOf(turn.environment, approvalId, call))
  }
  if (answers.some(Hosted.isStopping)) {
    const open = new Set(approvedAtOnce.map(({ approvalId }) => approvalId))
    return { denials, turn: undefined, requests: asked.requests.filter(({ approvalId }) => open.has(approvalId)) }
  }
  // Until the provider says what became of them, who comes after this turn has to know what was asked.
  for (const [approvalId, call] of calls) {
    turn.recorder.asks(Results.inlinePart(HostedCase.requestOf(turn.environment, approvalId, call)))
  }
  const said = Approvals.fromResponseParts([...settled.results, ...parts, ...asked.requests])
  const prompt = Hosted.withAnswers(Prompt.concat(settled.history, said), answers)
  return { denials, turn: { ...Turn.continued(turn, prompt), round: turn.round + 1, approvedAtOnce }, requests: [] }
})

/** A call of the response, read once. */
export interface ReceivedCall {
  /**
   * As it goes out: the parameters of one that may have to be asked about are in the form that is sealed, so that what a
   * person sees in the history, what is sealed and what runs are one and the same (law L4).
   */
  readonly call: LocalCall
  /** `undefined` for a call that can need nobody. */
  readonly one: Case | undefined
}

/** Reads the calls of one response. They are looked up in what is remembered in their order. */
export const makeReader = (turn: Turn.Turn, messages: ReadonlyArray<Prompt.Message>) => {
  const { environment, handlers, shown } = turn
  const line = environment.memory.remembers ? Order.make() : undefined
  return (call: LocalCall): Effect.Effect<ReceivedCall> => {
    const tools = handlers?.tools
    const tool = Tools.toolOf(tools, call.name)
    const excess = Bounded.excessOf(call.params)
    const isGated = tool !== undefined && Tools.isGated(environment.policy, tool)
    if (tool !== undefined && !isGated && !Tools.mayWait(tool) && excess === undefined) {
      return Effect.succeed({ call, one: undefined })
    }
    const recalling = line?.join() ?? Order.none
    return Effect.map(
      tool === undefined ? Effect.undefined : Effect.result(
        excess === undefined ? Prepare.prepare(tool, call) : Prepare.outOfBounds(tool.name, call.id, excess)
      ),
      (preparation) => {
        const prepared = preparation === undefined ? undefined : Result.getOrUndefined(preparation)
        const file = make({
          environment,
          call: { toolCallId: call.id, toolName: call.name },
          tools,
          messages,
          judge: Verdict.judge(environment, call.name, messages),
          subject: Effect.suspend(() => Remembering.subjectOf(prepared!)),
          request: ({ sealed }, shown) => Request.makeRequest(environment, sealed, prepared!, shown),
          prepared,
          failure: preparation !== undefined && Result.isFailure(preparation) ? preparation.failure : undefined,
          recalling,
          runs: shown.line
        })
        return {
          call: prepared === undefined ? call : { ...call, params: prepared.encoded },
          one: {
            file,
            standing: standing(environment, {
              way: "received",
              tool: Tools.factOf(environment.policy, tools, tool, prepared !== undefined)
            })
          }
        }
      }
    )
  }
}

/** The response has come to its end, in this way: whoever is to be asked can be asked now. */
export const finish = (one: Case, finish: Finish): void => {
  one.standing = { ...one.standing, finish }
}

// Calls whose handlers were called.
const begun = new WeakSet<LocalCall>()

/** The response was cut before it was known what is to become of the call. */
export const cut = (
  turn: Turn.Turn,
  { call, one }: ReceivedCall,
  reason: string,
  sink: Outcome.Sink
): Effect.Effect<Outcome.Outcome, ApprovalError.ApprovalError> => {
  if (one === undefined || begun.has(call)) {
    const part = Results.truncatedFinish(call, reason, begun.has(call) ? Words.cutShort : undefined)
    return Effect.as(sink.result(part), { part })
  }
  one.file.cut = reason
  finish(one, "cut")
  return Outcome.settle(turn, one, sink)
}

/**
 * Puts on record what somebody here is about to be asked, and all that was said: before they are, and before it runs. Where
 * nobody is asked and nothing runs, it is written with the end of the turn.
 */
export const record = Effect.fnUntraced(function*(
  { recorder }: Turn.Turn,
  advanced: Iterable<Batch.Advanced>,
  runs: boolean = false
): Effect.fn.Return<void, unknown> {
  if (recorder === Recorder.none) return
  let begins = runs
  for (const { one: { file }, said } of advanced) {
    if (Exit.isFailure(said) || (said.value._tag !== "Need" && said.value._tag !== "Run")) continue
    begins = true
    if (said.value._tag === "Need") {
      recorder.asks(Results.inlinePart(yield* Reply.requestOf(file, file.questions[0]!)))
    }
  }
  if (begins) yield* recorder.keep
})

/** Whether it is to run as a call that needs nobody. */
export const isFree = (said: Decision | Stop): boolean => said._tag === "Run" && said.as === "free"

/** Runs a call that needs nobody. One that is to wait is asked about once the response has come to its finish. */
export const runDirect = (
  turn: Turn.Turn,
  { call, one }: ReceivedCall,
  sink: Outcome.Sink
): Effect.Effect<Started, ApprovalError.ApprovalError> => {
  begun.add(call)
  const waits = one?.file.prepared !== undefined && Tools.mayWait(one.file.prepared.tool) ? one : undefined
  const executed = waits === undefined
    ? Execution.directSettled(
      turn.handlers!,
      call,
      Environment.maxResultBytes(turn.environment.options),
      sink.preliminary
    )
    : runClaimed(turn, waits, sink)
  const recalled = one?.file.recalled
  return Effect.flatMap(
    Environment.permitted(turn.environment, executed),
    ({ suspendedAs, ...outcome }): Effect.Effect<Started> => {
      if (suspendedAs !== undefined && waits !== undefined) {
        return Effect.succeed({ _tag: "Waits", one: waits, suspendedAs })
      }
      if (outcome.part === undefined) return Effect.succeed(outcome)
      const part = recalled === undefined ? outcome.part : Results.withDecidedBy(outcome.part, recalled.decidedBy)
      return Effect.as(sink.result(part), { ...outcome, part })
    }
  )
}

// It is on record, as a call that somebody here was asked about, before it begins: whoever goes on after a turn that is left
// finds its claim.
const runClaimed = Effect.fnUntraced(function*(
  { environment, handlers, recorder }: Turn.Turn,
  { file }: Case,
  sink: Outcome.Sink
): Effect.fn.Return<Execution.Executed, ApprovalError.ApprovalError> {
  const prepared = file.prepared!
  const sealed = yield* environment.seal.seal(yield* Prepare.binding(prepared, environment.scope), {
    expiresIn: environment.options.expiresIn
  }).pipe(Effect.provideService(InPassing, true))
  const keep = Effect.suspend(() => {
    if (recorder === Recorder.none) return Effect.void
    recorder.asks(Results.inlinePart(Request.makeRequest(environment, sealed, prepared, {})))
    return Effect.mapError(recorder.keep, unrecorded)
  })
  const claim = { ...Request.claimOf(sealed, prepared), kind: "call" as const }
  return yield* Execution.claimed(environment, handlers!, claim, prepared, keep, sink.approvedPreliminary)
})

const unrecorded = (error: unknown): ApprovalError.ApprovalError =>
  error instanceof ApprovalError.ApprovalError ? error : ApprovalError.make(
    new ApprovalError.JournalUnavailable({
      description: error instanceof Error ? error.message : "What was said could not be written down."
    })
  )

/** A call that needs nobody and was run: it ended, or is to wait. */
export type Started = Outcome.Outcome | Waits

/** The handler of a call ended without a result; nobody was told of it yet. */
export interface Waits {
  readonly _tag: "Waits"
  readonly one: Case
  readonly suspendedAs: string
}

/** What becomes of a call that needed nobody, when it is known whether the response came to its finish. */
export const finishDirect = (
  turn: Turn.Turn,
  started: Started,
  finished: boolean,
  sink: Outcome.Sink
): Effect.Effect<Outcome.Outcome, ApprovalError.ApprovalError> => {
  if (!("_tag" in started)) return Effect.succeed(started)
  const { one, suspendedAs } = started
  if (finished) {
    return Effect.andThen(
      recordWait(turn, suspendedAs),
      Outcome.settleWait(turn, one, suspendedAs, suspendedAs, sink)
    )
  }
  const { toolCallId: id, toolName: name } = one.file.call
  const part = Results.interrupted({ id, name }, Results.notAskedReason)
  return endUnasked(turn, one.file.call, suspendedAs).pipe(Effect.andThen(sink.result(part)), Effect.as({ part }))
}

// Nobody will ever be asked for it.
const endUnasked = Effect.fnUntraced(function*(
  { environment: { journal, seal, suspensions } }: Turn.Turn,
  call: Request.Named,
  approvalId: string
): Effect.fn.Return<void, ApprovalError.ApprovalError> {
  const sealed = yield* Effect.fromResult(seal.parse(approvalId))
  const within = (yield* suspensions.find(approvalId))?.suspension.began
  yield* journal.end({ ...Request.claimOf(sealed, call), within }, "void", Results.notAskedReason)
  yield* suspensions.end(approvalId)
})

// What it waits for, before somebody here is asked about that; whoever goes on after this turn finds it there.
const recordWait = (
  { environment: { controller, suspensions, within }, recorder }: Turn.Turn,
  approvalId: string
): Effect.Effect<void, ApprovalError.ApprovalError> =>
  recorder === Recorder.none || controller.ask === undefined
    ? Effect.void
    : Effect.flatMap(suspensions.find(approvalId), (found) => {
      if (found === undefined) return Effect.void
      recorder.asks(Results.inlinePart(Suspension.requestOf(within, found.suspension)))
      // It has begun, and what it waits for is kept: the turn goes on.
      return Effect.ignore(recorder.keep)
    })

/** How the response ends: a person who stopped the turn has stopped whoever would go on from its calls. */
export const finishAfter = (
  finish: ReadonlyArray<Response.FinishPart>,
  parts: ReadonlyArray<Results.ResultPart | undefined>
): ReadonlyArray<Response.FinishPart> =>
  parts.some((part) => part !== undefined && Results.isStopping(part))
    ? finish.map(Results.stopped)
    : finish

export const firstFailure = (outcomes: ReadonlyArray<Outcome.Outcome>): Cause.Cause<unknown> | undefined =>
  outcomes.find((outcome) => outcome.failure !== undefined)?.failure

/** A turn that fails tells nobody what its calls wait for: what was kept of them is given up (law L8). */
export const fail = (
  { environment }: Turn.Turn,
  outcomes: ReadonlyArray<Outcome.Outcome>,
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
