/**
 * Calls the provider made in this very turn: the policy judges them and, if a person is wanted, they are sealed and
 * asked. Only such calls are ever sealed (law L4).
 */
import type * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import * as Tool from "effect/ai/Tool"
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as JsonPatch from "effect/JsonPatch"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Approval from "../Approval.ts"
import * as ApprovalError from "../ApprovalError.ts"
import * as ApprovalEvents from "../ApprovalEvents.ts"
import type * as ApprovalJournal from "../ApprovalJournal.ts"
import * as ApprovalPolicy from "../ApprovalPolicy.ts"
import type * as ApprovalSeal from "../ApprovalSeal.ts"
import * as Canonical from "./canonical.ts"
import * as Cryptography from "./cryptography.ts"
import * as Decision from "./decision.ts"
import type * as Environment from "./environment.ts"
import * as Gate from "./gate.ts"
import * as Prepare from "./prepare.ts"
import * as Results from "./results.ts"
import * as Text from "./text.ts"

const policyFailedReason = "The approval policy for this tool failed, so a person is asked. Until it is mended a" +
  " denial counts, but an approval does not."

export const toolOf = (tools: Decision.Tools, name: string): Tool.Any | undefined =>
  Object.hasOwn(tools, name) ? tools[name] : undefined

/** Whether the provider runs the calls of this tool itself. */
export const isProviderTool = (tool: Tool.Any): boolean => Tool.isProviderDefined(tool) && !tool.requiresHandler

/** Whether a call of this tool can need approval at all. */
export const isGated = (policy: ApprovalPolicy.Service, tool: Tool.Any): boolean => {
  if (policy !== ApprovalPolicy.toolGate) return true
  const gate = Gate.gateOf(tool)
  return gate !== undefined && gate !== false
}

/** The parameters of a call that may need somebody, or why they cannot be used. */
export type Preparation = Result.Result<Prepare.Prepared, ApprovalError.ApprovalError>

/** What the policy says about a call of this turn. */
export const judge = (
  environment: Environment.Environment,
  call: Results.CallName,
  preparation: Preparation | undefined,
  messages: ReadonlyArray<Prompt.Message>
): Effect.Effect<Decision.Judgement> => {
  if (preparation === undefined) return Effect.succeed({ _tag: "Direct" })
  if (Result.isFailure(preparation)) {
    // A person is never asked about parameters that cannot run.
    return Effect.succeed({ _tag: "Result", part: Results.interrupted(call, preparation.failure.message) })
  }
  const prepared = preparation.success
  return Effect.matchEffect(askPolicy(environment, prepared, messages), {
    onFailure: () =>
      Effect.as(warnOfPolicy(prepared), {
        _tag: "Ask",
        prepared,
        needs: new Approval.NeedsApproval({ reason: policyFailedReason })
      }),
    onSuccess: (result): Effect.Effect<Decision.Judgement> => {
      switch (result._tag) {
        case "PreApproved":
        case "Blocked":
          return Effect.as(
            ApprovalEvents.publish((occasion) => ({ ...result, ...occasion, ...Decision.about(prepared) })),
            result._tag === "Blocked" ? Decision.result(Results.denied(call, result.reason)) : { _tag: "Direct" }
          )
        case "NeedsApproval":
          return Effect.succeed({ _tag: "Ask", prepared, needs: result })
      }
    }
  })
}

// Once for each tool, and without the cause, which may hold what nobody is to see (law L15).
const warned = new WeakSet<Tool.Any>()

const warnOfPolicy = ({ tool }: Prepare.Prepared): Effect.Effect<void> =>
  Effect.suspend(() => {
    if (warned.has(tool)) return Effect.void
    warned.add(tool)
    return Effect.logWarning(
      `Assent: the approval policy or needsApproval of "${tool.name}" failed or did not answer, so a person is asked.` +
        " Approvals have no effect until it works; the stream of ApprovalEvents says why."
    )
  })

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

