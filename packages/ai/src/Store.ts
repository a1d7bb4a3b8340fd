/**
 * Where everything is kept: conversations, requests and what became of them, what tools wait for, remembered answers, and
 * which processes live. A store keeps rows; what they mean is decided by the journal, the suspensions, the conversations and
 * the memory, which are made over one.
 *
 * {@link layerMemory} serves one process. `@assent/sql` has one for every process that uses the same database.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Memory from "./internal/store/memory.ts"
import type * as Model from "./internal/store/model.ts"
import * as Removed from "./internal/store/removed.ts"

export * from "./internal/store/model.ts"

const TypeId = "~@assent/ai/Store" as const

// =============================================================================
// Service
// =============================================================================

/**
 * A store.
 *
 * @category services
 * @since 0.1.0
 */
export interface Store extends Model.Operations {
  readonly [TypeId]: typeof TypeId
}

/**
 * The store of a program.
 *
 * @example
 * import { Store } from "@assent/ai"
 * import { Effect } from "effect"
 *
 * const said = (word: string) => ({ name: "talk", state: "{}", keep: 0, append: [JSON.stringify(word)] })
 *
 * const program = Effect.gen(function*() {
 *   const { atomically, conversations } = yield* Store.Store
 *   const version = yield* conversations.write("talk", undefined, said("Hello"))
 *   const failing = Effect.andThen(conversations.write("talk", version, said("No")), Effect.fail("no"))
 *   yield* Effect.flip(atomically(failing))
 *   return (yield* conversations.read("talk"))?.messages
 * })
 *
 * await Effect.runPromise(Effect.provide(program, Store.layerMemory)) // => ["\"Hello\""]
 *
 * @category services
 * @since 0.1.0
 */
export const Store: Context.Service<Store, Store> = Context.Service("@assent/ai/Store")

// =============================================================================
// Constructors
// =============================================================================

/**
 * Makes a store of its operations.
 *
 * @example
 * import { Conversation, ConversationStore, Store, Toolkit } from "@assent/ai"
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect } from "effect"
 *
 * // A store that counts what is read of it.
 * let reads = 0
 * const Counting = Effect.map(Store.makeMemory(), (store) =>
 *   Store.make({
 *     ...store,
 *     conversations: {
 *       ...store.conversations,
 *       read: (id) => Effect.tap(store.conversations.read(id), () => Effect.sync(() => reads++))
 *     }
 *   }))
 *
 * const program = Effect.gen(function*() {
 *   const conversation = yield* Conversation.make({ id: "ticket-1", toolkit: Toolkit.empty })
 *   return (yield* conversation.history).content.length
 * }).pipe(
 *   Effect.provide(ConversationStore.layerStore()),
 *   Effect.provideServiceEffect(Store.Store, Counting),
 *   Effect.provide(ScriptedModel.layer({ turns: [] }))
 * )
 *
 * await Effect.runPromise(program) // => 0
 * reads // => 1
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (operations: Model.Operations): Store => ({ ...operations, [TypeId]: TypeId })

/**
 * Makes a store in memory, for one process. It holds at most `capacity` rows (default 100,000) that somebody may still go on
 * with: when it is full, writing another fails with reason `Full`, and none is given up for it.
 *
 * Of requests that are settled it keeps what became of them, `maxSettled` (default 1,000,000, each of about 1 KB) beside the
 * others: once there are so many, nothing new may begin, and denials still go through. What they resulted in is given up, the
 * oldest first, beyond `maxResultBytes` (default 64 MiB, of characters).
 *
 * Of what happened to requests it tells the last `maxEvents` (default 10,000), for `eventTimeToLive` (default 7 days).
 *
 * @example
 * import { Store } from "@assent/ai"
 * import { Effect } from "effect"
 *
 * const program = Effect.gen(function*() {
 *   const store = yield* Store.makeMemory({ capacity: 1 })
 *   const talk = { name: "talk", state: "{}", keep: 0, append: [] }
 *   yield* store.conversations.write("one", undefined, talk)
 *   const error = yield* Effect.flip(store.conversations.write("two", undefined, talk))
 *   return error.reason
 * })
 *
 * await Effect.runPromise(program) // => "Full"
 *
 * @category constructors
 * @since 0.1.0
 */
