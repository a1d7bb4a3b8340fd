/**
 * What may go wrong at a provider, as the reasons of `AiError`.
 *
 * No reason keeps the provider's error, its cause, or anything of the request: what is said is the provider's message on
 * one line, and a few headers of the response that are known to be harmless (law L15). The errors are known by the marks
 * that their classes put on them, which hold across versions of the interface; its code is not run.
 */
import * as AiError from "effect/ai/AiError"
import * as Duration from "effect/Duration"
import * as Predicate from "effect/Predicate"
import * as ErrorText from "./errorText.ts"

export interface ErrorContext {
  readonly method: string
}

// =============================================================================
// Constructors
// =============================================================================

/** Whatever a provider threw, or put into its stream. An `AiError` stays what it is. */
export const fromUnknown = (error: unknown, context: ErrorContext): AiError.AiError =>
  AiError.isAiError(error) ? error : make(reasonOf(error), context)

/** The stream ended before it said how the response did. */
export const cut = (context: ErrorContext): AiError.AiError =>
  make(transport("The stream ended before the response was complete."), context)

/** What came is not what the interface says. The description is ours, and holds nothing of what came. */
export const malformed = (context: ErrorContext): AiError.AiError =>
  make(
    new AiError.InvalidResponseError({
      description: "The provider's client returned something that its interface does not have."
    }),
    context
  )

export const make = (reason: AiError.AiErrorReason, { method }: ErrorContext): AiError.AiError =>
  AiError.make({ module: "AiSdkLanguageModel", method, reason })

const transport = (description: string, url?: string): AiError.NetworkError =>
  new AiError.NetworkError({
    reason: "TransportError",
    method: "POST",
    url: url === undefined ? "(unknown)" : ErrorText.publicUrl(url),
    description
  })

// =============================================================================
// Kinds of errors
// =============================================================================

const isMarked = (error: object, name: string): boolean => Symbol.for(`vercel.ai.error.AI_${name}`) in error

const reasonOf = (error: unknown): AiError.AiErrorReason => {
  if (!Predicate.isObject(error)) {
    return typeof error === "string" ? reasonOfReported({ message: error }) : unknown(undefined)
  }
  if (isMarked(error, "APICallError") || numberOf(error, "statusCode") !== undefined) return reasonOfCall(error)
  const description = messageOf(error)
  if (isMarked(error, "LoadAPIKeyError")) return new AiError.AuthenticationError({ kind: "MissingKey", description })
  if (isMarked(error, "LoadSettingError") || isMarked(error, "InvalidArgumentError")) {
    return invalidRequest(description, textOf(error, "parameter") ?? textOf(error, "argument"))
  }
  if (isMarked(error, "NoSuchModelError")) return invalidRequest(description, "model")
  if (
    isMarked(error, "UnsupportedFunctionalityError") || isMarked(error, "InvalidPromptError") ||
    isMarked(error, "NoSuchProviderReferenceError")
  ) {
    return new AiError.InvalidUserInputError({
      description: description ?? "The provider does not accept this prompt."
    })
  }
  if (
    isMarked(error, "InvalidResponseDataError") || isMarked(error, "JSONParseError") ||
    isMarked(error, "TypeValidationError") || isMarked(error, "EmptyResponseBodyError") ||
    isMarked(error, "NoContentGeneratedError")
  ) {
    // The messages of these quote what came.
    return new AiError.InvalidResponseError({
      description: invalidResponses[nameOf(error)] ?? "This is not a response."
    })
  }
  switch (nameOf(error)) {
    case "AbortError":
    case "ResponseAborted":
      // An interrupted fiber does not see this: somebody else aborted.
      return new AiError.UnknownError({ description: "The request was aborted before its response was complete." })
    case "TimeoutError":
      return transport("The request timed out.")
  }
  if (error instanceof Error && !isMarkedAtAll(error)) return reasonOfOther(error)
  return reasonOfReported(error)
}

const isMarkedAtAll = (error: object): boolean => Symbol.for("vercel.ai.error") in error

const invalidResponses: Readonly<Record<string, string>> = {
  AI_InvalidResponseDataError: "The response does not have the form that the provider's client expects.",
  AI_JSONParseError: "The response is not valid JSON.",
  AI_TypeValidationError: "The response does not have the form that the provider's client expects.",
  AI_EmptyResponseBodyError: "The response is empty.",
  AI_NoContentGeneratedError: "The provider generated no content."
}

const invalidRequest = (description: string | undefined, parameter: string | undefined): AiError.AiErrorReason =>
  new AiError.InvalidRequestError({ description, parameter })

const unknown = (description: string | undefined): AiError.AiErrorReason =>
  new AiError.UnknownError({ description: description ?? "The provider failed and gave no reason." })

