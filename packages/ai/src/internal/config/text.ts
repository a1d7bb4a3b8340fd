/**
 * A configuration's text as a value: JSON, YAML or TOML, with the line of what cannot be read.
 */
import * as Toml from "effect/encoding/Toml"
import * as Yaml from "effect/encoding/Yaml"
import * as Result from "effect/Result"
import { type Format, type Lines, locate, type Step } from "./lines.ts"

/** Why a text cannot be read. */
export interface Unreadable {
  readonly message: string
  readonly allowed?: ReadonlyArray<string> | undefined
  readonly path?: ReadonlyArray<Step> | undefined
  readonly line?: number | undefined
}

/** A text may be this many UTF-16 units long. */
export const maxLength = 1_048_576

/** An empty configuration. */
export const emptyOf: Readonly<Record<Format, string>> = { json: `{"tools":{}}`, toml: "[tools]", yaml: "tools: {}" }

const maxNodes = 50_000
const maxDepth = 32

export const formatOf = (file: string): Format | undefined => {
  const extension = /\.([A-Za-z]+)$/.exec(file)?.[1]?.toLowerCase()
  return extension === "yml" || extension === "yaml"
    ? "yaml"
    : extension === "json" || extension === "toml"
    ? extension
    : undefined
}

export const read = (
  text: string,
  format: Format
): Result.Result<{ readonly value: unknown; readonly lines: Lines }, Unreadable> => {
  if (text.length > maxLength) {
    return Result.fail({ message: `The text is longer than ${maxLength.toLocaleString("en")} characters.` })
  }
  const blank = text.replace(/^\uFEFF/, "").trim() === ""
  const parsed = blank ? Result.succeed(null) : parsers[format](text)
  if (Result.isFailure(parsed)) return Result.fail({ line: lineOf(parsed.failure, text, format), ...parsed.failure })
  if (parsed.success === null) {
    return Result.fail({ message: "It is empty. Write `tools: {}` for an empty configuration." })
  }
  const size = problemOfSize(parsed.success)
  if (size !== undefined) return Result.fail({ message: size })
  const lines = locate(text, format)
  const duplicate = format === "json" ? lines.duplicates[0] : undefined
  if (duplicate !== undefined) {
    return Result.fail({
      message: `The key ${JSON.stringify(String(duplicate.path.at(-1)))} appears twice.`,
      path: duplicate.path,
      line: duplicate.line
    })
  }
  return Result.succeed({ value: parsed.success, lines })
}

/**
 * Why a value cannot be looked at: a program's may be cyclic, what a few YAML aliases stand for may be endless, and what
 * is neither a list nor a plain object, as a date or a `Map`, would be read as an object that says nothing.
 */
export const problemOfSize = (value: unknown): string | undefined => {
  let nodes = 0
  const open: Array<readonly [value: unknown, depth: number]> = [[value, 0]]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [node, depth] = next
    if (++nodes > maxNodes) return `There are more than ${maxNodes.toLocaleString("en")} values in it.`
    if (depth > maxDepth) return `It is nested more than ${maxDepth} levels deep.`
    if (typeof node === "object" && node !== null) {
      if (!isData(node)) return "It contains an object that is not plain data: a date, a Map or an instance of a class."
      for (const child of Object.values(node)) open.push([child, depth + 1])
    }
  }
  return undefined
}

/** A list or a plain object, of this realm or another; TOML's tables have no prototype. */
const isData = (value: object): boolean => {
  const prototype: unknown = Array.isArray(value) ? null : Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

// =============================================================================
// Internals
// =============================================================================

const messageOf = (error: unknown): Unreadable => ({
  // A parser that runs out of stack says nothing that a person can use, nor does the place in a collection.
  message: error instanceof SyntaxError ? error.message : "It is nested too deeply."
})

const parsers: Record<Format, (text: string) => Result.Result<unknown, Unreadable>> = {
  json: (text) => Result.try({ try: (): unknown => JSON.parse(text.replace(/^\uFEFF/, "")), catch: messageOf }),
  yaml: (text) => Result.try({ try: () => Yaml.parse(text), catch: messageOf }),
  toml: (text) =>
    Result.flatMap(
      Result.try({ try: () => Toml.parse(text), catch: messageOf }),
      Result.mapError(({ message }): Unreadable => ({ message }))
    )
}

/** The line that a parser names, or the one it came to a halt at. */
const lineOf = ({ message }: Unreadable, text: string, format: Format): number | undefined => {
  const said = /\bline (\d+)/.exec(message)?.[1]
  if (said !== undefined) return Number(said)
  if (format === "yaml") return firstLineThatFails(text, "yaml", sameMessage(message))
  const position = /position (\d+)/.exec(message)?.[1]
  if (position !== undefined) return text.slice(0, Number(position)).split("\n").length
  if (/end of/i.test(message)) return text.trimEnd().split("\n").length
  // V8 names no place where it shows the text around it.
  return format === "json"
    ? firstLineThatFails(text, "json", (other) => other.startsWith("Unexpected token"))
    : undefined
}

/** How far into a collection it came is not compared: that depends on where the text ends. */
const sameMessage = (message: string) => (other: string): boolean => withoutOffset(other) === withoutOffset(message)

const withoutOffset = (message: string): string => message.replace(/ at flow offset \d+$/, "")

/** A parser goes from top to bottom, so what is wrong in the first lines stays wrong with more of them. */
const firstLineThatFails = (text: string, format: Format, isSame: (message: string) => boolean): number => {
  const lines = text.split(/\r\n?|\n/)
  let fails = lines.length
  let passes = 0
  while (fails - passes > 1) {
    const middle = (fails + passes) >> 1
    const parsed = parsers[format](lines.slice(0, middle).join("\n"))
    if (Result.isFailure(parsed) && isSame(parsed.failure.message)) fails = middle
    else passes = middle
  }
  return fails
}
