/**
 * The stage on which questions are put: what is said stays in the ordinary scrollback, and below it a few rows live.
 *
 * While a question stands, the cursor waits at the beginning of those rows. What a terminal makes of them when it is
 * resized, everything from the cursor on is theirs, and is taken away: no counting of rows, nothing left over or lost.
 *
 * A question that is guarded takes no key that was pressed before it was on the screen. It asks the terminal for its
 * status, whose answer comes after all that was typed before it; and then it waits until no key comes for a moment, so
 * that the rest of a paste, or a key held down, is over. A terminal that answers nothing is waited for a second. A key that
 * others follow at once, or that came together with others before it, is a paste too, of a terminal that does not say so,
 * and answers nothing.
 */
import * as Prompt from "effect/cli/Prompt"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as Terminal from "effect/Terminal"
import * as Cells from "../text/cells.ts"
import type * as Signs from "../text/signs.ts"
import { type Line, paint, type Row } from "../text/style.ts"
import * as Input from "./input.ts"
import * as Measure from "./measure.ts"
import * as Process from "./process.ts"

// =============================================================================
// Models
// =============================================================================

/** What happens while a question stands. */
export type Happening =
  | {
    readonly _tag: "Key"
    readonly name: string
    readonly text: string
    readonly ctrl: boolean
    readonly meta: boolean
  }
  | { readonly _tag: "Paste"; readonly text: string }
  /** The size of the terminal is another one, for a moment already. */
  | { readonly _tag: "Resized" }

export interface Screen extends Terminal.Size, Cells.Place {
  /** Whether keys count by now. */
  readonly armed: boolean
  readonly signs: Signs.Signs
}

export type Step<S, A> =
  | { readonly _tag: "Beep" }
  | {
    readonly _tag: "Next"
    readonly state: S
    readonly print?: ReadonlyArray<Row> | undefined
    /** What is on the screen now was not there before. */
    readonly guard?: boolean | undefined
  }
  | { readonly _tag: "Done"; readonly value: A; readonly print?: ReadonlyArray<Row> | undefined }

/** A question. */
export interface View<S, A> {
  readonly guarded: boolean
  /**
   * A paste is no answer; nor is what follows it at once, which may be the rest of one that claims to be over, nor a key
   * that others follow at once, or that came together with others before it.
   */
  readonly refusesPaste: boolean
  /** Esc is a key; without this the person leaves by it. */
  readonly takesEscape?: boolean | undefined
  /** What is said for good, and the state to begin with. */
  readonly begin: (screen: Screen) => { readonly state: S; readonly print?: ReadonlyArray<Row> | undefined }
  /** The rows that live. */
  readonly draw: (state: S, screen: Screen) => ReadonlyArray<Row>
  readonly on: (state: S, happening: Happening, screen: Screen) => Step<S, A>
}

export interface Stage {
  readonly theme: Prompt.Theme
  readonly host: Process.Host
  /** The person leaves, as by the end of the input. */
  readonly leave: () => void
  readonly events: Queue.Queue<Signal>
  /** How often the terminal was asked for its status, and has answered. */
  readonly statuses: { asked: number; answered: number }
  readonly size: () => Terminal.Size
  /** As it is now; whether keys count is for a question to say. */
  readonly screen: () => Omit<Screen, "armed">
}

type Signal =
  /** The program has written something, and some time later it is drawn above. */
  | { readonly _tag: "Wrote" }
  | { readonly _tag: "Above" }
  /** The process is to stop; it was stopped, and goes on. */
  | { readonly _tag: "Stopping" }
  | { readonly _tag: "Continued" }
  | { readonly _tag: "Resizing" }
  | { readonly _tag: "Settled"; readonly size: Terminal.Size }
  | { readonly _tag: "Silent"; readonly since: object }
  | { readonly _tag: "Quiet"; readonly since: object; readonly keys: number }
  | { readonly _tag: "Alone"; readonly held: object }

interface Guard {
  /** Which time this is: what was waited for before counts no more. */
  readonly since: object
  /** Which of the terminal's answers is the one to this; those before are to what was asked before. */
  readonly answer: number
  readonly answered: boolean
  /** Keys that were dropped. */
  readonly keys: number
}

