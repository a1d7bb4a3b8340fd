/**
 * Runs calls, once. An approved call runs under the journal's claim and in the journal's scope, so that a reader who
 * leaves, a repeat, or a sibling that fails never runs it again or loses what it did (laws L2, L8). A call that needs
 * nobody runs as upstream runs it.
 */
import * as AiError from "effect/ai/AiError"
import * as Tool from "effect/ai/Tool"
import type * as Toolkit from "effect/ai/Toolkit"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type * as ApprovalError from "../../ApprovalError.ts"
import * as ApprovalEvents from "../../ApprovalEvents.ts"
import * as ApprovalJournal from "../../ApprovalJournal.ts"
import type * as Bounds from "../bounds.ts"
import * as Words from "../decide/words.ts"
import * as Environment from "../environment/environment.ts"
import type { Approved } from "../gather/file.ts"
import * as Remembering from "../gather/remembering.ts"
import { toolOf, type Tools } from "../gather/tools.ts"
import * as Results from "../history/results.ts"
import * as Consent from "../tool/consent.ts"
import * as Deferral from "../tool/deferral.ts"
import * as Prepare from "../tool/prepare.ts"
import * as Spans from "./spans.ts"
import * as Suspending from "./suspending.ts"

/** A toolkit with its handlers, as the engine sees any of them. Handlers' errors and services are the caller's. */
export interface Handlers {
  readonly tools: Tools
  readonly handle: (
    name: string,
    params: unknown,
    toolCallId?: string
  ) => Effect.Effect<Stream.Stream<Tool.HandlerResult<Tool.Any>, unknown>, unknown>
}

/** The engine's view of a toolkit. */
export const handlersOf = (toolkit: Toolkit.WithHandler<Record<string, Tool.Any>>): Handlers =>
  // The services of the handlers are in the type of the call that passed the toolkit, which runs this.
  toolkit as unknown as Handlers

export type Emit = (part: Results.ResultPart) => Effect.Effect<void>

/** How a call ended: with its result and, for failure mode "error", the cause the turn is to fail with. */
export interface Executed {
  readonly part: Results.ResultPart | undefined
  readonly failure: Cause.Cause<unknown> | undefined
  /** The request as which it waits, if it did not end. */
  readonly suspendedAs?: string | undefined
}

/** How a call that needs nobody ended; one that is to wait has not been asked about yet. */
export interface Direct extends Executed {
  readonly suspended?: Deferral.Suspended | undefined
}

// =============================================================================
// Calls that need nobody
// =============================================================================

interface Call extends Results.CallName {
  readonly params: unknown
}

const handle = (
  handlers: Handlers,
  { id, name, params }: Call
): ReturnType<Handlers["handle"]> => {
  return Consent.give(handlers.handle(name, params, id), toolOf(handlers.tools, name), name, id)
}

/** Lets a handler run in this fiber, emitting preliminary results, and gives its final one. */
const take = (
  handled: ReturnType<Handlers["handle"]>,
  call: Call,
  maxResultBytes: number,
  emit: Emit
): Effect.Effect<Results.ResultPart, unknown> => {
  let final: Results.ResultPart | undefined
  return Stream.unwrap(handled).pipe(
    Stream.runForEach((output) => {
      const excess = Results.excessOf(output, maxResultBytes)
      if (output.preliminary) {
        return excess === undefined ? emit(Results.toolResult(call, output)) : tellLeftOut(call, output, excess)
      }
      const bounded = excess === undefined ? output : Results.leftOut(output, excess, maxResultBytes)
      final = Results.toolResult(call, bounded)
      return excess === undefined ? Effect.void : tellLeftOut(call, output, excess)
    }),
    Effect.flatMap(() => final === undefined ? Effect.die(new Error(noFinalResult(call.name))) : Effect.succeed(final))
  )
}

const tellLeftOut = (
  { id: toolCallId, name: toolName }: Results.CallName,
  { preliminary }: Pick<Tool.HandlerResult<Tool.Any>, "preliminary">,
  problem: Bounds.Excess
): Effect.Effect<void> =>
  ApprovalEvents.publish((occasion) =>
    preliminary
      ? { _tag: "PreliminaryLeftOut", ...occasion, toolName, toolCallId, count: 1 }
      : { _tag: "ResultLeftOut", ...occasion, toolName, toolCallId, problem }
  )

/**
 * Runs a call that needs nobody so that its failure is a value, to be raised when its siblings have settled. `mayWait`
 * is said of a call whose handler may end without a result.
 */
