/**
 * What a program's owner says about approval, in a file or an object: which tools ask, which never do, which are off.
 *
 * ```yaml
 * tools:
 *   send_notification: none          # never asked
 *   calculate_stats:
 *     approval: required             # always asked
 *   format_output: {}                # the tool's own needsApproval
 *   write_file:
 *     rules:
 *       - { path: "src/**", approval: none }
 *     approval: required             # every other path
 *   "mcp.github.*": once_per_session
 *   "*": deny
 * ```
 *
 * The map of tools may also be all there is. The words are one vocabulary for files, commands and functions alike:
 * `required` asks, `none` does not, `deny` forbids, `once_per_session` asks until it is approved once, `default` is what
 * the tool says itself. The names in `pre_approved: [search, "read_*"]` are the same as `none`; it is deprecated, and a
 * configuration that has it is read with a warning that says what to write instead.
 *
 * A tool is named as the model knows it: `mcp.github.*` are tools that a provider runs, `files__*` those of an MCP server that
 * `McpApproval.guard` was given as `files`. What a file forbids by another name is not forbidden; `ApprovalPolicy.lint`
 * finds names that no tool has.
 *
 * **Which rule decides.** An exact name before a glob, a longer glob before a shorter one, `*` last. `*` is the only
 * wildcard and stands for any characters; a glob is as long as it has other characters, and of globs as long as each
 * other the strictest decides. In one tool's `rules`, those that surely cover a call speak in place of its `approval`,
 * the strictest of them; one that may cover it for all that can be told, or that speaks of a parameter which the tool it
 * names does not have, can only make it stricter. So the order in which anything is written means nothing.
 *
 * Whatever is not known is an error, with its line, its path, what may stand there and what was probably meant: a
 * misspelt word must not loosen anything. `ApprovalPolicy.layerConfig` makes a policy of it.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import type * as PlatformError from "effect/PlatformError"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Deprecation from "./internal/config/deprecation.ts"
import type * as Lines from "./internal/config/lines.ts"
import { ApprovalConfig } from "./internal/config/model.ts"
import * as Names from "./internal/config/names.ts"
import * as Problems from "./internal/config/problem.ts"
import * as Read from "./internal/config/read.ts"
import * as Text from "./internal/config/text.ts"
import type { Input } from "./internal/config/written.ts"
import { definedFields } from "./internal/fields.ts"

// =============================================================================
// Models
// =============================================================================

export { Combine, Input, MatchInput, RuleInput, ToolInput, Tools, Value } from "./internal/config/written.ts"

export { ApprovalConfig, Entry, Rule } from "./internal/config/model.ts"

/**
 * What a text is written in.
 *
 * @category models
 * @since 0.1.0
 */
export type Format = Lines.Format

/**
 * How a text is read. `format` is that of the `file`'s name if it is not said: `.yaml`, `.yml`, `.json`, `.toml`.
 * `file` is the name that errors and explanations give; nothing is opened.
 *
 * `section` is where the configuration stands in a larger text: `"custom_tools"`, or a path of names.
 *
 * @category options
 * @since 0.1.0
 */
export interface ParseOptions {
  readonly format?: Format | undefined
  readonly file?: string | undefined
  readonly section?: string | ReadonlyArray<string> | undefined
}

// =============================================================================
// Errors
// =============================================================================

export { Problem } from "./internal/config/problem.ts"

/**
 * A configuration that cannot be meant as it is written, with everything that is wrong with it. The message has a line
 * for each problem: the file and line, the path, what may stand there, and what was probably meant.
 *
 * @category errors
 * @since 0.1.0
 */
export class ApprovalConfigError extends Schema.TaggedError<ApprovalConfigError>()("ApprovalConfigError", {
  file: Schema.optionalKey(Schema.String),
  problems: Schema.Array(Problems.Problem)
}) {
  override get message(): string {
    const shown = this.problems.slice(0, 20).map((problem) => Problems.toLine(this.file, problem))
    if (this.problems.length > shown.length) shown.push(`… and ${this.problems.length - shown.length} more`)
    return shown.join("\n")
  }
}

