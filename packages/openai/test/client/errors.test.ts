/**
 * The SDK's errors and the API's, one by one.
 */
import { assert, describe, it } from "@effect/vitest"
import type * as AiError from "effect/ai/AiError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Sdk from "openai/error"
import * as Errors from "../../src/internal/client/errors.ts"
import { clientOf, json } from "../OpenAiClientServer.ts"

const params = { model: "gpt-5.2", input: "hi" }

/** The error that a request gets for this answer. */
const failureOf = (answer: () => Response | Promise<Response>, options?: Parameters<typeof clientOf>[1]) =>
  Effect.flatMap(clientOf(answer, options), ({ client }) => Effect.flip(client.createResponse(params)))

const refusal = (
  status: number,
  error: Record<string, unknown> | string,
  headers: Record<string, string> = {}
) => failureOf(() => json({ error }, { status, headers }))

type Reason = AiError.AiErrorReason["_tag"]

const check = (error: AiError.AiError, tag: Reason, retryable: boolean) => {
  assert.strictEqual(error.reason._tag, tag)
  assert.strictEqual(error.isRetryable, retryable)
  assert.strictEqual(error.module, "OpenAiClient")
  assert.strictEqual(error.method, "createResponse")
}

const table: ReadonlyArray<
  readonly [
    title: string,
    status: number,
    error: Record<string, unknown> | string,
    tag: Reason,
    retryable: boolean,
    more?: Record<string, unknown>
  ]
> = [
  [
    "too much context",
    400,
    {
      message: "Your input exceeds the context window of this model.",
      type: "invalid_request_error",
      param: "input",
      code: "context_length_exceeded"
    },
    "InvalidRequestError",
    false,
    { parameter: "input", constraint: "is longer than the model's context" }
  ],
  [
    "a prompt against the policy",
    400,
    {
      message: "Invalid prompt: your prompt was flagged.",
      code: "invalid_prompt"
    },
    "ContentPolicyError",
    false,
    { description: "Invalid prompt: your prompt was flagged." }
  ],
  [
    "an image against the policy",
    400,
    {
      message: "x",
      code: "image_content_policy_violation"
    },
    "ContentPolicyError",
    false
  ],
  ["a policy that is not known yet", 400, { message: "x", code: "chemistry_policy" }, "ContentPolicyError", false],
  [
    "a previous response that is gone",
    400,
    {
      message: "Previous response with id 'resp_x' not found.",
      param: "previous_response_id",
      code: "previous_response_not_found"
    },
    "InvalidRequestError",
    false,
    { parameter: "previous_response_id" }
  ],
  [
    "a bad parameter",
    400,
    {
      message: "Unknown parameter: 'foo'.",
      type: "invalid_request_error",
      param: "foo",
      code: "unknown_parameter"
    },
    "InvalidRequestError",
    false,
    { parameter: "foo", description: "Unknown parameter: 'foo'." }
  ],
  [
    "whose words quote what somebody else signed in with",
    400,
    {
      message: "The server got Bearer abcdefgh.ijklmnop and Basic dXNlcjpwYXNz instead.",
      type: "invalid_request_error"
    },
    "InvalidRequestError",
    false,
    { description: "The server got Bearer <redacted> and Basic <redacted> instead." }
  ],
  [
    "a wrong key",
    401,
    {
      message: "Incorrect API key provided: sk-abc****wxyz.",
      code: "invalid_api_key"
    },
    "AuthenticationError",
    false,
    {
      kind: "InvalidKey",
      description: "Incorrect API key provided: <redacted>."
    }
  ],
  ["a key that expired", 401, { message: "x", code: "token_expired" }, "AuthenticationError", false, {
    kind: "ExpiredKey"
  }],
  ["no key arrived", 401, { message: "You didn't provide an API key.", code: null }, "AuthenticationError", false, {
    kind: "MissingKey"
  }],
  ["another organization", 401, { message: "x", code: "mismatched_organization" }, "AuthenticationError", false, {
    kind: "InsufficientPermissions"
  }],
  [
    "a country that is not served",
    403,
    {
      message: "Country, region, or territory not supported",
      code: "unsupported_country_region_territory"
    },
    "AuthenticationError",
    false,
    { kind: "InsufficientPermissions" }
  ],
  ["a bill that is not paid", 402, { message: "x" }, "QuotaExhaustedError", false],
  [
    "a model that does not exist",
    404,
    {
      message: "The model 'gpt-9' does not exist",
      param: "model",
      code: "model_not_found"
    },
    "InvalidRequestError",
    false,
    { parameter: "model" }
  ],
  ["a slow request", 408, { message: "x" }, "InternalProviderError", true],
  ["a conflict", 409, { message: "x" }, "InternalProviderError", true],
  ["a large request", 413, { message: "x" }, "InvalidRequestError", false, { constraint: "The request is too large" }],
  ["a request that cannot be processed", 422, { message: "x" }, "InvalidRequestError", false],
  ["too many requests", 429, { message: "x", code: "rate_limit_exceeded" }, "RateLimitError", true],
  ["too many requests, without a code", 429, { message: "x" }, "RateLimitError", true],
  [
    "a quota used up",
    429,
    {
      message: "You exceeded your current quota",
      type: "insufficient_quota",
      code: "insufficient_quota"
    },
    "QuotaExhaustedError",
    false
  ],
  ["a failing server", 500, { message: "The server had an error" }, "InternalProviderError", true, {
    description: "The server had an error"
  }],
  ["a failing gateway", 502, { message: "x" }, "InternalProviderError", true],
  ["an overloaded server", 503, { message: "x" }, "InternalProviderError", true],
  ["a request to slow down", 503, { message: "x", code: "slow_down" }, "RateLimitError", true],
  ["a gateway that waited", 504, { message: "x" }, "InternalProviderError", true],
  ["a teapot", 418, { message: "x" }, "InvalidRequestError", false],
  ["an error that is a text", 400, "not today", "InvalidRequestError", false, { description: "not today" }],
  ["a code that is a number", 400, { message: "x", code: 1234 }, "InvalidRequestError", false]
]

