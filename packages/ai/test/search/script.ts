/**
 * What a turn of a plan means in the words of the engine: the prompt that is sent, and the turn that the model plays.
 */
import type { Effect } from "effect"
import { AiError } from "effect/ai"
import { Approval, Prompt } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import type * as Plan from "./plan.ts"
import * as Record from "./record.ts"
import * as Stage from "./stage.ts"

export interface Script {
  /** The calls the model makes, in order. */
  readonly received: ReadonlyArray<Record.Received>
  readonly turn: (alive: Effect.Effect<void>) => ScriptedModel.Turn
}

const providerFailure = AiError.make({
  module: "Provider",
  method: "generate",
  reason: new AiError.InternalProviderError({ description: "The provider is down." })
})

export const write = ({ model, object }: Plan.Turn, freshId: () => string): Script => {
  const calls = model.calls.map((call) =>
    ScriptedModel.toolCall({
      id: call.id === 0 ? freshId() : `call-${call.id}`,
      name: call.flaw === "tool" ? "Nowhere" : call.tool,
      params: Stage.paramsOf(call)
    })
  )
  return {
    received: model.fails === "before"
      ? []
      : calls.map((call) => ({ id: call.id, tool: call.name, params: Record.canonical(call.params) })),
    turn: (alive) => {
      if (model.fails === "before") return providerFailure
      return [
        ScriptedModel.pause(alive),
        ...(model.text ? [ScriptedModel.text(object ? "{\"a\":1}" : "well")] : []),
        ...calls,
        ...(model.fails === "after" ? [ScriptedModel.fail(providerFailure)] : []),
        ...(model.finish === "length" ? [ScriptedModel.finish("length")] : []),
        ...(model.finish === "none" ? [ScriptedModel.withoutFinish] : [])
      ]
    }
  }
}

export const message = (text: string): Prompt.Prompt =>
  Prompt.fromMessages([Prompt.userMessage({ content: [Prompt.textPart({ text })] })])

/** What is sent with a turn. A rival answers the opposite. */
export const input = (
  step: Plan.Turn,
  seen: ReadonlyArray<Approval.ApprovalRequest>,
  open: ReadonlyArray<Approval.ApprovalRequest>,
  isRival: boolean
): Prompt.Prompt => {
  const newest = seen.toReversed()
  const answers = step.answers.flatMap(({ decision, request }) => {
    const meant = request === "open" ? open : newest.length === 0 ? [] : [newest[request % newest.length]!]
    const isDenied = (decision === "deny") !== isRival
    return meant.map((request) =>
      isDenied
        ? Approval.deny(request, "I would rather not.")
        : Approval.approve(request, decision === "edit" ? { params: Stage.edited(request.params) } : undefined)
    )
  })
  const answering = Prompt.approvalResponses(answers)
  switch (step.say) {
    case "nothing":
      return answering
    case "after":
      return Prompt.concat(answering, message("go on"))
    case "before":
      return Prompt.concat(message("go on"), answering)
  }
}
