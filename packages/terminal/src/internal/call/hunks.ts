/**
 * A unified diff as a person reads it: the number of each line, its sign, and the colours of its language.
 */
import * as Diff from "../text/diff.ts"
import * as Highlight from "../text/highlight.ts"
import * as Safe from "../text/safe.ts"
import type { Row, Style } from "../text/style.ts"

interface Changed {
  readonly sign: " " | "+" | "-"
  readonly number: number
  readonly text: string
}

type Hunk = ReadonlyArray<Changed>

interface Parsed {
  readonly headers: ReadonlyArray<string>
  readonly hunks: ReadonlyArray<Hunk>
}

const head = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/

/** Nothing of what is no unified diff, to the last line. */
export const parse = (diff: string): Parsed | undefined => {
  const lines = diff.replace(/\n$/, "").split("\n")
  const first = lines.findIndex((line) => line.startsWith("@@"))
  const headers = lines.slice(0, Math.max(0, first))
  if (first < 0 || headers.some((line) => !/^(?:---|\+\+\+) /.test(line))) return undefined
  const hunks: Array<Hunk> = []
  let at = first
  while (at < lines.length) {
    const found = head.exec(lines[at]!)
    if (found === null) return undefined
    at++
    let [before, after] = [Number(found[1]), Number(found[3])]
    const [endBefore, endAfter] = [before + Number(found[2] ?? 1), after + Number(found[4] ?? 1)]
    const hunk: Array<Changed> = []
    while (at < lines.length && (before < endBefore || after < endAfter)) {
      const [sign, text] = [lines[at]!.slice(0, 1), lines[at]!.slice(1)]
      if (sign === "-") hunk.push({ sign, number: before, text })
      else if (sign === "+" || sign === " " || sign === "") hunk.push({ sign: sign || " ", number: after, text })
      else if (sign === "\\") hunk.push({ sign: " ", number: 0, text: lines[at]! })
      else return undefined
      if (sign !== "+" && sign !== "\\") before++
      if (sign !== "-" && sign !== "\\") after++
      at++
    }
    // That a last line has no line break is said of it.
    while (lines[at]?.startsWith("\\") === true) {
      hunk.push({ sign: " ", number: 0, text: lines[at]! })
      at++
    }
    if (before !== endBefore || after !== endAfter) return undefined
    hunks.push(hunk)
  }
  return { headers, hunks }
}

const styles: { readonly [sign: string]: Style | undefined } = { "+": "added", "-": "removed" }

// The lines of before and those of after are each a text of their own.
const coloredOf = (hunk: Hunk, language: string | undefined): ReadonlyArray<Row> => {
  const sides = (["-", "+"] as const).map((side) => {
    const lines = hunk.filter(({ number, sign }) => number > 0 && (sign === " " || sign === side))
    const rows = Highlight.highlight(Safe.lines(lines.map(({ text }) => text).join("\n")), language)
    return new Map(lines.map((line, index) => [line, rows[index]]))
  })
  return hunk.map((line) =>
    sides[line.sign === "-" ? 0 : 1]!.get(line) ?? [{ text: Safe.line(line.text), style: "muted" }]
  )
}

/** The rows of a diff; of what cannot be read as one, its lines as they are. `between` stands between two places. */
export const rows = (diff: string, language: string | undefined, between: string): ReadonlyArray<Row> => {
  const parsed = parse(diff)
  if (parsed === undefined) return Diff.colored(Safe.lines(diff))
  const width = String(Math.max(0, ...parsed.hunks.flatMap((hunk) => hunk.map(({ number }) => number)))).length
  return parsed.hunks.flatMap((hunk, index): ReadonlyArray<Row> => [
    ...(index === 0 ? [] : [[{ text: between, style: "muted" as const }]]),
    ...coloredOf(hunk, language).map((row, index): Row => {
      const { number, sign } = hunk[index]!
      const told = number === 0 ? "" : String(number)
      return [
        { text: `${told.padStart(width)} `, style: "muted" },
        { text: `${sign} `, style: styles[sign] },
        ...(styles[sign] === undefined ? row : row.map(({ style, text }) => ({ text, style: style ?? styles[sign] })))
      ]
    })
  ])
}

/** A text with the numbers of its lines. */
export const numbered = (lines: ReadonlyArray<Row>): ReadonlyArray<Row> => {
  const width = String(lines.length).length
  return lines.map((row, index) => [{ text: `${String(index + 1).padStart(width)}  `, style: "muted" }, ...row])
}
