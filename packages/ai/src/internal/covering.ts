/**
 * Which calls a remembered answer covers: an approval those that it surely covers, and a denial speaks of those too that
 * it may cover.
 */
import type * as Schema from "effect/Schema"
import * as ApprovalMatcher from "../ApprovalMatcher.ts"

interface Answer {
  readonly version: string
  readonly covers: ApprovalMatcher.Description
}

interface Call {
  readonly version: string
  readonly params: Schema.Json
}

/** The tool is as it was, and the call is one of those that were meant. */
export const covers = (answer: Answer, call: Call, behaviors: ApprovalMatcher.Behaviors): boolean =>
  answer.version === call.version && ApprovalMatcher.fromDescription(answer.covers, behaviors).covers(call.params)

/** It may be one of those, however it is written, and whatever became of the tool's parameters. */
export const mayCover = (answer: Answer, call: Call, behaviors: ApprovalMatcher.Behaviors): boolean =>
  ApprovalMatcher.fromDescription(answer.covers, behaviors).mayCover(call.params)