export const directSettled = (
  handlers: Handlers,
  call: Call,
  { maxResultBytes, mayWait }: { readonly mayWait: boolean; readonly maxResultBytes: number },
  emit: Emit
): Effect.Effect<Direct> =>
  Effect.flatMap(
    Effect.exit(
      mayWait
        ? within(call, undefined, take(handle(handlers, call), call, maxResultBytes, emit))
        : take(handle(handlers, call), call, maxResultBytes, emit)
    ),
    (exit): Effect.Effect<Direct> => {
      if (Exit.isSuccess(exit)) return Effect.succeed({ part: exit.value, failure: undefined })
      const suspended = mayWait ? Deferral.suspendedOf(exit.cause, call.name) : undefined
      if (suspended !== undefined) return Effect.succeed({ part: undefined, failure: undefined, suspended })
      const unended = mayWait ? Deferral.unendedOf(exit.cause) : undefined
      if (unended !== undefined) {
        return Effect.succeed({ part: Results.interrupted(call, unended), failure: undefined })
      }
      if (Cause.hasInterruptsOnly(exit.cause)) return Effect.interrupt
      const refused = Prepare.refusedIn(call.name, call.id, exit.cause)
      return refused === undefined
        ? Effect.succeed({ part: undefined, failure: exit.cause })
        : Effect.map(refused, ({ message }) => ({ part: Results.interrupted(call, message), failure: undefined }))
    }
  )

/** As a run that may wait: from the beginning, or from where it waited. */
const within = <A, E>(
  { id, name }: Results.CallName,
  resumption: Deferral.Resumption | undefined,
  effect: Effect.Effect<A, E>
): Effect.Effect<A, E> =>
  Effect.provideService(effect, Deferral.CurrentRun, { toolName: name, toolCallId: id, resumption })

const noFinalResult = (name: string) => `Tool handler of "${name}" did not produce a final result`

// =============================================================================
// Approved calls
// =============================================================================

/** Runs an approved call under its claim, joins the run that has it, or gives what the journal recorded. */
export const approved = (
  environment: Environment.Environment,
  handlers: Handlers,
  { answered, asked, claim, edits, joinOnly, prepared }: Approved,
  emit: Emit
): Effect.Effect<Executed, ApprovalError.ApprovalError> => {
  const { approvalId } = claim
  const { toolCallId, toolName } = prepared
  const waiting: Suspending.Waiting = {
    call: {
      toolCallId,
      toolName,
      root: approvalId,
      canonical: (asked ?? prepared).canonical
    },
    prepared,
    previous: approvalId,
    edits
  }
  return Effect.flatMap(
    Effect.flatMap(
      edits !== undefined ? Prepare.paramsDigest(prepared) : Effect.undefined,
      (params) =>
        environment.journal.run({ ...claim, params }, {
          effect: Effect.andThen(
            Remembering.keep(environment, answered),
            Spans.run(run(environment, handlers, waiting, undefined, emit), claim)
          ),
          idempotent: Context.get(prepared.tool.annotations, Tool.Idempotent),
          joinOnly
        })
    ),
    (settled) => executed(settled, waiting)
  )
}

/** A call whose run waited. */
export interface Resumed {
  readonly claim: ApprovalJournal.Claim
  readonly call: Suspending.Call
  /** The call as its handler gets it. */
  readonly prepared: Prepare.Prepared
  readonly edits: Schema.Json | undefined
  /** `undefined`: nothing may be resumed; only a run that is going on is joined, and one that ended is given. */
  readonly resumption: Deferral.Resumption | undefined
}

/** Goes on with a call from where it waited, once; or joins the run that does; or gives what the journal recorded. */
export const resumed = (
  environment: Environment.Environment,
  handlers: Handlers,
  { call, claim, edits, prepared, resumption }: Resumed,
  emit: Emit
): Effect.Effect<Executed, ApprovalError.ApprovalError> => {
  const { approvalId } = claim
  const isIdempotent = Context.get(prepared.tool.annotations, Tool.Idempotent)
  const waiting: Suspending.Waiting = { call, prepared, previous: approvalId, edits }
  // The journal lets one run of this claim begin; the store, whoever the journal is. Where the store cannot say, nothing has
  // begun, and it may be tried again.
  const takeState = Effect.result(Effect.retry(environment.suspensions.take(approvalId), { times: 3 }))
  return environment.journal.run(claim, {
    effect: Effect.flatMap(
      takeState,
      (taken): Effect.Effect<ApprovalJournal.Ran | ApprovalJournal.Suspended | ApprovalJournal.Unbegun> =>
        Result.isFailure(taken)
          ? Effect.succeed({ unbegun: taken.failure })
          : taken.success || isIdempotent
          ? Spans.run(run(environment, handlers, waiting, resumption, emit), claim)
          : Effect.succeed(
            record(Results.interrupted({ id: call.toolCallId, name: call.toolName }, takenReason), waiting)
          )
    ),
    idempotent: isIdempotent,
    joinOnly: resumption === undefined
  }).pipe(
    // Given up only when the outcome is on record: until then a run that is repeated needs it.
    Effect.tap(({ entry }) =>
      entry.state === "running" || entry.state === "unknown"
        ? Effect.void
        : Effect.ignore(environment.suspensions.end(approvalId))
    ),
    Effect.flatMap((settled) => executed(settled, waiting, Words.begunAndEnded))
  )
}

