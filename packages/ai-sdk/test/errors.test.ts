/** Every error as the reason of `AiError` that it is, and nothing in it that a log must not have (law L15). */
import {
  APICallError,
  EmptyResponseBodyError,
  InvalidArgumentError,
  InvalidPromptError,
  InvalidResponseDataError,
  JSONParseError,
  LoadAPIKeyError,
  LoadSettingError,
  NoSuchModelError,
  TypeValidationError,
  UnsupportedFunctionalityError
} from "@ai-sdk/provider"
import { LanguageModel } from "@assent/ai"
import { AiSdkLanguageModel } from "@assent/ai-sdk"
import { assert, describe, it } from "@effect/vitest"
import { MockLanguageModelV4 } from "ai/test"
import { Duration, Effect, Stream } from "effect"
import { AiError } from "effect/ai"
import * as Errors from "../src/internal/errors.ts"
import * as Support from "./support.ts"

const secret = "sk-ant-api03-abcdefghijklmnop"

const refused = (
  statusCode: number | undefined,
  body?: unknown,
  { headers, message = "No." }: { readonly headers?: Record<string, string>; readonly message?: string } = {}
) =>
  new APICallError({
    message,
    url: `https://user:pass@api.example.com/v1/messages?key=${secret}`,
    requestBodyValues: { secret },
    ...(statusCode === undefined ? undefined : { statusCode }),
    ...(headers === undefined ? undefined : { responseHeaders: headers }),
    ...(body === undefined ? undefined : { responseBody: JSON.stringify(body) })
  })

const reasonOf = (error: unknown) => Errors.fromUnknown(error, { method: "generateText" }).reason

