/**
 * Runs calls, once. An approved call runs under the journal's claim and in the journal's scope, so that a reader who
 * leaves, a repeat, or a sibling that fails never runs it again or loses what it did (laws L2, L8). A call that needs
 * nobody runs as upstream runs it.
 */
import * as Tool from "effect/ai/Tool"
import type * as Toolkit from "effect/ai/Toolkit"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as JsonPatch from "effect/JsonPatch"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type * as ApprovalError from "../ApprovalError.ts"
import * as ApprovalJournal from "../ApprovalJournal.ts"
import type * as Decision from "./decision.ts"
import type * as Environment from "./environment.ts"
import * as Prepare from "./prepare.ts"
import * as Remembering from "./remembering.ts"
import * as Results from "./results.ts"
import * as Spans from "./spans.ts"

/** A toolkit with its handlers, as the engine sees any of them. Handlers' errors and services are the caller's. */
export interface Handlers {
  readonly tools: Decision.Tools
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
}

// =============================================================================
// Calls that need nobody
// =============================================================================

interface Call extends Results.CallName {
  readonly params: unknown
}

const handle = (
  { options }: Environment.Environment,
  handlers: Handlers,
  { id, name, params }: Call
): ReturnType<Handlers["handle"]> => {
  const handled = handlers.handle(name, params, id)
  return options.paramsInSpans ? handled : Spans.withoutParameters(handled)
}

/** Lets a handler run in this fiber, emitting preliminary results, and gives its final one. */
const take = (
  handled: ReturnType<Handlers["handle"]>,
  call: Call,
  emit: Emit
): Effect.Effect<Results.ResultPart, unknown> => {
  let final: Results.ResultPart | undefined
  return Stream.unwrap(handled).pipe(
    Stream.runForEach((output) => {
      const part = Results.toolResult(call, output)
      if (output.preliminary) return emit(part)
      final = part
      return Effect.void
    }),
    Effect.flatMap(() => final === undefined ? Effect.die(new Error(noFinalResult(call.name))) : Effect.succeed(final))
  )
}

/** Runs a call that needs nobody so that its failure is a value, to be raised when its siblings have settled. */
export const directSettled = (
  environment: Environment.Environment,
  handlers: Handlers,
  call: Call,
  emit: Emit
): Effect.Effect<Executed> =>
  Effect.flatMap(
    Effect.exit(take(handle(environment, handlers, call), call, emit)),
    (exit): Effect.Effect<Executed> => {
      if (Exit.isSuccess(exit)) return Effect.succeed({ part: exit.value, failure: undefined })
      return Cause.hasInterruptsOnly(exit.cause)
        ? Effect.interrupt
        : Effect.succeed({ part: undefined, failure: exit.cause })
    }
  )

const noFinalResult = (name: string) => `Tool handler of "${name}" did not produce a final result`

// =============================================================================
// Approved calls
// =============================================================================

/** Runs an approved call under its claim, joins the run that has it, or gives what the journal recorded. */
export const approved = (
  environment: Environment.Environment,
  handlers: Handlers,
  { answered, claim, edits, joinOnly, prepared }: Extract<Decision.Decision, { readonly _tag: "Run" }>,
  emit: Emit
): Effect.Effect<Executed, ApprovalError.ApprovalError> => {
  const call = { id: prepared.toolCallId, name: prepared.toolName }
  const { approvalId } = claim
  return Effect.flatMap(
    Effect.flatMap(
      edits !== undefined ? Prepare.paramsDigest(prepared) : Effect.undefined,
      (params) =>
        environment.journal.run({ ...claim, params }, {
          effect: Effect.andThen(
            Remembering.keep(environment, answered),
            Spans.run(run(environment, handlers, prepared, edits, approvalId, emit), claim)
          ),
          idempotent: Context.get(prepared.tool.annotations, Tool.Idempotent),
          joinOnly
        })
    ),
    ({ entry, ran }) => {
      if (ran !== undefined) {
        return Effect.succeed({
          part: Results.toolResult(call, {
            result: ran.result,
            encodedResult: ran.encodedResult,
            isFailure: ran.recorded.isFailure,
            modelOutput: Results.ofRecorded(call, entry, approvalId).modelOutput
          }, Results.settles(approvalId, edits)),
          failure: ran.failure
        })
      }
      const part = Results.ofEnding(call, entry, approvalId) ?? Results.ofRecorded(call, entry, approvalId)
      return Effect.map(decodeResult(prepared.tool, part), (part) => ({ part, failure: undefined }))
    }
  )
}

// Never fails: what went wrong is recorded, and carried for the turn to fail with. Interruption (Stop, shutdown)
// passes, and the journal records the outcome as unknown.
const run = (
  environment: Environment.Environment,
  handlers: Handlers,
  prepared: Prepare.Prepared,
  edits: JsonPatch.JsonPatch | undefined,
  approvalId: string,
  emit: Emit
): Effect.Effect<ApprovalJournal.Ran> => {
  const call = { id: prepared.toolCallId, name: prepared.toolName, params: prepared.encoded }
  const emitPreliminary: Emit = (part) => emit({ ...part, metadata: { ...part.metadata, assent: { approvalId } } })
  return Effect.matchCauseEffect(take(handle(environment, handlers, call), call, emitPreliminary), {
    onSuccess: (part) => Effect.succeed(record(part, prepared, edits)),
    onFailure: (cause) =>
      Cause.hasInterruptsOnly(cause) ? Effect.interrupt : Effect.map(
        encodeFailure(prepared.tool, cause),
        (failed): ApprovalJournal.Ran => ({ ...record(failed, prepared, edits), failure: cause })
      )
  })
}

/** What is kept of a result, and said to the model: with what ran, if that is not what it proposed. */
const record = (
  result: Results.Output,
  prepared: Prepare.Prepared,
  edits: JsonPatch.JsonPatch | undefined
): ApprovalJournal.Ran => {
  const part = Results.sendable(result)
  const modelOutput = edits === undefined ? part.modelOutput : Results.editedOutput(part, prepared.encoded)
  return {
    recorded: new ApprovalJournal.Recorded({
      isFailure: part.isFailure,
      encodedResult: part.encodedResult === undefined ? null : part.encodedResult as Schema.Json, // made JSON above
      ...(modelOutput === undefined ? undefined : { modelOutput: Results.encodeModelOutput(modelOutput) }),
      ...(edits === undefined ? undefined : { edits })
    }),
    result: part.result,
    encodedResult: part.encodedResult
  }
}

const crashed = { type: "execution-interrupted", reason: Results.crashedReason }

const crashedResult = { isFailure: true as const, result: crashed, encodedResult: crashed, modelOutput: undefined }

// What a later turn tells the model about a handler that failed the turn it ran in.
const encodeFailure = (
  tool: Tool.Any,
  cause: Cause.Cause<unknown>
): Effect.Effect<Results.Output> => {
  const error = Cause.findError(cause)
  if (Result.isFailure(error)) return Effect.succeed(crashedResult)
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
