/**
 * A tool whose handler has a model of its own, with a tool that is always asked about: `Agent`, and in its turns `Dig`.
 * Where nobody answers inline, the handler answers for itself, with another turn.
 */
import { Effect, Exit, Schema } from "effect"
import { Approval, LanguageModel, Prompt, Response, Tool, Toolkit } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import type * as Behaviour from "./behaviour.ts"
import * as Handlers from "./handlers.ts"
import * as Note from "./note.ts"
import * as Plan from "./plan.ts"
import * as Record from "./record.ts"
import * as Setting from "./setting.ts"
import * as Stage from "./stage.ts"

const Dig = Tool.make("Dig", {
  parameters: { amount: Schema.Int, how: Schema.String, note: Schema.String },
  success: Schema.Struct({ done: Schema.String }),
  failure: Schema.Struct({ why: Schema.String }),
  needsApproval: true
})

const kit = Toolkit.make(Dig)

const toolkit = Effect.runSync(Effect.provide(kit, kit.toLayer({ Dig: Handlers.run("Dig") as never })))

interface Params extends Behaviour.Params {
  readonly inner: Plan.Call["inner"]
}

/** A turn of the handler's own: its parts, and the history it leaves behind. */
const take = Effect.fnUntraced(function*(
  prompt: Prompt.Prompt,
  received: ReadonlyArray<Record.Received>
): Effect.fn.Return<{ readonly turn: Record.Turn; readonly history: Prompt.Prompt }, unknown> {
  const stage = yield* Stage.Stage
  const { alive, process, record } = stage
  const outer = record.turns[stage.turn]!
  const sent: Array<{ readonly prompt: Prompt.Prompt; readonly incremental: Prompt.Prompt | undefined }> = []
  const turn = yield* Setting.openTurn({ ...outer, record, tampered: false }, {
    within: "handler",
    plan: Plan.simplest.turn,
    process,
    primary: false,
    prompt,
    added: prompt.content.length,
    sent,
    received,
    ending: "left"
  })
  const scripted = yield* ScriptedModel.make({
    turns: [],
    afterLastTurn: ({ prompt }) => {
      sent.push({ prompt, incremental: undefined })
      const calls = received.map(({ id, params, tool }) =>
        ScriptedModel.toolCall({ id, name: tool, params: JSON.parse(params) })
      )
      return [ScriptedModel.pause(alive), ...calls, ...(calls.length === 0 ? [ScriptedModel.text("dug")] : [])]
    },
    strict: false
  })
  const response = yield* LanguageModel.generateText({ prompt, toolkit }).pipe(
    Effect.tap(({ content }) =>
      Effect.sync(() => {
        turn.parts.push(...content)
        for (const shown of Response.approvalRequests(content)) Note.note(record, turn, shown)
      })
    ),
    Effect.onExit((exit) =>
      Effect.flatMap(alive, () => {
        // Whoever leaves the outer turn leaves this one.
        if (!Exit.hasInterrupts(exit)) turn.ending = "stuck"
        return Note.conclude(record, turn, exit)
      })
    ),
    Effect.provideService(Stage.Stage, { ...stage, turn: turn.index }),
    Effect.provideService(LanguageModel.LanguageModel, scripted.model)
  )
  return { turn, history: Prompt.concat(prompt, Prompt.fromResponseParts(response.content)) }
})

const act = Effect.fnUntraced(function*(
  { amount, how, inner, note }: Params,
  mark: string
): Effect.fn.Return<void, unknown> {
  const params = Record.canonical({ amount, how, note })
  const calls = Array.from({ length: amount === 2 ? 2 : 1 }, (_, index): Record.Received => ({
    id: `inner-${mark.replaceAll(/\D/g, "")}-${index}`,
    tool: "Dig",
    params
  }))
  const first = yield* take(Prompt.make("dig"), calls)
  const requests = Response.approvalRequests(first.turn.parts)
  if (requests.length === 0 || inner === "leave") return
  const answers = requests.map((request) =>
    inner === "approve" ? Approval.approve(request) : Approval.deny(request, "I would rather not.")
  )
  yield* take(Prompt.concat(first.history, Prompt.approvalResponses(answers)), [])
})

/** The handler of `Agent`. */
export const handler = Handlers.run(
  "Agent",
  (params, mark) => Effect.mapError(act(params as Params, mark), () => ({ why: `${mark} failed within` }))
)
