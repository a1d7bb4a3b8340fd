/** The format of an answer that a program decodes. */
import type * as Provider from "@ai-sdk/provider"
import * as AiError from "effect/ai/AiError"
import { toCodecAnthropic } from "effect/ai/AnthropicStructuredOutput"
import type * as LanguageModel from "effect/ai/LanguageModel"
import { toCodecOpenAI } from "effect/ai/OpenAiStructuredOutput"
import * as Result from "effect/Result"
import * as SchemaAST from "effect/SchemaAST"
import type { CallOptions } from "./models.ts"

/** The schemas that a model takes: Claude has a dialect of its own; what OpenAI takes is the least that others do. */
export const transformerOf = (provider: string, modelId: string): LanguageModel.CodecTransformer =>
  /anthropic|claude/i.test(`${provider} ${modelId}`) ? toCodecAnthropic : toCodecOpenAI

/** `undefined` for text. A schema that has no such form fails as that. */
export const format = (
  responseFormat: LanguageModel.ProviderOptions["responseFormat"],
  transformer: LanguageModel.CodecTransformer
): Result.Result<CallOptions["responseFormat"], AiError.UnsupportedSchemaError> => {
  if (responseFormat.type === "text") return Result.succeed(undefined)
  const { objectName, schema } = responseFormat
  return Result.try({
    try: () => {
      const description = SchemaAST.resolveDescription(schema.ast)
      return {
        type: "json" as const,
        name: nameOf(objectName),
        schema: { ...transformer(schema).jsonSchema } as Provider.LanguageModelV4FunctionTool["inputSchema"],
        ...(description === undefined ? undefined : { description })
      }
    },
    catch: (error) =>
      new AiError.UnsupportedSchemaError({ description: error instanceof Error ? error.message : String(error) })
  })
}

// OpenAI takes letters, digits, underscores and dashes, 64 at most.
const nameOf = (name: string): string => name.replace(/[^\w-]/g, "_").slice(0, 64)
