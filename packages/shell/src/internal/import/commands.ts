/**
 * Patterns of command lines: text with `*` for any text, or a beginning, as patterns of words.
 */
import * as Pattern from "../line/pattern.ts"
import { star } from "../line/plain.ts"

/** Patterns of ours, with what they leave out or add; without patterns, why there are none. */
export interface Translated {
  readonly patterns: ReadonlyArray<string>
  readonly note?: string | undefined
  /** A program whose words may be any. */
  readonly trust?: string | undefined
}

/** Why a pattern covers nothing; nothing if it covers something. */
export type ProblemOf = (pattern: string, trust?: string) => string | undefined

/** How a pattern that allows is judged. */
export interface Judge {
  readonly problemOf: ProblemOf
  /** The programs that are trusted with any words. */
  readonly trust: ReadonlyArray<string>
}

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

/** Patterns that cover nothing but what was written. */
export const allowing = ({ glued, rest, text }: Written, { problemOf, trust }: Judge): Translated => {
  if (text.includes("*")) return none("A `*` before the end stands for any text, options and other commands too.")
  const plain = Pattern.make(text)
  if (typeof plain === "string") return none(`No command line is covered by it: ${plain}`)
  const program = plain.words[0]!
  if (changesTheRest.has(program)) return none(`\`${program}\` changes what the rest of a line does.`)
  const exact = problemOf(text)
  if (!rest) return exact === undefined ? { patterns: [text] } : none(exact)
  const trusted = trust.includes(program) ? { trust: program } : {}
  const problems = [`${text} *`, ...(glued === true ? [`${text}*`] : [])].map((pattern) =>
    [pattern, problemOf(pattern, trusted.trust)] as const
  )
  const patterns = problems.flatMap(([pattern, problem]) => problem === undefined ? [pattern] : [])
  if (patterns.length === problems.length) return { patterns, ...trusted }
  if (patterns.length > 0) {
    return { patterns, note: "Longer words that begin with its last word need approval.", ...trusted }
  }
  const [, problem] = problems[0]!
  return exact === undefined
    ? { patterns: [text], note: `Only the line without further words is allowed. ${problem}` }
    : none(problem!)
}

const none = (note: string): Translated => ({ patterns: [], note })

/** A pattern that means at least what was written; none if no word of it can be read. */
export const forbidding = ({ glued, rest, text }: Written): Translated => {
  const words = text.split(/[ \t]+/).filter((word) => word !== "")
  const cut = words.findIndex((word) => word.includes("*"))
  let end = cut >= 0 ? cut : glued === true ? words.length - 1 : words.length
  while (end > 0 && !isReadable(words.slice(0, end).join(" "))) end--
  if (end === 0) return none("None of its words can be read.")
  const kept = words.slice(0, end).join(" ")
  if (end < words.length) return { patterns: [`${kept} *`], note: `It speaks of every \`${kept}\`.` }
  return { patterns: [rest ? `${kept} *` : kept] }
}

const isReadable = (text: string): boolean => {
  const pattern = Pattern.make(text)
  return typeof pattern !== "string" && !pattern.words.some((word) => word.includes(star))
}
