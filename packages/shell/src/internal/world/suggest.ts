/**
 * What a person may be offered besides this very line, once it is approved.
 */
import * as CommandLine from "../line/commandLine.ts"
import type { Piece } from "../line/piece.ts"
import { star } from "../line/plain.ts"
import * as Check from "./check.ts"
import * as Lines from "./lines.ts"
import * as Pattern from "./pattern.ts"
import * as Refusal from "./refusal.ts"

export interface Suggestion {
  readonly patterns: ReadonlyArray<string>
  /** What the patterns with `*` stand for, in words. */
  readonly says: ReadonlyArray<string>
  /** What they heed that may be anybody's. */
  readonly heeds: ReadonlyArray<string>
}

export const suggest = (line: string, folder: string | undefined): Suggestion | undefined => {
  const pieces = CommandLine.readWithWildcards(line)
  if (pieces === undefined) return undefined
  const needed = pieces.filter((piece, index) => Lines.isFree(piece, pieces[index + 1], folder) === undefined)
  const known = needed.flatMap((piece) => {
    const checked = Check.check(piece.words, { folder })
    return Refusal.isRefusal(checked) ? [] : [{ piece, checked }]
  })
  const written = (pieces: ReadonlyArray<Piece>): Suggestion => ({ patterns: [spell(pieces)], says: [], heeds: [] })
  const offered: ReadonlyArray<Suggestion> = [
    ...(known.length > 0 && known.length === needed.length ? [byName(known)] : []),
    ...(needed.length === 1 ? [written([{ ...needed[0]!, operator: "" }])] : []),
    written(pieces)
  ]
  return offered.find(({ patterns }) => {
    const made = patterns.map((source) => Pattern.make(source, new Set()))
    return made.every(({ problem }) => problem === undefined) &&
      Lines.covers(made.flatMap(({ pattern }) => pattern === undefined ? [] : [pattern]), pieces, folder)
  })
}

const byName = (
  known: ReadonlyArray<{ readonly piece: Piece; readonly checked: Check.Checked }>
): Suggestion => ({
  patterns: unique(known.map(({ checked, piece }) => checked.whole ? spell([piece]) : `${checked.name} *`)),
  says: unique(known.map(({ checked }) => checked.command.says)),
  heeds: unique(known.flatMap(({ checked }) => checked.command.heeds ?? []))
})

const unique = (texts: ReadonlyArray<string>): ReadonlyArray<string> => [...new Set(texts)]

/** The commands as a pattern without `*`. */
const spell = (pieces: ReadonlyArray<Piece>): string =>
  pieces.map(({ operator, words }, index) => {
    const command = words.map(quote).join(" ")
    if (index === 0) return command
    return operator === ";" ? `; ${command}` : ` ${operator} ${command}`
  }).join("")

const quote = (word: string): string =>
  // A name that the shell would find is no exact line.
  word.includes(star)
    ? "*"
    : /^[\w./:,@%+-][\w./:,@%+=-]*$/.test(word)
    ? word
    : `'${word.replaceAll("'", "'\\''")}'`
