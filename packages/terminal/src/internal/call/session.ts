/**
 * What "for the session" may mean for a call, from this very call to every call of the tool, each in words.
 */
import type * as Approval from "@assent/ai/Approval"
import * as ApprovalMatcher from "@assent/ai/ApprovalMatcher"
import type * as ApprovalMemory from "@assent/ai/ApprovalMemory"
import type * as Schema from "effect/Schema"
import * as Content from "./content.ts"

export interface Choice {
  readonly remember: ApprovalMemory.Remember
  readonly sentence: string
}

/** What a program offers besides. */
export type Patterns = (request: Approval.ApprovalRequest) => ReadonlyArray<ApprovalMatcher.ApprovalMatcher>

const isPathName = (name: string): boolean => /(path|file|dir|directory|folder)$/i.test(name)

/** The folders that the path parameters of a call lie in; one at the top is no folder. */
const folders = (params: Schema.Json): ReadonlyArray<ApprovalMatcher.ApprovalMatcher> =>
  typeof params !== "object" || params === null || Array.isArray(params)
    ? []
    : Object.entries(params).flatMap(([param, value]) => {
      const folder = typeof value === "string" && isPathName(param) ? /^(.*[^/])\/[^/]+$/.exec(value)?.[1] : undefined
      // What a glob reads in another way would say another thing than it shows.
      return folder === undefined || /[*?[\]{}!\\]/.test(folder)
        ? []
        : [ApprovalMatcher.path([`${folder}/**`], { param })]
    })

/** From the narrowest to the widest. What does not cover the call itself is no choice. */
export const choices = (
  asked: Approval.ApprovalRequest,
  params: Schema.Json,
  patterns: Patterns | undefined
): ReadonlyArray<Choice> => {
  const covering = [...(patterns?.(asked) ?? []), ...folders(params)].filter((matcher) =>
    matcher.problems.length === 0 && matcher.covers(params)
  )
  const different = covering.filter((matcher, index) =>
    covering.findIndex((other) => ApprovalMatcher.equals(matcher, other)) === index
  )
  const exact = ApprovalMatcher.exact(params)
  const covers = (matcher: ApprovalMatcher.ApprovalMatcher): Choice => ({
    remember: { covers: matcher.description },
    sentence: Content.sentence(matcher.description, asked)
  })
  return [
    { remember: {}, sentence: Content.sentence(exact.description, asked) },
    ...(asked.session === undefined ? [] : [{ remember: "session" as const, sentence: asked.session }]),
    ...different.map(covers),
    covers(ApprovalMatcher.tool)
  ]
}
