/**
 * A scene in a window: the rows that are seen, page after page where there are more than there is room for, and what a key
 * makes of that. Keys that say yes mean something once every row was on the screen.
 */
import * as Key from "../keys/key.ts"
import * as Table from "../keys/table.ts"
import * as Words from "../keys/words.ts"
import * as Stage from "../screen/stage.ts"
import * as TextInput from "../screen/textInput.ts"
import * as Cells from "../text/cells.ts"
import { counted } from "../text/count.ts"
import * as Style from "../text/style.ts"
import type { Line, Row } from "../text/style.ts"
import * as Scene from "./scene.ts"

/** A scene, how far it was read, and what is said of the last key. */
export interface View<A> {
  readonly scene: Scene.Scene<A>
  readonly page: number
  /** How many pages were on the screen, from the first without one left out; `Infinity` once all were. */
  readonly read: number
  /** The window of these pages, once a key was pressed in it. */
  readonly window?: Scene.Window | undefined
  readonly says?: string | undefined
}

export const view = <A>(scene: Scene.Scene<A>): View<A> => ({ scene, page: 0, read: 0 })

export interface Frame {
  readonly rows: ReadonlyArray<Row>
  /** Which keys mean something. */
  readonly place: Table.Place
  readonly page: number
  readonly pages: number
  readonly now: Table.Now
}

// =============================================================================
// Pages
// =============================================================================

interface Block {
  readonly rows: ReadonlyArray<Row>
  /** Where each of its lines begins. */
  readonly starts: ReadonlyArray<number>
}

// A key changes little of what is seen, and lines that are the same have the same rows.
const laidOut = new WeakMap<Line, { readonly place: Cells.Place; readonly rows: ReadonlyArray<Row> }>()

const rowsOf = (line: Line, place: Cells.Place): ReadonlyArray<Row> => {
  const known = laidOut.get(line)
  if (known !== undefined && isSame(known.place, place)) return known.rows
  const rows = Cells.layout([line], place)
  laidOut.set(line, { place, rows })
  return rows
}

const isSame = (one: Cells.Place, other: Cells.Place): boolean =>
  one.columns === other.columns && one.ambiguous === other.ambiguous && one.ascii === other.ascii

const blockOf = (lines: ReadonlyArray<Line>, window: Scene.Window): Block => {
  const rows: Array<Row> = []
  const starts = lines.map((line) => {
    const start = rows.length
    for (const row of rowsOf(line, window)) rows.push(row)
    return start
  })
  return { rows, starts }
}

/** Pages of so many rows; a line is not torn from its beginning where others stand before it. */
const pagesOf = (
  { rows, starts }: Block,
  { head, height, last }: { readonly head: number; readonly height: number; readonly last: number }
): ReadonlyArray<readonly [number, number]> => {
  const pages: Array<readonly [number, number]> = []
  let at = 0
  while (rows.length - at > last) {
    // The title stands above each page.
    const room = at + Math.max(1, at === 0 ? height : height - head)
    const end = starts.findLast((start) => start > at && start <= room)
    const next = rows.length <= room ? rows.length : end ?? room
    pages.push([at, next])
    at = next
  }
  return pages
}

interface Place {
  readonly page: number
  readonly pages: number
  readonly total: number
  /** What was passed over, where the last rows are seen. */
  readonly unread?: readonly [number, number] | undefined
}

const position = <A>(
  { pagedAs, waits }: Scene.Scene<A>,
  [from, to]: readonly [number, number],
  { page, pages, total, unread }: Place,
  window: Scene.Window
): Line => {
  const waited = unread === undefined ? "the last" : `rows ${counted(unread[0] + 1)} to ${counted(unread[1])}`
  const and = waits === undefined ? { wide: "", narrow: "" } : {
    wide: `; ${waits.wide} for ${waited}`,
    narrow: `; ${waits.narrow} for ${unread === undefined ? waited : counted(unread[0] + 1)}`
  }
  const wide = pagedAs === "details"
    ? `-- page ${counted(page + 1)} of ${counted(pages)} --`
    : `-- rows ${counted(from + 1)} to ${counted(to)} of ${counted(total)}${and.wide} --`
  const text = Cells.cells(wide) <= window.columns
    ? wide
    : `-- ${counted(to)} of ${counted(total)} rows${and.narrow}`
  return { first: [], rest: [], body: Style.plain(text, "muted"), prose: true }
}

