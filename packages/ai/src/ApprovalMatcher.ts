/**
 * Which calls does one answer, or one rule of a configuration, cover?
 *
 * "Yes, and for the rest of the session" must say to *what*: to this very call, to every call of the tool, to calls
 * with the same key, to paths below a folder, or to command lines that run only certain commands. A matcher says that
 * of one tool's parameters. It never throws, and whatever it is not sure about it does not cover, so that it is asked:
 * parameters that are missing or of another type, and `{}` is not "any parameters".
 *
 * That makes it a means to allow, and not to forbid: what is not covered may still be the same file or command by
 * another name. So let a rule forbid or ask by default, and allow what a matcher covers. `mayCover`, for rules that
 * forbid all the same, errs to the other side: it leaves out only what is plainly another.
 *
 * A matcher is made of data, its {@link Description}, with which it can be stored, shown to a person
 * ({@link toSentence}), compared ({@link equals}) and made anew ({@link fromDescription}). Command lines need a shell
 * parser: `ApprovalMatcher` of `@assent/shell` is this module and `shell`.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { dual } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { definedFields } from "./internal/fields.ts"
import * as Descriptions from "./internal/matcher/description.ts"
import { Description } from "./internal/matcher/description.ts"
import { makeParam } from "./internal/matcher/makeParam.ts"
import {
  type ApprovalMatcher,
  type ParamOptions,
  type Params,
  type ShellOptions,
  type Suggestion,
  TypeId
} from "./internal/matcher/model.ts"
import * as MatcherParams from "./internal/matcher/params.ts"
import * as PathGlobs from "./internal/matcher/pathGlobs.ts"
import * as Suggesting from "./internal/matcher/suggesting.ts"
import * as Canonical from "./internal/seal/canonical.ts"

// =============================================================================
// Descriptions
// =============================================================================

export { Description, Exact, Key, Others, Path, Same, Shell, Tool } from "./internal/matcher/description.ts"

// =============================================================================
// Models
// =============================================================================

export type { ApprovalMatcher, ParamOptions, Params, ShellOptions, Suggestion } from "./internal/matcher/model.ts"

/**
 * What a program has to give again when a matcher is made anew from its description: functions are not data.
 *
 * @category options
 * @since 0.1.0
 */
export interface Behaviors {
  /** The functions of {@link key}, by the names they were given. */
  readonly keys?: { readonly [name: string]: (params: Params) => unknown } | undefined
  /** See {@link path}. */
  readonly isLink?: ((path: string) => boolean) | undefined
  /** `shell` of `@assent/shell`, whose own functions give it themselves. */
  readonly shell?: ((allowed: ReadonlyArray<string>, options: ShellOptions) => ApprovalMatcher) | undefined
  /** What may be offered of a command line for more than once, see {@link suggest}; the same package gives it. */
  readonly suggest?:
    | ((line: string, options: ParamOptions) => Pick<Suggestion, "matcher" | "note"> | undefined)
    | undefined
}

// =============================================================================
// Errors
// =============================================================================

/**
 * A matcher of which at least a part covers nothing.
 *
 * @category errors
 * @since 0.1.0
 */
export class ApprovalMatcherError extends Schema.TaggedError<ApprovalMatcherError>()("ApprovalMatcherError", {
  description: Description,
  problems: Schema.Array(Schema.String)
}) {
  override get message(): string {
    return this.problems.join(" ")
  }
}

// =============================================================================
// Guards
// =============================================================================

/**
 * Whether a value is a matcher.
 *
 * @example
 * import { ApprovalMatcher } from "@assent/ai"
 *
 * const matcher = ApprovalMatcher.path(["src/**"], { param: "path" })
 *
 * ApprovalMatcher.isApprovalMatcher(matcher) // => true
 * // What was stored is data; `fromDescription` makes a matcher of it.
 * ApprovalMatcher.isApprovalMatcher(matcher.description) // => false
 *
 * @category guards
 * @since 0.1.0
 */
export const isApprovalMatcher = (u: unknown): u is ApprovalMatcher => Predicate.hasProperty(u, TypeId)

