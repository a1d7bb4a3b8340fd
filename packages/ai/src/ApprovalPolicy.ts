/**
 * Does this call need approval? A policy looks at one call and lets it run, wants a person, or forbids it.
 *
 * A policy is a function ({@link make}, {@link layer}), a configuration ({@link fromConfig}, {@link layerConfig}), what
 * tools are annotated with ({@link fromAnnotations}), or made of others ({@link orElse}, {@link override},
 * {@link tighten}, {@link when}). {@link explain} says how it came to a result, {@link lint} what is likely to be a
 * mistake in a configuration.
 *
 * The default policy says nothing, which leaves the tool's own `needsApproval` in force; so does any policy that
 * returns nothing for a call. Policies further in and further out join to the stricter (law L11). A policy that fails, dies or is too slow never lets a call run, whatever it is a part of
 * (law L1).
 *
 * @since 0.1.0
 */
import type * as Prompt from "effect/ai/Prompt"
import * as Tool from "effect/ai/Tool"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { dual } from "effect/Function"
import * as Layer from "effect/Layer"
import type * as Schema from "effect/Schema"
import type * as Approval from "./Approval.ts"
import type * as ApprovalConfig from "./ApprovalConfig.ts"
import type * as ApprovalError from "./ApprovalError.ts"
import * as Levels from "./internal/asking/levels.ts"
import * as Annotations from "./internal/policy/annotations.ts"
import * as Linter from "./internal/policy/lint.ts"
import * as Params from "./internal/policy/params.ts"
import * as Rules from "./internal/policy/rules.ts"
import * as Policies from "./internal/policy/service.ts"
import type { PolicyCall, PolicyResult, Service } from "./internal/policy/service.ts"
import * as Strictest from "./internal/policy/strictest.ts"
import * as Trace from "./internal/policy/trace.ts"
import * as Prepare from "./internal/tool/prepare.ts"

// =============================================================================
// Models
// =============================================================================

export type { PolicyCall, PolicyResult, Service } from "./internal/policy/service.ts"

export { Explanation, Step } from "./internal/policy/trace.ts"

export { Finding } from "./internal/policy/lint.ts"

export type { AnnotationRules } from "./internal/policy/annotations.ts"

export { ServerHints } from "./internal/policy/server.ts"

/**
 * The policy read when a call is decided. The default is {@link toolGate}. Policies one around the other join to the
 * stricter word: what is further in never loosens what is around it (law L11).
 *
 * @example
 * import { ApprovalPolicy, LanguageModel, Tool } from "@assent/ai"
 * import { Effect } from "effect"
 *
 * const Search = Tool.make("search")
 * const needed = LanguageModel.isApprovalNeeded(Search, { id: "call-1", name: "search", params: {} }, [])
 *
 * const asked = Effect.provideService(needed, ApprovalPolicy.ApprovalPolicy, ApprovalPolicy.make(() => true))
 *
 * await Effect.runPromise(needed) // => false
 * await Effect.runPromise(asked) // => true
 *
 * @category references
 * @since 0.1.0
 */
export const ApprovalPolicy = Context.Reference<Service>(Levels.policyKey, { defaultValue: () => toolGate })

// =============================================================================
// Constructors
// =============================================================================

/**
 * The tool's own `needsApproval`, and nothing else.
 *
 * @example
 * import { ApprovalPolicy, Tool } from "@assent/ai"
 * import { Effect, Schema } from "effect"
 *
 * const WriteFile = Tool.make("WriteFile", {
 *   parameters: { path: Schema.String },
 *   needsApproval: ({ path }) => path.startsWith("/etc/")
 * })
 * const decided = (path: string) =>
 *   ApprovalPolicy.makeCall(WriteFile, { path }).pipe(
 *     Effect.flatMap((call) => ApprovalPolicy.decide(ApprovalPolicy.toolGate, call, "1 second")),
 *     Effect.map((result) => result._tag)
 *   )
 *
 * await Effect.runPromise(decided("/tmp/a")) // => "PreApproved"
 * await Effect.runPromise(decided("/etc/passwd")) // => "NeedsApproval"
 *
 * @category constructors
 * @since 0.1.0
 */
