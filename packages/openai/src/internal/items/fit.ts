/** What OpenAI sends, as far as it fits a schema: what does not is left out, and the rest is kept. */
import type * as Tool from "effect/ai/Tool"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import * as Metadata from "../metadata.ts"

export interface Fitted {
  readonly value: unknown
  /** Whether anything was left out. */
  readonly isReduced: boolean
}

/** `undefined` where too little of it fits for the schema. */
export const fit = (schema: Tool.Any["successSchema"], value: unknown): Fitted | undefined => {
  // The schemas of OpenAI's own tools need no services.
  const decode = Schema.decodeUnknownResult(schema as Schema.Codec<unknown>, { errors: "all" })
  let fitted = value
  let misfits = misfitsOf(decode(fitted))
  if (misfits.length === 0) return { value, isReduced: false }
  for (let round = 0; round < maxRounds; round++) {
    // The innermost first: a source of another kind is left out, not the search that found it.
    const [first] = misfits.toSorted((left, right) => right.length - left.length)
    if (first === undefined) return { value: fitted, isReduced: true }
    const path = first.slice(0, has(fitted, first) ? first.length : first.length - 1)
    if (path.length === 0) return undefined
    fitted = without(fitted, path)
    misfits = misfitsOf(decode(fitted))
  }
  return undefined
}

const maxRounds = 256

type Path = ReadonlyArray<PropertyKey>

const format = SchemaIssue.makeFormatterStandardSchemaV1()

const misfitsOf = (decoded: Result.Result<unknown, Schema.SchemaError>): ReadonlyArray<Path> =>
  Result.isSuccess(decoded) ?
    [] :
    format(decoded.failure.issue).issues.map(({ path }) =>
      (path ?? []).map((segment) => typeof segment === "object" ? segment.key : segment)
    )

const at = (value: unknown, key: PropertyKey | undefined): unknown =>
  Array.isArray(value) ? value[Number(key)] : Metadata.isRecord(value) ? value[String(key)] : undefined

const has = (value: unknown, path: Path): boolean =>
  path.reduce<unknown>((inner, key) => at(inner, key), value) !== undefined

const without = (value: unknown, [key, ...rest]: Path): unknown => {
  const inner = rest.length === 0 ? undefined : without(at(value, key), rest)
  if (Array.isArray(value)) {
    return value.flatMap((item: unknown, index) => index !== Number(key) ? [item] : inner === undefined ? [] : [inner])
  }
  if (!Metadata.isRecord(value)) return value
  const { [String(key)]: _, ...others } = value
  return inner === undefined ? others : { ...others, [String(key)]: inner }
}
