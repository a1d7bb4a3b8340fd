/**
 * What a tool that has begun waits for, asked with the same face: a text, a yes or a no, a choice, or a form.
 */
import type * as Approval from "@assent/ai/Approval"
import * as Interaction from "@assent/ai/Interaction"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as Content from "../call/content.ts"
import * as Deny from "../call/deny.ts"
import * as Edit from "../call/edit.ts"
import * as Options from "../call/options.ts"
import type * as Rows from "../call/rows.ts"
import * as Verdict from "../call/verdict.ts"
import * as Words from "../keys/words.ts"
import * as Scene from "../scene/scene.ts"
import * as TextInput from "../screen/textInput.ts"
import * as Cells from "../text/cells.ts"
import * as Safe from "../text/safe.ts"
import * as Style from "../text/style.ts"
import type { Line } from "../text/style.ts"
import * as Fields from "./fields.ts"
import * as Form from "./form.ts"

export type Outcome =
  | { readonly _tag: "Decided"; readonly verdict: Verdict.Verdict }
  | { readonly _tag: "Given"; readonly answer: Schema.Json }

export interface Asked {
  readonly request: Approval.ApprovalRequest
  readonly awaited: Approval.Awaited
  readonly editor: string | undefined
  readonly now: number
}

/** What to ask; nothing of what is not for people. */
export const scene = (asked: Asked): Scene.Scene<Outcome> | undefined => {
  const { awaited } = asked
  if (!Interaction.isForPeople(awaited.kind)) return undefined
  switch (awaited.kind) {
    case "askUser":
      return text(asked, TextInput.empty)
    case "getApproval":
      return verdict(asked, undefined)
    case "selectOptions":
      return awaited.multiple === true ? choices(asked, undefined) : choice(asked, undefined)
    case "form": {
      const fields = Fields.fieldsOf(awaited.answerSchema)
      return fields === undefined || fields.length === 0
        ? json(asked, TextInput.empty)
        : Form.scene(around(asked), fields)
    }
    default:
      return undefined
  }
}

/** What was answered, as a decision and in words. */
export const verdictOf = ({ awaited, request }: Asked, answer: Schema.Json): Verdict.Verdict => {
  if (awaited.kind !== "getApproval") {
    return Verdict.answered(request, typeof answer === "string" ? answer : JSON.stringify(answer), { answer })
  }
  const note = isObject(answer) && typeof answer["note"] === "string" ? answer["note"] : undefined
  return isObject(answer) && answer["approved"] === true
    ? Verdict.answered(request, note === undefined ? "yes" : `yes: ${note}`, note === undefined ? {} : { note })
    : Verdict.refused(request, note)
}

const isObject = (value: Schema.Json): value is Schema.JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

// =============================================================================
// What they share
// =============================================================================

const given = (answer: Schema.Json): Scene.Step<Outcome> => Scene.done({ _tag: "Given", answer })

const decline = ({ editor, request }: Asked) => (): Scene.Step<Outcome> =>
  Scene.go(
    Deny.scene(editor, (note) => Scene.done({ _tag: "Decided", verdict: Verdict.refused(request, note) }))
  )

const drawn = ({ now, request }: Asked, window: Scene.Window): ReadonlyArray<Line> => [
  Style.heading("This waits for your answer", window.signs),
  ...Content.about(request, now, window),
  ...Content.runs(request, request.params, window)
]

const details = ({ now, request }: Asked) => (window: Scene.Window) =>
  Content.details(request, request.params, now, window)

const around = (asked: Asked): Form.Around<Outcome> => ({
  schema: asked.awaited.answerSchema,
  editor: asked.editor,
  draw: (window) => drawn(asked, window),
  details: details(asked),
  decline: decline(asked),
  send: given
})

// =============================================================================
// Texts
// =============================================================================