// =============================================================================
// Guards
// =============================================================================

/**
 * Whether a value is a configuration that was read.
 *
 * @example
 * import { ApprovalConfig } from "@assent/ai"
 *
 * ApprovalConfig.isApprovalConfig({ delete_file: "deny" }) // => false
 *
 * @category guards
 * @since 0.1.0
 */
export const isApprovalConfig = (u: unknown): u is ApprovalConfig =>
  Predicate.isObject(u) && u instanceof ApprovalConfig

// =============================================================================
// Constructors
// =============================================================================

/**
 * Reads a configuration from a text. Fails with an `ApprovalConfigError` that lists everything that is wrong with it.
 *
 * @example
 * import { ApprovalConfig } from "@assent/ai"
 * import { Effect } from "effect"
 *
 * const text = `
 * tools:
 *   send_notification: none
 *   delete_file:
 *     approval: requird
 * `
 * const error = await Effect.runPromise(
 *   Effect.flip(ApprovalConfig.parse(text, { file: "approval.yaml" }))
 * )
 *
 * error.problems[0]?.at // => "tools.delete_file.approval"
 * error.problems[0]?.line // => 5
 * error.problems[0]?.suggestion // => "required"
 *
 * @category constructors
 * @since 0.1.0
 */
export const parse = (text: string, options: ParseOptions): Effect.Effect<ApprovalConfig, ApprovalConfigError> => {
  const { file } = options
  const fail = (problem: { readonly path?: ReadonlyArray<Lines.Step> | undefined } & Text.Unreadable) =>
    Effect.fail(makeError(file, [Problems.make({ ...problem, path: problem.path ?? [] })]))
  const format = options.format ?? (file === undefined ? undefined : Text.formatOf(file))
  if (format === undefined) {
    return fail({ message: "Say what format it is, or give the name of its file.", allowed: ["json", "yaml", "toml"] })
  }
  return Effect.suspend(() => {
    const parsed = Text.read(text, format)
    if (Result.isFailure(parsed)) return fail(parsed.failure)
    const { lines, value } = parsed.success
    const section = options.section === undefined
      ? []
      : typeof options.section === "string"
      ? [options.section]
      : options.section
    let part = value
    for (const [index, key] of section.entries()) {
      const descriptor = Predicate.isObject(part) ? Object.getOwnPropertyDescriptor(part, key) : undefined
      if (descriptor === undefined) {
        const path = section.slice(0, index + 1)
        return fail({ path, ...noSection(part, key), line: lines.lineOf(path.slice(0, -1)) })
      }
      part = descriptor.value
    }
    return read(part, { file, section, lineOf: lines.lineOf }, format)
  })
}

