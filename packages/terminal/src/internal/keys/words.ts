/**
 * What is said of keys: the row below a screen, the sentence for a key that means nothing, and the rows of `?`. All of it
 * is made of the table, and in a narrow window less of it.
 */
import * as Cells from "../text/cells.ts"
import * as Safe from "../text/safe.ts"
import * as Signs from "../text/signs.ts"
import type { Line } from "../text/style.ts"
import * as Table from "./table.ts"

/** What our own words have of our own signs, as this terminal shows them. */
export const ours = (text: string, signs: Signs.Signs): string =>
  signs === Signs.unicode
    ? text
    : text.replaceAll("↑↓", signs.upDown).replaceAll("←→", signs.leftRight).replaceAll("❯", signs.pointer)
      .replaceAll("·", signs.dot).replaceAll("…", signs.cut).replaceAll("≡", signs.folded)

export interface Window extends Cells.Place {
  readonly armed: boolean
  readonly signs: Signs.Signs
}

const ended = (text: string, { armed, signs }: Window): string =>
  `${ours(text, signs)} ${armed ? signs.ready : signs.wait}`

const fits = (text: string, window: Window): boolean =>
  Cells.cells(ended(text, window), window.ambiguous) <= window.columns

const line = (text: string, window: Window): Line => ({
  first: [],
  rest: [],
  body: [{ text: ended(text, window), style: "primary" }],
  prose: true
})

const widest = (texts: ReadonlyArray<string>, window: Window): Line =>
  line(texts.find((text) => fits(text, window)) ?? texts[texts.length - 1]!, window)

const isSaid = (text: string | undefined): text is string => text !== undefined

/** The keys, below a screen. */
export const foot = (place: Table.Place, now: Table.Now, window: Window): Line => {
  const meanings = Table.meanings(place, now)
  const narrow = meanings.map(({ narrow }) => narrow).filter(isSaid)
  const fewer = narrow.map((_, index) => narrow.slice(0, narrow.length - index))
  return widest([meanings.map(({ wide }) => wide).filter(isSaid), ...fewer].map((said) => said.join(" · ")), window)
}

/** In the place of the keys: that one means nothing here, or why it does not yet. */
export const sentence = (place: Table.Place, now: Table.Now, says: string, window: Window): Line => {
  const hints = Table.meanings(place, now).map(({ hint }) => hint).filter(isSaid)
  const last = hints.at(-1)
  return widest(
    [[says, hints.join(" · ")], last === undefined ? [says] : [says, last]].map((parts) =>
      parts.filter((part) => part !== "").join(" ")
    ),
    window
  )
}

/** Where there is no room for marks, so that nothing of a call can be shown. */
export const narrow = (place: Table.Place, now: Table.Now, window: Window): Line =>
  line(`Too narrow: needs 20 columns. ${Table.declines(place, now) ? "n no" : "Esc goes back"}`, window)

export const meansNothing = (name: string): string => `${Safe.line(name)} means nothing here.`

const labelWidth = 8

/** What `?` shows: each key that means something where it was pressed. */
export const help = (place: Table.Place, now: Table.Now, signs: Signs.Signs): ReadonlyArray<Line> => {
  const keys = Table.meanings(place, now).map(({ key }) => key)
  return Table.told.filter(([key]) => keys.includes(key)).map(([key, says]): Line => ({
    first: [{ text: `  ${ours(key, signs).padEnd(labelWidth)}`, style: "primary" }],
    rest: [{ text: `${" ".repeat(labelWidth)}${signs.more} `, style: "muted" }],
    body: [{ text: ours(says, signs) }],
    prose: true
  }))
}
