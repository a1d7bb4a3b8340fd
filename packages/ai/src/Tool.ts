/**
 * Tools that can say when a person must be asked: upstream's `Tool`, with a `needsApproval` that may need services, may
 * fail, and may say why.
 *
 * Everything upstream exports is here, the same objects; {@link make}, {@link dynamic} and the types of `needsApproval`
 * are ours, and win. A tool made here is an ordinary tool, and it is locked (law L1): once it needs approval, it runs only
 * where this package's engine or a guard has somebody's consent to the call. effect/ai's own engine, which takes forged
 * approvals, dies at its gate, whatever the gate would say; effect/ai's `Toolkit` and `McpServer` do not start with it. Each
 * time the error says what to import. So what stands in `needsApproval` of such a tool is a function, also where `true` was
 * written, and is for nobody to call.
 *
 * @since 0.1.0
 */
import type * as Prompt from "effect/ai/Prompt"
import * as Upstream from "effect/ai/Tool"
import type * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import { dual } from "effect/Function"
import type * as JsonSchema from "effect/JsonSchema"
import type * as Schema from "effect/Schema"
import type { ApprovalPresentation, ApprovalResult, Question } from "./Approval.ts"
import * as Gate from "./internal/tool/gate.ts"
import * as GatedTool from "./internal/tool/gatedTool.ts"
import * as Presentation from "./internal/tool/presentation.ts"
import * as Schemas from "./internal/tool/schemas.ts"

export * from "effect/ai/Tool"

// =============================================================================
// Models
// =============================================================================

/**
 * What a gate is told about the call, besides its parameters.
 *
 * @category models
 * @since 0.1.0
 */
export type NeedsApprovalContext = Upstream.NeedsApprovalContext

/**
 * What a gate may say of a call: `true` asks, `false` lets it run, `{ description }` or `{ presentation }` asks and says
 * what about, and an `ApprovalResult` says more, as that the call is blocked.
 *
 * @category models
 * @since 0.1.0
 */
export type NeedsApprovalResult = boolean | ApprovalResult | Question

/**
 * Decides, for one call, whether a person must be asked: at once, or as a promise or an effect.
 *
 * `Params` is the schema of the tool's parameters, `R` the services the decision may use. It may throw, reject or fail
 * with anything: the call is then asked, and what was thrown goes to events only (law L1).
 *
 * @category models
 * @since 0.1.0
 */
export type NeedsApprovalFunction<Params extends Schema.Constraint, R = never> = (
  params: Params["Type"],
  context: NeedsApprovalContext
) => NeedsApprovalResult | PromiseLike<NeedsApprovalResult> | Effect.Effect<NeedsApprovalResult, unknown, R>

/**
 * A tool's own gate: always ask, never ask, or decide for each call.
 *
 * @category models
 * @since 0.1.0
 */
export type NeedsApproval<Params extends Schema.Constraint, R = never> = boolean | NeedsApprovalFunction<Params, R>

// =============================================================================
// Utility types
// =============================================================================

/**
 * The schema of a tool's parameters, where they are written as plain fields: their struct. No fields at all are upstream's
 * `EmptyParams`, because an empty struct accepts every value but `null` and `undefined`, and has a JSON Schema that
 * providers refuse. Parameters that are not written as fields, where `Fields` may be `undefined`, are any schema.
 *
 * @category utility types
 * @since 0.1.0
 */
export type ParametersFrom<Fields extends Schema.Struct.Fields | undefined> = [Fields] extends [Schema.Struct.Fields]
  ? [keyof Fields] extends [never] ? Upstream.EmptyParams : Schema.Struct<Fields>
  : Schema.Constraint

/**
 * What a tool is made of, its name aside; also one that may wait (`DeferredTool.make`), or is an agent (`AgentTool.make`).
 *
 * @category options
 * @since 0.1.0
 */
