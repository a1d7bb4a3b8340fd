/**
 * Calls that the provider runs itself and asks about (law L9). What decides on local calls decides on these too; the
 * answer goes to the provider, which runs the call or does not. Nothing here runs a tool.
 */
import * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Approval from "../../Approval.ts"
import * as ApprovalError from "../../ApprovalError.ts"
import * as ApprovalEvents from "../../ApprovalEvents.ts"
import * as Approvals from "../../Prompt.ts"
import type * as Standing from "../decide/standing.ts"
import type * as Environment from "../environment/environment.ts"
import * as Tools from "../gather/tools.ts"
import * as Results from "../history/results.ts"
import * as Transcript from "../history/transcript.ts"
import * as Policies from "../policy/service.ts"
import { InPassing } from "../seal/passing.ts"
import type * as Call from "../tool/hostedCall.ts"
import * as HostedCase from "./case.ts"
import * as Hand from "./hand.ts"
import * as Seal from "./seal.ts"

/** What became of the provider's requests: the answers it gets, and what is still open. */
export interface Answered {
  readonly answers: ReadonlyArray<Approval.ApprovalAnswer>
  readonly open: ReadonlyArray<Approval.ApprovalRequest>
  /** Of requests that a new message has passed over: what the history is to say of them. */
  readonly superseded: ReadonlyArray<Results.ResultPart>
  /** Requests that nobody made, by their ids: they and their answers are for nobody. */
  readonly bogus: ReadonlySet<string>
  /** Answers of the history that settle nothing, so that the provider is not told of them (law L16). */
  readonly refused: ReadonlySet<Prompt.ToolApprovalResponsePart>
}

/** How often one turn calls the model again because its requests were answered at once. */
export const maxRounds = 32

const editedReason =
  "The provider runs this call with the parameters it asked about, so edited parameters have no effect. Approve or" +
  " deny it as it was proposed."

// =============================================================================
// Requests of a history
// =============================================================================

/**
 * The provider's requests of a history for calls that have not run: each is answered, or open, or left to what the history
 * says of it. Where anybody here may decide, a call that is not the one the provider asked about is denied instead (law
 * L4). Requests whose call was trimmed are dropped, and an event (law L10).
 */
export const settle = Effect.fnUntraced(function*(
  subject: HostedCase.Subject,
  transcript: Transcript.Transcript,
  powers: Standing.Powers
): Effect.fn.Return<Answered, ApprovalError.ApprovalError> {
  const { environment } = subject
  const answers: Array<Approval.ApprovalAnswer> = []
  const open: Array<Approval.ApprovalRequest> = []
  const superseded: Array<Results.ResultPart> = []
  const decides = mayAnswer(environment, subject.tools)
  const refused = new Set<Prompt.ToolApprovalResponsePart>()
  const bogus = decides ? yield* findBogus(subject, transcript.requests) : noRequests
  for (const one of transcript.requests) {
    if (bogus.has(one.part.approvalId)) continue
    const { part, providerCall, toolCall } = one
    if (toolCall === undefined) {
      const { approvalId, toolCallId } = part
      yield* ApprovalEvents.publish((occasion) => ({ _tag: "Trimmed", ...occasion, approvalId, toolCallId }))
    }
    if (toolCall?.providerExecuted !== true || providerCall?.result !== undefined) continue
    if (Result.isSuccess(environment.seal.parse(part.approvalId))) continue
    // Whoever answers by an id that was asked with again means the later one.
    if (one.responses.length === 0 && Transcript.requestOf(transcript, part.approvalId) !== one) continue
    const answered = yield* Hand.settle(yield* readRequest(subject, transcript, one, toolCall, powers, decides))
    if (answered._tag === "Open") {
      open.push(answered.request)
      continue
    }
    if (answered._tag === "Superseded") {
      superseded.push(Results.hostedSuperseded(toolCall, part.approvalId))
      continue
    }
    if (answered.answer !== undefined) answers.push(answered.answer)
    if (!mayName(environment, subject.tools)) continue
    for (const response of one.responses) if (response !== answered.counts) refused.add(response)
  }
  return { answers, open, superseded, bogus, refused }
})

const noRequests: ReadonlySet<string> = new Set()

const readRequest = Effect.fnUntraced(function*(
  subject: HostedCase.Subject,
  transcript: Transcript.Transcript,
  { ignored, messageIndex, part: { approvalId }, responses }: Transcript.TranscriptRequest,
  call: Prompt.ToolCallPart,
  powers: Standing.Powers,
  decides: boolean
): Effect.fn.Return<HostedCase.HostedCase> {
  const { environment } = subject
  const named = mayName(environment, subject.tools)
  const response = Transcript.standingResponse(responses)
  const passedOver = transcript.lastUserIndex > messageIndex
  const edited = response === undefined && ignored.some(Transcript.isEdit)
  // What a new message has passed over is nobody's to decide on, unless it is held for somebody who may.
  const { onNewMessage } = environment.options
  const isGone = response === undefined && passedOver && (onNewMessage === "supersede" || onNewMessage === "keep")
  // Nor is there anything to prove of an answer that changes nothing.
  const isSettled = response !== undefined && !named && (!response.approved || powers === "reads")
  const verified = decides && !isGone && !isSettled
    ? yield* Effect.result(Seal.verify(environment.seal, environment.scope, call, approvalId))
    : Result.void
  const problem = Result.isFailure(verified) ? verified.failure : undefined
  const expired = problem?.reason._tag === "Expired" ? problem.message : undefined
  const one = HostedCase.make(subject, { approvalId, call }, {
    powers,
    named,
    responses: named ? responses : response === undefined ? [] : [response],
    expired,
    failure: expired === undefined ? problem : undefined,
    reason: edited ? editedReason : undefined,
    passedOver
  })
  if (edited && !isGone) yield* refuseEdit(one)
  return one
})