describe("errors", () => {
  describe("of the API", () => {
    it.effect.each(table)("%s", ([, status, body, tag, retryable, more]) =>
      Effect.gen(function*() {
        const error = yield* refusal(status, body, { "x-request-id": "req_1" })
        check(error, tag, retryable)
        for (const [field, value] of Object.entries(more ?? {})) {
          assert.deepStrictEqual(Reflect.get(error.reason, field), value)
        }
        assert.deepInclude(Reflect.get(error.reason, "metadata"), {
          openai: {
            ...Reflect.get(error.reason, "metadata").openai,
            requestId: "req_1",
            errorCode: typeof body === "string" || body.code == null ? null : String(body.code)
          }
        })
        assert.strictEqual(Reflect.get(error.reason, "http").response.status, status)
      }))

    it.effect("a body that is not JSON is told as one short line", () =>
      Effect.gen(function*() {
        const page = `<html>\n<head><title>502 Bad Gateway</title></head>\n${"<hr>".repeat(500)}</html>`
        const error = yield* failureOf(() =>
          new Response(page, { status: 502, headers: { "content-type": "text/html" } })
        )
        check(error, "InternalProviderError", true)
        const { description } = error.reason as AiError.InternalProviderError
        assert.isTrue(description.startsWith("<html> <head><title>502 Bad Gateway</title></head>"))
        assert.isAtMost(description.length, 200)
      }))

    it.effect("a refusal without a body", () =>
      Effect.gen(function*() {
        const error = yield* failureOf(() => new Response(null, { status: 500 }))
        check(error, "InternalProviderError", true)
        assert.strictEqual((error.reason as AiError.InternalProviderError).description, "OpenAI answered 500.")
      }))

    it.effect("a message is bounded, on one line, and shows what is invisible", () =>
      Effect.gen(function*() {
        const error = yield* refusal(400, { message: `one\n\ttwo\u0000\u202e${"x".repeat(5_000)}` })
        const description = (error.reason as AiError.InvalidRequestError).description!
        assert.isTrue(description.startsWith("one two \\u{202e}xxx"))
        assert.strictEqual(description.length, 1_000)
        assert.isTrue(description.endsWith("…"))
      }))

    it.effect("only harmless headers are kept", () =>
      Effect.gen(function*() {
        const error = yield* refusal(500, { message: "x" }, { "set-cookie": "session=secret", "x-other": "y" })
        assert.deepStrictEqual(Object.keys((error.reason as AiError.InternalProviderError).http!.response!.headers), [
          "content-type"
        ])
      }))
  })

  describe("how long to wait", () => {
    const waitOf = (headers: Record<string, string>, message = "x", status = 429) =>
      Effect.map(
        refusal(status, { message, code: "rate_limit_exceeded" }, headers),
        (error) => error.retryAfter === undefined ? undefined : Duration.toMillis(error.retryAfter)
      )

    it.effect.each<readonly [string, Record<string, string>, number | undefined]>([
      ["retry-after-ms first", { "retry-after-ms": "1500", "retry-after": "60" }, 1_500],
      ["retry-after in seconds", { "retry-after": "2.5" }, 2_500],
      ["retry-after as a date, by the server's clock", {
        "retry-after": "Wed, 21 Oct 2026 07:28:30 GMT",
        date: "Wed, 21 Oct 2026 07:28:00 GMT"
      }, 30_000],
      ["a date that is over", {
        "retry-after": "Wed, 21 Oct 2026 07:27:00 GMT",
        date: "Wed, 21 Oct 2026 07:28:00 GMT"
      }, 0],
      ["a date without the server's clock says nothing", { "retry-after": "Wed, 21 Oct 2026 07:28:30 GMT" }, undefined],
      ["nonsense says nothing", { "retry-after": "soon", "retry-after-ms": "-1" }, undefined],
      ["the reset of the requests that are used up", {
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": "1m2.5s",
        "x-ratelimit-remaining-tokens": "12",
        "x-ratelimit-reset-tokens": "6h"
      }, 62_500],
      ["the later of two that are used up", {
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": "120ms",
        "x-ratelimit-remaining-tokens": "0",
        "x-ratelimit-reset-tokens": "3s"
      }, 3_000],
      ["nothing is used up", { "x-ratelimit-remaining-requests": "3", "x-ratelimit-reset-requests": "1s" }, undefined]
    ])("%s", ([, headers, expected]) =>
      Effect.gen(function*() {
        assert.strictEqual(yield* waitOf(headers), expected)
      }))

    it.effect("the sentence, where there are no headers", () =>
      Effect.gen(function*() {
        assert.strictEqual(yield* waitOf({}, "Rate limit reached. Please try again in 1m3s. Visit …"), 63_000)
        assert.strictEqual(yield* waitOf({}, "Please try again in 20ms."), 20)
      }))

    it.effect("what a rate limit says besides", () =>
      Effect.gen(function*() {
        const error = yield* refusal(429, { message: "x", type: "tokens", code: "rate_limit_exceeded" }, {
          "x-ratelimit-limit-tokens": "30000",
          "x-ratelimit-remaining-tokens": "0",
          "x-ratelimit-reset-tokens": "6m0s",
          "x-ratelimit-limit-requests": "500",
          "x-ratelimit-remaining-requests": "499",
          "x-request-id": "req_9"
        })
        assert.deepStrictEqual((error.reason as AiError.RateLimitError).metadata.openai, {
          errorCode: "rate_limit_exceeded",
          errorType: "tokens",
          requestId: "req_9",
          limit: "30000",
          remaining: 0,
          resetRequests: null,
          resetTokens: "6m0s"
        })
        assert.strictEqual(Duration.toMillis(error.retryAfter!), 360_000)
      }))

    it.effect("a failing server's wait is in its metadata", () =>
      Effect.gen(function*() {
        const error = yield* refusal(503, { message: "x" }, { "retry-after": "7" })
        assert.strictEqual((error.reason as AiError.InternalProviderError).metadata.openai?.retryAfterMillis, 7_000)
      }))
  })

  describe("of the SDK itself", () => {
    it.each<readonly [string, unknown, Reason, boolean]>([
      ["APIUserAbortError", new Sdk.APIUserAbortError(), "UnknownError", false],
      ["APIConnectionTimeoutError", new Sdk.APIConnectionTimeoutError(), "NetworkError", true],
      ["LengthFinishReasonError", new Sdk.LengthFinishReasonError(), "InvalidOutputError", true],
      ["ContentFilterFinishReasonError", new Sdk.ContentFilterFinishReasonError(), "ContentPolicyError", false],
      [
        "OpenAIError",
        new Sdk.OpenAIError("Attempted to iterate over a response with no body"),
        "InvalidResponseError",
        false
      ],
      ["an unknown error", new Error("what is this"), "UnknownError", false],
      ["a text", "boo", "UnknownError", false],
      ["undefined", undefined, "UnknownError", false]
    ])("%s", (_, error, tag, retryable) => {
      check(Errors.fromUnknown(error, { method: "createResponse" }), tag, retryable)
    })

    it("an AiError stays what it is", () => {
      const error = Errors.cut({ method: "x" })
      assert.strictEqual(Errors.fromUnknown(error, { method: "y" }), error)
    })
  })
})
