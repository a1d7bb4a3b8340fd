/**
 * Calls that the provider runs itself and asks about (law L9). The policy and the controller that answer for local calls
 * answer for these too; the answer goes to the provider, which runs the call or does not. Nothing here runs a tool.
 */
import * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import type * as Tool from "effect/ai/Tool"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Approval from "../Approval.ts"
import type * as ApprovalError from "../ApprovalError.ts"
import * as ApprovalEvents from "../ApprovalEvents.ts"
import * as ApprovalPolicy from "../ApprovalPolicy.ts"
import * as Approvals from "../Prompt.ts"
import * as Canonical from "./canonical.ts"
import * as Decision from "./decision.ts"
import type * as Environment from "./environment.ts"
import * as Gate from "./gate.ts"
import * as HostedCall from "./hostedCall.ts"
import * as Judge from "./judge.ts"
import * as Transcript from "./transcript.ts"

/** What became of the provider's requests: the answers it gets, and what is still open. */
export interface Answered {
  readonly answers: ReadonlyArray<Approval.ApprovalAnswer>
  readonly open: ReadonlyArray<Approval.ApprovalRequest>
}

interface Subject {
  readonly environment: Environment.Environment
  readonly tools: Decision.Tools | undefined
  readonly messages: ReadonlyArray<Prompt.Message>
  /** What a call says of itself in a history may be anybody's word: then no policy lets it run on it. */
  readonly isHistory: boolean
}

/** How often one turn calls the model again because its requests were answered at once. */
export const maxRounds = 32

// =============================================================================
// Requests of a history
// =============================================================================

/**
 * The provider's requests of a history for calls that have not run: those that nobody has answered are answered by the
 * policy or the controller, or are open; an approval does not outlive a policy that now blocks (law L11). `asks` is
 * false where the model is not called anyway: then nobody is asked. Requests whose call was trimmed are dropped, and an
 * event (law L10).
 */
export const settle = Effect.fnUntraced(function*(
  subject: Subject,
  transcript: Transcript.Transcript,
  asks: boolean
): Effect.fn.Return<Answered> {
  const { environment } = subject
  const answers: Array<Approval.ApprovalAnswer> = []
  const open: Array<Approval.ApprovalRequest> = []
  for (const one of transcript.requests) {
    const { part, providerCall, toolCall } = one
    if (toolCall === undefined) {
      const { approvalId, toolCallId } = part
      yield* ApprovalEvents.publish((occasion) => ({ _tag: "Trimmed", ...occasion, approvalId, toolCallId }))
    }
    if (toolCall?.providerExecuted !== true || providerCall?.result !== undefined) continue
    if (Result.isSuccess(environment.seal.parse(part.approvalId))) continue
    const response = Transcript.standingResponse(one.responses)
    if (response?.approved === false || (response !== undefined && !asks)) continue
    if (
      response === undefined && environment.options.onNewMessage !== "hold" &&
      transcript.lastUserIndex > one.messageIndex
    ) {
      continue
    }
    const request = requestOf(part.approvalId, toolCall)
    const answer = asks ? yield* standing(subject, request, toolCall, response !== undefined) : undefined
    if (answer === "open" || (answer === undefined && response === undefined)) open.push(request)
    else if (answer !== undefined) answers.push(answer)
  }
  return { answers, open }
})

const standing = (
  subject: Subject,
  request: Approval.ApprovalRequest,
  call: HostedCall.Call,
  approved: boolean
): Effect.Effect<Approval.ApprovalAnswer | "open" | undefined> =>
  Effect.tap(
    find(subject, request, call, approved),
    (answer) =>
      typeof answer !== "object" ? Effect.void : ApprovalEvents.publish((occasion) => ({
        _tag: "Changed",
        ...occasion,
        ...Decision.about(request, request),
        state: answer.decision._tag === "Approved" ? "approved" : "denied",
        reason: answer.decision.note
      }))
  )

