/**
 * Policies: what they are asked, what they may say, and how several of them are one.
 */
import type * as Prompt from "effect/ai/Prompt"
import type * as Tool from "effect/ai/Tool"
import type * as Cause from "effect/Cause"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import * as Approval from "../../Approval.ts"
import * as ApprovalError from "../../ApprovalError.ts"
import * as ApprovalEvents from "../../ApprovalEvents.ts"
import { abandonable, done } from "../abandon.ts"
import * as Answering from "../answering.ts"
import * as Gate from "../tool/gate.ts"
import * as Trace from "./trace.ts"

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
 * What a policy may return: an `ApprovalResult`, `true` or what a question says to ask, `false` to let the call run, or
 * nothing to leave it to the tool.
 *
 * @category models
 * @since 0.1.0
 */
export type PolicyResult = Approval.ApprovalResult | Approval.Question | boolean | undefined | void

/**
 * A policy: what becomes of a call. What it fails with reaches no model and no client, and the call is asked (law L1).
 *
 * @category models
 * @since 0.1.0
 */
export interface Service {
  readonly decide: (call: PolicyCall) => Effect.Effect<PolicyResult, unknown>
}

// =============================================================================
// One policy
// =============================================================================

/** The tool's own `needsApproval`, and nothing else. */
export const toolGate: Service = { decide: () => Effect.undefined }

export const own = (call: PolicyCall): Trace.Own => ({
  gated: Gate.gateOf(call.tool) !== undefined,
  says: Effect.mapEager(
    Gate.evaluate(call.tool, call.params, { toolCallId: call.toolCallId, messages: call.messages }),
    (result) => result ?? Approval.preApproved()
  )
})

/** Throws a `TypeError` for a policy that is no function, such as the word of a configuration. */
export const functionOf = <F>(door: string, policy: F): F =>
  Answering.functionOf(
    door,
    policy,
    "(call) => call.toolName === \"DeleteFile\", and a configuration goes to ApprovalPolicy.layerConfig"
  )

/** A policy that is a plain function. */
export const fromFunction = (
  door: string,
  policy: (call: PolicyCall) => PolicyResult | Effect.Effect<PolicyResult, unknown>
): Service => {
  const decide = functionOf(door, policy)
  return {
    decide: (call) =>
      Effect.suspend(() => {
        const result = decide(call)
        return Effect.isEffect(result) ? result : Effect.succeed(result)
      })
  }
}

/** What a policy says, whatever a program made it of. */
export const said = (policy: Service, call: PolicyCall): Effect.Effect<Approval.ApprovalResult | undefined, unknown> =>
  Effect.flatMap(
    Effect.suspend(() => policy.decide(call)),
    (result): Effect.Effect<Approval.ApprovalResult | undefined, unknown> =>
      result === undefined ? Effect.undefined : Gate.read(result)
  )

type Tracer = (call: PolicyCall) => Effect.Effect<Trace.Trace, unknown>

// By the function that decides, so that a policy whose function was replaced is not taken for the one it was.
const tracers = new WeakMap<Service["decide"], Tracer>()

/** A policy that can say how it decides. */
export const fromTrace = (tracer: Tracer): Service => {
  const decide: Service["decide"] = (call) => Effect.mapEager(tracer(call), ({ result }) => result)
  tracers.set(decide, tracer)
  return { decide }
}

const traceOf = (policy: Service, call: PolicyCall): Effect.Effect<Trace.Trace, unknown> => {
  if (policy === toolGate) return Effect.succeed(Trace.silent)
  const tracer = tracers.get(policy.decide)
  if (tracer !== undefined) return Effect.suspend(() => tracer(call))
  return Effect.map(said(policy, call), (result) => ({
    result,
    steps: () => [
      new Trace.Step({
        source: "policy",
        says: Trace.wordOf(result),
        why: result?.reason ?? "It is a function of the program and gives no reason.",
        decides: result !== undefined
      })
    ]
  }))
}

/** What becomes of a call, and why; closed. */
export const explain = (around: Service, asked: PolicyCall): Effect.Effect<Trace.Explanation> => {
  const { call, policy } = within(around, asked)
  return Effect.flatMap(
    Effect.suspend(() => traceOf(policy, call)),
    (trace) => {
      if (trace.result !== undefined) return Effect.succeed({ result: trace.result, steps: trace.steps() })
      const { gated, says } = own(call)
      return Effect.map(says, (result) => ({ result, steps: [...trace.steps(), Trace.ownStep(result, gated)] }))
    }
  ).pipe(
    abandonable,
    Effect.timeout("30 seconds"),
    Effect.catchCause(() => Effect.succeed(failed)),
    Effect.map(({ result, steps }) => new Trace.Explanation({ toolName: call.toolName, result, steps }))
  )
}

const failed: { readonly result: Approval.ApprovalResult; readonly steps: ReadonlyArray<Trace.Step> } = {
  result: Approval.needsApproval({ reason: "The approval policy failed, so a person is asked." }),
  steps: [
    new Trace.Step({
      source: "failure",
      says: "required",
      why: "The policy, or the tool's own needsApproval, failed or did not answer.",
      decides: true
    })
  ]
}

