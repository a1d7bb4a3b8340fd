/**
 * Must this call be asked? A policy looks at one call and lets it run, wants a person, or forbids it.
 *
 * The default policy says nothing, which leaves the tool's own `needsApproval` in force; so does any policy that
 * returns nothing for a call. A policy that fails, dies or is too slow never lets a call run (law L1).
 *
 * @since 0.1.0
 */
import type * as Prompt from "effect/ai/Prompt"
import type * as Tool from "effect/ai/Tool"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Schema from "effect/Schema"
import * as Approval from "./Approval.ts"
import * as ApprovalError from "./ApprovalError.ts"
import * as ApprovalEvents from "./ApprovalEvents.ts"
import { abandonable, done } from "./internal/abandon.ts"
import * as Gate from "./internal/gate.ts"

// =============================================================================
// Models
// =============================================================================

/**
 * The call a policy looks at. `params` are decoded; `encodedParams` are what is shown, sealed and run.
 *
 * @category models
 * @since 0.1.0
 */
export interface PolicyCall {
  readonly tool: Tool.Any
  readonly toolName: string
  readonly toolCallId: string
  readonly params: unknown
  readonly encodedParams: Schema.Json
  readonly messages: ReadonlyArray<Prompt.Message>
}

/**
 * What a policy may return: an `ApprovalResult`, `true` to ask, `false` to let the call run, or nothing to leave it to
 * the tool.
 *
 * @category models
 * @since 0.1.0
 */
export type PolicyResult = Approval.ApprovalResult | boolean | undefined | void

/**
 * @category models
 * @since 0.1.0
 */
export interface Service {
  readonly decide: (call: PolicyCall) => Effect.Effect<PolicyResult, unknown>
}

/**
 * The policy read when a call is decided.
 *
 * @category references
 * @since 0.1.0
 */
export const ApprovalPolicy = Context.Reference<Service>("@assent/ai/ApprovalPolicy", { defaultValue: () => toolGate })

// =============================================================================
// Constructors
// =============================================================================

/**
 * The tool's own `needsApproval`, and nothing else.
 *
 * @category constructors
 * @since 0.1.0
 */
export const toolGate: Service = { decide: () => Effect.undefined }

/**
 * A policy as a plain value, for `Effect.provideService` on one call.
 *
 * @example
 * import { Approval, ApprovalPolicy } from "@assent/ai"
 * import { Effect } from "effect"
 *
 * const policy = ApprovalPolicy.make((call) =>
 *   call.toolName.startsWith("delete") ? Approval.blocked("deleting is off today") : undefined
 * )
 *
 * const program = Effect.map(ApprovalPolicy.ApprovalPolicy, (current) => current === policy).pipe(
 *   Effect.provideService(ApprovalPolicy.ApprovalPolicy, policy)
 * )
 *
 * await Effect.runPromise(program) // => true
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  policy: (call: PolicyCall) => PolicyResult | Effect.Effect<PolicyResult, unknown>
): Service => ({
  decide: (call) =>
    Effect.suspend(() => {
      const result = policy(call)
      return Effect.isEffect(result) ? result : Effect.succeed(result)
    })
})

// =============================================================================
// Layers
// =============================================================================

/**
 * A policy that may need services: they are captured when the layer is built.
 *
 * @category layers
 * @since 0.1.0
 */
export function layer(policy: (call: PolicyCall) => PolicyResult): Layer.Layer<never>
export function layer<E, R>(
  policy: (call: PolicyCall) => PolicyResult | Effect.Effect<PolicyResult, E, R>
): Layer.Layer<never, never, R>
export function layer<E, R>(
  policy: (call: PolicyCall) => PolicyResult | Effect.Effect<PolicyResult, E, R>
): Layer.Layer<never, never, R> {
  return Layer.effect(
    ApprovalPolicy,
    Effect.map(Effect.context<R>(), (context) =>
      make((call) => {
        const result = policy(call)
        return Effect.isEffect(result)
          ? Effect.updateContext(result, (current) => Context.merge(current, context))
          : result
      }))
  )
}

// =============================================================================
// Deciding
// =============================================================================

/**
 * What the policy, or else the tool's own gate, says about a call. Fails with `PolicyFailed`, without the cause, when
 * it fails, dies, lacks a service, returns something else, or does not answer within `timeLimit`; the cause goes to
 * `ApprovalEvents` alone (law L1).
 *
 * @category deciding
 * @since 0.1.0
 */
export const decide = (
  policy: Service,
  call: PolicyCall,
  timeLimit: Duration.Input
): Effect.Effect<Approval.ApprovalResult, ApprovalError.ApprovalError> => {
  const own = Effect.mapEager(
    Gate.evaluate(call.tool, call.params, { toolCallId: call.toolCallId, messages: call.messages }),
    (result) => result ?? Approval.preApproved()
  )
  const decided = policy === toolGate ? own : Effect.flatMap(
    Effect.suspend(() => policy.decide(call)),
    (result): Effect.Effect<Approval.ApprovalResult, unknown> => {
      if (result === undefined) return own
      if (typeof result === "boolean") return Effect.succeed(result ? Approval.needsApproval() : Approval.preApproved())
      return Approval.isApprovalResult(result) ? Effect.succeed(result) : Effect.fail(result)
    }
  )
  // Most tools say the same of every call: only others need to be waited for.
  return done(decided) ?? decided.pipe(
    abandonable,
    Effect.timeout(timeLimit),
    Effect.tapCause((cause) =>
      ApprovalEvents.publish((occasion) => ({
        _tag: "PolicyFailed",
        ...occasion,
        toolName: call.toolName,
        toolCallId: call.toolCallId,
        cause
      }))
    ),
    Effect.sandbox,
    Effect.mapError(() => ApprovalError.make(new ApprovalError.PolicyFailed({ toolName: call.toolName })))
  )
}
