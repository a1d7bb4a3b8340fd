/**
 * Whether a pattern covers a command.
 */
import * as Delegation from "../forbidding/delegation.ts"
import { matchesWord, type Pattern } from "../line/pattern.ts"
import { star } from "../line/plain.ts"

/** Whether a command is one that the pattern means. */
export const matches = (pattern: Pattern, command: ReadonlyArray<string>): boolean => {
  const { rest, words } = pattern
  if (rest ? command.length < words.length : command.length !== words.length) return false
  return words.every((word, index) => matchesWord(word, command[index]!)) &&
    // Words that the pattern writes out are the person's own.
    !Delegation.runsAnother(command, (index) => index >= words.length || words[index]!.includes(star))
}
