/**
 * The turns of a scripted model, as data.
 *
 * @since 0.1.0
 */
import type * as AiError from "effect/ai/AiError"
import type * as LanguageModel from "effect/ai/LanguageModel"
import type * as Response from "effect/ai/Response"
import type * as Effect from "effect/Effect"

/**
 * What the model does when it is called once.
 *
 * A string is an answer in text, an array is an answer part by part, an `AiError` fails the call, and a function
 * looks at the request first. Without a finish part one is added: `"tool-calls"` when the turn holds a call that the
 * provider does not execute itself, else `"stop"`.
 *
 * @category models
 * @since 0.1.0
 */
export type Turn =
  | string
  | ReadonlyArray<TurnPart>
  | AiError.AiError
  | ((options: LanguageModel.ProviderOptions) => Turn)

/**
 * One part of a turn: a part of a response in its encoded form, or a stage direction.
 *
 * In a stream a text, a reasoning and a tool call are played as providers play them: start, deltas, end. A part that
 * exists only in streams (`"text-delta"`, `"error"`, …) is played as it stands in a stream and left out of a
 * generated answer.
 *
 * @category models
 * @since 0.1.0
 */
export type TurnPart = Response.AllPartsEncoded | StageDirection

/**
 * What happens in a turn besides its parts; made with {@link chunk}, {@link fail}, {@link pause} and
 * {@link withoutFinish}.
 *
 * @category models
 * @since 0.1.0
 */
export type StageDirection =
  | { readonly _tag: "Chunk"; readonly parts: ReadonlyArray<Response.AllPartsEncoded> }
  | { readonly _tag: "Fail"; readonly error: AiError.AiError }
  | { readonly _tag: "Pause"; readonly effect: Effect.Effect<void> }
  | { readonly _tag: "WithoutFinish" }

/**
 * A part of text.
 *
 * @example
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect } from "effect"
 *
 * const program = Effect.gen(function*() {
 *   const { model } = yield* ScriptedModel.make({
 *     turns: [[ScriptedModel.text("Let me think. "), ScriptedModel.text("Yes.")]]
 *   })
 *   return (yield* model.generateText({ prompt: "Is it so?" })).text
 * })
 *
 * await Effect.runPromise(program) // => "Let me think. Yes."
 *
 * @category parts
 * @since 0.1.0
 */
export const text = (text: string): Response.TextPartEncoded => ({ type: "text", text })

/**
 * A call of a tool. `params` are the parameters in their encoded form, as a model writes them.
 *
 * @example
 * import { LanguageModel, Tool, Toolkit } from "@assent/ai"
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect, Schema } from "effect"
 *
 * const toolkit = Toolkit.make(Tool.make("Add", { parameters: { a: Schema.Int, b: Schema.Int }, success: Schema.Int }))
 *
 * const program = LanguageModel.generateText({ prompt: "What is 2 + 3?", toolkit }).pipe(
 *   Effect.map(({ toolResults }) => toolResults[0]?.result),
 *   Effect.provide(toolkit.toLayer({ Add: ({ a, b }) => Effect.succeed(a + b) })),
 *   Effect.provide(ScriptedModel.layer({
 *     turns: [[ScriptedModel.toolCall({ id: "call-1", name: "Add", params: { a: 2, b: 3 } })]]
 *   }))
 * )
 *
 * await Effect.runPromise(program) // => 5
 *
 * @category parts
 * @since 0.1.0
 */
export const toolCall = (options: {
  readonly id: string
  readonly name: string
  readonly params: unknown
  readonly providerExecuted?: boolean | undefined
  readonly metadata?: Response.ToolCallPartMetadata | undefined
}): Response.ToolCallPartEncoded => ({
  type: "tool-call",
  id: options.id,
  name: options.name,
  params: options.params,
  providerExecuted: options.providerExecuted ?? false,
  ...(options.metadata === undefined ? undefined : { metadata: options.metadata })
})

/**
 * The result of a tool that the provider executed itself.
 *
 * @example
 * import { LanguageModel, Tool, Toolkit } from "@assent/ai"
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect, Schema } from "effect"
 *
 * // A tool that the provider runs itself, such as a search.
 * const Search = Tool.providerDefined({
 *   id: "acme.search",
 *   customName: "Search",
 *   providerName: "search",
 *   success: Schema.String
 * })
 * const toolkit = Toolkit.make(Search())
 *
 * const program = LanguageModel.generateText({ prompt: "Look it up.", toolkit }).pipe(
 *   Effect.map(({ toolResults }) => toolResults[0]?.result),
 *   Effect.provide(ScriptedModel.layer({
 *     turns: [[
 *       ScriptedModel.toolCall({ id: "call-1", name: "Search", params: {}, providerExecuted: true }),
 *       ScriptedModel.toolResult({ id: "call-1", name: "Search", result: "found it" })
 *     ]]
 *   }))
 * )
 *
 * await Effect.runPromise(program) // => "found it"
 *
 * @category parts
 * @since 0.1.0
 */
