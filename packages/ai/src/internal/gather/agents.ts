/** A run that waits for its agents: what the history answers of what they ask, and from where it begins again. */
import * as Prompt from "effect/ai/Prompt"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Approval from "../../Approval.ts"
import type * as Environment from "../environment/environment.ts"
import { definedFields } from "../fields.ts"
import * as HistoryAnswer from "../history/answer.ts"
import type * as Transcript from "../history/transcript.ts"
import * as Deferral from "../tool/deferral.ts"
import * as Nesting from "../tool/nesting.ts"
import * as Interactions from "../waiting/interaction.ts"
import * as Answering from "./answering.ts"
import type { Given } from "./file.ts"

const decodeDecision = Schema.decodeUnknownResult(Approval.ApprovalDecision)

/** The latest of these calls within which a call of an agent is, by its id: a history may have been written by anybody. */
const makeFinder = (pending: ReadonlyArray<Transcript.TranscriptCall>) => {
  const calls = new Map<string, Array<Transcript.TranscriptCall>>()
  const lengths = new Set<number>()
  for (const call of pending) {
    const { id } = call.part
    const those = calls.get(id)
    lengths.add(id.length)
    if (those === undefined) calls.set(id, [call])
    else those.push(call)
  }
  return (toolCallId: unknown, messageIndex: number): Transcript.TranscriptCall | undefined => {
    if (typeof toolCallId !== "string") return undefined
    let found: Transcript.TranscriptCall | undefined
    for (let at = toolCallId.indexOf("/"); at !== -1; at = toolCallId.indexOf("/", at + 1)) {
      if (!lengths.has(at)) continue
      const call = calls.get(toolCallId.slice(0, at))?.findLast((one) => one.messageIndex <= messageIndex)
      if (call !== undefined && (found === undefined || call.messageIndex >= found.messageIndex)) found = call
    }
    return found
  }
}

/**
 * As what a call waits for its agents no history of a program's own says: it is found by what is asked in these, whose calls'
 * ids begin with its own. It is proved by its seal, as any request.
 */
export const withWaits = Effect.fnUntraced(function*(
  { suspensions }: Environment.Environment,
  transcript: Transcript.Transcript,
  pending: ReadonlyArray<Transcript.TranscriptCall>
): Effect.fn.Return<Transcript.Transcript> {
  const callOf = makeFinder(pending)
  const found = new Map<Transcript.TranscriptCall, Transcript.TranscriptRequest>()
  // It stands where the last of them does.
  for (const request of transcript.allRequests.toReversed()) {
    const { messageIndex, part: { approvalId, toolCallId } } = request
    const call = callOf(toolCallId, messageIndex)
    if (call === undefined || found.has(call)) continue
    const as = yield* Effect.orElseSucceed(suspensions.waiting(approvalId), () => undefined)
    if (as === undefined || call.requests.some(({ part }) => part.approvalId === as)) continue
    const waits: Transcript.TranscriptRequest = {
      ...request,
      part: Prompt.makePart("tool-approval-request", { approvalId: as, toolCallId: call.part.id }),
      call,
      providerCall: undefined,
      toolCall: call.part,
      responses: [],
      ignored: [],
      answeredAt: undefined
    }
    found.set(call, waits)
  }
  if (found.size === 0) return transcript
  const waiting = Array.from(found.values())
  for (const [call, waits] of found) call.requests = [...call.requests, waits]
  return {
    ...transcript,
    allRequests: [...transcript.allRequests, ...waiting],
    requests: [...transcript.requests, ...waiting]
  }
})

/** Gives them what the history answers of one of their requests; what has no effect any more was answered before. */
export const giveAll = Effect.fnUntraced(function*(
  environment: Environment.Environment,
  began: string,
  approvalId: string,
  given: ReadonlyArray<Given>
): Effect.fn.Return<void> {
  for (const said of given) {
    const decision = said.response === undefined ? undefined : decisionOf(said)
    if (decision === undefined) continue
    const kept = yield* Effect.result(
      environment.suspensions.give(approvalId, { call: began }, {
        decision,
        decidedBy: said.by,
        trusted: Answering.isTrusted(environment, said.response)
      })
    )
    if (Result.isFailure(kept)) environment.onRefused(approvalId, kept.failure.reason)
  }
})

const decisionOf = ({ note, params, remember, response }: Given): Approval.ApprovalDecision | undefined => {
  const written = HistoryAnswer.assentOf(response!)
  const answer = written !== undefined && "answer" in written ? written.answer : undefined
  const stop = HistoryAnswer.saysStop(response!) ? true : undefined
  const said = response!.approved
    ? { _tag: "Approved", ...definedFields({ note, params, remember, answer }) }
    : { _tag: "Denied", ...definedFields({ note, remember, stop }) }
  return Result.getOrUndefined(decodeDecision(said))
}

/** From where the run begins again: `undefined` is its beginning. */
export const resumptionOf = Effect.fnUntraced(function*(
  deferral: Deferral.Deferral,
  state: Schema.Json
): Effect.fn.Return<Deferral.Resumption | undefined, unknown> {
  const { from } = yield* Nesting.decodeState(state)
  if (from === undefined) return undefined
  const { answer, decidedBy, description = "", expiredAt, interaction: name } = from
  const interaction = Deferral.interactionOf(deferral, name)
  if (interaction === undefined) return yield* Effect.fail("It declares no such interaction any more.")
  const waited = {
    interaction: name,
    state: yield* deferral.decodeState(from.state, from.stateVersion),
    kept: { ...from } as unknown as Schema.Json // of JSON alone, and of whose it was
  }
  if (expiredAt !== undefined) return { ...waited, expiredAt, description }
  const awaited = new Approval.Awaited({ name, kind: interaction.kind, answerSchema: null })
  const decoded = yield* Interactions.decodeAnswer(interaction, awaited, answer ?? null)
  return { ...waited, answer: decoded, decidedBy: decidedBy ?? Answering.byProgram }
})
