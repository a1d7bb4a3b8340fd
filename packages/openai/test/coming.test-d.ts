/**
 * Every option of `@effect/ai-openai` 4.0.0-beta.106 that its constructors take, written down from its declarations, is an option
 * here; the README says which are not.
 */
import { OpenAiClient, OpenAiLanguageModel, OpenAiTool } from "@assent/openai"
import { Config, type Effect, Redacted } from "effect"
import { describe, expectTypeOf, it } from "vitest"

const location = {
  type: "approximate",
  city: "Vienna",
  country: "AT",
  region: "Vienna",
  timezone: "Europe/Vienna"
} as const

describe("what a program of @effect/ai-openai says", () => {
  it("of its client", () => {
    const options = {
      apiKey: Redacted.make("sk-test"),
      apiUrl: "https://example.com/v1",
      organizationId: Redacted.make("org"),
      projectId: Redacted.make("project")
    }
    OpenAiClient.make(options)
    OpenAiClient.layer(options)
    OpenAiClient.layerConfig()
    OpenAiClient.layerConfig({
      apiKey: Config.Redacted("KEY"),
      apiUrl: Config.String("URL"),
      organizationId: Config.Redacted("ORGANIZATION"),
      projectId: Config.Redacted("PROJECT")
    })
    OpenAiClient.make({
      // @ts-expect-error: an `HttpClient` that is provided is used, and `fetch`
      transformClient: undefined
    })
  })

  it("of its model", () => {
    const config = {
      metadata: { key: "value" },
      top_logprobs: 2,
      temperature: 1,
      top_p: 1,
      user: "somebody",
      service_tier: "auto",
      previous_response_id: "resp_1",
      reasoning: { effort: "low", summary: "auto" },
      max_output_tokens: 100,
      max_tool_calls: 1,
      text: { verbosity: "low" },
      truncation: "auto",
      include: ["reasoning.encrypted_content"],
      store: false,
      instructions: "Be brief.",
      conversation: "conv_1",
      fileIdPrefixes: ["file-"],
      strictJsonSchema: true
    } satisfies Omit<OpenAiLanguageModel.ConfigFields, "model">
    OpenAiLanguageModel.model("gpt-5.2", config)
    OpenAiLanguageModel.layer({ model: "gpt-5.2", config })
    expectTypeOf(OpenAiLanguageModel.make({ model: "gpt-5.2", config })).toExtend<
      Effect.Effect<unknown, never, OpenAiClient.OpenAiClient>
    >()
    expectTypeOf(OpenAiLanguageModel.withConfigOverride({ ...config, model: "gpt-5" })).toBeFunction()
    expectTypeOf<OpenAiLanguageModel.ConfigFields>().not.toHaveProperty("background")
    expectTypeOf<OpenAiLanguageModel.ConfigFields>().not.toHaveProperty("modalities")
    expectTypeOf<OpenAiLanguageModel.ConfigFields>().not.toHaveProperty("seed")
  })

  it("of its tools", () => {
    OpenAiTool.ApplyPatch({})
    OpenAiTool.CodeInterpreter({ container: { type: "auto", file_ids: ["file-1"], memory_limit: "4g" } })
    OpenAiTool.FileSearch({
      filters: { type: "eq", key: "author", value: "somebody" },
      max_num_results: 2,
      ranking_options: { ranker: "auto", score_threshold: 0.5 },
      vector_store_ids: ["vs_1"]
    })
    OpenAiTool.ImageGeneration({
      background: "auto",
      input_fidelity: "high",
      input_image_mask: { file_id: "file-1" },
      model: "gpt-image-1",
      moderation: "auto",
      output_compression: 100,
      output_format: "png",
      partial_images: 2,
      quality: "auto",
      size: "1024x1024"
    })
    OpenAiTool.LocalShell({})
    OpenAiTool.Mcp({
      allowed_tools: ["roll"],
      authorization: "token",
      require_approval: { never: { tool_names: ["roll"] } },
      server_description: "Dice",
      server_label: "dice",
      server_url: "https://dice.example.com/mcp"
    })
    OpenAiTool.Mcp({ connector_id: "connector_gmail", server_label: "mail", require_approval: "never" })
    OpenAiTool.Shell({})
    OpenAiTool.WebSearch({
      filters: { allowed_domains: ["example.com"] },
      user_location: location,
      search_context_size: "low"
    })
    OpenAiTool.WebSearchPreview({ user_location: location, search_context_size: "low" })
  })
})
