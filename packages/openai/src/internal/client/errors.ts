/**
 * What may go wrong at OpenAI, one by one, as the reasons of `AiError`.
 *
 * No reason keeps the SDK's error, its cause, or anything of the request: what is said is OpenAI's own message, without
 * secrets, on one line and bounded, and a few headers of the response that are known to be harmless (law L15).
 */
import * as AiError from "effect/ai/AiError"
import * as Duration from "effect/Duration"
import * as Predicate from "effect/Predicate"
import * as Sdk from "openai/error"
import type { Field } from "../augment.ts"
import * as ErrorText from "./errorText.ts"

// =============================================================================
// Models
// =============================================================================

/** What OpenAI says about an error, besides its message. */
export type ErrorMetadata = {
  readonly errorCode: string | null
  readonly errorType: string | null
  readonly requestId: string | null
  /** What the `retry-after` headers said, in milliseconds; reasons other than a rate limit have no field for it. */
  readonly retryAfterMillis?: number
}

/** What OpenAI says about a rate limit. The resets are as sent, such as `6m0s`. */
export type RateLimitMetadata = ErrorMetadata & {
  readonly limit: string | null
  readonly remaining: number | null
  readonly resetRequests: string | null
  readonly resetTokens: string | null
}

declare module "effect/ai/AiError" {
  interface RateLimitErrorMetadata extends Field<AiError.ProviderMetadata, RateLimitMetadata> {}
  interface QuotaExhaustedErrorMetadata extends Field<AiError.ProviderMetadata, ErrorMetadata> {}
  interface AuthenticationErrorMetadata extends Field<AiError.ProviderMetadata, ErrorMetadata> {}
  interface ContentPolicyErrorMetadata extends Field<AiError.ProviderMetadata, ErrorMetadata> {}
  interface InvalidRequestErrorMetadata extends Field<AiError.ProviderMetadata, ErrorMetadata> {}
  interface InvalidResponseErrorMetadata extends Field<AiError.ProviderMetadata, ErrorMetadata> {}
  interface InternalProviderErrorMetadata extends Field<AiError.ProviderMetadata, ErrorMetadata> {}
  interface InvalidOutputErrorMetadata extends Field<AiError.ProviderMetadata, ErrorMetadata> {}
  interface UnknownErrorMetadata extends Field<AiError.ProviderMetadata, ErrorMetadata> {}
}

/** Which call failed, and what must not be said about it. */
export interface ErrorContext {
  /** The module in the error; `OpenAiClient` when left out. */
  readonly module?: string | undefined
  readonly method: string
  /** Where the request went. Only origin and path are told. */
  readonly url?: string | undefined
  /** How long the SDK waits, for the message of a timeout. */
  readonly timeout?: Duration.Duration | undefined
  /** What is removed from every text. Called only when there is an error. */
  readonly secrets?: (() => ReadonlyArray<string>) | undefined
}

/** The error of a `response.failed`, of an `error` event, or of the body of a refusal. */
export interface ProviderError {
  readonly code?: unknown
  readonly message?: unknown
  readonly param?: unknown
  readonly type?: unknown
}

// =============================================================================
// Constructors
// =============================================================================

/** Whatever the SDK, its `fetch` or its stream threw. An `AiError` stays what it is, also where the SDK caught it. */
export const fromUnknown = (error: unknown, context: ErrorContext): AiError.AiError =>
  causes(error).find(AiError.isAiError) ?? make(reasonOf(error, context), context)

/** An error that OpenAI reports inside a response that began well: an `error` event, or the error of `response.failed`. */
export const fromProviderError = (error: ProviderError, context: ErrorContext): AiError.AiError =>
  make(reasonOfProvider(reported(error, context, undefined, undefined)), context)

/** The stream ended before the event that ends a response. */
export const cut = (context: ErrorContext): AiError.AiError =>
  make(network("TransportError", "The stream ended before the response was complete.", context), context)

/** Nothing came for as long as `timeout` allows. */
export const stalled = (context: ErrorContext): AiError.AiError =>
  make(network("TransportError", `Nothing was received${within(context)}, so the stream was closed.`, context), context)

