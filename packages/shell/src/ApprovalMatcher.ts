/**
 * `ApprovalMatcher` of `@assent/ai`, with {@link shell}: which command lines does one answer, or one rule of a
 * configuration, cover?
 *
 * @since 0.1.0
 */
import * as ApprovalMatcher from "@assent/ai/ApprovalMatcher"
import type * as Layer from "effect/Layer"
import * as Forbidding from "./internal/forbidding/forbidding.ts"
import * as CommandLine from "./internal/line/commandLine.ts"
import * as Lines from "./internal/world/lines.ts"
import * as Pattern from "./internal/world/pattern.ts"
import * as Suggest from "./internal/world/suggest.ts"

export * from "@assent/ai/ApprovalMatcher"

// =============================================================================
// Options
// =============================================================================

/**
 * How command lines are read. `folder` is where the program's tool runs them, an absolute path with `/`: what lies below
 * it is covered by that name, too. It is no part of the matcher's description.
 *
 * @category options
 * @since 0.1.0
 */
export interface ShellOptions extends ApprovalMatcher.ShellOptions {
  readonly folder?: string | undefined
}

/**
 * What a program gives again when a matcher is made anew, and the `folder` of {@link ShellOptions}.
 *
 * @category options
 * @since 0.1.0
 */
export interface ShellBehaviors extends ApprovalMatcher.Behaviors {
  readonly folder?: string | undefined
}

// =============================================================================
// Constructors
// =============================================================================

/**
 * Covers the calls whose parameter `param` is a command line of nothing but commands that one of the patterns covers.
 *
 * **The line** is one for `bash -c` or `sh -c`. It may join commands by `&&`, `||`, `;`, `|` and newlines, quote words,
 * and end a command in `2>&1`, `>&2` or a redirect to or from `/dev/null`; every command must be covered. Anything else
 * is not covered, because something else would happen or a value is not known: other redirects, `&`, `|&`, `$`,
 * backticks, variables before a command, here-documents, braces, `~` at the start of a word, `!` except in single quotes,
 * comments, `\` before a newline, keywords, functions, groups and subshells, characters that cannot be seen, letters
 * outside of ASCII except in quotes, more than 16,384 UTF-16 units. A real parser and a strict reader must agree on every
 * word.
 *
 * **A pattern without `*`** covers that command, or that line of several, of any program: `npm test`, `make check`.
 *
 * **A pattern with `*`** is one command, and `*` stands for words that are known: of well-known programs it is written
 * down which options they have in full spelling, what their values may be, and which other words they take. As the last
 * word it stands for any number of them, elsewhere for any characters of one that is no option. An unknown program,
 * subcommand, option, abbreviation or word is not covered, and `problems` and `validate` say it of a pattern. The program
 * is written out, as it is called: `git *` covers no `/usr/bin/git`.
 *
 * - What a pattern does not write out **only reads**: `git *` covers `git log` and no `git add`, which `git add *` does.
 *   `*` alone covers every program that is known to read, but for those that heed settings of the folder, as git does.
 * - **Paths** lie below the working folder: they begin with no `/` or `~`, have no `..`, and are none that are known to hold
 *   secrets, such as `.env` and `id_rsa`. A folder that the pattern writes out is allowed: `cat /srv/log/*`.
 * - **Scripts** of `sed` and `jq` are known as far as they only select what is printed.
 * - Beside commands that have one, **filters** after a pipe that open no file need no pattern (`head`, `wc -l`, `grep x`),
 *   nor does what opens no file at all (`true`, `echo`, `pwd`, `date`), nor `cd below &&` before programs that heed no
 *   settings.
 * - What runs other programs (`npm`, `make`, `python`, `xargs`, `sh`) is never known: each line is written out, or the
 *   program is **trusted**. `trust: ["python"]` lets a `*` in patterns of python stand for any words but those that are
 *   known to make a program run another, and the sentence says so.
 *
 * What is known is proved on Linux, against the versions that stand beside it; **macOS and Windows are not proved**. It
 * is known of the words alone: links lead out of the folder, `grep -r` reads every file, and git runs what settings and
 * attributes of the repository name, so allow it in repositories that you trust.
 *
 * What stands beside the command line, such as `cwd` or `env`, can change what it does: a call with further parameters
 * is not covered unless `others` names them.
 *
 * @example
 * import { ApprovalMatcher } from "@assent/shell"
 *
 * const matcher = ApprovalMatcher.shell(["*", "git *", "npm test"], { param: "command" })
 *
 * matcher.covers({ command: "git log --oneline 2>/dev/null | head -n 5" }) // => true
 * matcher.covers({ command: "grep -rn TODO src && npm test" }) // => true
 * matcher.covers({ command: "git log --output=/tmp/x" }) // => false
 * matcher.covers({ command: "git add src" }) // => false
 * matcher.covers({ command: "cat ../.ssh/id_rsa" }) // => false
 * matcher.covers({ command: "git log $(rm -rf ~)" }) // => false
 * matcher.covers({ command: "git status", cwd: "/tmp/untrusted" }) // => false
 *
 * const trusting = ApprovalMatcher.shell(["python *"], { param: "command", trust: ["python"] })
 *
 * ApprovalMatcher.toSentence(trusting, "Bash") // => "any call of Bash whose command matches `python *`, where `python` may get any arguments"
 *
 * @category constructors
 * @since 0.1.0
 */
