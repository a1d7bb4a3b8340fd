/**
 * One call: shown whole, then a key. What was edited is shown whole again, with what changed, and asked again.
 */
import type * as Approval from "@assent/ai/Approval"
import type * as ApprovalMatcher from "@assent/ai/ApprovalMatcher"
import * as Prompt from "effect/cli/Prompt"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import type * as Terminal from "effect/Terminal"
import * as List from "../screen/list.ts"
import * as Reader from "../screen/reader.ts"
import * as Stage from "../screen/stage.ts"
import * as TextInput from "../screen/textInput.ts"
import * as Json from "../text/json.ts"
import * as Safe from "../text/safe.ts"
import * as Style from "../text/style.ts"
import type { Line } from "../text/style.ts"
import * as Content from "./content.ts"
import * as Edit from "./edit.ts"
import type * as Editor from "./editor.ts"
import * as Session from "./session.ts"
import * as Verdict from "./verdict.ts"

/** What is known where the question is put. */
export interface Setting {
  readonly editor: Editor.Editor | undefined
  readonly patterns: Session.Patterns | undefined
  /** What the program knows of command lines. */
  readonly suggest: ApprovalMatcher.Behaviors["suggest"]
  /** For how long "the session" is, in words; nothing where nothing is remembered. */
  readonly session: string | undefined
  /** Why changed parameters cannot run. */
  readonly check: (params: Schema.Json) => Effect.Effect<string | undefined>
}

type Outcome =
  | { readonly _tag: "Decided"; readonly verdict: Verdict.Verdict }
  | { readonly _tag: "Edited"; readonly text: string; readonly params: Schema.Json }
  | { readonly _tag: "Open"; readonly params: Schema.Json }
  | { readonly _tag: "Unchanged" }

type Scene =
  | { readonly _tag: "Read" }
  | { readonly _tag: "Edit"; readonly text: string; readonly problem: string }

export const editable = (asked: Approval.ApprovalRequest): boolean =>
  asked.editable !== false && !asked.providerExecuted && asked.source !== "program"

const decided = (verdict: Verdict.Verdict): Prompt.Prompt<Outcome> => Prompt.succeed({ _tag: "Decided", verdict })

// =============================================================================
// Questions
// =============================================================================

const ask = (
  stage: Stage.Stage,
  asked: Approval.ApprovalRequest,
  params: Schema.Json,
  setting: Setting,
  whole: ReadonlyArray<Line>,
  lines: ReadonlyArray<Line> = whole
): Prompt.Prompt<Outcome> => {
  const again = (lines: ReadonlyArray<Line>) => ask(stage, asked, params, setting, whole, lines)
  const isEdited = !Edit.isSame(asked.params, params)
  const edits = isEdited ? { params } : {}
  const remembers = setting.session !== undefined && asked.rememberable !== false
  const choices: ReadonlyArray<Reader.Choice<() => Prompt.Prompt<Outcome>>> = [
    {
      key: "y",
      label: "once",
      value: () =>
        decided(
          Verdict.approved(isEdited ? "Approved as edited, once." : "Approved once.", { ...edits, remember: "none" })
        )
    },
    ...(remembers ? [{ key: "s", label: "session", value: () => forSession() }] : []),
    ...(editable(asked) ? [{ key: "e", label: "edit", value: () => editing(stage, params, Json.format(params)) }] : []),
    ...(editable(asked) && setting.editor !== undefined
      ? [{
        key: "o",
        label: Safe.line(setting.editor.name),
        value: (): Prompt.Prompt<Outcome> => Prompt.succeed({ _tag: "Open", params })
      }]
      : []),
    {
      key: "n",
      label: "deny",
      always: true,
      value: () =>
        Prompt.flatMap(reason(stage), (said) => said._tag === "Back" ? again([]) : decided(Verdict.denied(said.value)))
    },
    { key: "d", label: "details", value: () => again(Content.details(asked, params)) }
  ]

  const forSession = (): Prompt.Prompt<Outcome> => {
    const offered = Session.choices(asked, params, setting.patterns, setting.suggest)
    const chosen = List.choose(stage, {
      lines: [Style.prose(`Approve, and ${setting.session} do not ask again for:`)],
      question: "Which?",
      items: offered.map(({ sentence }) => sentence),
      many: false,
      back: "goes back"
    })
    return Prompt.flatMap(chosen, (chosen) => {
      const choice = chosen._tag === "Chosen" ? offered[chosen.indexes[0]!] : undefined
      return choice === undefined
        ? again([])
        : decided(
          Verdict.approved(`Approved for the session: ${choice.sentence}.`, { ...edits, remember: choice.remember })
        )
    })
  }

  return Prompt.flatMap(
    Reader.read(stage, { lines, whole, question: isEdited ? "Run it as edited?" : "Run it?", choices }),
    (choice) => choice()
  )
}