/**
 * Reads a configuration from a file; its name says the format. Fails with an `ApprovalConfigError` that lists
 * everything that is wrong with it, also where there is no such file, or it cannot be read.
 *
 * @example
 * import { ApprovalConfig } from "@assent/ai"
 * import { Effect, FileSystem } from "effect"
 *
 * const Files = FileSystem.layerNoop({ readFileString: () => Effect.succeed(`delete_file = "deny"`) })
 *
 * const config = await Effect.runPromise(Effect.provide(ApprovalConfig.fromFile("approval.toml"), Files))
 *
 * config.entries.map(({ approval, name }) => [name, approval]) // => [["delete_file", "deny"]]
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromFile = (file: string, options?: Omit<ParseOptions, "file">): Effect.Effect<
  ApprovalConfig,
  ApprovalConfigError,
  FileSystem.FileSystem
> =>
  Effect.serviceOption(FileSystem.FileSystem).pipe(
    Effect.flatMap(Option.match({
      onNone: () => Effect.die(new Error(noFiles)),
      onSome: (fs) => Effect.mapError(fs.readFileString(file), ({ reason }) => unread(file, reason._tag))
    })),
    Effect.flatMap((text) => parse(text, { ...options, file }))
  )

// Who writes without types is not told by the compiler.
const noFiles =
  "Service not found: effect/FileSystem. ApprovalConfig.fromFile needs it: provide NodeServices.layer of" +
  " @effect/platform-node, or read the file yourself and call ApprovalConfig.parse(text)."

/**
 * Reads an object: a whole configuration, or its map of tools alone. Fails with an `ApprovalConfigError` that lists
 * everything that is wrong with it.
 *
 * @example
 * import { ApprovalConfig } from "@assent/ai"
 * import { Effect } from "effect"
 *
 * const config = await Effect.runPromise(ApprovalConfig.make({
 *   calculate_stats: { approval: "required" },
 *   send_notification: "none",
 *   format_output: {}
 * }))
 *
 * config.entries.map(({ approval }) => approval) // => ["required", "none", "default"]
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (input: Input): Effect.Effect<ApprovalConfig, ApprovalConfigError> => decodeUnknown(input)

/**
 * Reads a value of which nothing is known, such as what another parser made. Fails with an `ApprovalConfigError` that
 * lists everything that is wrong with it.
 *
 * @example
 * import { ApprovalConfig } from "@assent/ai"
 * import { Effect } from "effect"
 *
 * const error = await Effect.runPromise(Effect.flip(ApprovalConfig.decodeUnknown({ search: true })))
 *
 * error.problems[0]?.suggestion // => "required"
 *
 * @category constructors
 * @since 0.1.0
 */
export const decodeUnknown = (
  input: unknown,
  options?: { readonly file?: string | undefined }
): Effect.Effect<ApprovalConfig, ApprovalConfigError> => Effect.suspend(() => read(input, { file: options?.file }))

// =============================================================================
// Internals
// =============================================================================

const noSection = (around: unknown, name: string) => {
  const names = Predicate.isObject(around) && !Array.isArray(around) ? Object.keys(around) : []
  const message = names.length === 0
    ? "There is no such section, and nothing that could have one."
    : names.includes("tools")
    ? "There is no such section. The configuration stands here, beside it: read it without this name in `section`."
    : `There is no such section. Here are ${names.slice(0, 10).map((other) => JSON.stringify(other)).join(", ")}${
      names.length > 10 ? ` and ${names.length - 10} more` : ""
    }.`
  return { message, suggestion: Names.nearest(name, names) }
}

const unread = (file: string, tag: PlatformError.PlatformError["reason"]["_tag"]): ApprovalConfigError => {
  const format = Text.formatOf(file)
  const written = format === undefined
    ? ""
    : `, or write one: with \`${Text.emptyOf[format]}\` in it, every tool keeps its own gate`
  const message = tag === "NotFound"
    ? "There is no such file; a path that does not begin at the root begins where the program was started." +
      ` Give ApprovalConfig.fromFile the path of yours${written}.`
    : tag === "PermissionDenied"
    ? "The program may not read it. Let the user that it runs as read the file, or give ApprovalConfig.fromFile another."
    : `It cannot be read (${tag}). Give ApprovalConfig.fromFile the path of a text file.`
  return makeError(file, [Problems.make({ path: [], message })])
}

const makeError = (file: string | undefined, problems: ReadonlyArray<Problems.Problem>): ApprovalConfigError =>
  new ApprovalConfigError({ ...definedFields({ file }), problems })

const read = (
  value: unknown,
  origin: Read.Origin,
  format?: Format
): Effect.Effect<ApprovalConfig, ApprovalConfigError> =>
  Effect.fromResult(Read.read(value, origin)).pipe(
    Effect.mapError((problems) => makeError(origin.file, problems)),
    Effect.tap((config) => {
      const warning = Deprecation.warningOf(config, format)
      return warning === undefined ? Effect.void : Effect.logWarning(warning)
    })
  )