// =============================================================================
// Constructors
// =============================================================================

/**
 * Covers the calls with just these parameters, and nothing if they are not JSON. The order of names means nothing; a
 * parameter that is `undefined` is one that is missing.
 *
 * @example
 * import { ApprovalMatcher } from "@assent/ai"
 *
 * const matcher = ApprovalMatcher.exact({ path: "a.txt", force: true })
 *
 * matcher.covers({ force: true, path: "a.txt" }) // => true
 * matcher.covers({ path: "a.txt" }) // => false
 *
 * @category constructors
 * @since 0.1.0
 */
export const exact = (params: unknown): ApprovalMatcher => fromCanonical(Canonical.canonicalize(params))

/**
 * Covers every call of the tool whose parameters are JSON.
 *
 * @example
 * import { ApprovalMatcher } from "@assent/ai"
 *
 * ApprovalMatcher.tool.covers({ path: "a.txt" }) // => true
 * ApprovalMatcher.tool.covers(undefined) // => false
 *
 * @category constructors
 * @since 0.1.0
 */
export const tool: ApprovalMatcher = {
  [TypeId]: TypeId,
  description: { _tag: "Tool" },
  problems: [],
  problemsToForbid: [],
  cautions: [],
  covers: (params) => Result.isSuccess(Canonical.canonicalize(params)),
  mayCover: () => true
}

/**
 * Covers the calls that have the same key as the one that was approved: `key(select)(approved)`. The key is JSON of any
 * shape. A function that throws, returns nothing, or returns what is not JSON covers nothing.
 *
 * Give it a name to store the matcher; one without a name lives as long as the value.
 *
 * @example
 * import { ApprovalMatcher } from "@assent/ai"
 *
 * const sameFile = ApprovalMatcher.key((params) => params.path, { name: "file" })
 * const matcher = sameFile({ path: "a.txt", content: "one" })
 *
 * matcher.covers({ path: "a.txt", content: "two" }) // => true
 * matcher.covers({ path: "b.txt", content: "one" }) // => false
 * matcher.covers({}) // => false
 *
 * @category constructors
 * @since 0.1.0
 */
export const key = (
  select: (params: Params) => unknown,
  options?: { readonly name?: string | undefined }
): (approved: unknown) => ApprovalMatcher =>
(approved) => {
  const value = MatcherParams.keyOf(select, approved)
  return keyed(select, options?.name, value ?? "", value === undefined ? [noKey] : [])
}

/**
 * Covers the calls whose parameter `param` is a path that one of the globs matches, as `effect/Glob` reads them: `*`,
 * `?`, `[…]` within a segment, `**` for any number of segments, `{a,b}`. `src/**` covers what is below `src`, not `src`
 * itself; names that start with a dot are covered only where the glob writes the dot.
 *
 * Only plain paths are covered, as written, with `/`, in the case and the Unicode form (NFC) of the glob. What some
 * system or tool could read as another path is not: `.`, `..` and empty segments, `~`, `\`, `:`; wildcards and braces;
 * variables and commands (`$`, `%NAME%`, `!NAME!`, backticks); what ends a word, a list or a URL (`;`, `&`, `|`, `#`, `?`,
 * `<`, `>`, `"`, two `'`); escapes (`%2e`, `%u002e`, `^`); `-`, `@` and `=` at the start; Windows' device names and
 * trailing dots or spaces; controls, invisible characters and look-alikes of a slash; characters that would hide a name
 * or lead elsewhere if they were made compatible; more than 4,096 UTF-16 units. A glob that writes any of it covers
 * nothing. Names with blanks and parentheses are plain, and so are `[id]` and `[...slug]`, as programs name their routes:
 * a tool that hands its path to a shell without quotes is not protected from these. A relative glob covers relative paths
 * only, an absolute one (`/srv/data/**`) absolute ones.
 *
 * What stands in `.git` can make git run any program, so no wildcard stands for that name: `.*` and `.g*` cover no path
 * with a segment `.git`. A glob covers one where it writes the name, as `.git/info/*` does, each time that it stands in
 * the path. What some system takes for it (`.GIT`, `.git.`, `git~1`) is never covered. Hooks elsewhere, and a folder that
 * is a bare repository under another name, cannot be told from their names.
 *
 * Text cannot tell where a symbolic link leads. With `isLink`, which says whether a path as far as it goes is one, a
 * path through or to a link is not covered, wherever the link leads, and none if `isLink` throws. In Node:
 * `(path) => lstatSync(resolve(root, path), { throwIfNoEntry: false })?.isSymbolicLink() === true`, with the `root` that
 * the tool resolves paths against. A link that is made after the check, and a hard link, are not seen.
 *
 * What stands beside the path may be anything, such as the content to write, unless `others` says otherwise; name a
 * matcher's `others` for a tool with two paths.
 *
 * @example
 * import { ApprovalMatcher } from "@assent/ai"
 *
 * const matcher = ApprovalMatcher.path(["src/**", "docs/*.md"], { param: "path" })
 *
 * matcher.covers({ path: "src/ui/Button.tsx", content: "…" }) // => true
 * matcher.covers({ path: "src/../.ssh/id_rsa" }) // => false
 * matcher.covers({ path: "src/.git/hooks/pre-commit" }) // => false
 *
 * const links = new Set(["src/elsewhere"])
 * const careful = ApprovalMatcher.path(["src/**"], { param: "path", isLink: (path) => links.has(path) })
 *
 * careful.covers({ path: "src/elsewhere/passwd" }) // => false
 *
 * @category constructors
 * @since 0.1.0
 */
