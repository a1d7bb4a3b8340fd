/**
 * A language model whose turns are data: for tests of agents, without a network, a key or a bill.
 *
 * The model is upstream's service, made with upstream's `LanguageModel.make`, so to Assent it is a foreign provider
 * like any other. It refuses what real providers refuse, unless told not to; see `StrictProvider`.
 *
 * @since 0.1.0
 */
import * as AiError from "effect/ai/AiError"
import * as LanguageModel from "effect/ai/LanguageModel"
import type * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import type { Turn, TurnPart } from "./ScriptedTurn.ts"
import { finish, text } from "./ScriptedTurn.ts"
import * as StrictProvider from "./StrictProvider.ts"

export * from "./ScriptedTurn.ts"

// =============================================================================
// Models
// =============================================================================

/**
 * A scripted model and what it was asked.
 *
 * `model` is upstream's service. `params` are the hooks it was made from, so that another `make` can be tested over
 * the same script; both share one script and one record. `requests` are all requests in order, those that
 * `StrictProvider` refused included; `calls` counts the turns that were played, so a refused request is not a call.
 *
 * @category models
 * @since 0.1.0
 */
export interface ScriptedModel {
  readonly model: LanguageModel.LanguageModel
  readonly params: StrictProvider.Params
  readonly requests: Effect.Effect<ReadonlyArray<ScriptedRequest>>
  readonly calls: Effect.Effect<number>
}

/**
 * What the model was asked in one call. `prompt` is the very object that the provider received.
 *
 * @category models
 * @since 0.1.0
 */
export interface ScriptedRequest {
  readonly method: "generateText" | "streamText"
  readonly prompt: Prompt.Prompt
  readonly incrementalPrompt: Prompt.Prompt | undefined
  readonly previousResponseId: string | undefined
  readonly toolNames: ReadonlyArray<string>
  readonly toolChoice: LanguageModel.ToolChoice<string>
  readonly responseFormat: LanguageModel.ProviderOptions["responseFormat"]
}

