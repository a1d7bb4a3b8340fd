/**
 * What a provider says of a part, under its own name: its `providerMetadata` is the metadata of a part of a response, and
 * the options of the part that a chat makes of it are the `providerOptions` of the next request.
 *
 * A history may be written by anybody: what does not fit is not there.
 */
import type * as Provider from "@ai-sdk/provider"
import type * as Schema from "effect/Schema"

/** What the bridge itself has to say of a part. No provider hears of it, and none can say it. */
export const own = "ai-sdk"

const engine = "assent"

export type Fields = { readonly [key: string]: unknown }

export const isRecord = (u: unknown): u is Fields => typeof u === "object" && u !== null && !Array.isArray(u)

const none: Fields = {}

/** The bridge's own fields of a part of a history. */
export const readOwn = (part: { readonly options?: unknown }): Fields => {
  const { options } = part
  if (!isRecord(options)) return none
  const fields = options[own]
  return isRecord(fields) ? fields : none
}

export type Metadata = { readonly [provider: string]: Schema.Json }

/** A provider's metadata as a part of a response holds it; `undefined` where there is nothing to say. */
export const ofProvider = (
  metadata: Provider.SharedV4ProviderMetadata | undefined,
  ours?: { readonly [key: string]: unknown }
): Metadata | undefined => {
  if (metadata === undefined && ours === undefined) return undefined
  const kept: Record<string, Schema.Json> = {}
  let isEmpty = true
  for (const provider in metadata) {
    if (provider === engine || provider === own) continue
    const fields = json(metadata[provider])
    if (fields === undefined) continue
    kept[provider] = fields
    isEmpty = false
  }
  const fields = ours === undefined ? undefined : json(ours)
  if (fields !== undefined) {
    kept[own] = fields
    isEmpty = false
  }
  return isEmpty ? undefined : kept
}

/** The options of a part or a message as the provider takes them. */
export const toProvider = (options: unknown): Provider.SharedV4ProviderOptions | undefined => {
  if (!isRecord(options)) return undefined
  let sent: Record<string, Provider.JSONObject> | undefined
  for (const provider in options) {
    const fields = options[provider]
    if (provider === engine || provider === own || !isRecord(fields)) continue
    sent ??= {}
    // The options of parts are JSON.
    sent[provider] = fields as Provider.JSONObject
  }
  return sent
}

/** A value without what JSON has no word for; `undefined` where nothing is left. */
export const json = (value: unknown): Schema.Json | undefined => {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value
    case "number":
      return Number.isFinite(value) ? value : null
    case "object":
      return value === null ? null : Array.isArray(value) ? value.map((item) => json(item) ?? null) : object(value)
    default:
      return undefined
  }
}

const object = (value: object): Schema.Json | undefined => {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString()
  if (value instanceof URL) return value.href
  if (ArrayBuffer.isView(value)) return undefined
  const kept: Record<string, Schema.Json> = {}
  for (const [key, field] of Object.entries(value)) {
    const known = json(field)
    if (known !== undefined) kept[key] = known
  }
  return kept
}
