/**
 * What "for the session" may mean for a call, from this very call to every call of the tool, each in words.
 */
import type * as Approval from "@assent/ai/Approval"
import * as ApprovalMatcher from "@assent/ai/ApprovalMatcher"
import type * as ApprovalMemory from "@assent/ai/ApprovalMemory"
import type * as Schema from "effect/Schema"
import * as Safe from "../text/safe.ts"
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

const isCommandName = (name: string): boolean => /^(?:(?:shell|bash)_?)?(?:command|cmd)(?:_?line)?$/i.test(name)

/** What stands beside a command line and changes nothing of what runs. */
const harmless: ReadonlySet<string> = new Set(["description", "timeout", "timeout_ms", "timeoutMs"])

/** What the program's shell package knows of a command line. */
const commands = (
  params: Schema.Json,
  suggest: ApprovalMatcher.Behaviors["suggest"]
): ReadonlyArray<ApprovalMatcher.Suggestion> =>
  suggest === undefined || typeof params !== "object" || params === null || Array.isArray(params)
    ? []
    : Object.entries(params).flatMap(([param, value]) => {
      if (typeof value !== "string" || !isCommandName(param)) return []
      const others = Object.keys(params).filter((name) => harmless.has(name))
      const suggestion = suggest(value, { param, ...(others.length === 0 ? {} : { others }) })
      return suggestion === undefined ? [] : [suggestion]
    })

/** From the narrowest to the widest. What does not cover the call itself is no choice. */
export const choices = (
  asked: Approval.ApprovalRequest,
  params: Schema.Json,
  patterns: Patterns | undefined,
  suggest?: ApprovalMatcher.Behaviors["suggest"]
): ReadonlyArray<Choice> => {
  const offered = [
    ...commands(params, suggest),
    ...[...(patterns?.(asked) ?? []), ...folders(params)].map((matcher) => ({ matcher, says: "" }))
  ]
  const covering = offered.filter(({ matcher }) => matcher.problems.length === 0 && matcher.covers(params))
  const different = covering.filter(({ matcher }, index) =>
    covering.findIndex((other) => ApprovalMatcher.equals(matcher, other.matcher)) === index
  )
  const exact = ApprovalMatcher.exact(params)
  const covers = ({ matcher, says }: ApprovalMatcher.Suggestion): Choice => ({
    remember: { covers: matcher.description },
    sentence: Content.sentence(matcher.description, asked) + (says === "" ? "" : ` (${Safe.line(says)})`)
  })
  return [
    { remember: {}, sentence: Content.sentence(exact.description, asked) },
    ...(asked.session === undefined ? [] : [{ remember: "session" as const, sentence: asked.session }]),
    ...different.map(covers),
    covers({ matcher: ApprovalMatcher.tool, says: "" })
  ]
}
