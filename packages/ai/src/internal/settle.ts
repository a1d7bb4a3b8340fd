/**
 * Decides what becomes of a call: run it, ask, or give it a failed result. Nothing here runs a tool.
 *
 * Two kinds of call come here. A call the provider made in this very turn is judged by the policy and, if a person is
 * wanted, sealed and asked (law L4: only such calls are ever sealed). A call that stands in the history without a
 * result is settled by its verified request, the journal, the answers, and the policy again (law L11).
 */
import type * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import type * as Tool from "effect/ai/Tool"
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as Approval from "../Approval.ts"
import * as ApprovalError from "../ApprovalError.ts"
import type * as ApprovalJournal from "../ApprovalJournal.ts"
import * as ApprovalPolicy from "../ApprovalPolicy.ts"
import type * as ApprovalSeal from "../ApprovalSeal.ts"
import * as Canonical from "./canonical.ts"
import * as Cryptography from "./cryptography.ts"
import * as Environment from "./environment.ts"
import * as Gate from "./gate.ts"
import * as Prepare from "./prepare.ts"
import * as Results from "./results.ts"
import * as Text from "./text.ts"
import * as Transcript from "./transcript.ts"

export type Tools = Readonly<Record<string, Tool.Any>>

/** What is to be done about a call. */
export type Decision =
  | { readonly _tag: "Result"; readonly part: Results.ResultPart }
  | { readonly _tag: "Run"; readonly claim: ApprovalJournal.Claim; readonly prepared: Prepare.Prepared }
  | { readonly _tag: "Open"; readonly request: Approval.ApprovalRequest }
  /** Open, but the model goes on and sees that it waits (`onNewMessage: "keep"`). */
  | { readonly _tag: "Keep"; readonly call: Results.CallName; readonly approvalId: string }

/** What the policy said about a call of this turn, before anybody is asked. */
export type Judgement =
  | { readonly _tag: "Result"; readonly part: Results.ResultPart }
  /** Runs like any call: the policy wants nobody. */
  | { readonly _tag: "Direct" }
  | { readonly _tag: "Ask"; readonly prepared: Prepare.Prepared; readonly needs: Approval.NeedsApproval }

const policyFailedReason = "The approval policy failed, so a person is asked."

const heldReason =
  "The approval policy failed, so the approved call did not run yet. Nothing is lost: mend the policy" +
  " and try again."

const untrustedEditReason = "Edited parameters count only from a trusted channel, so the call did not run. Approve or" +
  " deny it as it was proposed."

export const toolOf = (tools: Tools, name: string): Tool.Any | undefined =>
  Object.hasOwn(tools, name) ? tools[name] : undefined

/** Whether a call of this tool can need approval at all. */
export const isGated = (policy: ApprovalPolicy.Service, tool: Tool.Any): boolean => {
  if (policy !== ApprovalPolicy.toolGate) return true
  const gate = Gate.gateOf(tool)
  return gate !== undefined && gate !== false
}

// =============================================================================
// Calls of this turn
// =============================================================================

export const judge = (
  environment: Environment.Environment,
  tool: Tool.Any,
  call: Response.ToolCallPartEncoded,
  messages: ReadonlyArray<Prompt.Message>
): Effect.Effect<Judgement> => {
  if (!isGated(environment.policy, tool)) return Effect.succeed({ _tag: "Direct" })
  return Effect.matchEffect(Prepare.prepare(tool, call), {
    // A person is never asked about parameters that cannot run.
    onFailure: (error) => Effect.succeed<Judgement>({ _tag: "Result", part: Results.interrupted(call, error.message) }),
    onSuccess: (prepared) =>
      Effect.match(askPolicy(environment, prepared, messages), {
        onFailure: (): Judgement => ({
          _tag: "Ask",
          prepared,
          needs: new Approval.NeedsApproval({ reason: policyFailedReason })
        }),
        onSuccess: (result): Judgement => {
          switch (result._tag) {
            case "PreApproved":
              return { _tag: "Direct" }
            case "Blocked":
              return { _tag: "Result", part: Results.denied(call, result.reason) }
            case "NeedsApproval":
              return { _tag: "Ask", prepared, needs: result }
          }
        }
      })
  })
}

/** The question alone, closed: `true` unless everything said that the call may run. */
export const isNeeded = (
  policy: ApprovalPolicy.Service,
  tool: Tool.Any,
  call: Pick<Response.ToolCallPartEncoded, "id" | "name" | "params">,
  messages: ReadonlyArray<Prompt.Message>,
  timeLimit: Duration.Input
): Effect.Effect<boolean> =>
  !isGated(policy, tool) ? Effect.succeed(false) : Effect.match(
    Effect.flatMap(Prepare.prepare(tool, call), (prepared) => decide(policy, prepared, messages, timeLimit)),
    { onFailure: () => true, onSuccess: (result) => result._tag !== "PreApproved" }
  )

