/**
 * Which scripts of awk and sed run no command. Both languages are closed worlds here: what is not known to run none
 * counts as one that does.
 */
import * as Words from "./words.ts"

// =============================================================================
// awk
// =============================================================================

/** Regular expressions that can be nothing else, and hold nothing that ends a text. */
const awkRegex = /(^|[({;,!~&|}\n])([ \t]*)\/[^/"[\\\n]*\//g

/** Whether a program of awk can run no command: it has no pipe, no `system` and no call by a name in a variable. */
export const isHarmlessAwk = (program: string): boolean =>
  !Words.isUnknown(program) &&
  !/system|@|\|&|\|/.test(program.replaceAll(awkRegex, "$1$2 ").replaceAll("||", " "))

// =============================================================================
// sed
// =============================================================================

/** Whether a script of sed can run no command, and ends where it seems to. */
export const isHarmlessSed = (script: string): boolean => {
  if (Words.isUnknown(script)) return false
  let at = 0
  const skip = (pattern: RegExp): string => {
    pattern.lastIndex = at
    const found = pattern.exec(script)?.[0] ?? ""
    at += found.length
    return found
  }
  /** Up to the delimiter; a class ends it earlier for some, so its delimiter is not taken. */
  const delimited = (delimiter: string): boolean => {
    for (; at < script.length; at++) {
      const char = script[at]!
      if (char === "\\") at++
      else if (char === delimiter) {
        at++
        return true
      } else if (char === "\n" || char === "[" && hasInClass(script, at, delimiter)) return false
    }
    return false
  }
  const address = (): boolean => {
    if (skip(/\$|\d+(?:~\d+)?|[+~]\d+/y) !== "") return true
    const start = skip(/\/|\\[^\n\\]/y)
    if (start === "") return true
    if (!delimited(start.at(-1)!)) return false
    skip(/[IM]*/y)
    return true
  }
  while (at < script.length) {
    skip(/[\s;{}]+/y)
    if (at >= script.length) break
    if (!address()) return false
    skip(/[ \t]*/y)
    if (skip(/,[ \t]*/y) !== "" && !address()) return false
    skip(/[ \t!]*/y)
    const command = script[at++]
    if (command === undefined) return false
    if (command === "{" || command === "}") continue
    if ("pdPDgGhHxnN=qQlFz".includes(command)) skip(/[ \t]*\d*[ \t]*(?=[;}\n]|$)/y)
    else if ("aic".includes(command)) {
      // A text up to the end of its line.
      skip(/(?:\\[\s\S]|[^\\\n])*/y)
    } else if (command === ":" || command === "b" || command === "t" || command === "T" || command === "#") {
      skip(/[^\n;]*/y)
    } else if (command === "y" || command === "s") {
      const delimiter = script[at++]
      if (delimiter === undefined || delimiter === "\n" || delimiter === "\\") return false
      if (!delimited(delimiter) || !replacement()) return false
      if (command === "s") skip(/[gpIiMm0-9]*/y)
    } else return false
    skip(/[ \t]*/y)
    if (at < script.length && !/[;}\n]/.test(script[at]!)) return false
    function replacement(): boolean {
      const delimiter = script[at - 1]!
      for (; at < script.length; at++) {
        if (script[at] === "\\") at++
        else if (script[at] === delimiter) {
          at++
          return true
        }
      }
      return false
    }
  }
  return true
}

/** Whether a delimiter stands in the class that begins here, as far as classes go. */
const hasInClass = (script: string, start: number, delimiter: string): boolean => {
  const end = script.indexOf("]", start + (script[start + 1] === "^" ? 3 : 2))
  return end < 0 || end - start > 200 || script.slice(start + 1, end).includes(delimiter)
}
