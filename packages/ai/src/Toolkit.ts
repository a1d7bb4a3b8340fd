/**
 * Upstream's `Toolkit`, which can ask before it runs, without a model and under any model.
 *
 * Everything of `effect/ai/Toolkit` is here; {@link make}, {@link merge}, {@link tighten}, {@link join}, {@link guard} and
 * {@link withPolicy} are ours. In a toolkit of ours the tools that need approval are locked (law L1): what runs them
 * without, such as effect/ai's own engine or `handle` called by hand, ends with an error that says what to change.
 *
 * @since 0.1.0
 */
import type * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { dual } from "effect/Function"
import * as Predicate from "effect/Predicate"
import type * as ApprovalPolicy from "./ApprovalPolicy.ts"
import * as Levels from "./internal/asking/levels.ts"
import * as Environment from "./internal/environment/environment.ts"
import * as Guard from "./internal/guard/guard.ts"
import * as Policies from "./internal/guard/policies.ts"
import * as PolicyService from "./internal/policy/service.ts"
import { tighten as tighten_ } from "./internal/policy/tighten.ts"
import * as Clash from "./internal/tool/clash.ts"
import * as Handlers from "./internal/tool/handlers.ts"
import * as Join from "./internal/tool/join.ts"
import * as LockedToolkit from "./internal/tool/lockedToolkit.ts"
import * as Schemas from "./internal/tool/schemas.ts"

export * from "effect/ai/Toolkit"

// =============================================================================
// Constructors
// =============================================================================

/**
 * Upstream's `make`. Gated tools of the toolkit run only where the engine or a guard has the consent to the call; by
 * any other way the call dies, and nothing runs (law L1).
 *
 * Throws a `TypeError` for two different tools of one name if one of them has a gate, as {@link merge} does, and for a
 * tool of a guarded toolkit.
 *
 * @example
 * import { Tool, Toolkit } from "@assent/ai"
 * import { Effect, Exit, Stream } from "effect"
 *
 * const tools = Toolkit.make(Tool.make("DeleteAll", { needsApproval: true }))
 *
 * const byHand = Effect.flatMap(tools, (toolkit) => Stream.runDrain(Stream.unwrap(toolkit.handle("DeleteAll", {})))).pipe(
 *   Effect.provide(tools.toLayer({ DeleteAll: () => Effect.void }))
 * )
 *
 * Exit.hasDies(await Effect.runPromiseExit(byHand)) // => true
 *
 * @category constructors
 * @since 0.1.0
 */
export const make: typeof Toolkit.make = (...tools) => {
  Schemas.refuse("Toolkit.make", tools)
  Guard.refuseAlone(tools)
  Clash.refuse(tools.map((tool) => [tool.name, tool]))
  return LockedToolkit.lock(Toolkit.make(...tools))
}

/**
 * Upstream's `merge`, but two different tools of one name are an error if one of them has a gate: the later would take
 * the earlier one's place, and so take its gate away or bring one. Throws a `TypeError` that names the tool.
 *
 * @example
 * import { Tool, Toolkit } from "@assent/ai"
 *
 * const files = Toolkit.make(Tool.make("Delete", { needsApproval: true }))
 * const rows = Toolkit.make(Tool.make("Delete"))
 * const attempt = () => {
 *   try {
 *     return Toolkit.merge(files, rows)
 *   } catch (error) {
 *     return error instanceof TypeError
 *   }
 * }
 *
 * attempt() // => true
 *
 * @category constructors
 * @since 0.1.0
 */
export const merge: typeof Toolkit.merge = (...toolkits) => {
  for (const { tools } of toolkits) {
    Schemas.refuse("Toolkit.merge", Object.values(tools))
    Guard.refuseAlone(Object.values(tools))
  }
  Clash.refuse(toolkits.flatMap(({ tools }) => Object.entries(tools)))
  return LockedToolkit.lock(Toolkit.merge(...toolkits))
}

/**
 * Replaces the tool of the same name by one that asks more, and never less: a call runs unasked only where both gates
 * let it, and what either says of how to ask holds. The layer of the toolkit's handlers stays as it is.
 *
 * Throws a `TypeError` where the toolkit has no tool of that name, or one with other parameters.
 *
 * @example
 * import { Tool, Toolkit } from "@assent/ai"
 * import { Schema } from "effect"
 *
 * const ReadFile = Tool.make("ReadFile", { parameters: { path: Schema.String } })
 * const theirs = Toolkit.make(ReadFile, Tool.make("ListFiles"))
 *
 * const careful = Toolkit.tighten(theirs, Tool.setNeedsApproval(ReadFile, ({ path }) => path.includes(".env")))
 *
 * Object.keys(careful.tools) // => ["ReadFile", "ListFiles"]
 * careful.tools.ReadFile.needsApproval === undefined // => false
 *
 * @category combinators
 * @since 0.1.0
 */