export interface Options<
  Fields extends Schema.Struct.Fields | undefined,
  Parameters extends ParametersFrom<Fields>,
  Success extends Schema.Constraint,
  Failure extends Schema.Constraint,
  Mode extends Upstream.FailureMode | undefined,
  Dependencies extends Array<Context.Key<unknown, unknown>>
> {
  /** What the tool does, for the model. */
  readonly description?: string | undefined
  /** The parameters: a schema, or the plain fields of a struct. */
  readonly parameters?: Parameters | Fields | undefined
  /** The schema of what the handler succeeds with. */
  readonly success?: Success | undefined
  /** The schema of what the handler fails with. */
  readonly failure?: Failure | undefined
  /** Whether a failure of the handler fails the turn (`"error"`, the default) or is returned to the model. */
  readonly failureMode?: Mode
  /** The services that each request must provide, for the handler and for `needsApproval`. */
  readonly dependencies?: Dependencies | undefined
  /** Whether a person must be asked before the tool runs. */
  readonly needsApproval?:
    | NeedsApproval<Parameters, Context.Service.Identifier<Dependencies[number]>>
    | undefined
  /** Maps a successful result to the content the model is sent in place of the encoded result. */
  readonly toModelOutput?: ((result: Success["Type"]) => ReadonlyArray<Prompt.ToolModelOutputPart>) | undefined
}

/**
 * The tool that is made of such options.
 *
 * @category utility types
 * @since 0.1.0
 */
export type Made<
  Name extends string,
  Parameters extends Schema.Constraint,
  Success extends Schema.Constraint,
  Failure extends Schema.Constraint,
  Mode extends Upstream.FailureMode | undefined,
  Dependencies extends Array<Context.Key<unknown, unknown>>
> = Upstream.Tool<
  Name,
  {
    readonly parameters: Parameters
    readonly success: Success
    readonly failure: Failure
    readonly failureMode: Mode extends undefined ? "error" : Mode
  },
  Context.Service.Identifier<Dependencies[number]>
>

// =============================================================================
// Constructors
// =============================================================================

/**
 * Makes a tool. The options are upstream's, but `parameters` may be plain fields, and `needsApproval` may use the
 * services in `dependencies`, may be async, may fail, and may return an `ApprovalResult`.
 *
 * The services surface in the services of `generateText` and its siblings; one that is not declared is a compile error.
 *
 * @example
 * import { Approval, LanguageModel, Tool } from "@assent/ai"
 * import { Context, Effect, Schema } from "effect"
 *
 * class Protected extends Context.Service<Protected, {
 *   readonly includes: (path: string) => Effect.Effect<boolean>
 * }>()("app/Protected") {}
 *
 * const DeleteFile = Tool.make("DeleteFile", {
 *   description: "Deletes a file",
 *   parameters: { path: Schema.String },
 *   success: Schema.Struct({ deleted: Schema.Boolean }),
 *   needsApproval: ({ path }) =>
 *     Effect.gen(function*() {
 *       if (path.startsWith("/tmp/")) return false
 *       const files = yield* Protected
 *       return (yield* files.includes(path)) ? Approval.blocked("This file is protected.") : true
 *     }),
 *   dependencies: [Protected]
 * })
 *
 * const needed = (path: string) =>
 *   LanguageModel.isApprovalNeeded(DeleteFile, { id: "call-1", name: "DeleteFile", params: { path } }, []).pipe(
 *     Effect.provideService(Protected, { includes: () => Effect.succeed(false) })
 *   )
 *
 * await Effect.runPromise(needed("/tmp/a.txt")) // => false
 * await Effect.runPromise(needed("/home/a.txt")) // => true
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <
  const Name extends string,
  Fields extends Schema.Struct.Fields | undefined = {},
  Parameters extends ParametersFrom<Fields> = ParametersFrom<Fields>,
  Success extends Schema.Constraint = typeof Schema.Void,
  Failure extends Schema.Constraint = typeof Schema.Never,
  Mode extends Upstream.FailureMode | undefined = undefined,
  Dependencies extends Array<Context.Key<unknown, unknown>> = []
>(
  name: Name,
  options?: Options<Fields, Parameters, Success, Failure, Mode, Dependencies>
): Made<Name, Parameters, Success, Failure, Mode, Dependencies> => {
  Schemas.refuseFields(name, options?.parameters)
  Schemas.refuseOptions(name, options)
  return Schemas.usable(GatedTool.ours(Upstream.make(name, {
    ...options,
    parameters: Gate.toSchema<Parameters>(options?.parameters),
    needsApproval: Gate.toSlot(options?.needsApproval)
  })))
}

/**
 * Makes a tool whose schema may be known only at run time. The options are upstream's, and `needsApproval` and
 * `dependencies` as {@link make} has them.
 *
 * With a JSON Schema for `parameters` nothing is decoded: handler and `needsApproval` get what the model sent.
 *
 * @example
 * import { LanguageModel, Tool } from "@assent/ai"
 * import { Effect, Predicate } from "effect"
 *
 * const Query = Tool.dynamic("Query", {
 *   parameters: { type: "object", properties: { sql: { type: "string" } }, required: ["sql"] },
 *   needsApproval: (params) => !(Predicate.hasProperty(params, "sql") && params.sql === "select 1")
 * })
 *
 * const needed = (sql: string) =>
 *   LanguageModel.isApprovalNeeded(Query, { id: "call-1", name: "Query", params: { sql } }, [])
 *
 * await Effect.runPromise(needed("select 1")) // => false
 * await Effect.runPromise(needed("drop table users")) // => true
 *
 * @category constructors
 * @since 0.1.0
 */