/** What the platform threw: a connection, or a mistake in somebody's code. */
const reasonOfOther = (error: Error): AiError.AiErrorReason => {
  const text = causes(error).map((cause) => cause.message).join("\n")
  const code = codeOf(error)
  if (code === "ERR_INVALID_URL" || /invalid url/i.test(text)) {
    return new AiError.NetworkError({
      reason: "InvalidUrlError",
      method: "POST",
      url: "(not a URL)",
      description: "The provider's address is not a URL."
    })
  }
  // The platform quotes the value of a header that it refuses.
  if (/header/i.test(text) && /invalid|illegal|ByteString/i.test(text)) {
    return new AiError.NetworkError({
      reason: "EncodeError",
      method: "POST",
      url: "(unknown)",
      description: "A header of the request, such as the API key, contains a character that cannot be sent."
    })
  }
  if (code !== undefined || /terminated|network|fetch|socket|closed|reset|load failed/i.test(text)) {
    return transport(
      `The connection was lost before the response was complete${code === undefined ? "" : ` (${code})`}.`
    )
  }
  return unknown(ErrorText.safe(`${error.name}: ${error.message}`))
}

// =============================================================================
// Calls that the provider refused
// =============================================================================

const reasonOfCall = (error: object): AiError.AiErrorReason => {
  const status = numberOf(error, "statusCode")
  const url = textOf(error, "url")
  const body = bodyOf(error)
  if (status === undefined) {
    const code = codeOf(error)
    return transport(`The connection failed${code === undefined ? "" : ` (${code})`}.`, url)
  }
  const headers = headersOf(error)
  return reasonOfProvider({
    status,
    headers,
    codes: body === undefined ? [] : codesOf(body),
    parameter: body === undefined ? undefined : textOf(inner(body), "param"),
    message: messageOf(error) ?? (body === undefined ? undefined : messageOf(inner(body)))
  })
}

/** An error inside a stream that began well, in the provider's own words. */
const reasonOfReported = (error: object): AiError.AiErrorReason => {
  const status = numberOf(error, "status") ?? numberOf(inner(error), "status")
  return reasonOfProvider({
    status,
    headers: {},
    codes: codesOf(error),
    parameter: textOf(inner(error), "param"),
    message: messageOf(inner(error)) ?? messageOf(error)
  })
}

interface Reported {
  readonly status: number | undefined
  readonly headers: Readonly<Record<string, string>>
  /** What the provider calls it, in small letters: codes, types and states. */
  readonly codes: ReadonlyArray<string>
  readonly parameter: string | undefined
  readonly message: string | undefined
}

const quotaCodes = /insufficient_quota|billing|credit_balance|payment|quota_exceeded|usage_limit/
const policyCodes = /content_filter|content_policy|policy_violation|moderation|safety|blocked|invalid_prompt/
const rateCodes = /rate_limit|too_?many|throttl|resource_exhausted|slow_down|tokens_limit/
const overloadedCodes =
  /overload|unavailable|server_error|internal|timeout|api_error|modelstreamerror|model_?error|modelnotready/
const authenticationCodes =
  /authentication|unauthorized|invalid_api_key|unauthenticated|expired_?token|unrecognizedclient/
const permissionCodes = /permission|accessdenied|forbidden/
const requestCodes =
  /invalid_?request|invalid_?argument|validation|not_found|too_large|context_length|failed_precondition/

