/** Azure: its address, keys that expire, what its filters say, and what it refuses, in shapes that were recorded or are documented. */
import { AiError, LanguageModel } from "@assent/ai"
import type { OpenAiClient } from "@assent/openai"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { message } from "./edges/edge.ts"
import * as Stub from "./stub.ts"

const apiUrl = "https://example.openai.azure.com/openai/v1"

const ask = LanguageModel.generateText({ prompt: "hi" })

const azure = (replies: ReadonlyArray<Stub.Reply>, apiKey?: OpenAiClient.ApiKey) =>
  Stub.make(replies, { model: "my-deployment", client: { apiUrl, ...(apiKey === undefined ? undefined : { apiKey }) } })

const results = { hate: { filtered: false, severity: "safe" }, jailbreak: { detected: false, filtered: false } }

const filters = [
  {
    blocked: false,
    source_type: "prompt",
    content_filter_results: results,
    content_filter_offsets: { start_offset: 0 }
  },
  { blocked: false, source_type: "completion", content_filter_results: results }
]

describe("Azure", () => {
  it.effect("is asked at its address with the name of the deployment, and says what its filters found", () =>
    Effect.gen(function*() {
      const server = azure([Stub.reply([message("Hello.")], { content_filters: filters, moderation: null })])
      const response = yield* Effect.provide(ask, server.model)
      assert.deepStrictEqual(server.urls, [`${apiUrl}/responses`])
      assert.strictEqual(server.asked[0]!["model"], "my-deployment")
      const finish = response.content.find((part) => part.type === "finish")
      assert.deepStrictEqual(finish?.metadata.openai?.contentFilters, filters)
    }))

  const refusals = [
    [
      "no such deployment",
      404,
      { code: "DeploymentNotFound", message: "The API deployment for this resource does not exist." },
      "InvalidRequestError",
      /deployment for this resource does not exist/
    ],
    [
      "an address without the API",
      404,
      { code: "404", message: "Resource not found" },
      "InvalidRequestError",
      /does not speak OpenAI's Responses API/
    ],
    [
      "a wrong key",
      401,
      { code: "401", message: "Access denied due to invalid subscription key or wrong API endpoint." },
      "AuthenticationError",
      /invalid subscription key/
    ],
    [
      "a role that is missing",
      401,
      {
        code: "PermissionDenied",
        message: "The principal lacks the required data action to perform the operation."
      },
      "AuthenticationError",
      /lacks the required data action/
    ],
    [
      "too many requests",
      429,
      { code: "429", message: "Requests have exceeded token rate limit. Try again in 10s" },
      "RateLimitError",
      /.*/
    ],
    [
      "a prompt that its filter refuses",
      400,
      {
        code: "content_filter",
        type: null,
        param: "prompt",
        status: 400,
        message: "The response was filtered due to the prompt triggering the content management policy.",
        innererror: { code: "ResponsibleAIPolicyViolation", content_filter_result: results }
      },
      "ContentPolicyError",
      /content management policy/
    ]
  ] as const

  for (const [title, status, error, reason, text] of refusals) {
    it.effect(`refuses: ${title}`, () =>
      Effect.gen(function*() {
        const server = azure([Stub.refusal(status, error)])
        const failure = yield* Effect.flip(Effect.provide(ask, server.model))
        assert.isTrue(AiError.isAiError(failure))
        assert.strictEqual(failure.reason._tag, reason)
        assert.match(failure.message, text)
      }))
  }

  it.effect("an output that its filter cuts is a finish that says so", () =>
    Effect.gen(function*() {
      const server = azure([Stub.reply([message("Hel")], {
        status: "incomplete",
        incomplete_details: { reason: "content_filter" },
        content_filters: [{ blocked: true, source_type: "completion", content_filter_results: results }]
      })])
      const { content, finishReason, text } = yield* Effect.provide(ask, server.model)
      assert.deepStrictEqual([text, finishReason], ["Hel", "content-filter"])
      const finish = content.find((part) => part.type === "finish")
      assert.deepInclude(finish?.metadata.openai, { incompleteReason: "content_filter" })
      assert.include(JSON.stringify(finish?.metadata.openai?.contentFilters), `"blocked":true`)
    }))

  it.effect("a token of Entra's that cannot be had is that error, and nothing is sent", () =>
    Effect.gen(function*() {
      const noToken = AiError.make({
        module: "Entra",
        method: "token",
        reason: new AiError.AuthenticationError({ kind: "ExpiredKey", description: "Sign in again." })
      })
      const server = azure([Stub.reply([message("Hello.")])], Effect.fail(noToken))
      const failure = yield* Effect.flip(Effect.provide(ask, server.model))
      assert.strictEqual(failure, noToken)
      const dead = azure([], Effect.succeed(Redacted.make("   ")))
      const empty = yield* Effect.flip(Effect.provide(ask, dead.model))
      assert.isTrue(AiError.isAiError(empty) && empty.reason._tag === "AuthenticationError")
      assert.deepStrictEqual([...server.asked, ...dead.asked], [])
    }))
})
