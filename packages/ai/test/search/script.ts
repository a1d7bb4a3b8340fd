/**
 * What a turn of a plan means in the words of the engine: the prompt that is sent, and the turn that the model plays.
 */
import type { Effect } from "effect"
import { AiError } from "effect/ai"
import { type Approval, Prompt } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as Answering from "./answering.ts"
import * as Behaviour from "./behaviour.ts"
import type * as Plan from "./plan.ts"
import * as Provider from "./provider.ts"
import * as Record from "./record.ts"

export interface Script {
  /** The calls the model makes for us to run, in order. */
  readonly received: ReadonlyArray<Record.Received>
  /** What the provider plays when it is called with a prompt. */
  readonly play: (turn: Record.Turn, record: Record.Record, called: Called) => ScriptedModel.Turn
}

export interface Called {
  readonly prompt: Prompt.Prompt
  /** How often it was called in the turn before. */
  readonly round: number
  readonly alive: Effect.Effect<void>
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
      params: Behaviour.paramsOf(call)
    })
  )
  const hosted = Provider.make(model.hosted, freshId)
  const said = (early: boolean) =>
    hosted.filter((call) => call.plan.early === early).map((call) => Provider.partsOf(call))
  return {
    received: model.fails === "before"
      ? []
      : calls.map((call) => ({ id: call.id, tool: call.name, params: Record.canonical(call.params) })),
    play: (turn, record, { alive, prompt, round }) => {
      if (model.fails === "before") return providerFailure
      const results = Provider.run(record, turn.index, prompt)
      const text = model.text || round > 0 ? [ScriptedModel.text(object ? "{\"a\":1}" : "well")] : []
      // Called again because its requests were answered, it has nothing more to ask.
      if (round > 0) return [ScriptedModel.pause(alive), ...results, ...text]
      for (const call of hosted) {
        if (record.hosted.some(({ callId }) => callId === call.callId)) continue
        record.hosted.push({ ...call, turn: turn.index, shown: undefined })
      }
      return [
        ScriptedModel.pause(alive),
        ...results,
        ...text,
        ...said(true),
        ...calls,
        ...said(false),
        ...(model.fails === "after" ? [ScriptedModel.fail(providerFailure)] : []),
        ...(model.finish === "length" ? [ScriptedModel.finish("length")] : []),
        ...(model.finish === "none" ? [ScriptedModel.withoutFinish] : [])
      ]
    }
  }
}

export const message = (text: string): Prompt.Prompt =>
  Prompt.fromMessages([Prompt.userMessage({ content: [Prompt.textPart({ text })] })])

/** Who answers what to whom. */
export interface Said {
  readonly planned: ReadonlyArray<Plan.Answer>
  /** Requests that a person has seen, the oldest first. */
  readonly seen: ReadonlyArray<Approval.ApprovalRequest>
  readonly open: ReadonlyArray<Approval.ApprovalRequest>
  /** A rival answers the opposite. */
  readonly isRival: boolean
  /** What is said where an answer is one in words. */
  readonly words: string
}

/** What is answered to requests that a person has seen. */
export const answers = (
  { isRival, open, planned, seen, words }: Said
): ReadonlyArray<Approval.ApprovalAnswer> => {
  const newest = seen.toReversed()
  return planned.flatMap(({ decision, remember, request }) => {
    const meant = request === "open" ? open : newest.length === 0 ? [] : [newest[request % newest.length]!]
    const opposite = decision === "deny" ? "approve" : "deny"
    return meant.map((request) => Answering.answer(request, isRival ? opposite : decision, words, remember))
  })
}

/** What is sent with a turn. */
export const input = ({ say }: Plan.Turn, said: Said): Prompt.Prompt => {
  const answering = Prompt.approvalResponses(answers(said))
  // Each says something else: the same again, where a chat's turn has failed, is that turn taken again.
  const saying = message(`go on with the ${said.words}`)
  switch (say) {
    case "nothing":
      return answering
    case "after":
      return Prompt.concat(answering, saying)
    case "before":
      return Prompt.concat(saying, answering)
  }
}