const reasonOfProvider = (error: Reported): AiError.AiErrorReason => {
  const { codes, message, parameter, status } = error
  const has = (pattern: RegExp) => codes.some((code) => pattern.test(code))
  const http = status === undefined || status < 100 || status > 599
    ? undefined
    : { response: { status, headers: harmless(error.headers) } }
  const description = message ??
    (status === undefined ? "The provider failed and gave no reason." : `The provider answered ${status}.`)
  const request = (constraint?: string): AiError.AiErrorReason =>
    new AiError.InvalidRequestError({ description, parameter, constraint, http })

  // The code says more than the status.
  if (status === 402 || has(quotaCodes)) return new AiError.QuotaExhaustedError({ http })
  if (status === 429 || status === 529 && has(rateCodes) || status === undefined && has(rateCodes)) {
    const retryAfter = waitOf(error.headers)
    return new AiError.RateLimitError({ http, ...(retryAfter === undefined ? undefined : { retryAfter }) })
  }
  if (has(policyCodes)) return new AiError.ContentPolicyError({ description, http })
  switch (status) {
    case 401:
      return new AiError.AuthenticationError({
        kind: has(/expired/)
          ? "ExpiredKey"
          : /did(n't| not) provide|missing/i.test(description)
          ? "MissingKey"
          : "InvalidKey",
        description,
        http
      })
    case 403:
      return new AiError.AuthenticationError({ kind: "InsufficientPermissions", description, http })
    // The request was too slow, or met another one; the same request may do next time.
    case 408:
    case 409:
    case 425:
      return internal(error, description, http)
    case 413:
      return request("The request is too large")
  }
  // Google says of a bad key that the request is invalid.
  if (status === 400 && (has(/api_key_invalid/) || /api key not valid/i.test(description))) {
    return new AiError.AuthenticationError({ kind: "InvalidKey", description, http })
  }
  if (status !== undefined && status >= 500) return internal(error, description, http)
  if (status !== undefined && status >= 400) {
    return request(
      has(/context_length/) || /prompt is too long|maximum context length/i.test(description)
        ? "is longer than the model's context"
        : undefined
    )
  }
  if (has(authenticationCodes)) return new AiError.AuthenticationError({ kind: "InvalidKey", description, http })
  if (has(permissionCodes)) {
    return new AiError.AuthenticationError({ kind: "InsufficientPermissions", description, http })
  }
  if (has(requestCodes)) return request()
  if (has(overloadedCodes)) return internal(error, description, http)
  return new AiError.UnknownError({ description, http })
}

const internal = (
  error: Reported,
  description: string,
  http: typeof AiError.HttpContext.Type | undefined
): AiError.AiErrorReason => {
  const wait = waitOf(error.headers)
  return new AiError.InternalProviderError({
    description,
    http,
    // This reason has no field for it.
    ...(wait === undefined ? undefined : { metadata: { "ai-sdk": { retryAfterMillis: Duration.toMillis(wait) } } })
  })
}

// =============================================================================
// Reading what may be anything
// =============================================================================

/** How long to wait, as the response says it. */
const waitOf = (headers: Readonly<Record<string, string>>): Duration.Duration | undefined => {
  const millis = Number(headers["retry-after-ms"] ?? Number.NaN)
  if (Number.isFinite(millis) && millis >= 0) return Duration.millis(millis)
  const said = headers["retry-after"]
  if (said === undefined || said.trim() === "") return undefined
  const seconds = Number(said)
  if (Number.isFinite(seconds)) return seconds >= 0 ? Duration.seconds(seconds) : undefined
  // A date is relative to the one that the response was sent at.
  const at = Date.parse(said)
  const now = Date.parse(headers["date"] ?? "")
  return Number.isNaN(at) || Number.isNaN(now) || at < now ? undefined : Duration.millis(at - now)
}

const harmlessHeaders =
  /^(retry-after(-ms)?|x-request-id|request-id|x-amzn-requestid|x-goog-request-id|apim-request-id|cf-ray|x-ratelimit-[\w-]+|anthropic-ratelimit-[\w-]+)$/

const harmless = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      harmlessHeaders.test(name) ? [[name, ErrorText.safe(value, 200)]] : []
    )
  )

const headersOf = (error: object): Readonly<Record<string, string>> => {
  const headers: unknown = Reflect.get(error, "responseHeaders")
  if (!Predicate.isObject(headers)) return {}
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => typeof value === "string" ? [[name.toLowerCase(), value]] : [])
  )
}

const bodyOf = (error: object): object | undefined => {
  const data: unknown = Reflect.get(error, "data")
  if (Predicate.isObject(data)) return data
  const text = textOf(error, "responseBody")
  if (text === undefined) return undefined
  try {
    const body: unknown = JSON.parse(text)
    return Predicate.isObject(body) ? body : undefined
  } catch {
    return undefined
  }
}

// Most providers put what they say into an `error` of the body.
const inner = (body: object): object => {
  const error: unknown = Reflect.get(body, "error")
  return Predicate.isObject(error) ? error : body
}

const codesOf = (body: object): ReadonlyArray<string> =>
  [body, inner(body)].flatMap((said) =>
    ["code", "type", "status", "name", "__type"].flatMap((key) => {
      const value: unknown = Reflect.get(said, key)
      return typeof value === "string" ? [value.toLowerCase()] : []
    })
  ).concat(detailsOf(inner(body)))

// Google's reasons stand in the details.
const detailsOf = (error: object): ReadonlyArray<string> => {
  const details: unknown = Reflect.get(error, "details")
  return Array.isArray(details)
    ? details.flatMap((detail) => {
      const reason = Predicate.isObject(detail) ? textOf(detail, "reason") : undefined
      return reason === undefined ? [] : [reason.toLowerCase()]
    })
    : []
}

const messageOf = (error: object): string | undefined => {
  const message = textOf(error, "message")
  if (message === undefined) return undefined
  const safe = ErrorText.safe(message)
  return safe === "" ? undefined : safe
}

const nameOf = (error: object): string => textOf(error, "name") ?? ""

const textOf = (error: object, key: string): string | undefined => {
  const value: unknown = Reflect.get(error, key)
  return typeof value === "string" ? value : undefined
}

const numberOf = (error: object, key: string): number | undefined => {
  const value: unknown = Reflect.get(error, key)
  return typeof value === "number" && Number.isInteger(value) ? value : undefined
}

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