// =============================================================================
// Several policies
// =============================================================================

export const orElse = (self: Service, that: Service): Service =>
  fromTrace((call) =>
    Effect.flatMapEager(traceOf(self, call), (first) =>
      first.result !== undefined
        ? Effect.succeed(first)
        : Effect.mapEager(traceOf(that, call), (second) => ({
          result: second.result,
          steps: () => [...first.steps(), ...second.steps()]
        })))
  )

export const tighten = (self: Service, that: Service): Service =>
  fromTrace((call) =>
    Effect.gen(function*() {
      const first = yield* Effect.exit(traceOf(self, call))
      if (Exit.isSuccess(first) && first.value.result?._tag === "Blocked") return first.value
      const second = yield* Effect.exit(traceOf(that, call))
      if (Exit.isSuccess(second) && second.value.result?._tag === "Blocked") return second.value
      if (Exit.isSuccess(first)) {
        if (Exit.isSuccess(second)) return yield* Trace.tighten(first.value, second.value, own(call))
        return yield* orFail(first.value, second.cause, call)
      }
      // Nothing that failed can be stricter than a call that is forbidden.
      return yield* Exit.isSuccess(second) ? orFail(second.value, first.cause, call) : Effect.failCause(first.cause)
    })
  )

/**
 * What was provided as the policy, level by level, as one: the stricter word of all. The same ones always make the same,
 * so that what is known of it stays known.
 */
export const join = (policies: ReadonlyArray<unknown>): Service =>
  // They were found by the key of the reference.
  policies.length === 0 ? toolGate : (policies as ReadonlyArray<Service>).reduce(tightened)

const joined = new WeakMap<Service, WeakMap<Service, Service>>()

const tightened = (self: Service, that: Service): Service => {
  const known = joined.get(self) ?? new WeakMap<Service, Service>()
  joined.set(self, known)
  const both = known.get(that) ?? tighten(self, that)
  known.set(that, both)
  return both
}

/** Marks a gate that a policy was put into. A string, so that two copies of this module agree. */
const OverTypeId = "~@assent/ai/Tool/Over" as const

interface Over {
  readonly policy: Service
  /** The tool as it was, with a gate of its own. */
  readonly tool: Tool.Any
}

/** A gate in which a policy is over the tool that it was put over: who sets another gate takes both away. */
export const putOver = <G extends object>(gate: G, over: Over): G => Object.assign(gate, { [OverTypeId]: over })

const overOf = (tool: Tool.Any): Over | undefined => {
  const gate: unknown = Gate.gateOf(tool)
  return Predicate.hasProperty(gate, OverTypeId) ? gate[OverTypeId] as Over : undefined
}

/**
 * A call as the policies see it, and those with the ones that were put over its tool, which are further in. That gate is a
 * level; the tool's own is none: the nearest policy may override it (law L11).
 */
export const within = (
  policy: Service,
  call: PolicyCall
): { readonly policy: Service; readonly call: PolicyCall } => {
  const over = overOf(call.tool)
  return over === undefined ? { policy, call } : within(
    policy === toolGate ? over.policy : tightened(over.policy, policy),
    { ...call, tool: over.tool }
  )
}

/** Where one policy failed, and the other leaves it to the tool: that may forbid the call. */
const orFail = (
  trace: Trace.Trace,
  cause: Cause.Cause<unknown>,
  call: PolicyCall
): Effect.Effect<Trace.Trace, unknown> => {
  if (trace.result !== undefined) return Effect.failCause(cause)
  const { gated, says } = own(call)
  return Effect.matchCauseEffect(says, {
    onFailure: () => Effect.failCause(cause),
    onSuccess: (result) =>
      result._tag === "Blocked"
        ? Effect.succeed({ result, steps: () => [...trace.steps(), Trace.ownStep(result, gated)] })
        : Effect.failCause(cause)
  })
}

export const when = (
  self: Service,
  condition: (call: PolicyCall) => boolean | Effect.Effect<boolean, unknown>
): Service =>
  fromTrace((call) =>
    Effect.suspend(() => {
      const holds = condition(call)
      return Effect.isEffect(holds) ? holds : Effect.succeed(holds)
    }).pipe(Effect.flatMap((holds): Effect.Effect<Trace.Trace, unknown> => {
      if (typeof holds !== "boolean") return Effect.fail(holds)
      return holds ? traceOf(self, call) : Effect.succeed(Trace.silent)
    }))
  )

// =============================================================================
// Deciding
// =============================================================================

/** Published as `ApprovalPolicy.decide`, which brings configurations with it. */
export const decide = (
  around: Service,
  asked: PolicyCall,
  timeLimit: Duration.Input
): Effect.Effect<Approval.ApprovalResult, ApprovalError.ApprovalError> => {
  const { call, policy } = within(around, asked)
  const ofTool = own(call).says
  const decided = policy === toolGate
    ? ofTool
    : Effect.flatMap(said(policy, call), (result) => result === undefined ? ofTool : Effect.succeed(result))
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