export const dynamic = <
  const Name extends string,
  const Parameters extends Schema.Constraint | JsonSchema.JsonSchema = typeof Schema.Unknown,
  Success extends Schema.Constraint = typeof Schema.Unknown,
  Failure extends Schema.Constraint = typeof Schema.Never,
  Mode extends Upstream.FailureMode | undefined = undefined,
  Dependencies extends Array<Context.Key<unknown, unknown>> = []
>(name: Name, options?: {
  /** What the tool does, for the model. */
  readonly description?: string | undefined
  /** The parameters: a schema, or a JSON Schema that the model is given as it is. */
  readonly parameters?: Parameters | undefined
  /** The schema of what the handler succeeds with. */
  readonly success?: Success | undefined
  /** The schema of what the handler fails with. */
  readonly failure?: Failure | undefined
  /** Whether a failure of the handler fails the turn (`"error"`, the default) or is returned to the model. */
  readonly failureMode?: Mode
  /** The services that each request must provide, for the handler and for `needsApproval`. */
  readonly dependencies?: Dependencies | undefined
  /** Whether a person must be asked before the tool runs. */
  readonly needsApproval?:
    | NeedsApproval<
      Parameters extends Schema.Constraint ? Parameters : typeof Schema.Unknown,
      Context.Service.Identifier<Dependencies[number]>
    >
    | undefined
  /** Maps a successful result to the content the model is sent in place of the encoded result. */
  readonly toModelOutput?: ((result: Success["Type"]) => ReadonlyArray<Prompt.ToolModelOutputPart>) | undefined
}): Upstream.Dynamic<
  Name,
  {
    readonly parameters: Parameters
    readonly success: Success
    readonly failure: Failure
    readonly failureMode: Mode extends undefined ? "error" : Mode
  },
  Context.Service.Identifier<Dependencies[number]>
> => {
  Schemas.refuseOptions(name, options)
  return Schemas.usable(GatedTool.dynamic(name, options))
}

// =============================================================================
// Combinators
// =============================================================================

