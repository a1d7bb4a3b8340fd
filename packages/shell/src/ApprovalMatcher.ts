/**
 * `ApprovalMatcher` of `@assent/ai`, with {@link shell}: which command lines does one answer, or one rule of a
 * configuration, cover?
 *
 * @since 0.1.0
 */
import * as ApprovalMatcher from "@assent/ai/ApprovalMatcher"
import type * as Layer from "effect/Layer"
import { mayMatch } from "./internal/forbidding/mayMatch.ts"
import * as CommandLine from "./internal/line/commandLine.ts"
import * as Pattern from "./internal/line/pattern.ts"
import { matches } from "./internal/world/matches.ts"

export * from "@assent/ai/ApprovalMatcher"

// =============================================================================
// Constructors
// =============================================================================

/**
 * Covers the calls whose parameter `param` is a command line of nothing but commands that one of the patterns matches.
 *
 * **The line** is one for `bash -c` or `sh -c`. It may join commands by `&&`, `||`, `;`, `|` and newlines, quote words,
 * and end a command in `2>&1`, `>&2` or a redirect to or from `/dev/null`; every command must be covered. Anything else
 * is not covered, because something else would happen or a value is not known: other redirects, `&`, `|&`, `$`,
 * backticks, variables before a command, here-documents, wildcards, braces, `~` at the start of a word, `!` except in
 * single quotes, comments, `\` before a newline, keywords, functions, groups and subshells, characters that cannot be
 * seen, letters outside of ASCII except in quotes, more than 16,384 UTF-16 units. A real parser and a strict reader must
 * agree on every word.
 *
 * **A pattern** is one command, matched word by word, without quotes and case-sensitively. `*` as its last word stands
 * for any further words, or none: `git *` covers `git` and `git log -n 3`. Elsewhere it stands for any characters of one
 * word that is no option: `npm run test:*`. The program is written out, as it is called: `git *` covers no
 * `/usr/bin/git`. A pattern that is no plain command covers nothing, and `problems` and `validate` say so.
 *
 * **What `*` does not stand for** are arguments that are known to make a program run another: `git -c …`,
 * `git config …`, `git rebase -x …`, `--upload-pack`, `find -exec`, `tar --to-command`. They are covered where the
 * pattern writes them out, as `git config *` does. That list is no proof: `git *` trusts git with any other argument, and
 * with the aliases, hooks and configuration it finds; so prefer `git status *`. A pattern like `bash *`, `sed *`,
 * `xargs *` or `npm run *` covers whatever they run, and `cd *` changes where the rest of the line runs.
 *
 * What stands beside the command line, such as `cwd` or `env`, can change what it does: a call with further parameters
 * is not covered unless `others` names them.
 *
 * @example
 * import { ApprovalMatcher } from "@assent/shell"
 *
 * const matcher = ApprovalMatcher.shell(["git *", "head -n *"], { param: "command" })
 *
 * matcher.covers({ command: "git status" }) // => true
 * matcher.covers({ command: "git log --oneline 2>/dev/null | head -n 5" }) // => true
 * matcher.covers({ command: "git status && rm -rf ~" }) // => false
 * matcher.covers({ command: "git log $(rm -rf ~)" }) // => false
 * matcher.covers({ command: "GIT_PAGER='rm -rf ~' git log" }) // => false
 * matcher.covers({ command: "git status", cwd: "/tmp/untrusted" }) // => false
 *
 * ApprovalMatcher.toSentence(matcher, "Bash") // => "any call of Bash whose command matches `git *` or `head -n *`"
 *
 * @category constructors
 * @since 0.1.0
 */
export const shell = (
  allowed: ReadonlyArray<string>,
  options: ApprovalMatcher.ParamOptions
): ApprovalMatcher.ApprovalMatcher => {
  const written = [...new Set(allowed)].toSorted()
  const patterns: Array<Pattern.Pattern> = []
  const problems: Array<string> = written.length === 0 ? ["It allows no command, so it covers nothing."] : []
  for (const source of written) {
    const pattern = Pattern.make(source)
    if (typeof pattern !== "string") patterns.push(pattern)
    else problems.push(`The pattern ${JSON.stringify(source)} covers nothing: ${pattern}`)
  }
  return ApprovalMatcher.makeParam({
    description: {
      _tag: "Shell",
      allowed: written,
      param: options.param,
      ...(options.others === undefined ? {} : { others: options.others })
    },
    problems,
    defaultOthers: [],
    covers: (line) =>
      CommandLine.read(line)?.every(({ words }) => patterns.some((pattern) => matches(pattern, words))) ??
        false,
    // One command of it is enough, and a line that cannot be read may run any.
    mayCover: (line) =>
      CommandLine.read(line)?.some(({ words }) => patterns.some((pattern) => mayMatch(pattern, words))) ?? true
  })
}

/**
 * Makes a matcher anew from what was stored, as `@assent/ai` does, one of command lines included.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromDescription = (
  description: ApprovalMatcher.Description,
  behaviors?: ApprovalMatcher.Behaviors
): ApprovalMatcher.ApprovalMatcher => ApprovalMatcher.fromDescription(description, { shell, ...behaviors })

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
export const layer = (behaviors?: ApprovalMatcher.Behaviors): Layer.Layer<never> =>
  ApprovalMatcher.layer({ shell, ...behaviors })
