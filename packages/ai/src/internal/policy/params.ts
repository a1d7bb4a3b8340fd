/**
 * The names of parameters: those of a tool, as far as its schema tells them, and those that a rule speaks of.
 */
import * as Tool from "effect/ai/Tool"
import * as Function from "effect/Function"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as ApprovalMatcher from "../../ApprovalMatcher.ts"

/** Of a tool; `undefined` where it may take any. */
export const ofTool = (tool: Tool.Any): ReadonlyArray<string> | undefined => known(tool).names

// Tools are immutable: they are read once, for as long as they live.
const known = Function.memoize((tool: Tool.Any) => {
  const schema: unknown = Result.getOrUndefined(Result.try(() => Tool.getJsonSchema(tool)))
  return { schema, names: namesOf(schema) }
})

/** Of an object as JSON Schema describes it; `undefined` where it may have any, or is none. */
const namesOf = (schema: unknown): ReadonlyArray<string> | undefined => {
  if (!Predicate.isObject(schema)) return undefined
  const properties = own(schema, "properties")
  if (Predicate.isObject(properties)) return Object.keys(properties)
  return own(schema, "additionalProperties") === false ? [] : undefined
}

const own = (value: object, key: string): unknown => Object.getOwnPropertyDescriptor(value, key)?.value

/** The parameters without which a rule never speaks of a call. */
export const ofMatch = (match: ApprovalMatcher.Description): ReadonlyArray<string> => {
  switch (match._tag) {
    case "Path":
    case "Shell":
      return [match.param]
    case "Exact": {
      const params = exactOf(match)
      return Predicate.isObject(params) ? Object.keys(params) : []
    }
    default:
      return []
  }
}

/** A field within a parameter that the tool's schema does not have there, with those that it has. */
export interface UnknownField {
  readonly at: string
  readonly name: string
  readonly names: ReadonlyArray<string>
}

/** Of what a rule says of parameters, the fields below them that the tool does not have. */
export const unknownFields = (tool: Tool.Any, match: ApprovalMatcher.Description): ReadonlyArray<UnknownField> => {
  const { schema } = known(tool)
  const params = match._tag === "Exact" ? exactOf(match) : undefined
  if (!Predicate.isObject(schema) || !Predicate.isObject(params)) return []
  const within = (value: unknown, given: unknown, path: ReadonlyArray<string>): ReadonlyArray<UnknownField> => {
    const described = resolve(schema, given)
    if (Array.isArray(value)) return value.flatMap((item) => within(item, own(described, "items"), path))
    const properties = own(described, "properties")
    if (!Predicate.isObject(value) || !Predicate.isObject(properties)) return []
    const names = Object.keys(properties)
    return Object.entries(value).flatMap(([name, inner]) =>
      names.includes(name)
        ? within(inner, own(properties, name), [...path, name])
        : path.length === 0
        ? []
        : [{ at: path.join("."), name, names }]
    )
  }
  return within(params, schema, [])
}

const resolve = (root: object, schema: unknown): object => {
  if (!Predicate.isObject(schema)) return {}
  const reference = own(schema, "$ref")
  if (!Predicate.isString(reference) || !reference.startsWith("#/")) return schema
  const found = reference.slice(2).split("/").reduce<unknown>(
    (current, key) => Predicate.isObject(current) ? own(current, key) : undefined,
    root
  )
  return Predicate.isObject(found) ? found : {}
}

const exactOf = ({ params }: Extract<ApprovalMatcher.Description, { readonly _tag: "Exact" }>): unknown =>
  Option.getOrUndefined(decodeJson(params))

const decodeJson = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Json))
