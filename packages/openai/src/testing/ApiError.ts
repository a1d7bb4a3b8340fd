/**
 * Errors of OpenAI's API as data: what a scripted turn may answer instead of a response.
 *
 * @since 0.1.0
 */

/**
 * One error as OpenAI sends it: the body is `{ error: { message, type, param, code } }`.
 *
 * @category models
 * @since 0.1.0
 */
export interface ApiError {
  readonly _tag: "ApiError"
  readonly status: number
  readonly message: string
  readonly type: string
  readonly param: string | null
  readonly code: string | null
  readonly headers: Readonly<Record<string, string>>
}

/**
 * Any error; `type` is `"invalid_request_error"` and `status` 400 unless told otherwise.
 *
 * @example
 * import { ResponsesServer } from "@assent/openai/testing"
 * import { Effect } from "effect"
 * import OpenAI from "openai"
 *
 * const noModel = ResponsesServer.apiError({ status: 404, code: "model_not_found", message: "There is no gpt-0." })
 *
 * const program = Effect.gen(function*() {
 *   const server = yield* ResponsesServer.make({ turns: [noModel] })
 *   const client = new OpenAI({ apiKey: server.apiKey, baseURL: server.url })
 *   return yield* Effect.flip(Effect.tryPromise({
 *     try: () => client.responses.create({ model: "gpt-0", input: "Hi" }),
 *     catch: (error) => error instanceof OpenAI.APIError ? [error.status, error.code] : []
 *   }))
 * })
 *
 * await Effect.runPromise(Effect.scoped(program)) // => [404, "model_not_found"]
 *
 * @category errors
 * @since 0.1.0
 */
export const apiError = (options: {
  readonly message: string
  readonly status?: number | undefined
  readonly type?: string | undefined
  readonly param?: string | null | undefined
  readonly code?: string | null | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
}): ApiError => ({
  _tag: "ApiError",
  status: options.status ?? 400,
  message: options.message,
  type: options.type ?? "invalid_request_error",
  param: options.param ?? null,
  code: options.code ?? null,
  headers: options.headers ?? {}
})

/**
 * Too many requests: 429 with `retry-after`, `retry-after-ms` and `x-ratelimit-*`. `retryAfterMs` is in milliseconds,
 * 20 by default; `retry-after` is rounded up to seconds, as HTTP wants it.
 *
 * @example
 * import { ResponsesServer } from "@assent/openai/testing"
 * import { Effect } from "effect"
 * import OpenAI from "openai"
 *
 * const program = Effect.gen(function*() {
 *   const server = yield* ResponsesServer.make({ turns: [ResponsesServer.rateLimit({ retryAfterMs: 1 }), "Now"] })
 *   const client = new OpenAI({ apiKey: server.apiKey, baseURL: server.url })
 *   const response = yield* Effect.promise(() => client.responses.create({ model: "gpt-5.5", input: "Hi" }))
 *   return [response.output_text, (yield* server.responses).map((response) => response.status)]
 * })
 *
 * await Effect.runPromise(Effect.scoped(program)) // => ["Now", [429, 200]]
 *
 * @category errors
 * @since 0.1.0
 */
export const rateLimit = (options?: {
  readonly retryAfterMs?: number | undefined
  readonly kind?: "requests" | "tokens" | undefined
}): ApiError => {
  const milliseconds = options?.retryAfterMs ?? 20
  const kind = options?.kind ?? "tokens"
  const unit = kind === "tokens" ? "tokens per min (TPM)" : "requests per min (RPM)"
  return apiError({
    status: 429,
    type: kind,
    code: "rate_limit_exceeded",
    message: `Rate limit reached for gpt-5.5 in organization org-assent on ${unit}: Limit 30000, Used 30000,` +
      ` Requested 10. Please try again in ${milliseconds}ms.` +
      " Visit https://platform.openai.com/account/rate-limits to learn more.",
    headers: {
      "retry-after": `${Math.ceil(milliseconds / 1000)}`,
      "retry-after-ms": `${milliseconds}`,
      [`x-ratelimit-remaining-${kind}`]: "0",
      [`x-ratelimit-reset-${kind}`]: `${milliseconds}ms`
    }
  })
}

