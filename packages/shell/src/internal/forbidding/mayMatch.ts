/**
 * For rules that forbid or ask: whether a command may do what a pattern means, for all that can be told.
 */
import { matchesWord, type Pattern } from "../line/pattern.ts"
import * as Delegation from "./delegation.ts"
import * as Interpreters from "./interpreters.ts"

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