/** Asks why not. */
export const reason = (stage: Stage.Stage): Prompt.Prompt<TextInput.Entered<string>> =>
  TextInput.ask(stage, {
    question: "Why not? The model is told.",
    guarded: false,
    back: "goes back",
    read: TextInput.anyText
  })

const editing = (
  stage: Stage.Stage,
  params: Schema.Json,
  text: string,
  problem?: string
): Prompt.Prompt<Outcome> =>
  Prompt.map(
    TextInput.ask(stage, {
      question: "Parameters, as JSON.",
      guarded: false,
      text,
      problem,
      back: "goes back",
      read: (text) => Result.map(Edit.parse(text), (params) => ({ text, params }))
    }),
    (said): Outcome =>
      said._tag === "Back" || Edit.isSame(params, said.value.params)
        ? { _tag: "Unchanged" }
        : { _tag: "Edited", ...said.value }
  )

const contentOf = (title: string, asked: Approval.ApprovalRequest, params: Schema.Json): ReadonlyArray<Line> =>
  Edit.isSame(asked.params, params)
    ? Content.request(title, asked)
    : [
      ...Content.request("Edited: your approval is needed again", asked, params),
      Content.field("Changed", []),
      ...Content.changes(Edit.changes(asked.params, params))
    ]

// =============================================================================
// Running
// =============================================================================

/** The decision of the person; fails when they leave. */
export const decide = Effect.fnUntraced(function*(
  asked: Approval.ApprovalRequest,
  setting: Setting,
  title = "Your approval is needed"
): Effect.fn.Return<Verdict.Verdict, Terminal.QuitError, Prompt.Environment> {
  let params: Schema.Json = asked.params
  let scene: Scene = { _tag: "Read" }
  const taken = Effect.fnUntraced(function*(text: string, edited: Schema.Json): Effect.fn.Return<Scene> {
    const problem = yield* setting.check(edited)
    if (problem !== undefined) {
      return { _tag: "Edit", text, problem: Safe.problem(`These parameters cannot run: ${problem}`) }
    }
    params = edited
    return { _tag: "Read" }
  })
  while (true) {
    const now: Scene = scene
    const outcome: Outcome = yield* Stage.run((stage) =>
      now._tag === "Read"
        ? ask(stage, asked, params, setting, contentOf(title, asked, params))
        : editing(stage, params, now.text, now.problem)
    )
    scene = { _tag: "Read" }
    switch (outcome._tag) {
      case "Decided":
        return outcome.verdict
      case "Unchanged":
        continue
      case "Open": {
        const text = Json.format(params)
        const written = yield* Effect.result(setting.editor!.edit(text))
        const read = Result.isFailure(written) ? Result.fail(written.failure) : Edit.parse(written.success)
        const given = Result.isFailure(written) ? text : written.success
        if (Result.isFailure(read)) scene = { _tag: "Edit", text: given, problem: Safe.problem(read.failure) }
        else if (!Edit.isSame(params, read.success)) scene = yield* taken(given, read.success)
        continue
      }
      case "Edited":
        scene = yield* taken(outcome.text, outcome.params)
    }
  }
})
