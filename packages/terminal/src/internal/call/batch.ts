/**
 * Calls that come together: one list, with each call whole in it or as a block above. What is ticked runs; a tick is no
 * answer, and without one Enter does nothing.
 */
import * as Words from "../keys/words.ts"
import * as Scene from "../scene/scene.ts"
import * as Cells from "../text/cells.ts"
import { counted } from "../text/count.ts"
import * as Safe from "../text/safe.ts"
import * as Style from "../text/style.ts"
import type { Line } from "../text/style.ts"
import * as Content from "./content.ts"
import * as Deny from "./deny.ts"
import * as Options from "./options.ts"
import type * as Question from "./question.ts"
import * as Rows from "./rows.ts"
import * as Verdict from "./verdict.ts"

/** A verdict for each, in their order; those that are to be asked alone have none. */
export type Outcome = ReadonlyArray<Verdict.Verdict | undefined>

export interface Batch {
  readonly calls: readonly [Question.Asked, ...ReadonlyArray<Question.Asked>]
  readonly unticked: "deny" | "ask"
}

const maxRows = 3
const ordinary = 60

/** A call that is whole in one row: a text, and nothing besides. */
const inRow = ({ request }: Question.Asked): string | undefined => {
  const { params, presentation } = request
  const values = Rows.isRecord(params) ? Object.values(params) : []
  const [text] = values
  if (values.length !== 1 || typeof text !== "string" || text.includes("\n")) return undefined
  if (presentation !== undefined && presentation.content !== text) return undefined
  const shown = Safe.line(text)
  return shown === text && shown.trim() === shown && shown !== "" && Cells.cells(shown) <= maxRows * ordinary
    ? shown
    : undefined
}

/** What is said of all of them is said once. */
const aboutOf = (calls: Batch["calls"], room: Rows.Room): ReadonlyArray<ReadonlyArray<Line>> =>
  calls.map(({ now, request }) => Content.about(request, now, room))

const isSame = (one: Line, other: Line): boolean => JSON.stringify(one) === JSON.stringify(other)

const item = (
  index: number,
  text: string,
  mark: string,
  { isAt, isTicked, items }: { readonly isAt: boolean; readonly isTicked: boolean; readonly items: number },
  room: Rows.Room
): Line => {
  const number = items > 9 ? String(index + 1).padStart(String(items).length) : String(index + 1)
  const before = `${Options.pointer(isAt, room)}${number} [${isTicked ? "x" : " "}] `
  return {
    first: [{ text: before, style: isTicked ? "bold" : "primary" }, { text: mark, style: "muted" }],
    rest: Style.plain(`${" ".repeat(Cells.cells(before))}${room.signs.more} `, "muted"),
    body: Style.plain(text, isTicked ? "bold" : undefined),
    prose: true
  }
}

const drawn = (
  { calls }: Batch,
  at: number | undefined,
  ticked: ReadonlySet<number>,
  window: Scene.Window
): { readonly block: ReadonlyArray<Line>; readonly focus: number | undefined } => {
  const { signs } = window
  const abouts = aboutOf(calls, window)
  const common = abouts[0]!.filter((line) => abouts.every((lines) => lines.some((other) => isSame(line, other))))
  const [first] = calls
  const isOneTool = calls.every(({ request }) => request.toolName === first.request.toolName)
  const own = abouts.map((lines) => lines.filter((line) => !common.some((other) => isSame(line, other))))
  // Of a row that says only which tool it is, the list says it.
  const rows = calls.map((call, index) => own[index]!.length > (isOneTool ? 0 : 1) ? undefined : inRow(call))
  const blocks = calls.flatMap(({ request }, index) =>
    rows[index] !== undefined
      ? []
      : [
        Rows.field("Call", Style.plain(String(index + 1), "bold"), signs),
        ...own[index]!,
        ...Content.runs(request, request.params, window)
      ]
  )
  const items = calls.map(({ request }, index) => {
    const text = rows[index]
    const state = { isAt: index === at, isTicked: ticked.has(index), items: calls.length }
    const tool = Safe.line(request.toolName)
    return text === undefined
      ? item(index, `${tool}, whole above`, `${signs.bar} `, state, window)
      : item(index, isOneTool ? text : `${tool}: ${text}`, `${signs.bar} `, state, window)
  })
  const block = [Style.heading(`May these ${counted(calls.length)} run?`, signs), ...common, ...blocks]
  return { block: [...block, ...items], focus: at === undefined ? undefined : block.length + at }
}

/** How many are ticked, and what Enter would do. */
const saidOf = ({ calls, unticked }: Batch, ticked: ReadonlySet<number>, { columns }: Rows.Room): Line => {
  const of = `${counted(ticked.size)} of ${counted(calls.length)}`
  const rest = unticked === "deny" ? "denies the rest" : "asks about the rest"
  const wide = ticked.size === 0
    ? `${of} ticked: Enter does nothing yet`
    : ticked.size === calls.length
    ? `${of} ticked: Enter runs all of them`
    : `${of} ticked: Enter runs these and ${rest}`
  const text = Cells.cells(wide) <= columns ? wide : `${of}: Enter runs them, ${rest}`
  return { first: [], rest: [], body: Style.plain(text), prose: true }
}

export const scene = (
  batch: Batch,
  at?: number,
  ticked: ReadonlySet<number> = new Set()
): Scene.Scene<Outcome> => {
  const { calls, unticked } = batch
  const items = calls.length
  const toggled = (index: number) => {
    const after = new Set(ticked)
    if (!after.delete(index)) after.add(index)
    return Scene.stay(scene(batch, index, after))
  }
  const denyAll = () =>
    Scene.go(
      Deny.scene(calls[0].editor, (note) => Scene.done(calls.map(({ request }) => Verdict.denied(request, note))))
    )
  const run = (): Scene.Step<Outcome> =>
    Scene.done(calls.map(({ request }, index) =>
      ticked.has(index)
        ? Verdict.once(request)
        : unticked === "ask"
        ? undefined
        : Verdict.denied(request)
    ))
  return {
    place: "batch",
    pagedAs: "page",
    waits: { wide: "ticks wait", narrow: "ticks wait" },
    now: { items, unticked, without: items > 9 ? ["1-9"] : [] },
    guarded: true,
    takesPaste: false,
    draw: (window) => ({
      ...drawn(batch, at, ticked, window),
      below: Cells.layout([saidOf(batch, ticked, window)], window)
    }),
    details: (window) =>
      calls.flatMap(({ now, request }, index) => [
        Rows.field("Call", Style.plain(String(index + 1), "bold"), window.signs),
        ...Content.details(request, request.params, now, window)
      ]),
    press: ({ at: by, key }) => {
      switch (key) {
        case "1-9":
          return by < items ? toggled(by) : Scene.say(Words.meansNothing(String(by + 1)))
        case "x":
          return at === undefined ? Scene.say("x ticks what ❯ points at: nothing is chosen yet.") : toggled(at)
        case "a":
          return Scene.stay(scene(batch, at, new Set(calls.map((_, index) => index))))
        case "↑↓":
          return Scene.stay(scene(batch, Scene.moved(at, by, items), ticked))
        case "o":
          return Scene.done(calls.map(() => undefined))
        case "Enter":
          return ticked.size === 0 ? Scene.say("Enter runs what is ticked: nothing is ticked yet.") : run()
        default:
          return denyAll()
      }
    }
  }
}
