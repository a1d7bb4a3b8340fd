/**
 * A form: all its fields on one screen, nothing chosen beforehand, each checked as it is typed; then it is read back.
 */
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as Options from "../call/options.ts"
import * as Rows from "../call/rows.ts"
import * as Words from "../keys/words.ts"
import * as Scene from "../scene/scene.ts"
import * as TextInput from "../screen/textInput.ts"
import * as Cells from "../text/cells.ts"
import * as Safe from "../text/safe.ts"
import type * as Signs from "../text/signs.ts"
import * as Style from "../text/style.ts"
import type { Line, Row } from "../text/style.ts"
import * as Fields from "./fields.ts"

/** What a form is part of. */
export interface Around<A> {
  readonly schema: Schema.Json
  readonly editor: string | undefined
  /** What is said above its fields. */
  readonly draw: (window: Scene.Window) => ReadonlyArray<Line>
  readonly details: (window: Scene.Window) => ReadonlyArray<Line>
  readonly decline: () => Scene.Step<A>
  readonly send: (answer: Schema.Json) => Scene.Step<A>
}

type Given = { readonly input: TextInput.State; readonly chosen: number | undefined }

interface State {
  readonly at: number
  readonly given: ReadonlyArray<Given>
  readonly problem: string | undefined
}

const valueOf = (field: Fields.Field, { chosen, input }: Given) =>
  Fields.valueOf(field, { text: input.before + input.after, chosen })

// =============================================================================
// Drawing
// =============================================================================

const word = (value: Schema.Json): string => value === true ? "yes" : value === false ? "no" : Safe.line(String(value))

/** What would look the same is shown as what it is. */
const wordsOf = (values: ReadonlyArray<Schema.Json>): ReadonlyArray<string> => {
  const words = values.map(word)
  return words.map((text, index) =>
    words.indexOf(text) === words.lastIndexOf(text) ? text : Safe.line(JSON.stringify(values[index]))
  )
}

const choices = (values: ReadonlyArray<Schema.Json>, chosen: number | undefined, signs: Signs.Signs): string =>
  wordsOf(values).map((text, index) => `${index === chosen ? signs.on : signs.off} ${text}`).join("  ")

const fieldLines = (
  field: Fields.Field,
  { chosen, input }: Given,
  { isAt, width }: { readonly isAt: boolean; readonly width: number },
  room: Rows.Room
): ReadonlyArray<Line> => {
  const { signs } = room
  const common = {
    before: `  ${Options.pointer(isAt, room)}`,
    name: Rows.nameOf(field.name),
    style: isAt ? "bold" as const : "title" as const,
    width
  }
  if (field.kind._tag === "Choice") {
    const body = Style.plain(choices(field.kind.values, chosen, signs))
    return Rows.named({ ...common, mark: "", body, prose: true }, room)
  }
  const mark = field.kind._tag === "Text" ? `${signs.bar} ` : "= "
  const [first, ...others] = rowsOf(input, isAt, signs)
  const [named, ...rest] = Rows.named({ ...common, mark, body: first, prose: true }, room)
  const last = rest.at(-1) ?? named
  return [
    named,
    ...rest,
    ...others.map((body): Line => ({
      first: Style.plain(`${Style.textOf(last.rest).replace(/[^ ]+ $/, "")}${mark}`, "muted"),
      rest: last.rest,
      body,
      prose: true
    }))
  ]
}

/** The lines of what was typed, with the cursor. */
const rowsOf = (
  { after, before }: TextInput.State,
  isAt: boolean,
  { cursor }: Signs.Signs
): readonly [Row, ...ReadonlyArray<Row>] => {
  const split = (text: string) => Safe.tabs(Safe.lines(text)).split("\n")
  const [head, tail] = [split(before), split(after)]
  const [here = "", ...below] = tail
  const above = head.slice(0, -1).map((text) => Style.plain(text))
  const row: Row = [
    { text: head[head.length - 1]! },
    ...(isAt ? [{ text: cursor, style: "cursor" as const }] : []),
    { text: here }
  ]
  const [first = row, ...others] = [...above, row, ...below.map((text) => Style.plain(text))]
  return [first, ...others]
}

const problemLine = (text: string, style: Style.Style = "error"): Line => ({
  first: Style.plain("  ! ", style),
  rest: Style.plain("  ! ", style),
  body: Style.plain(text, style),
  prose: true
})

/** What is wrong, in a row of its own. */
export const problemRows = (text: string | undefined, room: Rows.Room) =>
  text === undefined ? [] : Cells.layout([problemLine(Words.ours(Safe.problem(text), room.signs))], room)

// =============================================================================
// Scenes
// =============================================================================

const none: Given = { input: TextInput.empty, chosen: undefined }

/** The form, with nothing in it. */
export const scene = <A>(around: Around<A>, fields: ReadonlyArray<Fields.Field>): Scene.Scene<A> =>
  filled(around, fields, { at: 0, given: fields.map(() => none), problem: undefined })

