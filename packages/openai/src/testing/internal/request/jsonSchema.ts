/** Whether a JSON Schema is one that OpenAI's strict mode takes. */
import type { JsonObject } from "../json.ts"
import * as Json from "../json.ts"

/** Why not, in OpenAI's words, or nothing. */
export const whyNotStrict = (schema: unknown): string | undefined => {
  if (!Json.isObject(schema) || schema["type"] !== "object") {
    const type = Json.isObject(schema) ? schema["type"] : undefined
    return `schema must be a JSON Schema of 'type: "object"', got 'type: ${
      type === undefined ? "\"None\"" : JSON.stringify(type)
    }'.`
  }
  return walk(schema, [])
}

const walk = (schema: JsonObject, path: ReadonlyArray<string>): string | undefined => {
  const context = `In context=${tuple(path)}, `
  const types = Json.isArray(schema["type"]) ? schema["type"] : [schema["type"]]
  if (types.includes("object")) {
    if (schema["additionalProperties"] !== false) {
      return `${context}'additionalProperties' is required to be supplied and to be false.`
    }
    const properties = Json.isObject(schema["properties"]) ? Object.keys(schema["properties"]) : []
    const required = Json.isArray(schema["required"]) ? schema["required"] : []
    const missing = properties.find((property) => !required.includes(property))
    if (missing !== undefined) {
      return `${context}'required' is required to be supplied and to be an array including every key in properties.` +
        ` Missing '${missing}'.`
    }
    const extra = required.find((property) => !properties.includes(String(property)))
    if (extra !== undefined) {
      return `${context}'required' is required to be supplied and to be an array including every key in properties.` +
        ` Extra required key '${String(extra)}' supplied.`
    }
  }
  if (types.includes("array") && schema["items"] === undefined) return `${context}array schema missing items.`
  if (schema["oneOf"] !== undefined) return `${context}'oneOf' is not permitted.`
  if (schema["allOf"] !== undefined) return `${context}'allOf' is not permitted.`
  for (const key of ["properties", "$defs", "definitions"]) {
    const inner = schema[key]
    if (!Json.isObject(inner)) continue
    for (const [name, value] of Object.entries(inner)) {
      const why = Json.isObject(value) ? walk(value, [...path, key, name]) : undefined
      if (why !== undefined) return why
    }
  }
  if (Json.isObject(schema["items"])) {
    const why = walk(schema["items"], [...path, "items"])
    if (why !== undefined) return why
  }
  for (const [index, value] of Json.objectsOf(schema["anyOf"]).entries()) {
    const why = walk(value, [...path, "anyOf", `${index}`])
    if (why !== undefined) return why
  }
  return undefined
}

/** As Python writes a tuple. */
const tuple = (path: ReadonlyArray<string>): string =>
  path.length === 1 ? `('${path[0]}',)` : `(${path.map((part) => `'${part}'`).join(", ")})`
