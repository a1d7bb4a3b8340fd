/**
 * What waiting tools must remember: kept here under the id of the request, and never with the client or the model.
 *
 * A suspension is written once, taken once, and ends once, each in one step, whichever processes race for it. Beside it
 * stand the answers that come from elsewhere than the message history: a webhook's, or the program's own.
 *
 * The default lives in this process's memory. {@link layerStore} goes over any `Store`, which processes may share. Give
 * the journal the same one, so that what a tool waits for is kept together with the journal's word that it does.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Schema from "effect/Schema"
import * as Semaphore from "effect/Semaphore"
import * as ApprovalError from "./ApprovalError.ts"
import * as Approver from "./Approver.ts"
import * as Bounds from "./internal/bounds.ts"
import * as Logging from "./internal/logging.ts"
import * as Changes from "./internal/store/changes.ts"
import * as MemoryCore from "./internal/store/memoryCore.ts"
import * as Records from "./internal/waiting/suspensionRecords.ts"
import { outermost, type Suspension } from "./internal/waiting/suspensionRecords.ts"
import * as Store from "./Store.ts"

// =============================================================================
// Models
// =============================================================================

export { Suspension } from "./internal/waiting/suspensionRecords.ts"

export type { Found, ListOptions, Page } from "./internal/waiting/suspensionRecords.ts"

/**
 * What a store does. All of it fails with `SuspensionsUnavailable` when it cannot be done.
 *
 * @category services
 * @since 0.1.0
 */
export interface Service extends Records.Records {
  /** Whether the program named this store. The default one is not: with a configured key it is refused. */
  readonly named: boolean
  /** Tells those who wait that something is due; without it they look again from time to time. */
  readonly changes?: Store.Changes | undefined
}

/**
 * The store of a program. The default is in memory, one per process.
 *
 * @example
 * import { DeferredTool, Interaction, LanguageModel, SuspensionStore, Toolkit } from "@assent/ai"
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect } from "effect"
 *
 * const Remind = DeferredTool.make("Remind", { interactions: { later: Interaction.timer } })
 * const toolkit = Toolkit.make(Remind)
 * const Handlers = toolkit.toLayer({
 *   Remind: DeferredTool.handler(Remind, {
 *     start: () => Remind.suspend.later({ after: "1 day" }),
 *     resume: { later: () => Effect.void }
 *   })
 * })
 *
 * const program = Effect.gen(function*() {
 *   yield* LanguageModel.generateText({ prompt: "Remind me.", toolkit })
 *   const store = yield* SuspensionStore.SuspensionStore
 *   return (yield* store.list()).suspensions.map((one) => [one.toolName, one.awaited.name])
 * }).pipe(
 *   Effect.provide(SuspensionStore.layerMemory),
 *   Effect.provide(Handlers),
 *   Effect.provide(ScriptedModel.layer({ turns: [[ScriptedModel.toolCall({ id: "1", name: "Remind", params: {} })]] }))
 * )
 *
 * await Effect.runPromise(program) // => [["Remind", "later"]]
 *
 * @category references
 * @since 0.1.0
 */
export const SuspensionStore: Context.Reference<Service> = Context.Reference<Service>("@assent/ai/SuspensionStore", {
  defaultValue: () => processStore()
})

// =============================================================================
// Constructors
// =============================================================================