const begin = (answer = Infinity): Guard => ({ since: {}, answer, answered: false, keys: 0 })

interface State<S, A> {
  readonly inner: S
  /** What the program wrote, and what else goes before all rows. */
  readonly above: string
  readonly print: ReadonlyArray<Row>
  readonly guard: Guard | undefined
  /** Asks the terminal for its status when this is drawn. */
  readonly asks: boolean
  readonly paste: Array<string> | undefined
  /** An answer, until it is known that no key follows at once. */
  readonly held: Submitted<A> | undefined
  /** Nothing is to be drawn. */
  readonly still: boolean
}

interface Submitted<A> {
  readonly value: A
  readonly print: ReadonlyArray<Row>
}

/** The words of a question, which end with whether keys count by now. */
export const asking = (text: string, screen: Screen): ReadonlyArray<Row> =>
  Cells.layout(
    [{
      first: [],
      rest: [],
      body: [{ text: `${text} ${screen.armed ? screen.signs.ready : screen.signs.wait}`, style: "primary" }],
      prose: true
    }],
    screen
  )

/** Narrower than that, what is ours cannot be told from what is not, and nothing is approved. */
export const minColumns = 20

export const tooNarrow = "Too narrow: needs 20 columns. n no"

/** Keys that count where nothing can be read. */
const away: ReadonlySet<string> = new Set(["n", "escape", "tab"])

// =============================================================================
// Prompts
// =============================================================================

const quiet = "100 millis"
const patience = "1 second"
const settling = "150 millis"
const alone = "30 millis"

/** After which what the program wrote is drawn; it is drawn once in a while, however much it writes. */
const moment = "20 millis"
const pause = "1 second"

/** No colour, the characters of the encoding, and nothing inserted: whatever a program wrote before. */
const plainAgain = "\x1b[0m\x0f\x1b(B\x1b[4l"
const eraseBelow = "\r\x1b[J"
const hideCursor = "\x1b[?25l"
const askStatus = "\x1b[5n"

/** All that is on the screen goes up, and none of it is lost. */
const newPage = ({ rows }: Terminal.Size): string => `\x1b[999B${"\n".repeat(rows)}\x1b[H`

/** The terminal's answer, as Node reads it: there is no key that gives the same. */
const isStatus = ({ ctrl, meta, name, shift }: Terminal.Key): boolean => name === "undefined" && ctrl && meta && shift

