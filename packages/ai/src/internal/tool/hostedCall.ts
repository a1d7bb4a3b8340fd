/** What a call that the provider runs says of itself, so that a person and a policy see what it is about. */
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import type { CallMetadata } from "../augment.ts"
import * as Canonical from "../seal/canonical.ts"

interface Metadata {
  readonly assent?: CallMetadata | null
}

/** A call of a response or of a history. */
export interface Call {
  readonly id: string
  readonly name: string
  readonly params: unknown
  readonly metadata?: Metadata | undefined
  readonly options?: Metadata | undefined
}

export interface Asked {
  readonly toolName: string
  readonly params: Schema.Json
  readonly source: string | undefined
}

/**
 * What is asked about: the provider says so in the call's metadata, where one tool stands for many, as for those of an
 * MCP server; else it is the call itself. In a history it is the provider's word only where the seal says so.
 */
export const asked = (call: Call): Asked => {
  const said = call.metadata?.assent ?? call.options?.assent
  return isCallMetadata(said)
    ? { toolName: said.toolName, params: jsonOf(said.params), source: said.source }
    : { toolName: call.name, params: jsonOf(call.params), source: undefined }
}

/** The seal of a call, if it has one. */
export const sealOf = (call: Call): string | undefined => {
  const said: unknown = call.metadata?.assent ?? call.options?.assent
  return typeof said === "object" && said !== null && "seal" in said && typeof said.seal === "string"
    ? said.seal
    : undefined
}

// In a history it may be anything.
const isCallMetadata = (u: unknown): u is Required<Omit<CallMetadata, "seal">> =>
  typeof u === "object" && u !== null && "toolName" in u && typeof u.toolName === "string" && u.toolName !== "" &&
  "source" in u && typeof u.source === "string"

const jsonOf = (params: unknown): Schema.Json => {
  const canonical = Canonical.canonicalize(params ?? null)
  return Result.isSuccess(canonical) ? JSON.parse(canonical.success) : null
}
