/**
 * The provider's own calls (law L9), as a scripted provider makes and runs them: it asks before with an id of its own,
 * and runs a call when the prompt holds its approval and not yet its result.
 */
import type { Prompt } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import type * as Plan from "./plan.ts"
import * as Record from "./record.ts"

type Made = Omit<Record.Hosted, "turn" | "shown">

const serverName = "remote.far"

/** The parameters of a hosted call. */
export const paramsOf = ({ amount }: Plan.HostedCall) => ({ amount, how: "succeed", note: "plain" })

/** The calls of a turn, with ids of their own. */
export const make = (calls: ReadonlyArray<Plan.HostedCall>, freshId: () => string): ReadonlyArray<Made> =>
  calls.map((plan) => {
    const callId = `hosted-${freshId()}`
    return {
      callId,
      approvalId: `ask-${callId}`,
      plan,
      about: plan.says
        ? { toolName: `${serverName}.${plan.tool}`, params: Record.canonical({ amount: plan.amount }) }
        : { toolName: plan.tool, params: Record.canonical(paramsOf(plan)) }
    }
  })

/** What the provider says of a call, at once: that it wants to run it, or that it has. */
export const partsOf = ({ about, approvalId, callId, plan }: Made): ScriptedModel.TurnPart =>
  ScriptedModel.chunk([
    ScriptedModel.toolCall({
      id: callId,
      name: plan.tool,
      params: paramsOf(plan),
      providerExecuted: true,
      ...(plan.says
        ? { metadata: { assent: { source: serverName, toolName: about.toolName, params: { amount: plan.amount } } } }
        : undefined)
    }),
    plan.asks ? { type: "tool-approval-request", approvalId, toolCallId: callId } : resultOf(callId, plan)
  ])

/** What the result of a hosted call says. */
export const markOf = (callId: string): string => `<remote ${callId}>`

const resultOf = (callId: string, { runs, tool }: Plan.HostedCall) =>
  ScriptedModel.toolResult({
    id: callId,
    name: tool,
    isFailure: runs === "fail",
    result: runs === "fail" ? { why: `${markOf(callId)} failed` } : { done: markOf(callId) }
  })

/** Runs what a prompt approves, and writes down that it did. */
export const run = (
  { hosted, hostedRuns }: Record.Record,
  turn: number,
  prompt: Prompt.Prompt
): ReadonlyArray<ScriptedModel.TurnPart> => {
  const approved = new Set<string>()
  const done = new Set<string>()
  for (const message of prompt.content) {
    if (message.role !== "assistant" && message.role !== "tool") continue
    for (const part of message.content) {
      if (part.type === "tool-approval-response" && part.approved) approved.add(part.approvalId)
      if (part.type === "tool-result" && part.providerExecuted) done.add(part.id)
    }
  }
  return hosted.flatMap(({ approvalId, callId, plan }) => {
    if (!approved.has(approvalId) || done.has(callId)) return []
    hostedRuns.push({ callId, turn })
    return plan.runs === "silent" ? [] : [resultOf(callId, plan)]
  })
}
