/**
 * What was answered before, so that a person is not asked the same thing twice.
 *
 * Nothing is remembered unless a program provides a memory and an answer says so. What is remembered covers this very
 * call unless the answer names more ({@link Remember}), for as long as it says, and as often; it belongs to one tenant,
 * principal and conversation, and to the tool as it was: when its parameters change, it is asked again. A remembered
 * denial is stronger than any approval.
 *
 * A program that has a project, as one in a folder, may let people say "and not in this project again": {@link layerProject}
 * remembers that beyond the conversation.
 *
 * Without a named conversation (`Approval.Scope`) what is remembered lives for one call of the model, and one warning says so.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { definedFields } from "./internal/fields.ts"
import { matching } from "./internal/matching.ts"
import * as Memory from "./internal/memory.ts"
import type { MemoryCall, Remembering, Service } from "./internal/memory.ts"
import type { MemoryScope } from "./internal/remembered.ts"
import * as Rows from "./internal/rememberedRows.ts"
import * as Store from "./Store.ts"

// =============================================================================
// Models
// =============================================================================

export { MemoryScope, Remember, Remembered } from "./internal/remembered.ts"

export type { Answered, Forgetting, Matching, MemoryCall, Remembering, Service } from "./internal/memory.ts"

// =============================================================================
// Service
// =============================================================================

export { ApprovalMemory } from "./internal/memory.ts"

// =============================================================================
// Constructors
// =============================================================================

/**
 * Remembers nothing.
 *
 * @example
 * import { Approval, ApprovalController, ApprovalMemory } from "@assent/ai"
 * import { Effect } from "effect"
 *
 * let asked = 0
 * const Person = ApprovalController.layerInteractive((request) => {
 *   asked++
 *   return Approval.approve(request, { remember: "session" })
 * })
 *
 * // Whatever is remembered around it, this step asks each time.
 * const deploy = ApprovalController.request({ name: "deploy" }).pipe(
 *   Effect.provideService(ApprovalMemory.ApprovalMemory, ApprovalMemory.none)
 * )
 * const program = Effect.andThen(deploy, deploy).pipe(
 *   Effect.provide(Person),
 *   Effect.provide(ApprovalMemory.layerSession()),
 *   Effect.provideService(Approval.Scope, { conversation: "chat-7" })
 * )
 * await Effect.runPromise(program)
 *
 * asked // => 2
 *
 * @category constructors
 * @since 0.1.0
 */
export const none: Remembering = { ...Memory.forgetting, matching }

export { matching } from "./internal/matching.ts"

/**
 * A memory over a store. `timeToLive` is how long an answer is remembered that names no time itself (default: as long
 * as the store).
 *
 * @example
 * import { ApprovalMemory, Store } from "@assent/ai"
 * import { Effect } from "effect"
 *
 * const call = { scope: { conversation: "c1" }, source: "local", toolName: "WriteFile", version: "v1" }
 *
 * const program = Effect.gen(function*() {
 *   const memory = yield* ApprovalMemory.make({ store: yield* Store.makeMemory() })
 *   yield* memory.remember({
 *     ...call,
 *     params: { path: "a.txt" },
 *     id: "1",
 *     decision: "approved",
 *     remember: "session",
 *     approvalId: "1",
 *     toolCallId: "call-1"
 *   })
 *   const same = yield* memory.find({ ...call, params: { path: "a.txt" } })
 *   const other = yield* memory.find({ ...call, params: { path: "b.txt" } })
 *   const elsewhere = yield* memory.find({ ...call, scope: { conversation: "c2" }, params: { path: "a.txt" } })
 *   return [same?.decision, other, elsewhere]
 * })
 *
 * await Effect.runPromise(program) // => ["approved", undefined, undefined]
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: {
  readonly store: Store.Store
  readonly timeToLive?: Duration.Input | undefined
}): Effect.Effect<Service> => Effect.sync(() => Rows.make(options.store, options.timeToLive))

// =============================================================================
// Layers
// =============================================================================

/**
 * A memory in this process that lives as long as its layer: what a person means by "for this session". `capacity`
 * (default 10,000) bounds how many answers it holds; what does not fit is not remembered, and so is asked again.
 * `timeToLive` is how long an answer is remembered that names no time itself (default: as long as the layer).
 *
 * @example
 * import { Approval, ApprovalController, ApprovalMemory } from "@assent/ai"
 * import { Effect } from "effect"
 *
 * let asked = 0
 * const Person = ApprovalController.layerInteractive((request) => {
 *   asked++
 *   return Approval.approve(request, { remember: "session" })
 * })
 *
 * const deploy = (to: string) => ApprovalController.request({ name: "deploy", params: { to } })
 * const program = Effect.all([deploy("staging"), deploy("staging"), deploy("production")]).pipe(
 *   Effect.provide(Person),
 *   Effect.provide(ApprovalMemory.layerSession({ timeToLive: "1 hour" })),
 *   Effect.provideService(Approval.Scope, { conversation: "chat-7" })
 * )
 * await Effect.runPromise(program)
 *
 * asked // => 2
 *
 * @category layers
 * @since 0.1.0
 */