const filled = <A>(around: Around<A>, fields: ReadonlyArray<Fields.Field>, state: State): Scene.Scene<A> => {
  const { at, given, problem } = state
  const field = fields[at]!
  const { chosen, input } = given[at]!
  const again = (state: State) => filled(around, fields, state)
  const gaveAt = (one: Given): State => ({ at, given: given.with(at, one), problem: undefined })
  const typed = (input: TextInput.State) => again(gaveAt({ input, chosen }))
  const to = (at: number) => Scene.stay(again({ at, given, problem: undefined }))
  const isText = field.kind._tag === "Text" || field.kind._tag === "Json"
  const choose = (by: number): Scene.Step<A> => {
    if (field.kind._tag !== "Choice") {
      const edited = TextInput.edited(input, {
        _tag: "Key",
        name: by < 0 ? "left" : "right",
        text: "",
        ctrl: false,
        meta: false
      })
      return Scene.stay(typed(edited ?? input))
    }
    const next = chosen === undefined ? (by > 0 ? 0 : field.kind.values.length - 1) : chosen + by
    // What may be left out may be given up again.
    const after = next < 0 && !field.required
      ? undefined
      : Math.max(0, Math.min(field.kind.values.length - 1, next))
    return Scene.stay(again(gaveAt({ input, chosen: after })))
  }
  const readBack = (): Scene.Step<A> => {
    const read = fields.map((field, index) => valueOf(field, given[index]!))
    const wrong = read.findIndex(Result.isFailure)
    if (wrong >= 0) {
      return Scene.stay(again({ at: wrong, given, problem: told(fields[wrong]!, given[wrong]!) }))
    }
    const answer = Object.fromEntries(
      read.flatMap((value, index) =>
        Result.isSuccess(value) && value.success !== undefined ? [[fields[index]!.name, value.success]] : []
      )
    )
    const problem = Fields.problemOf(around.schema, answer)
    return problem === undefined
      ? Scene.go(readingBack(around, answer, fields.map(({ name }) => name)))
      : Scene.stay(again({ at, given, problem }))
  }
  const isTouched = input.before !== "" || input.after !== ""
  return {
    place: isText ? "formText" : "form",
    pagedAs: "page",
    now: { editor: around.editor },
    guarded: true,
    takesPaste: true,
    input: field.kind._tag === "Choice" ? undefined : { state: input, edited: typed },
    draw: (window) => {
      const width = Rows.widthOf(fields.map(({ name }) => Rows.nameOf(name)), window)
      const above = around.draw(window)
      const lines = fields.map((field, index) =>
        fieldLines(field, given[index]!, { isAt: index === at, width }, window)
      )
      const said = problem ?? (isTouched ? told(field, given[at]!) : undefined)
      const hint = field.description === undefined || said !== undefined
        ? []
        : Rows.block(field.description, window.signs)
      return {
        block: [...above, ...lines.flat(), ...hint],
        focus: above.length + lines.slice(0, at).flat().length,
        below: problemRows(said, window)
      }
    },
    details: around.details,
    refused: (problem) => again({ ...state, problem }),
    press: ({ at: by, key }) => {
      switch (key) {
        case "Tab":
          return to((at + 1) % fields.length)
        case "↑↓":
          return to(Math.max(0, Math.min(fields.length - 1, at + by)))
        case "←→":
          return choose(by)
        case "Enter":
          return readBack()
        case "Ctrl-G":
          return Scene.open
        default:
          return around.decline()
      }
    }
  }
}

const told = (field: Fields.Field, given: Given): string | undefined => {
  const read = valueOf(field, given)
  return Result.isFailure(read) ? `${Rows.nameOf(field.name)}: ${read.failure}` : undefined
}

/** What would be sent, seen whole. */
export const readingBack = <A>(
  around: Around<A>,
  answer: Schema.Json,
  order: ReadonlyArray<string>,
  at?: number
): Scene.Scene<A> => {
  const options: ReadonlyArray<Options.Option<A>> = [
    { key: "y", says: "Yes, send it", step: () => around.send(answer) },
    { key: "e", says: "Change it", step: () => Scene.back },
    { key: "n", says: "No, and say why", step: around.decline }
  ]
  return {
    place: "readBack",
    pagedAs: "page",
    waits: { wide: "y waits", narrow: "y waits" },
    now: { points: at !== undefined, without: ["s"] },
    guarded: true,
    takesPaste: false,
    draw: (window) => ({
      block: [Style.heading("Send this answer?", window.signs), ...Rows.parameters(answer, window, { order })],
      below: Options.rows(options, at, window)
    }),
    details: around.details,
    press: (pressed) =>
      Options.press(options, at, pressed, (at) => readingBack(around, answer, order, at)) ?? around.decline()
  }
}
