/**
 * A pattern of one command: words, of which `*` stands for some.
 */
import * as CommandLine from "./commandLine.ts"
import * as Delegation from "./delegation.ts"
import * as Interpreters from "./interpreters.ts"
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

/** Whether a command is one that the pattern means. */
export const matches = (pattern: Pattern, command: ReadonlyArray<string>): boolean => {
  const { rest, words } = pattern
  if (rest ? command.length < words.length : command.length !== words.length) return false
  return words.every((word, index) => matchesWord(word, command[index]!)) &&
    // Words that the pattern writes out are the person's own.
    !Delegation.runsAnother(command, (index) => index >= words.length || words[index]!.includes(star))
}

/**
 * Whether a command may do what the pattern means, for all that can be told: the words that the pattern writes out are
 * among its words in this order, wherever the program lies, in whatever case and whatever runs it; or it is known to run
 * another, or what it is given as text.
 */
export const mayMatch = (pattern: Pattern, command: ReadonlyArray<string>): boolean => {
  if (Delegation.runsAnother(command, () => true) || Interpreters.runsText(command)) return true
  let next = 0
  for (const word of command) {
    const wanted = pattern.words[next]
    if (wanted === undefined) break
    if (matchesWord(next === 0 ? wanted.toLowerCase() : wanted, next === 0 ? Interpreters.nameOf(word) : word)) next++
  }
  return next === pattern.words.length
}

/** Goes back to the last star only, so the time is at most pattern × word. */
const matchesWord = (pattern: string, word: string): boolean => {
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