const typed = (
  asked: Asked,
  state: TextInput.State,
  says: string,
  entered: (text: string) => Result.Result<Scene.Step<Outcome>, string>
): Scene.Scene<Outcome> => {
  const again = (state: TextInput.State): Scene.Scene<Outcome> => typed(asked, state, says, entered)
  return {
    place: "answer",
    pagedAs: "page",
    now: { editor: asked.editor },
    guarded: true,
    takesPaste: true,
    input: { state, edited: again },
    draw: (window) => ({
      block: drawn(asked, window),
      below: [...Cells.layout([Style.prose(`${says}:`)], window), ...TextInput.rows(state, window)]
    }),
    details: details(asked),
    press: (_, key) => {
      if (key === "Ctrl-G") return Scene.open
      if (key !== "Enter") return decline(asked)()
      const step = entered(state.before + state.after)
      return Result.isSuccess(step)
        ? step.success
        : Scene.stay(again({ ...state, problem: Safe.problem(step.failure) }))
    }
  }
}

const text = (asked: Asked, state: TextInput.State): Scene.Scene<Outcome> =>
  typed(
    asked,
    state,
    "Your answer, a text",
    (text) => text.trim() === "" ? Result.fail("Type an answer; Esc declines.") : Result.succeed(given(text))
  )

const json = (asked: Asked, state: TextInput.State): Scene.Scene<Outcome> =>
  typed(asked, state, "Your answer, as JSON", (text) =>
    Result.flatMap(Edit.parse(text), (answer) => {
      const problem = Fields.problemOf(asked.awaited.answerSchema, answer)
      return problem === undefined
        ? Result.succeed(Scene.go(Form.readingBack(around(asked), answer, [])))
        : Result.fail(`It does not fit: ${problem}`)
    }))

// =============================================================================
// Yes or no
// =============================================================================

const verdict = (asked: Asked, problem: string | undefined, at?: number): Scene.Scene<Outcome> => {
  const { editor } = asked
  const said = (approved: boolean) => (note: string): Scene.Step<Outcome> =>
    given({ approved, ...(note.trim() === "" ? undefined : { note }) })
  const no = () => Scene.go(Deny.scene(editor, said(false)))
  const options: ReadonlyArray<Options.Option<Outcome>> = [
    { key: "y", says: "Yes", step: () => given({ approved: true }) },
    { key: "w", says: "Yes, with a note", step: () => Scene.go(noting(editor, said(true), TextInput.empty)) },
    { key: "n", says: "No, and say why", step: no }
  ]
  return {
    place: "verdict",
    pagedAs: "page",
    waits: { wide: "y and w wait", narrow: "y, w wait" },
    now: { points: at !== undefined },
    guarded: true,
    takesPaste: false,
    draw: (window) => ({
      block: drawn(asked, window),
      below: [...Form.problemRows(problem, window), ...Options.rows(options, at, window)]
    }),
    details: details(asked),
    refused: (problem) => verdict(asked, problem),
    press: (pressed) => Options.press(options, at, pressed, (at) => verdict(asked, problem, at)) ?? no()
  }
}

const noting = <A>(
  editor: string | undefined,
  said: (note: string) => Scene.Step<A>,
  state: TextInput.State
): Scene.Scene<A> => ({
  place: "note",
  now: { editor },
  guarded: false,
  takesPaste: true,
  input: { state, edited: (state) => noting(editor, said, state) },
  draw: (window) => ({
    block: [Style.heading("Yes. A note?", window.signs)],
    below: TextInput.rows(state, window)
  }),
  press: (_, key) => {
    if (key === "Ctrl-G") return Scene.open
    if (key !== "Enter") return Scene.back
    const note = state.before + state.after
    // Enter alone is no yes.
    return note.trim() === ""
      ? Scene.stay(noting(editor, said, { ...state, problem: "Type a note; or Esc, and y says yes without one." }))
      : said(note)
  }
})

// =============================================================================
// Choices
// =============================================================================

/** Options that are called the same show what they stand for. */
const labelsOf = ({ options = [] }: Approval.Awaited): ReadonlyArray<string> => {
  const shown = options.map(({ description, label }) => description === undefined ? label : `${label}: ${description}`)
  return shown.map((text, index) =>
    shown.indexOf(text) === shown.lastIndexOf(text)
      ? Safe.line(text)
      : Safe.line(`${text} (${JSON.stringify(options[index]!.value)})`)
  )
}