export const shell = (
  allowed: ReadonlyArray<string>,
  options: ShellOptions
): ApprovalMatcher.ApprovalMatcher => {
  const written = sorted(allowed)
  const trust = sorted(options.trust ?? [])
  const isTooMany = written.length > maxPatterns
  const made = (isTooMany ? [] : written).map((source) => ({ source, ...Pattern.make(source, new Set(trust)) }))
  const patterns = made.flatMap(({ pattern, problem }) =>
    pattern === undefined || problem !== undefined ? [] : [pattern]
  )
  const problems = [
    ...(written.length === 0 ? ["It allows no command, so it covers nothing."] : []),
    ...(isTooMany
      ? [`It has more than ${maxPatterns.toLocaleString("en")} patterns, so it covers nothing.`]
      : []),
    ...trust.filter((program) => !patterns.some((pattern) => isTrusted(pattern, program))).map((program) =>
      `It trusts ${JSON.stringify(program)}, but no pattern with \`*\` is about it.`
    )
  ]
  const problemOf = ({ problem, source }: typeof made[number]): ReadonlyArray<string> =>
    problem === undefined ? [] : [`The pattern ${JSON.stringify(source)} covers nothing: ${problem}`]
  const folder = Lines.folderOf(options.folder)
  return ApprovalMatcher.makeParam({
    description: {
      _tag: "Shell",
      allowed: written,
      param: options.param,
      ...(options.others === undefined ? {} : { others: options.others }),
      ...(options.same === undefined ? {} : { same: options.same }),
      ...(trust.length === 0 ? {} : { trust })
    },
    problems: [...made.flatMap(problemOf), ...problems],
    problemsToForbid: [...made.filter(({ forbids }) => !forbids).flatMap(problemOf), ...problems],
    cautions: made.flatMap(({ pattern, problem, source }) =>
      pattern === undefined || problem !== undefined ? [] : Pattern.cautionsOf(source, pattern)
    ),
    defaultOthers: [],
    covers: (line) => {
      const pieces = CommandLine.readWithWildcards(line)
      return pieces !== undefined && Lines.covers(patterns, pieces, folder)
    },
    mayCover: isTooMany ? () => true : Forbidding.mayCover(written)
  })
}

/** More of them would take seconds to read, each time that a stored matcher is (law L17). */
const maxPatterns = 1_000

const sorted = (texts: ReadonlyArray<string>): ReadonlyArray<string> => [...new Set(texts)].toSorted()

const isTrusted = (pattern: Pattern.Pattern, program: string): boolean =>
  pattern._tag === "Trusted" && pattern.written.words[0] === program

/**
 * Makes a matcher anew from what was stored, as `@assent/ai` does, one of command lines included.
 *
 * @example
 * import { ApprovalMatcher } from "@assent/shell"
 * import { Schema } from "effect"
 *
 * const stored = JSON.stringify(ApprovalMatcher.shell(["git *"], { param: "command" }).description)
 * const description = Schema.decodeUnknownSync(ApprovalMatcher.Description)(JSON.parse(stored))
 *
 * const matcher = ApprovalMatcher.fromDescription(description)
 *
 * matcher.covers({ command: "git log" }) // => true
 * matcher.covers({ command: "git log; rm -r ." }) // => false
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromDescription = (
  description: ApprovalMatcher.Description,
  behaviors?: ShellBehaviors
): ApprovalMatcher.ApprovalMatcher => ApprovalMatcher.fromDescription(description, withShell(behaviors))

/**
 * What may be offered to a person who approves a call for more than this once, as `@assent/ai` says, with what is known of
 * its command line.
 *
 * @example
 * import { ApprovalMatcher } from "@assent/shell"
 *
 * const call = { toolName: "Bash", params: { command: "git log --oneline", background: false } }
 *
 * ApprovalMatcher.suggest(call).map(({ sentence }) => sentence)[1] // => "commands that match `git log *`, with background=false as here"
 *
 * @category combinators
 * @since 0.1.0
 */
export const suggest = (
  call: Parameters<typeof ApprovalMatcher.suggest>[0],
  behaviors?: ShellBehaviors,
  besides?: ReadonlyArray<ApprovalMatcher.ApprovalMatcher>
): ReadonlyArray<ApprovalMatcher.Suggestion> => ApprovalMatcher.suggest(call, withShell(behaviors), besides)

const withShell = (behaviors: ShellBehaviors = {}): ApprovalMatcher.Behaviors => ({
  shell: (allowed, options) => shell(allowed, { ...options, folder: behaviors.folder }),
  suggest: (line, options) => {
    const suggestion = Suggest.suggest(line, Lines.folderOf(behaviors.folder))
    if (suggestion === undefined) return undefined
    const { heeds, patterns, says } = suggestion
    return {
      matcher: shell(patterns, { ...options, folder: behaviors.folder }),
      note: [...says, ...heeds.map((settings) => `reads ${settings}`)].join("; ")
    }
  },
  ...behaviors
})

// =============================================================================
// Layers
// =============================================================================

/**
 * Gives what stored matchers need besides their data, {@link shell} included.
 *
 * @example
 * import { ApprovalMatcher } from "@assent/shell"
 * import { Effect } from "effect"
 *
 * const { description } = ApprovalMatcher.shell(["git *"], { param: "command" })
 *
 * const program = Effect.map(ApprovalMatcher.Behaviors, (behaviors) =>
 *   ApprovalMatcher.fromDescription(description, behaviors).covers({ command: "git status" })
 * )
 *
 * await Effect.runPromise(Effect.provide(program, ApprovalMatcher.layer())) // => true
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (behaviors?: ShellBehaviors): Layer.Layer<never> => ApprovalMatcher.layer(withShell(behaviors))
