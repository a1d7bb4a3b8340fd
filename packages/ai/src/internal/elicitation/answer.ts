/**
 * What a tool that has begun waits for, as a form of MCP: a text, a choice, several, or the fields of a schema that are
 * all primitive. What no form can ask stays open, and says why.
 */
import type * as McpSchema from "effect/ai/McpSchema"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as Approval from "../../Approval.ts"
import { definedFields } from "../fields.ts"
import * as Text from "../text.ts"
import * as ElicitationForm from "./form.ts"

type Field = McpSchema.PrimitiveSchemaDefinition

/** The form that asks for it; the failure says why there is none. */
export const form = (
  request: Approval.ApprovalRequest,
  awaited: Approval.Awaited,
  options: ElicitationForm.Options
): Result.Result<ElicitationForm.Form, string> => {
  switch (awaited.kind) {
    case "getApproval":
      return Result.succeed(ElicitationForm.question(request, options))
    case "askUser":
      return Result.succeed(single(request, { type: "string", title: "Answer", minLength: 1 }))
    case "selectOptions": {
      const choices = (awaited.options ?? []).map(({ description, label, value }) => ({
        value,
        title: description === undefined ? label : `${label}: ${description}`
      }))
      if (awaited.multiple !== true) {
        return Result.succeed(single(request, ElicitationForm.oneOf("Answer", choices, options)))
      }
      if (!options.hasTitledOptions) return Result.fail(tooOld)
      const anyOf = choices.map(({ title, value }) => ({ const: value, title }))
      return Result.succeed(single(request, { type: "array", title: "Answer", items: { anyOf } }))
    }
    case "form":
      return Result.map(fieldsOf(awaited.answerSchema, options), ({ absent, fields, required }) => ({
        message: ElicitationForm.asking(request),
        fields,
        required,
        read: (content) =>
          content === undefined
            ? new Approval.Denied({ note: ElicitationForm.withoutAnswer })
            // Read by the interaction's own schema before the tool goes on with it.
            : new Approval.Approved({ answer: { ...absent, ...content } })
      }))
    default:
      return Result.fail(`A ${awaited.kind} cannot be answered by a person.`)
  }
}

const tooOld = "The client's revision of MCP does not support choosing several options."

const single = (request: Approval.ApprovalRequest, field: Field): ElicitationForm.Form => ({
  message: ElicitationForm.asking(request),
  fields: { answer: field },
  required: ["answer"],
  read: (content) =>
    content?.answer !== undefined
      ? new Approval.Approved({ answer: content.answer })
      : new Approval.Denied({
        note: content === undefined ? ElicitationForm.withoutAnswer : ElicitationForm.notUnderstood
      })
})

// =============================================================================
// Fields of a schema
// =============================================================================

interface Fields extends Pick<ElicitationForm.Form, "fields" | "required"> {
  /** What is said of fields that have to be there, may be null, and are left out. */
  readonly absent: { readonly [name: string]: null }
}

const fieldsOf = (schema: Schema.Json, options: ElicitationForm.Options): Result.Result<Fields, string> => {
  if (!Predicate.isReadonlyObject(schema) || !Predicate.isReadonlyObject(schema.properties)) {
    return Result.fail("Its form is not a list of fields, which is the only kind that MCP supports.")
  }
  const fields: Record<string, Field> = {}
  for (const [name, property] of Object.entries(schema.properties)) {
    const field = nameOfField.test(name) ? fieldOf(forPerson(property), options) : undefined
    if (field === undefined) {
      return Result.fail(`Its form has the field "${Text.escape(name, { maxLength: 64 })}", which MCP cannot ask for.`)
    }
    fields[name] = field
  }
  const { properties } = schema
  const required = isTexts(schema.required) ? schema.required : []
  const nullable = required.filter((name) => membersOf(Reflect.get(properties, name)).some(isNull))
  return Result.succeed({
    fields,
    required: required.filter((name) => !nullable.includes(name)),
    absent: Object.fromEntries(nullable.map((name) => [name, null]))
  })
}

// A number that may be none, and a value that may be null, are a number and a value for a person.
const forPerson = (property: unknown): unknown => {
  const told = membersOf(property).filter((member) => !isNull(member) && !isNotFinite(member))
  if (told.length !== 1 || !Predicate.isReadonlyObject(property) || !Predicate.isReadonlyObject(told[0])) {
    return property
  }
  const { anyOf: _, ...words } = property
  return forPerson({ ...words, ...told[0] })
}

const membersOf = (property: unknown): ReadonlyArray<unknown> =>
  Predicate.isReadonlyObject(property) && Array.isArray(property.anyOf) ? property.anyOf : []

const isNull = (schema: unknown): boolean => Predicate.isReadonlyObject(schema) && schema.type === "null"

const isNotFinite = (schema: unknown): boolean =>
  Predicate.isReadonlyObject(schema) && isTexts(schema.enum) &&
  schema.enum.every((value) => ["Infinity", "-Infinity", "NaN"].includes(value))

// The name of what every object has would be read as that.
const nameOfField = /^(?!__proto__$)[\p{L}\p{N}_$. -]{1,64}$/u

const formats = ["email", "uri", "date", "date-time"] as const

// What a field does not say of its values, the interaction's own schema checks.
const fieldOf = (property: unknown, options: ElicitationForm.Options): Field | undefined => {
  if (!Predicate.isReadonlyObject(property)) return undefined
  const { items, maximum, maxLength, minimum, minLength, type } = property
  const words = definedFields({ title: text(property.title), description: text(property.description) })
  switch (type) {
    case "string": {
      if (isTexts(property.enum)) {
        const choices = property.enum.map((value) => ({ value, title: line(value) }))
        return { ...ElicitationForm.oneOf(words.title ?? "Answer", choices, options), ...words } as Field
      }
      const lengths = definedFields({ minLength: number(minLength), maxLength: number(maxLength) })
      const format = formats.find((format) => format === property.format)
      return { type, ...words, ...lengths, ...definedFields({ format }) }
    }
    case "number":
    case "integer":
      return { type, ...words, ...definedFields({ minimum: number(minimum), maximum: number(maximum) }) }
    case "boolean":
      return { type, ...words }
    case "array":
      return options.hasTitledOptions && Predicate.isReadonlyObject(items) && items.type === "string" &&
          isTexts(items.enum)
        ? { type, ...words, items: { anyOf: items.enum.map((value) => ({ const: value, title: line(value) })) } }
        : undefined
    default:
      return undefined
  }
}

const text = (value: unknown): string | undefined => typeof value === "string" ? line(value) : undefined

const line = (value: string): string => Text.escape(value, { maxLength: 500 })

const number = (value: unknown): number | undefined => typeof value === "number" ? value : undefined

const isTexts = (value: unknown): value is ReadonlyArray<string> =>
  Array.isArray(value) && value.every((one) => typeof one === "string")