/** Seals a call of this turn and asks about it. The response must have come to a complete finish by now. */
export const ask = Effect.fnUntraced(function*(
  environment: Environment.Environment,
  prepared: Prepare.Prepared,
  needs: Approval.NeedsApproval
): Effect.fn.Return<Decision, ApprovalError.ApprovalError> {
  yield* Environment.requireJournal(environment)
  const digest = needs.presentation === undefined ? undefined : yield* presentationDigest(needs.presentation)
  const sealed = yield* environment.seal.seal(Prepare.binding(prepared, environment.scope, digest), {
    expiresIn: needs.expiresIn ?? environment.options.expiresIn
  })
  return yield* consult(environment, prepared, sealed, needs)
})

const askPolicy = (
  environment: Environment.Environment,
  prepared: Prepare.Prepared,
  messages: ReadonlyArray<Prompt.Message>
): Effect.Effect<Approval.ApprovalResult, ApprovalError.ApprovalError> =>
  decide(environment.policy, prepared, messages, environment.options.policyTimeLimit)

const decide = (
  policy: ApprovalPolicy.Service,
  prepared: Prepare.Prepared,
  messages: ReadonlyArray<Prompt.Message>,
  timeLimit: Duration.Input
): Effect.Effect<Approval.ApprovalResult, ApprovalError.ApprovalError> =>
  ApprovalPolicy.decide(policy, {
    tool: prepared.tool,
    toolName: prepared.toolName,
    toolCallId: prepared.toolCallId,
    params: prepared.decoded,
    encodedParams: prepared.encoded,
    messages
  }, timeLimit)

const presentationDigest = (presentation: Approval.ApprovalPresentation): Effect.Effect<string | undefined> => {
  const canonical = Canonical.canonicalize({ ...presentation })
  return Result.isSuccess(canonical)
    ? Effect.map(Cryptography.sha256(canonical.success), (digest) => digest.slice(0, 22))
    : Effect.undefined
}

// The controller answers now, or the request is open.
const consult = Effect.fnUntraced(function*(
  environment: Environment.Environment,
  prepared: Prepare.Prepared,
  sealed: ApprovalSeal.Sealed,
  needs: Approval.NeedsApproval
): Effect.fn.Return<Decision, ApprovalError.ApprovalError> {
  const claim = claimOf(sealed, prepared)
  const digest = needs.presentation === undefined ? undefined : yield* presentationDigest(needs.presentation)
  const request = makeRequest(sealed, prepared, {
    ...needs,
    // What was sealed is what may be shown.
    ...(digest === sealed.presentationDigest ? undefined : { presentation: undefined })
  })
  const decision = environment.controller.ask === undefined
    ? undefined
    // Not even an answer cut short says more than that nobody has answered.
    : yield* Effect.catchCause(Effect.suspend(() => environment.controller.ask!(request)), () => Effect.undefined)
  if (decision?._tag === "Approved" && decision.params === undefined) return { _tag: "Run", claim, prepared }
  if (decision?._tag === "Denied") return yield* end(environment, claim, prepared, "denied", decision.note)
  return { _tag: "Open", request }
})

// =============================================================================
// Calls of the history
// =============================================================================

interface Verified {
  readonly request: Transcript.TranscriptRequest
  readonly sealed: ApprovalSeal.Sealed
}

