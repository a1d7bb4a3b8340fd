/**
 * Parameters as a text that a person changes.
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Diff from "../text/diff.ts"
import * as Json from "../text/json.ts"
import type { Row } from "../text/style.ts"

const decode = Schema.decodeUnknownOption(Schema.Json)

/** What a text says, or why it says nothing. */
export const parse = (text: string): Result.Result<Schema.Json, string> => {
  const parsed = Result.try((): unknown => JSON.parse(text))
  if (Result.isFailure(parsed)) {
    const { failure } = parsed
    return Result.fail(`Invalid JSON: ${failure instanceof Error ? failure.message : "it cannot be read"}`)
  }
  return Result.fromOption(decode(parsed.success), () => "A number is too large for JSON.")
}

/** What was changed, line by line; nothing if it says the same. */
export const changes = (before: Schema.Json, after: Schema.Json): ReadonlyArray<Row> =>
  isSame(before, after) ? [] : Diff.between(Json.format(before), Json.format(after))

export const isSame = (before: Schema.Json, after: Schema.Json): boolean =>
  JSON.stringify(before) === JSON.stringify(after)