const itemLine = (
  text: string,
  index: number,
  { isAt, isTicked, items }: { readonly isAt: boolean; readonly isTicked?: boolean; readonly items: number },
  room: Rows.Room
): Line => {
  const number = items > 9 ? " " : String(index + 1)
  const tick = isTicked === undefined ? " " : `[${isTicked ? "x" : " "}] `
  const before = `${Options.pointer(isAt, room)}${number} ${tick}`
  return {
    first: [{ text: before, style: "primary" }, { text: `${room.signs.bar} `, style: "muted" }],
    rest: Style.plain(`${" ".repeat(Cells.cells(before))}${room.signs.more} `, "muted"),
    body: Style.plain(text, isAt || isTicked === true ? "bold" : undefined),
    prose: true
  }
}

const choice = (asked: Asked, problem: string | undefined, at?: number): Scene.Scene<Outcome> => {
  const { options = [] } = asked.awaited
  const labels = labelsOf(asked.awaited)
  const items = labels.length
  return {
    place: "choice",
    pagedAs: "page",
    now: { items },
    guarded: true,
    takesPaste: false,
    draw: (window) => {
      const above = drawn(asked, window)
      return {
        block: [...above, ...labels.map((text, index) => itemLine(text, index, { isAt: index === at, items }, window))],
        focus: at === undefined ? undefined : above.length + at,
        below: Form.problemRows(problem, window)
      }
    },
    details: details(asked),
    refused: (problem) => choice(asked, problem, at),
    press: ({ at: by, key }) => {
      switch (key) {
        case "↑↓":
          return Scene.stay(choice(asked, problem, Scene.moved(at, by, items)))
        case "1-9":
          return by < items ? given(options[by]!.value) : Scene.say(Words.meansNothing(String(by + 1)))
        case "Enter":
          return at === undefined
            ? Scene.say("Enter takes what ❯ points at: nothing is chosen yet.")
            : given(options[at]!.value)
        default:
          return decline(asked)()
      }
    }
  }
}

const choices = (
  asked: Asked,
  problem: string | undefined,
  at?: number,
  ticked: ReadonlySet<number> = new Set()
): Scene.Scene<Outcome> => {
  const { options = [] } = asked.awaited
  const labels = labelsOf(asked.awaited)
  const items = labels.length
  const toggled = (index: number) => {
    const after = new Set(ticked)
    if (!after.delete(index)) after.add(index)
    return Scene.stay(choices(asked, undefined, index, after))
  }
  return {
    place: "choices",
    pagedAs: "page",
    now: { items },
    guarded: true,
    takesPaste: false,
    draw: (window) => {
      const above = drawn(asked, window)
      return {
        block: [
          ...above,
          ...labels.map((text, index) =>
            itemLine(text, index, { isAt: index === at, isTicked: ticked.has(index), items }, window)
          )
        ],
        focus: at === undefined ? undefined : above.length + at,
        below: Form.problemRows(problem, window)
      }
    },
    details: details(asked),
    refused: (problem) => choices(asked, problem, at, ticked),
    press: ({ at: by, key }) => {
      switch (key) {
        case "↑↓":
          return Scene.stay(choices(asked, problem, Scene.moved(at, by, items), ticked))
        case "1-9":
          return by < items ? toggled(by) : Scene.say(Words.meansNothing(String(by + 1)))
        case "x":
          return at === undefined ? Scene.say("x ticks what ❯ points at: nothing is chosen yet.") : toggled(at)
        case "a":
          return Scene.stay(choices(asked, undefined, at, new Set(labels.map((_, index) => index))))
        case "Enter":
          return Scene.go(Form.readingBack(
            around(asked),
            options.flatMap(({ value }, index) => ticked.has(index) ? [value] : []),
            []
          ))
        default:
          return decline(asked)()
      }
    }
  }
}
