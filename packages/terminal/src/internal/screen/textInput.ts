/**
 * A text that a person types or pastes, of any length: what is on the screen is a window around the cursor, and only that
 * is laid out, so that every key costs the same however long the text is. Enter ends it; line breaks of a paste are text.
 */
import * as Cells from "../text/cells.ts"
import * as Safe from "../text/safe.ts"
import * as Style from "../text/style.ts"
import type { Line, Row } from "../text/style.ts"
import type * as Stage from "./stage.ts"

export interface State {
  readonly before: string
  readonly after: string
  readonly problem: string | undefined
}

// =============================================================================
// Editing
// =============================================================================

const lastCharacter = (text: string): string =>
  /(?:[\ud800-\udbff][\udc00-\udfff]|[^])$/.exec(text.slice(-2))?.[0] ?? ""
const firstCharacter = (text: string): string =>
  /^(?:[\ud800-\udbff][\udc00-\udfff]|[^])/.exec(text.slice(0, 2))?.[0] ?? ""

/** With nothing in it. */
export const empty: State = { before: "", after: "", problem: undefined }

/** What was typed or pasted, at the cursor. */
export const insert = (state: State, text: string): State => ({
  ...state,
  before: state.before + text,
  problem: undefined
})

const toLineStart = (state: State): State => moved(state, state.before.lastIndexOf("\n") + 1)

const toLineEnd = (state: State): State => {
  const end = state.after.indexOf("\n")
  return moved(state, state.before.length + (end < 0 ? state.after.length : end))
}

const moved = ({ after, before, problem }: State, to: number): State =>
  to <= before.length
    ? { before: before.slice(0, to), after: before.slice(to) + after, problem }
    : { before: before + after.slice(0, to - before.length), after: after.slice(to - before.length), problem }

const upOrDown = (state: State, name: string): State => {
  const column = state.before.length - toLineStart(state).before.length
  if (name === "up") {
    const end = state.before.lastIndexOf("\n")
    if (end < 0) return state
    const start = state.before.lastIndexOf("\n", end - 1) + 1
    return moved(state, end === 0 ? 0 : Math.min(end, start + column))
  }
  const start = state.before.length + state.after.indexOf("\n") + 1
  if (start === state.before.length) return state
  const end = toLineEnd(moved(state, start)).before.length
  return moved(state, Math.min(end, start + column))
}

/** What a key makes of the text; `undefined` if it means nothing. */
export const edited = (
  state: State,
  { ctrl, meta, name, text }: Extract<Stage.Happening, { readonly _tag: "Key" }>
): State | undefined => {
  const { after, before } = state
  if (ctrl) {
    switch (name) {
      case "a":
        return toLineStart(state)
      case "e":
        return toLineEnd(state)
      case "u":
        return { before: toLineStart(state).before, after, problem: undefined }
      case "k":
        return { before, after: toLineEnd(state).after, problem: undefined }
      case "w":
        return { before: before.replace(/\S*\s*$/, ""), after, problem: undefined }
      default:
        return undefined
    }
  }
  switch (name) {
    case "left":
      return moved(state, before.length - lastCharacter(before).length)
    case "right":
      return moved(state, before.length + firstCharacter(after).length)
    case "home":
      return toLineStart(state)
    case "end":
      return toLineEnd(state)
    case "up":
    case "down":
      return upOrDown(state, name)
    case "backspace":
      return { before: before.slice(0, before.length - lastCharacter(before).length), after, problem: undefined }
    case "delete":
      return { before, after: after.slice(firstCharacter(after).length), problem: undefined }
    // Ctrl-J, and Enter with Alt.
    case "enter":
      return insert(state, "\n")
    case "return":
      return meta ? insert(state, "\n") : undefined
    default:
      return meta || text === "" || /^\p{Cc}/u.test(text) ? undefined : insert(state, text)
  }
}

// =============================================================================
// Drawing
// =============================================================================

const maxRows = 8

const wholeStart = (text: string): string => /^[\udc00-\udfff]/.test(text) ? text.slice(1) : text
const wholeEnd = (text: string): string => /[\ud800-\udbff]$/.test(text) ? text.slice(0, -1) : text

/** The rows around the cursor. */
export const windowOf = ({ after, before }: State, screen: Stage.Screen): ReadonlyArray<Row> => {
  const { columns, rows, signs } = screen
  const height = Math.max(1, Math.min(maxRows, rows - 5))
  const around = columns * height
  const left = Safe.tabs(Safe.lines(wholeStart(before.slice(-around)))).split("\n")
  const [here, ...right] = Safe.tabs(Safe.lines(wholeEnd(after.slice(0, around)))).split("\n")
  const line = (body: Row): Line => ({
    first: Style.plain(`  ${signs.bar} `, "muted"),
    rest: Style.plain(`  ${signs.more} `, "muted"),
    body,
    prose: true
  })
  const all = Cells.layout([
    ...left.slice(0, -1).map((text) => line(Style.plain(text))),
    line([{ text: left[left.length - 1]! }, { text: signs.cursor, style: "cursor" }, { text: here! }]),
    ...right.map((text) => line(Style.plain(text)))
  ], screen)
  const at = all.findIndex((row) => row.some(({ style }) => style === "cursor"))
  const start = Math.max(0, Math.min(at - Math.floor(height / 2), all.length - height))
  return all.slice(start, start + height)
}

const summary = ({ after, before }: State, drawn: number): string => {
  const length = before.length + after.length
  return drawn < maxRows && length < 200 ? "" : `${length} characters, at ${before.length}`
}

/** The rows around the cursor, how much there is beside them, and what is wrong with it. */
export const rows = (state: State, screen: Stage.Screen): ReadonlyArray<Row> => {
  const around = windowOf(state, screen)
  const said = summary(state, around.length)
  return [
    ...around,
    ...(said === "" ? [] : Cells.layout([Style.prose(said, "muted")], screen)),
    ...(state.problem === undefined
      ? []
      : Cells.layout([Style.prose(`! ${state.problem}`, "error")], screen).slice(0, 4))
  ]
}
