/**
 * Rows of what is not ours, so that it cannot pass for ours: `│` begins a line of a text, `=` one of data, and `⋮` what a
 * row had no room for. Beside it our own words, each with a label.
 */
import type * as Schema from "effect/Schema"
import * as Cells from "../text/cells.ts"
import { linesOf, many } from "../text/count.ts"
import * as Highlight from "../text/highlight.ts"
import * as Json from "../text/json.ts"
import * as Safe from "../text/safe.ts"
import type * as Signs from "../text/signs.ts"
import * as Style from "../text/style.ts"
import type { Line, Row } from "../text/style.ts"

/** What a drawing has to know of the window. */
export interface Room extends Cells.Place {
  readonly signs: Signs.Signs
}

const labelWidth = 10

/** A word of ours, and what it says of the request. */
export const field = (label: string, body: Row, { more }: Signs.Signs): Line => ({
  first: [{ text: `  ${label.padEnd(labelWidth)}`, style: "muted" }],
  rest: Style.plain(`${" ".repeat(labelWidth)}${more} `, "muted"),
  body,
  prose: true
})

/** What somebody says of what a field names, behind a mark. */
export const quoted = (text: string, { bar, more }: Signs.Signs): ReadonlyArray<Line> =>
  Safe.lines(text).split("\n").map((line) => ({
    first: Style.plain(`${" ".repeat(labelWidth + 2)}${bar} `, "muted"),
    rest: Style.plain(`${" ".repeat(labelWidth + 2)}${more} `, "muted"),
    body: Style.plain(Safe.tabs(line)),
    prose: true
  }))

export const indent = "    "

/** Rows behind a mark; those of `prose` are broken at spaces. */
export const marked = (
  mark: string,
  rows: ReadonlyArray<Row>,
  { more }: Signs.Signs,
  prose = false
): ReadonlyArray<Line> =>
  rows.map((body) => ({
    first: Style.plain(`${indent}${mark} `, "muted"),
    rest: Style.plain(`${indent}${more} `, "muted"),
    body: body.map(({ style, text }) => ({ text: Safe.tabs(text), style })),
    prose
  }))

/** A text of several lines, whole. */
export const block = (text: string, signs: Signs.Signs, language?: string): ReadonlyArray<Line> =>
  marked(signs.bar, Highlight.highlight(Safe.lines(text), language), signs, true)

// What JSON leaves as it is may still be invisible; in a text within JSON an escape means itself.
const json = (value: Schema.Json, signs: Signs.Signs): ReadonlyArray<Line> =>
  marked("=", Highlight.highlight(Safe.lines(Json.format(value)), "json"), signs)

export const asciiJson = (value: Schema.Json, signs: Signs.Signs): ReadonlyArray<Line> =>
  marked("=", Highlight.highlight(Safe.lines(Json.ascii(Json.format(value))), "json"), signs)

// =============================================================================
// Parameters
// =============================================================================

/**
 * A name or a text in one line: in quotes where it could be taken for something else, or for an escape of ours, or has
 * an end one cannot see.
 */