/**
 * The account has no money left: 429 like a rate limit, but waiting does not help.
 *
 * @example
 * import { LanguageModel } from "@assent/ai"
 * import { OpenAiClient, OpenAiLanguageModel } from "@assent/openai"
 * import { ResponsesServer } from "@assent/openai/testing"
 * import { Effect, Layer, Redacted } from "effect"
 *
 * const program = Effect.gen(function*() {
 *   const server = yield* ResponsesServer.make({ turns: [ResponsesServer.insufficientQuota()] })
 *   const client = OpenAiClient.layer({ apiKey: Redacted.make(server.apiKey), apiUrl: server.url, maxRetries: 0 })
 *   const error = yield* LanguageModel.generateText({ prompt: "Hi" }).pipe(
 *     Effect.provide(Layer.provide(OpenAiLanguageModel.layer({ model: "gpt-5.2" }), client)),
 *     Effect.flip
 *   )
 *   return error.reason._tag
 * })
 *
 * await Effect.runPromise(Effect.scoped(program)) // => "QuotaExhaustedError"
 *
 * @category errors
 * @since 0.1.0
 */
export const insufficientQuota = (): ApiError =>
  apiError({
    status: 429,
    type: "insufficient_quota",
    code: "insufficient_quota",
    message: "You exceeded your current quota, please check your plan and billing details. For more information on" +
      " this error, read the docs: https://platform.openai.com/docs/guides/error-codes/api-errors."
  })

/**
 * The input does not fit into the model's context window: 400.
 *
 * @example
 * import { ResponsesServer } from "@assent/openai/testing"
 * import { Effect } from "effect"
 * import OpenAI from "openai"
 *
 * const program = Effect.gen(function*() {
 *   const server = yield* ResponsesServer.make({ turns: [ResponsesServer.contextLengthExceeded()] })
 *   const client = new OpenAI({ apiKey: server.apiKey, baseURL: server.url })
 *   return yield* Effect.flip(Effect.tryPromise({
 *     try: () => client.responses.create({ model: "gpt-5.5", input: "a long book" }),
 *     catch: (error) => error instanceof OpenAI.APIError ? [error.status, error.code] : []
 *   }))
 * })
 *
 * await Effect.runPromise(Effect.scoped(program)) // => [400, "context_length_exceeded"]
 *
 * @category errors
 * @since 0.1.0
 */
export const contextLengthExceeded = (): ApiError =>
  apiError({
    code: "context_length_exceeded",
    param: "input",
    message: "Your input exceeds the context window of this model. Please adjust your input and try again."
  })

/**
 * The server failed: 500.
 *
 * @example
 * import { ResponsesServer } from "@assent/openai/testing"
 * import { Effect } from "effect"
 * import OpenAI from "openai"
 *
 * const program = Effect.gen(function*() {
 *   const server = yield* ResponsesServer.make({ turns: [ResponsesServer.serverError()] })
 *   const client = new OpenAI({ apiKey: server.apiKey, baseURL: server.url, maxRetries: 0 })
 *   return yield* Effect.flip(Effect.tryPromise({
 *     try: () => client.responses.create({ model: "gpt-5.5", input: "Hi" }),
 *     catch: (error) => error instanceof OpenAI.InternalServerError && error.status
 *   }))
 * })
 *
 * await Effect.runPromise(Effect.scoped(program)) // => 500
 *
 * @category errors
 * @since 0.1.0
 */
export const serverError = (): ApiError =>
  apiError({
    status: 500,
    type: "server_error",
    message: "The server had an error while processing your request. Sorry about that!"
  })

/**
 * Too many others are asking: 503.
 *
 * @example
 * import { LanguageModel } from "@assent/ai"
 * import { OpenAiClient, OpenAiLanguageModel } from "@assent/openai"
 * import { ResponsesServer } from "@assent/openai/testing"
 * import { Effect, Layer, Redacted } from "effect"
 *
 * const program = Effect.gen(function*() {
 *   const server = yield* ResponsesServer.make({ turns: [ResponsesServer.overloaded()] })
 *   const client = OpenAiClient.layer({ apiKey: Redacted.make(server.apiKey), apiUrl: server.url, maxRetries: 0 })
 *   const error = yield* LanguageModel.generateText({ prompt: "Hi" }).pipe(
 *     Effect.provide(Layer.provide(OpenAiLanguageModel.layer({ model: "gpt-5.2" }), client)),
 *     Effect.flip
 *   )
 *   return error.isRetryable
 * })
 *
 * await Effect.runPromise(Effect.scoped(program)) // => true
 *
 * @category errors
 * @since 0.1.0
 */
export const overloaded = (): ApiError =>
  apiError({
    status: 503,
    type: "server_error",
    message: "The server is currently overloaded with other requests. Sorry about that! You can retry your request," +
      " or contact us through our help center at help.openai.com if the error persists."
  })
