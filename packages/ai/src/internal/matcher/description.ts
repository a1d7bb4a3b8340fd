/**
 * What a matcher is as data, and that data in words.
 */
import { identity } from "effect/Function"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Approval from "../../Approval.ts"
import * as Canonical from "../seal/canonical.ts"
import * as Text from "../text.ts"

/**
 * What the parameters beside the one that is matched may be: `"any"`, or those of these names whatever they say, and
 * no others.
 *
 * @category models
 * @since 0.1.0
 */
export const Others = Schema.Union([Schema.Literal("any"), Schema.Array(Schema.String)])

/**
 * What the parameters beside the one that is matched may be.
 *
 * @category models
 * @since 0.1.0
 */
export type Others = typeof Others.Type

/**
 * Parameters that must stand beside the one that is matched, with just these values; what else may stand there, `others`
 * says.
 *
 * @category models
 * @since 0.1.0
 */
export const Same = Schema.Record(Schema.String, Schema.Json)

/**
 * Parameters that must stand beside the one that is matched.
 *
 * @category models
 * @since 0.1.0
 */
export type Same = typeof Same.Type

/**
 * The calls with just these parameters, as canonical JSON.
 *
 * @category models
 * @since 0.1.0
 */
export const Exact = Schema.TaggedStruct("Exact", { params: Schema.String })

/**
 * Every call of the tool.
 *
 * @category models
 * @since 0.1.0
 */
export const Tool = Schema.TaggedStruct("Tool", {})

/**
 * The calls for which the function called `name` computes `value`, as canonical JSON. Without a name the function
 * cannot be found again, so that the matcher cannot be made anew.
 *
 * @category models
 * @since 0.1.0
 */
export const Key = Schema.TaggedStruct("Key", { name: Schema.optionalKey(Schema.String), value: Schema.String })

/**
 * The calls whose parameter `param` is a path that one of the globs matches. `links: "refused"` means that the file
 * system is looked at and no path through a symbolic link is covered. Default of `others`: `"any"`.
 *
 * @category models
 * @since 0.1.0
 */
export const Path = Schema.TaggedStruct("Path", {
  globs: Schema.Array(Schema.String),
  param: Schema.String,
  others: Schema.optionalKey(Others),
  same: Schema.optionalKey(Same),
  links: Schema.optionalKey(Schema.Literal("refused"))
})

/**
 * The calls whose parameter `param` is a command line of nothing but commands that one of the patterns matches.
 * Default of `others`: none. The programs of `trust` may get any arguments that a `*` stands for; of all others these
 * are the words that are known.
 *
 * @category models
 * @since 0.1.0
 */
export const Shell = Schema.TaggedStruct("Shell", {
  allowed: Schema.Array(Schema.String),
  param: Schema.String,
  others: Schema.optionalKey(Others),
  same: Schema.optionalKey(Same),
  trust: Schema.optionalKey(Schema.Array(Schema.String))
})

/**
 * A matcher as data.
 *
 * @category models
 * @since 0.1.0
 */
export const Description = Schema.Union([Exact, Tool, Key, Path, Shell])

/**
 * A matcher as data.
 *
 * @category models
 * @since 0.1.0
 */
export type Description = typeof Description.Type

/** What a person reads, escaped and bounded (law L15). */
export const toSentence = (description: Description, toolName: string): string => {
  const any = `any call of ${Text.escape(toolName, { maxLength: 128 })}`
  switch (description._tag) {
    case "Exact":
      return `only the call ${describeExact(toolName, description.params)}`
    case "Tool":
      return any
    case "Key":
      return `${any} whose ${show(description.name ?? "key")} is ${show(description.value)}`
    case "Path":
      return `${any} whose ${show(description.param)} matches ${list(description.globs)}` +
        (description.links === undefined ? "" : " and has no symbolic link") +
        showSame(description.same) +
        (description.others === undefined ? "" : showOthers(description.others))
    case "Shell":
      return `${any} whose ${show(description.param)} ${matchesLine(description.allowed)}` +
        (description.trust === undefined ? "" : showTrust(description.trust)) +
        showSame(description.same) +
        (description.others === undefined ? "" : showOthers(description.others))
  }
}

/** The same for descriptions that mean the same; `undefined` where the data does not say all. */
export const spelling = (description: Description): string | undefined =>
  description._tag === "Key" && description.name === undefined
    ? undefined
    : Result.getOrElse(Canonical.canonicalize(description), () => JSON.stringify(description))

/** A glob or pattern as it is shown. */
export const quote = (text: string): string => text.includes("`") ? show(JSON.stringify(text)) : `\`${show(text)}\``

const show = (text: string): string => Text.escape(text, { maxLength: 200 })

const list = (texts: ReadonlyArray<string>, joining: "and" | "or" = "or"): string => {
  const shown = texts.slice(0, 10).map(quote).join(` ${joining} `)
  return texts.length > 10 ? `${shown} ${joining} ${texts.length - 10} more` : shown
}

/** `*` alone stands for every program that is known to only read, and must not look as if it stood for any command. */
const matchesLine = (allowed: ReadonlyArray<string>): string => {
  const rest = allowed.filter((pattern) => pattern !== "*")
  if (rest.length === allowed.length) return `matches ${list(allowed)}`
  return rest.length === 0 ? "only reads" : `only reads or matches ${list(rest)}`
}

const showTrust = (programs: ReadonlyArray<string>): string =>
  programs.length === 0
    ? ""
    : `, where ${list(programs.map((program) => program.slice(0, 30)), "and")} may get any arguments`

const showSame = (same: Same = {}): string => {
  const shown = Object.entries(same).slice(0, 10).map(([name, value]) => show(Text.parameter(name, value)))
  const more = Object.keys(same).length - shown.length
  return shown.length === 0 ? "" : `, with ${shown.join(", ")}${more === 0 ? "" : ` and ${more} more`}`
}

/** Only what is not the default is worth a word. */
const showOthers = (others: Others): string => {
  if (others === "any") return ", with any other parameters"
  if (others.length === 0) return ", without other parameters"
  const shown = others.slice(0, 10).map(show).join(", ")
  return `, with any ${others.length > 10 ? `${shown} and ${others.length - 10} more` : shown}`
}

const describeExact = (toolName: string, params: string): string =>
  Approval.describe(toolName, Option.match(decodeJson(params), { onNone: () => params, onSome: identity }))

const decodeJson = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Json))
