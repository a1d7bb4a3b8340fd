/** The format of an answer that a program decodes. */
import * as AiError from "effect/ai/AiError"
import type * as LanguageModel from "effect/ai/LanguageModel"
import { toCodecOpenAI } from "effect/ai/OpenAiStructuredOutput"
import * as Effect from "effect/Effect"
import * as SchemaAST from "effect/SchemaAST"
import type * as Responses from "openai/resources/responses/responses"

type Format = Responses.ResponseFormatTextJSONSchemaConfig

/** `undefined` for text. A schema that OpenAI has no form for fails as such. */
export const format = (
  responseFormat: LanguageModel.ProviderOptions["responseFormat"],
  strict: boolean,
  method: string
): Effect.Effect<Format | undefined, AiError.AiError> => {
  if (responseFormat.type === "text") return Effect.undefined
  const { objectName, schema } = responseFormat
  return Effect.try({
    try: (): Format => {
      const description = SchemaAST.resolveDescription(schema.ast)
      return {
        type: "json_schema",
        name: nameOf(objectName),
        schema: { ...toCodecOpenAI(schema).jsonSchema },
        strict,
        ...(description === undefined ? undefined : { description })
      }
    },
    catch: (error) =>
      AiError.make({
        module: "OpenAiLanguageModel",
        method,
        reason: new AiError.UnsupportedSchemaError({
          description: error instanceof Error ? error.message : String(error)
        })
      })
  })
}

// OpenAI takes letters, digits, underscores and dashes, 64 at most.
const nameOf = (name: string): string => name.replace(/[^\w-]/g, "_").slice(0, 64)