export const path = (
  globs: ReadonlyArray<string>,
  options: ParamOptions & { readonly isLink?: ((path: string) => boolean) | undefined }
): ApprovalMatcher => {
  const { isLink } = options
  const written = sorted(globs)
  return makeParam({
    description: {
      _tag: "Path",
      globs: written,
      param: options.param,
      ...definedFields({ others: options.others, same: options.same }),
      ...(isLink === undefined ? {} : { links: "refused" })
    },
    defaultOthers: "any",
    ...(isLink === undefined ? { cautions: [followsLinks] } : undefined),
    ...PathGlobs.make(written, isLink)
  })
}

export { makeParam } from "./internal/matcher/makeParam.ts"

/**
 * Makes a matcher anew from what was stored. A function of the program that the description speaks of must be given
 * again: where it is missing, the matcher covers nothing and its `problems` say so.
 *
 * @example
 * import { ApprovalMatcher } from "@assent/ai"
 * import { Schema } from "effect"
 *
 * const stored = JSON.stringify(ApprovalMatcher.path(["src/**"], { param: "path" }).description)
 * const description = Schema.decodeUnknownSync(ApprovalMatcher.Description)(JSON.parse(stored))
 *
 * ApprovalMatcher.fromDescription(description).covers({ path: "src/a.ts" }) // => true
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromDescription = (description: Description, behaviors: Behaviors = {}): ApprovalMatcher => {
  switch (description._tag) {
    case "Exact":
      return fromCanonical(description.params === "" ? Result.fail(notJson) : Result.succeed(description.params))
    case "Tool":
      return tool
    case "Key": {
      const { name, value } = description
      const keys = behaviors.keys ?? {}
      const select = name !== undefined && Object.hasOwn(keys, name) ? keys[name] : undefined
      if (select !== undefined) return keyed(select, name, value, value === "" ? [noKey] : [])
      return nothing(
        description,
        name === undefined
          ? "Its key has no name, so the function that computes it cannot be found. Name it: key(select, { name })."
          : `There is no function for the key ${Descriptions.quote(name)}. Provide it in \`keys\`.`
      )
    }
    case "Path":
      if (description.links === undefined) return path(description.globs, description)
      return behaviors.isLink === undefined
        ? nothing(description, "It refuses symbolic links, but cannot detect them. Provide `isLink`.")
        : path(description.globs, { ...description, isLink: behaviors.isLink })
    case "Shell":
      return behaviors.shell?.(description.allowed, description) ??
        nothing(description, "Command lines need a parser. Use `ApprovalMatcher` of @assent/shell.")
  }
}

/**
 * The matcher, if every part of it can cover something; else fails with what is wrong with it.
 *
 * @example
 * import { ApprovalMatcher } from "@assent/ai"
 * import { Effect } from "effect"
 *
 * const program = ApprovalMatcher.validate(ApprovalMatcher.path(["../**"], { param: "path" }))
 *
 * await Effect.runPromise(Effect.flip(program)).then((error) => error.problems.length) // => 1
 *
 * @category constructors
 * @since 0.1.0
 */