/**
 * Lets a tool show its calls: what a person sees beside the parameters, such as the diff of a file that would be written,
 * where the policy shows nothing of its own. See `ApprovalPresentation` for how to make one.
 *
 * It is asked again when an approved call is about to run: if it would show something else by then, the approval is void
 * and the call may be asked again (law L4). It never blocks a call and never lets one run: if it fails, dies, or takes
 * longer than the policy may, the call is asked about without it.
 *
 * @example
 * import { ApprovalPresentation, LanguageModel, Response, Tool, Toolkit } from "@assent/ai"
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect, Schema } from "effect"
 *
 * const files = new Map([["a.txt", "one\n"]])
 *
 * const WriteFile = Tool.present(
 *   Tool.make("WriteFile", { parameters: { path: Schema.String, content: Schema.String }, needsApproval: true }),
 *   ({ content, path }) => ApprovalPresentation.diff({ path, before: files.get(path) ?? "", after: content })
 * )
 * const toolkit = Toolkit.make(WriteFile)
 * const call = ScriptedModel.toolCall({ id: "call-1", name: "WriteFile", params: { path: "a.txt", content: "1\n" } })
 *
 * const program = LanguageModel.generateText({ prompt: "Write it as a number.", toolkit }).pipe(
 *   Effect.map((response) => Response.approvalRequests(response)[0]?.presentation?.content.includes("-one\n+1")),
 *   Effect.provide(toolkit.toLayer({ WriteFile: () => Effect.void })),
 *   Effect.provide(ScriptedModel.layer({ turns: [[call]] }))
 * )
 *
 * await Effect.runPromise(program) // => true
 *
 * @category combinators
 * @since 0.1.0
 */
export const present: {
  <T extends Upstream.Any>(
    present: (
      params: Upstream.Parameters<T>,
      context: NeedsApprovalContext
    ) => ApprovalPresentation | Effect.Effect<ApprovalPresentation, unknown, Upstream.Requirements<T>>
  ): (self: T) => T
  <T extends Upstream.Any>(
    self: T,
    present: (
      params: Upstream.Parameters<T>,
      context: NeedsApprovalContext
    ) => ApprovalPresentation | Effect.Effect<ApprovalPresentation, unknown, Upstream.Requirements<T>>
  ): T
} = dual(2, Presentation.setPresenter)

/**
 * Gives a tool another gate, whoever made it: also a provider's, a dynamic one, or one of upstream's `make`. The tool
 * keeps its type and is not changed; a copy is returned.
 *
 * The gate may use the services that the tool declares already; declare more with the tool's `addDependency` first.
 *
 * @example
 * import { LanguageModel, Tool } from "@assent/ai"
 * import { Effect, pipe, Schema } from "effect"
 *
 * const SendMail = Tool.make("SendMail", { parameters: { to: Schema.String } })
 *
 * const Asked = Tool.setNeedsApproval(SendMail, true)
 * const AskedAbroad = pipe(SendMail, Tool.setNeedsApproval(({ to }) => !to.endsWith("@example.com")))
 *
 * const needed = (tool: typeof SendMail) =>
 *   LanguageModel.isApprovalNeeded(tool, { id: "1", name: "SendMail", params: { to: "ada@example.com" } }, [])
 *
 * await Effect.runPromise(needed(SendMail)) // => false
 * await Effect.runPromise(needed(Asked)) // => true
 * await Effect.runPromise(needed(AskedAbroad)) // => false
 *
 * @category combinators
 * @since 0.1.0
 */
export const setNeedsApproval: {
  (needsApproval: boolean): <T extends Upstream.Any>(self: T) => T
  <T extends Upstream.Any>(
    needsApproval: NeedsApproval<Upstream.ParametersSchema<T>, Upstream.Requirements<T>>
  ): (self: T) => T
  <T extends Upstream.Any>(
    self: T,
    needsApproval: NeedsApproval<Upstream.ParametersSchema<T>, Upstream.Requirements<T>>
  ): T
} = dual(2, (self: Upstream.Any, needsApproval: Gate.Source) => GatedTool.setGate(Schemas.usable(self), needsApproval))
