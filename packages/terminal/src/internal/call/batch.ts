/**
 * Several calls of one response: each shown whole, then a list to tick.
 */
import type * as Approval from "@assent/ai/Approval"
import * as Prompt from "effect/cli/Prompt"
import * as Effect from "effect/Effect"
import type * as Terminal from "effect/Terminal"
import * as List from "../screen/list.ts"
import * as Reader from "../screen/reader.ts"
import * as Stage from "../screen/stage.ts"
import type { Line } from "../text/style.ts"
import * as Content from "./content.ts"
import * as Question from "./question.ts"
import * as Verdict from "./verdict.ts"

export interface Asked {
  readonly request: Approval.ApprovalRequest
  readonly setting: Question.Setting
}

type Outcome =
  | { readonly _tag: "Ticked"; readonly indexes: ReadonlyArray<number>; readonly reason: string | undefined }
  | { readonly _tag: "OneByOne" }

const ask = (
  stage: Stage.Stage,
  batch: ReadonlyArray<Asked>,
  unticked: "deny" | "ask",
  whole: ReadonlyArray<Line>,
  lines: ReadonlyArray<Line> = whole
): Prompt.Prompt<Outcome> => {
  const again = (lines: ReadonlyArray<Line>) => ask(stage, batch, unticked, whole, lines)
  const ticked = (indexes: ReadonlyArray<number>): Prompt.Prompt<Outcome> =>
    indexes.length === batch.length || (unticked === "ask" && indexes.length > 0)
      ? Prompt.succeed({ _tag: "Ticked", indexes, reason: undefined })
      : Prompt.flatMap(
        Question.reason(stage),
        (said): Prompt.Prompt<Outcome> =>
          said._tag === "Back"
            ? again([])
            : Prompt.succeed({ _tag: "Ticked", indexes, reason: said.value })
      )
  const choices: ReadonlyArray<Reader.Choice<() => Prompt.Prompt<Outcome>>> = [
    {
      key: "t",
      label: "tick a list",
      value: () =>
        Prompt.flatMap(
          List.choose(stage, {
            lines: [],
            question: unticked === "deny" ? "Run those ticked, deny the others?" : "Run those ticked?",
            items: batch.map(({ request }) => Content.short(request)),
            many: true,
            back: "goes back"
          }),
          (chosen) => chosen._tag === "Back" ? again([]) : ticked(chosen.indexes)
        )
    },
    { key: "o", label: "one by one", value: () => Prompt.succeed({ _tag: "OneByOne" }) },
    { key: "n", label: "deny all", always: true, value: () => denyAll() },
    {
      key: "d",
      label: "details",
      value: () => again(batch.flatMap(({ request }) => Content.details(request, request.params)))
    }
  ]
  const denyAll = (): Prompt.Prompt<Outcome> =>
    Prompt.flatMap(
      Question.reason(stage),
      (said): Prompt.Prompt<Outcome> =>
        said._tag === "Back" ? again([]) : Prompt.succeed({ _tag: "Ticked", indexes: [], reason: said.value })
    )
  return Prompt.flatMap(
    Reader.read(stage, { lines, whole, question: `Run these ${batch.length} calls?`, choices }),
    (choice) => choice()
  )
}

/** A verdict for each, in their order; those that are to be asked alone have none. */
export const decide = Effect.fnUntraced(function*(
  batch: ReadonlyArray<Asked>,
  unticked: "deny" | "ask"
): Effect.fn.Return<ReadonlyArray<Verdict.Verdict | undefined>, Terminal.QuitError, Prompt.Environment> {
  const lines = batch.flatMap(({ request }, index) =>
    Content.request(`Your approval is needed: call ${index + 1} of ${batch.length}`, request)
  )
  const outcome = yield* Stage.run((stage) => ask(stage, batch, unticked, lines))
  return batch.map(({ request }, index) => {
    if (outcome._tag === "OneByOne") return undefined
    if (outcome.indexes.includes(index)) {
      return Verdict.approved(`Approved once: ${Content.short(request)}`, { remember: "none" })
    }
    return unticked === "ask" && outcome.reason === undefined
      ? undefined
      : Verdict.denied(outcome.reason, Content.short(request))
  })
})