export const validate = (self: ApprovalMatcher): Effect.Effect<ApprovalMatcher, ApprovalMatcherError> =>
  self.problems.length === 0
    ? Effect.succeed(self)
    : Effect.fail(new ApprovalMatcherError({ description: self.description, problems: self.problems }))

// =============================================================================
// References and layers
// =============================================================================

/**
 * What the running program gives matchers that are made anew. Default: nothing.
 *
 * @example
 * import { ApprovalMatcher } from "@assent/ai"
 * import { Effect } from "effect"
 *
 * const links = new Set(["src/elsewhere"])
 * const { description } = ApprovalMatcher.path(["src/**"], { param: "path", isLink: (path) => links.has(path) })
 *
 * const covered = (path: string) =>
 *   Effect.map(
 *     ApprovalMatcher.Behaviors,
 *     (behaviors) => ApprovalMatcher.fromDescription(description, behaviors).covers({ path })
 *   ).pipe(Effect.provideService(ApprovalMatcher.Behaviors, { isLink: (path) => links.has(path) }))
 *
 * await Effect.runPromise(covered("src/a.ts")) // => true
 * await Effect.runPromise(covered("src/elsewhere/passwd")) // => false
 *
 * @category references
 * @since 0.1.0
 */
export const Behaviors = Context.Reference<Behaviors>("@assent/ai/ApprovalMatcher/Behaviors", {
  defaultValue: () => ({})
})

/**
 * Gives what stored matchers need besides their data.
 *
 * @example
 * import { ApprovalMatcher } from "@assent/ai"
 * import { Effect } from "effect"
 *
 * const file = (params: ApprovalMatcher.Params) => params.path
 * const { description } = ApprovalMatcher.key(file, { name: "file" })({ path: "a.txt" })
 *
 * const program = Effect.map(ApprovalMatcher.Behaviors, (behaviors) =>
 *   ApprovalMatcher.fromDescription(description, behaviors).covers({ path: "a.txt" })
 * )
 *
 * await Effect.runPromise(program) // => false
 * await Effect.runPromise(Effect.provide(program, ApprovalMatcher.layer({ keys: { file } }))) // => true
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (behaviors: Behaviors): Layer.Layer<never> => Layer.succeed(Behaviors, behaviors)

// =============================================================================
// Comparing and showing
// =============================================================================

/**
 * Whether two matchers have the same description. The order of globs and patterns means nothing. A {@link key} without
 * a name equals only itself, because its function cannot be compared.
 *
 * @example
 * import { ApprovalMatcher } from "@assent/ai"
 *
 * const one = ApprovalMatcher.path(["src/**", "test/**"], { param: "path" })
 * const other = ApprovalMatcher.path(["test/**", "src/**"], { param: "path" })
 *
 * ApprovalMatcher.equals(one, other) // => true
 *
 * @category combinators
 * @since 0.1.0
 */
export const equals: {
  (that: ApprovalMatcher): (self: ApprovalMatcher) => boolean
  (self: ApprovalMatcher, that: ApprovalMatcher): boolean
} = dual(
  2,
  (self: ApprovalMatcher, that: ApprovalMatcher): boolean =>
    self === that ||
    (Descriptions.spelling(self.description) !== undefined &&
      Descriptions.spelling(self.description) === Descriptions.spelling(that.description))
)

/**
 * What is covered, in words for a person: escaped and bounded, so that it can be shown on any screen (law L15).
 *
 * @example
 * import { ApprovalMatcher } from "@assent/ai"
 *
 * const matcher = ApprovalMatcher.path(["src/**"], { param: "path" })
 *
 * ApprovalMatcher.toSentence(matcher, "WriteFile") // => "any call of WriteFile whose path matches `src/**`"
 *
 * @category combinators
 * @since 0.1.0
 */
