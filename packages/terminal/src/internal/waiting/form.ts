/**
 * A form by its JSON Schema: a question for each field, and JSON for what has no question of its own.
 */
import * as Prompt from "effect/cli/Prompt"
import * as JsonSchema from "effect/JsonSchema"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaRepresentation from "effect/SchemaRepresentation"
import * as Content from "../call/content.ts"
import * as Edit from "../call/edit.ts"
import * as List from "../screen/list.ts"
import type * as Stage from "../screen/stage.ts"
import * as TextInput from "../screen/textInput.ts"
import * as Safe from "../text/safe.ts"
import * as Style from "../text/style.ts"
import type { Line } from "../text/style.ts"

// =============================================================================
// Fields
// =============================================================================

type Kind =
  | { readonly _tag: "Text" }
  | { readonly _tag: "Number"; readonly integer: boolean }
  | { readonly _tag: "Choice"; readonly values: ReadonlyArray<Schema.Json> }
  | { readonly _tag: "Json" }

export interface Field {
  readonly name: string
  readonly kind: Kind
  readonly required: boolean
  readonly description: string | undefined
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
  return Object.entries(properties).map(([name, field]) => ({
    name,
    kind: kindOf(field),
    required: required.includes(name),
    description: Predicate.isObject(field) && "description" in field && typeof field.description === "string"
      ? field.description
      : undefined
  }))
}

// =============================================================================
// Checking
// =============================================================================

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

// =============================================================================
// Questions
// =============================================================================

export type Answered = { readonly _tag: "Given"; readonly value: Schema.Json | undefined } | { readonly _tag: "Back" }

const typed = (
  stage: Stage.Stage,
  { description, name, required }: Field,
  hint: string,
  read: (text: string) => Result.Result<Schema.Json, string>,
  lines: ReadonlyArray<Line>
): Prompt.Prompt<Answered> =>
  Prompt.map(
    TextInput.ask(stage, {
      question: `${Safe.line(name)} (${hint}${required ? "" : ", may be left empty"})`,
      lines: [...lines, ...(description === undefined ? [] : Content.block(description))],
      guarded: lines.length > 0,
      back: "declines",
      read: (text): Result.Result<Schema.Json | undefined, string> =>
        !required && text === "" ? Result.succeed(undefined) : read(text)
    }),
    (said): Answered => said._tag === "Back" ? said : { _tag: "Given", value: said.value }
  )

const readNumber = (integer: boolean) => (text: string): Result.Result<Schema.Json, string> => {
  const value = Number(text)
  return text.trim() !== "" && Number.isFinite(value) && (!integer || Number.isSafeInteger(value))
    ? Result.succeed(value)
    : Result.fail(integer ? "Enter a whole number." : "Enter a number.")
}

const word = (value: Schema.Json): string => value === true ? "yes" : value === false ? "no" : String(value)

/** One field. `lines` are what is said before; then it takes nothing that was typed before it was seen. */
export const ask = (stage: Stage.Stage, field: Field, lines: ReadonlyArray<Line>): Prompt.Prompt<Answered> => {
  const { kind, name, required } = field
  switch (kind._tag) {
    case "Text":
      return typed(stage, field, "a text", Result.succeed, lines)
    case "Number":
      return typed(stage, field, kind.integer ? "a whole number" : "a number", readNumber(kind.integer), lines)
    case "Json":
      return typed(stage, field, "JSON", Edit.parse, lines)
    case "Choice": {
      const words = [...kind.values.map(word), ...(required ? [] : ["(left out)"])]
      return Prompt.map(
        List.choose(stage, {
          lines: [...lines, ...(field.description === undefined ? [] : Content.block(field.description))],
          question: Safe.line(name),
          items: words,
          many: false,
          back: "declines"
        }),
        (chosen): Answered =>
          chosen._tag === "Back" ? chosen : { _tag: "Given", value: kind.values[chosen.indexes[0]!] }
      )
    }
  }
}

/** All fields, one after the other. */
export const fill = (
  stage: Stage.Stage,
  fields: ReadonlyArray<Field>,
  lines: ReadonlyArray<Line>,
  filled: { readonly [name: string]: Schema.Json } = {}
): Prompt.Prompt<Answered> => {
  const [field, ...rest] = fields
  if (field === undefined) return Prompt.succeed({ _tag: "Given", value: filled })
  return Prompt.flatMap(
    ask(stage, field, lines),
    (said): Prompt.Prompt<Answered> =>
      said._tag === "Back"
        ? Prompt.succeed(said)
        : fill(stage, rest, [], said.value === undefined ? filled : { ...filled, [field.name]: said.value })
  )
}

/** A problem, to be seen. */
export const problem = (text: string): Line => Style.prose(`! ${Safe.problem(text)}`, "error")