/** A question as a prompt. */
export const prompt = <S, A>(stage: Stage, view: View<S, A>): Prompt.Prompt<A> => {
  const { events, statuses, theme } = stage
  let drawnAbove = -Infinity
  /** How wide the rows are that are on the screen, and whether the terminal has broken some since. */
  let widest = 0
  let isBroken = false
  const screenOf = (guard: Guard | undefined): Screen => ({ ...stage.screen(), armed: guard === undefined })
  const painted = (rows: ReadonlyArray<Row>) => Cells.bound(rows, stage.screen()).map((row) => paint(row, theme))
  const printed = (rows: ReadonlyArray<Row>) => painted(rows).map((row) => `${row}\n`).join("")
  const isNarrow = () => view.refusesPaste && stage.size().columns < minColumns

  const later = (
    signal: Signal,
    after: typeof quiet | typeof patience | typeof settling | typeof alone | typeof moment
  ) => Effect.forkChild(Effect.andThen(Effect.sleep(after), Queue.offer(events, signal)))

  /** The beginning of a guard with whose frame the terminal is asked. */
  const asked = () => begin(++statuses.asked)

  const initial = Effect.gen(function*() {
    const guard = view.guarded ? asked() : undefined
    if (guard !== undefined) yield* later({ _tag: "Silent", since: guard.since }, patience)
    const { print, state } = view.begin(screenOf(guard))
    return {
      inner: state,
      above: "",
      print: print ?? [],
      guard,
      asks: view.guarded,
      paste: undefined,
      held: undefined,
      still: false
    } as State<S, A>
  })

  const render = (state: State<S, A>): string => {
    const screen = screenOf(state.guard)
    // Never more than the window has: what it scrolls away could not be taken back.
    const rows = Cells.bound(isNarrow() ? asking(tooNarrow, screen) : view.draw(state.inner, screen), screen)
      .slice(-Math.max(1, screen.rows))
    widest = Math.max(0, ...rows.map((row) => Cells.widthOf(row, screen.ambiguous)))
    const up = rows.length > 1 ? `\x1b[${rows.length - 1}A` : ""
    const drawn = `${rows.map((row) => paint(row, theme)).join("\n")}${up}\r`
    return `${hideCursor}${state.above}${printed(state.print)}${drawn}${state.asks ? askStatus : ""}`
  }

  type Action = Prompt.Action<State<S, A>, Submitted<A>>
  const next = (state: State<S, A>): Action => ({ _tag: "NextFrame", state })
  const redraw = (state: State<S, A>): Action => next({ ...state, above: "", print: [], asks: false, still: false })
  const still = (state: State<S, A>): Action => next({ ...state, above: "", print: [], asks: false, still: true })

  /** Draws again, and takes only keys that are pressed after that. */
  const again = (state: State<S, A>, above = ""): Effect.Effect<Action> => {
    const drawn = { ...state, above, print: [], still: false, held: undefined }
    if (!view.refusesPaste) return Effect.succeed(next({ ...drawn, asks: false }))
    const guard = asked()
    return Effect.as(later({ _tag: "Silent", since: guard.since }, patience), next({ ...drawn, guard, asks: true }))
  }

  const happen = (state: State<S, A>, happening: Happening, follows = false): Effect.Effect<Action> => {
    const step = view.on(state.inner, happening, screenOf(state.guard))
    switch (step._tag) {
      case "Beep":
        return Effect.succeed({ _tag: "Beep" })
      case "Done": {
        if (view.refusesPaste && follows) return answered(state, begin())
        const held = { value: step.value, print: step.print ?? [] }
        return view.refusesPaste
          ? Effect.as(later({ _tag: "Alone", held }, alone), still({ ...state, held }))
          : Effect.succeed({ _tag: "Submit", value: held })
      }
      case "Next": {
        const asks = step.guard === true
        const begun = asks ? asked() : undefined
        const guard = begun ?? state.guard
        const following = {
          ...state,
          inner: step.state,
          above: "",
          print: step.print ?? [],
          guard,
          asks,
          still: false
        }
        return Effect.as(
          begun === undefined ? Effect.void : later({ _tag: "Silent", since: begun.since }, patience),
          next(following)
        )
      }
    }
  }

  const dropped = (state: State<S, A>, guard: Guard): Effect.Effect<Action> => {
    const after = { ...guard, keys: guard.keys + 1 }
    return Effect.as(
      after.answered ? later({ _tag: "Quiet", since: guard.since, keys: after.keys }, quiet) : Effect.void,
      still({ ...state, guard: after })
    )
  }

  const onKey = (
    state: State<S, A>,
    { input, key }: Terminal.UserInput,
    follows: boolean
  ): Effect.Effect<Action> => {
    const { guard, held, paste } = state
    if (key.name === "escape" && view.takesEscape !== true && paste === undefined) {
      return Effect.as(Effect.sync(stage.leave), still(state))
    }
    if (key.ctrl && !key.meta && paste === undefined) {
      if (key.name === "z") return suspend(state)
      if (key.name === "l") {
        return Effect.succeed(next({ ...state, above: newPage(stage.size()), print: [], asks: false, still: false }))
      }
    }
    if (isStatus(key)) {
      statuses.answered++
      return guard === undefined || guard.answered || statuses.answered < guard.answer
        ? Effect.succeed(still(state))
        : answered(state, guard)
    }
    if (held !== undefined) {
      const begun = key.name === "paste-start" ? [] : undefined
      return answered({ ...state, held: undefined, paste: begun }, begin())
    }
    if (key.name === "paste-start") return Effect.succeed(still({ ...state, paste: [] }))
    if (paste !== undefined) {
      if (key.name !== "paste-end") {
        if (Option.isSome(input)) paste.push(input.value)
        return Effect.succeed(still(state))
      }
      const over = { ...state, paste: undefined }
      if (guard !== undefined) return dropped(over, guard)
      if (view.refusesPaste) return answered(over, begin())
      return happen(over, { _tag: "Paste", text: paste.join("").replace(/\r\n?/g, "\n") })
    }
    if (guard !== undefined) return dropped(state, guard)
    const { ctrl, meta, name } = key
    if (isNarrow() && !away.has(name)) return Effect.succeed({ _tag: "Beep" })
    // In a text, what ends a line of a paste is a line break, as in a paste that says that it is one.
    const isBreak = follows && !view.refusesPaste && name === "return" && !ctrl && !meta
    const happening: Happening = isBreak
      ? { _tag: "Key", name: "enter", ctrl, meta, text: "\n" }
      : { _tag: "Key", name, ctrl, meta, text: Option.getOrElse(input, () => "") }
    return happen(state, happening, follows)
  }

  const answered = (state: State<S, A>, guard: Guard): Effect.Effect<Action> =>
    Effect.as(
      later({ _tag: "Quiet", since: guard.since, keys: guard.keys }, quiet),
      redraw({ ...state, guard: { ...guard, answered: true } })
    )

  const suspend = (state: State<S, A>): Effect.Effect<Action> =>
    Effect.flatMap(
      stage.host.suspend,
      (wasStopped): Effect.Effect<Action> => wasStopped ? again(state) : Effect.succeed({ _tag: "Beep" })
    )

  const onSignal = (state: State<S, A>, signal: Signal): Effect.Effect<Action> => {
    const { guard } = state
    switch (signal._tag) {
      case "Wrote":
        return Effect.flatMap(Clock.currentTimeMillis, (now) => {
          const wait = now - drawnAbove < Duration.toMillis(pause) ? pause : moment
          return Effect.as(later({ _tag: "Above" }, wait), still(state))
        })
      case "Above": {
        const written = stage.host.written()
        if (written === "") return Effect.succeed(still(state))
        return Effect.flatMap(Clock.currentTimeMillis, (now) => {
          drawnAbove = now
          return again(state, `${written}${plainAgain}`)
        })
      }
      case "Stopping":
        return suspend(state)
      case "Continued":
        return Effect.andThen(stage.host.resume, again(state))
      case "Resizing": {
        // What a key would answer is not to be read by now; the guard ends after the size has settled.
        isBroken ||= stage.size().columns < widest
        const guarded = view.refusesPaste ? { ...state, guard: begin(), held: undefined } : state
        return Effect.as(later({ _tag: "Settled", size: stage.size() }, settling), redraw(guarded))
      }
      case "Settled": {
        const { columns, rows } = stage.size()
        if (columns !== signal.size.columns || rows !== signal.size.rows) return Effect.succeed(still(state))
        // Some terminals move their cursor away from rows that they break, and then those are not taken back.
        const above = isBroken ? newPage(stage.size()) : ""
        isBroken = false
        const step = view.on(state.inner, { _tag: "Resized" }, screenOf(state.guard))
        return step._tag === "Next"
          ? Effect.map(
            again({ ...state, inner: step.state }, above),
            (action) => action._tag === "NextFrame" ? next({ ...action.state, print: step.print ?? [] }) : action
          )
          : again(state, above)
      }
      case "Alone":
        return Effect.succeed(
          state.held !== undefined && state.held === signal.held ? { _tag: "Submit", value: state.held } : still(state)
        )
      case "Silent":
        return guard?.since !== signal.since || guard.answered ? Effect.succeed(still(state)) : answered(state, guard)
      case "Quiet":
        // In the middle of a paste there is no moment without keys.
        return guard?.since !== signal.since || guard.keys !== signal.keys || state.paste !== undefined
          ? Effect.succeed(still(state))
          : Effect.succeed(redraw({ ...state, guard: undefined }))
    }
  }

  const custom = Prompt.Custom<State<S, A>, Submitted<A>, Signal>(initial, events, {
    render: (_, action) =>
      Effect.sync(() => {
        switch (action._tag) {
          case "Beep":
            return "\x07"
          case "NextFrame":
            return action.state.still ? "" : render(action.state)
          case "Submit":
            return printed(action.value.print)
        }
      }),
    process: (input, state) =>
      input._tag === "Input" ? onKey(state, input.input, Input.follows(input.input)) : onSignal(state, input.value),
    clear: (_, action) => Effect.succeed(action._tag === "NextFrame" && action.state.still ? "" : eraseBelow)
  })
  return Prompt.map(custom, ({ value }) => value)
}