export const makeMemory = (options?: {
  readonly capacity?: number | undefined
  readonly maxSettled?: number | undefined
  readonly maxResultBytes?: number | undefined
  readonly maxEvents?: number | undefined
  readonly eventTimeToLive?: Duration.Input | undefined
}): Effect.Effect<Store> =>
  Memory.make({
    ...options,
    eventLife: options?.eventTimeToLive === undefined
      ? undefined
      : Duration.toMillis(Duration.fromInputUnsafe(options.eventTimeToLive))
  }, make)

/**
 * The store in memory on which the defaults of this process stand: the journal, the suspensions and the conversations of a
 * program that provides none. There is one for each process, also where this module is loaded twice (hot reload).
 *
 * @example
 * import { Conversation, ConversationStore, Store, Toolkit } from "@assent/ai"
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect } from "effect"
 *
 * // A conversation for which no store was provided is in the store of the process.
 * const program = Effect.gen(function*() {
 *   const conversation = yield* Conversation.make({ id: "store-of-process", toolkit: Toolkit.empty })
 *   yield* conversation.send("Hello.")
 *   const { id } = yield* ConversationStore.keyOf("store-of-process", {})
 *   return yield* Store.ofProcess().conversations.get(id)
 * }).pipe(Effect.provide(ScriptedModel.layer({ turns: ["Good morning."] })))
 *
 * await Effect.runPromise(program).then((row) => row?.messages) // => 2
 *
 * @category constructors
 * @since 0.1.0
 */
export const ofProcess = (): Store => {
  const slots = globalThis as { [processStoreKey]?: Store }
  return slots[processStoreKey] ??= Effect.runSync(makeMemory())
}

// =============================================================================
// Layers
// =============================================================================

/**
 * A store in memory, as {@link makeMemory} makes it with its defaults.
 *
 * @example
 * import { ApprovalJournal, Conversation, ConversationStore, OpenRequests, Store } from "@assent/ai"
 * import { SuspensionStore, Tool, Toolkit } from "@assent/ai"
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect, Layer } from "effect"
 *
 * // Everything in one store, as a database would have it.
 * const Kept = Layer.mergeAll(ConversationStore.layerStore(), ApprovalJournal.layerStore(), SuspensionStore.layerStore)
 *   .pipe(Layer.provide(Store.layerMemory))
 * const toolkit = Toolkit.make(Tool.make("DeleteAll", { needsApproval: true }))
 *
 * const program = Effect.gen(function*() {
 *   const conversation = yield* Conversation.make({ id: "ticket-1", toolkit })
 *   yield* conversation.send("Clean up.")
 *   return (yield* OpenRequests.page()).requests.map(({ request }) => request.toolName)
 * }).pipe(
 *   Effect.provide(Kept),
 *   Effect.provide(toolkit.toLayer({ DeleteAll: () => Effect.void })),
 *   Effect.provide(
 *     ScriptedModel.layer({ turns: [[ScriptedModel.toolCall({ id: "call-1", name: "DeleteAll", params: {} })]] })
 *   )
 * )
 *
 * await Effect.runPromise(program) // => ["DeleteAll"]
 *
 * @category layers
 * @since 0.1.0
 */
export const layerMemory: Layer.Layer<Store> = Layer.effect(Store, makeMemory())

// =============================================================================
// Internals
// =============================================================================

const processStoreKey = Symbol.for("@assent/ai/Store/process")

// =============================================================================
// Removing
// =============================================================================

/**
 * What a store tells of a request when the conversation that asked it was removed: its names, for whoever was told of it
 * before, and nothing of what it was about (`EventRow.request`).
 *
 * @example
 * import { Store } from "@assent/ai"
 *
 * const request = JSON.stringify({ approvalId: "apr1.a", toolName: "SendMail", params: { text: "a secret" } })
 *
 * JSON.parse(Store.requestOfRemoved(request)).toolName // => "SendMail"
 * Store.requestOfRemoved(request).includes("secret") // => false
 *
 * @category removing
 * @since 0.1.0
 */
export const requestOfRemoved: (request: string) => string = Removed.requestOfRemoved
