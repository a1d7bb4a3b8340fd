/**
 * A list to choose from, or to tick. Where there is no room for its items they are said whole above it, with their
 * numbers; nothing is chosen when it appears, and how many are ticked is said beside the question. In a list of more than
 * nine a number is no key: who types 12 means neither 1 nor 2.
 */
import type * as Prompt from "effect/cli/Prompt"
import * as Cells from "../text/cells.ts"
import * as Safe from "../text/safe.ts"
import * as Style from "../text/style.ts"
import type { Line, Row } from "../text/style.ts"
import * as Stage from "./stage.ts"

interface State {
  readonly at: number
  readonly ticked: ReadonlySet<number>
  /** Whether all items are to be read whole: in the list, or above it. */
  readonly told: boolean
}

export type Chosen =
  | { readonly _tag: "Chosen"; readonly indexes: ReadonlyArray<number> }
  | { readonly _tag: "Back" }

/** An item with its number. */
const item = (text: string, index: number): Line => ({
  first: Style.plain(`  ${String(index + 1).padStart(2)} `, "primary"),
  rest: Style.plain("     ⋮ ", "muted"),
  body: Style.plain(Safe.line(text)),
  prose: true
})

export const choose = (stage: Stage.Stage, options: {
  readonly lines: ReadonlyArray<Line>
  readonly question: string
  readonly items: ReadonlyArray<string>
  readonly many: boolean
  readonly back: string
}): Prompt.Prompt<Chosen> => {
  const { items, many } = options
  const hasNumbers = items.length <= 9
  const heightOf = (screen: Stage.Screen) => Math.max(1, Math.min(items.length, screen.rows - 4))

  const before = (state: State, index: number): string => {
    const { checkboxOff, checkboxOn, pointer } = stage.theme
    const tick = many ? `${state.ticked.has(index) ? checkboxOn : checkboxOff} ` : ""
    return `${index === state.at ? pointer : " "} ${String(index + 1).padStart(2)} ${tick}`
  }

  const room = (state: State, index: number, { ambiguous, columns }: Stage.Screen): number =>
    Math.max(4, columns - Cells.cells(before(state, index), ambiguous))

  // What is said above stays there, and may be read again.
  const tell = (state: State, screen: Stage.Screen) => {
    const fits = heightOf(screen) === items.length &&
      items.every((text, index) => Cells.cells(Safe.line(text), screen.ambiguous) <= room(state, index, screen))
    return fits || state.told
      ? { state, print: [], guard: false }
      : { state: { ...state, told: true }, print: Cells.layout(items.map(item), screen), guard: true }
  }

  const row = (state: State, index: number, screen: Stage.Screen): Row => {
    const text = Cells.clip(Safe.line(items[index]!), room(state, index, screen), screen.signs.cut, screen.ambiguous)
    return Style.plain(
      `${before(state, index)}${text}`,
      state.ticked.has(index) || (!many && index === state.at) ? "bold" : undefined
    )
  }

  const toggled = (state: State, index: number): State => {
    const ticked = new Set(state.ticked)
    if (!ticked.delete(index)) ticked.add(index)
    return { ...state, at: index, ticked }
  }

  return Stage.prompt<State, Chosen>(stage, {
    guarded: true,
    refusesPaste: true,
    begin: (screen) => {
      const { print, state } = tell({ at: -1, ticked: new Set<number>(), told: false }, screen)
      return { state, print: [...Cells.layout(options.lines, screen), ...print] }
    },
    draw: (state, screen) => {
      if (screen.columns < Stage.minColumns) return Stage.asking(Stage.tooNarrow, screen)
      const height = heightOf(screen)
      const start = Math.max(0, Math.min(state.at - Math.floor(height / 2), items.length - height))
      const said = [
        ...(many ? [`${state.ticked.size} of ${items.length} ticked`] : []),
        ...(height < items.length ? [`${start + 1} to ${start + height} shown`] : []),
        ...(many
          ? [`${hasNumbers ? "numbers" : "arrows"} and space tick`, "Enter ends"]
          : [`${hasNumbers ? "a number, or " : ""}arrows and Enter`]),
        `Tab ${options.back}`
      ]
      return [
        ...items.slice(start, start + height).map((_, index) => row(state, start + index, screen)),
        ...Stage.asking(`${options.question}  ${said.join(" · ")}`, screen)
      ]
    },
    on: (state, happening, screen) => {
      if (happening._tag === "Resized") return { _tag: "Next", ...tell(state, screen) }
      if (happening._tag === "Paste" || happening.ctrl || happening.meta) return { _tag: "Beep" }
      const { name, text } = happening
      if (screen.columns < Stage.minColumns && name !== "tab") return { _tag: "Beep" }
      const number = hasNumbers && /^[1-9]$/.test(text) ? Number(text) - 1 : -1
      if (number >= 0 && number < items.length) {
        return many
          ? { _tag: "Next", state: toggled(state, number) }
          : { _tag: "Done", value: { _tag: "Chosen", indexes: [number] } }
      }
      switch (name) {
        case "up":
          return { _tag: "Next", state: { ...state, at: Math.max(0, state.at - 1) } }
        case "down":
          return { _tag: "Next", state: { ...state, at: Math.min(items.length - 1, state.at + 1) } }
        case "space":
          return many && state.at >= 0 ? { _tag: "Next", state: toggled(state, state.at) } : { _tag: "Beep" }
        case "tab":
          return { _tag: "Done", value: { _tag: "Back" } }
        case "return":
          if (many) {
            return { _tag: "Done", value: { _tag: "Chosen", indexes: [...state.ticked].toSorted((a, b) => a - b) } }
          }
          return state.at < 0 ? { _tag: "Beep" } : { _tag: "Done", value: { _tag: "Chosen", indexes: [state.at] } }
        default:
          return { _tag: "Beep" }
      }
    }
  })
}
