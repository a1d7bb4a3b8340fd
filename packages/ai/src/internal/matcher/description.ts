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

/** How much of a text is shown, and how many of a list. */
export interface Limits {
  readonly length: number
  readonly count: number
}

const short: Limits = { length: 200, count: 10 }

/** For whoever is to choose by it: what is covered is told to the last pattern. */
export const whole: Limits = { length: Infinity, count: Infinity }

/** What a person reads, escaped and bounded (law L15). */
export const toSentence = (description: Description, toolName: string, limits: Limits = short): string => {
  const any = `any call of ${Text.escape(toolName, { maxLength: 128 })}`
  const name = (text: string): string => Text.escape(text, { maxLength: limits.length })
  switch (description._tag) {
    case "Exact":
      return `only the call ${describeExact(toolName, description.params)}`
    case "Tool":
      return any
    case "Key":
      return `${any} whose ${show(description.name ?? "key")} is ${show(description.value)}`
    case "Path":
      return `${any} whose ${name(description.param)} matches ${list(description.globs, "or", limits)}` +
        (description.links === undefined ? "" : " and has no symbolic link") +
        showSame(description.same, limits) +
        (description.others === undefined ? "" : showOthers(description.others, limits))
    case "Shell":
      return `${any} whose ${name(description.param)} ${matchesLine(description.allowed, limits)}` +
        (description.trust === undefined ? "" : showTrust(description.trust, limits)) +
        showSame(description.same, limits) +
        (description.others === undefined ? "" : showOthers(description.others, limits))
  }
}

/** The same for descriptions that mean the same; `undefined` where the data does not say all. */
export const spelling = (description: Description): string | undefined =>
  description._tag === "Key" && description.name === undefined
    ? undefined
    : Result.getOrElse(Canonical.canonicalize(description), () => JSON.stringify(description))

/** A glob or pattern as it is shown. */
export const quote = (text: string, { length }: Limits = short): string => {
  const shown = Text.escape(text.includes("`") ? JSON.stringify(text) : text, { maxLength: length })
  return text.includes("`") ? shown : `\`${shown}\``
}

const show = (text: string): string => Text.escape(text, { maxLength: short.length })

const list = (texts: ReadonlyArray<string>, joining: "and" | "or", limits: Limits): string => {
  const shown = texts.slice(0, limits.count).map((text) => quote(text, limits)).join(` ${joining} `)
  return texts.length > limits.count ? `${shown} ${joining} ${texts.length - limits.count} more` : shown
}

/** `*` alone stands for every program that is known to only read, and must not look as if it stood for any command. */
const matchesLine = (allowed: ReadonlyArray<string>, limits: Limits): string => {
  const rest = allowed.filter((pattern) => pattern !== "*")
  if (rest.length === allowed.length) return `matches ${list(allowed, "or", limits)}`
  return rest.length === 0 ? "only reads" : `only reads or matches ${list(rest, "or", limits)}`
}

const showTrust = (programs: ReadonlyArray<string>, limits: Limits): string =>
  programs.length === 0
    ? ""
    : `, where ${
      list(programs.map((program) => limits === whole ? program : program.slice(0, 30)), "and", limits)
    } may` +
      " get any arguments"

const showSame = (same: Same = {}, { count, length }: Limits): string => {
  const shown = Object.entries(same).slice(0, count).map(([name, value]) =>
    Text.escape(Text.parameter(name, value), { maxLength: length })
  )
  const more = Object.keys(same).length - shown.length
  return shown.length === 0 ? "" : `, with ${shown.join(", ")}${more === 0 ? "" : ` and ${more} more`}`
}

/** Only what is not the default is worth a word. */
const showOthers = (others: Others, { count, length }: Limits): string => {
  if (others === "any") return ", with any other parameters"
  if (others.length === 0) return ", without other parameters"
  const shown = others.slice(0, count).map((name) => Text.escape(name, { maxLength: length })).join(", ")
  return `, with any ${others.length > count ? `${shown} and ${others.length - count} more` : shown}`
}

const describeExact = (toolName: string, params: string): string =>
  Approval.describe(toolName, Option.match(decodeJson(params), { onNone: () => params, onSome: identity }))

const decodeJson = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Json))
