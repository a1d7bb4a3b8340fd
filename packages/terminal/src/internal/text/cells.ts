/**
 * How many cells of a screen a text takes, and where its lines are broken.
 *
 * A row that is wider than the screen is broken by the terminal itself, and what follows stands at its left edge, where
 * only our own words may stand. So no character is thought narrower than some terminal draws it. Nothing is normalized,
 * trimmed or dropped: what the rows say together is the text, to the last character.
 */
import * as Safe from "./safe.ts"
import type { Line, Row, Span, Style } from "./style.ts"
import * as Widths from "./widths.ts"

/** Where rows are drawn. */
export interface Place {
  readonly columns: number
  /** Cells of a character that is narrow or wide as a terminal is set: 2 where that is not known. */
  readonly ambiguous: 1 | 2
  /** Whether the terminal takes nothing but ASCII: then the text of others is escaped to it. */
  readonly ascii: boolean
}

type Ambiguous = Place["ambiguous"]

const ascii = /^[\x20-\x7e]*$/

const isMark = (code: number, character: string): boolean => code >= 0x300 && /^\p{M}$/u.test(character)

/** The most cells that a terminal takes for a text without controls. */
export const cells = (text: string, ambiguous: Ambiguous = 1): number => {
  if (ascii.test(text)) return text.length
  let sum = 0
  for (const character of text) sum += Widths.widthOf(character.codePointAt(0)!, ambiguous)
  return sum
}

/** A character with the marks on it, which are never parted from it. */
interface Cluster {
  text: string
  cells: number
  readonly style: Style | undefined
}

const clustersOf = (body: Row, ambiguous: Ambiguous): ReadonlyArray<Cluster> => {
  const clusters: Array<Cluster> = []
  for (const { style, text } of body) {
    for (const character of text) {
      const code = character.codePointAt(0)!
      const width = Widths.widthOf(code, ambiguous)
      const last = clusters[clusters.length - 1]
      if (last !== undefined && isMark(code, character)) {
        last.text += character
        last.cells += width
      } else {
        clusters.push({ text: character, cells: width, style })
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
export const wrap = (body: Row, width: number, prose = false, ambiguous: Ambiguous = 1): ReadonlyArray<Row> => {
  if (body.every(({ text }) => ascii.test(text))) return wrapAscii(body, width, prose)
  const clusters = clustersOf(body, ambiguous)
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

/** Where a text is broken whose characters take a cell each, as all others are. */
const breaksOf = (text: string, width: number, prose: boolean): ReadonlyArray<number> => {
  const breaks: Array<number> = []
  let start = 0
  while (text.length - start > width) {
    let end = start + width
    if (prose) {
      let space = end
      while (
        space > start && !(text[space - 1] === " " && space > 1 && text[space - 2] !== " " && text[space] !== " ")
      ) {
        space--
      }
      if (space > start) end = space
    }
    breaks.push(end)
    start = end
  }
  return breaks
}

const wrapAscii = (body: Row, width: number, prose: boolean): ReadonlyArray<Row> => {
  const text = body.map(({ text }) => text).join("")
  if (text.length <= width) return [body]
  const rows: Array<Row> = []
  let index = 0
  // What of a span stands in rows already.
  let used = 0
  let at = 0
  for (const end of [...breaksOf(text, width, prose), text.length]) {
    const row: Array<Span> = []
    while (at < end) {
      const span = body[index]!
      const piece = span.text.slice(used, used + end - at)
      if (piece !== "") row.push({ text: piece, style: span.style })
      at += piece.length
      used += piece.length
      if (used === span.text.length) {
        index++
        used = 0
      }
    }
    rows.push(row)
  }
  return rows
}

export const widthOf = (row: Row, ambiguous: Ambiguous): number =>
  row.reduce((sum, { text }) => sum + cells(text, ambiguous), 0)

/** Of what is said beside a mark. */
const minWidth = 8

/** Before what goes on with a row, where nothing else has room. */
const markOf = (ascii: boolean): Row => [{ text: ascii ? "  : " : "  ⋮ ", style: "muted" }]

const escaped = (row: Row): Row => row.map(({ style, text }) => ({ text: Safe.ascii(text), style }))

/** The lines as rows that are not wider than the screen; `place` is its columns, where our signs take a cell. */
export const layout = (lines: ReadonlyArray<Line>, place: number | Place): ReadonlyArray<Row> => {
  const { ambiguous, ascii, columns } = typeof place === "number"
    ? { columns: place, ambiguous: 1 as const, ascii: false }
    : place
  const rows: Array<Row> = []
  for (const line of lines) {
    const { body, first, rest } = ascii
      ? { body: escaped(line.body), first: escaped(line.first), rest: escaped(line.rest) }
      : line
    const width = columns - Math.max(widthOf(first, ambiguous), widthOf(rest, ambiguous))
    if (width >= minWidth) {
      wrap(body, width, line.prose, ambiguous).forEach((row, index) =>
        rows.push([...(index === 0 ? first : rest), ...row])
      )
    } else {
      // What stands before has no room beside it.
      const mark = markOf(ascii)
      const beside = Math.max(minWidth, columns - widthOf(mark, ambiguous))
      wrap(first, beside, false, ambiguous).forEach((row, index) => rows.push(index === 0 ? row : [...mark, ...row]))
      wrap(body, beside, line.prose, ambiguous).forEach((row) => rows.push([...mark, ...row]))
    }
  }
  return rows
}

/** Rows of which none is wider than the screen, wherever they are from. */
export const bound = (rows: ReadonlyArray<Row>, { ambiguous, ascii, columns }: Place): ReadonlyArray<Row> =>
  rows.flatMap((row) => {
    if (widthOf(row, ambiguous) <= columns) return [row]
    // Of a window of a few cells there is nothing left beside a mark.
    const mark = columns < minWidth ? [] : markOf(ascii)
    const width = Math.max(1, columns - widthOf(mark, ambiguous))
    return wrap(row, width, false, ambiguous).map((part, index) => index === 0 ? part : [...mark, ...part])
  })

/** As much of a text as fits, with its end marked where it does not: for what is shown whole elsewhere. */
export const clip = (text: string, width: number, end = "…", ambiguous: Ambiguous = 1): string => {
  if (cells(text, ambiguous) <= width) return text
  const [row] = wrap([{ text }], Math.max(1, width - cells(end, ambiguous)), false, ambiguous)
  return `${row!.map(({ text }) => text).join("")}${end}`
}