/**
 * How a scripted model is made.
 *
 * `strict` (default `true`) refuses prompts that real providers refuse; give `StrictProvider.Options` to allow the
 * approvals the script's provider issued itself. `afterLastTurn` says what happens when the script is over: `"fail"`
 * (default) fails the call with an `UnknownError` that says so, `"repeat"` plays the last turn again, and any other
 * turn is played each time. `responseIds` puts a `response-metadata` part with the id `response-<n>`, counted from 1,
 * before each turn, as `ResponseIdTracker` wants it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly turns: ReadonlyArray<Turn>
  readonly strict?: boolean | StrictProvider.Options | undefined
  readonly afterLastTurn?: "fail" | "repeat" | Turn | undefined
  readonly responseIds?: boolean | undefined
}

// =============================================================================
// Constructors
// =============================================================================

/**
 * Makes a model that plays `turns` one after the other, whether it is asked to generate or to stream.
 *
 * @example
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect } from "effect"
 *
 * const program = Effect.gen(function*() {
 *   const scripted = yield* ScriptedModel.make({
 *     turns: ["Hello!", [ScriptedModel.text("Bye"), ScriptedModel.finish("length")]]
 *   })
 *   const first = yield* scripted.model.generateText({ prompt: "Hi" })
 *   const second = yield* scripted.model.generateText({ prompt: "Go on" })
 *   return [first.text, second.finishReason, yield* scripted.calls]
 * })
 *
 * await Effect.runPromise(program) // => ["Hello!", "length", 2]
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function*(options: Options): Effect.fn.Return<ScriptedModel> {
  const requests: Array<ScriptedRequest> = []
  let calls = 0

  const nextTurn = (request: LanguageModel.ProviderOptions) =>
    Effect.suspend(() => {
      const turn = options.turns[calls] ?? turnAfterLast(options)
      calls += 1
      const number = calls
      return turn === undefined
        ? Effect.fail(scriptIsOver(number, options.turns.length))
        : Effect.map(partsOf(turn, request), (parts) =>
          complete(parts, options.responseIds === true ? number : undefined))
    })

  const played: StrictProvider.Params = {
    generateText: (request) => Effect.flatMap(nextTurn(request), playAtOnce),
    streamText: (request) => Stream.unwrap(Effect.map(nextTurn(request), playAsStream))
  }
  const answering = options.strict === false
    ? played
    : StrictProvider.wrap(played, typeof options.strict === "object" ? options.strict : undefined)

  const params: StrictProvider.Params = {
    generateText: (request) =>
      Effect.suspend(() => {
        requests.push(toScriptedRequest("generateText", request))
        return answering.generateText(request)
      }),
    streamText: (request) =>
      Stream.suspend(() => {
        requests.push(toScriptedRequest("streamText", request))
        return answering.streamText(request)
      })
  }

  return {
    model: yield* LanguageModel.make(params),
    params,
    requests: Effect.sync(() => requests.slice()),
    calls: Effect.sync(() => calls)
  }
})

// =============================================================================
// Layers
// =============================================================================

/**
 * Provides upstream's `LanguageModel` service with a scripted model, for programs that need not see the requests.
 *
 * @example
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect } from "effect"
 * import { LanguageModel } from "effect/ai"
 *
 * const program = LanguageModel.generateText({ prompt: "Hi" }).pipe(
 *   Effect.map((response) => response.text),
 *   Effect.provide(ScriptedModel.layer({ turns: ["Hello!"] }))
 * )
 *
 * await Effect.runPromise(program) // => "Hello!"
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options): Layer.Layer<LanguageModel.LanguageModel> =>
  Layer.effect(LanguageModel.LanguageModel, Effect.map(make(options), (scripted) => scripted.model))

// =============================================================================
// Internals: from a turn to its parts
// =============================================================================

const toScriptedRequest = (
  method: ScriptedRequest["method"],
  options: LanguageModel.ProviderOptions
): ScriptedRequest => ({
  method,
  prompt: options.prompt,
  incrementalPrompt: options.incrementalPrompt,
  previousResponseId: options.previousResponseId,
  toolNames: options.tools.map((tool) => tool.name),
  toolChoice: options.toolChoice,
  responseFormat: options.responseFormat
})

const turnAfterLast = (options: Options): Turn | undefined => {
  switch (options.afterLastTurn) {
    case undefined:
    case "fail":
      return undefined
    case "repeat":
      return options.turns.at(-1)
    default:
      return options.afterLastTurn
  }
}

// Not an `InvalidRequestError`: upstream would answer that with a second try, without the previous response.
const scriptIsOver = (call: number, turns: number): AiError.AiError =>
  AiError.make({
    module: "ScriptedModel",
    method: "make",
    reason: new AiError.UnknownError({
      description: `The model was called ${call} times, but its script has ${turns} turns.` +
        " Add a turn, or say with `afterLastTurn` what happens when the script is over."
    })
  })

const partsOf = (
  turn: Turn,
  request: LanguageModel.ProviderOptions
): Effect.Effect<ReadonlyArray<TurnPart>, AiError.AiError> => {
  if (typeof turn === "function") return partsOf(turn(request), request)
  if (AiError.isAiError(turn)) return Effect.fail(turn)
  if (typeof turn === "string") return Effect.succeed(turn === "" ? [] : [text(turn)])
  return Effect.succeed(turn)
}

/** Adds what every response has: its id, where ids are wanted, and its finish. */
const complete = (parts: ReadonlyArray<TurnPart>, responseNumber: number | undefined): ReadonlyArray<TurnPart> => {
  const completed: Array<TurnPart> = []
  if (responseNumber !== undefined) completed.push({ type: "response-metadata", id: `response-${responseNumber}` })
  for (const part of parts) completed.push(part)

  let finished = false
  let calling = false
  for (const part of parts) {
    if ("_tag" in part && part._tag === "WithoutFinish") finished = true
    for (const inner of responseParts(part)) {
      if (inner.type === "finish") finished = true
      if (inner.type === "tool-call" && inner.providerExecuted !== true) calling = true
    }
  }
  if (!finished) completed.push(finish(calling ? "tool-calls" : "stop"))
  return completed
}

const responseParts = (part: TurnPart): ReadonlyArray<Response.AllPartsEncoded> => {
  if (!("_tag" in part)) return [part]
  return part._tag === "Chunk" ? part.parts : []
}

