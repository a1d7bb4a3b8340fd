/**
 * What is known of a command line: why it is not covered, and what may be offered to a person who is asked about it.
 *
 * @since 0.1.0
 */
import * as ApprovalMatcher from "./ApprovalMatcher.ts"
import * as Environment from "./internal/environment.ts"
import * as CommandLine from "./internal/line/commandLine.ts"
import { star } from "./internal/line/plain.ts"
import * as Lines from "./internal/world/lines.ts"
import * as Pattern from "./internal/world/pattern.ts"
import * as Refusals from "./internal/world/refusal.ts"
import * as Suggest from "./internal/world/suggest.ts"

// =============================================================================
// Models
// =============================================================================

/**
 * Why a command of a line is not covered. `word` is the word that is not known, as the program would get it, and `kind`
 * what it was to be:
 *
 * - `line`: the line is none of plain commands, or too long;
 * - `pattern`: no pattern speaks of the command;
 * - `program`, `subcommand`, `option`, `value`, `operand`: the word is not known as such;
 * - `missing`: something else must stand in the command, too;
 * - `writes`: the command changes files, and the pattern does not write it out;
 * - `settings`: the command heeds settings of a folder that may be anybody's;
 * - `wildcard`: the shell would put other words in its place.
 *
 * @category models
 * @since 0.1.0
 */
export interface Refusal {
  readonly kind: Refusals.Kind
  readonly word: string
  /** In words, without a full stop: `--output=/x: not a known option of git log`. */
  readonly message: string
}

/**
 * Whether a line is covered, and if not, each command that is not, with why. `heeds` are the settings that its commands
 * read, which may name programs that they run.
 *
 * @category models
 * @since 0.1.0
 */
export interface Explanation {
  readonly covered: boolean
  readonly refusals: ReadonlyArray<Refusal>
  readonly heeds: ReadonlyArray<string>
}

/**
 * Patterns that cover a line; what they stand for, in words (nothing where they are written out); and the settings that
 * their programs read.
 *
 * @category models
 * @since 0.1.0
 */
export interface SuggestedPatterns {
  readonly patterns: ReadonlyArray<string>
  readonly says: ReadonlyArray<string>
  readonly heeds: ReadonlyArray<string>
}

/**
 * As in `ApprovalMatcher.shell`: the programs that are trusted, and where the line runs.
 *
 * @category options
 * @since 0.1.0
 */
export interface Options {
  readonly trust?: ReadonlyArray<string> | undefined
  readonly folder?: string | undefined
}

// =============================================================================
// Functions
// =============================================================================

/**
 * Says which word of a line is not covered by the patterns, and why; for whoever shows the question to a person.
 *
 * @example
 * import { Shell } from "@assent/shell"
 *
 * Shell.explain("git log --output=/x | head", ["git *"]).refusals.map(({ message }) => message) // => ["--output=/x: not a known option of git log"]
 * Shell.explain("git add .", ["git *"]).refusals.map(({ message }) => message) // => ["git add: it changes files; the pattern `git add *` allows it"]
 * Shell.explain("git status && ls", ["*", "git *"]) // => { covered: true, refusals: [], heeds: ["git's settings"] }
 *
 * @category functions
 * @since 0.1.0
 */
export const explain = (line: string, patterns: ReadonlyArray<string>, options?: Options): Explanation => {
  const pieces = CommandLine.readWithWildcards(line)
  if (pieces === undefined) {
    return { covered: false, refusals: [refusal(Refusals.make("line", shorten(line), unreadable))], heeds: [] }
  }
  const trust = new Set(options?.trust)
  const made = patterns.flatMap((source) => {
    const { pattern, problem } = Pattern.make(source, trust)
    return pattern === undefined || problem !== undefined ? [] : [pattern]
  })
  const verdicts = Lines.look(made, pieces, Lines.folderOf(options?.folder)).map(({ verdict }) => verdict)
  const refusals = verdicts.flatMap((verdict) => Refusals.isRefusal(verdict) ? [refusal(verdict)] : [])
  const heeds = verdicts.flatMap((verdict) => Refusals.isRefusal(verdict) ? [] : verdict.checked?.command.heeds ?? [])
  return { covered: refusals.length === 0, refusals, heeds: [...new Set(heeds)] }
}

/**
 * What may be offered to a person who wants to approve more than this one call, from the narrowest to the widest. Each
 * covers the call, and says in one sentence all that it covers besides. An `ApprovalRequest` is such a call.
 *
 * @example
 * import { Shell } from "@assent/shell"
 *
 * const call = { toolName: "Bash", params: { command: "git log --oneline", background: false } }
 *
 * Shell.suggest(call).map(({ sentence }) => sentence) // => ["only this call: git log --oneline, background=false", "commands that match `git log *`, with background=false as here", "every call of Bash, whatever it runs"]
 * Shell.suggest(call)[1]?.note // => "git log and its options; reads git's settings"
 *
 * @category functions
 * @since 0.1.0
 */
export const suggest: (
  call: Parameters<typeof ApprovalMatcher.suggest>[0],
  behaviors?: ApprovalMatcher.ShellBehaviors
) => ReadonlyArray<ApprovalMatcher.Suggestion> = ApprovalMatcher.suggest

/**
 * The patterns that {@link suggest} offers for a line: `name *` for each of its commands, if every word of them is
 * known, and else the line as it stands. `undefined` for a line that cannot be read.
 *
 * @example
 * import { Shell } from "@assent/shell"
 *
 * Shell.suggestPatterns("ls -la src | head -5") // => { patterns: ["ls *"], says: ["ls and its options"], heeds: [] }
 * Shell.suggestPatterns("git add . && npm test")?.patterns // => ["git add . && npm test"]
 * Shell.suggestPatterns("echo $HOME") // => undefined
 *
 * @category functions
 * @since 0.1.0
 */
export const suggestPatterns = (line: string, options?: Pick<Options, "folder">): SuggestedPatterns | undefined =>
  Suggest.suggest(line, Lines.folderOf(options?.folder))

// =============================================================================
// Environment
// =============================================================================

/**
 * Variables for whoever runs the lines: with these, the settings of a folder name fewer programs that git and ripgrep
 * run. They close its file watcher, hooks, programs for signatures, pager, fetching of missing objects, and repositories
 * that were committed as plain files. Filters, `textconv` and external diffs stay open, because git has no value for
 * none of them: the README has the table.
 *
 * What they cost: git runs no hooks, signs nothing, packs nothing by itself, and a partial clone fetches nothing. Whoever
 * needs one of these leaves its variables out; settings in `GIT_CONFIG_COUNT` of one's own have to be put together.
 *
 * @example
 * import { Shell } from "@assent/shell"
 * import { ChildProcess } from "effect/process"
 *
 * const run = (line: string) =>
 *   ChildProcess.make("bash", ["-c", line], { env: Shell.environment, extendEnv: true })
 *
 * run("git status")._tag // => "StandardCommand"
 * Shell.environment["GIT_PAGER"] // => "cat"
 *
 * @category environment
 * @since 0.1.0
 */
export const environment: Readonly<Record<string, string>> = Environment.environment

// =============================================================================
// Internals
// =============================================================================

const unreadable = "only plain commands, quoted words, pipes, `&&`, `||` and `;` can be checked"

const shorten = (line: string): string => line.length > 80 ? `${line.slice(0, 79)}…` : line

const refusal = (refused: Refusals.Refusal): Refusal => ({
  kind: refused.kind,
  word: refused.word.replaceAll(star, "*"),
  message: Refusals.toSentence(refused)
})