/**
 * Makes a store of suspensions over a `Store`, which others may use as well.
 *
 * @example
 * import { ApprovalJournal, DeferredTool, Interaction, LanguageModel } from "@assent/ai"
 * import { Store, SuspensionStore, Toolkit } from "@assent/ai"
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect } from "effect"
 *
 * const Remind = DeferredTool.make("Remind", { interactions: { later: Interaction.timer } })
 * const toolkit = Toolkit.make(Remind)
 * const Handlers = toolkit.toLayer({
 *   Remind: DeferredTool.handler(Remind, {
 *     start: () => Remind.suspend.later({ after: "1 day" }),
 *     resume: { later: () => Effect.void }
 *   })
 * })
 *
 * const program = Effect.gen(function*() {
 *   const store = yield* Store.makeMemory()
 *   // The journal's word that a tool waits, and what it waits for, are in one store.
 *   const suspensions = SuspensionStore.make({ store })
 *   yield* LanguageModel.generateText({ prompt: "Remind me.", toolkit }).pipe(
 *     Effect.provideService(ApprovalJournal.ApprovalJournal, yield* ApprovalJournal.make({ store })),
 *     Effect.provideService(SuspensionStore.SuspensionStore, suspensions)
 *   )
 *   return (yield* suspensions.list()).suspensions.length
 * }).pipe(
 *   Effect.scoped,
 *   Effect.provide(Handlers),
 *   Effect.provide(ScriptedModel.layer({ turns: [[ScriptedModel.toolCall({ id: "1", name: "Remind", params: {} })]] }))
 * )
 *
 * await Effect.runPromise(program) // => 1
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: {
  readonly store: Store.RequestOperations
  readonly named?: boolean | undefined
}): Service => ({
  named: options.named ?? true,
  changes: options.store.changes,
  ...Records.make(options.store)
})

// =============================================================================
// Layers
// =============================================================================

/**
 * A store in this process's memory, and the program's word that a restart may forget what waits.
 *
 * @example
 * import { SuspensionStore } from "@assent/ai"
 * import { Effect } from "effect"
 *
 * const named = Effect.map(SuspensionStore.SuspensionStore, (store) => store.named)
 *
 * await Effect.runPromise(named) // => false
 * await Effect.runPromise(Effect.provide(named, SuspensionStore.layerMemory)) // => true
 *
 * @category layers
 * @since 0.1.0
 */
export const layerMemory: Layer.Layer<never> = Layer.effect(
  SuspensionStore,
  Effect.map(Store.makeMemory(), (store) => make({ store }))
)

/**
 * A store of suspensions over any `Store`, which several processes may share.
 *
 * @example
 * import { ApprovalJournal, DeferredTool, Interaction, LanguageModel } from "@assent/ai"
 * import { Store, SuspensionStore, Toolkit } from "@assent/ai"
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect, Layer } from "effect"
 *
 * const Remind = DeferredTool.make("Remind", { interactions: { later: Interaction.timer } })
 * const toolkit = Toolkit.make(Remind)
 * const Handlers = toolkit.toLayer({
 *   Remind: DeferredTool.handler(Remind, {
 *     start: () => Remind.suspend.later({ after: "1 day" }),
 *     resume: { later: () => Effect.void }
 *   })
 * })
 * const AProcess = Layer.merge(ApprovalJournal.layerStore(), SuspensionStore.layerStore)
 * const Model = ScriptedModel.layer({ turns: [[ScriptedModel.toolCall({ id: "1", name: "Remind", params: {} })]] })
 *
 * const program = Effect.gen(function*() {
 *   yield* Effect.provide(LanguageModel.generateText({ prompt: "Remind me.", toolkit }), AProcess)
 *   const another = yield* Effect.provide(SuspensionStore.SuspensionStore, AProcess)
 *   const [waiting] = (yield* another.list()).suspensions
 *   // A process that does not share the store does not know that it waits.
 *   const alone = yield* SuspensionStore.SuspensionStore
 *   return [waiting?.toolName, yield* alone.find(waiting!.approvalId)]
 * }).pipe(Effect.provide([Handlers, Model]), Effect.provide(Store.layerMemory))
 *
 * await Effect.runPromise(program) // => ["Remind", undefined]
 *
 * @category layers
 * @since 0.1.0
 */
export const layerStore: Layer.Layer<never, never, Store.Store> = Layer.effect(
  SuspensionStore,
  Effect.map(Store.Store, (store) => make({ store }))
)

// =============================================================================
// Answers and timers
// =============================================================================