// =============================================================================
// Drawing
// =============================================================================

const indent = "    "

/** What is seen. */
export const frame = <A>({ page, read, says, scene }: View<A>, window: Scene.Window): Frame => {
  const layout = (lines: ReadonlyArray<Line>) => Cells.layout(lines, window)
  const foot = (place: Table.Place, now: Table.Now = scene.now): Line =>
    says === undefined ? Words.foot(place, now, window) : Words.sentence(place, now, says, window)
  if (window.columns < Stage.minColumns && scene.fitsNarrow !== true) {
    const told = Words.narrow(scene.place, scene.now, window)
    return { rows: layout([told]), place: "narrow", page: 0, pages: 1, now: scene.now }
  }
  const { below = [], block: lines, focus } = scene.draw(window)
  const block = blockOf(lines, window)
  const total = block.rows.length
  const room = Math.max(1, window.rows - 1)
  const tail = [...below, ...layout([foot(scene.place)])]
  if (total + tail.length <= room) {
    return { rows: [...block.rows, ...tail], place: scene.place, page: 0, pages: 1, now: scene.now }
  }
  const now = { ...scene.now, isPaged: true }
  const cut = Style.plain(`${indent}${window.signs.cut}`, "muted")
  const place = scene.pagedAs ?? "pages"
  const pageFoot = layout([foot(place)])
  const height = Math.max(1, room - 2 - pageFoot.length)
  const isText = place === "details"
  const title = block.rows.slice(0, block.starts[1])
  const head = title.length
  const endHeight = isText ? 0 : Math.max(1, room - 1 - head - tail.length)
  const before = pagesOf(block, { head, height, last: endHeight })
  const titled = (from: number) => from === 0 ? [] : title
  const pages = isText ? before.length : before.length + 1
  const at = Math.min(page, pages - 1)
  const shown = before[at]
  if (shown !== undefined) {
    const told = layout([position(scene, shown, { page: at, pages, total }, window)])
    const goesOn = shown[1] < total ? [cut] : []
    const rows = [...titled(shown[0]), ...block.rows.slice(...shown), ...goesOn, ...told, ...pageFoot]
    return { rows, place, page: at, pages, now: scene.now }
  }
  const focused = focus === undefined ? undefined : block.starts[focus]
  const start = Math.max(head, Math.min(total - endHeight, focused ?? total))
  const end = start + endHeight
  // Whoever went to the end at once has not seen what they would consent to.
  const unread = scene.waits === undefined || read >= before.length ? undefined : before[read]
  if (unread !== undefined) {
    const from = Math.max(head, end - Math.max(1, height - head))
    const told = { page: at, pages, total, unread: [unread[0], before.at(-1)![1]] } as const
    return {
      rows: [
        ...title,
        cut,
        ...block.rows.slice(from, end),
        ...layout([position(scene, [from, end], told, window)]),
        ...pageFoot
      ],
      place,
      page: at,
      pages,
      now: scene.now
    }
  }
  const rows = [
    ...title,
    cut,
    ...block.rows.slice(start, end < total ? end - 1 : end),
    ...(end < total ? [cut] : []),
    ...tail
  ]
  return { rows, place: scene.place, page: at, pages, now }
}

// =============================================================================
// Keys
// =============================================================================

/** What a key makes of it; a scene that stays is the view to go on with. */
export type Next<A> =
  | { readonly _tag: "Next"; readonly view: View<A>; readonly guard: boolean }
  | { readonly _tag: "Leave"; readonly view: View<A>; readonly step: Leaving<A> }

export type Leaving<A> =
  | Exclude<Scene.Step<A>, { readonly _tag: "Stay" | "Say" }>
  | { readonly _tag: "Details" }
  | { readonly _tag: "Stop" }

const next = <A>(view: View<A>, guard = false): Next<A> => ({ _tag: "Next", view, guard })

/** With the page that is on the screen as read, if all before it were. */
const reading = <A>({ page, read, scene }: View<A>, window: Scene.Window): View<A> => {
  const { page: at, pages, place } = frame({ page, read, scene }, window)
  const now = place === "narrow" || at > read ? read : Math.max(read, at + 1)
  return { scene, page, read: now >= pages ? Infinity : now, window }
}