export const toolGate: Service = Policies.toolGate

/**
 * A policy as a plain value, for `Effect.provideService` on one call.
 *
 * @example
 * import { Approval, ApprovalPolicy, Tool } from "@assent/ai"
 * import { Effect } from "effect"
 *
 * const policy = ApprovalPolicy.make((call) =>
 *   call.toolName.startsWith("delete") ? Approval.blocked("deleting is off today") : undefined
 * )
 *
 * const program = ApprovalPolicy.makeCall(Tool.make("delete_file"), {}).pipe(
 *   Effect.flatMap(ApprovalPolicy.explain),
 *   Effect.map(({ result }) => result.reason),
 *   Effect.provideService(ApprovalPolicy.ApprovalPolicy, policy)
 * )
 *
 * await Effect.runPromise(program) // => "deleting is off today"
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  policy: (call: PolicyCall) => PolicyResult | Effect.Effect<PolicyResult, unknown>
): Service => Policies.fromFunction("ApprovalPolicy.make", policy)

/**
 * A policy made of a configuration: an object, or what `ApprovalConfig.parse` made of a text. Tools that it does not
 * name are left to their own gate. Fails with an `ApprovalConfigError` that lists everything that is wrong.
 *
 * Matchers that need more than data, such as command lines, take it from `ApprovalMatcher.Behaviors` when the policy is
 * made. Where that is missing it is an error, because the rule would never hold.
 *
 * @example
 * import { ApprovalPolicy, Tool } from "@assent/ai"
 * import { Effect, Schema } from "effect"
 *
 * const WriteFile = Tool.make("write_file", { parameters: { path: Schema.String, content: Schema.String } })
 *
 * const program = Effect.gen(function*() {
 *   const policy = yield* ApprovalPolicy.fromConfig({
 *     write_file: { rules: [{ path: "src/**", approval: "none" }], approval: "required" }
 *   })
 *   const write = (path: string) =>
 *     ApprovalPolicy.makeCall(WriteFile, { path, content: "…" }).pipe(
 *       Effect.flatMap(ApprovalPolicy.explain),
 *       Effect.provideService(ApprovalPolicy.ApprovalPolicy, policy)
 *     )
 *   return [(yield* write("src/a.ts")).result._tag, (yield* write(".env")).result._tag]
 * })
 *
 * await Effect.runPromise(program) // => ["PreApproved", "NeedsApproval"]
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromConfig = (
  config: ApprovalConfig.ApprovalConfig | ApprovalConfig.Input
): Effect.Effect<Service, ApprovalConfig.ApprovalConfigError> =>
  Effect.map(
    Rules.fromConfig(config),
    (rules) =>
      Policies.fromTrace((call) =>
        Rules.decide(
          rules,
          call.toolName,
          call.encodedParams,
          Policies.own(call),
          // One tool of a provider may stand for many, whose parameters are not its own.
          call.toolName === call.tool.name && !Tool.isProviderDefined(call.tool) ? Params.ofTool(call.tool) : undefined
        )
      )
  )

/**
 * A policy that goes by the annotations of tools, and by what MCP servers say of theirs. Without `rules` it asks about
 * tools that may destroy something, and lets nothing run that the tool itself would ask about.
 *
 * @example
 * import { ApprovalPolicy, Tool } from "@assent/ai"
 * import { Effect } from "effect"
 *
 * const explained = (tool: Tool.Any) =>
 *   ApprovalPolicy.makeCall(tool, {}).pipe(
 *     Effect.flatMap(ApprovalPolicy.explain),
 *     Effect.provideService(ApprovalPolicy.ApprovalPolicy, ApprovalPolicy.fromAnnotations()),
 *     Effect.map(({ result }) => result._tag)
 *   )
 *
 * await Effect.runPromise(explained(Tool.make("Drop"))) // => "NeedsApproval"
 * await Effect.runPromise(explained(Tool.make("Look").annotate(Tool.Readonly, true))) // => "PreApproved"
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromAnnotations = (rules: Annotations.AnnotationRules = {}): Service =>
  Policies.fromTrace((call) => Annotations.decide(rules, call.tool, call.toolName, Policies.own(call)))

// =============================================================================
// Layers
// =============================================================================

/**
 * A policy that may need services: they are captured when the layer is built.
 *
 * @example
 * import { Approval, ApprovalPolicy, Tool } from "@assent/ai"
 * import { Context, Effect } from "effect"
 *
 * class Budget extends Context.Service<Budget, { readonly left: Effect.Effect<number> }>()("Budget") {}
 *
 * const Policy = ApprovalPolicy.layer(() =>
 *   Effect.gen(function*() {
 *     const { left } = yield* Budget
 *     if ((yield* left) <= 0) return Approval.blocked("The budget is used up.")
 *   })
 * )
 *
 * const program = ApprovalPolicy.makeCall(Tool.make("BuyTicket"), {}).pipe(
 *   Effect.flatMap(ApprovalPolicy.explain),
 *   Effect.map(({ result }) => result.reason),
 *   Effect.provide(Policy),
 *   Effect.provideService(Budget, { left: Effect.succeed(0) })
 * )
 *
 * await Effect.runPromise(program) // => "The budget is used up."
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
  const decide = Policies.functionOf("ApprovalPolicy.layer", policy)
  return Layer.effect(
    ApprovalPolicy,
    Effect.map(Effect.context<R>(), (context) =>
      make((call) => {
        const result = decide(call)
        return Effect.isEffect(result)
          ? Effect.updateContext(result, (current) => Context.merge(current, context))
          : result
      }))
  )
}

/**
 * {@link fromConfig} as a layer; also of an effect that reads the configuration, such as `ApprovalConfig.fromFile`.
 * Where the configuration is wrong, the layer fails to build, with an `ApprovalConfigError` that lists everything that
 * is wrong.
 *
 * @example
 * import { ApprovalConfig, ApprovalPolicy } from "@assent/ai"
 * import { Effect } from "effect"
 *
 * const text = `{ "tools": { "delete_file": "requried" } }`
 * const Policy = ApprovalPolicy.layerConfig(ApprovalConfig.parse(text, { format: "json" }))
 *
 * const error = await Effect.runPromise(Effect.flip(Effect.provide(Effect.void, Policy)))
 *
 * error.problems.map(({ suggestion }) => suggestion) // => ["required"]
 *
 * @category layers
 * @since 0.1.0
 */
