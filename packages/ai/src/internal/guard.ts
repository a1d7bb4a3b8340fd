/**
 * A toolkit that asks before it runs, without a model around it: each call is judged, asked about and run where it is
 * handled, and blocks until somebody has answered. Nothing of it comes back in a history, so nothing is sealed.
 */
import type * as Tool from "effect/ai/Tool"
import type * as Toolkit from "effect/ai/Toolkit"
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Record from "effect/Record"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import type * as Approval from "../Approval.ts"
import * as ApprovalEvents from "../ApprovalEvents.ts"
import * as ApprovalPolicy from "../ApprovalPolicy.ts"
import type * as ApprovalSeal from "../ApprovalSeal.ts"
import * as Asking from "./asking.ts"
import * as Consult from "./consult.ts"
import * as Cryptography from "./cryptography.ts"
import * as Decision from "./decision.ts"
import * as Deferral from "./deferral.ts"
import * as Enclosing from "./enclosing.ts"
import * as Environment from "./environment.ts"
import * as Gate from "./gate.ts"
import * as Judge from "./judge.ts"
import * as Prepare from "./prepare.ts"
import * as Presentation from "./presentation.ts"
import * as Remembering from "./remembering.ts"
import * as Results from "./results.ts"

export type AnyTools = Record<string, Tool.Any>

/** A toolkit with its handlers, whatever they need. */
interface Handlers {
  readonly tools: AnyTools
  readonly handle: (name: string, params: unknown, ...rest: ReadonlyArray<unknown>) => Effect.Effect<Output, unknown>
}

type Output = Stream.Stream<Tool.HandlerResult<Tool.Any>, unknown>

export interface Options {
  readonly policyTimeLimit: Duration.Input
}

const nobodyReason = "This call needs a person's approval, and nobody can be asked here. Nothing ran. Provide" +
  " ApprovalController.layerInteractive where the toolkit is used."

const openReason = "This call needs a person's approval, and nobody has given it. Nothing ran; it may be asked again."

const heldReason = "The approval policy failed, so the approved call did not run. Nothing ran; it may be asked again."

/** The toolkit with every gated tool guarded; tools that were guarded before are not asked about twice. */
export const guard = <Tools extends AnyTools>(
  toolkit: Toolkit.WithHandler<Tools>,
  options: Options
): Toolkit.WithHandler<Tools> => {
  const inner = toolkit as unknown as Handlers // The services of its handlers are in the type of what handles a call.
  // What a person wants remembered counts for this toolkit, where no conversation is named.
  const session = Effect.runSync(Effect.cached(Cryptography.randomToken(16)))
  const shown: Shown = { permits: Semaphore.makeUnsafe(1), runs: 0 }
  const handle: Handlers["handle"] = (...args) =>
    Effect.flatMap(
      environmentOf(options, session),
      (environment) =>
        Effect.provideService(handleIn(environment, ...args), ApprovalEvents.ApprovalEvents, environment.events)
    )
  const handleIn = Effect.fnUntraced(function*(
    environment: Environment.Environment,
    name: string,
    params: unknown,
    toolCallId?: unknown,
    ...rest: ReadonlyArray<unknown>
  ): Effect.fn.Return<Output, unknown> {
    const tool = Judge.toolOf(inner.tools, name)
    // One that goes on from where it waited was asked about when it began.
    const resumes = Deferral.resumes(yield* Deferral.CurrentRun, name, toolCallId)
    if (tool === undefined || resumes || Judge.isProviderTool(tool) || !Judge.isGated(environment.policy, tool)) {
      return yield* inner.handle(name, params, toolCallId, ...rest)
    }
    const id = typeof toolCallId === "string" ? toolCallId : yield* Cryptography.randomToken(16)
    const call = { id, name, params }
    const run = (prepared: Prepare.Prepared) => inner.handle(name, prepared.encoded, id, ...rest)
    const preparation = yield* Effect.result(Prepare.prepare(tool, call))
    const judgement = yield* Judge.judge(environment, call, preparation, [])
    switch (judgement._tag) {
      case "Direct":
        return yield* Result.isSuccess(preparation) ? run(preparation.success) : inner.handle(name, params, id, ...rest)
      case "Result":
        return Stream.succeed(judgement.part)
      case "Ask": {
        const before = shown.runs
        const asked = yield* Asking.inTurn(environment.controller, ask(environment, judgement))
        if (asked._tag === "Result") return Stream.succeed(asked.part)
        const { again, edits, prepared } = asked
        const output = again === undefined ? yield* run(prepared) : runShown(shown, before, again, run(prepared))
        return edits === undefined ? output : Stream.map(output, tellEdits(prepared))
      }
    }
  })
  const tools = Record.map(inner.tools, (tool) => Gate.setGate(tool, false).annotate(Judge.Guarded, true))
  // The same tools and the same ways to call them.
  return { tools, handle } as unknown as Toolkit.WithHandler<Tools>
}