// =============================================================================
// Internals: generate
// =============================================================================

const playAtOnce = Effect.fnUntraced(function*(
  parts: ReadonlyArray<TurnPart>
): Effect.fn.Return<Array<Response.PartEncoded>, AiError.AiError> {
  const content: Array<Response.PartEncoded> = []
  for (const part of parts) {
    if ("_tag" in part && part._tag === "Fail") return yield* Effect.fail(part.error)
    if ("_tag" in part && part._tag === "Pause") yield* part.effect
    content.push(...responseParts(part).filter(isGenerated))
  }
  return content
})

const isGenerated = (part: Response.AllPartsEncoded): part is Response.PartEncoded => {
  switch (part.type) {
    case "text-start":
    case "text-delta":
    case "text-end":
    case "reasoning-start":
    case "reasoning-delta":
    case "reasoning-end":
    case "tool-params-start":
    case "tool-params-delta":
    case "tool-params-end":
    case "error":
      return false
    default:
      return true
  }
}

// =============================================================================
// Internals: stream
// =============================================================================

/** One chunk of a stream and what must have happened before it. */
interface Step {
  readonly before: Effect.Effect<void, AiError.AiError>
  readonly parts: Arr.NonEmptyReadonlyArray<Response.StreamPartEncoded>
}

const playAsStream = (
  parts: ReadonlyArray<TurnPart>
): Stream.Stream<Response.StreamPartEncoded, AiError.AiError> => {
  const steps: Array<Step> = []
  let before: Effect.Effect<void, AiError.AiError> = Effect.void
  const push = (parts: ReadonlyArray<Response.StreamPartEncoded>) => {
    if (!Arr.isReadonlyArrayNonEmpty(parts)) return
    steps.push({ before, parts })
    before = Effect.void
  }

  for (const [index, part] of parts.entries()) {
    if (!("_tag" in part)) {
      for (const streamed of toStreamParts(part, `${index}`)) push([streamed])
      continue
    }
    switch (part._tag) {
      case "Chunk":
        push(part.parts.flatMap((inner, innerIndex) => toStreamParts(inner, `${index}.${innerIndex}`)))
        break
      case "Fail":
        before = Effect.andThen(before, Effect.fail(part.error))
        break
      case "Pause":
        before = Effect.andThen(before, part.effect)
        break
      case "WithoutFinish":
        break
    }
  }

  return Stream.fromIterable(steps, { chunkSize: 1 }).pipe(
    Stream.mapArrayEffect(([step]) => Effect.as(step.before, step.parts)),
    Stream.concat(Stream.fromEffectDrain(before))
  )
}

/** The parts a provider streams for one part of an answer; `id` is unique within the turn. */
const toStreamParts = (part: Response.AllPartsEncoded, id: string): ReadonlyArray<Response.StreamPartEncoded> => {
  switch (part.type) {
    case "text":
      return [
        { type: "text-start", id, metadata: part.metadata },
        ...deltas(part.text).map((delta): Response.TextDeltaPartEncoded => ({ type: "text-delta", id, delta })),
        { type: "text-end", id }
      ]
    case "reasoning":
      return [
        { type: "reasoning-start", id, metadata: part.metadata },
        ...deltas(part.text).map((delta): Response.ReasoningDeltaPartEncoded => ({
          type: "reasoning-delta",
          id,
          delta
        })),
        { type: "reasoning-end", id }
      ]
    case "tool-call":
      return [
        {
          type: "tool-params-start",
          id: part.id,
          name: part.name,
          providerExecuted: part.providerExecuted ?? false
        },
        { type: "tool-params-delta", id: part.id, delta: paramsText(part.params) },
        { type: "tool-params-end", id: part.id },
        part
      ]
    default:
      return [part]
  }
}

/** Pieces of at most 5 characters; a character outside the basic plane is never cut in two. */
const deltas = (text: string): ReadonlyArray<string> =>
  Arr.chunksOf(Array.from(text), 5).map((characters) => characters.join(""))

const paramsText = (params: unknown): string => {
  try {
    return JSON.stringify(params) ?? ""
  } catch {
    // A script may hold what no model could write, as to see it refused; the call itself still carries it.
    return String(params)
  }
}
