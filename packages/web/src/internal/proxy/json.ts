/** What is sent is JSON, whatever it was. */
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"

/** As `JSON.stringify` writes it; `null` where it cannot. */
export const of = (value: unknown): Schema.Json =>
  Result.getOrElse(
    // What has no JSON at all is `undefined`.
    Result.try((): Schema.Json => JSON.parse(JSON.stringify(value) ?? "null")),
    () => null
  )
