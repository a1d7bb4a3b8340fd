/**
 * What "for the session" may mean for a call, from this very call to every call of the tool, each in words.
 */
import type * as Approval from "@assent/ai/Approval"
import * as ApprovalMatcher from "@assent/ai/ApprovalMatcher"
import type * as ApprovalMemory from "@assent/ai/ApprovalMemory"
import type * as Schema from "effect/Schema"

export interface Choice {
  readonly remember: ApprovalMemory.Remember
  readonly sentence: string
}

/** What a program offers besides. */
export type Patterns = (request: Approval.ApprovalRequest) => ReadonlyArray<ApprovalMatcher.ApprovalMatcher>

/** From the narrowest to the widest. What does not cover the call itself is no choice. */
export const choices = (
  asked: Approval.ApprovalRequest,
  params: Schema.Json,
  patterns: Patterns | undefined,
  suggest?: ApprovalMatcher.Behaviors["suggest"]
): ReadonlyArray<Choice> => {
  const [exact, ...wider] = ApprovalMatcher.suggest(
    { toolName: asked.toolName, params },
    { suggest },
    patterns?.(asked) ?? []
  )
  return [
    ...(exact === undefined ? [] : [{ remember: {}, sentence: exact.sentence }]),
    ...(asked.session === undefined ? [] : [{ remember: "session" as const, sentence: asked.session }]),
    ...wider.map(({ matcher, sentence }) => ({ remember: { covers: matcher.description }, sentence }))
  ]
}
