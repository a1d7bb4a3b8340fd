/**
 * What this package takes from `effect/ai`, all of which is marked unstable there: every name, and what no name shows. After
 * an update of effect, this is the list to read its changes by.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option, Schema, Stream } from "effect"
import { LanguageModel, Model, OpenAiStructuredOutput, type Response, Tool, Toolkit } from "effect/ai"
import * as Path from "node:path"
import { namesTaken, type Taken } from "../../ai/test/doors/taken.ts"

const taken: Taken = {
  AiError: [
    "AiError",
    "AiErrorReason",
    "AuthenticationError",
    "AuthenticationErrorMetadata",
    "ContentPolicyError",
    "ContentPolicyErrorMetadata",
    "HttpContext",
    "InternalProviderError",
    "InternalProviderErrorMetadata",
    "InvalidOutputError",
    "InvalidOutputErrorMetadata",
    "InvalidRequestError",
    "InvalidRequestErrorMetadata",
    "InvalidResponseError",
    "InvalidResponseErrorMetadata",
    "NetworkError",
    "ProviderMetadata",
    "QuotaExhaustedError",
    "QuotaExhaustedErrorMetadata",
    "RateLimitError",
    "RateLimitErrorMetadata",
    "ToolConfigurationError",
    "UnknownError",
    "UnknownErrorMetadata",
    "UnsupportedSchemaError",
    "isAiError",
    "make"
  ],
  LanguageModel: ["LanguageModel", "ProviderOptions", "ToolChoice"],
  Model: ["Model", "make"],
  OpenAiStructuredOutput: ["toCodecOpenAI"],
  Prompt: [
    "AssistantMessage",
    "AssistantMessagePart",
    "FilePart",
    "FilePartOptions",
    "Message",
    "Part",
    "ProviderOptions",
    "ReasoningPartOptions",
    "TextPart",
    "TextPartOptions",
    "ToolApprovalResponsePart",
    "ToolCallPart",
    "ToolCallPartOptions",
    "ToolMessage",
    "ToolMessagePart",
    "ToolResultPart",
    "ToolResultPartOptions",
    "makePart"
  ],
  Response: [
    "DocumentSourcePartEncoded",
    "DocumentSourcePartMetadata",
    "FinishPartEncoded",
    "FinishPartMetadata",
    "FinishReason",
    "PartEncoded",
    "ProviderMetadata",
    "ReasoningEndPartMetadata",
    "ReasoningPartEncoded",
    "ReasoningPartMetadata",
    "ReasoningStartPartMetadata",
    "ResponseMetadataPartEncoded",
    "StreamPartEncoded",
    "TextEndPartMetadata",
    "TextPartMetadata",
    "TextStartPartMetadata",
    "ToolApprovalRequestPartEncoded",
    "ToolCallPartEncoded",
    "ToolCallPartMetadata",
    "ToolResultPartEncoded",
    "ToolResultPartMetadata",
    "UrlSourcePartEncoded",
    "UrlSourcePartMetadata"
  ],
  Tool: [
    "Any",
    "AnyProviderDefined",
    "FailureMode",
    "ProviderDefined",
    "getDescription",
    "getJsonSchema",
    "getStrictMode",
    "isDynamic",
    "isProviderDefined"
  ]
}

const Delete = Tool.make("Delete", { parameters: Schema.Struct({ path: Schema.String }) })

describe("what is taken from effect/ai", () => {
  it("is what this list names: add what is missing, and take out what is used no more", () => {
    assert.deepStrictEqual(namesTaken(Path.join(import.meta.dirname, "../src")), taken)
  })

  it.effect("a provider is told of a turn by these fields, and is asked in the same form for a text and a stream", () =>
    Effect.gen(function*() {
      const told: Array<LanguageModel.ProviderOptions> = []
      const says: ReadonlyArray<Response.PartEncoded & Response.StreamPartEncoded> = [
        { type: "finish", reason: "stop", usage: { inputTokens: {}, outputTokens: {} } }
      ]
      const model = yield* LanguageModel.make({
        generateText: (options) => Effect.sync(() => (told.push(options), says.slice())),
        streamText: (options) => Stream.suspend(() => (told.push(options), Stream.fromIterable(says)))
      })
      const toolkit = yield* Effect.provide(
        Toolkit.make(Delete),
        Toolkit.make(Delete).toLayer({ Delete: () => Effect.void })
      )
      yield* model.generateText({ prompt: "go", toolkit })
      yield* Stream.runDrain(model.streamText({ prompt: "go", toolkit }))
      for (const options of told) {
        assert.includeMembers(Object.keys(options), [
          "prompt",
          "tools",
          "responseFormat",
          "toolChoice",
          "span",
          "previousResponseId",
          "incrementalPrompt"
        ])
        assert.deepStrictEqual(options.tools, [Delete])
        assert.deepStrictEqual(options.responseFormat, { type: "text" })
        assert.strictEqual(options.toolChoice, "auto")
      }
      assert.lengthOf(told, 2)
    }))

  it("a tool of a provider says which one it is, what its settings are, and whether the program runs it", () => {
    const make = Tool.providerDefined({
      id: "openai.mcp",
      customName: "Files",
      providerName: "mcp",
      args: Schema.Struct({ server_label: Schema.String })
    })
    const tool = make({ server_label: "files" })
    assert.isTrue(Tool.isProviderDefined(tool))
    assert.deepInclude(tool, {
      id: "openai.mcp",
      name: "Files",
      providerName: "mcp",
      args: { server_label: "files" },
      requiresHandler: false
    })
    assert.isUndefined(Tool.getStrictMode(tool))
    assert.isTrue(Tool.getStrictMode(Delete.annotate(Tool.Strict, true)))
  })

  it("a schema for OpenAI has every field required and closed, and decodes what comes back", () => {
    const schema = Schema.Struct({ path: Schema.String, depth: Schema.optionalKey(Schema.Number) })
    const { codec, jsonSchema } = OpenAiStructuredOutput.toCodecOpenAI(schema)
    assert.deepInclude(jsonSchema, { type: "object", required: ["path", "depth"], additionalProperties: false })
    assert.deepStrictEqual(
      Schema.decodeUnknownOption(codec as Schema.Codec<typeof schema.Type>)({ path: "a", depth: null }),
      Option.some({ path: "a" })
    )
  })

  it.effect("a model is a layer of its service, which knows its provider and its name", () =>
    Effect.gen(function*() {
      const service = {} as LanguageModel.LanguageModel
      const model = Model.make("openai", "gpt-5", Layer.succeed(LanguageModel.LanguageModel, service))
      const found = Effect.all([LanguageModel.LanguageModel, Model.ProviderName, Model.ModelName])
      assert.deepStrictEqual(yield* Effect.provide(found, model), [service, "openai", "gpt-5"])
    }))
})