/**
 * Who answers, and by which channel (default: `"program"`).
 *
 * @category options
 * @since 0.1.0
 */
export interface DeliverOptions {
  readonly by?: Approver.Person | undefined
  readonly via?: string | undefined
}

/**
 * Gives an encoded answer to an open suspension, without looking at its schema; `DeferredTool.deliver` checks it first.
 *
 * Fails with `UnknownApproval`, with `InvalidAnswer` for an answer that is too large or too deep, with `Expired`, with
 * `AlreadyDecided`, and with `NotAnApprover`: where the tool named who may answer, and it is somebody else, or only
 * somebody of one of several lists (law L16).
 *
 * @example
 * import { DeferredTool, Interaction, LanguageModel, Response, SuspensionStore, Toolkit } from "@assent/ai"
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect, Schema } from "effect"
 *
 * const Build = DeferredTool.make("Build", { interactions: { ended: Interaction.external(Schema.String) } })
 * const toolkit = Toolkit.make(Build)
 * const Handlers = toolkit.toLayer({
 *   Build: DeferredTool.handler(Build, { start: () => Build.suspend.ended({}), resume: { ended: () => Effect.void } })
 * })
 *
 * const program = Effect.gen(function*() {
 *   const turn = yield* LanguageModel.generateText({ prompt: "Build it.", toolkit })
 *   const [request] = Response.approvalRequests(turn)
 *   yield* SuspensionStore.deliver(request!.approvalId, "green", { by: { id: "ci" } })
 *   const second = yield* Effect.flip(SuspensionStore.deliver(request!.approvalId, "red"))
 *   const found = yield* (yield* SuspensionStore.SuspensionStore).find(request!.approvalId)
 *   return [found?.delivered, found?.deliveredBy?.id, second.reason._tag]
 * }).pipe(
 *   Effect.provide(Handlers),
 *   Effect.provide(ScriptedModel.layer({ turns: [[ScriptedModel.toolCall({ id: "1", name: "Build", params: {} })]] }))
 * )
 *
 * await Effect.runPromise(program) // => ["green", "ci", "AlreadyDecided"]
 *
 * @category answering
 * @since 0.1.0
 */
export const deliver = Effect.fnUntraced(function*(
  approvalId: string,
  answer: Schema.Json,
  options?: DeliverOptions
): Effect.fn.Return<void, ApprovalError.ApprovalError> {
  const excess = Bounds.check(answer, Bounds.answer)
  if (excess !== undefined) {
    const description = `it is ${Bounds.describe(excess, Bounds.answer)}.`
    return yield* ApprovalError.make(
      new ApprovalError.InvalidAnswer({ approvalId: approvalId.slice(0, 64), description })
    )
  }
  const store = yield* SuspensionStore
  const found = yield* store.find(approvalId)
  if (found === undefined) {
    return yield* ApprovalError.make(new ApprovalError.UnknownApproval({ approvalId: approvalId.slice(0, 64) }))
  }
  const { expiresAt } = found.suspension
  if (found.status === "open" && expiresAt <= (yield* Clock.currentTimeMillis)) {
    return yield* ApprovalError.make(new ApprovalError.Expired({ approvalId, expiredAt: expiresAt }))
  }
  const decidedBy = Approver.decidedBy(options?.by, options?.via ?? "program")
  const lists = Approver.lists(found.suspension.awaited.approvers)
  // It is given once, so nobody but one who may give it for all is let take the place (law L16).
  if (found.status === "open" && !lists.every((ids) => decidedBy.id !== undefined && ids.includes(decidedBy.id))) {
    const problem = decidedBy.id === undefined ? "unknown" : "not named"
    return yield* ApprovalError.make(
      new ApprovalError.NotAnApprover({ approvalId, approvers: lists, decidedBy, problem })
    )
  }
  if (found.status !== "open" || !(yield* store.deliver(approvalId, answer, decidedBy))) {
    return yield* ApprovalError.make(
      new ApprovalError.AlreadyDecided({ approvalId, state: found.status === "over" ? "done" : "answered" })
    )
  }
})