// What is to be added to what a history says: nothing, an answer, or that it has to wait.
const find = Effect.fnUntraced(function*(
  subject: Subject,
  request: Approval.ApprovalRequest,
  call: HostedCall.Call,
  approved: boolean
): Effect.fn.Return<Approval.ApprovalAnswer | "open" | undefined> {
  const verdict = yield* Effect.result(decide(subject, request, call))
  if (Result.isFailure(verdict)) return approved ? "open" : yield* consult(subject, request)
  const { success: result } = verdict
  if (result?._tag === "Blocked") return Approval.deny(request, result.reason)
  if (approved) return undefined
  if (result?._tag === "PreApproved" && !subject.isHistory) return Approval.approve(request, { note: result.reason })
  return yield* consult(subject, request)
})

// =============================================================================
// Requests of a response
// =============================================================================

/** Whether anybody here may answer for a person; if not, requests pass as they come. */
export const mayAnswer = (
  { controller, policy }: Environment.Environment,
  tools: Decision.Tools | undefined
): boolean =>
  controller.ask !== undefined || policy !== ApprovalPolicy.toolGate || Object.values(tools ?? {}).some(hasGate)

/** Whether a tool that the provider runs has a gate that the program gave it. */
export const hasGate = (tool: Tool.Any): boolean => Judge.isProviderTool(tool) && Gate.gateOf(tool) !== undefined

/** Answers every request of a response, or none: with one that stays open, the others are asked about again. */
export const answerAll = Effect.fnUntraced(function*(
  subject: Subject,
  asked: ReadonlyArray<Response.ToolApprovalRequestPart>,
  calls: ReadonlyMap<string, HostedCall.Call>
): Effect.fn.Return<ReadonlyArray<Approval.ApprovalAnswer> | undefined> {
  const answers: Array<Approval.ApprovalAnswer> = []
  for (const { approvalId, toolCallId } of asked) {
    const call = calls.get(toolCallId)
    if (call === undefined) return undefined
    const answer = yield* standing(subject, requestOf(approvalId, call), call, false)
    if (answer === undefined || answer === "open") return undefined
    answers.push(answer)
  }
  return answers
})

/** A prompt with answers at its end. */
export const withAnswers = (prompt: Prompt.Prompt, answers: ReadonlyArray<Approval.ApprovalAnswer>): Prompt.Prompt =>
  Prompt.concat(prompt, Approvals.approvalResponses(answers))

// =============================================================================
// Internals
// =============================================================================

const requestOf = (approvalId: string, call: HostedCall.Call): Approval.ApprovalRequest => {
  const { params, source, toolName } = HostedCall.asked(call)
  return Decision.makeRequest({ approvalId }, { toolCallId: call.id, toolName, encoded: params }, {
    providerExecuted: true,
    source
  })
}

// The provider asked, so a tool that says nothing about its calls is one that wants to be asked about.
const decide = (
  { environment, messages, tools }: Subject,
  { params, toolCallId, toolName }: Approval.ApprovalRequest,
  call: HostedCall.Call
): Effect.Effect<Approval.ApprovalResult | undefined, ApprovalError.ApprovalError> => {
  const tool = tools === undefined ? undefined : Judge.toolOf(tools, call.name)
  if (tool === undefined) return Effect.undefined
  return ApprovalPolicy.decide(
    environment.policy,
    {
      tool: Gate.gateOf(tool) === undefined ? closed(tool) : tool,
      toolName,
      toolCallId,
      params,
      encodedParams: params,
      messages
    },
    environment.options.policyTimeLimit
  )
}

const closedTools = new WeakMap<Tool.Any, Tool.Any>()

const closed = (tool: Tool.Any): Tool.Any => {
  const known = closedTools.get(tool) ?? Gate.setGate(tool, true)
  closedTools.set(tool, known)
  return known
}

const consult = Effect.fnUntraced(function*(
  { environment }: Subject,
  request: Approval.ApprovalRequest
): Effect.fn.Return<Approval.ApprovalAnswer | "open"> {
  const decision = yield* Judge.ask(environment, request)
  if (decision === undefined || decision._tag === "Info") return "open"
  // The provider runs what it asked about: parameters that a person changed cannot reach it.
  if (decision._tag === "Approved" && decision.params !== undefined && !isSame(decision.params, request.params)) {
    return "open"
  }
  return new Approval.ApprovalAnswer({ approvalId: request.approvalId, decision })
})

const isSame = (left: unknown, right: unknown): boolean => {
  const canonical = Canonical.canonicalize(left)
  return Result.isSuccess(canonical) && Result.getOrUndefined(Canonical.canonicalize(right)) === canonical.success
}