const environmentOf = (
  options: Options,
  session: Effect.Effect<string>
): Effect.Effect<Environment.Environment> =>
  Effect.flatMap(
    // Under our engine, what was provided to the model counts for its guarded tools too.
    Effect.flatMap(
      Enclosing.context,
      (context) => Environment.read(context, { ...Environment.defaultOptions, ...options })
    ),
    (environment) =>
      !environment.memory.remembers || environment.scope.conversation !== undefined
        ? Effect.succeed(environment)
        : Effect.map(
          session,
          (call) => ({ ...environment, fleeting: false, memoryScope: { ...environment.scope, call } })
        )
  )

/** The calls that were approved by what was shown of them run one after the other. */
interface Shown {
  readonly permits: Semaphore.Semaphore
  /** How many have ended: until then, a run may change what is shown. */
  runs: number
}

// What was shown of this call may be what one that ran meanwhile has changed.
const runShown = (
  shown: Shown,
  before: number,
  again: NonNullable<Extract<Asked, { readonly _tag: "Run" }>["again"]>,
  run: Effect.Effect<Output, unknown>
): Output =>
  Stream.unwrap(Effect.gen(function*() {
    yield* Effect.acquireRelease(shown.permits.take(1), () => shown.permits.release(1), { interruptible: true })
    const changed = shown.runs === before ? undefined : yield* again
    if (changed?._tag === "Result") return Stream.succeed(changed.part)
    yield* Effect.addFinalizer(() => Effect.sync(() => shown.runs++))
    return yield* run
  }))

type Asked =
  | { readonly _tag: "Result"; readonly part: Results.ResultPart }
  | Extract<Decision.Decision, { readonly _tag: "Run" }>

