/**
 * What happens in a scripted turn besides its items: how it ends, what it costs, and all that can go wrong on the way.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type * as Responses from "openai/resources/responses/responses"
import type { ApiError } from "./ApiError.ts"

/**
 * What happens in a turn besides its items.
 *
 * `afterEvents` counts the events of a stream from its beginning; without it a direction takes effect after the items
 * before it. Of a response that is not streamed the body is cut in the middle.
 *
 * @category models
 * @since 0.1.0
 */
export type StageDirection =
  | (Timed & { readonly _tag: "Cut"; readonly how: "destroy" | "end"; readonly beforeHeaders: boolean })
  | (Timed & { readonly _tag: "Stall"; readonly beforeHeaders: boolean })
  | (Timed & { readonly _tag: "Bytes"; readonly bytes: Uint8Array })
  | (Timed & { readonly _tag: "HalfCharacter"; readonly how: "destroy" | "end" })
  | (Timed & { readonly _tag: "Pause"; readonly effect: Effect.Effect<void> })
  | (Timed & { readonly _tag: "StreamError"; readonly error: ApiError; readonly shape: "nested" | "flat" })
  | { readonly _tag: "Finish"; readonly finish: Finish }
  | { readonly _tag: "Usage"; readonly usage: Responses.ResponseUsage }

/** @internal */
export interface Timed {
  readonly afterEvents: number | undefined
}

/** @internal */
export type Finish =
  | { readonly status: "incomplete"; readonly reason: "max_output_tokens" | "content_filter" }
  | { readonly status: "failed"; readonly code: string; readonly message: string }

/**
 * When a direction takes effect.
 *
 * @category models
 * @since 0.1.0
 */
export interface At {
  readonly afterEvents?: number | undefined
}

// =============================================================================
// The connection
// =============================================================================

/**
 * Ends the connection in the middle: `"destroy"` (default) breaks the socket, `"end"` ends the body as if all were
 * well, but without the events that were still to come. `beforeHeaders` breaks it before a byte was sent.
 *
 * @example
 * import { ResponsesServer } from "@assent/openai/testing"
 * import { Effect } from "effect"
 * import OpenAI from "openai"
 *
 * const program = Effect.gen(function*() {
 *   const server = yield* ResponsesServer.make({ turns: [[ResponsesServer.text("Hello"), ResponsesServer.cut()]] })
 *   const client = new OpenAI({ apiKey: server.apiKey, baseURL: server.url, maxRetries: 0 })
 *   return yield* Effect.promise(async () => {
 *     let said = ""
 *     try {
 *       const events = await client.responses.create({ model: "gpt-5.5", input: "Hi", stream: true })
 *       for await (const event of events) if (event.type === "response.output_text.delta") said += event.delta
 *       return "never"
 *     } catch {
 *       return said
 *     }
 *   })
 * })
 *
 * await Effect.runPromise(Effect.scoped(program)) // => "Hello"
 *
 * @category stage directions
 * @since 0.1.0
 */
export const cut = (
  options?: At & { readonly how?: "destroy" | "end" | undefined; readonly beforeHeaders?: boolean | undefined }
): StageDirection => ({
  _tag: "Cut",
  afterEvents: options?.afterEvents,
  how: options?.how ?? "destroy",
  beforeHeaders: options?.beforeHeaders ?? false
})

/**
 * Says nothing more and leaves the connection open, until the client goes or the server's scope closes;
 * `beforeHeaders` says nothing at all.
 *
 * @example
 * import { ResponsesServer } from "@assent/openai/testing"
 * import { Effect } from "effect"
 * import OpenAI from "openai"
 *
 * const program = Effect.gen(function*() {
 *   const server = yield* ResponsesServer.make({ turns: [[ResponsesServer.text("Hello"), ResponsesServer.stall()]] })
 *   const client = new OpenAI({ apiKey: server.apiKey, baseURL: server.url })
 *   const said = yield* Effect.promise(async () => {
 *     const events = await client.responses.create({ model: "gpt-5.5", input: "Hi", stream: true })
 *     // Nothing more would come.
 *     for await (const event of events) if (event.type === "response.output_text.done") return event.text
 *     return "never"
 *   })
 *   yield* server.idle
 *   return said
 * })
 *
 * await Effect.runPromise(Effect.scoped(program)) // => "Hello"
 *
 * @category stage directions
 * @since 0.1.0
 */
export const stall = (options?: At & { readonly beforeHeaders?: boolean | undefined }): StageDirection => ({
  _tag: "Stall",
  afterEvents: options?.afterEvents,
  beforeHeaders: options?.beforeHeaders ?? false
})

