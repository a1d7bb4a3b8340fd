/**
 * Text with colours, and how it is written to a terminal. Colours come last: what is broken into rows is plain text.
 */
import type * as Prompt from "effect/cli/Prompt"
import type * as Signs from "./signs.ts"

export type Style =
  | "bold"
  | "muted"
  | "primary"
  | "success"
  | "error"
  | "added"
  | "removed"
  | "keyword"
  | "string"
  | "number"
  | "title"
  | "cursor"

/** Escaped text, without line breaks. */
export interface Span {
  readonly text: string
  readonly style?: Style | undefined
}

/** What stands beside each other on a screen. */
export type Row = ReadonlyArray<Span>

/** A line of any length: what stands before its first row, and before the others. */
export interface Line {
  readonly first: Row
  readonly rest: Row
  readonly body: Row
  readonly prose?: boolean | undefined
}

const codes: Partial<Record<Style, string>> = {
  bold: "\x1b[1m",
  added: "\x1b[32m",
  removed: "\x1b[31m",
  keyword: "\x1b[35m",
  string: "\x1b[32m",
  number: "\x1b[33m",
  title: "\x1b[36m",
  cursor: ""
}

const codeOf = (style: Style, theme: Prompt.Theme): string => {
  switch (style) {
    case "muted":
      return theme.mutedColor
    case "primary":
      return theme.primaryColor
    case "success":
      return theme.successColor
    case "error":
      return theme.errorColor
    default:
      return codes[style]!
  }
}

export const paint = (row: Row, theme: Prompt.Theme): string =>
  row.map(({ style, text }) =>
    !theme.colors || style === undefined || text === "" ? text : `${codeOf(style, theme)}${text}\x1b[0m`
  ).join("")

/** A row of our own words. */
export const plain = (text: string, style?: Style): Row => [{ text, style }]

/** A line of our own words, behind an indent. */
export const prose = (text: string, style?: Style, indent = "  "): Line => ({
  first: plain(indent),
  rest: plain(indent),
  body: plain(text, style),
  prose: true
})

export const textOf = (row: Row): string => row.map(({ text }) => text).join("")

/** The title of a screen, in our own words. */
export const heading = (text: string, { heading }: Signs.Signs): Line => ({
  first: [],
  rest: [],
  body: plain(`${heading}${heading} ${text} ${heading}${heading}`, "bold"),
  prose: true
})

/** One that has a name in it, which may be long. */
export const headingOf = (text: string, signs: Signs.Signs): Line => ({
  ...heading(text, signs),
  rest: plain(`  ${signs.more} `, "muted")
})