export function layerConfig(
  config: ApprovalConfig.ApprovalConfig | ApprovalConfig.Input
): Layer.Layer<never, ApprovalConfig.ApprovalConfigError>
export function layerConfig<E, R>(
  config: Effect.Effect<ApprovalConfig.ApprovalConfig, E, R>
): Layer.Layer<never, E | ApprovalConfig.ApprovalConfigError, R>
export function layerConfig<E, R>(
  config: ApprovalConfig.ApprovalConfig | ApprovalConfig.Input | Effect.Effect<ApprovalConfig.ApprovalConfig, E, R>
): Layer.Layer<never, E | ApprovalConfig.ApprovalConfigError, R> {
  return Layer.effect(ApprovalPolicy, Effect.isEffect(config) ? Effect.flatMap(config, fromConfig) : fromConfig(config))
}

// =============================================================================
// Combinators
// =============================================================================

/**
 * The first policy's word; where it says nothing, the second one's. Where the first fails, so does this.
 *
 * @example
 * import { Approval, ApprovalPolicy, Tool } from "@assent/ai"
 * import { Effect, pipe } from "effect"
 *
 * const noDeletes = ApprovalPolicy.make((call) =>
 *   call.toolName.startsWith("delete") ? Approval.blocked("deleting is off today") : undefined
 * )
 * const policy = pipe(noDeletes, ApprovalPolicy.orElse(ApprovalPolicy.make(() => Approval.needsApproval())))
 *
 * const decided = (tool: Tool.Any) =>
 *   ApprovalPolicy.makeCall(tool, {}).pipe(
 *     Effect.flatMap((call) => ApprovalPolicy.decide(policy, call, "1 second")),
 *     Effect.map((result) => result._tag)
 *   )
 *
 * await Effect.runPromise(decided(Tool.make("delete_file"))) // => "Blocked"
 * await Effect.runPromise(decided(Tool.make("move_file"))) // => "NeedsApproval"
 *
 * @category combinators
 * @since 0.1.0
 */
