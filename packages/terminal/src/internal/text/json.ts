/**
 * JSON as a person reads it. What is nested deep stands in one line: an indent for each level would make hundreds of
 * megabytes of what is one, and no screen is so wide.
 */
import type * as Schema from "effect/Schema"

const maxLevels = 12

const step = "  "

/** The value, whole. */
export const format = (value: Schema.Json, indent = ""): string => {
  if (typeof value !== "object" || value === null || indent.length >= maxLevels * step.length) {
    return JSON.stringify(value)
  }
  const inner = indent + step
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"]
  const members = Array.isArray(value)
    ? value.map((item: Schema.Json) => `${inner}${format(item, inner)}`)
    : Object.entries(value).map(([name, member]) => `${inner}${JSON.stringify(name)}: ${format(member, inner)}`)
  return members.length === 0 ? `${open}${close}` : `${open}\n${members.join(",\n")}\n${indent}${close}`
}

/** The same JSON in ASCII: no letter looks like another, and none runs from right to left. */
export const ascii = (json: string): string =>
  json.replace(/[^\0-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