/** Seals a call of this turn. The response must have come to a complete finish by now. */
export const seal = Effect.fnUntraced(function*(
  environment: Environment.Environment,
  { needs, prepared }: Decision.Question
): Effect.fn.Return<Decision.Consultation, ApprovalError.ApprovalError> {
  const shown = sanitized(needs)
  const digest = yield* presentationDigest(needs)
  const binding = yield* Prepare.binding(prepared, environment.scope, digest)
  const sealed = yield* environment.seal.seal(binding, {
    expiresIn: needs.expiresIn ?? environment.options.expiresIn
  })
  yield* ApprovalEvents.publish((occasion) => ({
    _tag: "Requested",
    ...occasion,
    ...Decision.about(prepared, sealed),
    request: Decision.makeRequest(sealed, prepared, shown)
  }))
  return { _tag: "Consult", prepared, sealed, needs: shown }
})

/** What the policy says of a call now. */
export const askPolicy = (
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

// What a person sees is what is sealed: presentations are made safe for screens (law L15) before they are digested.
const sanitized = (needs: Approval.NeedsApproval): Approval.NeedsApproval =>
  needs.presentation === undefined ? needs : new Approval.NeedsApproval({
    ...needs,
    presentation: new Approval.ApprovalPresentation({
      ...needs.presentation,
      ...(needs.presentation.language === undefined
        ? undefined
        : { language: Text.escape(needs.presentation.language, { maxLength: 64 }) }),
      ...(needs.presentation.metadata === undefined ||
          Result.isSuccess(Canonical.canonicalize(needs.presentation.metadata))
        ? undefined
        : { metadata: { omitted: "the metadata cannot be written as JSON, or is too large" } }),
      ...(needs.presentation.precondition === undefined
        ? undefined
        : { precondition: Text.escape(needs.presentation.precondition, { maxLength: 1_000 }) }),
      content: Text.escape(needs.presentation.content, { maxLength: maxPresentationLength, multiline: true })
    })
  })

const maxPresentationLength = 100_000

const presentationDigest = (needs: Approval.NeedsApproval): Effect.Effect<string | undefined> => {
  if (needs.presentation === undefined) return Effect.undefined
  const metadata = Canonical.canonicalize(needs.presentation.metadata ?? {})
  const shown = Canonical.canonicalize({ ...sanitized(needs).presentation })
  // What cannot be digested is never the same as what was shown.
  return Result.isSuccess(metadata) && Result.isSuccess(shown)
    ? Effect.map(Cryptography.sha256(shown.success), (digest) => digest.slice(0, 22))
    : Cryptography.randomToken(16)
}

/** The question again, for a request of the history: what was sealed is what may be shown. */
export const again = Effect.fnUntraced(function*(
  prepared: Prepare.Prepared,
  sealed: ApprovalSeal.Sealed,
  verdict: Result.Result<Approval.ApprovalResult, ApprovalError.ApprovalError>
): Effect.fn.Return<Decision.Consultation> {
  const needs = Result.isFailure(verdict)
    ? new Approval.NeedsApproval({ reason: policyFailedReason })
    : verdict.success._tag === "NeedsApproval"
    ? verdict.success
    : new Approval.NeedsApproval({})
  const same = sealed.presentationDigest === (yield* presentationDigest(needs))
  return { _tag: "Consult", prepared, sealed, needs: same ? sanitized(needs) : withoutPresentation(needs) }
})

/** What a person was shown is part of what they approved: if the policy would show something else now, it is void. */
export const presentationDrift = Effect.fnUntraced(function*(
  sealed: ApprovalSeal.Sealed,
  verdict: Approval.ApprovalResult
): Effect.fn.Return<string | undefined> {
  if (sealed.presentationDigest === undefined || verdict._tag === "PreApproved") return undefined
  const digest = verdict._tag === "NeedsApproval" ? yield* presentationDigest(verdict) : undefined
  return sealed.presentationDigest === digest
    ? undefined
    : "What the person was shown has changed since they approved it. Nothing ran. It may be asked again."
})

/** Why a request cannot be answered any more, once its time is over. */
export const expiry = ({ approvalId, expiresAt }: ApprovalSeal.Sealed): Effect.Effect<string | undefined> =>
  Effect.map(
    Clock.currentTimeMillis,
    (now) => now < expiresAt ? undefined : new ApprovalError.Expired({ approvalId, expiredAt: expiresAt }).message
  )

/** The controller answers now, or the request is open. */
export const consult = Effect.fnUntraced(function*(
  environment: Environment.Environment,
  { needs, prepared, sealed }: Decision.Consultation,
  messages: ReadonlyArray<Prompt.Message>
): Effect.fn.Return<Decision.Concluded, ApprovalError.ApprovalError> {
  const open = Decision.open(sealed, prepared, needs)
  if (environment.controller.ask === undefined) return open
  const decision = yield* ask(environment, Decision.makeRequest(sealed, prepared, needs))
  const claim = Decision.claimOf(sealed, prepared)
  const ending = (state: ApprovalJournal.Ending, reason: string | undefined) =>
    Decision.end(environment, claim, state, reason, { runnable: prepared, whileRunning: () => open })
  if (decision === undefined || decision._tag === "Info") return open
  if (decision._tag === "Denied") return yield* ending("denied", decision.note)

  // The person may have taken their time, and may have changed the parameters: all of it is checked again (law L11).
  const expired = yield* expiry(sealed)
  if (expired !== undefined) return yield* ending("expired", expired)
  const { params } = decision
  const target = params === undefined ? Result.succeed(prepared) : yield* Effect.result(
    Prepare.prepare(prepared.tool, { id: prepared.toolCallId, name: prepared.toolName, params })
  )
  if (Result.isFailure(target)) {
    const invalid = new ApprovalError.InvalidEdit({
      approvalId: sealed.approvalId,
      description: "they do not fit the tool's schema."
    })
    return Decision.open(sealed, prepared, { ...needs, reason: invalid.message })
  }
  const verdict = yield* Effect.result(askPolicy(environment, target.success, messages))
  if (Result.isFailure(verdict)) return open
  if (verdict.success._tag === "Blocked") return yield* ending("denied", verdict.success.reason)
  const edited = target.success.canonical !== prepared.canonical
  const changed = edited ? undefined : yield* presentationDrift(sealed, verdict.success)
  if (changed !== undefined) return yield* ending("void", changed)
  if (edited) {
    yield* ApprovalEvents.publish((occasion) => ({
      _tag: "Edited",
      ...occasion,
      ...Decision.about(prepared, sealed),
      edits: JsonPatch.get(prepared.encoded, target.success.encoded)
    }))
  }
  return {
    _tag: "Run",
    claim,
    prepared: target.success,
    edited
  }
})

/** What the controller decides, if there is one; `undefined` while nobody has decided. */
export const ask = (
  { controller }: Environment.Environment,
  request: Approval.ApprovalRequest
): Effect.Effect<Approval.ApprovalDecision | undefined> => {
  const { ask } = controller
  if (ask === undefined) return Effect.undefined
  return Effect.suspend(() => {
    const asked = ask(request)
    return Effect.isEffect(asked) ? asked : Effect.undefined
  }).pipe(
    Effect.filterOrFail(
      (reply): reply is Approval.ApprovalDecision => isDecision(reply),
      () => new Error("The controller gave no decision.")
    ),
    // Not even an answer cut short says more than that nobody has answered.
    Effect.catchCause((cause) =>
      Effect.as(
        Effect.andThen(
          ApprovalEvents.publish((occasion) => ({
            _tag: "ControllerFailed",
            ...occasion,
            ...Decision.about(request, request),
            cause
          })),
          Effect.logWarning(
            `Assent: the approval controller failed, or gave no decision, for "${request.toolName}"; the request` +
              " stays open."
          )
        ),
        undefined
      )
    )
  )
}

const isDecision = Schema.is(Approval.ApprovalDecision)

const withoutPresentation = ({ presentation: _, ...needs }: Approval.NeedsApproval): Approval.NeedsApproval =>
  new Approval.NeedsApproval(needs)
