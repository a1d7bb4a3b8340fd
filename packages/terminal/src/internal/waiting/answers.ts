/**
 * What a tool that has begun waits for, asked with the same face: a text, a yes or a no, a choice, or a form.
 */
import type * as Approval from "@assent/ai/Approval"
import * as Interaction from "@assent/ai/Interaction"
import * as Prompt from "effect/cli/Prompt"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import type * as Terminal from "effect/Terminal"
import * as Content from "../call/content.ts"
import * as Question from "../call/question.ts"
import * as Verdict from "../call/verdict.ts"
import * as List from "../screen/list.ts"
import * as Reader from "../screen/reader.ts"
import * as Stage from "../screen/stage.ts"
import * as TextInput from "../screen/textInput.ts"
import * as Style from "../text/style.ts"
import type { Line } from "../text/style.ts"
import * as Form from "./form.ts"

type Outcome =
  | { readonly _tag: "Decided"; readonly verdict: Verdict.Verdict }
  | { readonly _tag: "Given"; readonly answer: Schema.Json }
  | { readonly _tag: "Again" }

const decided = (verdict: Verdict.Verdict): Prompt.Prompt<Outcome> => Prompt.succeed({ _tag: "Decided", verdict })
const given = (answer: Schema.Json): Prompt.Prompt<Outcome> => Prompt.succeed({ _tag: "Given", answer })
const again: Prompt.Prompt<Outcome> = Prompt.succeed({ _tag: "Again" })

const declining = (stage: Stage.Stage): Prompt.Prompt<Outcome> =>
  Prompt.flatMap(
    Question.reason(stage),
    (said) => said._tag === "Back" ? again : decided(Verdict.denied(said.value))
  )

const notBlank = (text: string): Result.Result<string, string> =>
  text.trim() === "" ? Result.fail("Type an answer; Tab declines.") : Result.succeed(text)

/** `lines` are what is said before. */
type Ask = (
  stage: Stage.Stage,
  awaited: Approval.Awaited,
  lines: ReadonlyArray<Line>
) => Prompt.Prompt<Outcome>

const askText: Ask = (stage, _, lines) =>
  Prompt.flatMap(
    TextInput.ask(stage, { lines, question: "Your answer.", guarded: true, back: "declines", read: notBlank }),
    (said) => said._tag === "Back" ? declining(stage) : given(said.value)
  )

const askVerdict: Ask = (stage, _, lines) => {
  const noted = (approved: boolean): Prompt.Prompt<Outcome> =>
    Prompt.flatMap(
      TextInput.ask(stage, {
        question: approved ? "Yes. A note?" : "No. A note?",
        guarded: false,
        back: "goes back",
        read: TextInput.anyText
      }),
      (said) =>
        said._tag === "Back"
          ? again
          : given({ approved, ...(said.value.trim() === "" ? undefined : { note: said.value }) })
    )
  return Prompt.flatMap(
    Reader.read(stage, {
      lines,
      question: "Do you approve?",
      choices: [
        { key: "y", label: "yes", value: () => given({ approved: true }) },
        { key: "w", label: "yes, with a note", value: () => noted(true) },
        { key: "n", label: "no", value: () => noted(false) }
      ]
    }),
    (choice) => choice()
  )
}

const askChoice: Ask = (stage, { multiple, options = [] }, lines) =>
  Prompt.flatMap(
    List.choose(stage, {
      lines,
      question: "Your choice.",
      items: options.map(({ description, label }) => description === undefined ? label : `${label}: ${description}`),
      many: multiple === true,
      back: "declines"
    }),
    (chosen) => {
      if (chosen._tag === "Back") return declining(stage)
      const values = chosen.indexes.map((index) => options[index]!.value)
      return given(multiple === true ? values : values[0]!)
    }
  )

const askForm: Ask = (stage, { answerSchema }, lines) => {
  const fields = Form.fieldsOf(answerSchema)
  const whole: Form.Field = { name: "Your answer", kind: { _tag: "Json" }, required: true, description: undefined }
  return Prompt.flatMap(
    fields === undefined || fields.length === 0 ? Form.ask(stage, whole, lines) : Form.fill(stage, fields, lines),
    (said): Prompt.Prompt<Outcome> =>
      said._tag === "Back" ? declining(stage) : confirm(stage, answerSchema, said.value ?? null)
  )
}

// A form is seen whole before it is sent.
const confirm = (stage: Stage.Stage, schema: Schema.Json, answer: Schema.Json): Prompt.Prompt<Outcome> => {
  const problem = Form.problemOf(schema, answer)
  const send = { key: "y", label: "send", value: () => given(answer) }
  return Prompt.flatMap(
    Reader.read(stage, {
      lines: [
        Style.prose("Your answer:"),
        ...Content.parameters(answer),
        ...(problem === undefined ? [] : [Form.problem(`It does not fit: ${problem}`)])
      ],
      question: problem === undefined ? "Send it?" : "It cannot be sent.",
      choices: [
        ...(problem === undefined ? [send] : []),
        { key: "a", label: "fill in again", value: () => again },
        { key: "n", label: "decline", value: () => declining(stage) }
      ]
    }),
    (choice) => choice()
  )
}

const ready = [
  { key: "a", label: "answer", value: true },
  { key: "n", label: "decline", value: false, always: true }
]

const asks: Partial<Record<Approval.InteractionKind, Ask>> = {
  askUser: askText,
  getApproval: askVerdict,
  selectOptions: askChoice,
  form: askForm
}

/** The answer of the person; fails when they leave. What is not for people is left open. */
export const decide = Effect.fnUntraced(function*(
  asked: Approval.ApprovalRequest,
  awaited: Approval.Awaited,
  check: Question.Setting["check"]
): Effect.fn.Return<Verdict.Verdict, Terminal.QuitError, Prompt.Environment> {
  const ask = Interaction.isForPeople(awaited.kind) ? asks[awaited.kind] : undefined
  if (ask === undefined) return Verdict.open("This is not for a person at a terminal to answer.")
  let lines: ReadonlyArray<Line> = Content.request("A tool waits for your answer", asked)
  while (true) {
    const shown = lines
    const outcome: Outcome = yield* Stage.run((stage) =>
      Reader.fits(stage, shown)
        ? ask(stage, awaited, shown)
        : Prompt.flatMap(
          Reader.read(stage, { lines: shown, question: "Your answer is needed.", choices: ready }),
          (isReady) => isReady ? ask(stage, awaited, []) : declining(stage)
        )
    )
    lines = []
    if (outcome._tag === "Decided") return outcome.verdict
    if (outcome._tag === "Again") continue
    const problem = yield* check(outcome.answer)
    if (problem === undefined) return verdictOf(awaited, outcome.answer)
    lines = [Form.problem(`This answer cannot be used: ${problem}`)]
  }
})

const verdictOf = ({ kind }: Approval.Awaited, answer: Schema.Json): Verdict.Verdict => {
  if (kind !== "getApproval") return Verdict.approved(`Answered: ${textOf(answer)}`, { answer })
  const note = isObject(answer) && typeof answer["note"] === "string" ? answer["note"] : undefined
  return isObject(answer) && answer["approved"] === true
    ? Verdict.approved(note === undefined ? "Yes." : `Yes: ${note}`, note === undefined ? {} : { note })
    : Verdict.denied(note)
}

const isObject = (value: Schema.Json): value is Schema.JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const textOf = (answer: Schema.Json): string => typeof answer === "string" ? answer : JSON.stringify(answer)
