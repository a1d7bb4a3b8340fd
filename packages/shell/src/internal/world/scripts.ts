/**
 * The little languages that stand in words of `sed`, `jq` and `awk`. Each is known as far as it only selects what is printed.
 */

/** A line, or one that an expression matches; in an expression a backslash takes the next character with it. */
const address = String.raw`(?:\d+|\$|/(?:[^/\\\n]|\\[^\n])+/I?)`

const sedCommand = String.raw`(?:${address}(?:,(?:\+\d+|${address}))?!?)?[pq=]`

const sed = new RegExp(String.raw`^${sedCommand}(?:; ?${sedCommand})*$`)

/** Why a script of sed may do more than print lines. */
export const problemOfSed = (script: string): string | undefined =>
  sed.test(script) ? undefined : "only scripts that print ranges of lines are covered, such as `10,20p`"

/** Why a filter of jq may do more than select. */
export const problemOfJq = (filter: string): string | undefined => {
  const bare = filter.replaceAll(/"(?:[^"\\]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"/g, " ")
  const strange = /[\\$@#"]/.exec(bare)?.[0]
  if (strange !== undefined) return `filters with \`${strange === "\"" ? "\\(" : strange}\` are not covered`
  const open: Array<string> = []
  for (const { 0: word, index } of bare.matchAll(/[([{}\])]|(?<![\w.])[A-Za-z_]\w*/g)) {
    if (/^\W/.test(word)) {
      if (/[([{]/.test(word)) open.push(word)
      else open.pop()
      continue
    }
    // In `.[from:to]` no key stands before the colon.
    const isKey = open.at(-1) === "{" && /^\s*:/.test(bare.slice(index + word.length, index + word.length + 8))
    if (!isKey && !jqWords.has(word)) return `filters with \`${word}\` are not covered`
  }
  return undefined
}

const jqWords = new Set(
  `
  add all and any arrays as ascii_downcase ascii_upcase booleans capture contains del elif else empty end endswith
  false first flatten floor foreach from_entries fromjson getpath group_by gsub has if in index inside join keys
  keys_unsorted last length limit ltrimstr map map_values match max max_by min min_by not nth null nulls numbers objects
  or paths range reduce reverse rtrimstr select sort sort_by split sqrt startswith strings sub test then to_entries tojson
  tonumber tostring true type unique unique_by values with_entries
  `.trim().split(/\s+/)
)

/** In brackets a slash does not end an expression for each awk, so none may stand there. */
const awkToken =
  /\s+|\$|\d+(?:\.\d+)?|"(?:[^"\\\n]|\\[nt"\\])*"|(?:NR|NF|FNR|print|length)\b|&&|\|\||[!=]=|[<>]=?|!?~|[!(){},;+*%-]|\/(?:[^/\\\n[]|\\[^\n]|\[(?!\^?\])(?:\[:\w+:\]|[^/\\\n[\]]|\\[^/\\\n[\]])+\])+\//y

/** Why a program of awk may do more than print fields of lines. */
export const problemOfAwk = (program: string): string | undefined => {
  awkToken.lastIndex = 0
  let before = ""
  let depth = 0
  while (awkToken.lastIndex < program.length) {
    const at = awkToken.lastIndex
    const token = awkToken.exec(program)?.[0]
    if (token === undefined) {
      return `programs with \`${/^\w+|[^]/.exec(program.slice(at, at + 40))![0]}\` are not covered`
    }
    if (/^\s/.test(token)) continue
    // Elsewhere a slash divides, and what looks like an expression may hold anything.
    if (token.startsWith("/") && !/^(?:|[({,;}!]|&&|\|\||!?~)$/.test(before)) {
      return "programs that divide are not covered"
    }
    if (token === "{") depth++
    if (token === "}") depth--
    if (depth < 0) return "programs with `}` alone are not known"
    // What is printed may go to a file.
    if (depth > 0 && /^[<>]/.test(token)) return `programs with \`${token}\` in braces are not known`
    before = token
  }
  return undefined
}
