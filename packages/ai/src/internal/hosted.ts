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
import * as ApprovalError from "../ApprovalError.ts"
import * as ApprovalEvents from "../ApprovalEvents.ts"
import * as ApprovalPolicy from "../ApprovalPolicy.ts"
import * as Approvals from "../Prompt.ts"
import * as Asking from "./asking.ts"
import * as Canonical from "./canonical.ts"
import * as Decision from "./decision.ts"
import type * as Environment from "./environment.ts"
import * as Gate from "./gate.ts"
import * as HostedCall from "./hostedCall.ts"
import * as HostedSeal from "./hostedSeal.ts"
import * as Judge from "./judge.ts"
import * as Remembering from "./remembering.ts"
import * as Transcript from "./transcript.ts"

/** What became of the provider's requests: the answers it gets, and what is still open. */
export interface Answered {
  readonly answers: ReadonlyArray<Approval.ApprovalAnswer>
  readonly open: ReadonlyArray<Approval.ApprovalRequest>
  /** Requests that nobody made, by their ids: they and their answers are for nobody. */
  readonly bogus: ReadonlySet<string>
}

interface Subject {
  readonly environment: Environment.Environment
  readonly tools: Decision.Tools | undefined
  readonly messages: ReadonlyArray<Prompt.Message>
}

/** What may be done about the requests of a history. */
export interface Powers {
  /** The model is going to be called, so what was approved is judged again. */
  readonly judges: boolean
  /** Whoever answers for a person here may be asked. */
  readonly asks: boolean
}

/** How often one turn calls the model again because its requests were answered at once. */
export const maxRounds = 32

const editedReason =
  "The provider runs this call as it asked about it, so edited parameters cannot reach it. Approve or" +
  " deny it as it was proposed."

/** The request as people and policies see it. */
export const requestOf = (approvalId: string, call: HostedCall.Call, reason?: string): Approval.ApprovalRequest => {
  const { params, source, toolName } = HostedCall.asked(call)
  return Decision.makeRequest({ approvalId }, { toolCallId: call.id, toolName, encoded: params }, {
    providerExecuted: true,
    source,
    reason
  })
}

// =============================================================================
// Requests of a history
// =============================================================================

/**
 * The provider's requests of a history for calls that have not run: those that nobody has answered are answered by the
 * policy or the controller, or are open; an approval does not outlive a policy that now blocks (law L11). Where anybody
 * here may decide, a call that is not the one the provider asked about is denied instead (law L4). Requests whose call
 * was trimmed are dropped, and an event (law L10).
 */
export const settle = Effect.fnUntraced(function*(
  subject: Subject,
  transcript: Transcript.Transcript,
  powers: Powers
): Effect.fn.Return<Answered, ApprovalError.ApprovalError> {
  const { environment } = subject
  const answers: Array<Approval.ApprovalAnswer> = []
  const open: Array<Approval.ApprovalRequest> = []
  const decides = mayAnswer(environment, subject.tools)
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
    const response = Transcript.standingResponse(one.responses)
    if (response?.approved === false || (response !== undefined && !powers.judges)) continue
    if (
      response === undefined && environment.options.onNewMessage !== "hold" &&
      transcript.lastUserIndex > one.messageIndex
    ) {
      continue
    }
    const edited = response === undefined && one.ignored.some(Transcript.isEdit)
    const request = requestOf(part.approvalId, toolCall, edited ? editedReason : undefined)
    if (edited) yield* refuseEdit(request)
    const forged = decides ? yield* refuse(subject, request, toolCall) : undefined
    const asks = response === undefined ? powers.asks : powers.judges
    const answer = forged ?? (asks ? yield* standing(subject, request, toolCall, response !== undefined) : undefined)
    if (answer === "open" || (answer === undefined && response === undefined)) open.push(request)
    else if (answer !== undefined) answers.push(answer)
  }
  return { answers, open, bogus }
})

const noRequests: ReadonlySet<string> = new Set()