// =============================================================================
// Running
// =============================================================================

const pasteOn = "\x1b[?2004h"
const pasteOff = "\x1b[?2004l"
const showCursor = "\x1b[?25h"

const sized = ({ columns, rows }: Terminal.Size): Terminal.Size => ({ columns: columns || 80, rows: rows || 24 })

/** Fills the row that something was left in, so that what follows begins at the left; an empty one stays what it is. */
const newRow = (columns: number): string => `${" ".repeat(columns)}${eraseBelow}`

const make = Effect.gen(function*(): Effect.fn.Return<
  { readonly stage: Stage; readonly keys: Input.Input["keys"] },
  never,
  Terminal.Terminal | Scope.Scope
> {
  const terminal = yield* Terminal.Terminal
  const theme = yield* Prompt.Theme
  const events = yield* Queue.unbounded<Signal>()
  const sizes = yield* terminal.size
  let size = sized({ columns: yield* terminal.columns, rows: yield* terminal.rows })
  const follow = Effect.flatMap(Queue.take(sizes), (latest) => {
    const { columns, rows } = sized(latest)
    if (columns === size.columns && rows === size.rows) return Effect.void
    size = { columns, rows }
    return Effect.asVoid(Queue.offer(events, { _tag: "Resizing" }))
  })
  yield* Effect.forkScoped(Effect.ignore(Effect.forever(follow)))
  const tell = (signal: Signal) => () => void Queue.offerUnsafe(events, signal)
  const host = yield* Process.attach(terminal, {
    enter: `${plainAgain}${pasteOn}`,
    leave: `${eraseBelow}${showCursor}${pasteOff}`,
    listener: {
      wrote: tell({ _tag: "Wrote" }),
      stopping: tell({ _tag: "Stopping" }),
      continued: tell({ _tag: "Continued" })
    }
  })
  const display = (text: string) => Effect.ignore(host.display(text))
  const input = yield* Input.open(terminal, host.sequenceOf)
  yield* display(`${hideCursor}${newRow(size.columns)}`)
  const measured = yield* Measure.measure(terminal, size.columns, display, input)
  const statuses = { asked: 0, answered: 0 }
  const screen = () => ({ ...size, ...measured })
  const stage = { theme, host, leave: input.end, events, statuses, size: () => size, screen }
  return { stage, keys: input.keys }
})

/** Runs a chain of questions: a key that one of them leaves is for the next. Fails when the person leaves. */
export const run = <A>(
  questions: (stage: Stage) => Prompt.Prompt<A>
): Effect.Effect<A, Terminal.QuitError, Prompt.Environment> =>
  Effect.scoped(Effect.gen(function*() {
    const terminal = yield* Terminal.Terminal
    const { keys, stage } = yield* make
    return yield* Effect.provideService(
      Prompt.run(questions(stage)),
      Terminal.Terminal,
      Terminal.make({ ...terminal, display: stage.host.display, readInput: Effect.succeed(keys) })
    )
  }))

/** Writes lines for good, where no question stands. */
export const say = Effect.fnUntraced(function*(
  lines: ReadonlyArray<Line>
): Effect.fn.Return<void, never, Terminal.Terminal> {
  const terminal = yield* Terminal.Terminal
  const theme = yield* Prompt.Theme
  const columns = (yield* terminal.columns) || 80
  const place = { columns, ...yield* Measure.knownOf(terminal) }
  const rows = Cells.bound(Cells.layout(lines, place), place)
  yield* Effect.ignore(terminal.display(rows.map((row) => `${paint(row, theme)}\n`).join("")))
})