// Other pages begin and end elsewhere: what was read of some is not known of them.
const resized = <A>({ page, read, scene, window }: View<A>, to: Scene.Window): View<A> => {
  if (window === undefined || (window.columns === to.columns && window.rows === to.rows)) {
    return { scene, page, read, window }
  }
  const before = reading({ scene, page, read }, window)
  return scene.waits === undefined || before.read === Infinity ? before : { scene, page: 0, read: 0 }
}

export const on = <A>(before: View<A>, happening: Stage.Happening, window: Scene.Window): Next<A> => {
  if (happening._tag === "Resized") return next(resized(before, window), before.scene.input === undefined)
  const view = reading(before, window)
  const { scene } = view
  const leave = (step: Leaving<A>): Next<A> => ({ _tag: "Leave", view, step })
  const say = (says: string) => next({ ...view, says })
  switch (happening._tag) {
    case "Paste":
      return scene.input === undefined
        ? say("A paste is no answer.")
        : next({ ...view, scene: scene.input.edited(TextInput.insert(scene.input.state, happening.text)) })
    case "Key":
      break
  }
  const { now, page, pages, place } = frame(before, window)
  const pressed = Key.pressed(happening)
  const isIn = (place: Table.Place, key: Key.Key) => Table.meanings(place, now).some((meaning) => meaning.key === key)
  const means = (key: Key.Key) => isIn(place, key) && (place !== "narrow" || isIn(scene.place, key))
  if (pressed?.key === "Ctrl-C") return leave({ _tag: "Stop" })
  if (
    scene.input !== undefined && place === scene.place &&
    (pressed === undefined || pressed.key === "Alt-Enter" || !means(pressed.key))
  ) {
    const edited = TextInput.edited(scene.input.state, happening)
    return edited === undefined
      ? say(Words.meansNothing(Key.nameOf(happening)))
      : next({ ...view, scene: scene.input.edited(edited) })
  }
  if (pressed === undefined || !means(pressed.key)) {
    return say(Table.refused(place, pressed?.key, now) ?? Words.meansNothing(Key.nameOf(happening)))
  }
  const passesOver = (to: number) => scene.waits !== undefined && view.read < to
  // Whoever holds a key to come to the end must not answer with it.
  const turned = (to: number) => next({ ...view, page: to }, to === pages - 1 && place !== "details" && !passesOver(to))
  switch (pressed.key) {
    case "space":
      return page < pages - 1
        ? turned(page + 1)
        : passesOver(page)
        ? turned(view.read)
        : say("space means nothing here: this is the last page.")
    case "End":
      return page < pages - 1 ? turned(pages - 1) : say("End means nothing here: this is the last page.")
    case "b":
      return page > 0 ? next({ ...view, page: page - 1 }) : say("b means nothing here: this is the first page.")
    case "?":
      return leave({ _tag: "Go", scene: help(place, now) })
    case "d":
      return leave({ _tag: "Details" })
  }
  const step = scene.press(pressed, pressed.key)
  switch (step._tag) {
    case "Stay":
      return next({ ...view, scene: step.scene })
    case "Say":
      return say(step.says)
    default:
      return leave(step)
  }
}

// =============================================================================
// Beside any scene
// =============================================================================

const beside = (
  place: "help" | "details",
  draw: (window: Scene.Window) => ReadonlyArray<Line>
): Scene.Scene<never> => {
  // What is looked at does not change, however often it is drawn.
  let drawn: { readonly window: Scene.Window; readonly block: ReadonlyArray<Line> } | undefined
  return {
    place,
    now: {},
    pagedAs: "details",
    guarded: false,
    takesPaste: false,
    draw: (window) => {
      if (drawn === undefined || drawn.window.signs !== window.signs || !isSame(drawn.window, window)) {
        drawn = { window, block: draw(window) }
      }
      return drawn
    },
    press: () => Scene.back
  }
}

const help = (place: Table.Place, now: Table.Now): Scene.Scene<never> =>
  beside("help", ({ signs }) => [Style.heading("Keys", signs), ...Words.help(place, now, signs)])

export const details = (lines: (window: Scene.Window) => ReadonlyArray<Line>): Scene.Scene<never> =>
  beside("details", (window) => [Style.heading("Details", window.signs), ...lines(window)])
