/**
 * The plain part of shell: simple commands of words whose value is known by looking at them, joined by operators.
 *
 * This is the second opinion beside the parser, and it goes first: it knows none of the shell's constructs and gives up
 * at the first character that could begin one, so that the parser, too, is only ever shown tame lines. In time it is
 * linear.
 */
import type { Piece } from "./piece.ts"

/** How a `*` without quotes is spelled in the words of a pattern; no line can contain it. */
export const star = "\0"

const maxLength = 16_384

/** What is no tab, newline or visible character: controls, `\r`, NUL, look-alike blanks, half surrogates. */
const unseen = /[^\t\n\x20-\x7e\p{L}\p{M}\p{N}\p{P}\p{S}]|[\p{Default_Ignorable_Code_Point}\u2800]/u

const blanks = /[ \t]+/y

const operators = /(&&|\|\|?|;|\n)[ \t\n]*/y

/** Redirects that write to no file and read none. `&>` is none in `sh`, which takes it for `&` and `>`. */
const redirects = /(?:2>&1|1>&2|>&2|[12]?>[ \t]*\/dev\/null|<[ \t]*\/dev\/null)(?=[ \t\n;|&]|$)/y

/** Characters that mean themselves in every shell, outside of quotes. */
const safe = /[A-Za-z0-9_./:,@%+=^~-]/

/** What may stand before `~` in a word, so that it is no home directory: `HEAD~3`, `HEAD^~`. */
const beforeTilde = /[A-Za-z0-9^~]/

const endsWord = (char: string | undefined): boolean => char === undefined || /[ \t\n;|&]/.test(char)

/** The commands of a line, or `undefined` if it is not plain through and through. */
export const read = (
  source: string,
  options?: { readonly wildcards?: boolean | undefined }
): ReadonlyArray<Piece> | undefined => {
  if (source.length > maxLength || unseen.test(source)) return undefined
  const pieces: Array<Piece> = []
  let at = /^[ \t\n]*/.exec(source)![0].length
  let operator: Piece["operator"] = ""
  while (at < source.length) {
    const words: Array<string> = []
    const redirected: Array<string> = []
    while (at < source.length) {
      const redirect = match(redirects, source, at)
      const word = redirect === undefined ? readWord(source, at, options?.wildcards === true) : undefined
      if (redirect !== undefined) {
        redirected.push(redirect[0].replaceAll(/[ \t]/g, ""))
        at += redirect[0].length
      } else {
        // A word after a redirect is rare, and not worth a doubt.
        if (word === undefined || redirected.length > 0) return undefined
        words.push(word.value)
        at = word.end
      }
      at += match(blanks, source, at)?.[0].length ?? 0
      if (/[\n;|&]/.test(source[at] ?? "")) break
    }
    if (words.length === 0) return undefined
    pieces.push({ operator, words, redirects: redirected })
    if (at === source.length) return pieces
    const next = match(operators, source, at)
    if (next === undefined) return undefined
    at += next[0].length
    operator = next[1] === "\n" ? ";" : next[1] as Piece["operator"]
  }
  return operator === ";" ? pieces : undefined
}

const match = (pattern: RegExp, source: string, at: number): RegExpExecArray | undefined => {
  pattern.lastIndex = at
  return pattern.exec(source) ?? undefined
}

interface Word {
  readonly value: string
  readonly end: number
}

const readWord = (source: string, start: number, wildcards: boolean): Word | undefined => {
  let value = ""
  let at = start
  while (!endsWord(source[at])) {
    const char = source[at]!
    if (char === "'" || char === "\"") {
      const quoted = char === "'" ? readSingle(source, at + 1) : readDouble(source, at + 1)
      if (quoted === undefined) return undefined
      value += quoted.value
      at = quoted.end
    } else if (char === "\\") {
      const next = source[++at]
      if (next === undefined || !/[\x20-\x7e]/.test(next)) return undefined
      value += next
      at++
    } else if (char === "{" && at === start && source[at + 1] === "}" && endsWord(source[at + 2])) {
      // Nothing between them, so they mean themselves.
      value = "{}"
      at += 2
    } else if (char === "*" && wildcards) {
      value += star
      at++
    } else {
      if (!safe.test(char)) return undefined
      // zsh has `=command`; old shells take `^` for a pipe, interactive ones for a substitution.
      if ((char === "=" || char === "^") && value === "") return undefined
      if (char === "~" && (at === start || !beforeTilde.test(source[at - 1]!))) return undefined
      value += char
      at++
    }
  }
  return at === start ? undefined : { value, end: at }
}

const readSingle = (source: string, start: number): Word | undefined => {
  const end = source.indexOf("'", start)
  return end < 0 ? undefined : { value: source.slice(start, end), end: end + 1 }
}

const readDouble = (source: string, start: number): Word | undefined => {
  let value = ""
  for (let at = start; at < source.length; at++) {
    const char = source[at]!
    if (char === "\"") return { value, end: at + 1 }
    // `!` is history in an interactive shell.
    if (char === "$" || char === "`" || char === "!") return undefined
    if (char === "\\") {
      // In some encodings the last byte of a character and a backslash are one character, and the quote ends earlier.
      if (source[at - 1]! > "\x7e") return undefined
      const next = source[at + 1]
      if (next === undefined || next === "\n") return undefined
      if (/["\\$`]/.test(next)) {
        value += next
        at++
        continue
      }
    }
    value += char
  }
  return undefined
}
