/**
 * Which calls a remembered answer covers: an approval those that it surely covers, and a denial speaks of those too that
 * it may cover.
 */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as ApprovalMatcher from "../ApprovalMatcher.ts"
import * as Descriptions from "./matcher/description.ts"
import type { Matching } from "./memory.ts"
import { Remember } from "./remembered.ts"

const decode = Schema.decodeUnknownOption(Remember)

/**
 * How every memory matches answers with calls: one that is made by hand takes it as its `matching`.
 *
 * @example
 * import { ApprovalMemory } from "@assent/ai"
 *
 * const anyCall = { version: "1", covers: { _tag: "Tool" } } as const
 *
 * ApprovalMemory.matching.covers(anyCall, { version: "1", params: { path: "a.txt" } }, {}) // => true
 * ApprovalMemory.matching.covers(anyCall, { version: "2", params: { path: "a.txt" } }, {}) // => false
 *
 * @category constructors
 * @since 0.1.0
 */
export const matching: Matching = {
  read: (remember) => Option.getOrUndefined(decode(remember)),
  behaviors: ApprovalMatcher.Behaviors,
  covers: (answer, call, behaviors) =>
    answer.version === call.version && ApprovalMatcher.fromDescription(answer.covers, behaviors).covers(call.params),
  mayCover: (answer, call, behaviors) =>
    ApprovalMatcher.fromDescription(answer.covers, behaviors).mayCover(call.params),
  exact: (params) => ApprovalMatcher.exact(params).description,
  matcherOf: ApprovalMatcher.fromDescription,
  toSentence: (description, toolName) => ApprovalMatcher.toSentence(description, toolName),
  toWholeSentence: (description, toolName) => Descriptions.toSentence(description, toolName, Descriptions.whole)
}
