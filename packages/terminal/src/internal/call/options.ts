/** The few answers that a question offers: a letter for each, and `❯` for arrows and Enter. */
import type { Key, Pressed } from "../keys/key.ts"
import * as Words from "../keys/words.ts"
import * as Scene from "../scene/scene.ts"
import * as Cells from "../text/cells.ts"
import * as Style from "../text/style.ts"
import type { Line, Row } from "../text/style.ts"
import type * as Rows from "./rows.ts"

export interface Option<A> {
  readonly key: Key
  readonly says: string
  /** The same in a narrow window. */
  readonly short?: string | undefined
  readonly step: () => Scene.Step<A>
}

/** Before a row of a list: `❯`, or nothing of the same width. */
export const pointer = (isAt: boolean, { signs }: Rows.Room): string =>
  isAt ? `${signs.pointer} ` : " ".repeat(Cells.cells(signs.pointer) + 1)

export const rows = <A>(
  options: ReadonlyArray<Option<A>>,
  at: number | undefined,
  room: Rows.Room
): ReadonlyArray<Row> => Cells.layout(lines(options, at, room), room)

const lines = <A>(
  options: ReadonlyArray<Option<A>>,
  at: number | undefined,
  room: Rows.Room
): ReadonlyArray<Line> =>
  options.map(({ key, says, short }, index): Line => {
    const before = `${pointer(index === at, room)}${key}  `
    const text = short === undefined || Cells.cells(before + says) <= room.columns ? says : short
    return {
      first: Style.plain(before, "primary"),
      rest: Style.plain(`   ${room.signs.more} `, "muted"),
      body: Style.plain(Words.ours(text, room.signs), index === at ? "bold" : undefined),
      prose: true
    }
  })

/** What Enter, arrows, and the letters do; nothing for other keys. */
export const press = <A>(
  options: ReadonlyArray<Option<A>>,
  at: number | undefined,
  { at: by, key }: Pressed,
  moved: (at: number) => Scene.Scene<A>
): Scene.Step<A> | undefined => {
  switch (key) {
    case "↑↓":
      return Scene.stay(moved(Scene.moved(at, by, options.length)))
    case "Enter":
      return at === undefined
        ? Scene.say("Enter takes what ❯ points at: nothing is chosen yet.")
        : options[at]!.step()
    default:
      return options.find((option) => option.key === key)?.step()
  }
}