// A provider asks once about a call: of several requests the one that was sealed with it counts, or the first.
const findBogus = Effect.fnUntraced(function*(
  { environment }: HostedCase.Subject,
  requests: ReadonlyArray<Transcript.TranscriptRequest>
): Effect.fn.Return<ReadonlySet<string>> {
  const byCall = new Map<Prompt.ToolCallPart, Array<string>>()
  for (const { part: { approvalId }, toolCall } of requests) {
    if (toolCall?.providerExecuted !== true || Result.isSuccess(environment.seal.parse(approvalId))) continue
    byCall.set(toolCall, [...byCall.get(toolCall) ?? [], approvalId])
  }
  const bogus = new Set<string>()
  for (const [call, ids] of byCall) {
    if (ids.length === 1) continue
    const proven = yield* Effect.filter(
      ids,
      (approvalId) => Effect.isSuccess(Seal.verify(environment.seal, environment.scope, call, approvalId))
    )
    const counts = proven[0] ?? ids[0]
    for (const approvalId of ids) {
      if (approvalId === counts) continue
      bogus.add(approvalId)
      yield* ApprovalEvents.publish((occasion) => ({
        _tag: "Refused",
        ...occasion,
        toolCallId: call.id,
        toolName: call.name,
        approvalId,
        reason: new ApprovalError.Forged({ approvalId })
      }))
    }
  }
  return bogus
})

const refuseEdit = ({ approvalId, file, request }: HostedCase.HostedCase) =>
  Hand.refuse(
    file,
    request,
    new ApprovalError.InvalidEdit({
      approvalId,
      description: "the provider runs the call with the parameters it asked about."
    })
  )

// =============================================================================
// Requests of a response
// =============================================================================

/**
 * The parts, with a seal on each call that one of them asks about; a provider that emits a request later than its call
 * seals the call itself.
 */
export const sealCalls = <Part extends Response.AnyPart>(
  { endsWithProcess, scope, seal }: Environment.Environment,
  parts: ReadonlyArray<Part>
): Effect.Effect<ReadonlyArray<Part>> => {
  const requested = new Map<string, string>()
  for (const part of parts) {
    if (part.type === "tool-approval-request") requested.set(part.toolCallId, part.approvalId)
  }
  return requested.size === 0 ? Effect.succeed(parts) : Effect.forEach(parts, (part) => {
    const approvalId = isProviderCall(part) ? requested.get(part.id) : undefined
    return approvalId === undefined || !isProviderCall(part)
      ? Effect.succeed(part)
      : Effect.provideService(Seal.seal(seal, scope, part, approvalId), InPassing, endsWithProcess)
  })
}

const isProviderCall = (part: Response.AnyPart): part is Response.ToolCallPart<string, unknown> =>
  part.type === "tool-call" && part.providerExecuted === true

/** Whether anybody here may answer for a person; if not, requests pass as they come. */
export const mayAnswer = (
  { controller, memory, policy }: Environment.Environment,
  tools: Tools.Tools | undefined
): boolean =>
  controller.ask !== undefined || memory.remembers || policy !== Policies.toolGate ||
  Object.values(tools ?? {}).some(Tools.isGatedProviderTool)

/** Whether the policy may say that only some may decide: then it is asked of a "no", too. */
const mayName = ({ policy }: Environment.Environment, tools: Tools.Tools | undefined): boolean =>
  policy !== Policies.toolGate || Object.values(tools ?? {}).some(Tools.isGatedProviderTool)

/** Answers every request of a response, or none: with one that stays open, the others are asked about again. */
export const answerAll = Effect.fnUntraced(function*(
  subject: HostedCase.Subject,
  asked: ReadonlyArray<Response.ToolApprovalRequestPart>,
  calls: ReadonlyMap<string, Call.Call>
): Effect.fn.Return<ReadonlyArray<Approval.ApprovalAnswer> | undefined, ApprovalError.ApprovalError> {
  const answers: Array<Approval.ApprovalAnswer> = []
  const { environment } = subject
  for (const { approvalId, toolCallId } of asked) {
    const call = calls.get(toolCallId)
    if (call === undefined) return undefined
    const answered = yield* Hand.settle(
      HostedCase.make(subject, { approvalId, call }, {
        powers: "asks",
        named: mayName(environment, subject.tools),
        judgedAgain: true
      })
    )
    if (answered._tag !== "Answered" || answered.answer === undefined) return undefined
    answers.push(answered.answer)
  }
  return answers
})

/** Whether an answer ends the turn. */
export const isStopping = ({ decision }: Approval.ApprovalAnswer): boolean =>
  decision._tag === "Denied" && decision.stop === true

/** A prompt with answers at its end. */
export const withAnswers = (prompt: Prompt.Prompt, answers: ReadonlyArray<Approval.ApprovalAnswer>): Prompt.Prompt =>
  Prompt.concat(prompt, Approvals.approvalResponses(answers))
