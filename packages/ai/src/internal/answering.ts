/** What programs without types give where people answer and policies decide, and the sentence that says what was expected. */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import * as Text from "./text.ts"

/** An answer to a request. Throws a `TypeError` for what is no request, and for what an answer cannot hold. */
export const make = <A>(
  door: string,
  request: unknown,
  { options, reason }: { readonly options?: unknown; readonly reason?: unknown },
  build: (approvalId: string) => A
): A => {
  const approvalId = Predicate.hasProperty(request, "approvalId") ? request.approvalId : undefined
  if (typeof approvalId !== "string") {
    throw new TypeError(
      `${door} takes a request, such as one of conversation.pending(), or { approvalId: "…" }; it was given ` +
        `${shown(request)}${Array.isArray(request) ? ": answer one at a time, requests.map((request) => …)" : ""}.`
    )
  }
  if (options !== undefined && !Predicate.isObject(options)) {
    throw new TypeError(
      `${door} takes its options as an object, such as { ${hintOf(door)} }; it was given ${shown(options)}.`
    )
  }
  if (reason !== undefined && typeof reason !== "string") {
    throw new TypeError(
      `${door} takes the reason as a text, as in ${door}(request, "keep it"); it was given ${shown(reason)}.`
    )
  }
  const built = Result.try({ try: () => build(approvalId), catch: problemOf })
  if (Result.isSuccess(built)) return built.success
  // Without the cause: a schema, taken apart, says less than the sentence.
  throw new TypeError(`${door} was given what an answer cannot hold. ${built.failure}`)
}

const hintOf = (door: string): string => door === "Approval.deny" ? "stop: true" : "note: \"…\""

/** What a program gave, said shortly. */
export const shown = (u: unknown): string =>
  typeof u === "string"
    ? `the text ${Text.quote(u, 40)}`
    : Array.isArray(u)
    ? `an array of ${u.length}`
    : Predicate.isObject(u)
    ? `an object with ${Object.keys(u).slice(0, 5).map((key) => Text.quote(key, 40)).join(", ") || "no fields"}`
    : typeof u === "function"
    ? "a function"
    : String(u)

const problemOf = (error: unknown): string =>
  error instanceof Error && SchemaIssue.isIssue(error.cause)
    ? `${Text.escape(new Schema.SchemaError(error.cause).message.replace(/\s+/g, " "), { maxLength: 500 })}.`
    : String(error)

/** A function that a program gave. Throws a `TypeError` for anything else, which could only be told when it is called. */
export const functionOf = <F>(door: string, given: F, example: string): F => {
  if (typeof given === "function") return given
  throw new TypeError(`${door} takes a function, such as ${example}; it was given ${shown(given)}.`)
}
