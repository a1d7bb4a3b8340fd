/**
 * What a person is offered who approves a call for more than this once, and in which words. Each is told whole: where its
 * sentence would be too long to be read, it is not offered.
 */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Text from "../text.ts"
import type { Description, Same } from "./description.ts"
import type { ApprovalMatcher, ParamOptions, Suggestion } from "./model.ts"

type Offered = Omit<Suggestion, "sentence">

// =============================================================================
// What is offered
// =============================================================================

/** Makes matchers of a command line, and of a path. */
export interface Makers {
  readonly command: ((line: string, options: ParamOptions) => Offered | undefined) | undefined
  readonly path: (globs: ReadonlyArray<string>, options: ParamOptions) => Offered
}

const isCommandName = (name: string): boolean => /^(?:(?:shell|bash)_?)?(?:command|cmd)(?:_?line)?$/i.test(name)

const isFileName = (name: string): boolean => /(?:path|file)$/i.test(name)

const isFolderName = (name: string): boolean => /(?:dir|directory|folder)$/i.test(name)

/** What is said of a command, and changes nothing of what runs. */
const said: ReadonlySet<string> = new Set(["description"])

/** What is written into a file: a folder of which only one text may be written again is of no use to anybody. */
const written =
  /^(?:content|contents|text|(?:file|new|old)_?(?:content|contents|text|str|string)|replace|replacement|patch|diff|edits)$/i

/** What covers more than the call and less than the tool. */
export const narrow = (params: Schema.Json, makers: Makers): ReadonlyArray<Offered> => {
  if (typeof params !== "object" || params === null || Array.isArray(params)) return []
  const entries = Object.entries(params)
  const beside = (param: string, isFree: (name: string) => boolean): ParamOptions => {
    const rest = entries.filter(([name]) => name !== param)
    const same = rest.filter(([name]) => !isFree(name))
    return {
      param,
      others: rest.flatMap(([name]) => isFree(name) ? [name] : []),
      ...(same.length === 0 ? undefined : { same: Object.fromEntries(same) })
    }
  }
  for (const [param, line] of entries) {
    if (typeof line !== "string" || !isCommandName(param)) continue
    const offered = makers.command?.(line, beside(param, (name) => said.has(name)))
    if (offered !== undefined) return [offered]
  }
  for (const [param, path] of entries) {
    const folder = typeof path === "string" ? folderOf(param, path) : undefined
    if (folder === undefined) continue
    const isFree = (name: string): boolean => isFileName(param) && written.test(name)
    return [makers.path([`${folder}/**`], beside(param, isFree))]
  }
  return []
}

/** The folder that a path lies in; one at the top lies in none. What a glob reads in another way would say another thing. */
const folderOf = (param: string, path: string): string | undefined => {
  if (!isFileName(param) && !isFolderName(param)) return undefined
  const folder = /^(.*[^/])\/[^/]+$/.exec(path)?.[1]
  return folder === undefined || /[*?[\]{}!\\]/.test(folder) ? undefined : folder
}

/** Those that cover the call, each once and in words. */
export const covering = (
  { params, toolName }: { readonly toolName: string; readonly params: Schema.Json },
  offered: ReadonlyArray<Offered>,
  equals: (self: ApprovalMatcher, that: ApprovalMatcher) => boolean
): ReadonlyArray<Suggestion> => {
  const covering = offered.filter(({ matcher }) => matcher.problems.length === 0 && matcher.covers(params))
  return covering.filter(({ matcher }, index) =>
    covering.findIndex((other) => equals(matcher, other.matcher)) === index
  ).flatMap(({ isWidest, matcher, note }) => {
    const sentence = toSentence(matcher.description, toolName, params)
    return sentence.length > maxLength ? [] : [{
      matcher,
      sentence,
      ...(note === undefined || note === "" ? undefined : { note: Text.escape(note, { maxLength }) }),
      ...(isWidest === true ? { isWidest } : undefined)
    }]
  })
}

// =============================================================================
// In words
// =============================================================================

/** Of a sentence that a person is to read before they choose. */
const maxLength = 1_000

/** Of the parameters of the call itself, which is shown. */
const maxCall = 200

const whole = (text: string): string => Text.escape(text, { maxLength: Infinity })

const decodeJson = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Json))

/** All that is covered, beside a call that has these parameters. */
const toSentence = (description: Description, toolName: string, params: Schema.Json): string => {
  switch (description._tag) {
    case "Exact":
      return exactly(Option.getOrElse(decodeJson(description.params), () => description.params))
    case "Tool":
      return `every call of ${whole(toolName)}, whatever ${hasCommand(params) ? "it runs" : "its parameters"}`
    case "Key":
      return `calls whose ${whole(description.name ?? "key")} is ${whole(description.value)}`
    case "Path":
      return `calls whose ${whole(description.param)} matches ${list(description.globs)}` +
        (description.links === undefined ? "" : " and has no symbolic link") +
        beside(description.same, description.others ?? "any")
    case "Shell": {
      const { allowed, others = [], param, same, trust = [] } = description
      const lines = isCommandName(param) ? "commands that" : `calls whose ${whole(param)}`
      return `${lines} ${matching(allowed, isCommandName(param))}` +
        (trust.length === 0 ? "" : `, where ${list(trust, "and")} may get any arguments`) +
        beside(same, others)
    }
  }
}

const hasCommand = (params: Schema.Json): boolean =>
  typeof params === "object" && params !== null && Object.keys(params).some(isCommandName)

const exactly = (params: Schema.Json): string => {
  if (typeof params !== "object" || params === null || Array.isArray(params)) {
    return short(Text.parameterValue(params))
  }
  const entries = Object.entries(params)
  if (entries.length === 0) return "only this call, without parameters"
  const command = entries.find(([name, value]) => isCommandName(name) && typeof value === "string")
  const rest = entries.filter((entry) => entry !== command)
  return short(
    [
      ...(command === undefined ? [] : [String(command[1])]),
      ...rest.map(([name, value]) => Text.parameter(name, value))
    ]
      .join(", ")
  )
}

// What is long, or has lines, is to be read where the call is shown.
const short = (params: string): string =>
  params.length > maxCall || params.includes("\n")
    ? "only this call, with just these parameters"
    : `only this call: ${whole(params)}`

const list = (texts: ReadonlyArray<string>, joining: "and" | "or" = "or"): string =>
  texts.map((text) => `\`${whole(text.includes("`") ? JSON.stringify(text) : text)}\``).join(` ${joining} `)

/** `*` alone stands for every program that is known to only read, and must not look as if it stood for any command. */
const matching = (allowed: ReadonlyArray<string>, isMany: boolean): string => {
  const [match, read] = isMany ? ["match", "only read"] : ["matches", "only reads"]
  const rest = allowed.filter((pattern) => pattern !== "*")
  if (rest.length === allowed.length) return `${match} ${list(allowed)}`
  return rest.length === 0 ? read! : `${read} or ${match} ${list(rest)}`
}

const beside = (same: Same = {}, others: "any" | ReadonlyArray<string>): string => {
  const values = Object.entries(same).map(([name, value]) => whole(Text.parameter(name, value)))
  const free = others === "any"
    ? [values.length === 0 ? "any other parameters" : "any others"]
    : others.length === 0
    ? []
    : [`any ${others.map(whole).join(" and ")}`]
  const parts = [...(values.length === 0 ? [] : [`${values.join(" and ")} as here`]), ...free]
  return parts.length === 0 ? "" : `, with ${parts.join(" and ")}`
}
