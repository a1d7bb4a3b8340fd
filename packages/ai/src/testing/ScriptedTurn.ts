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
 * @category parts
 * @since 0.1.0
 */
export const text = (text: string): Response.TextPartEncoded => ({ type: "text", text })

/**
 * A call of a tool. `params` are the parameters in their encoded form, as a model writes them.
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
 * @category stage directions
 * @since 0.1.0
 */
export const chunk = (parts: ReadonlyArray<Response.AllPartsEncoded>): StageDirection => ({ _tag: "Chunk", parts })

/**
 * Fails the stream in the middle, after the parts before it. A generated answer fails as a whole.
 *
 * @category stage directions
 * @since 0.1.0
 */
export const fail = (error: AiError.AiError): StageDirection => ({ _tag: "Fail", error })

/**
 * Runs an effect between two parts, as to hold a stream at a `Deferred`. A generated answer waits for it too.
 *
 * @category stage directions
 * @since 0.1.0
 */
export const pause = (effect: Effect.Effect<void>): StageDirection => ({ _tag: "Pause", effect })

/**
 * Lets the turn end without a finish part, as when a connection is cut.
 *
 * @category stage directions
 * @since 0.1.0
 */
export const withoutFinish: StageDirection = { _tag: "WithoutFinish" }
