/**
 * Calls the provider made in this very turn: the policy judges them and, if a person is wanted, they are sealed and
 * asked. Only such calls are ever sealed (law L4).
 */
import type * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import * as Tool from "effect/ai/Tool"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Approval from "../Approval.ts"
import * as ApprovalError from "../ApprovalError.ts"
import * as ApprovalEvents from "../ApprovalEvents.ts"
import * as ApprovalPolicy from "../ApprovalPolicy.ts"
import type * as ApprovalSeal from "../ApprovalSeal.ts"
import * as Decision from "./decision.ts"
import * as Deferral from "./deferral.ts"
import type * as Environment from "./environment.ts"
import * as Gate from "./gate.ts"
import * as MemoryGuard from "./memoryGuard.ts"
import * as Prepare from "./prepare.ts"
import * as Presentation from "./presentation.ts"
import * as Remembering from "./remembering.ts"
import * as Results from "./results.ts"

/** What a policy that failed says (law L1): no approval counts, so none is remembered; a denial that was does. */
export const policyFailed = new Approval.NeedsApproval({
  reason: "The approval policy for this tool failed, so a person is asked. Until it is mended a denial counts, but an" +
    " approval does not.",
  rememberable: false
})

export const toolOf = (tools: Decision.Tools, name: string): Tool.Any | undefined =>
  Object.hasOwn(tools, name) ? tools[name] : undefined

/** Whether the provider runs the calls of this tool itself. */
export const isProviderTool = (tool: Tool.Any): boolean => Tool.isProviderDefined(tool) && !tool.requiresHandler

/** Marks a tool whose calls are asked about where they are handled, so that nobody is asked twice. */
export const Guarded = Context.Reference<boolean>("~@assent/ai/Tool/Guarded", { defaultValue: () => false })

/** Whether a call of this tool can need approval at all. */
export const isGated = (policy: ApprovalPolicy.Service, tool: Tool.Any): boolean => {
  if (Context.get(tool.annotations, Guarded)) return false
  return policy !== ApprovalPolicy.toolGate || Gate.isGated(tool)
}

/** Whether a call of this tool may begin, and then wait. */
export const mayWait = (tool: Tool.Any): boolean => Deferral.of(tool) !== undefined

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
  if (!isGated(environment.policy, prepared.tool)) return Effect.succeed({ _tag: "Direct" })
  const decided = Effect.matchEffect(askPolicy(environment, prepared, messages), {
    onFailure: () => Effect.as(warnOfPolicy(prepared), policyFailed),
    onSuccess: Effect.succeed
  })
  return Effect.flatMap(
    Effect.flatMap(decided, (result) => withMemory(environment, prepared, result)),
    (result): Effect.Effect<Decision.Judgement> => {
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
  )
}

// A denial that is remembered forbids what the policy allows; an approval that is remembered answers what the policy
// wants to be asked, unless it wants that every time. Where nobody knows what was answered, a person is asked (law L1).
const withMemory = (
  environment: Environment.Environment,
  prepared: Prepare.Prepared,
  result: Approval.ApprovalResult
): Effect.Effect<Approval.ApprovalResult> => {
  if (!environment.memory.remembers || result._tag === "Blocked") return Effect.succeed(result)
  const recalled = Effect.flatMap(
    Decision.subjectOf(prepared),
    (subject) => Remembering.recall(environment, subject, result, prepared.toolCallId)
  )
  return Effect.match(recalled, {
    onFailure: (error) =>
      result._tag === "NeedsApproval"
        ? result
        : new Approval.NeedsApproval({ reason: error === MemoryGuard.doubtful ? deniedReason : memoryFailedReason }),
    onSuccess: (known): Approval.ApprovalResult =>
      known === undefined
        ? result
        : known.decision === "denied"
        ? new Approval.Blocked({ reason: known.reason })
        : new Approval.PreApproved({ reason: known.reason })
  })
}

const memoryFailedReason = "What was answered before could not be looked up, so a person is asked."

const deniedReason = "A denial that is remembered may be of this call, or may be not, so a person is asked."

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
  const shown = Presentation.sanitized(needs)
  const digest = yield* Presentation.digest(needs)
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
): Effect.Effect<Approval.ApprovalResult, ApprovalError.ApprovalError> => {
  const { decoded, tool, toolCallId, toolName } = prepared
  const decided = ApprovalPolicy.decide(
    policy,
    { tool, toolName, toolCallId, params: decoded, encodedParams: prepared.encoded, messages },
    timeLimit
  )
  return Presentation.presenterOf(tool) === undefined
    ? decided
    : Effect.flatMap(decided, (result) => Presentation.present(result, prepared, messages, timeLimit))
}

/** The question again, for a request of the history: what was sealed is what may be shown. */
export const again = Effect.fnUntraced(function*(
  prepared: Prepare.Prepared,
  sealed: ApprovalSeal.Sealed,
  verdict: Result.Result<Approval.ApprovalResult, ApprovalError.ApprovalError>
): Effect.fn.Return<Decision.Consultation> {
  const needs = Result.isFailure(verdict)
    ? policyFailed
    : verdict.success._tag === "NeedsApproval"
    ? verdict.success
    : new Approval.NeedsApproval({})
  return { _tag: "Consult", prepared, sealed, needs: yield* Presentation.again(sealed, needs) }
})

/** Why a request cannot be answered any more, once its time is over. */
export const expiry = ({ approvalId, expiresAt }: ApprovalSeal.Sealed): Effect.Effect<string | undefined> =>
  Effect.map(
    Clock.currentTimeMillis,
    (now) => now < expiresAt ? undefined : new ApprovalError.Expired({ approvalId, expiredAt: expiresAt }).message
  )
