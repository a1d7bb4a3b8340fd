/**
 * Parameters, changed: each as what it is, a text as a text; data as JSON, and all of it as JSON on demand.
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Words from "../keys/words.ts"
import * as Scene from "../scene/scene.ts"
import * as TextInput from "../screen/textInput.ts"
import * as Cells from "../text/cells.ts"
import { linesOf, many } from "../text/count.ts"
import * as Json from "../text/json.ts"
import * as Safe from "../text/safe.ts"
import * as Style from "../text/style.ts"
import type { Line } from "../text/style.ts"
import * as Options from "./options.ts"
import * as Rows from "./rows.ts"

// =============================================================================
// Reading
// =============================================================================

const decode = Schema.decodeUnknownOption(Schema.Json)

/** What a text says, or why it says nothing. */
export const parse = (text: string): Result.Result<Schema.Json, string> => {
  const parsed = Result.try((): unknown => JSON.parse(text))
  if (Result.isFailure(parsed)) {
    const { failure } = parsed
    return Result.fail(`Invalid JSON: ${failure instanceof Error ? failure.message : "it cannot be read"}`)
  }
  return Result.fromOption(decode(parsed.success), () => "A number is too large for JSON.")
}

export const isSame = (before: Schema.Json, after: Schema.Json): boolean =>
  JSON.stringify(before) === JSON.stringify(after)

/** The parameters that an edit has changed, added or taken away; nothing where it is not a matter of names. */
export const changed = (before: Schema.Json, after: Schema.Json): ReadonlyArray<string> | undefined => {
  if (!Rows.isRecord(before) || !Rows.isRecord(after)) return undefined
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((name) => {
    const [old, edited] = [before[name], after[name]]
    return old === undefined || edited === undefined || !isSame(old, edited)
  })
}

// =============================================================================
// Scenes
// =============================================================================

const all = "all of it, as JSON"

type Field =
  | { readonly name: string; readonly value: Schema.Json }
  | { readonly name: undefined; readonly value: Schema.Json }

const labelOf = ({ name }: Field): string => name === undefined ? all : Rows.nameOf(name)

const fieldLines = (
  field: Field,
  { isAt, number, width }: { readonly number: string; readonly width: number; readonly isAt: boolean },
  room: Rows.Room
): readonly [Line, ...ReadonlyArray<Line>] => {
  const before = `${Options.pointer(isAt, room)}${number}  `
  if (field.name === undefined) {
    return [{
      first: Style.plain(before, "primary"),
      rest: Style.plain(`   ${room.signs.more} `, "muted"),
      body: Style.plain(all, isAt ? "bold" : "title"),
      prose: true
    }]
  }
  const { mark, prose, text } = valueOf(field, room)
  const name = Rows.nameOf(field.name)
  return Rows.named({ before, name, style: isAt ? "bold" : "title", width, mark, body: Style.plain(text), prose }, room)
}

/** The beginning of a long one will do: it was shown whole, and is when it is edited. */
const valueOf = (
  { name, value }: Field,
  { ambiguous, signs }: Rows.Room
): { readonly mark: string; readonly text: string; readonly prose: boolean } => {
  if (name === undefined) return { mark: "", text: "", prose: true }
  if (typeof value === "string" && value.includes("\n")) {
    const lines = linesOf(value)
    const first = Cells.clip(Safe.line(lines[0]!), 40, signs.cut, ambiguous)
    return { mark: `(${many(lines.length, "line")}) `, text: `${first} ${signs.cut}`, prose: true }
  }
  return typeof value === "string"
    ? { mark: `${signs.bar} `, text: Cells.clip(Safe.line(value), 120, signs.cut, ambiguous), prose: true }
    : { mark: "= ", text: Cells.clip(Safe.line(JSON.stringify(value)), 120, signs.cut, ambiguous), prose: false }
}

/** Which one? */
export const fields = <A>(
  params: Schema.Json,
  order: ReadonlyArray<string> | undefined,
  editor: string | undefined,
  edited: (params: Schema.Json) => Scene.Step<A>,
  at?: number
): Scene.Scene<A> => {
  const items: ReadonlyArray<Field> = [
    ...(Rows.isRecord(params) ? Rows.entries(params, order).map(([name, value]) => ({ name, value })) : []),
    { name: undefined, value: params }
  ]
  const names = items.flatMap(({ name }) => name === undefined ? [] : [Rows.nameOf(name)])
  const number = (index: number) => items.length > 9 ? " " : String(index + 1)
  const open = (field: Field): Scene.Step<A> => {
    const { name } = field
    const isSameAsBefore = (value: Schema.Json) => isSame(value, field.value)
    return Scene.go(
      value(
        labelOf(field),
        editor,
        typeof field.value === "string" && name !== undefined ? Result.succeed : parse,
        (value) =>
          isSameAsBefore(value)
            ? Scene.back
            : edited(name === undefined ? value : Rows.isRecord(params) ? { ...params, [name]: value } : value),
        {
          before: typeof field.value === "string" && name !== undefined ? field.value : Json.format(field.value),
          after: "",
          problem: undefined
        }
      )
    )
  }
  return {
    place: "edit",
    now: { items: items.length },
    guarded: true,
    takesPaste: false,
    draw: (window) => {
      const width = Rows.widthOf(names, window)
      const lines = items.map((field, index) =>
        fieldLines(field, { number: number(index), width, isAt: index === at }, window)
      )
      return {
        block: [Style.heading("Edit", window.signs), ...lines.flat()],
        focus: at === undefined ? undefined : 1 + lines.slice(0, at).flat().length
      }
    },
    press: ({ at: by, key }) => {
      switch (key) {
        case "↑↓":
          return Scene.stay(fields(params, order, editor, edited, Scene.moved(at, by, items.length)))
        case "1-9": {
          const field = items[by]
          return field === undefined ? Scene.say(Words.meansNothing(String(by + 1))) : open(field)
        }
        case "Enter":
          return at === undefined
            ? Scene.say("Enter takes what ❯ points at: nothing is chosen yet.")
            : open(items[at]!)
        default:
          return Scene.back
      }
    }
  }
}

/** One of them. */
const value = <A>(
  name: string,
  editor: string | undefined,
  read: (text: string) => Result.Result<Schema.Json, string>,
  done: (value: Schema.Json) => Scene.Step<A>,
  state: TextInput.State
): Scene.Scene<A> => {
  const again = (state: TextInput.State) => value(name, editor, read, done, state)
  return {
    place: "value",
    now: { editor },
    guarded: false,
    takesPaste: true,
    input: { state, edited: again },
    draw: (window) => ({
      block: [Style.headingOf(`Edit ${name}`, window.signs)],
      below: TextInput.rows(state, window)
    }),
    press: (_, key) => {
      if (key === "Ctrl-G") return Scene.open
      if (key !== "Enter") return Scene.back
      const given = read(state.before + state.after)
      return Result.isSuccess(given)
        ? done(given.success)
        : Scene.stay(again({ ...state, problem: Safe.problem(given.failure) }))
    }
  }
}
