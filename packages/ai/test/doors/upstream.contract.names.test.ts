/**
 * Every name that this package takes from `effect/ai`. All of it is marked unstable there, and another minor version may
 * change each: after an update of effect, this is the list to read its changes by. What no name shows, such as the form of
 * a service, stands in `upstream.contract.test.ts` and `upstream.contract.services.test.ts`.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Path from "node:path"
import { namesTaken, type Taken } from "./taken.ts"

const taken: Taken = {
  AiError: [
    "AiError",
    "AiErrorReason",
    "InvalidRequestError",
    "InvalidRequestErrorMetadata",
    "ProviderMetadata",
    "ToolConfigurationError",
    "ToolNotFoundError",
    "ToolParameterValidationError",
    "UnknownError",
    "isAiError",
    "make"
  ],
  Chat: [
    "Chat",
    "Persisted",
    "Persistence",
    "empty",
    "fromExport",
    "fromJson",
    "fromPrompt",
    "layerPersisted",
    "makePersisted"
  ],
  LanguageModel: [
    "ExtractError",
    "ExtractServices",
    "GenerateObjectResponse",
    "GenerateTextOptions",
    "GenerateTextResponse",
    "LanguageModel",
    "ProviderOptions",
    "ToolChoice",
    "TypeId",
    "generateObject",
    "generateText",
    "make",
    "streamText"
  ],
  McpClient: ["McpClient"],
  McpClientError: ["McpClientError"],
  McpSchema: [
    "CallToolResult",
    "ContentBlock",
    "ElicitAcceptResult",
    "ElicitRequestFormParams",
    "ElicitResult",
    "INVALID_PARAMS_ERROR_CODE",
    "INVALID_REQUEST_ERROR_CODE",
    "InputRequired",
    "METHOD_NOT_FOUND_ERROR_CODE",
    "McpRequestContext",
    "McpServerClient",
    "PrimitiveSchemaDefinition",
    "Tool"
  ],
  McpServer: ["McpServer", "ToolkitRequirements", "layerStdio", "registerToolkit"],
  Prompt: [
    "AssistantMessage",
    "AssistantMessageOptions",
    "AssistantMessagePart",
    "Message",
    "Part",
    "Prompt",
    "ProviderOptions",
    "RawInput",
    "ToolApprovalRequestPart",
    "ToolApprovalRequestPartOptions",
    "ToolApprovalResponsePart",
    "ToolApprovalResponsePartOptions",
    "ToolCallPart",
    "ToolCallPartOptions",
    "ToolMessage",
    "ToolMessagePart",
    "ToolModelOutputPart",
    "ToolResultPart",
    "ToolResultPartOptions",
    "UserMessage",
    "concat",
    "empty",
    "fromMessages",
    "fromResponseParts",
    "make",
    "makeMessage",
    "makePart"
  ],
  Response: [
    "AllParts",
    "AllPartsEncoded",
    "AnyPart",
    "FinishPart",
    "FinishPartEncoded",
    "FinishPartMetadata",
    "FinishReason",
    "Part",
    "PartEncoded",
    "ProviderMetadata",
    "ReasoningDeltaPart",
    "ReasoningDeltaPartEncoded",
    "StreamPart",
    "StreamPartEncoded",
    "TextDeltaPart",
    "TextDeltaPartEncoded",
    "TextPartEncoded",
    "ToolApprovalRequestPart",
    "ToolApprovalRequestPartMetadata",
    "ToolCallPart",
    "ToolCallPartEncoded",
    "ToolCallPartMetadata",
    "ToolResultPart",
    "ToolResultPartEncoded",
    "ToolResultPartMetadata",
    "Usage",
    "makePart"
  ],
  Telemetry: ["CurrentSpanTransformer", "SpanTransformer"],
  Tool: [
    "Any",
    "Destructive",
    "Dynamic",
    "EmptyParams",
    "Failure",
    "FailureMode",
    "Handler",
    "HandlerResult",
    "HandlerServices",
    "Idempotent",
    "NeedsApprovalContext",
    "OpenWorld",
    "Parameters",
    "ParametersEncodingServices",
    "ParametersSchema",
    "Readonly",
    "Requirements",
    "Strict",
    "Success",
    "Tool",
    "dynamic",
    "failureResultSchema",
    "getJsonSchema",
    "getJsonSchemaFromSchema",
    "isProviderDefined",
    "make"
  ],
  Toolkit: ["Any", "FailureOrigin", "HandlerContext", "SimplifyRecord", "Toolkit", "WithHandler", "make", "merge"]
}

describe("what is taken from effect/ai", () => {
  it("is what this list names: add what is missing, and take out what is used no more", () => {
    assert.deepStrictEqual(namesTaken(Path.join(import.meta.dirname, "../../src")), taken)
  })
})