export const layerSession = (options?: {
  readonly capacity?: number | undefined
  readonly timeToLive?: Duration.Input | undefined
}): Layer.Layer<never> => Layer.effect(Memory.ApprovalMemory, makeSession(options))

/**
 * A memory over any {@link Store.Store}, for conversations that outlive a process. `timeToLive` (default 30 days) is
 * how long an answer is remembered that names no time itself.
 *
 * @example
 * import { Approval, ApprovalController, ApprovalMemory, Store } from "@assent/ai"
 * import { Effect } from "effect"
 *
 * let asked = 0
 * const Person = ApprovalController.layerInteractive((request) => {
 *   asked++
 *   return Approval.deny(request, "never again", { remember: "session" })
 * })
 *
 * const inAProcess = Effect.provide(ApprovalController.request({ name: "deploy" }), ApprovalMemory.layerStore())
 * const program = Effect.andThen(inAProcess, inAProcess).pipe(
 *   Effect.map((decision) => decision._tag),
 *   Effect.provide(Person),
 *   Effect.provideService(Approval.Scope, { conversation: "chat-7" }),
 *   Effect.provide(Store.layerMemory)
 * )
 *
 * await Effect.runPromise(program) // => "Denied"
 * asked // => 1
 *
 * @category layers
 * @since 0.1.0
 */
export const layerStore = (options?: {
  readonly timeToLive?: Duration.Input | undefined
}): Layer.Layer<never, never, Store.Store> => Layer.effect(Memory.ApprovalMemory, makeStore(options?.timeToLive))

/**
 * A memory of a project: what a person means by "not in this project again". `project` is whatever the program calls
 * it, such as the path of its folder. An answer for the project is kept in the store and counts in all conversations of
 * the tenant and the principal it was given for. `timeToLive` (default 30 days) is how long an answer is remembered
 * that names no time itself.
 *
 * Everything else is remembered by the memory that this layer is provided with, or by a session of its own.
 *
 * @example
 * import { ApprovalMemory, Store } from "@assent/ai"
 * import { Effect, Layer } from "effect"
 *
 * const call = { source: "local", toolName: "WriteFile", version: "v1", params: { path: "a.txt" } }
 *
 * const answer = (remember: ApprovalMemory.Remember) =>
 *   Effect.gen(function*() {
 *     const memory = yield* ApprovalMemory.ApprovalMemory
 *     const ids = { id: "1", approvalId: "1", toolCallId: "call-1" }
 *     yield* memory.remember({ ...call, ...ids, scope: { conversation: "monday" }, decision: "approved", remember })
 *     const found = yield* memory.find({ ...call, scope: { conversation: "tuesday" } })
 *     return found?.decision
 *   }).pipe(
 *     Effect.provide(ApprovalMemory.layerProject({ project: "/home/ada/site" }).pipe(Layer.provide(Store.layerMemory)))
 *   )
 *
 * await Effect.runPromise(answer("session")) // => undefined
 * await Effect.runPromise(answer("project")) // => "approved"
 *
 * @category layers
 * @since 0.1.0
 */