/** Waits for the end of a run that goes on elsewhere, of a call that cannot be run here. */
export const awaited = (
  environment: Environment.Environment,
  claim: ApprovalJournal.Claim,
  root: string,
  begun: string | undefined
): Effect.Effect<Executed, ApprovalError.ApprovalError> => {
  const call = { id: claim.toolCallId, name: claim.toolName }
  return Effect.flatMap(
    // Who only joins never begins.
    environment.journal.run(claim, { effect: Effect.never, idempotent: false, joinOnly: true }),
    ({ entry }) => recorded(entry, call, { root, tool: undefined, begun })
  )
}

const takenReason =
  "The tool was answered and went on before; what became of it is not known here. Check before calling" +
  " it again."

const executed = (
  { entry, ran }: ApprovalJournal.Settled,
  { call: { root, toolCallId: id, toolName: name }, prepared }: Suspending.Waiting,
  begun?: string
): Effect.Effect<Executed> => {
  const call = { id, name }
  if (ran === undefined) return recorded(entry, call, { root, tool: prepared.tool, begun })
  return Effect.succeed({
    part: Results.toolResult(call, {
      result: ran.result,
      encodedResult: ran.encodedResult,
      isFailure: ran.recorded.isFailure,
      modelOutput: Results.ofRecorded(call, entry, root).modelOutput
    }, Results.settles(root, entry.recorded?.edits, entry.decidedBy)),
    failure: ran.failure
  })
}

/** What the journal holds of a run. */
export const recorded = Effect.fnUntraced(function*(
  entry: ApprovalJournal.Entry,
  call: Results.CallName,
  { begun, root, tool }: {
    readonly root: string
    readonly tool: Tool.Any | undefined
    /** What is to be said of a tool that had begun. */
    readonly begun: string | undefined
  }
): Effect.fn.Return<Executed> {
  if (entry.state === "suspended" && entry.suspendedAs !== undefined) {
    return { part: undefined, failure: undefined, suspendedAs: entry.suspendedAs }
  }
  const part = Results.ofEntry(call, entry, root, begun)
  return { part: tool === undefined ? part : yield* decodeResult(tool, part), failure: undefined }
})

// Never fails: what went wrong is recorded, and carried for the turn to fail with. Interruption (Stop, shutdown)
// passes, and the journal records the outcome as unknown.
const run = (
  environment: Environment.Environment,
  handlers: Handlers,
  waiting: Suspending.Waiting,
  resumption: Deferral.Resumption | undefined,
  emit: Emit
): Effect.Effect<ApprovalJournal.Ran | ApprovalJournal.Suspended> => {
  const { prepared } = waiting
  const maxResultBytes = Environment.maxResultBytes(environment.options)
  const call = { id: prepared.toolCallId, name: prepared.toolName, params: prepared.encoded }
  const mayWait = Deferral.of(prepared.tool) !== undefined
  const assent = { approvalId: waiting.call.root }
  const emitPreliminary: Emit = (part) => emit({ ...part, metadata: { ...part.metadata, assent } })
  const handled = handle(handlers, call)
  const taken = take(
    environment.options.paramsInSpans ? handled : Spans.withoutParameters(handled),
    call,
    maxResultBytes,
    emitPreliminary
  )
  return Effect.matchCauseEffect(mayWait ? within(call, resumption, taken) : taken, {
    onSuccess: (part) => Effect.succeed(record(part, waiting)),
    onFailure: (cause) => {
      const suspended = mayWait ? Deferral.suspendedOf(cause, call.name) : undefined
      if (suspended !== undefined) {
        const cannot = (reason: string): ApprovalJournal.Ran => record(Results.interrupted(call, reason), waiting)
        return Effect.match(Suspending.begin(environment, waiting, suspended), {
          onFailure: (reason): ApprovalJournal.Ran | ApprovalJournal.Suspended => cannot(reason),
          onSuccess: ({ approvalId, keep, kept }) => ({
            suspendedAs: approvalId,
            waiting: { keep, kept, otherwise: (error) => Effect.map(Suspending.unkept(waiting, error), cannot) }
          })
        })
      }
      const unended = mayWait ? Deferral.unendedOf(cause) : undefined
      if (unended !== undefined) return Effect.succeed(record(Results.interrupted(call, unended), waiting))
      return Cause.hasInterruptsOnly(cause) ? Effect.interrupt : Effect.map(
        encodeFailure(prepared.tool, cause),
        (failed): ApprovalJournal.Ran => ({
          ...record(Results.bounded(failed, maxResultBytes), waiting),
          failure: cause
        })
      )
    }
  })
}

