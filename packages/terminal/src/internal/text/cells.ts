/**
 * How many cells of a screen a text takes, and where its lines are broken.
 *
 * A row that is wider than the screen is broken by the terminal itself, and what follows stands at its left edge, where
 * only our own words may stand. So no character is thought narrower than some terminal draws it: marks take a cell, and
 * whole blocks of East Asian characters two, assigned or not. Nothing is normalized, trimmed or dropped: what the rows say
 * together is the text, to the last character.
 */
import stringWidth from "fast-string-width"
import type { Line, Row, Span, Style } from "./style.ts"

const ascii = /^[\x20-\x7e]*$/

const isMark = (character: string): boolean => /^\p{M}$/u.test(character)

const isWideBlock = (code: number): boolean =>
  (code >= 0x2e80 && code <= 0xa4cf && code !== 0x303f) || (code >= 0xf900 && code <= 0xfaff) ||
  (code >= 0xfe30 && code <= 0xfe6f) || (code >= 0xff00 && code <= 0xff60) || code === 0x2329 || code === 0x232a

/** The most that a terminal takes for one character, which is no control. */
const cellsOf = (character: string): number => {
  const code = character.codePointAt(0)!
  return code < 0x7f ? 1 : isWideBlock(code) ? 2 : Math.max(1, stringWidth(character))
}

/** The most cells that a terminal takes for a text without controls. */
export const cells = (text: string): number => {
  if (ascii.test(text)) return text.length
  let sum = 0
  for (const character of text) sum += cellsOf(character)
  return sum
}

/** A character with the marks on it, which are never parted from it. */
interface Cluster {
  text: string
  cells: number
  readonly style: Style | undefined
}

const clustersOf = (body: Row): ReadonlyArray<Cluster> => {
  const clusters: Array<Cluster> = []
  for (const { style, text } of body) {
    for (const character of text) {
      const last = clusters[clusters.length - 1]
      if (last !== undefined && isMark(character)) {
        last.text += character
        last.cells += cellsOf(character)
      } else {
        clusters.push({ text: character, cells: cellsOf(character), style })
      }
    }
  }
  return clusters
}

const joined = (clusters: ReadonlyArray<Cluster>): Row => {
  const row: Array<{ text: string; readonly style: Style | undefined }> = []
  for (const { style, text } of clusters) {
    const last = row[row.length - 1]
    if (last !== undefined && last.style === style) last.text += text
    else row.push({ text, style })
  }
  return row
}

const isWord = (cluster: Cluster | undefined): boolean => cluster !== undefined && !/^\s/.test(cluster.text)

/**
 * The rows of a line in a width. `prose` is broken after a single space where there is one: the space stays, so a row that
 * ends early ends in exactly one, and of a run of blanks none is out of sight.
 */
export const wrap = (body: Row, width: number, prose = false): ReadonlyArray<Row> => {
  const only = body.length === 1 ? body[0] : undefined
  if (body.every(({ text }) => ascii.test(text)) && body.reduce((sum, { text }) => sum + text.length, 0) <= width) {
    return [body]
  }
  if (!prose && only !== undefined && ascii.test(only.text)) return slices(only, width)
  const clusters = clustersOf(body)
  const rows: Array<Row> = []
  let start = 0
  let used = 0
  let space = -1
  for (let index = 0; index < clusters.length; index++) {
    const cluster = clusters[index]!
    while (used + cluster.cells > width && index > start) {
      const end = prose && space > start ? space : index
      rows.push(joined(clusters.slice(start, end)))
      start = end
      used = clusters.slice(start, index).reduce((sum, { cells }) => sum + cells, 0)
      space = -1
    }
    used += cluster.cells
    if (cluster.text === " " && isWord(clusters[index - 1]) && isWord(clusters[index + 1])) space = index + 1
  }
  rows.push(joined(clusters.slice(start)))
  return rows
}

const slices = ({ style, text }: Span, width: number): ReadonlyArray<Row> => {
  const rows: Array<Row> = []
  for (let at = 0; at < text.length; at += width) rows.push([{ text: text.slice(at, at + width), style }])
  return rows
}

const widthOf = (row: Row): number => row.reduce((sum, { text }) => sum + cells(text), 0)

/** Of what is said beside a mark. */
const minWidth = 8

const narrow: Row = [{ text: "  ⋮ ", style: "muted" }]

/** The lines as rows that are not wider than the screen. */
export const layout = (lines: ReadonlyArray<Line>, columns: number): ReadonlyArray<Row> => {
  const rows: Array<Row> = []
  for (const { body, first, prose, rest } of lines) {
    const width = columns - Math.max(widthOf(first), widthOf(rest))
    if (width >= minWidth) {
      wrap(body, width, prose).forEach((row, index) => rows.push([...(index === 0 ? first : rest), ...row]))
    } else {
      // What stands before has no room beside it.
      rows.push(...wrap(first, Math.max(minWidth, columns)))
      wrap(body, Math.max(minWidth, columns - widthOf(narrow)), prose).forEach((row) => rows.push([...narrow, ...row]))
    }
  }
  return rows
}

/** As much of a text as fits, with its end marked where it does not: for what is shown whole elsewhere. */
export const clip = (text: string, width: number, cut: string): string => {
  if (cells(text) <= width) return text
  const [row] = wrap([{ text }], Math.max(1, width - cells(cut)))
  return `${row!.map(({ text }) => text).join("")}${cut}`
}