/**
 * Sends bytes of one's own, as garbage: between two events of a stream, or instead of a body that is not streamed.
 *
 * @example
 * import { ResponsesServer } from "@assent/openai/testing"
 * import { Effect } from "effect"
 * import OpenAI from "openai"
 *
 * const program = Effect.gen(function*() {
 *   const server = yield* ResponsesServer.make({
 *     turns: [[ResponsesServer.bytes("data: {oops\n\n", { afterEvents: 2 }), ResponsesServer.text("Hello")]]
 *   })
 *   const client = new OpenAI({ apiKey: server.apiKey, baseURL: server.url, logLevel: "off" })
 *   return yield* Effect.flip(Effect.tryPromise({
 *     try: async () => {
 *       const events = await client.responses.create({ model: "gpt-5.5", input: "Hi", stream: true })
 *       for await (const event of events) if (event.type === "response.completed") return
 *     },
 *     catch: (error) => error instanceof SyntaxError
 *   }))
 * })
 *
 * await Effect.runPromise(Effect.scoped(program)) // => true
 *
 * @category stage directions
 * @since 0.1.0
 */
export const bytes = (bytes: string | Uint8Array, options?: At): StageDirection => ({
  _tag: "Bytes",
  afterEvents: options?.afterEvents,
  bytes: typeof bytes === "string" ? new TextEncoder().encode(bytes) : bytes
})

/**
 * Ends after two of the three bytes of `€`, in the middle of an event; `how` as with {@link cut}, `"end"` by default.
 *
 * @example
 * import { LanguageModel } from "@assent/ai"
 * import { OpenAiClient, OpenAiLanguageModel } from "@assent/openai"
 * import { ResponsesServer } from "@assent/openai/testing"
 * import { Effect, Layer, Redacted, Stream } from "effect"
 *
 * const program = Effect.gen(function*() {
 *   const server = yield* ResponsesServer.make({
 *     turns: [[ResponsesServer.text("It costs 5 "), ResponsesServer.halfCharacter()]]
 *   })
 *   const client = OpenAiClient.layer({ apiKey: Redacted.make(server.apiKey), apiUrl: server.url })
 *   let said = ""
 *   const error = yield* LanguageModel.streamText({ prompt: "How much is it?" }).pipe(
 *     Stream.runForEach((part) => Effect.sync(() => said += part.type === "text-delta" ? part.delta : "")),
 *     Effect.provide(Layer.provide(OpenAiLanguageModel.layer({ model: "gpt-5.2" }), client)),
 *     Effect.flip
 *   )
 *   return [said, error._tag]
 * })
 *
 * await Effect.runPromise(Effect.scoped(program)) // => ["It costs 5 ", "AiError"]
 *
 * @category stage directions
 * @since 0.1.0
 */
export const halfCharacter = (options?: At & { readonly how?: "destroy" | "end" | undefined }): StageDirection => ({
  _tag: "HalfCharacter",
  afterEvents: options?.afterEvents,
  how: options?.how ?? "end"
})

/**
 * Runs an effect before going on, as to hold a stream at a `Deferred`.
 *
 * @example
 * import { ResponsesServer } from "@assent/openai/testing"
 * import { Deferred, Effect } from "effect"
 * import OpenAI from "openai"
 *
 * const program = Effect.gen(function*() {
 *   const goOn = yield* Deferred.make<void>()
 *   const pause = ResponsesServer.pause(Deferred.await(goOn))
 *   const server = yield* ResponsesServer.make({
 *     turns: [[ResponsesServer.text("One."), pause, ResponsesServer.text("Two.")]]
 *   })
 *   const client = new OpenAI({ apiKey: server.apiKey, baseURL: server.url })
 *   return yield* Effect.promise(async () => {
 *     const texts: Array<string> = []
 *     const events = await client.responses.create({ model: "gpt-5.5", input: "Count.", stream: true })
 *     for await (const event of events) {
 *       if (event.type !== "response.output_text.done") continue
 *       texts.push(event.text)
 *       Deferred.doneUnsafe(goOn, Effect.void)
 *     }
 *     return texts
 *   })
 * })
 *
 * await Effect.runPromise(Effect.scoped(program)) // => ["One.", "Two."]
 *
 * @category stage directions
 * @since 0.1.0
 */
export const pause = (effect: Effect.Effect<void>, options?: At): StageDirection => ({
  _tag: "Pause",
  afterEvents: options?.afterEvents,
  effect
})

// =============================================================================
// The end
// =============================================================================

