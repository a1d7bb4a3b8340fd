/** Reading JSON that somebody else wrote. */

export interface JsonObject {
  readonly [key: string]: unknown
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

export const isArray = (value: unknown): value is ReadonlyArray<unknown> => Array.isArray(value)

export const objectsOf = (value: unknown): ReadonlyArray<JsonObject> => isArray(value) ? value.filter(isObject) : []

export const textOf = (value: unknown): string | undefined => typeof value === "string" ? value : undefined

export const parse = (text: string): { readonly value: unknown } | undefined => {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

/** How OpenAI names the type of a value it did not expect. */
export const nameOfType = (value: unknown): string => {
  if (value === null) return "null"
  if (Array.isArray(value)) return "an array"
  switch (typeof value) {
    case "string":
      return "a string"
    case "number":
      return Number.isInteger(value) ? "an integer" : "a decimal"
    case "boolean":
      return "a boolean"
    default:
      return "an object"
  }
}