/** What came is not what the API sends. The description is ours, and holds nothing of what came. */
export const invalidResponse = (description: string, context: ErrorContext): AiError.AiError =>
  make(new AiError.InvalidResponseError({ description }), context)

/** What came looks like what the API sends, and cannot be read. */
export const misfit = (context: ErrorContext): AiError.AiError =>
  invalidResponse("The response does not have the form the API sends.", context)

/** There is no key, or one that cannot be sent. */
export const invalidKey = (kind: "MissingKey" | "InvalidKey", description: string, method: string): AiError.AiError =>
  make(new AiError.AuthenticationError({ kind, description }), { method })

/** The address of the API cannot be used. */
export const invalidUrl = (description: string, context: ErrorContext): AiError.AiError =>
  make(network("InvalidUrlError", description, context), context)

const make = (reason: AiError.AiErrorReason, context: ErrorContext): AiError.AiError =>
  AiError.make({ module: context.module ?? "OpenAiClient", method: context.method, reason })

const network = (
  reason: "TransportError" | "EncodeError" | "InvalidUrlError",
  description: string,
  context: ErrorContext
): AiError.NetworkError =>
  new AiError.NetworkError({ reason, method: "POST", url: ErrorText.publicUrl(context.url), description })

// =============================================================================
// The SDK's errors
// =============================================================================

const reasonOf = (error: unknown, context: ErrorContext): AiError.AiErrorReason => {
  // Of the connection. The timeout is a kind of connection error, so it is asked for first.
  if (error instanceof Sdk.APIConnectionTimeoutError) {
    return network("TransportError", `The request timed out${within(context)}.`, context)
  }
  if (error instanceof Sdk.APIConnectionError) return reasonOfConnection(error, context)
  if (error instanceof Sdk.APIUserAbortError) {
    // An interrupted fiber does not see this: somebody else aborted.
    return new AiError.UnknownError({ description: "The request was aborted before its response was complete." })
  }
  // Of the SDK's own doing.
  if (error instanceof Sdk.LengthFinishReasonError) {
    return new AiError.InvalidOutputError({ description: "The output was cut off at its length limit." })
  }
  if (error instanceof Sdk.ContentFilterFinishReasonError) {
    return new AiError.ContentPolicyError({ description: "The output was stopped by the content filter." })
  }
  // Of the API, with a status or inside a stream.
  if (error instanceof Sdk.APIError) {
    return reasonOfApi(error, context)
  }
  if (error instanceof SyntaxError) {
    return new AiError.InvalidResponseError({ description: "The response is not valid JSON." })
  }
  return reasonOfOther(error, context)
}

const reasonOfConnection = (error: Sdk.APIConnectionError, context: ErrorContext): AiError.AiErrorReason => {
  const text = causes(error).map((cause) => cause.message).join("\n")
  const code = codeOf(error)
  if (code === "ERR_INVALID_URL" || /unknown scheme|invalid url|includes credentials|bad port/i.test(text)) {
    return network("InvalidUrlError", "The API's address cannot be used.", context)
  }
  if (/invalid header|invalid character in header|header value/i.test(text)) return unsendable(context)
  return network("TransportError", `The connection failed${code === undefined ? "" : ` (${code})`}.`, context)
}

const reasonOfApi = (error: Sdk.APIError, context: ErrorContext): AiError.AiErrorReason => {
  const { headers, status } = error
  const body: unknown = error.error
  if (Predicate.isObject(body)) return reasonOfProvider(reported(body, context, status, headers))
  const message = typeof body === "string"
    ? body
    // The SDK puts the status before a body that is not JSON, which may be a page of a proxy.
    : error.message.replace(/^\d{3} /, "").replace(/^status code \(no body\)$/, "").slice(0, 2_000)
  return reasonOfProvider(reported({ message: ErrorText.shorten(message, 200) }, context, status, headers))
}