export const orElse: {
  (that: Service): (self: Service) => Service
  (self: Service, that: Service): Service
} = dual(2, Policies.orElse)

/**
 * The second policy has the last word: the first one's counts where it says nothing. Where the second fails, so does
 * this.
 *
 * @example
 * import { ApprovalPolicy, Tool } from "@assent/ai"
 * import { Effect, pipe } from "effect"
 *
 * const decided = (tool: Tool.Any) =>
 *   Effect.gen(function*() {
 *     const config = yield* ApprovalPolicy.fromConfig({ search: "none" })
 *     const policy = pipe(ApprovalPolicy.make(() => true), ApprovalPolicy.override(config))
 *     return (yield* ApprovalPolicy.decide(policy, yield* ApprovalPolicy.makeCall(tool, {}), "1 second"))._tag
 *   })
 *
 * await Effect.runPromise(decided(Tool.make("search"))) // => "PreApproved"
 * await Effect.runPromise(decided(Tool.make("send"))) // => "NeedsApproval"
 *
 * @category combinators
 * @since 0.1.0
 */
export const override: {
  (that: Service): (self: Service) => Service
  (self: Service, that: Service): Service
} = dual(2, (self: Service, that: Service): Service => Policies.orElse(that, self))

/**
 * The stricter word of two policies: to forbid is stricter than to ask, and to ask is stricter than to let run; see
 * {@link strictest}. A policy that says nothing leaves it to the tool, so then the tool's own word counts too. Where
 * one policy fails, the call is forbidden if the other forbids it; else this fails.
 *
 * @example
 * import { Approval, ApprovalPolicy, Tool } from "@assent/ai"
 * import { Effect, pipe } from "effect"
 *
 * const mine = ApprovalPolicy.make(() => Approval.needsApproval())
 * const theirs = ApprovalPolicy.make(() => Approval.preApproved())
 *
 * const program = ApprovalPolicy.makeCall(Tool.make("search"), {}).pipe(
 *   Effect.flatMap((call) => ApprovalPolicy.decide(pipe(mine, ApprovalPolicy.tighten(theirs)), call, "1 second"))
 * )
 *
 * await Effect.runPromise(program) // => Approval.needsApproval()
 *
 * @category combinators
 * @since 0.1.0
 */
export const tighten: {
  (that: Service): (self: Service) => Service
  (self: Service, that: Service): Service
} = dual(2, Policies.tighten)

/**
 * A policy for some calls only; of others it says nothing. Where the condition fails, so does the policy.
 *
 * @example
 * import { Approval, ApprovalPolicy, Tool } from "@assent/ai"
 * import { Effect } from "effect"
 *
 * const policy = ApprovalPolicy.when(
 *   ApprovalPolicy.make(() => Approval.needsApproval()),
 *   (call) => call.toolName.startsWith("mcp.")
 * )
 * const decided = (toolName: string) =>
 *   ApprovalPolicy.makeCall(Tool.make("search"), {}, { toolName }).pipe(
 *     Effect.flatMap((call) => ApprovalPolicy.decide(policy, call, "1 second")),
 *     Effect.map((result) => result._tag)
 *   )
 *
 * await Effect.runPromise(decided("search")) // => "PreApproved"
 * await Effect.runPromise(decided("mcp.web.search")) // => "NeedsApproval"
 *
 * @category combinators
 * @since 0.1.0
 */