export const tighten: {
  <Tools extends AnyTools>(
    tool: Tools[keyof Tools]
  ): (self: Toolkit.Toolkit<Tools>) => Toolkit.Toolkit<Tools>
  <Tools extends AnyTools>(self: Toolkit.Toolkit<Tools>, tool: Tools[keyof Tools]): Toolkit.Toolkit<Tools>
} = dual(2, tighten_)

/**
 * What {@link join} makes of the tools of two toolkits. Where those of one are known at run time only, so are both.
 *
 * @category utility types
 * @since 0.1.0
 */
export type { Joined } from "./internal/tool/join.ts"

/**
 * Two toolkits that are to be one have a tool of the same name. Nobody could say which of them was approved, or which a
 * rule is about, whether either of them asks or not.
 *
 * @category errors
 * @since 0.1.0
 */
export { ToolNameClash } from "./internal/tool/join.ts"

/**
 * Two toolkits with their handlers as one, for a model that has tools of several MCP servers, or of a server and of the
 * program. Each call goes to the toolkit that its tool is from, and is guarded as that one is. Toolkits may be given as
 * effects that make them anew for each turn; both are then made at once.
 *
 * Fails with {@link ToolNameClash} if a name is in both.
 *
 * @example
 * import { Tool, Toolkit } from "@assent/ai"
 * import { Effect, pipe, Schema, Stream } from "effect"
 *
 * const rows = Toolkit.make(Tool.make("Count", { success: Schema.Number }))
 * const files = Toolkit.make(Tool.make("List", { success: Schema.Array(Schema.String) }))
 *
 * const program = Effect.gen(function*() {
 *   const both = yield* pipe(rows, Toolkit.join(files))
 *   const [result] = yield* Stream.runCollect(yield* both.handle("List", {}))
 *   return [Object.keys(both.tools), result?.result]
 * }).pipe(
 *   Effect.provide(rows.toLayer({ Count: () => Effect.succeed(7) })),
 *   Effect.provide(files.toLayer({ List: () => Effect.succeed(["a.txt"]) }))
 * )
 *
 * await Effect.runPromise(program) // => [["Count", "List"], ["a.txt"]]
 *
 * @category combinators
 * @since 0.1.0
 */
export const join: {
  <That extends AnyTools, E2 = never, R2 = never>(
    that: Handling<That, E2, R2>
  ): <Self extends AnyTools, E = never, R = never>(
    self: Handling<Self, E, R>
  ) => Effect.Effect<Toolkit.WithHandler<Join.Joined<Self, That>>, E | E2 | Join.ToolNameClash, R | R2>
  <Self extends AnyTools, That extends AnyTools, E = never, R = never, E2 = never, R2 = never>(
    self: Handling<Self, E, R>,
    that: Handling<That, E2, R2>
  ): Effect.Effect<Toolkit.WithHandler<Join.Joined<Self, That>>, E | E2 | Join.ToolNameClash, R | R2>
} = dual(2, Join.join)

// =============================================================================
// Asking before a call runs
// =============================================================================

/**
 * How a guarded toolkit behaves.
 *
 * @category options
 * @since 0.1.0
 */
export interface GuardOptions {
  /** How long a policy may take before a person is asked instead (default 30 seconds, law L1). */
  readonly policyTimeLimit?: Duration.Input | undefined
}

type AnyTools = Record<string, Tool.Any>

/**
 * Guards a toolkit: each call of a gated tool is judged by the policy, looked up in the memory and put to the
 * controller where it is handled. It runs only when approved; the caller waits. It needs no model and no history, so it
 * serves command lines, MCP servers, and any language model, upstream's own as well.
 *
 * Where the toolkit is given as an effect, the policy and the controller around that effect hold for its calls: what is
 * around a call may be stricter, and never milder (law L11).
 *
 * A call that was denied is a failed result that reads as final. One that nobody could be asked about is a failed
 * result that says so. Where no conversation is named, what a person wants remembered counts for the guarded toolkit.
 * Guarding twice asks once.
 *
 * Use the toolkit whole. Its tools have no gates of their own any more: {@link make} refuses them, and in a toolkit of
 * effect/ai, with other handlers, nobody would be asked. Under the engine of this package, a guarded tool asks here and
 * not there.
 *
 * @example
 * import { Approval, ApprovalController, Tool, Toolkit } from "@assent/ai"
 * import { Effect, Schema, Stream } from "effect"
 *
 * const DeleteFile = Tool.make("DeleteFile", {
 *   parameters: { path: Schema.String },
 *   success: Schema.String,
 *   needsApproval: true
 * })
 * const tools = Toolkit.make(DeleteFile)
 *
 * const program = Effect.gen(function*() {
 *   const guarded = yield* Toolkit.guard(tools)
 *   const [result] = yield* Stream.runCollect(yield* guarded.handle("DeleteFile", { path: ".env" }))
 *   return result?.encodedResult
 * }).pipe(
 *   Effect.provide(tools.toLayer({ DeleteFile: ({ path }) => Effect.succeed(`deleted ${path}`) })),
 *   Effect.provide(ApprovalController.layerInteractive((request) => Approval.deny(request, "not that one")))
 * )
 *
 * await Effect.runPromise(program) // => { type: "execution-denied", reason: "not that one" }
 *
 * @category combinators
 * @since 0.1.0
 */
