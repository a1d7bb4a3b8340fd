/**
 * The fields of a form by its JSON Schema: what each takes, and what is wrong with what was given.
 */
import * as JsonSchema from "effect/JsonSchema"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaRepresentation from "effect/SchemaRepresentation"
import * as Edit from "../call/edit.ts"

export type Kind =
  | { readonly _tag: "Text" }
  | { readonly _tag: "Number"; readonly integer: boolean }
  | { readonly _tag: "Choice"; readonly values: ReadonlyArray<Schema.Json> }
  | { readonly _tag: "Json" }

export interface Field {
  readonly name: string
  readonly kind: Kind
  readonly required: boolean
  readonly description: string | undefined
  readonly schema: Schema.Json
}

const notFinite: ReadonlyArray<unknown> = ["Infinity", "-Infinity", "NaN"]

const kindOf = (schema: unknown): Kind => {
  if (!Predicate.isObject(schema)) return { _tag: "Json" }
  const given: Readonly<Record<string, unknown>> = { ...schema }
  if (Array.isArray(given["enum"])) {
    const values = given["enum"].filter((value) => typeof value === "string" || typeof value === "number")
    return values.length === given["enum"].length ? { _tag: "Choice", values } : { _tag: "Json" }
  }
  // A number that may be none, or left out, is a number for a person.
  const members: ReadonlyArray<unknown> = Array.isArray(given["anyOf"]) ? given["anyOf"] : []
  const told = members.filter((member) =>
    !isNotFinite(member) && !(Predicate.isObject(member) && typeOf(member) === "null")
  )
  if (told.length === 1) return kindOf(told[0])
  switch (given["type"]) {
    case "string":
      return { _tag: "Text" }
    case "number":
    case "integer":
      return { _tag: "Number", integer: given["type"] === "integer" }
    case "boolean":
      return { _tag: "Choice", values: [true, false] }
    default:
      return { _tag: "Json" }
  }
}

const typeOf = (schema: object): unknown => "type" in schema ? schema.type : undefined

const isNotFinite = (schema: unknown): boolean =>
  Predicate.isObject(schema) && "enum" in schema && Array.isArray(schema.enum) &&
  schema.enum.every((value) => notFinite.includes(value))

/** The fields of an object's schema; nothing of another schema, which is asked for as a whole. */
export const fieldsOf = (schema: Schema.Json): ReadonlyArray<Field> | undefined => {
  if (!Predicate.isObject(schema) || typeOf(schema) !== "object" || !("properties" in schema)) return undefined
  const { properties } = schema
  if (!Predicate.isObject(properties)) return undefined
  const required: ReadonlyArray<unknown> = "required" in schema && Array.isArray(schema.required) ? schema.required : []
  return Object.entries(properties as Schema.JsonObject).map(([name, field]) => ({ // As the schema is JSON.
    name,
    kind: kindOf(field),
    required: required.includes(name),
    description: Predicate.isObject(field) && "description" in field && typeof field.description === "string"
      ? field.description
      : undefined,
    schema: field
  }))
}

/** What is wrong with an answer by its JSON Schema, as far as that says. */
export const problemOf = (schema: Schema.Json, answer: Schema.Json): string | undefined => {
  const made = Result.try(() => {
    const document = JsonSchema.fromSchemaDraft2020_12(schema as JsonSchema.JsonSchema) // What it is not, it refuses.
    const read = SchemaRepresentation.fromJsonSchemaDocument(document, { patterns: "apply" })
    // A schema that comes from JSON Schema needs no services.
    return Schema.decodeUnknownResult(read as Schema.Codec<unknown>)(answer)
  })
  // What cannot be read here is for the engine to check.
  return Result.isSuccess(made) && Result.isFailure(made.success) ? made.success.failure.message : undefined
}

/** What a field has: a text that was typed, or one of its values. */
export interface Given {
  readonly text: string
  readonly chosen: number | undefined
}

const numberOf = (text: string, integer: boolean): Result.Result<Schema.Json, string> => {
  const value = Number(text)
  return text.trim() !== "" && Number.isFinite(value) && (!integer || Number.isSafeInteger(value))
    ? Result.succeed(value)
    : Result.fail(integer ? "a whole number, such as 2" : "a number, such as 2.5")
}

/** The value of a field, nothing if it is left out, or what is wrong with it. */
export const valueOf = (
  { kind, required, schema }: Field,
  { chosen, text }: Given
): Result.Result<Schema.Json | undefined, string> => {
  if (kind._tag === "Choice") {
    const value = chosen === undefined ? undefined : kind.values[chosen]
    return value === undefined && required ? Result.fail("choose one by ←→") : Result.succeed(value)
  }
  if (text === "" && !required) return Result.succeed(undefined)
  const read: Result.Result<Schema.Json, string> = kind._tag === "Number"
    ? numberOf(text, kind.integer)
    : kind._tag === "Json"
    ? Edit.parse(text)
    : Result.succeed(text)
  if (Result.isFailure(read)) return read
  const problem = problemOf(schema, read.success)
  return problem === undefined ? read : Result.fail(problem)
}
