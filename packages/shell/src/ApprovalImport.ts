/**
 * Rules of other products, read in as a configuration of ours: the `permissions` of Claude Code's settings, and the
 * approvals in VS Code's.
 *
 * **Never wider without a word.** What allows there may allow less here, and every difference is told: what is narrower,
 * what is wider, and what has no rule of ours and was left out. What cannot be told from other calls and was forbidden, or
 * asked about, makes its tool ask about every call.
 *
 * Every tool that the program names is spoken of: what no rule allows is asked about, also where the tool itself asks for
 * nothing.
 *
 * The result is what a program makes a policy of, or writes to a file to go on with. A rule that forbids keeps the words
 * of the rule it was as its `reason`. The rules themselves come from files: escape them before a person sees them.
 *
 * @since 0.1.0
 */
import * as ApprovalMatcher from "./ApprovalMatcher.ts"
import * as ClaudeCode from "./internal/import/claudeCode.ts"
import type * as Imports from "./internal/import/imported.ts"
import { toTools } from "./internal/import/imported.ts"
import * as VsCode from "./internal/import/vsCode.ts"

// =============================================================================
// Models
// =============================================================================

/**
 * How a rule of ours differs from the one that was written. `rule` is that one, or the setting.
 *
 * - `narrower`: we ask, or forbid, where the other product would not.
 * - `wider`: we ask where it would forbid, or do not see what it would.
 * - `left out`: there is no rule of ours for it. What it would allow is asked about; what it would forbid is no tool's.
 *
 * @category models
 * @since 0.1.0
 */
export type Difference = Imports.Difference

/**
 * A configuration, for `ApprovalConfig.make` or `ApprovalPolicy.fromConfig`, and every difference from what was read.
 *
 * @category models
 * @since 0.1.0
 */
export type Imported = Imports.Imported

/**
 * A tool of the program, and its parameter with the command line or the path: `command` and `path` if it is not said.
 *
 * @category models
 * @since 0.1.0
 */
export type ToolOption = Imports.ToolOption

/**
 * One tool or several. A name alone is a tool whose parameter is called `command`, or `path`.
 *
 * @category models
 * @since 0.1.0
 */
export type ToolOptions = Imports.ToolOptions

// =============================================================================
// Constructors
// =============================================================================

/**
 * Reads the settings of Claude Code: a parsed `settings.json`, of which `permissions` is read. Rules of several files,
 * which there count together, go into one before.
 *
 * `tools` says which tools of yours its tools are: `Bash`, `Read`, `Edit`, `Write`, `Grep`, `Glob`, `WebFetch` and so on.
 * One of yours may be several of theirs, and is then allowed what each of them is.
 * Tools of MCP servers keep their names: `mcp__github__get_issue` is `github__get_issue`, of a server that
 * `McpApproval.guard` was given as `github`.
 *
 * Where a rule with `*` is about a program of `trust`, the `*` stands for any words, as it does there: `trust: ["npm"]`
 * keeps `Bash(npm run test:*)` whole. See `ApprovalMatcher.shell`.
 *
 * `home` is what `~` means. With `links: "refused"`, rules of paths refuse symbolic links, and want `isLink` among the
 * `Behaviors` of matchers.
 *
 * Rules with a `/` at the start are read as those of a project's settings.
 *
 * @example
 * import { ApprovalImport } from "@assent/shell"
 *
 * const { config, differences } = ApprovalImport.fromClaudeCode(
 *   {
 *     permissions: {
 *       allow: ["Bash(git status:*)", "Edit(src/**)", "mcp__github__get_issue"],
 *       deny: ["Bash(rm *)", "WebFetch"]
 *     }
 *   },
 *   { tools: { Bash: "bash", Edit: ["edit_file", "write_file"], WebFetch: "fetch" } }
 * )
 *
 * Object.keys(config.tools) // => ["bash", "edit_file", "write_file", "fetch", "github__get_issue"]
 * config.tools["github__get_issue"] // => "none"
 * config.tools["edit_file"] // => { rules: [{ path: "src/**", approval: "none" }], approval: "required" }
 * config.tools["fetch"] // => "deny"
 *
 * differences.filter(({ effect }) => effect === "left out") // => []
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromClaudeCode = (settings: unknown, options: {
  readonly tools: { readonly [theirs: string]: ToolOptions }
  readonly home?: string | undefined
  readonly links?: "refused" | undefined
  readonly trust?: ReadonlyArray<string> | undefined
}): Imported =>
  ClaudeCode.read(settings, {
    tools: (theirs) => Object.hasOwn(options.tools, theirs) ? toTools(options.tools[theirs]) : [],
    theirs: Object.keys(options.tools),
    home: options.home,
    links: options.links,
    judge: { problemOf, trust: options.trust ?? [] }
  })

/**
 * Reads the settings of VS Code: a parsed `settings.json`, without its comments, of which
 * `chat.tools.terminal.autoApprove` and `chat.tools.edits.autoApprove` are read. What VS Code has by default is not.
 *
 * `terminal` and `edits` say which tools of yours run command lines, and write files; `links` and `trust` are those of
 * {@link fromClaudeCode}.
 *
 * @example
 * import { ApprovalImport } from "@assent/shell"
 *
 * const { config, differences } = ApprovalImport.fromVsCode(
 *   {
 *     "chat.tools.terminal.autoApprove": { "git status": true, "/^git (diff|show\\b.*)$/": true, "rm": false },
 *     "chat.tools.edits.autoApprove": { "**\/*.md": true, "**\/.env": false }
 *   },
 *   { terminal: "bash", edits: "write_file" }
 * )
 *
 * Object.keys(config.tools) // => ["bash", "write_file"]
 *
 * differences.some(({ effect, rule }) => effect === "left out" && rule === "rm") // => false
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromVsCode = (settings: unknown, options: {
  readonly terminal?: ToolOptions | undefined
  readonly edits?: ToolOptions | undefined
  readonly links?: "refused" | undefined
  readonly trust?: ReadonlyArray<string> | undefined
}): Imported =>
  VsCode.read(settings, {
    terminal: toTools(options.terminal),
    edits: toTools(options.edits),
    links: options.links,
    judge: { problemOf, trust: options.trust ?? [] },
    problemOfGlob
  })

// =============================================================================
// Internals
// =============================================================================

const problemOf = (pattern: string, trust?: string): string | undefined =>
  sentences(ApprovalMatcher.shell([pattern], { param: "command", ...(trust === undefined ? {} : { trust: [trust] }) }))

const problemOfGlob = (glob: string): string | undefined => sentences(ApprovalMatcher.path([glob], { param: "path" }))

const sentences = ({ problems }: ApprovalMatcher.ApprovalMatcher): string | undefined =>
  problems.length === 0 ? undefined : problems.join(" ")