export const when: {
  (condition: (call: PolicyCall) => boolean | Effect.Effect<boolean, unknown>): (self: Service) => Service
  (self: Service, condition: (call: PolicyCall) => boolean | Effect.Effect<boolean, unknown>): Service
} = dual(2, Policies.when)

/**
 * The stricter of two results: it allows nothing that either of them does not allow. Where both ask, each field is the
 * narrower one: the shorter time, `false` before `true`. Where they name different lists of approvers, one person of
 * each list is needed, and whoever is on any of them may deny. A field that only one of them sets is kept.
 *
 * @example
 * import { Approval, ApprovalPolicy } from "@assent/ai"
 *
 * const asked = Approval.needsApproval({ expiresIn: 60_000, approvers: ["ada", "bob"] })
 * const other = Approval.needsApproval({ expiresIn: 5_000, approvers: ["bob"], editable: true })
 *
 * ApprovalPolicy.strictest(asked, Approval.preApproved()) === asked // => true
 *
 * const both = ApprovalPolicy.strictest(asked, other)
 *
 * both._tag === "NeedsApproval" && [both.expiresIn, both.editable] // => [5000, true]
 * both._tag === "NeedsApproval" && both.approvers // => [["ada", "bob"], ["bob"]]
 *
 * @category combinators
 * @since 0.1.0
 */
export const strictest: {
  (that: Approval.ApprovalResult): (self: Approval.ApprovalResult) => Approval.ApprovalResult
  (self: Approval.ApprovalResult, that: Approval.ApprovalResult): Approval.ApprovalResult
} = dual(2, Strictest.strictest)

// =============================================================================
// Deciding
// =============================================================================

/**
 * What the policy, or else the tool's own gate, says about a call. Fails with `PolicyFailed`, without the cause, when
 * it fails, dies, lacks a service, returns something else, or does not answer within `timeLimit`; the cause goes to
 * `ApprovalEvents` alone (law L1).
 *
 * @example
 * import { ApprovalPolicy, Tool } from "@assent/ai"
 * import { Effect } from "effect"
 *
 * const broken = ApprovalPolicy.make(() => Effect.fail("the database is away"))
 *
 * const program = ApprovalPolicy.makeCall(Tool.make("search"), {}).pipe(
 *   Effect.flatMap((call) => ApprovalPolicy.decide(broken, call, "1 second")),
 *   Effect.flip
 * )
 *
 * await Effect.runPromise(program).then(({ reason }) => reason._tag) // => "PolicyFailed"
 *
 * @category deciding
 * @since 0.1.0
 */
export const decide: (
  around: Service,
  asked: PolicyCall,
  timeLimit: Duration.Input
) => Effect.Effect<Approval.ApprovalResult, ApprovalError.ApprovalError> = Policies.decide

// =============================================================================
// Explaining
// =============================================================================

/**
 * A call as the engine would make it from what a model sends, for {@link explain} and {@link decide}. Fails with
 * `InvalidParameters`.
 *
 * @example
 * import { ApprovalPolicy, Tool } from "@assent/ai"
 * import { Effect, Schema } from "effect"
 *
 * const Wait = Tool.make("wait", { parameters: { seconds: Schema.FiniteFromString } })
 *
 * const call = await Effect.runPromise(ApprovalPolicy.makeCall(Wait, { seconds: "10" }))
 *
 * call.params // => { seconds: 10 }
 * call.encodedParams // => { seconds: "10" }
 *
 * @category explaining
 * @since 0.1.0
 */
