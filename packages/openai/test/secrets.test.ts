/**
 * No key, header or token appears in what the model says of a response that failed, in the middle of a stream too; nor in
 * the spans and logs of one that went well (law L15).
 */
import { LanguageModel, Toolkit } from "@assent/ai"
import { OpenAiClient, OpenAiLanguageModel, OpenAiTool } from "@assent/openai"
import { assert, describe, it } from "@effect/vitest"
import * as AiError from "effect/ai/AiError"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { inspect } from "node:util"
import * as C from "./conversation.ts"
import { clientOf, completed, delta, eventStream, json, key, responseBody, sse } from "./OpenAiClientServer.ts"
import * as Secrets from "./secrets.ts"

const secrets = [key, "gateway-secret-4711", "org-secret-12", "proj-secret-12", "mcp-token-0815", "mcp-header-0816"]

const assertSilent = Secrets.silence(secrets)

const toolkit = Toolkit.make(OpenAiTool.Mcp({
  server_label: "wiki",
  server_url: "https://mcp.example.com",
  authorization: "mcp-token-0815",
  headers: { "x-api-key": "Token mcp-header-0816" }
}))

const quoting = { code: "server_error", message: `It broke: ${secrets.join(" ")}, Bearer ${key}` }

const failed = { ...responseBody, status: "failed", output: [], error: quoting }

/** What a model says whose server answers so. */
const askedOf = (answer: () => Response) =>
  Effect.gen(function*() {
    const { client } = yield* clientOf(answer, {
      organizationId: Redacted.make("org-secret-12"),
      projectId: Redacted.make("proj-secret-12"),
      headers: { "x-gateway": Redacted.make("gateway-secret-4711") }
    })
    const model = yield* Effect.provideService(
      OpenAiLanguageModel.make({ model: "gpt-5.2", config: { store: false } }),
      OpenAiClient.OpenAiClient,
      client
    )
    return {
      model,
      generate: LanguageModel.generateText({ prompt: "hi", toolkit }).pipe(
        Effect.provideService(LanguageModel.LanguageModel, model)
      ),
      stream: Stream.runCollect(LanguageModel.streamText({ prompt: "hi", toolkit })).pipe(
        Effect.provideService(LanguageModel.LanguageModel, model)
      )
    }
  })

const stream = (...events: ReadonlyArray<{ readonly type: string; readonly [key: string]: unknown }>) => () =>
  eventStream(events.map(sse))

const failures: ReadonlyArray<readonly [what: string, method: "generate" | "stream", answer: () => Response]> = [
  ["a refusal", "generate", () => json({ error: quoting }, { status: 500 })],
  ["a refusal of a stream", "stream", () => json({ error: quoting }, { status: 500 })],
  ["a response that failed", "generate", () => json(failed)],
  ["a stream that failed", "stream", stream(delta("a"), { ...completed, type: "response.failed", response: failed })],
  ["an error in a stream", "stream", stream(delta("a"), { type: "error", ...quoting })],
  ["a nested error in a stream", "stream", stream(delta("a"), { type: "error", error: quoting })]
]

describe("what the model says", () => {
  it.effect.each(failures)("of %s holds no secret", ([, method, answer]) =>
    C.fresh(Effect.gen(function*() {
      const asked = yield* askedOf(answer)
      const { exit, logs, spans, written } = yield* Secrets.watch<unknown, unknown, never>(asked[method])
      assert.isTrue(Exit.isFailure(exit))
      const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
      assert.isTrue(AiError.isAiError(error))
      if (!AiError.isAiError(error)) return
      assert.include(error.message, "It broke: <redacted>")
      assertSilent("error", error)
      assertSilent("reason", error.reason)
      assertSilent("exit", exit)
      assertSilent("encoded", yield* Schema.encodeEffect(Schema.toCodecJson(AiError.AiError))(error))
      assert.isAbove(logs.length, 0)
      assertSilent("logs", logs)
      assert.isAbove(spans.length, 1)
      assertSilent("spans", spans)
      assert.deepStrictEqual(written, [])
    })))

  it.effect.each(["generate", "stream"] as const)(
    "of a %s that goes well holds none either",
    (method) =>
      C.fresh(Effect.gen(function*() {
        const asked = yield* askedOf(method === "generate" ? () => json(responseBody) : stream(delta("a"), completed))
        const { exit, logs, spans, written } = yield* Secrets.watch<unknown, unknown, never>(asked[method])
        assert.isTrue(Exit.isSuccess(exit))
        assertSilent("exit", exit)
        assertSilent("model", inspect(asked.model, { depth: 10, showHidden: true }))
        assertSilent("toolkit", toolkit)
        assertSilent("logs", logs)
        assert.isAbove(spans.length, 1)
        assertSilent("spans", spans)
        assert.deepStrictEqual(written, [])
      }))
  )
})