/**
 * Fails a stream in the middle: an `error` event and `response.failed`. A response that is not streamed is refused
 * with the error.
 *
 * `shape` is how the event holds the error: `"nested"` (default) as OpenAI was recorded to send it, under `error`, or
 * `"flat"` as its documentation has it.
 *
 * @example
 * import { LanguageModel } from "@assent/ai"
 * import { OpenAiClient, OpenAiLanguageModel } from "@assent/openai"
 * import { ResponsesServer } from "@assent/openai/testing"
 * import { Effect, Layer, Redacted, Stream } from "effect"
 *
 * const program = Effect.gen(function*() {
 *   const server = yield* ResponsesServer.make({
 *     turns: [[ResponsesServer.text("Half"), ResponsesServer.streamError(ResponsesServer.overloaded())]]
 *   })
 *   const client = OpenAiClient.layer({ apiKey: Redacted.make(server.apiKey), apiUrl: server.url })
 *   const error = yield* LanguageModel.streamText({ prompt: "Hi" }).pipe(
 *     Stream.runDrain,
 *     Effect.provide(Layer.provide(OpenAiLanguageModel.layer({ model: "gpt-5.2" }), client)),
 *     Effect.flip
 *   )
 *   return error._tag
 * })
 *
 * await Effect.runPromise(Effect.scoped(program)) // => "AiError"
 *
 * @category stage directions
 * @since 0.1.0
 */
export const streamError = (
  error: ApiError,
  options?: At & { readonly shape?: "nested" | "flat" | undefined }
): StageDirection => ({
  _tag: "StreamError",
  afterEvents: options?.afterEvents,
  error,
  shape: options?.shape ?? "nested"
})

/**
 * Ends the response before the model was done.
 *
 * @example
 * import { ResponsesServer } from "@assent/openai/testing"
 * import { Effect } from "effect"
 * import OpenAI from "openai"
 *
 * const program = Effect.gen(function*() {
 *   const server = yield* ResponsesServer.make({
 *     turns: [[ResponsesServer.text("Once upon a"), ResponsesServer.incomplete("max_output_tokens")]]
 *   })
 *   const client = new OpenAI({ apiKey: server.apiKey, baseURL: server.url })
 *   const response = yield* Effect.promise(() => client.responses.create({ model: "gpt-5.5", input: "A story!" }))
 *   return [response.status, response.incomplete_details?.reason]
 * })
 *
 * await Effect.runPromise(Effect.scoped(program)) // => ["incomplete", "max_output_tokens"]
 *
 * @category stage directions
 * @since 0.1.0
 */
export const incomplete = (reason: "max_output_tokens" | "content_filter"): StageDirection => ({
  _tag: "Finish",
  finish: { status: "incomplete", reason }
})

/**
 * Ends the response with status `failed`.
 *
 * @example
 * import { ResponsesServer } from "@assent/openai/testing"
 * import { Effect } from "effect"
 * import OpenAI from "openai"
 *
 * const program = Effect.gen(function*() {
 *   const server = yield* ResponsesServer.make({ turns: [[ResponsesServer.failed("Too hot today.")]] })
 *   const client = new OpenAI({ apiKey: server.apiKey, baseURL: server.url })
 *   const response = yield* Effect.promise(() => client.responses.create({ model: "gpt-5.5", input: "Hi" }))
 *   return [response.status, response.error?.message]
 * })
 *
 * await Effect.runPromise(Effect.scoped(program)) // => ["failed", "Too hot today."]
 *
 * @category stage directions
 * @since 0.1.0
 */
export const failed = (
  message = "The model failed to generate a response.",
  code: string = "server_error"
): StageDirection => ({ _tag: "Finish", finish: { status: "failed", code, message } })

/**
 * Usage numbers; without them 10 tokens in, 5 out.
 *
 * @example
 * import { LanguageModel } from "@assent/ai"
 * import { OpenAiClient, OpenAiLanguageModel } from "@assent/openai"
 * import { ResponsesServer } from "@assent/openai/testing"
 * import { Effect, Layer, Redacted } from "effect"
 *
 * const program = Effect.gen(function*() {
 *   const server = yield* ResponsesServer.make({
 *     turns: [[ResponsesServer.text("Hello."), ResponsesServer.usage({ input: 1_000, output: 7, cached: 900 })]]
 *   })
 *   const client = OpenAiClient.layer({ apiKey: Redacted.make(server.apiKey), apiUrl: server.url })
 *   const { usage } = yield* LanguageModel.generateText({ prompt: "Hi" }).pipe(
 *     Effect.provide(Layer.provide(OpenAiLanguageModel.layer({ model: "gpt-5.2" }), client))
 *   )
 *   return [usage.inputTokens.total, usage.inputTokens.cacheRead, usage.outputTokens.total]
 * })
 *
 * await Effect.runPromise(Effect.scoped(program)) // => [1000, 900, 7]
 *
 * @category stage directions
 * @since 0.1.0
 */
export const usage = (options: {
  readonly input: number
  readonly output: number
  readonly cached?: number | undefined
  readonly cacheWrite?: number | undefined
  readonly reasoning?: number | undefined
}): StageDirection => ({
  _tag: "Usage",
  usage: {
    input_tokens: options.input,
    input_tokens_details: { cached_tokens: options.cached ?? 0, cache_write_tokens: options.cacheWrite ?? 0 },
    output_tokens: options.output,
    output_tokens_details: { reasoning_tokens: options.reasoning ?? 0 },
    total_tokens: options.input + options.output
  }
})
