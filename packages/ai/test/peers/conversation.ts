/**
 * What the tests of peers' cases share beside `laws/conversation.ts`: a chat that has asked, and answers by name.
 */
import { Effect, Schema } from "effect"
import { Approval, Prompt, Tool, Toolkit } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as C from "../laws/conversation.ts"

interface Named {
  readonly approvalId: string
}

export const yes = (...requests: ReadonlyArray<Named>) =>
  Prompt.approvalResponses(requests.map((request) => Approval.approve(request)))

export const no = (...requests: ReadonlyArray<Named>) =>
  Prompt.approvalResponses(requests.map((request) => Approval.deny(request, "keep it")))

export const one = [C.deleteCall("c1", "a")]
export const two = [C.deleteCall("c1", "a"), C.deleteCall("c2", "b")]

export interface BeginOptions {
  readonly calls?: ReadonlyArray<ScriptedModel.TurnPart>
  readonly turns?: ReadonlyArray<ScriptedModel.Turn>
  readonly toolkit?: C.AnyToolkit
  readonly approval?: C.StartOptions["approval"]
}

/** A chat that has asked about its calls; by default one call of `DeleteFile`. Later the model says "done". */
export const begin = Effect.fnUntraced(function*(way: C.Way, options: BeginOptions = {}) {
  const files = yield* C.fileTools
  const chat = yield* C.start({
    way,
    toolkit: options.toolkit ?? files.toolkit,
    turns: [options.calls ?? one, ...options.turns ?? []],
    script: { afterLastTurn: "done" },
    approval: options.approval
  })
  const asked = yield* chat.send("go on")
  return { ...chat, asked, asking: yield* chat.history, requests: asked.requests, runs: files.runs }
})

export const Work = Tool.make("Work", {
  parameters: { name: Schema.String },
  success: Schema.String,
  failure: Schema.String,
  needsApproval: true
})

/** `Work` with a handler; a failure of it fails the turn. */
export const workTools = (handler: Toolkit.HandlersFrom<{ readonly Work: typeof Work }>["Work"]) =>
  C.withHandlers(Toolkit.make(Work), { Work: handler })

export const work = (id: string) => ScriptedModel.toolCall({ id, name: "Work", params: { name: id } })

/** The ids of the results of a turn, a failed one with a minus. */
export const outcomes = (turn: C.Turn) =>
  turn.results.map((part) => part.isFailure ? `-${part.id}` : part.id).toSorted()
