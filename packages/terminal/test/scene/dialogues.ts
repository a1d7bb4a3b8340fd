/** A dialogue without a terminal: what is seen of it in a window, and what keys make of it. */
import * as Dialogue from "../../src/internal/scene/dialogue.ts"
import * as Frame from "../../src/internal/scene/frame.ts"
import type * as Scene from "../../src/internal/scene/scene.ts"
import type * as Stage from "../../src/internal/screen/stage.ts"
import * as Signs from "../../src/internal/text/signs.ts"
import { textOf } from "../../src/internal/text/style.ts"

export const windowOf = (columns: number, rows = 24, fields: Partial<Scene.Window> = {}): Scene.Window => ({
  columns,
  rows,
  armed: true,
  ambiguous: 1,
  ascii: false,
  signs: Signs.unicode,
  ...fields
})

type Happening = Extract<Stage.Happening, { readonly _tag: "Key" }>

const names: Readonly<Record<string, Partial<Happening>>> = {
  "↑": { name: "up" },
  "↓": { name: "down" },
  "←": { name: "left" },
  "→": { name: "right" },
  Enter: { name: "return", text: "\r" },
  "Alt-Enter": { name: "return", text: "\r", meta: true },
  Esc: { name: "escape", meta: true },
  Tab: { name: "tab", text: "\t" },
  space: { name: "space", text: " " },
  End: { name: "end" },
  Backspace: { name: "backspace", text: "\x7f" },
  "Ctrl-G": { name: "g", text: "\x07", ctrl: true },
  "Ctrl-C": { name: "c", text: "\x03", ctrl: true },
  F5: { name: "f5" }
}

export const keyOf = (key: string): Happening => ({
  _tag: "Key",
  name: key,
  text: names[key] === undefined ? key : "",
  ctrl: false,
  meta: false,
  ...names[key]
})

export interface Played<A> {
  readonly open: Dialogue.Open<A>
  readonly ended: Dialogue.Ending<A> | undefined
}

export const begin = <A>(scene: Scene.Scene<A>): Played<A> => ({ open: Dialogue.opened(scene), ended: undefined })

/** One key after the other, until it has ended. */
export const press = <A>(played: Played<A>, keys: ReadonlyArray<string>, window: Scene.Window): Played<A> =>
  keys.reduce((played, key): Played<A> => {
    if (played.ended !== undefined) return played
    const next = Frame.on(Dialogue.top(played.open), keyOf(key), window)
    if (next._tag === "Next") return { open: Dialogue.replaced(played.open, next.view), ended: undefined }
    const after = Dialogue.follow(played.open, next.view, next.step)
    return { open: after.open, ended: after._tag === "Ended" ? after.step : undefined }
  }, played)

export const frameOf = <A>({ open }: Played<A>, window: Scene.Window): Frame.Frame =>
  Frame.frame(Dialogue.top(open), window)

/** The rows that are seen, but for blanks at their ends. */
export const seen = <A>(played: Played<A>, window: Scene.Window): ReadonlyArray<string> =>
  frameOf(played, window).rows.map((row) => textOf(row).trimEnd())