const reasonOfOther = (error: unknown, context: ErrorContext): AiError.AiErrorReason => {
  const text = causes(error).map((cause) => cause.message).join("\n")
  const code = codeOf(error)
  if (code === "ERR_INVALID_URL" || /invalid url/i.test(text)) {
    return network("InvalidUrlError", "The API's address is not a URL.", context)
  }
  if (/browser-like environment/i.test(text)) {
    return new AiError.InvalidRequestError({
      parameter: "dangerouslyAllowBrowser",
      description: "This is a browser, where everyone can read the key: call the API from a server, or set it to `true`"
    })
  }
  if (/could not resolve authentication/i.test(text)) {
    return new AiError.AuthenticationError({ kind: "MissingKey" })
  }
  // The platform quotes the value of a header that it refuses.
  if (/header/i.test(text) && /invalid|illegal|ByteString/i.test(text)) return unsendable(context)
  if (/circular structure|serialize a BigInt/i.test(text)) {
    return network("EncodeError", "The request has no JSON form.", context)
  }
  if (code !== undefined || /terminated|network|fetch|socket|closed|reset|load failed|abort/i.test(text)) {
    const why = code === undefined ? "" : ` (${code})`
    return network("TransportError", `The connection was lost before the response was complete${why}.`, context)
  }
  if (error instanceof Sdk.OpenAIError || error instanceof TypeError) {
    return misfit(context).reason
  }
  const name = error instanceof Error ? error.name : typeof error
  return new AiError.UnknownError({ description: safe(text === "" ? name : `${name}: ${text}`, context) })
}

const unsendable = (context: ErrorContext): AiError.AiErrorReason =>
  network(
    "EncodeError",
    "A header of the request, such as the API key, contains a character that cannot be sent.",
    context
  )

// =============================================================================
// The API's errors
// =============================================================================

/** An error of the API, read. */
interface Reported {
  readonly status: number | undefined
  readonly headers: Headers | undefined
  readonly code: string | null
  readonly type: string | null
  readonly parameter: string | undefined
  /** Safe, and `undefined` when the API says nothing. */
  readonly message: string | undefined
  readonly metadata: ErrorMetadata
  readonly http: typeof AiError.HttpContext.Type | undefined
}

const reported = (
  error: ProviderError,
  context: ErrorContext,
  status: number | undefined,
  headers: Headers | undefined
): Reported => {
  const word = (value: unknown) =>
    typeof value === "string" && value !== "" || typeof value === "number" ? safe(String(value), context, 100) : null
  const code = word(error.code)
  const type = word(error.type)
  const said = typeof error.message === "string" ? safe(error.message, context) : ""
  const message = isMissingApi(code, type, status, context) ? missingApi(said) : said
  const told = headers === undefined ? undefined : harmless(headers, context)
  return {
    status,
    headers,
    code,
    type,
    parameter: word(error.param) ?? undefined,
    message: message === "" ? undefined : message,
    metadata: { errorCode: code, errorType: type, requestId: told?.["x-request-id"] ?? null },
    http: status === undefined || told === undefined ? undefined : { response: { status, headers: told } }
  }
}

// OpenAI says with a code or a type what it did not find; a server that has no such path does not.
const isMissingApi = (
  code: string | null,
  type: string | null,
  status: number | undefined,
  { method }: ErrorContext
): boolean =>
  (status === 404 || status === 405 || status === 501) && method.startsWith("createResponse") &&
  (code === null || /^\d+$/.test(code)) && type !== "invalid_request_error"

const missingApi = (said: string): string =>
  `This server does not speak OpenAI's Responses API${
    said === "" ? "" : ` (${ErrorText.shorten(said, 80)})`
  }: for Chat ` +
  "Completions, use `@assent/ai-sdk` with `@ai-sdk/openai-compatible`."

/** Codes of a request that a person must change because of what it says. Others end in `_policy` or `_policy_violation`. */
const refusedCodes: ReadonlySet<string> = new Set(["invalid_prompt", "content_filter", "moderation_blocked"])

const quotaCodes: ReadonlySet<string> = new Set([
  "insufficient_quota",
  "billing_hard_limit_reached",
  "billing_not_active",
  "credit_balance_exhausted"
])

const rateCodes: ReadonlySet<string> = new Set([
  "rate_limit_exceeded",
  "rate_limit_error",
  "slow_down",
  "too_many_requests"
])

