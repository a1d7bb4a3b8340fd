/** Histories of every form, and what is read of them. */
import { Schema } from "effect"
import { Prompt } from "../../src/index.ts"
import type * as Transcript from "../../src/internal/history/transcript.ts"

// =============================================================================
// Histories
// =============================================================================

const ids = Schema.Literals(["a", "b"])
const approvals = Schema.Literals(["p", "q", "r"])
const names = Schema.Literals(["X", "X", "X", "Y"])

const Step = Schema.Union([
  Schema.Struct({
    _tag: Schema.tag("exchange"),
    calls: Schema.Array(Schema.Struct({
      id: ids,
      name: names,
      asked: Schema.NullOr(approvals),
      answered: Schema.Boolean,
      result: Schema.Literals([
        "there",
        "there",
        "there",
        "naming",
        "naming other",
        "unknown",
        "earlier",
        "other name",
        "void",
        "none"
      ])
    })).check(Schema.isMinLength(1), Schema.isMaxLength(3)),
    reversed: Schema.Boolean
  }),
  Schema.Struct({ _tag: Schema.tag("user") }),
  Schema.Struct({ _tag: Schema.tag("text") }),
  Schema.Struct({ _tag: Schema.tag("request"), approvalId: approvals, id: ids }),
  Schema.Struct({ _tag: Schema.tag("answer"), approvalId: approvals, approved: Schema.Boolean }),
  Schema.Struct({
    _tag: Schema.tag("result"),
    id: ids,
    name: names,
    naming: Schema.NullOr(approvals),
    earlier: Schema.Boolean,
    told: Schema.Boolean,
    provider: Schema.Boolean
  }),
  Schema.Struct({ _tag: Schema.tag("provider call"), id: ids, approvalId: Schema.NullOr(approvals) })
])

export const History = Schema.Array(Step).check(Schema.isMaxLength(10))

export const resultPart = (
  id: string,
  name: string,
  assent: object | undefined,
  result: unknown = "done",
  provider = false
) =>
  Prompt.toolResultPart({
    id,
    name,
    isFailure: false,
    result,
    providerExecuted: provider,
    ...(assent === undefined ? undefined : { options: { assent: assent as { readonly earlier: true } } })
  })

export const callPart = (id: string, name: string, providerExecuted = false) =>
  Prompt.toolCallPart({ id, name, params: {}, providerExecuted })

export const assistant = (...content: ReadonlyArray<Prompt.AssistantMessagePart>) =>
  Prompt.assistantMessage({ content })

export const tool = (...content: ReadonlyArray<Prompt.ToolMessagePart>) => Prompt.toolMessage({ content })

const messagesOf = (step: typeof Step.Type): ReadonlyArray<Prompt.Message> => {
  switch (step._tag) {
    case "exchange": {
      const asked: Array<Prompt.AssistantMessagePart> = []
      const answered: Array<Prompt.ToolMessagePart> = []
      for (const call of step.calls) {
        asked.push(callPart(call.id, call.name))
        if (call.asked !== null) {
          asked.push(Prompt.toolApprovalRequestPart({ approvalId: call.asked, toolCallId: call.id }))
          if (call.answered) {
            answered.push(Prompt.toolApprovalResponsePart({ approvalId: call.asked, approved: true }))
          }
        }
        switch (call.result) {
          case "there":
            answered.push(resultPart(call.id, call.name, undefined))
            break
          case "naming":
            answered.push(resultPart(call.id, call.name, { approvalId: call.asked ?? "p" }))
            break
          case "naming other":
            answered.push(resultPart(call.id, call.name, { approvalId: "r" }))
            break
          case "unknown":
            answered.push(resultPart(call.id, call.name, { approvalId: call.asked ?? "p", unknown: true }))
            break
          case "earlier":
            answered.push(resultPart(call.id, call.name, { earlier: true }))
            break
          case "other name":
            answered.push(resultPart(call.id, "Z", undefined))
            break
          case "void":
            answered.push(Prompt.toolResultPart({ ...resultPart(call.id, call.name, undefined), result: undefined }))
        }
      }
      return [assistant(...asked), tool(...(step.reversed ? answered.toReversed() : answered))]
    }
    case "user":
      return [Prompt.userMessage({ content: [Prompt.textPart({ text: "and?" })] })]
    case "text":
      return [assistant(Prompt.textPart({ text: "so" }))]
    case "request":
      return [assistant(Prompt.toolApprovalRequestPart({ approvalId: step.approvalId, toolCallId: step.id }))]
    case "answer":
      return [tool(Prompt.toolApprovalResponsePart({ approvalId: step.approvalId, approved: step.approved }))]
    case "result": {
      const assent = step.naming !== null
        ? { approvalId: step.naming, ...(step.told ? { told: "nobody knows", after: 0 } : undefined) }
        : step.earlier
        ? { earlier: true }
        : undefined
      return [tool(resultPart(step.id, step.name, assent, "late", step.provider))]
    }
    case "provider call":
      return [
        assistant(
          callPart(step.id, "X", true),
          ...(step.approvalId === null
            ? []
            : [Prompt.toolApprovalRequestPart({ approvalId: step.approvalId, toolCallId: step.id })])
        )
      ]
  }
}

/** Each gets parts of its own, so that nothing is known of it from another reading. */
export const build = (history: typeof History.Type) => history.flatMap(messagesOf)

// =============================================================================
// What is read
// =============================================================================

export const openOf = (transcript: Transcript.Transcript) => ({
  calls: transcript.calls.filter(({ result }) => result === undefined).map((
    { part, requests, sentId, messageIndex }
  ) => ({
    part,
    messageIndex,
    sentId,
    requests: requests.map((request) => ({ part: request.part, responses: request.responses, at: request.answeredAt }))
  })),
  requests: transcript.requests.map(({ part, call, messageIndex, providerCall, responses, toolCall }) => ({
    part,
    call: call?.part,
    toolCall,
    messageIndex,
    providerCall,
    responses
  })),
  lastUserIndex: transcript.lastUserIndex,
  inOrder: transcript.changes === undefined
})