/**
 * Looks for timers that are due, and for what nobody has answered in time, and calls `wake` for each, so that its
 * conversation takes a turn. It goes on until it is interrupted, and looks every `interval` (default 1 second). What
 * became due while no program ran, in the last thirty days, is woken at once. A `wake` that fails is called again with
 * the next look.
 *
 * It also wakes those that were answered with {@link deliver}, by a webhook for example, where the process that took
 * the answer died before the conversation took its turn.
 *
 * At most eight conversations are woken at once, and none of them keeps the next look waiting. Two processes that watch
 * one store may both call `wake`; a turn too many does nothing.
 *
 * @example
 * import { ApprovalJournal, Conversation, ConversationStore, DeferredTool, Interaction } from "@assent/ai"
 * import { Store, SuspensionStore, Toolkit } from "@assent/ai"
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect, Layer } from "effect"
 * import { TestClock } from "effect/testing"
 *
 * const Remind = DeferredTool.make("Remind", { interactions: { later: Interaction.timer } })
 * const toolkit = Toolkit.make(Remind)
 * const Handlers = toolkit.toLayer({
 *   Remind: DeferredTool.handler(Remind, {
 *     start: () => Remind.suspend.later({ after: "1 day" }),
 *     resume: { later: () => Effect.void }
 *   })
 * })
 *
 * const program = Effect.gen(function*() {
 *   const conversation = yield* Conversation.make({ id: "timers-1", toolkit })
 *   yield* Effect.forkScoped(SuspensionStore.watchTimers(() => conversation.wake, { interval: "1 hour" }))
 *   yield* conversation.send("Remind me.")
 *   const before = (yield* conversation.pending()).length
 *   yield* TestClock.adjust("25 hours")
 *   return [before, (yield* conversation.pending()).length]
 * }).pipe(
 *   Effect.scoped,
 *   // The default store is of the whole process, whose clock is not the test's.
 *   Effect.provide(Layer.mergeAll(ApprovalJournal.layerStore(), ConversationStore.layerStore(), SuspensionStore.layerStore)),
 *   Effect.provide(Store.layerMemory),
 *   Effect.provide(Handlers),
 *   Effect.provide(ScriptedModel.layer({
 *     turns: [[ScriptedModel.toolCall({ id: "1", name: "Remind", params: {} })], "Here I am."]
 *   })),
 *   Effect.provide(TestClock.layer())
 * )
 *
 * await Effect.runPromise(program) // => [1, 0]
 *
 * @category timers
 * @since 0.1.0
 */
export const watchTimers = <E, R>(
  wake: (suspension: Suspension) => Effect.Effect<unknown, E, R>,
  options?: { readonly interval?: Duration.Input | undefined }
): Effect.Effect<never, never, R> =>
  Effect.suspend(() => {
    const permits = Semaphore.makeUnsafe(concurrentWakes)
    // A turn may take longer than it is to the next look; it is not called for again meanwhile, and keeps nobody waiting.
    const waking = new Set<string>()
    const begin = (suspension: Suspension) => {
      if (waking.has(suspension.approvalId)) return Effect.void
      waking.add(suspension.approvalId)
      return wakeOne(wake, suspension).pipe(
        permits.withPermit,
        Effect.catch(couldNotLook),
        Effect.ensuring(Effect.sync(() => waking.delete(suspension.approvalId))),
        Effect.forkChild
      )
    }
    return Effect.flatMap(SuspensionStore, ({ changes }) =>
      Effect.suspend(() => {
        const changed = Changes.watch(changes, "due")
        return allDue.pipe(
          Effect.flatMap((due) => Effect.forEach(due, begin, { discard: true })),
          Effect.catch(couldNotLook),
          Effect.delay(0),
          Effect.andThen(changed(options?.interval ?? "1 second"))
        )
      }).pipe(Effect.forever))
  })

