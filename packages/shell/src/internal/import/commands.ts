/**
 * Patterns of command lines: text with `*` for any text, or a beginning, as patterns of words.
 */
import * as Pattern from "../line/pattern.ts"
import { star } from "../line/plain.ts"

/** A pattern of ours, and what it leaves out or adds. */
export type Translated =
  | { readonly pattern: string; readonly note?: string | undefined }
  | { readonly pattern?: undefined; readonly note: string }

/** Which patterns a matcher can cover something by, with what is wrong otherwise. */
export type ProblemOf = (pattern: string) => string | undefined

/** A whole command line, or the beginning of one. */
export interface Written {
  readonly text: string
  /** Whether further words may follow. */
  readonly rest: boolean
  /** Whether the last word may go on, too. */
  readonly glued?: boolean | undefined
}

// What the shell does itself to what comes after it in a line.
const changesTheRest = new Set([
  ".",
  "alias",
  "cd",
  "chdir",
  "command",
  "declare",
  "enable",
  "eval",
  "exec",
  "export",
  "hash",
  "local",
  "popd",
  "pushd",
  "read",
  "readonly",
  "set",
  "shopt",
  "source",
  "trap",
  "typeset",
  "ulimit",
  "umask",
  "unalias",
  "unset"
])

/** A pattern that covers nothing but what was written. */
export const allowing = ({ glued, rest, text }: Written, problemOf: ProblemOf): Translated => {
  if (text.includes("*")) return { note: "A `*` before the end stands for any text, options and other commands too." }
  const plain = Pattern.make(text)
  if (typeof plain === "string") return { note: `No command line is covered by it: ${plain}` }
  if (changesTheRest.has(plain.words[0]!)) {
    return { note: `\`${plain.words[0]}\` changes what the rest of a line does.` }
  }
  if (!rest) {
    const problem = problemOf(text)
    return problem === undefined ? { pattern: text } : { note: problem }
  }
  const problem = problemOf(`${text} *`)
  if (problem === undefined) {
    return glued === true
      ? { pattern: `${text} *`, note: "Words that only begin like its last word are asked about." }
      : { pattern: `${text} *` }
  }
  return problemOf(text) === undefined
    ? { pattern: text, note: `Only the line without further words is allowed. ${problem}` }
    : { note: problem }
}

/** A pattern that means at least what was written; none if no word of it can be read. */
export const forbidding = ({ glued, rest, text }: Written): Translated => {
  const words = text.split(/[ \t]+/).filter((word) => word !== "")
  const cut = words.findIndex((word) => word.includes("*"))
  let end = cut >= 0 ? cut : glued === true ? words.length - 1 : words.length
  while (end > 0 && !isReadable(words.slice(0, end).join(" "))) end--
  if (end === 0) return { note: "No word of it can be read." }
  const kept = words.slice(0, end).join(" ")
  if (end < words.length) return { pattern: `${kept} *`, note: `It speaks of every \`${kept}\`.` }
  return { pattern: rest ? `${kept} *` : kept }
}

const isReadable = (text: string): boolean => {
  const pattern = Pattern.make(text)
  return typeof pattern !== "string" && !pattern.words.some((word) => word.includes(star))
}