export function guard<Tools extends AnyTools>(
  self: Toolkit.WithHandler<Tools>,
  options?: GuardOptions
): Toolkit.WithHandler<Tools>
export function guard<Tools extends AnyTools, E, R>(
  self: Effect.Effect<Toolkit.WithHandler<Tools>, E, R>,
  options?: GuardOptions
): Effect.Effect<Toolkit.WithHandler<Tools>, E, R>
export function guard<Tools extends AnyTools, E, R>(self: Handling<Tools, E, R>, options?: GuardOptions) {
  if (!Effect.isEffect(self)) return Guard.guard(self, { policyTimeLimit: options?.policyTimeLimit })
  return Effect.flatMap(
    Handlers.resolve(self),
    (toolkit) =>
      Effect.map(Levels.here, (inside) => Guard.guard(toolkit, { policyTimeLimit: options?.policyTimeLimit, inside }))
  )
}

/**
 * Puts a policy over a toolkit, in the place of its tools' own gates, which count where the policy says nothing. It
 * goes with the toolkit, under the engine or guarded; by any other way its calls die, whatever the policy would say
 * (law L1). Together with the policy around a call, the stricter word counts (law L11).
 *
 * Guard a toolkit after it has its policy. Over one that is guarded already, the policy can only forbid, or ask before
 * the guard asks in its turn.
 *
 * @example
 * import { Approval, ApprovalPolicy, Tool, Toolkit } from "@assent/ai"
 * import { Effect, Schema } from "effect"
 *
 * const ReadFile = Tool.make("ReadFile", { parameters: { path: Schema.String }, success: Schema.String })
 * const foreign = Toolkit.make(ReadFile)
 *
 * const careful = Toolkit.withPolicy(foreign, ({ encodedParams }) =>
 *   JSON.stringify(encodedParams).includes(".env") ? Approval.blocked("secrets stay here") : undefined
 * )
 *
 * const program = Effect.map(careful, ({ tools }) => tools.ReadFile.needsApproval !== undefined).pipe(
 *   Effect.provide(foreign.toLayer({ ReadFile: () => Effect.succeed("…") }))
 * )
 *
 * await Effect.runPromise(program) // => true
 *
 * @category combinators
 * @since 0.1.0
 */
export const withPolicy: {
  (
    policy: ApprovalPolicy.Service | PolicyFunction
  ): <Tools extends AnyTools, E, R>(
    self: Effect.Effect<Toolkit.WithHandler<Tools>, E, R>
  ) => Effect.Effect<Toolkit.WithHandler<Tools>, E, R>
  <Tools extends AnyTools>(
    self: Toolkit.WithHandler<Tools>,
    policy: ApprovalPolicy.Service | PolicyFunction
  ): Toolkit.WithHandler<Tools>
  <Tools extends AnyTools, E, R>(
    self: Effect.Effect<Toolkit.WithHandler<Tools>, E, R>,
    policy: ApprovalPolicy.Service | PolicyFunction
  ): Effect.Effect<Toolkit.WithHandler<Tools>, E, R>
} = dual(2, putPolicy)

/**
 * A policy as a plain function.
 *
 * @category models
 * @since 0.1.0
 */
export type PolicyFunction = Parameters<typeof ApprovalPolicy.make>[0]

// =============================================================================
// Internals
// =============================================================================

type Handling<Tools extends AnyTools, E, R> =
  | Toolkit.WithHandler<Tools>
  | Effect.Effect<Toolkit.WithHandler<Tools>, E, R>

const over = <Tools extends AnyTools, E, R>(
  self: Handling<Tools, E, R>,
  change: (toolkit: Toolkit.WithHandler<Tools>) => Toolkit.WithHandler<Tools>
): Handling<Tools, E, R> => Effect.isEffect(self) ? Effect.map(Handlers.resolve(self), change) : change(self)

function putPolicy<Tools extends AnyTools>(
  self: Toolkit.WithHandler<Tools>,
  policy: ApprovalPolicy.Service | PolicyFunction
): Toolkit.WithHandler<Tools>
function putPolicy<Tools extends AnyTools, E, R>(
  self: Effect.Effect<Toolkit.WithHandler<Tools>, E, R>,
  policy: ApprovalPolicy.Service | PolicyFunction
): Effect.Effect<Toolkit.WithHandler<Tools>, E, R>
function putPolicy<Tools extends AnyTools, E, R>(
  self: Handling<Tools, E, R>,
  policy: ApprovalPolicy.Service | PolicyFunction
) {
  const isService = Predicate.hasProperty(policy, "decide")
  const service = isService ? policy : PolicyService.fromFunction("Toolkit.withPolicy", policy)
  return over(self, (toolkit) => Policies.withPolicy(toolkit, service, Environment.defaultOptions.policyTimeLimit))
}
