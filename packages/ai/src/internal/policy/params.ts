/**
 * The names of parameters: those of a tool, as far as its schema tells them, and those that a rule speaks of.
 */
import * as Tool from "effect/ai/Tool"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as ApprovalMatcher from "../../ApprovalMatcher.ts"

/** Of a tool; `undefined` where it may take any. */
export const ofTool = (tool: Tool.Any): ReadonlyArray<string> | undefined => {
  const found = known.get(tool)
  if (found !== undefined) return found.names
  const names = read(tool)
  known.set(tool, { names })
  return names
}

// Tools are immutable: they are read once, for as long as they live.
const known = new WeakMap<Tool.Any, { readonly names: ReadonlyArray<string> | undefined }>()

const read = (tool: Tool.Any): ReadonlyArray<string> | undefined => {
  const schema: unknown = Result.getOrUndefined(Result.try(() => Tool.getJsonSchema(tool)))
  if (!Predicate.isObject(schema)) return undefined
  if (Predicate.hasProperty(schema, "properties") && Predicate.isObject(schema.properties)) {
    return Object.keys(schema.properties)
  }
  return Predicate.hasProperty(schema, "additionalProperties") && schema.additionalProperties === false ? [] : undefined
}

/** The parameters without which a rule never speaks of a call. */
export const ofMatch = (match: ApprovalMatcher.Description): ReadonlyArray<string> => {
  switch (match._tag) {
    case "Path":
    case "Shell":
      return [match.param]
    case "Exact": {
      const params: unknown = Option.getOrUndefined(decodeJson(match.params))
      return Predicate.isObject(params) ? Object.keys(params) : []
    }
    default:
      return []
  }
}

const decodeJson = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Json))
