/** What is kept of a run's end, and how whoever comes later reads it. */
import * as AiError from "effect/ai/AiError"
import * as Tool from "effect/ai/Tool"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as ApprovalJournal from "../../ApprovalJournal.ts"
import * as Results from "../history/results.ts"
import type * as Suspending from "./suspending.ts"

/**
 * What is kept of a result, and said to the model: with what ran, if that is not what it proposed. It ends the turn where a
 * person `stops` it.
 */
export const record = (
  result: Results.Output,
  { edits, prepared }: Suspending.Waiting,
  stops = false
): ApprovalJournal.Ran => {
  // It is within bounds, or is our own.
  const part = Results.sendable(result, Number.POSITIVE_INFINITY)
  const modelOutput = edits === undefined ? part.modelOutput : Results.editedOutput(part, prepared.encoded)
  return {
    recorded: new ApprovalJournal.Recorded({
      isFailure: part.isFailure,
      encodedResult: part.encodedResult === undefined ? null : part.encodedResult as Schema.Json, // made JSON above
      ...(modelOutput === undefined ? undefined : { modelOutput: Results.encodeModelOutput(modelOutput) }),
      ...(edits === undefined ? undefined : { edits: edits as Schema.Json }), // a JSON Patch is JSON
      ...(stops ? { stop: true as const } : undefined)
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

/** What a later turn tells the model about a handler that failed the turn it ran in. */
export const encodeFailure = (
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

/** A recorded result comes back encoded; readers expect it decoded, as the first reader had it. */
export const decodeResult = (tool: Tool.Any, part: Results.ResultPart): Effect.Effect<Results.ResultPart> => {
  const codecs = resultCodecsOf(tool)
  return (part.isFailure ? codecs.decodeFailure : codecs.decodeSuccess)(part.encodedResult).pipe(
    Effect.map((result) => ({ ...part, result }) as Results.ResultPart), // `isFailure` is unchanged
    Effect.catchCause(() => Effect.succeed(part))
  )
}