/** What is kept of a result, and said to the model: with what ran, if that is not what it proposed. */
const record = (
  result: Results.Output,
  { edits, prepared }: Suspending.Waiting
): ApprovalJournal.Ran => {
  // It is within bounds, or is our own.
  const part = Results.sendable(result, Number.POSITIVE_INFINITY)
  const modelOutput = edits === undefined ? part.modelOutput : Results.editedOutput(part, prepared.encoded)
  return {
    recorded: new ApprovalJournal.Recorded({
      isFailure: part.isFailure,
      encodedResult: part.encodedResult === undefined ? null : part.encodedResult as Schema.Json, // made JSON above
      ...(modelOutput === undefined ? undefined : { modelOutput: Results.encodeModelOutput(modelOutput) }),
      ...(edits === undefined ? undefined : { edits: edits as Schema.Json }) // a JSON Patch is JSON
    }),
    result: part.result,
    encodedResult: part.encodedResult
  }
}

const crashed = { type: "execution-interrupted", reason: Results.crashedReason }

const crashedResult = { isFailure: true as const, result: crashed, encodedResult: crashed, modelOutput: undefined }

const unfit = { type: "execution-interrupted", reason: Results.unfitReason }

const unfitResult = { ...crashedResult, result: unfit, encodedResult: unfit }

// The handler did what it does; what it gave is not what its tool says that it gives.
const isUnfitResult = (error: unknown): boolean =>
  AiError.isAiError(error) &&
  (error.reason._tag === "ToolResultEncodingError" || error.reason._tag === "InvalidToolResultError")

// What a later turn tells the model about a handler that failed the turn it ran in.
const encodeFailure = (
  tool: Tool.Any,
  cause: Cause.Cause<unknown>
): Effect.Effect<Results.Output> => {
  const error = Cause.findError(cause)
  if (Result.isFailure(error)) return Effect.succeed(crashedResult)
  if (isUnfitResult(error.success)) return Effect.succeed(unfitResult)
  return resultCodecsOf(tool).encodeFailure(error.success).pipe(
    Effect.map((encodedResult): Results.Output => ({
      isFailure: true,
      result: error.success,
      encodedResult,
      modelOutput: undefined
    })),
    Effect.catchCause(() => Effect.succeed(crashedResult))
  )
}

interface ResultCodecs {
  readonly encodeFailure: (error: unknown) => Effect.Effect<unknown, unknown>
  readonly decodeFailure: (encoded: unknown) => Effect.Effect<unknown, unknown>
  readonly decodeSuccess: (encoded: unknown) => Effect.Effect<unknown, unknown>
}

const resultCodecs = new WeakMap<Tool.Any, ResultCodecs>()

const resultCodecsOf = (tool: Tool.Any): ResultCodecs => {
  let codecs = resultCodecs.get(tool)
  if (codecs === undefined) {
    // The codecs' services are the tool's own requirements, which every caller of the engine provides.
    const failure = Tool.failureResultSchema(tool) as unknown as Schema.Codec<unknown>
    const success = tool.successSchema as unknown as Schema.Codec<unknown>
    codecs = {
      encodeFailure: Schema.encodeUnknownEffect(failure),
      decodeFailure: Schema.decodeUnknownEffect(failure),
      decodeSuccess: Schema.decodeUnknownEffect(success)
    }
    resultCodecs.set(tool, codecs)
  }
  return codecs
}

// A recorded result comes back encoded; readers expect it decoded, as the first reader had it.
const decodeResult = (tool: Tool.Any, part: Results.ResultPart): Effect.Effect<Results.ResultPart> => {
  const codecs = resultCodecsOf(tool)
  return (part.isFailure ? codecs.decodeFailure : codecs.decodeSuccess)(part.encodedResult).pipe(
    Effect.map((result) => ({ ...part, result }) as Results.ResultPart), // `isFailure` is unchanged
    Effect.catchCause(() => Effect.succeed(part))
  )
}
