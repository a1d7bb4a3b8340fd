/** Reads `openai` metadata of a history, which anybody may have written: what does not fit is not there. */
import type * as Schema from "effect/Schema"

export type Fields = { readonly [key: string]: unknown }

const none: Fields = {}

export const isRecord = (u: unknown): u is Fields => typeof u === "object" && u !== null && !Array.isArray(u)

/** The `openai` fields of a part's options. */
export const read = (part: { readonly options?: unknown }): Fields => {
  const { options } = part
  return isRecord(options) && isRecord(options["openai"]) ? options["openai"] : none
}

export const text = (fields: Fields, key: string): string | undefined => {
  const value = fields[key]
  return typeof value === "string" && value.length > 0 ? value : undefined
}

/** Metadata without the fields that are not there: a part's metadata is JSON, which has no `undefined`. */
export const json = (fields: { readonly [key: string]: unknown }): { readonly [key: string]: Schema.Json } => {
  const present: Record<string, Schema.Json> = {}
  for (const key in fields) {
    // What is put here came as JSON from OpenAI, or is a string of ours.
    if (fields[key] !== undefined) present[key] = fields[key] as Schema.Json
  }
  return present
}