export const layerProject = (options: {
  readonly project: string
  readonly timeToLive?: Duration.Input | undefined
}): Layer.Layer<never, never, Store.Store> =>
  Layer.effect(
    Memory.ApprovalMemory,
    Effect.gen(function*() {
      const around = yield* Memory.ApprovalMemory
      const session = around.remembers ? around : yield* makeSession()
      return withProject(session, yield* makeStore(options.timeToLive), options.project)
    })
  )

// =============================================================================
// Internals
// =============================================================================

const makeSession = Effect.fnUntraced(function*(options?: {
  readonly capacity?: number | undefined
  readonly timeToLive?: Duration.Input | undefined
}): Effect.fn.Return<Service, never, Scope.Scope> {
  const store = yield* Store.makeMemory({ capacity: options?.capacity ?? 10_000 })
  const memory = yield* make({ store, timeToLive: options?.timeToLive })
  let open = true
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      open = false
    })
  )
  // Whoever kept it longer than its scope finds it empty.
  const whileOpen = <A, E>(effect: Effect.Effect<A, E>, closed: A): Effect.Effect<A, E> =>
    Effect.suspend(() => open ? effect : Effect.succeed(closed))
  return {
    remembers: true,
    matching,
    find: (call, options) => whileOpen(memory.find(call, options), undefined),
    remember: (answered) => whileOpen(memory.remember(answered), undefined),
    list: (scope) => whileOpen(memory.list(scope), []),
    revoke: (scope, id) => whileOpen(memory.revoke(scope, id), false)
  }
})

const makeStore = (timeToLive: Duration.Input = Duration.days(30)): Effect.Effect<Service, never, Store.Store> =>
  Effect.flatMap(Store.Store, (store) => make({ store, timeToLive }))

/**
 * Two memories as one: what is said for the project, by whoever it is said, is remembered in the second one beyond the
 * conversation, and everything else in the first. A denial in either is stronger than any approval; an approval of the
 * session comes before one of the project, and one without uses before one that has some.
 */
const withProject = (session: Service, memory: Service, project: string): Service => {
  const scopeOf = ({ principal, tenant }: MemoryScope): MemoryScope => definedFields({ tenant, principal, project })
  const inProject = <Of extends MemoryCall>(of: Of): Of => ({ ...of, scope: scopeOf(of.scope) })

  const find: Service["find"] = Effect.fnUntraced(function*(call, options) {
    const behaviors = yield* matching.behaviors
    const both = [{ memory: session, call }, { memory, call: inProject(call) }]
    const known = yield* Effect.forEach(
      both,
      (one) => Effect.map(one.memory.find(one.call, { peek: true }), (found) => ({ ...one, found }))
    )
    const denials = known.flatMap(({ found }) => found?.decision === "denied" ? [found] : [])
    const denied = denials.find((denial) => matching.covers(denial, call, behaviors)) ?? denials[0]
    if (denied !== undefined) return denied
    const approving = known.filter(({ found }) => found !== undefined)
    const endless = approving.filter(({ found }) => found?.uses === undefined)
    for (const one of endless.length > 0 ? endless : approving) {
      const found = options?.peek === true ? one.found : yield* one.memory.find(one.call)
      if (found !== undefined) return found
    }
    return undefined
  })

  return {
    remembers: true,
    matching,
    project,
    find,
    remember: (answered) =>
      Memory.isForProject(answered.remember)
        ? memory.remember(inProject(answered))
        : session.remember(answered),
    list: (scope) =>
      Effect.zipWith(session.list(scope), memory.list(scopeOf(scope)), (own, shared) => [...own, ...shared]),
    revoke: (scope, id) =>
      Effect.flatMap(
        session.revoke(scope, id),
        (isRevoked) => isRevoked ? Effect.succeed(true) : memory.revoke(scopeOf(scope), id)
      )
  }
}