/**
 * Calls `wake` once for each that is due now: one look of {@link watchTimers}. Where the store cannot note that one was
 * woken, it fails with `SuspensionsUnavailable`, after all the others.
 *
 * @example
 * import { ApprovalJournal, Conversation, ConversationStore, DeferredTool, Interaction } from "@assent/ai"
 * import { Store, SuspensionStore, Toolkit } from "@assent/ai"
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect, Layer } from "effect"
 * import { TestClock } from "effect/testing"
 *
 * const Remind = DeferredTool.make("Remind", { interactions: { later: Interaction.timer } })
 * const toolkit = Toolkit.make(Remind)
 * const Handlers = toolkit.toLayer({
 *   Remind: DeferredTool.handler(Remind, {
 *     start: () => Remind.suspend.later({ after: "1 day" }),
 *     resume: { later: () => Effect.void }
 *   })
 * })
 *
 * const program = Effect.gen(function*() {
 *   const conversation = yield* Conversation.make({ id: "timers-2", toolkit })
 *   yield* conversation.send("Remind me.")
 *   yield* TestClock.adjust("1 day")
 *   // As a job that runs each minute does it.
 *   yield* SuspensionStore.wakeDue(() => conversation.wake)
 *   return [(yield* conversation.pending()).length, (yield* conversation.history).content.at(-1)?.role]
 * }).pipe(
 *   // The default store is of the whole process, whose clock is not the test's.
 *   Effect.provide(Layer.mergeAll(ApprovalJournal.layerStore(), ConversationStore.layerStore(), SuspensionStore.layerStore)),
 *   Effect.provide(Store.layerMemory),
 *   Effect.provide(Handlers),
 *   Effect.provide(ScriptedModel.layer({
 *     turns: [[ScriptedModel.toolCall({ id: "1", name: "Remind", params: {} })], "Here I am."]
 *   })),
 *   Effect.provide(TestClock.layer())
 * )
 *
 * await Effect.runPromise(program) // => [0, "assistant"]
 *
 * @category timers
 * @since 0.1.0
 */
export const wakeDue = <E, R>(
  wake: (suspension: Suspension) => Effect.Effect<unknown, E, R>
): Effect.Effect<void, ApprovalError.ApprovalError, R> =>
  allDue.pipe(
    Effect.flatMap((due) =>
      Effect.forEach(due, (suspension) => Effect.exit(wakeOne(wake, suspension)), { concurrency: concurrentWakes })
    ),
    Effect.flatMap((woken) => Effect.forEach(woken, (exit) => exit, { discard: true }))
  )

// =============================================================================
// Internals
// =============================================================================

const concurrentWakes = 8

const allDue = Effect.gen(function*() {
  const store = yield* SuspensionStore
  return yield* store.due({ now: yield* Clock.currentTimeMillis, limit: Number.POSITIVE_INFINITY })
})

const wakeOne = <E, R>(
  wake: (suspension: Suspension) => Effect.Effect<unknown, E, R>,
  suspension: Suspension
): Effect.Effect<void, ApprovalError.ApprovalError, R> =>
  Effect.matchCauseEffect(wake(outermost(suspension)), {
    onFailure: (cause) => Logging.warning(`Assent could not wake the conversation of "${suspension.toolName}".`, cause),
    onSuccess: () => Effect.flatMap(SuspensionStore, (store) => store.told(suspension))
  })

const couldNotLook = ({ message }: ApprovalError.ApprovalError) =>
  Effect.logWarning(`Assent could not look for timers: ${message}`)

const processStoreKey = Symbol.for("@assent/ai/SuspensionStore/process")

// One per process even when the module is loaded twice (hot reload): what waits must not be forgotten.
const processStore = (): Service => {
  const slots = globalThis as { [processStoreKey]?: Service }
  return slots[processStoreKey] ??= make({ store: MemoryCore.ofProcess().operations, named: false })
}