const inline = (text: string): string =>
  text === "" || /^\s|\s$|^["[{]|\\u/.test(text) || isLiteral(text) ? Safe.line(JSON.stringify(text)) : Safe.line(text)

const isLiteral = (text: string): boolean => /^(true|false|null|-?\d+(\.\d+)?(e[+-]?\d+)?)$/i.test(text)

export const nameOf = (name: string): string =>
  /^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(name) ? Safe.line(name) : Safe.line(JSON.stringify(name))

export const isRecord = (value: Schema.Json): value is Schema.JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The parameters in the order of the tool's schema; those that it does not name after them. */
export const entries = (
  params: Schema.JsonObject,
  order: ReadonlyArray<string> = []
): ReadonlyArray<readonly [name: string, value: Schema.Json]> => {
  const names = Object.keys(params)
  return [...order.filter((name) => Object.hasOwn(params, name)), ...names.filter((name) => !order.includes(name))]
    .map((name) => [name, params[name]!])
}

/** How one parameter is shown: beside its name, or below it. */
export type Shown =
  | { readonly mark: string; readonly text: string; readonly prose: boolean }
  | { readonly says: string; readonly lines: ReadonlyArray<Line> }
  /** In the place of what it is: another way to see it. */
  | { readonly mark: string; readonly text: string; readonly prose: boolean; readonly lines: ReadonlyArray<Line> }

const maxRows = 4

const widthBeside = (columns: number, nameWidth: number): number => Math.max(8, columns - indent.length - nameWidth - 3)

/** The rows that a window of an ordinary width has for data in one row. */
const dataRows = 2
const ordinary = 80

const textShown = (
  value: string,
  { ambiguous, columns, signs }: Room,
  nameWidth: number,
  language: string | undefined
): Shown => {
  const text = inline(value)
  if (
    !value.includes("\n") &&
    Cells.cells(text, ambiguous) <= maxRows * widthBeside(Math.max(columns, ordinary), nameWidth)
  ) {
    return { mark: signs.bar, text, prose: true }
  }
  return { says: many(linesOf(value).length, "line"), lines: block(value, signs, language) }
}

const shownOf = (value: Schema.Json, room: Room, nameWidth: number, language: string | undefined): Shown => {
  if (typeof value === "string") return textShown(value, room, nameWidth, language)
  const text = Safe.line(JSON.stringify(value))
  return Cells.cells(text, room.ambiguous) <= dataRows * widthBeside(Math.max(room.columns, ordinary), nameWidth)
    ? { mark: "=", text, prose: false }
    : { says: "data", lines: json(value, room.signs) }
}

/** So wide may a name be that its value stands beside it. */
export const nameWidthIn = ({ columns }: Cells.Place): number => Math.max(4, Math.min(20, Math.floor(columns / 2) - 6))

/** What is known of a parameter beside its value. */
export interface Known {
  readonly languages?: ReadonlyMap<string, string | undefined> | undefined
  readonly instead?: ReadonlyMap<string, Shown> | undefined
  readonly order?: ReadonlyArray<string> | undefined
}

/** A name and what stands beside it. */
export interface Named {
  /** Our own words before it. */
  readonly before: string
  readonly name: string
  readonly style: Style.Style
  /** How wide the names are that stand below each other. */
  readonly width: number
  readonly mark: string
  readonly body: Row
  readonly prose: boolean
}

/** A name is not ours: one that is long has a row of its own, and goes on behind a mark. */
export const named = (
  { before, body, mark, name, prose, style, width }: Named,
  room: Room
): readonly [Line, ...ReadonlyArray<Line>] => {
  const { more } = room.signs
  const taken = Cells.cells(name, room.ambiguous)
  const blank = (width: number) => Style.plain(`${" ".repeat(width)}${more} `, "muted")
  if (taken > nameWidthIn(room)) {
    return [
      { first: Style.plain(before, "primary"), rest: blank(before.length), body: [{ text: name, style }] },
      { first: Style.plain(`${indent}${mark}`, "muted"), rest: blank(indent.length), body, prose }
    ]
  }
  const label = `${name}${" ".repeat(Math.max(0, width - taken))} `
  return [{
    first: [{ text: before, style: "primary" }, { text: label, style }, { text: mark, style: "muted" }],
    rest: blank(before.length + Math.max(width, taken) + 1),
    body,
    prose
  }]
}

/** How wide names are, but for those that have a row of their own. */
export const widthOf = (names: ReadonlyArray<string>, room: Room): number =>
  Math.max(0, ...names.map((name) => Cells.cells(name, room.ambiguous)).filter((width) => width <= nameWidthIn(room)))

/** Every parameter, whole. */
export const parameters = (params: Schema.Json, room: Room, known: Known = {}): ReadonlyArray<Line> => {
  const { signs } = room
  if (!isRecord(params)) return json(params, signs)
  const all = entries(params, known.order)
  if (all.length === 0) return [Style.prose("no parameters", "muted", indent)]
  const width = widthOf(all.map(([name]) => nameOf(name)), room)
  return all.flatMap(([key, value]): ReadonlyArray<Line> => {
    const shown = known.instead?.get(key) ?? shownOf(value, room, width, known.languages?.get(key))
    const name = nameOf(key)
    const lines = "lines" in shown ? shown.lines : []
    const common = { before: indent, name, style: "title" as const, width }
    return [
      ..."mark" in shown
        ? named({ ...common, mark: `${shown.mark} `, body: Style.plain(shown.text), prose: shown.prose }, room)
        : named({ ...common, mark: "", body: Style.plain(`(${shown.says})`, "muted"), prose: true }, room),
      ...lines
    ]
  })
}

// =============================================================================
// Notes
// =============================================================================

// In JSON a backslash that means itself is two.
const escapeIn = (value: unknown): string | undefined => {
  const text = JSON.stringify(value).replaceAll("\\\\", "")
  const shown = Safe.line(text)
  return /\\u(?:[0-9a-f]{4}|\{[0-9a-f]+\})/i.exec(shown)?.[0] ?? (/\\[bfr]/.test(text) ? "\\u000d" : undefined)
}

// The blocks whose letters run so.
const fromRightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u

/** What is to be known of characters: of what runs, and of what is said beside it. */
export const notes = (
  runs: ReadonlyArray<unknown>,
  said: ReadonlyArray<unknown>,
  signs: Signs.Signs
): ReadonlyArray<Line> => {
  const escape = escapeIn(runs)
  return [
    ...(escape === undefined
      ? []
      : [field("Note", Style.plain(`${escape} and the like are characters that cannot be seen.`), signs)]),
    ...(fromRightToLeft.test(JSON.stringify([runs, said]))
      ? [field(
        "Note",
        Style.plain(
          "some letters run from right to left, and a terminal may show what stands beside them in another order;" +
            " the details have the parameters in ASCII"
        ),
        signs
      )]
      : [])
  ]
}