export const toSentence: {
  (toolName: string): (self: ApprovalMatcher | Description) => string
  (self: ApprovalMatcher | Description, toolName: string): string
} = dual(
  2,
  (self: ApprovalMatcher | Description, toolName: string): string =>
    Descriptions.toSentence(isApprovalMatcher(self) ? self.description : self, toolName)
)

// =============================================================================
// Suggestions
// =============================================================================

/**
 * What may be offered to a person who approves a call for more than this once, from the narrowest to the widest: the call
 * itself, then its command by what is known of it or the folder of its path, and every call of the tool. Each covers the
 * call, and each of these no more than the next; `besides` are the program's own, before the last.
 *
 * The parameters beside the one that is matched are as in this call, but for what is only said or written: the
 * `description` of a command, and the `content` of a file, of which the sentence says that it may be any.
 *
 * @example
 * import { ApprovalMatcher } from "@assent/ai"
 *
 * const call = { toolName: "Search", params: { dir: "src/ui", query: "x" } }
 *
 * ApprovalMatcher.suggest(call).map(({ sentence }) => sentence) // => ["only this call: dir='src/ui', query='x'", "calls whose dir matches `src/**`, with query='x' as here", "every call of Search, whatever its parameters"]
 *
 * @category combinators
 * @since 0.1.0
 */
export const suggest = (
  call: { readonly toolName: string; readonly params: Schema.Json },
  behaviors: Behaviors = {},
  besides: ReadonlyArray<ApprovalMatcher> = []
): ReadonlyArray<Suggestion> => {
  const narrow = Suggesting.narrow(call.params, {
    command: behaviors.suggest,
    path: (globs, options) => ({ matcher: path(globs, { ...options, isLink: behaviors.isLink }) })
  })
  const offered = [{ matcher: exact(call.params) }, ...narrow, ...besides.map((matcher) => ({ matcher })), {
    matcher: tool,
    isWidest: true
  }]
  return Suggesting.covering(call, offered, equals)
}

// =============================================================================
// Internals
// =============================================================================

const followsLinks = "It looks at paths as texts: a symbolic link may lead elsewhere. Provide `isLink` in" +
  " `ApprovalMatcher.Behaviors`, and no path through a link is covered."

const nothing = (description: Description, problem: string): ApprovalMatcher => ({
  [TypeId]: TypeId,
  description,
  problems: [problem],
  problemsToForbid: [problem],
  cautions: [],
  covers: () => false,
  mayCover: () => true
})

const fromCanonical = (approved: Result.Result<string, string>): ApprovalMatcher => {
  if (Result.isFailure(approved)) return nothing({ _tag: "Exact", params: "" }, approved.failure)
  return {
    [TypeId]: TypeId,
    description: { _tag: "Exact", params: approved.success },
    problems: [],
    problemsToForbid: [],
    cautions: [],
    covers: (params) => Result.getOrUndefined(Canonical.canonicalize(params)) === approved.success,
    mayCover: (params) => Result.getOrElse(Canonical.canonicalize(params), () => approved.success) === approved.success
  }
}

const notJson = "The approved parameters were not JSON."

const noKey = "The approved call has no key: its function threw, or what it returned is not JSON."

const keyed = (
  select: (params: Params) => unknown,
  name: string | undefined,
  value: string,
  problems: ReadonlyArray<string>
): ApprovalMatcher => ({
  [TypeId]: TypeId,
  description: name === undefined ? { _tag: "Key", value } : { _tag: "Key", name, value },
  problems,
  problemsToForbid: problems,
  cautions: [],
  // No key is spelled "", so that one that could not be computed equals no other.
  covers: (params) => MatcherParams.keyOf(select, params) === value && value !== "",
  mayCover: (params) => value === "" || (MatcherParams.keyOf(select, params) ?? value) === value
})

const sorted = (texts: ReadonlyArray<string>): ReadonlyArray<string> => [...new Set(texts)].toSorted()