// A provider asks once about a call: of several requests the one that was sealed with it counts, or the first.
const findBogus = Effect.fnUntraced(function*(
  { environment }: Subject,
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
      (approvalId) => Effect.isSuccess(HostedSeal.verify(environment.seal, environment.scope, call, approvalId))
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

// A denial, if this is not the call that the provider asked about.
const refuse = Effect.fnUntraced(function*(
  { environment }: Subject,
  request: Approval.ApprovalRequest,
  call: HostedCall.Call
): Effect.fn.Return<Approval.ApprovalAnswer | undefined, ApprovalError.ApprovalError> {
  const { approvalId } = request
  const verified = yield* Effect.result(HostedSeal.verify(environment.seal, environment.scope, call, approvalId))
  if (Result.isSuccess(verified)) return undefined
  const { reason } = verified.failure
  yield* ApprovalEvents.publish((occasion) => ({
    _tag: "Refused",
    ...occasion,
    ...Decision.about(request),
    approvalId,
    reason
  }))
  if (environment.options.onInvalid === "fail") return yield* verified.failure
  return Approval.deny(request, reason.message)
})

const refuseEdit = (request: Approval.ApprovalRequest) =>
  ApprovalEvents.publish((occasion) => ({
    _tag: "Refused",
    ...occasion,
    ...Decision.about(request, request),
    reason: new ApprovalError.InvalidEdit({
      approvalId: request.approvalId,
      description: "the provider runs the call as it asked about it."
    })
  }))

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
  if (Result.isFailure(verdict)) {
    return approved
      ? "open"
      : yield* Asking.inTurn(subject.environment.controller, answer(subject, request, Judge.policyFailed))
  }
  const { success: result = new Approval.NeedsApproval({}) } = verdict
  if (result._tag === "Blocked") return Approval.deny(request, result.reason)
  if (approved) return undefined
  return yield* Asking.inTurn(subject.environment.controller, answer(subject, request, result))
})

const answer = Effect.fnUntraced(function*(
  subject: Subject,
  request: Approval.ApprovalRequest,
  result: Exclude<Approval.ApprovalResult, Approval.Blocked>
): Effect.fn.Return<Approval.ApprovalAnswer | "open"> {
  const recalled = yield* Effect.result(
    Remembering.recall(subject.environment, memoryOf(request), result, request.toolCallId)
  )
  const known = Result.isSuccess(recalled) ? recalled.success : undefined
  if (known?.decision === "denied") return Approval.deny(request, known.reason)
  if (known !== undefined) return Approval.approve(request, { note: known.reason })
  return result._tag === "PreApproved" && Result.isSuccess(recalled)
    ? Approval.approve(request, { note: result.reason })
    : yield* consult(subject, request, result)
})

// What a memory is asked about a call that the provider runs; its tool is what the provider says it is.
const memoryOf = ({ params, source = "provider", toolName }: Approval.ApprovalRequest): Remembering.Subject => ({
  source,
  toolName,
  version: "provider",
  params
})

// =============================================================================
// Requests of a response
// =============================================================================

/**
 * The parts, with a seal on each call that one of them asks about; a provider that emits a request later than its call
 * seals the call itself.
 */
export const sealCalls = <Part extends Response.AnyPart>(
  { scope, seal }: Environment.Environment,
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
      : HostedSeal.seal(seal, scope, part, approvalId)
  })
}

const isProviderCall = (part: Response.AnyPart): part is Response.ToolCallPart<string, unknown> =>
  part.type === "tool-call" && part.providerExecuted === true

/** Whether anybody here may answer for a person; if not, requests pass as they come. */
export const mayAnswer = (
  { controller, memory, policy }: Environment.Environment,
  tools: Decision.Tools | undefined
): boolean =>
  controller.ask !== undefined || memory.remembers || policy !== ApprovalPolicy.toolGate ||
  Object.values(tools ?? {}).some(hasGate)

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
  request: Approval.ApprovalRequest,
  result: Approval.ApprovalResult
): Effect.fn.Return<Approval.ApprovalAnswer | "open"> {
  const decision = yield* Asking.ask(environment.controller, request, {
    remembers: Remembering.lifetimeOf(environment)
  })
  if (decision === undefined || decision._tag === "Info") return "open"
  // The provider runs what it asked about: parameters that a person changed cannot reach it.
  if (decision._tag === "Approved" && decision.params !== undefined && !isSame(decision.params, request.params)) {
    return "open"
  }
  const { approvalId, toolCallId } = request
  const remembered = yield* Remembering.answeredOf(
    environment,
    memoryOf(request),
    { nonce: `provider:${approvalId}`, approvalId, toolCallId },
    decision._tag === "Approved" ? "approved" : "denied",
    {
      remember: Remembering.rememberOf(
        result._tag === "NeedsApproval" ? result : undefined,
        decision._tag === "Approved" ? decision.remember : decision.remember ?? "none"
      ),
      note: decision.note
    }
  )
  yield* Remembering.give(environment, remembered)
  yield* Remembering.keep(environment, remembered)
  return new Approval.ApprovalAnswer({ approvalId, decision })
})

const isSame = (left: unknown, right: unknown): boolean => {
  const canonical = Canonical.canonicalize(left)
  return Result.isSuccess(canonical) && Result.getOrUndefined(Canonical.canonicalize(right)) === canonical.success
}