export const toolResult = (options: {
  readonly id: string
  readonly name: string
  readonly result: unknown
  readonly isFailure?: boolean | undefined
  readonly metadata?: Response.ToolResultPartMetadata | undefined
}): Response.ToolResultPartEncoded => ({
  type: "tool-result",
  id: options.id,
  name: options.name,
  result: options.result,
  isFailure: options.isFailure ?? false,
  providerExecuted: true,
  ...(options.metadata === undefined ? undefined : { metadata: options.metadata })
})

/**
 * The end of a turn, with made-up usage numbers: 10 tokens in, 5 out.
 *
 * @example
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect } from "effect"
 *
 * // The model ran out of tokens.
 * const program = Effect.gen(function*() {
 *   const { model } = yield* ScriptedModel.make({
 *     turns: [[ScriptedModel.text("Once upon a"), ScriptedModel.finish("length")]]
 *   })
 *   const response = yield* model.generateText({ prompt: "Tell me a story." })
 *   return [response.text, response.finishReason]
 * })
 *
 * await Effect.runPromise(program) // => ["Once upon a", "length"]
 *
 * @category parts
 * @since 0.1.0
 */
export const finish = (reason: Response.FinishReason): Response.FinishPartEncoded => ({
  type: "finish",
  reason,
  usage: {
    inputTokens: { uncached: 10, total: 10, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 5, text: 5, reasoning: 0 }
  }
})

/**
 * Puts parts into one chunk of the stream; every other part is a chunk by itself. The deltas of a text stay
 * together too.
 *
 * @example
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect, Stream } from "effect"
 *
 * const sizes = Effect.gen(function*() {
 *   const { model } = yield* ScriptedModel.make({
 *     turns: [[ScriptedModel.chunk([ScriptedModel.text("All of this comes at once.")])]]
 *   })
 *   const chunks = model.streamText({ prompt: "Hi" }).pipe(Stream.chunks, Stream.map((parts) => parts.length))
 *   return yield* Stream.runCollect(chunks)
 * })
 *
 * // Start, six deltas and end; then the finish.
 * await Effect.runPromise(sizes) // => [8, 1]
 *
 * @category stage directions
 * @since 0.1.0
 */
export const chunk = (parts: ReadonlyArray<Response.AllPartsEncoded>): StageDirection => ({ _tag: "Chunk", parts })

/**
 * Fails the stream in the middle, after the parts before it. A generated answer fails as a whole.
 *
 * @example
 * import { AiError } from "@assent/ai"
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect, Stream } from "effect"
 *
 * const cut = AiError.make({
 *   module: "Provider",
 *   method: "streamText",
 *   reason: new AiError.UnknownError({ description: "The connection was lost." })
 * })
 *
 * const program = Effect.gen(function*() {
 *   const { model } = yield* ScriptedModel.make({ turns: [[ScriptedModel.text("Half"), ScriptedModel.fail(cut)]] })
 *   const seen: Array<string> = []
 *   const stream = Stream.tap(model.streamText({ prompt: "Hi" }), (part) => Effect.sync(() => seen.push(part.type)))
 *   const error = yield* Effect.flip(Stream.runDrain(stream))
 *   return [seen.includes("text-delta"), error === cut]
 * })
 *
 * await Effect.runPromise(program) // => [true, true]
 *
 * @category stage directions
 * @since 0.1.0
 */
export const fail = (error: AiError.AiError): StageDirection => ({ _tag: "Fail", error })

/**
 * Runs an effect between two parts, as to hold a stream at a `Deferred`. A generated answer waits for it too.
 *
 * @example
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Deferred, Effect, Fiber } from "effect"
 *
 * const program = Effect.gen(function*() {
 *   const goOn = yield* Deferred.make<void>()
 *   const { model } = yield* ScriptedModel.make({
 *     turns: [[ScriptedModel.text("Done."), ScriptedModel.pause(Deferred.await(goOn))]]
 *   })
 *   const turn = yield* Effect.forkChild(model.generateText({ prompt: "Hi" }), { startImmediately: true })
 *   const before = turn.pollUnsafe() === undefined
 *   yield* Deferred.succeed(goOn, undefined)
 *   return [before, (yield* Fiber.join(turn)).text]
 * })
 *
 * await Effect.runPromise(program) // => [true, "Done."]
 *
 * @category stage directions
 * @since 0.1.0
 */
export const pause = (effect: Effect.Effect<void>): StageDirection => ({ _tag: "Pause", effect })

/**
 * Lets the turn end without a finish part, as when a connection is cut.
 *
 * @example
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect, Stream } from "effect"
 *
 * const types = Effect.gen(function*() {
 *   const { model } = yield* ScriptedModel.make({ turns: [[ScriptedModel.text("Half"), ScriptedModel.withoutFinish]] })
 *   return yield* Stream.runCollect(Stream.map(model.streamText({ prompt: "Hi" }), (part) => part.type))
 * })
 *
 * await Effect.runPromise(types) // => ["text-start", "text-delta", "text-end"]
 *
 * @category stage directions
 * @since 0.1.0
 */
export const withoutFinish: StageDirection = { _tag: "WithoutFinish" }
