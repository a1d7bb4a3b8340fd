/**
 * A pattern of one command as it is written: words, of which `*` stands for some.
 */
import * as CommandLine from "./commandLine.ts"
import { star } from "./plain.ts"

/** A pattern that can be matched. */
export interface Pattern {
  readonly words: ReadonlyArray<string>
  /** Whether any further words may follow. */
  readonly rest: boolean
}

/** Reads a pattern; a text is why it covers nothing. */
export const make = (source: string): Pattern | string => {
  const words = CommandLine.readPattern(source)
  if (words === undefined) {
    return "it is not one plain command, of words, quoted words and `*`."
  }
  if (words[0] === "" || words[0]!.includes(star)) return "the program must be written out."
  const rest = words.length > 1 && words.at(-1) === star
  return { words: rest ? words.slice(0, -1) : words, rest }
}

/** Goes back to the last star only, so the time is at most pattern × word. */
export const matchesWord = (pattern: string, word: string): boolean => {
  // An option must be written as one.
  if (pattern.startsWith(star) && word.startsWith("-")) return false
  let p = 0
  let w = 0
  let lastStar = -1
  let resume = 0
  while (w < word.length) {
    if (pattern[p] === star) {
      lastStar = p++
      resume = w
    } else if (p < pattern.length && pattern[p] === word[w]) {
      p++
      w++
    } else if (lastStar >= 0) {
      p = lastStar + 1
      w = ++resume
    } else {
      return false
    }
  }
  while (pattern[p] === star) p++
  return p === pattern.length
}
