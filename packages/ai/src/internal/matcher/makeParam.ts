/** A matcher of one parameter's text, with what may stand beside it. */
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as Canonical from "../seal/canonical.ts"
import type { Description, Others } from "./description.ts"
import { type ApprovalMatcher, TypeId } from "./model.ts"
import * as MatcherParams from "./params.ts"
import * as TextPart from "./textPart.ts"

/**
 * Makes a matcher that looks at the text of one parameter; for packages that bring a kind of their own, as
 * `@assent/shell` does. It covers only plain objects of which `param` is a property of its own, a text and no getter,
 * and of which the other properties are as `others` of the description allows. `covers` may throw, which is `false`.
 *
 * @example
 * import { ApprovalMatcher } from "@assent/ai"
 *
 * const line = ApprovalMatcher.makeParam({
 *   description: { _tag: "Shell", allowed: ["git status"], param: "command" },
 *   defaultOthers: [],
 *   covers: (command) => command.trim() === "git status"
 * })
 *
 * line.covers({ command: " git status" }) // => true
 * line.covers({ command: "git status; rm -r ." }) // => false
 * line.covers({ command: "git status", directory: "/etc" }) // => false
 *
 * @category constructors
 * @since 0.1.0
 */
export const makeParam = (options: {
  readonly description: Extract<Description, { readonly param: string }>
  readonly problems?: ReadonlyArray<string> | undefined
  /** See {@link ApprovalMatcher}; without it, all problems. */
  readonly problemsToForbid?: ReadonlyArray<string> | undefined
  readonly cautions?: ReadonlyArray<string> | undefined
  readonly defaultOthers: Others
  readonly covers: (value: string) => boolean
  /** See `mayCover` of {@link ApprovalMatcher}; without it, every text may be covered. */
  readonly mayCover?: ((value: string) => boolean) | undefined
}): ApprovalMatcher => {
  const { defaultOthers } = options
  const { others: given = defaultOthers, same = {}, ...rest } = options.description
  const others = given === "any" ? given : sorted(given)
  const names = Object.keys(same)
  // One spelling for what means the same.
  const description: Description = {
    ...rest,
    ...(JSON.stringify(others) === JSON.stringify(defaultOthers) ? undefined : { others }),
    ...(names.length === 0 ? undefined : { same })
  }
  const { covers, mayCover = () => true } = options
  const { param } = rest
  const beside = others === "any" ? others : [...others, ...names]
  const values = new Map(Object.entries(same).map(([name, value]) => [name, spelled(value)]))
  const matcher: ApprovalMatcher = {
    [TypeId]: TypeId,
    description,
    problems: options.problems ?? [],
    problemsToForbid: options.problemsToForbid ?? options.problems ?? [],
    cautions: options.cautions ?? [],
    covers: MatcherParams.total((params) => {
      const value = MatcherParams.textOf(params, param, beside)
      return value !== undefined && MatcherParams.hasSame(params, values) && covers(value)
    }),
    mayCover: MatcherParams.unsure((params) => {
      const value = MatcherParams.anyTextOf(params, param)
      return value === undefined ? MatcherParams.mayHave(params, param) : covers(value) || mayCover(value)
    })
  }
  // What looks at more than the one text cannot be read together with what does not.
  return names.length === 0 ? TextPart.register(matcher, { param, others, covers, mayCover }) : matcher
}

// A value that is not JSON is no parameter's.
const spelled = (value: Schema.Json): string => Result.getOrElse(Canonical.canonicalize(value), () => "")

const sorted = (texts: ReadonlyArray<string>): ReadonlyArray<string> => [...new Set(texts)].toSorted()
