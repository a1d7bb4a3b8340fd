/** What a step of a turn has said: as messages of its history, and what is open after it. */
import type * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Approval from "../../Approval.ts"
import * as Responses from "../../Response.ts"
import * as Cut from "../history/cut.ts"
import * as Said from "../history/said.ts"
import * as Transcript from "../history/transcript.ts"
import * as Rows from "../kept/rows.ts"
import * as Asked from "./asked.ts"
import type { Turn } from "./model.ts"
import * as Saying from "./saying.ts"

export type Next = "waits" | "goes on" | "is stopped" | "is done"

/** How a step has spoken: at once when it was over, part by part, or not to its end. */
export type Way = "whole" | "stream" | "cut"

/**
 * Adds what the step has said to the history, and tells whether the model is to be called again. A stream was cut short where
 * it has no finish (law L7).
 */
export const take = Effect.fnUntraced(function*(turn: Turn, way: Way): Effect.fn.Return<Next> {
  const { history: { content: before }, saying } = turn
  const parts = turn.isBrief ? Saying.merged(turn.step) : turn.step
  if (way === "whole") Saying.hearRest(saying, parts)
  turn.step = []
  Saying.endStep(saying, turn.isBrief && way === "stream" ? parts : saying.step, way === "stream" ? turn.step : [])
  for (const part of parts) {
    if (part.type !== "tool-approval-request" || !turn.record?.asked.has(part.approvalId)) turn.content.push(part)
  }
  const own = [...parts.filter(Asked.isOwn), ...turn.hidden]
  turn.hidden = []
  const messages = messagesOf(turn, Asked.withoutKnown(turn, own))
  turn.record = undefined
  turn.written = []
  if (messages.length > 0) turn.history = Rows.grow(turn.history, messages)
  if (way !== "whole" && !parts.some(({ type }) => type === "finish")) {
    turn.history = Cut.markFrom(turn.history, before.length)
  }
  turn.nested = Responses.approvalRequests(parts.filter((part) => !Asked.isOwn(part)))
  const asked = Asked.requestsIn(turn, own)
  const isNew = asked.some(({ approvalId }) => turn.open.every((one) => one.approvalId !== approvalId))
  turn.open = yield* openAfter(turn, asked)
  turn.answered = []
  // What is still open was answered, and held: whoever goes on from there has to know by whom.
  turn.deciders = Object.fromEntries(
    turn.open.flatMap(({ approvalId: id }) => Object.hasOwn(turn.deciders, id) ? [[id, turn.deciders[id]!]] : [])
  )
  turn.steps++
  let goesOn = false
  for (const part of parts) {
    if (part.type === "tool-call" && part.providerExecuted !== true) goesOn = true
    if (part.type !== "finish") continue
    turn.tokens += (part.usage.inputTokens.total ?? 0) + (part.usage.outputTokens.total ?? 0)
    if (part.reason === "pause") goesOn = true
  }
  if (asked.length > 0) {
    const { beside } = turn
    if (!isNew || beside === undefined || beside.behind !== undefined) return "waits"
    // As if it were said now, beside what has begun to wait; the model was not called yet.
    beside.behind = turn.history.content.length
    turn.steps--
    return "goes on"
  }
  return Responses.isStopped(parts) ? "is stopped" : goesOn ? "goes on" : "is done"
})

/** Those that are written already are the same objects: they are not written again. */
export const messagesOf = (
  { open, written }: Turn,
  parts: ReadonlyArray<Response.AnyPart>
): ReadonlyArray<Prompt.Message> => {
  // A step that did no more than ask again what is asked leaves the history as it is, however often it is taken (law L17).
  if (parts.every((part) => isRepeated(part, open))) return []
  const isWritten = (message: Prompt.Message, index: number): boolean =>
    index < written.length && JSON.stringify(message) === JSON.stringify(written[index])
  return Said.messages(parts).map((message, index) => isWritten(message, index) ? written[index]! : message)
}

const isRepeated = (part: Response.AnyPart, open: ReadonlyArray<Approval.ApprovalRequest>): boolean =>
  part.type === "finish" || part.type === "response-metadata" ||
  (part.type === "tool-approval-request" && open.some(({ approvalId }) => approvalId === part.approvalId))

// What the model goes on beside (law L6) is not said again: it is open until its call has a result, or asks anew.
const openAfter = Effect.fnUntraced(function*(
  { history, open, suspensions }: Turn,
  said: ReadonlyArray<Approval.ApprovalRequest>
): Effect.fn.Return<ReadonlyArray<Approval.ApprovalRequest>> {
  const before = open.filter((one) =>
    !one.providerExecuted && !said.some(({ approvalId }) => approvalId === one.approvalId)
  )
  if (before.length === 0) return said
  const known = new Map(
    Transcript.readWhole(history.content).allRequests.map((request) => [request.part.approvalId, request])
  )
  // A request of the same call id: of the same call, which has gone on and waits for something else, or of another one,
  // because some providers use ids again (law L13).
  const isReplaced = ({ approvalId, awaited, toolCallId }: Approval.ApprovalRequest) =>
    !said.some((one) => one.toolCallId === toolCallId)
      ? Effect.succeed(false)
      : awaited === undefined
      ? Effect.succeed(known.get(approvalId)!.responses.length > 0)
      : Effect.map(
        Effect.result(suspensions.find(approvalId)),
        (found) => Result.isSuccess(found) && found.success?.status !== "open"
      )
  const still = yield* Effect.filter(before, (one) => {
    const call = known.get(one.approvalId)?.call
    return call === undefined || call.result !== undefined
      ? Effect.succeed(false)
      : Effect.map(isReplaced(one), (replaced) => !replaced)
  })
  return [...still, ...said]
})

/** Something of it is on record. */
export const isKept = ({ record }: Turn): boolean => record !== undefined && record.kept > 0

/** A step that was cut short has said what it has said, or what is on record. */
export const takeCutStep = Effect.fnUntraced(function*(turn: Turn): Effect.fn.Return<void> {
  const { answered, deciders, record, step } = turn
  turn.step = [...Asked.hide(turn, record !== undefined && record.kept > 0 ? record.parts : step)]
  yield* take(turn, "cut")
  turn.open = yield* Effect.filter(
    turn.open,
    ({ approvalId, awaited }) =>
      record?.asked.has(approvalId) !== true
        ? Effect.succeed(true)
        : awaited === undefined
        ? Effect.succeed(false)
        // Nobody has answered it: what has begun still waits.
        : Effect.map(
          Effect.result(turn.suspensions.find(approvalId)),
          (found) =>
            Result.isSuccess(found) && found.success?.status === "open" && found.success.delivered === undefined
        )
  )
  turn.answered = answered
  turn.deciders = deciders
})

/** What was open and has its result is not open any more, whatever becomes of the turn. */
export const unsettled = (
  open: ReadonlyArray<Approval.ApprovalRequest>,
  parts: ReadonlyArray<Response.AnyPart>
): ReadonlyArray<Approval.ApprovalRequest> =>
  open.filter(({ approvalId, awaited, toolCallId }) =>
    !parts.some((part) =>
      part.type === "tool-result" && part.id === toolCallId && Transcript.isNaming(part.metadata.assent) &&
      // What has waited is named by the first of its requests.
      (awaited !== undefined || part.metadata.assent.approvalId === approvalId)
    )
  )