const providerCodes: ReadonlySet<string> = new Set([
  "server_error",
  "internal_error",
  "internal_server_error",
  "service_unavailable",
  "server_overloaded",
  "overloaded",
  "timeout",
  "vector_store_timeout"
])

const expiredKeyCodes: ReadonlySet<string> = new Set(["expired_api_key", "token_expired"])

const requestCodes: ReadonlySet<string> = new Set([
  "context_length_exceeded",
  "previous_response_not_found",
  "model_not_found",
  "data_residency_mismatch",
  "unsupported_image_media_type",
  "empty_image_file",
  "failed_to_download_image",
  "invalid_request_error",
  "not_found_error"
])

const reasonOfProvider = (error: Reported): AiError.AiErrorReason => {
  const { http, metadata, status } = error
  const has = (codes: ReadonlySet<string>) =>
    (error.code !== null && codes.has(error.code)) || (error.type !== null && codes.has(error.type))
  const description = error.message ?? (status === undefined ? "OpenAI gave no reason." : `OpenAI answered ${status}.`)

  // The code says more than the status.
  if (has(refusedCodes) || /(_policy|_policy_violation)$/.test(error.code ?? "")) {
    return new AiError.ContentPolicyError({ description, metadata: { openai: metadata }, http })
  }
  if (has(quotaCodes) || status === 402) {
    return new AiError.QuotaExhaustedError({ metadata: { openai: metadata }, http })
  }
  if (status === 429 || (has(rateCodes) && (status === undefined || status === 503))) return rateLimit(error)

  switch (status) {
    case 401:
      return new AiError.AuthenticationError({ kind: kindOf(error), description, metadata: { openai: metadata }, http })
    case 403:
      return new AiError.AuthenticationError({
        kind: "InsufficientPermissions",
        description,
        metadata: { openai: metadata },
        http
      })
    // The request was too slow, or met another one; the same request may do next time.
    case 408:
    case 409:
    case 425:
      return internal(error, description)
    case 413:
      return new AiError.InvalidRequestError({
        constraint: "The request is too large",
        description,
        metadata: { openai: metadata },
        http
      })
  }
  if (status !== undefined && status >= 500) return internal(error, description)
  if (
    (status !== undefined && status >= 400) || has(requestCodes) ||
    /^(invalid|unsupported|missing|image|unknown)_|_(not_found|invalid)$/.test(error.code ?? "")
  ) {
    return new AiError.InvalidRequestError({
      parameter: error.parameter,
      constraint: error.code === "context_length_exceeded" ? "is longer than the model's context" : undefined,
      description,
      metadata: { openai: metadata },
      http
    })
  }
  if (has(providerCodes)) return internal(error, description)
  return new AiError.UnknownError({ description, metadata: { openai: metadata }, http })
}

const internal = (error: Reported, description: string): AiError.AiErrorReason => {
  const wait = waitOf(error.headers)
  const retry = wait === undefined ? {} : { retryAfterMillis: wait }
  return new AiError.InternalProviderError({
    description,
    metadata: { openai: { ...error.metadata, ...retry } },
    http: error.http
  })
}