const ask = Effect.fnUntraced(function*(
  environment: Environment.Environment,
  { needs, prepared }: Decision.Question
): Effect.fn.Return<Asked> {
  const call = { id: prepared.toolCallId, name: prepared.toolName }
  const token = yield* Cryptography.randomToken(16)
  const issuedAt = yield* Clock.currentTimeMillis
  const sealed: ApprovalSeal.Sealed = {
    approvalId: token,
    keyId: "",
    nonce: token,
    issuedAt,
    expiresAt: needs.expiresIn === undefined ? Infinity : issuedAt + needs.expiresIn,
    schemaFingerprint: "",
    presentationDigest: yield* Presentation.digest(needs)
  }
  const shown = Presentation.sanitized(needs)
  const { expiresAt, ...identity } = sealed
  const request = Decision.makeRequest(expiresAt === Infinity ? identity : sealed, prepared, shown)
  const changed = (state: Approval.ApprovalState, reason?: string) =>
    ApprovalEvents.publish((occasion) => ({
      _tag: "Changed",
      ...occasion,
      ...Decision.about(prepared, sealed),
      state,
      reason,
      waited: occasion.at - sealed.issuedAt!
    }))
  const subject = yield* Decision.subjectOf(prepared)
  // Another call may have been answered meanwhile.
  const known = yield* Consult.recalled(environment, prepared, needs)
  if (known === undefined) {
    if (environment.controller.ask === undefined) {
      return Decision.result(Results.interrupted(call, nobodyReason))
    }
    yield* ApprovalEvents.publish((occasion) => ({
      _tag: "Requested",
      ...occasion,
      ...Decision.about(prepared, sealed),
      request
    }))
  }
  const decision = known ??
    (yield* Asking.ask(environment.controller, request, Consult.aboutParams(environment, prepared)))
  if (decision === undefined || decision._tag === "Info") {
    return Decision.result(Results.interrupted(call, decision === undefined ? openReason : decision.note))
  }
  const claim = Decision.claimOf(sealed, prepared)
  if (decision._tag === "Denied") {
    const { note } = decision
    const remember = Remembering.rememberOf(needs, decision.remember ?? "none")
    yield* Remembering.keep(
      environment,
      yield* Remembering.answeredOf(environment, subject, claim, "denied", { remember, note })
    )
    yield* changed("denied", note)
    return Decision.result(Results.denied(call, note))
  }
  const expired = yield* Judge.expiry(sealed)
  if (expired !== undefined) {
    yield* changed("expired", expired)
    return Decision.result(Results.interrupted(call, expired))
  }
  const refused = Effect.fnUntraced(function*(accepted: Consult.Refused) {
    switch (accepted._tag) {
      case "Held":
        return Decision.result(Results.interrupted(call, heldReason))
      case "Invalid":
        return Decision.result(Results.interrupted(call, accepted.error.message))
      case "Ended":
        yield* changed(accepted.state, accepted.reason)
        return Decision.result(
          accepted.state === "denied"
            ? Results.denied(call, accepted.reason)
            : Results.interrupted(call, accepted.reason)
        )
    }
  })
  const accepting = Consult.accept(environment, prepared, sealed, decision.params, [])
  const accepted = yield* accepting
  switch (accepted._tag) {
    case "Run": {
      const run = yield* Consult.toRun(
        environment,
        claim,
        accepted,
        decision.remember,
        Consult.again(sealed, accepting, refused)
      )
      yield* Remembering.keep(environment, run.answered)
      yield* changed(run.edits === undefined ? "approved" : "edited")
      return run
    }
    default:
      return yield* refused(accepted)
  }
})

const tellEdits =
  (prepared: Prepare.Prepared) => (output: Tool.HandlerResult<Tool.Any>): Tool.HandlerResult<Tool.Any> =>
    output.preliminary ? output : { ...output, modelOutput: Results.editedOutput(output, prepared.encoded) }

// =============================================================================
// Policies over a toolkit
// =============================================================================

/** The toolkit with a policy in the place of each tool's own gate, which counts where the policy says nothing. */
export const withPolicy = <Tools extends AnyTools>(
  toolkit: Toolkit.WithHandler<Tools>,
  policy: ApprovalPolicy.Service,
  timeLimit: Duration.Input
): Toolkit.WithHandler<Tools> => {
  const inner = toolkit as unknown as Handlers
  const tools = Record.map(
    inner.tools,
    (tool) =>
      Gate.setGate(tool, (params: unknown, context: Tool.NeedsApprovalContext) =>
        Effect.flatMap(
          encodeParams(tool, params),
          (encodedParams) =>
            ApprovalPolicy.decide(policy, { ...context, tool, toolName: tool.name, params, encodedParams }, timeLimit)
        ))
        // The guard below knows nothing of this policy, so whoever handles the call has to ask it.
        .annotate(Judge.Guarded, false)
  )
  return { tools, handle: inner.handle } as unknown as Toolkit.WithHandler<Tools>
}

// What does not encode is no JSON that a policy could be shown; the gate then fails, and a person is asked (law L1).
const encodeParams = (tool: Tool.Any, params: unknown): Effect.Effect<Schema.Json, unknown> =>
  Schema.isSchema(tool.parametersSchema)
    // The services of the schema are the tool's own requirements.
    ? Schema.encodeUnknownEffect(tool.parametersSchema as unknown as Schema.Codec<unknown, Schema.Json>)(params)
    : Effect.succeed(params as Schema.Json)