/** Settles one call of the history that has no result. `tools` is `undefined` on a turn without a toolkit. */
export const settle = Effect.fnUntraced(function*(
  environment: Environment.Environment,
  transcript: Transcript.Transcript,
  call: Transcript.TranscriptCall,
  tools: Tools | undefined,
  resolvesCalls: boolean
): Effect.fn.Return<Decision, ApprovalError.ApprovalError> {
  const { part } = call
  const standing = Transcript.standingResponse(call.requests.flatMap((request) => request.responses))
  if (call.requests.length === 0) return result(Results.interrupted(part, Results.neverAskedReason))
  const tool = tools === undefined ? undefined : toolOf(tools, part.name)
  const prepared = tool === undefined
    ? undefined
    : Result.getOrUndefined(yield* Effect.result(Prepare.prepare(tool, part)))
  const checked = yield* verify(environment, call, prepared)
  if (Result.isFailure(checked)) {
    // A denial needs no proof: nothing runs.
    if (standing?.approved === false) return result(Results.denied(part, standing.reason))
    if (tools === undefined && checked.failure.reason._tag === "Forged") {
      // Without the tool's schema nobody can tell: the parameters may have another canonical form than the history's.
      if (standing !== undefined) return result(Results.interrupted(part, Results.noToolkitReason))
      const { messageIndex, part: { approvalId } } = call.requests[0]!
      return environment.options.onNewMessage === "supersede" && transcript.lastUserIndex > messageIndex
        ? result(Results.interrupted(part, Results.supersededReason, approvalId))
        : open({ approvalId }, { ...named(part), encoded: null }, { description: part.name })
    }
    if (environment.options.onInvalid === "fail") return yield* checked.failure
    return result(Results.interrupted(part, checked.failure.message))
  }
  yield* Environment.requireJournal(environment)

  const verified = checked.success
  for (const { sealed } of verified) {
    const entry = yield* environment.journal.find(claimOf(sealed, named(part)))
    if (entry !== undefined) return fromEntry(entry, claimOf(sealed, named(part)), prepared)
  }
  const { request, sealed } = verified.find(({ request }) => request.responses.length > 0) ?? verified[0]!
  const claim = claimOf(sealed, named(part))
  const ending = (state: ApprovalJournal.Ending, reason: string | undefined) =>
    end(environment, claim, prepared ?? named(part), state, reason)

  if (standing?.approved === false) return yield* ending("denied", standing.reason)
  const now = yield* Clock.currentTimeMillis
  if (now >= sealed.expiresAt) {
    const expired = new ApprovalError.Expired({ approvalId: sealed.approvalId, expiredAt: sealed.expiresAt })
    return yield* ending("expired", expired.message)
  }
  if (standing === undefined && transcript.lastUserIndex > request.messageIndex) {
    switch (environment.options.onNewMessage) {
      case "supersede":
        return yield* ending("superseded", Results.supersededReason)
      case "keep":
        return { _tag: "Keep", call: part, approvalId: sealed.approvalId }
      case "fail":
        return yield* ApprovalError.make(
          new ApprovalError.ApprovalRequired({ requests: [makeRequest(sealed, prepared ?? unprepared(part), {})] })
        )
      case "hold":
        return open(sealed, prepared ?? unprepared(part), {})
    }
  }
  if (tools === undefined) {
    return standing === undefined
      ? open(sealed, unprepared(part), {})
      : result(Results.interrupted(part, Results.noToolkitReason, sealed.approvalId))
  }
  if (tool === undefined || prepared === undefined) {
    const drifted = new ApprovalError.Drifted({
      toolName: part.name,
      description: tool === undefined
        ? `The tool "${part.name}" is no longer available: it was removed or renamed since the person was asked.`
        : `The parameters no longer fit the schema of "${part.name}", which changed since the person was asked.`
    })
    return yield* ending("void", drifted.message)
  }

  const verdict = yield* Effect.result(askPolicy(environment, prepared, transcript.messages))
  if (Result.isSuccess(verdict) && verdict.success._tag === "Blocked") {
    return yield* ending("denied", verdict.success.reason)
  }
  if (standing === undefined) {
    const needs = Result.isSuccess(verdict) && verdict.success._tag === "NeedsApproval"
      ? verdict.success
      : new Approval.NeedsApproval(Result.isFailure(verdict) ? { reason: policyFailedReason } : {})
    return yield* consult(environment, prepared, sealed, needs)
  }
  if (Result.isFailure(verdict)) return open(sealed, prepared, { reason: heldReason })
  if (hasEdit(standing)) return open(sealed, prepared, { reason: untrustedEditReason })
  // The caller resolves tool calls itself: the answer stays good, and nothing runs here.
  if (!resolvesCalls) return open(sealed, prepared, {})
  return { _tag: "Run", claim, prepared }
})

// Every request of the call whose seal fits it. Without the tool, the parameters are taken as they stand and the
// schema's fingerprint from the id: enough to prove the question, and nothing runs.
const verify = Effect.fnUntraced(function*(
  environment: Environment.Environment,
  call: Transcript.TranscriptCall,
  prepared: Prepare.Prepared | undefined
): Effect.fn.Return<Result.Result<ReadonlyArray<Verified>, ApprovalError.ApprovalError>> {
  const verified: Array<Verified> = []
  let failure: ApprovalError.ApprovalError | undefined
  for (const request of call.requests) {
    const { approvalId } = request.part
    const binding = prepared === undefined
      ? Result.map(
        Result.all([environment.seal.parse(approvalId), canonicalParams(call.part)]),
        ([sealed, canonical]) =>
          Prepare.binding(
            { ...named(call.part), canonical, schemaFingerprint: sealed.schemaFingerprint },
            environment.scope
          )
      )
      : Result.succeed(Prepare.binding(prepared, environment.scope))
    const sealed = Result.isFailure(binding)
      ? Result.fail(binding.failure)
      : yield* Effect.result(environment.seal.verify(approvalId, binding.success))
    if (Result.isSuccess(sealed)) verified.push({ request, sealed: sealed.success })
    else failure ??= sealed.failure
  }
  return verified.length > 0 ? Result.succeed(verified) : Result.fail(failure!)
})