const kindOf = (error: Reported): AiError.AuthenticationError["kind"] => {
  const code = error.code ?? ""
  if (expiredKeyCodes.has(code)) return "ExpiredKey"
  if (/organization|project|scope|permission|ip_not_authorized/.test(code)) return "InsufficientPermissions"
  return /(didn't|did not) provide an API key|missing bearer/i.test(error.message ?? "") ? "MissingKey" : "InvalidKey"
}

const rateLimit = (error: Reported): AiError.AiErrorReason => {
  const header = (name: string) => error.http?.response?.headers[name]?.toString() ?? null
  const remaining = {
    requests: count(header("x-ratelimit-remaining-requests")),
    tokens: count(header("x-ratelimit-remaining-tokens"))
  }
  const tokens = remaining.tokens === 0 || (remaining.requests === null && remaining.tokens !== null)
  const resetRequests = header("x-ratelimit-reset-requests")
  const resetTokens = header("x-ratelimit-reset-tokens")
  // The header; else when the limit that is used up is reset; else what the sentence says, which is all a stream has.
  const wait = waitOf(error.headers) ?? largest(
    remaining.requests === 0 ? readDuration(resetRequests) : undefined,
    remaining.tokens === 0 ? readDuration(resetTokens) : undefined
  ) ?? readDuration(/try again in ([\dhms.]+)/i.exec(error.message ?? "")?.[1] ?? null)
  return new AiError.RateLimitError({
    retryAfter: wait === undefined ? undefined : Duration.millis(wait),
    metadata: {
      openai: {
        ...error.metadata,
        limit: header(tokens ? "x-ratelimit-limit-tokens" : "x-ratelimit-limit-requests"),
        remaining: tokens ? remaining.tokens : remaining.requests,
        resetRequests,
        resetTokens
      }
    },
    http: error.http
  })
}

// =============================================================================
// Headers
// =============================================================================

const harmlessHeaders = [
  "content-type",
  "date",
  "openai-processing-ms",
  "openai-version",
  "retry-after",
  "retry-after-ms",
  "x-ratelimit-limit-requests",
  "x-ratelimit-limit-tokens",
  "x-ratelimit-remaining-requests",
  "x-ratelimit-remaining-tokens",
  "x-ratelimit-reset-requests",
  "x-ratelimit-reset-tokens",
  "x-request-id"
]

const harmless = (headers: Headers, context: ErrorContext): Record<string, string> =>
  Object.fromEntries(harmlessHeaders.flatMap((name) => {
    const value = headers.get(name)
    return value === null ? [] : [[name, safe(value, context, 200)]]
  }))

/** What the `retry-after` headers say, in milliseconds. A date is read by the server's own clock. */
const waitOf = (headers: Headers | undefined): number | undefined => {
  const millis = positive(headers?.get("retry-after-ms"))
  if (millis !== undefined) return millis
  const after = headers?.get("retry-after")
  const seconds = positive(after)
  if (seconds !== undefined) return seconds * 1_000
  const wait = Date.parse(after ?? "") - Date.parse(headers?.get("date") ?? "")
  return Number.isFinite(wait) ? Math.max(0, wait) : undefined
}

const positive = (text: string | null | undefined): number | undefined => {
  const number = text === null || text === undefined || text.trim() === "" ? Number.NaN : Number(text)
  return Number.isFinite(number) && number >= 0 ? number : undefined
}

const count = (text: string | null): number | null => {
  const number = positive(text)
  return number === undefined ? null : Math.floor(number)
}

const units: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1_000, ms: 1 }

/** A duration as OpenAI writes them, `1h2m3.5s` or `120ms`, in milliseconds. */
const readDuration = (text: string | null): number | undefined => {
  if (text === null || !/^(\d+(\.\d+)?(ms|h|m|s))+\.?$/.test(text)) return undefined
  let millis = 0
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|h|m|s)/g)) millis += Number(amount) * units[unit!]!
  return Math.ceil(millis)
}

const largest = (...values: ReadonlyArray<number | undefined>): number | undefined => {
  const known = values.filter(Predicate.isNotUndefined)
  return known.length === 0 ? undefined : Math.max(...known)
}

const safe = (text: string, context: ErrorContext, maxLength = 1_000): string =>
  ErrorText.safe(text, context.secrets?.() ?? [], maxLength)

const within = (context: ErrorContext): string =>
  context.timeout === undefined ? "" : ` within ${Duration.format(context.timeout)}`

// =============================================================================
// Causes
// =============================================================================

/** An error and what caused it, outermost first, a few deep. */
const causes = (error: unknown): ReadonlyArray<Error> => {
  const found: Array<Error> = []
  for (let next = error; next instanceof Error && found.length < 5; next = next.cause) found.push(next)
  return found
}

/** The code of the system or of the platform, such as `ECONNREFUSED`. */
const codeOf = (error: unknown): string | undefined =>
  causes(error)
    .map((cause) => "code" in cause ? cause.code : undefined)
    .findLast((code): code is string => typeof code === "string" && /^[A-Z][A-Z0-9_]{2,40}$/.test(code))
