/**
 * Parameters as a text that a person changes.
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Diff from "./diff.ts"
import type { Row } from "./style.ts"

/** JSON, as it is put into an editor. */
export const textOf = (params: Schema.Json): string => JSON.stringify(params, null, 2)

const decode = Schema.decodeUnknownOption(Schema.Json)

/** What a text says, or why it says nothing. */
export const parse = (text: string): Result.Result<Schema.Json, string> => {
  const parsed = Result.try((): unknown => JSON.parse(text))
  if (Result.isFailure(parsed)) {
    const { failure } = parsed
    return Result.fail(`This is no JSON: ${failure instanceof Error ? failure.message : "it cannot be read"}`)
  }
  return Result.fromOption(decode(parsed.success), () => "This is no JSON.")
}

/** What was changed, line by line; nothing if it says the same. */
export const changes = (before: Schema.Json, after: Schema.Json): ReadonlyArray<Row> =>
  isSame(before, after) ? [] : Diff.between(textOf(before), textOf(after))

export const isSame = (before: Schema.Json, after: Schema.Json): boolean => textOf(before) === textOf(after)
