/**
 * The parameters of a server's tool, checked against its JSON Schema before anybody is asked. A schema of which more is said
 * than can be checked here lets them pass: the server checks them too.
 */
import * as JsonSchema from "effect/JsonSchema"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as SchemaIssue from "effect/SchemaIssue"
import * as SchemaRepresentation from "effect/SchemaRepresentation"

// The protocol knows no others, so a person is not asked about others (law L1).
const Parameters = Schema.Record(Schema.String, Schema.Unknown)

export type Parameters = typeof Parameters

export const make = (inputSchema: InputSchema): Parameters =>
  Parameters.check(Schema.makeFilter((params) => knownCheckOf(inputSchema)(params)))

type InputSchema = { readonly [keyword: string]: unknown }

type Check = (params: unknown) => SchemaIssue.Issue | undefined

// Each turn lists the tools anew, and most are what they were. The one that was used longest ago goes.
const known = new Map<string, Check>()
const maxKnown = 200

const knownCheckOf = (inputSchema: InputSchema): Check => {
  const text = JSON.stringify(inputSchema)
  const check = known.get(text) ?? checkOf(inputSchema, text)
  known.delete(text)
  known.set(text, check)
  const [oldest] = known.keys()
  if (oldest !== undefined && known.size > maxKnown) known.delete(oldest)
  return check
}

const checkOf = (inputSchema: InputSchema, text: string): Check => {
  const imported = Result.try(() => {
    // Without its patterns, more than one branch of a `oneOf` may match.
    if (/"(?:oneOf|not|if|\$dynamicRef)"/.test(text)) return undefined
    const schema = inputSchema as JsonSchema.JsonSchema // an object, whatever it says
    const document = typeof schema["$schema"] === "string" && schema["$schema"].includes("draft-07")
      ? JsonSchema.fromSchemaDraft07(schema)
      : JsonSchema.fromSchemaDraft2020_12(schema)
    // A pattern of somebody else's may take for ever.
    const codec = SchemaRepresentation.fromJsonSchemaDocument(document, { patterns: "ignore" })
    // Services are those of a program's own schemas.
    return Schema.decodeUnknownResult(codec as Schema.Codec<unknown>)
  })
  const decode = Result.getOrUndefined(imported)
  if (decode === undefined) return () => undefined
  return (params) => {
    const decoded = Result.getOrUndefined(Result.try(() => decode(params)))
    return decoded === undefined || Result.isSuccess(decoded) ? undefined : decoded.failure.issue
  }
}
