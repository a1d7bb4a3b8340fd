/** Whether an answer fits the JSON Schema that was kept with a request, where its tool is not known. */
import * as JsonSchema from "effect/JsonSchema"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaRepresentation from "effect/SchemaRepresentation"

/** True of every answer where the schema says more than can be checked: the tool's own schema reads it in any case. */
export const fits = (schema: Schema.Json, answer: Schema.Json): boolean => {
  const imported = Result.try(() => importSchema(schema))
  if (Result.isFailure(imported)) return true
  const decoded = Result.try(() => imported.success(answer))
  return Result.isSuccess(decoded) && Result.isSuccess(decoded.success)
}

const importSchema = (schema: Schema.Json) =>
  Schema.decodeUnknownResult(
    // Made of a tool's schema, and kept where nobody else writes; its services would be the tool's own.
    SchemaRepresentation.fromJsonSchemaDocument(JsonSchema.fromSchemaDraft2020_12(schema as JsonSchema.JsonSchema), {
      patterns: "apply"
    }) as Schema.Codec<unknown>
  )
