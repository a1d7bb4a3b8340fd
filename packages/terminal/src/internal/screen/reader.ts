/**
 * Something to be read to its end, and then a key: page after page, and no key that says yes before the last line was on
 * the screen. When the screen becomes narrower, so that the terminal breaks what stood there, it is shown anew.
 */
import type * as Prompt from "effect/cli/Prompt"
import * as Cells from "../text/cells.ts"
import * as Style from "../text/style.ts"
import type { Line, Row } from "../text/style.ts"
import * as Stage from "./stage.ts"

export interface Choice<A> {
  readonly key: string
  readonly label: string
  readonly value: A
  /** May be taken before everything was read. */
  readonly always?: boolean | undefined
}

interface State {
  readonly rows: ReadonlyArray<Row>
  readonly columns: number
  readonly shown: number
}

/** Whether all of it is seen at once. */
export const fits = (stage: Stage.Stage, lines: ReadonlyArray<Line>): boolean => {
  const screen = { ...stage.screen(), armed: true }
  return screen.columns >= Stage.minColumns && Cells.layout(lines, screen).length <= pageOf(screen) / 2
}

/** Rows of a page, beside those that live and one to see where it goes on. */
const pageOf = ({ rows }: Stage.Screen): number => Math.max(1, rows - 4)

export const read = <A>(stage: Stage.Stage, options: {
  readonly lines: ReadonlyArray<Line>
  /** What is shown again in a narrower window, where more was shown before. */
  readonly whole?: ReadonlyArray<Line> | undefined
  readonly question: string
  readonly choices: ReadonlyArray<Choice<A>>
}): Prompt.Prompt<A> => {
  const { choices, lines, question, whole = lines } = options

  const upTo = (state: State, end: number) => {
    const shown = Math.min(state.rows.length, end)
    return { state: { ...state, shown }, print: state.rows.slice(state.shown, shown) }
  }
  const show = (screen: Stage.Screen, shown: ReadonlyArray<Line>) => {
    const rows = Cells.layout(shown, screen)
    return upTo({ rows, columns: screen.columns, shown: 0 }, pageOf(screen) + 1)
  }
  const isRead = ({ rows, shown }: State) => shown === rows.length

  const keys = (offered: ReadonlyArray<Choice<A>>) => offered.map(({ key, label }) => `${key} ${label}`).join(" · ")
  const early = choices.filter(({ always }) => always === true)

  return Stage.prompt<State, A>(stage, {
    guarded: true,
    refusesPaste: true,
    begin: (screen) => show(screen, lines),
    draw: (state, screen) => {
      const text = screen.columns < Stage.minColumns
        ? Stage.tooNarrow
        : isRead(state)
        ? `${question}  ${keys(choices)}`
        : `-- line ${state.shown} of ${state.rows.length} --  space next page · e to the end · ${keys(early)}`
      return Stage.asking(text, screen)
    },
    on: (state, happening, screen) => {
      switch (happening._tag) {
        case "Paste":
          return { _tag: "Beep" }
        case "Resized": {
          const isSeen = screen.columns >= state.columns && state.columns >= Stage.minColumns
          if (isSeen || screen.columns < Stage.minColumns) return { _tag: "Next", state }
          const again = `The window is ${screen.columns} columns wide now. Once more:`
          return {
            _tag: "Next",
            ...show(screen, [Style.prose("", undefined, ""), Style.prose(again), ...whole]),
            guard: true
          }
        }
        case "Key": {
          if (happening.ctrl || happening.meta) return { _tag: "Beep" }
          const narrow = screen.columns < Stage.minColumns
          if (!isRead(state) && !narrow) {
            if (happening.name === "space" || happening.name === "pagedown" || happening.name === "return") {
              return turned(upTo(state, state.shown + pageOf(screen)))
            }
            if (happening.text === "e") return turned(upTo(state, Infinity))
          }
          const choice = (isRead(state) && !narrow ? choices : early).find(({ key }) => key === happening.text)
          return choice === undefined ? { _tag: "Beep" } : { _tag: "Done", value: choice.value }
        }
      }
    }
  })

  // Whoever holds a key to come to the end must not answer with it.
  function turned(page: { readonly state: State; readonly print: ReadonlyArray<Row> }): Stage.Step<State, A> {
    return { _tag: "Next", ...page, guard: isRead(page.state) }
  }
}