export const makeCall = (
  tool: Tool.Any,
  params: Schema.Json,
  options?: { readonly toolName?: string | undefined; readonly messages?: ReadonlyArray<Prompt.Message> | undefined }
): Effect.Effect<PolicyCall, ApprovalError.ApprovalError> =>
  Effect.map(
    Prepare.prepare(tool, { id: "explained", name: options?.toolName ?? tool.name, params }),
    ({ decoded, encoded, toolCallId, toolName }) => ({
      tool,
      toolName,
      toolCallId,
      params: decoded,
      encodedParams: encoded,
      messages: options?.messages ?? []
    })
  )

/**
 * What the current policy says of a call, who had a word in it, and why. Nothing runs, and nobody is asked. A policy
 * that fails, or does not answer within 30 seconds, asks, as it does where a call is decided (law L1).
 *
 * @example
 * import { ApprovalPolicy, Tool } from "@assent/ai"
 * import { Effect } from "effect"
 *
 * const program = ApprovalPolicy.makeCall(Tool.make("list_files"), {}).pipe(
 *   Effect.flatMap(ApprovalPolicy.explain),
 *   Effect.provide(ApprovalPolicy.layerConfig({ "list_*": "none", "*": "deny" }))
 * )
 *
 * const { result, steps } = await Effect.runPromise(program)
 *
 * result._tag // => "PreApproved"
 * steps.map(({ at, says }) => [at, says]) // => [["list_*", "none"]]
 *
 * @category explaining
 * @since 0.1.0
 */
export const explain = (call: PolicyCall): Effect.Effect<Trace.Explanation> =>
  Effect.flatMap(Levels.policies, (policies) => Policies.explain(Policies.join(policies), call))

/**
 * An explanation for a person: what becomes of the call, and a line for each that had a word in it. Escaped and bounded
 * for a screen (law L15).
 *
 * @example
 * import { ApprovalPolicy, Tool } from "@assent/ai"
 * import { Effect } from "effect"
 *
 * const DropTable = Tool.make("drop_table")
 *
 * const program = ApprovalPolicy.makeCall(DropTable, {}).pipe(
 *   Effect.flatMap(ApprovalPolicy.explain),
 *   Effect.provide(ApprovalPolicy.layerConfig({ drop_table: "deny" })),
 *   Effect.map(ApprovalPolicy.toSentence)
 * )
 *
 * const text = await Effect.runPromise(program)
 *
 * text.split("\n")[1] // => "  → drop_table says deny: It names drop_table."
 *
 * @category explaining
 * @since 0.1.0
 */
export const toSentence = (self: Trace.Explanation | Linter.Finding): string =>
  "steps" in self ? Trace.toSentence(self) : Linter.toLine(self)

/**
 * What is likely to be a mistake in a configuration, given the tools that it is about: names that no tool has, rules
 * that are never reached, words without effect, and tools that may destroy something and run without asking. Fails with
 * an `ApprovalConfigError` where it is no configuration at all.
 *
 * @example
 * import { ApprovalPolicy, Tool, Toolkit } from "@assent/ai"
 * import { Effect } from "effect"
 *
 * const toolkit = Toolkit.make(Tool.make("delete_file"))
 *
 * const findings = await Effect.runPromise(ApprovalPolicy.lint({ delete_flie: "deny" }, toolkit))
 *
 * findings.map(({ kind }) => kind) // => ["unknown-tool", "destructive-without-rule"]
 * findings[0]?.fix // => "delete_file: deny"
 *
 * @category explaining
 * @since 0.1.0
 */
export const lint = (
  config: ApprovalConfig.ApprovalConfig | ApprovalConfig.Input,
  toolkit: { readonly tools: Readonly<Record<string, Tool.Any>> }
): Effect.Effect<ReadonlyArray<Linter.Finding>, ApprovalConfig.ApprovalConfigError> =>
  Effect.flatMap(Rules.fromConfig(config), (rules) => Linter.lint(rules, toolkit.tools))
