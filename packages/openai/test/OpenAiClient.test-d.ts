import { OpenAiClient } from "@assent/openai"
import { Config, Effect, type Layer, Redacted, type Stream } from "effect"
import type { AiError } from "effect/ai"
import type OpenAI from "openai"
import type * as Responses from "openai/resources/responses/responses"
import { describe, expectTypeOf, it } from "vitest"

describe("OpenAiClient", () => {
  const apiKey = Redacted.make("sk-test")

  it("layers and their errors", () => {
    expectTypeOf(OpenAiClient.layer({ apiKey })).toEqualTypeOf<
      Layer.Layer<OpenAiClient.OpenAiClient, AiError.AiError>
    >()
    expectTypeOf(OpenAiClient.layerConfig()).toEqualTypeOf<
      Layer.Layer<OpenAiClient.OpenAiClient, AiError.AiError | Config.ConfigError>
    >()
    expectTypeOf(OpenAiClient.make({ apiKey })).toEqualTypeOf<Effect.Effect<OpenAiClient.Service, AiError.AiError>>()
  })

  it("options", () => {
    void OpenAiClient.layer({
      apiKey,
      apiUrl: "https://gateway.example.com/v1",
      organizationId: Redacted.make("org"),
      projectId: Redacted.make("proj"),
      headers: { a: "b", c: Redacted.make("d") },
      fetch: globalThis.fetch,
      timeout: "2 minutes",
      maxRetries: 0
    })
    void OpenAiClient.layerConfig({
      apiKey: Config.Redacted("KEY"),
      apiUrl: Config.String("URL"),
      organizationId: Config.succeed(undefined),
      timeout: "2 minutes"
    })
    // @ts-expect-error A key is never a plain text.
    void OpenAiClient.layer({ apiKey: "sk-test" })
    // @ts-expect-error Not an option: a misspelling does not go unseen.
    void OpenAiClient.layer({ apiKey, baseURL: "https://gateway.example.com/v1" })
  })

  it("the service", () => {
    expectTypeOf<OpenAiClient.Service["client"]>().toEqualTypeOf<OpenAI>()
    expectTypeOf<ReturnType<OpenAiClient.Service["createResponse"]>>().toEqualTypeOf<
      Effect.Effect<Responses.Response, AiError.AiError>
    >()
    expectTypeOf<ReturnType<OpenAiClient.Service["createResponseStream"]>>().toEqualTypeOf<
      Stream.Stream<Responses.ResponseStreamEvent, AiError.AiError>
    >()
  })

  it("what OpenAI says is typed in the reasons", () => {
    const said = Effect.flatMap(
      OpenAiClient.make({ apiKey }),
      (client) => client.createResponse({ model: "m", input: "x" })
    ).pipe(
      Effect.catchReason("AiError", "RateLimitError", (reason) => {
        expectTypeOf(reason.metadata.openai?.resetTokens).toEqualTypeOf<string | null | undefined>()
        return Effect.succeed(reason.metadata.openai?.requestId)
      })
    )
    expectTypeOf(said).toEqualTypeOf<Effect.Effect<Responses.Response | string | null | undefined, AiError.AiError>>()
  })
})
