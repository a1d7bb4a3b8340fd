/**
 * What a pattern covers: one command with `*`, or a whole line without.
 */
import * as CommandLine from "../line/commandLine.ts"
import * as Written from "../line/pattern.ts"
import type { Piece } from "../line/piece.ts"
import { star } from "../line/plain.ts"
import * as Check from "./check.ts"
import * as Delegation from "./delegation.ts"
import * as Refusal from "./refusal.ts"
import * as Table from "./table.ts"

export type Pattern =
  /** `*`: every program that only reads, and heeds no settings of the folder. */
  | { readonly _tag: "Any" }
  /** Several commands, as they stand there. */
  | { readonly _tag: "Line"; readonly pieces: ReadonlyArray<Piece> }
  /** One command without `*`. */
  | { readonly _tag: "Command"; readonly written: Written.Pattern }
  /** One command with `*`, which stands for what is known. */
  | { readonly _tag: "Known"; readonly written: Written.Pattern }
  /** One command with `*`, of a program that is trusted with any words. */
  | { readonly _tag: "Trusted"; readonly written: Written.Pattern }

export interface Made {
  readonly pattern: Pattern | undefined
  /** Why it covers nothing. */
  readonly problem: string | undefined
  /** Whether it may be meant by rules that forbid, although it covers nothing. */
  readonly forbids: boolean
}

export const make = (source: string, trust: ReadonlySet<string>): Made => {
  if (source === "*") return good({ _tag: "Any" })
  const written = Written.make(source)
  if (typeof written === "string") {
    const pieces = CommandLine.read(source)
    return pieces === undefined || pieces.some(({ words }) => words[0] === "")
      ? { pattern: undefined, problem: written, forbids: false }
      : good(pieces.length === 1 ? commandOf(pieces[0]!.words) : { _tag: "Line", pieces })
  }
  if (!written.rest && written.words.every((word) => !word.includes(star))) return good({ _tag: "Command", written })
  if (trust.has(written.words[0]!)) return good({ _tag: "Trusted", written })
  const checked = Check.check(written.words, { pattern: { rest: written.rest } })
  return Refusal.isRefusal(checked)
    ? { pattern: { _tag: "Known", written }, problem: `${Refusal.toSentence(checked)}.`, forbids: true }
    : good({ _tag: "Known", written })
}

const good = (pattern: Pattern): Made => ({ pattern, problem: undefined, forbids: true })

const commandOf = (words: ReadonlyArray<string>): Pattern => ({ _tag: "Command", written: { words, rest: false } })

/** How a command is covered, or why not. */
export type Verdict = Covered | Refusal.Refusal

export interface Covered {
  /** What is known of it, if anything is: it may be written out, or trusted. */
  readonly checked: Check.Checked | undefined
  readonly trusted: boolean
}

/** `undefined` if the pattern does not speak of the command. */
export const covers = (pattern: Pattern, piece: Piece, folder: string | undefined): Verdict | undefined => {
  const { words } = piece
  switch (pattern._tag) {
    case "Line":
      return undefined
    case "Any": {
      const checked = Check.check(words, { folder })
      if (Refusal.isRefusal(checked)) return checked
      const { command, name } = checked
      if (command.does !== "reads") return writes(name)
      return command.heeds === undefined
        ? { checked, trusted: false }
        : Refusal.make("settings", words[0]!, `it reads ${command.heeds}; the pattern \`${words[0]} *\` allows it`)
    }
    case "Command":
    case "Trusted":
    case "Known": {
      const { written } = pattern
      if (!speaksOf(written, words)) return undefined
      if (pattern._tag === "Known") return coversKnown(written, words, folder)
      const wildcard = words.find((word) => word.includes(star))
      if (wildcard !== undefined) return Refusal.make("wildcard", wildcard, "the shell replaces it with file names")
      if (pattern._tag === "Trusted") {
        return Delegation.runsAnother(words, (index) => isFree(written, index))
          ? Refusal.make(
            "option",
            words[0]!,
            "these arguments make it run another program; write the whole line as a pattern"
          )
          : { checked: undefined, trusted: true }
      }
      const known = Check.check(words, { written: () => Number.POSITIVE_INFINITY })
      const checked = Refusal.isRefusal(known) ? undefined : known
      // What comes through the pipe may be what an unknown program does.
      return piece.operator === "|" && checked === undefined
        ? Refusal.make("pattern", words[0]!, "after a pipe it may do something else; write the whole line as a pattern")
        : { checked, trusted: false }
    }
  }
}

const speaksOf = ({ rest, words }: Written.Pattern, command: ReadonlyArray<string>): boolean =>
  (rest ? command.length >= words.length : command.length === words.length) &&
  words.every((word, index) => Written.matchesWord(word, command[index]!))

const isFree = ({ words }: Written.Pattern, index: number): boolean =>
  index >= words.length || words[index]!.includes(star)

const coversKnown = (
  written: Written.Pattern,
  words: ReadonlyArray<string>,
  folder: string | undefined
): Verdict => {
  const checked = Check.check(words, { folder, written: (index) => writtenOf(written.words[index]) })
  if (Refusal.isRefusal(checked)) return checked
  // What is not written out only reads.
  const isWritten = words.slice(0, checked.nameEnds).every((_, index) => !isFree(written, index))
  return checked.command.does === "reads" || isWritten ? { checked, trusted: false } : writes(checked.name)
}

const writtenOf = (word: string | undefined): number => {
  if (word === undefined) return 0
  const at = word.indexOf(star)
  return at < 0 ? Number.POSITIVE_INFINITY : at
}

const writes = (name: string): Refusal.Refusal =>
  Refusal.make("writes", name, `it changes files; the pattern \`${name} *\` allows it`)

/** What whoever allows the pattern should know, in sentences. */
export const cautionsOf = (source: string, pattern: Pattern): ReadonlyArray<string> => {
  if (pattern._tag === "Any" || pattern._tag === "Line") return []
  const { rest, words } = pattern.written
  if (pattern._tag === "Trusted") {
    return [`\`${source}\` covers ${words[0]} with any arguments, because ${words[0]} is trusted.`]
  }
  const checked = Check.check(words, { pattern: { rest } })
  if (Refusal.isRefusal(checked)) return []
  const heeds = checked.whole && pattern._tag === "Known"
    ? [...Table.find(words[0]!)?.commands.values() ?? []].map(({ command }) => command.heeds)
    : [checked.command.heeds]
  return [...new Set(heeds)].flatMap((settings) =>
    settings === undefined
      ? []
      : [`\`${source}\` reads ${settings}, which can name programs to run. Allow it only in folders that you trust.`]
  )
}