describe("an error of the provider's client", () => {
  const anthropic = (type: string) => ({ type: "error", error: { type, message: "No." } })
  const google = (status: string, details: ReadonlyArray<unknown> = []) => ({ error: { code: 400, status, details } })

  it.each(
    [
      ["InvalidRequestError", refused(400)],
      ["AuthenticationError", refused(401)],
      ["QuotaExhaustedError", refused(402)],
      ["AuthenticationError", refused(403)],
      ["InvalidRequestError", refused(404)],
      ["InternalProviderError", refused(408)],
      ["InternalProviderError", refused(409)],
      ["InvalidRequestError", refused(413)],
      ["InvalidRequestError", refused(422)],
      ["RateLimitError", refused(429)],
      ["InternalProviderError", refused(500)],
      ["InternalProviderError", refused(529, anthropic("overloaded_error"))],
      ["NetworkError", refused(undefined)],
      ["QuotaExhaustedError", refused(429, { error: { code: "insufficient_quota", message: "Pay." } })],
      ["ContentPolicyError", refused(400, { error: { code: "content_filter", message: "No." } })],
      ["AuthenticationError", refused(400, google("INVALID_ARGUMENT", [{ reason: "API_KEY_INVALID" }]))],
      ["RateLimitError", refused(429, google("RESOURCE_EXHAUSTED"))],
      ["InternalProviderError", refused(503, google("UNAVAILABLE"))],
      ["AuthenticationError", new LoadAPIKeyError({ message: "The key is missing." })],
      ["InvalidRequestError", new LoadSettingError({ message: "The region is missing." })],
      ["InvalidRequestError", new InvalidArgumentError({ message: "Too hot.", argument: "temperature" })],
      ["InvalidRequestError", new NoSuchModelError({ modelId: "gpt-0", modelType: "languageModel" })],
      ["InvalidUserInputError", new InvalidPromptError({ message: "No.", prompt: secret })],
      ["InvalidUserInputError", new UnsupportedFunctionalityError({ functionality: "PDFs" })],
      ["InvalidResponseError", new JSONParseError({ text: secret, cause: new Error(secret) })],
      ["InvalidResponseError", new TypeValidationError({ value: secret, cause: new Error(secret) })],
      ["InvalidResponseError", new InvalidResponseDataError({ data: secret })],
      ["InvalidResponseError", new EmptyResponseBodyError()],
      ["UnknownError", new DOMException("This operation was aborted", "AbortError")],
      ["NetworkError", new DOMException("The operation timed out", "TimeoutError")],
      [
        "NetworkError",
        new TypeError("fetch failed", { cause: Object.assign(new Error("x"), { code: "ECONNREFUSED" }) })
      ],
      ["NetworkError", new TypeError("Headers.append: \"Bearer x\" is an invalid header value.")],
      ["UnknownError", new Error("Something else.")],
      ["UnknownError", undefined],
      // Inside a stream, in the provider's own words.
      ["InternalProviderError", { type: "overloaded_error", message: "Overloaded" }],
      ["RateLimitError", { type: "error", error: { type: "rate_limit_error", message: "Slow." } }],
      ["InternalProviderError", { type: "error", error: { code: "server_error", message: "x" } }],
      ["ContentPolicyError", { type: "error", error: { code: "content_policy_violation", message: "x" } }],
      ["AuthenticationError", { type: "error", error: { type: "permission_error", message: "Not this model." } }],
      ["AuthenticationError", { type: "error", error: { type: "authentication_error", message: "Who?" } }],
      ["RateLimitError", { status: 429, error: { message: "Slow." } }],
      ["InternalProviderError", { type: "error", error: { status: 503, message: "x" } }],
      ["UnknownError", "It broke."]
    ] as const
  )("is a %s: %o", (tag, error) => {
    const reason = reasonOf(error)
    assert.strictEqual(reason._tag, tag)
    assert.notInclude(JSON.stringify(reason), secret)
    assert.notInclude(JSON.stringify(reason), "pass")
  })

  it.each(
    [
      [{ "Retry-After": "7" }, 7_000],
      [{ "retry-after-ms": "250", "retry-after": "1" }, 250],
      [{ date: "Mon, 01 Jan 2024 00:00:00 GMT", "retry-after": "Mon, 01 Jan 2024 00:00:30 GMT" }, 30_000],
      [{ "retry-after": "soon" }, undefined],
      [{ "retry-after": " " }, undefined],
      [{}, undefined]
    ] as const
  )("%j says when to try again", (headers, millis) => {
    const reason = reasonOf(refused(429, undefined, { headers }))
    const wait = reason._tag === "RateLimitError" ? reason.retryAfter : undefined
    assert.strictEqual(wait === undefined ? undefined : Duration.toMillis(wait), millis)
    const later = reasonOf(refused(503, undefined, { headers }))
    assert.deepStrictEqual<unknown>(
      later._tag === "InternalProviderError" ? later.metadata : undefined,
      millis === undefined ? {} : { "ai-sdk": { retryAfterMillis: millis } }
    )
  })

  it("tells the provider's message on one line, without keys, and only harmless headers", () => {
    const reason = reasonOf(
      refused(401, undefined, {
        message: `Wrong key\n${secret} for Bearer abcdefghijkl`,
        headers: { "x-request-id": "r1", "set-cookie": "a=b" }
      })
    )
    assert.isTrue(reason._tag === "AuthenticationError")
    const { description, http } = reason as AiError.AuthenticationError
    assert.strictEqual(description, "Wrong key <redacted> for Bearer <redacted>")
    assert.deepStrictEqual<unknown>(http?.response, { status: 401, headers: { "x-request-id": "r1" } })
  })

  it("says that a request is longer than the context", () => {
    const reason = reasonOf(refused(400, anthropic("invalid_request_error"), { message: "prompt is too long: 9 > 8" }))
    assert.strictEqual((reason as AiError.InvalidRequestError).constraint, "is longer than the model's context")
  })
})

describe("a model that fails", () => {
  const failing = new MockLanguageModelV4({
    doGenerate: () => Promise.reject(refused(429)),
    doStream: async () =>
      Support.stream([
        { type: "text-start", id: "0" },
        { type: "text-delta", id: "0", delta: "So" },
        { type: "error", error: { type: "overloaded_error", message: "Overloaded" } },
        Support.finish("error")
      ])
  })
  const provided = Effect.provide(AiSdkLanguageModel.layer({ model: failing }))

  it.effect("whole", () =>
    LanguageModel.generateText({ prompt: "Go." }).pipe(
      provided,
      Effect.flip,
      Effect.map((error) => {
        assert.isTrue(AiError.isAiError(error))
        assert.strictEqual(error.reason._tag, "RateLimitError")
        assert.strictEqual((error as AiError.AiError).module, "AiSdkLanguageModel")
      })
    ))

  it.effect("in a stream, behind what had come", () =>
    Effect.gen(function*() {
      const seen: Array<string> = []
      const error = yield* LanguageModel.streamText({ prompt: "Go." }).pipe(
        Stream.runForEach((part) => Effect.sync(() => seen.push(part.type))),
        provided,
        Effect.flip
      )
      assert.deepStrictEqual(seen, ["text-start", "text-delta"])
      assert.strictEqual((error as AiError.AiError).reason._tag, "InternalProviderError")
    }))
})
