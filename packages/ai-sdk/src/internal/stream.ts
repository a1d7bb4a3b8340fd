/** The parts of a stream, one by one as the provider sends them. */
import type * as AiError from "effect/ai/AiError"
import type * as Response from "effect/ai/Response"
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as Pull from "effect/Pull"
import * as Stream from "effect/Stream"
import * as Approvals from "./approvals.ts"
import * as Carrier from "./carrier.ts"
import * as Content from "./content.ts"
import * as Errors from "./errors.ts"
import * as Finish from "./finish.ts"
import * as Metadata from "./metadata.ts"
import type { StreamPart, StreamResult, Warning } from "./models.ts"
import * as Requirements from "./requirements.ts"

type Part = Response.StreamPartEncoded
type Chunk = Arr.NonEmptyReadonlyArray<Part>

export interface Options extends Content.Reading {
  readonly method: string
  /** Reads the params of a call as its tool has them; `undefined` where that changes nothing. */
  readonly readCall: ((part: Part) => Effect.Effect<Part>) | undefined
  readonly onWarnings: (warnings: ReadonlyArray<Warning>) => Effect.Effect<void> | undefined
  readonly onFinish: (
    part: Response.FinishPartEncoded,
    metadata: Response.ResponseMetadataPartEncoded | undefined
  ) => void
}

/**
 * The parts of a stream, which is asked for when it is run, and aborted when nobody reads it any more. It fails when the
 * provider says so, and when it ends before the response does.
 */
export const parts = (
  begin: (signal: AbortSignal) => PromiseLike<StreamResult>,
  options: Options
): Stream.Stream<Part, AiError.AiError> =>
  Stream.scoped(Stream.fromPull(Effect.gen(function*() {
    const context: Errors.ErrorContext = { method: options.method }
    const abort = new AbortController()
    let reader: ReadableStreamDefaultReader<StreamPart> | undefined
    let isDone = false
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        if (isDone) return
        abort.abort()
        // Whoever aborts is not told why the rest did not come.
        reader?.cancel().catch(() => {})
      })
    )
    const result = yield* Effect.tryPromise({
      try: () => begin(abort.signal) as Promise<StreamResult>,
      catch: (error) => Errors.fromUnknown(error, context)
    })
    // Each version's stream is one of its own parts.
    const source = reader = (result.stream as ReadableStream<StreamPart>).getReader()
    const writer = make(options)
    const pull = Effect.tryPromise({ try: () => source.read(), catch: (error) => Errors.fromUnknown(error, context) })
    const next: Pull.Pull<Chunk, AiError.AiError> = Effect.flatMap(pull, (step) => {
      isDone = step.done
      if (step.done) return writer.hasEnded() ? Cause.done() : Effect.fail(Errors.cut(context))
      const { value } = step
      if (value.type === "error") return Effect.fail(Errors.fromUnknown(value.error, context))
      if (value.type === "stream-start") {
        const log = options.onWarnings(value.warnings)
        return log === undefined ? next : Effect.andThen(log, next)
      }
      const parts = read(() => writer.read(value))
      if (parts === undefined) return Effect.fail(Errors.malformed(context))
      if (!Arr.isReadonlyArrayNonEmpty(parts)) return next
      return value.type === "tool-call" && options.readCall !== undefined
        ? Effect.forEach(parts, options.readCall)
        : Effect.succeed(parts)
    })
    return next
  })))

// What a provider sends may be anything: its types are its own promise.
const read = <A>(evaluate: () => A): A | undefined => {
  try {
    return evaluate()
  } catch {
    return undefined
  }
}

interface Writer {
  readonly read: (part: Exclude<StreamPart, { readonly type: "error" | "stream-start" }>) => ReadonlyArray<Part>
  readonly hasEnded: () => boolean
}

const nothing: ReadonlyArray<Part> = []

const make = (options: Options): Writer => {
  let written: Array<Part> = []
  let carriedCount = 0
  let ended = false
  let metadata: Response.ResponseMetadataPartEncoded | undefined
  // Parameters of calls that no part stands for.
  let foreign: Set<string> | undefined
  // Ids of calls that have another one in the conversation.
  let renamed: Map<string, string> | undefined
  const idOf = (id: string) => renamed?.get(id) ?? id
  const stamp = Approvals.stamp(options.provider)
  const reader = Content.make(options, {
    part: (part) => written.push(part),
    carried: (carried) => written.push(...Carrier.streamed(`carried-${carriedCount++}`, carried, stamp))
  })
  const drain = (): ReadonlyArray<Part> => {
    const parts = written
    written = []
    return parts
  }
  return {
    hasEnded: () => ended,
    read: (part) => {
      switch (part.type) {
        case "text-delta":
        case "reasoning-delta": {
          const { delta, id, providerMetadata, type } = part
          return [withMetadata({ type, id, delta }, providerMetadata)]
        }
        case "text-start":
        case "reasoning-start":
        case "reasoning-end":
          return [withMetadata({ type: part.type, id: part.id }, part.providerMetadata)]
        case "text-end": {
          written.push(withMetadata({ type: part.type, id: part.id }, part.providerMetadata))
          if ("citations" in part && part.citations !== undefined) reader.citations(part.citations)
          return drain()
        }
        case "tool-input-start": {
          const { id, providerExecuted, toolName } = part
          if (reader.isForeign(toolName, providerExecuted)) {
            ;(foreign ??= new Set()).add(id)
            return nothing
          }
          const name = reader.nameOf(toolName, providerExecuted)
          const known = providerExecuted === true ? id : Requirements.inConversation(id)
          if (known !== id) (renamed ??= new Map()).set(id, known)
          return [
            withMetadata(
              {
                type: "tool-params-start",
                id: known,
                name,
                ...(providerExecuted === true ? { providerExecuted } : undefined)
              },
              part.providerMetadata
            )
          ]
        }
        case "tool-input-delta":
          if (foreign?.has(part.id) === true) return nothing
          return [
            withMetadata({ type: "tool-params-delta", id: idOf(part.id), delta: part.delta }, part.providerMetadata)
          ]
        case "tool-input-end":
          if (foreign?.has(part.id) === true) return nothing
          return [withMetadata({ type: "tool-params-end", id: idOf(part.id) }, part.providerMetadata)]
        case "response-metadata":
          metadata = { ...metadata, ...Finish.metadata(part) }
          return [metadata]
        case "finish": {
          ended = true
          const finish = Finish.part(part, reader.asksApproval())
          options.onFinish(finish, metadata)
          return [finish]
        }
        case "raw":
        case "ping":
          return nothing
        default:
          reader.read(part)
          return drain()
      }
    }
  }
}

const withMetadata = <P extends Part>(
  part: P,
  providerMetadata: Parameters<typeof Metadata.ofProvider>[0]
): P => {
  if (providerMetadata === undefined) return part
  const metadata = Metadata.ofProvider(providerMetadata)
  return metadata === undefined ? part : { ...part, metadata }
}
