/** What is told of a request whose conversation was removed, for as long as events are kept. */
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Json))

/** What names it, so that whoever was told of it knows which one it is. What it was about is gone. */
export const requestOfRemoved = (request: string): string => {
  const shown = Option.getOrUndefined(decode(request))
  const names = Predicate.isObject(shown) ? Object.entries(shown).filter(([field]) => naming.has(field)) : []
  return JSON.stringify({ ...Object.fromEntries(names), params: null, description })
}

const naming: ReadonlySet<string> = new Set([
  "approvalId",
  "toolCallId",
  "toolName",
  "interaction",
  "issuedAt",
  "expiresAt",
  "providerExecuted",
  "conversation",
  "principal",
  "approvers"
])

const description = "What was asked here was removed with its conversation."