const canonicalParams = (part: Prompt.ToolCallPart): Result.Result<string, ApprovalError.ApprovalError> =>
  Result.mapError(
    Canonical.canonicalize(part.params),
    (description) => ApprovalError.make(new ApprovalError.InvalidParameters({ toolName: part.name, description }))
  )

const fromEntry = (
  entry: ApprovalJournal.Entry,
  claim: ApprovalJournal.Claim,
  prepared: Prepare.Prepared | undefined
): Decision => {
  const call = { id: claim.toolCallId, name: claim.toolName }
  const ended = Results.ofEnding(call, entry, claim.approvalId)
  if (ended !== undefined) return result(ended)
  // It ran or is running: whoever executes this joins it or gets its recorded result.
  return prepared === undefined
    ? result(Results.ofRecorded(call, entry, claim.approvalId))
    : { _tag: "Run", claim, prepared }
}

const end = (
  environment: Environment.Environment,
  claim: ApprovalJournal.Claim,
  prepared: Prepare.Prepared | Named,
  state: ApprovalJournal.Ending,
  reason: string | undefined
): Effect.Effect<Decision, ApprovalError.ApprovalError> =>
  Effect.map(
    environment.journal.end(claim, state, reason === undefined || reason.length === 0 ? Results.deniedReason : reason),
    (entry) => fromEntry(entry, claim, "tool" in prepared ? prepared : undefined)
  )

/** Requests for calls the provider runs itself, which nobody has answered and the provider has not run. */
export const openProviderRequests = (
  environment: Environment.Environment,
  transcript: Transcript.Transcript
): ReadonlyArray<Approval.ApprovalRequest> => {
  const requests: Array<Approval.ApprovalRequest> = []
  for (const request of transcript.requests.values()) {
    const { part, toolCall } = request
    if (toolCall?.providerExecuted !== true || request.responses.length > 0) continue
    if (transcript.providerResults.has(toolCall.id)) continue
    if (environment.options.onNewMessage !== "hold" && transcript.lastUserIndex > request.messageIndex) continue
    requests.push(makeRequest({ approvalId: part.approvalId }, unprepared(toolCall), { providerExecuted: true }))
  }
  return requests
}

// =============================================================================
// Internals
// =============================================================================

interface Named {
  readonly toolCallId: string
  readonly toolName: string
}

const named = (part: Prompt.ToolCallPart): Named => ({ toolCallId: part.id, toolName: part.name })

const unprepared = (part: Prompt.ToolCallPart): Named & { readonly encoded: Schema.Json } => {
  const canonical = Canonical.canonicalize(part.params)
  return { ...named(part), encoded: Result.isSuccess(canonical) ? JSON.parse(canonical.success) : null }
}

const claimOf = (sealed: ApprovalSeal.Sealed, call: Named): ApprovalJournal.Claim => ({
  approvalId: sealed.approvalId,
  nonce: sealed.nonce,
  expiresAt: sealed.expiresAt,
  toolCallId: call.toolCallId,
  toolName: call.toolName
})

const result = (part: Results.ResultPart): Decision => ({ _tag: "Result", part })

const hasEdit = (response: Prompt.ToolApprovalResponsePart): boolean => {
  const assent = response.options?.assent
  return typeof assent === "object" && assent !== null && "params" in assent
}

type Shown = { readonly [K in keyof Approval.NeedsApproval]?: Approval.NeedsApproval[K] | undefined } & {
  readonly providerExecuted?: boolean
}

const makeRequest = (
  sealed: { readonly approvalId: string; readonly issuedAt?: number; readonly expiresAt?: number },
  call: Named & { readonly encoded: Schema.Json },
  shown: Shown
): Approval.ApprovalRequest =>
  new Approval.ApprovalRequest({
    approvalId: sealed.approvalId,
    toolCallId: call.toolCallId,
    toolName: call.toolName,
    params: call.encoded,
    description: shown.description === undefined
      ? Approval.describe(call.toolName, call.encoded)
      : Text.escape(shown.description, { maxLength: 500 }),
    interaction: "approval",
    providerExecuted: shown.providerExecuted === true,
    ...(shown.presentation === undefined ? undefined : { presentation: shown.presentation }),
    ...(shown.reason === undefined ? undefined : { reason: Text.escape(shown.reason, { maxLength: 1_000 }) }),
    ...(sealed.issuedAt === undefined ? undefined : { issuedAt: sealed.issuedAt }),
    ...(sealed.expiresAt === undefined ? undefined : { expiresAt: sealed.expiresAt })
  })

const open = (
  sealed: Parameters<typeof makeRequest>[0],
  call: Named & { readonly encoded: Schema.Json },
  shown: Shown
): Decision => ({ _tag: "Open", request: makeRequest(sealed, call, shown) })
