/**
 * Where conversations are kept: their history, what they wait for, and who is taking a turn with them.
 *
 * A conversation is one row, and one for each of its messages: a turn writes only what it adds. Each write names the
 * version that the turn knows, so that two processes never interleave, and none overwrites what another has added.
 * Whoever takes a turn writes that first, and everybody else waits. A process that dies in a turn is found dead when
 * whoever waits has heard nothing of it for six heartbeats, by its own monotonic clock; the next one goes on from what
 * was written.
 *
 * The default lives in this process's memory. {@link layerStore} keeps conversations in a `Store`, for every process
 * that uses it.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as Approval from "./Approval.ts"
import * as Within from "./internal/agent/within.ts"
import * as Liveness from "./internal/journal/liveness.ts"
import * as Events from "./internal/kept/events.ts"
import * as Inbox from "./internal/kept/inbox.ts"
import * as Recent from "./internal/kept/recent.ts"
import * as Rows from "./internal/kept/rows.ts"
import type { Found, Kept, Key } from "./internal/kept/rows.ts"
import * as Stopping from "./internal/kept/stopping.ts"
import * as Turns from "./internal/kept/turns.ts"
import * as Unwritten from "./internal/kept/unwritten.ts"
import * as ScopeId from "./internal/store/scopeId.ts"
import * as Store from "./Store.ts"

// =============================================================================
// Models
// =============================================================================

export type { Found, Kept, Key } from "./internal/kept/rows.ts"

// =============================================================================
// Errors
// =============================================================================

/**
 * A conversation that cannot go on now. `description` says what happened, why, and what to do.
 *
 * - `Busy`: another turn is being taken, here or in another process, and did not end in time. Nothing was done.
 * - `Cancelled`: somebody cancelled the turn; or, for who reads it, whoever took it left, or their process ended. What it
 *   did before is in the history.
 * - `Conflict`: another process went on with the conversation while this one, which seemed dead, was in a turn. What this
 *   turn added is not in the history; what ran under an approval is in the journal and does not run again.
 * - `Unreadable`: what is kept is not a conversation. It is left as it is.
 * - `Unwritable`: something that was said, or stands beside it, has no JSON. What the turn added since its last step is
 *   not in the history.
 * - `Full`: the conversation has as many bytes as it may have, or the store has no room. Nothing more was said or run;
 *   what waits can still be denied, cancelled and cleared.
 * - `Unavailable`: the store could not do what it was asked.
 *
 * @category errors
 * @since 0.1.0
 */
export class ConversationError extends Schema.TaggedError<ConversationError>()("ConversationError", {
  reason: Schema.Literals(["Busy", "Cancelled", "Conflict", "Unreadable", "Unwritable", "Full", "Unavailable"]),
  description: Schema.String
}) {
  override get message(): string {
    return this.description
  }
}

// =============================================================================
// Service
// =============================================================================

/**
 * How a conversation is written. `begins`: the write begins a turn, which may say and run something. It fails with
 * `Full` where the conversation would then have more than `maxBytes`, or a quota of the store is used up. No quota
 * stands in the way of other writes.
 *
 * @category options
 * @since 0.1.0
 */
export interface WriteOptions {
  readonly begins?: boolean | undefined
}

/**
 * The operations of a store.
 *
 * @category services
 * @since 0.1.0
 */
export interface Service {
  /** Whether every conversation ends with this process, so that no approval of one is missed after a restart. */
  readonly inMemory?: boolean | undefined
  /** Names this process in the turns it takes. */
  readonly owner: string
  /** How many bytes (of UTF-8) the messages of one conversation may have, before no more is said in it. */
  readonly maxBytes: number
  /** Reads a conversation. If it is still the one that is `known`, that is given, and no message is read. */
  readonly read: (key: Key, known?: Found) => Effect.Effect<Found | undefined, ConversationError>
  /**
   * Writes over what was found, or anew where that is `undefined`. Gives `undefined` if it is another by now. A message
   * that is the same object in both has not changed, and is not written. The inbox then has exactly what waits in it.
   */
  readonly write: (
    key: Key,
    found: Found | undefined,
    kept: Kept,
    options?: WriteOptions
  ) => Effect.Effect<Found | undefined, ConversationError>
  /** Removes it, with all that waits in it. What was decided is not forgotten (law L2). */
  readonly remove: (key: Key) => Effect.Effect<void, ConversationError>
  /** What waits in all conversations. */
  readonly page: (
    filter: Inbox.Filter,
    options: { readonly after?: string | undefined; readonly limit: number }
  ) => Effect.Effect<Inbox.Page, ConversationError>
  /** What happened to the requests of all conversations, and how far those who read it have come. */
  readonly events: Events.Service<ConversationError>
  /**
   * Whether the process that takes a turn lives, as far as was seen: dead is only what has been silent for six
   * heartbeats.
   */
  readonly isAlive: (owner: string) => Effect.Effect<boolean, ConversationError>
  /** Waits for every other turn of this process with that conversation; until the scope ends, all others wait. */
  readonly hold: (key: Key) => Effect.Effect<void, ConversationError, Scope.Scope>
  /**
   * Carries out `stop` once, when the conversation is stopped: at once where that is done in this process, and within a
   * second where it is done in another. Gives a function to call when nothing of it goes on any more.
   */
  readonly onStop: (key: Key, stop: Effect.Effect<void>) => Effect.Effect<() => void, ConversationError>
  /** Stops what goes on in it, in every process. What goes on in this one has ended then. */
  readonly stop: (key: Key) => Effect.Effect<void, ConversationError>
  /**
   * Keeps in this process what a turn could not write, and tries again: for a few seconds where other processes may
   * wait for it, before the conversation is used here again (which fails as long as it cannot be written), and when the
   * store of conversations is closed.
   */
  readonly keepTrying: (key: Key, write: Effect.Effect<void, ConversationError>) => Effect.Effect<void>
  /**
   * The turns that are taken in this process. When the store is closed, those that belong to it are interrupted first, and
   * their ends are written.
   */
  readonly turns: Turns.Turns
  /** Tells those who wait for what other processes write; without it they look again from time to time. */
  readonly changes?: Store.Changes | undefined
}

/**
 * The store of a program. The default is in memory, one per process.
 *
 * @example
 * import { Conversation, ConversationStore, Toolkit } from "@assent/ai"
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect } from "effect"
 *
 * const program = Effect.gen(function*() {
 *   const conversation = yield* Conversation.make({ id: "ticket-1", toolkit: Toolkit.empty })
 *   yield* conversation.send("Where is my parcel?")
 *   const store = yield* ConversationStore.ConversationStore
 *   const found = yield* store.read(yield* ConversationStore.keyOf("ticket-1", {}))
 *   return found?.kept.history.content.map(({ role }) => role)
 * }).pipe(
 *   Effect.provide(ConversationStore.layerMemory()),
 *   Effect.provide(ScriptedModel.layer({ turns: ["It comes tomorrow."] }))
 * )
 *
 * await Effect.runPromise(program) // => ["user", "assistant"]
 *
 * @category references
 * @since 0.1.0
 */
export const ConversationStore: Context.Reference<Service> = Context.Reference<Service>(
  "@assent/ai/ConversationStore",
  { defaultValue: () => processStore() }
)

// =============================================================================
// Constructors
// =============================================================================

/**
 * The key of a conversation: its id, which may be any text, with the tenant and the principal it belongs to, so that no
 * two of them ever share one.
 *
 * @example
 * import { ConversationStore } from "@assent/ai"
 * import { Effect } from "effect"
 *
 * const keyOf = (principal: string) => Effect.runPromise(ConversationStore.keyOf("ticket-1", { principal }))
 *
 * const [ada, again, bob] = await Promise.all([keyOf("ada"), keyOf("ada"), keyOf("bob")])
 *
 * ada.id === again.id // => true
 * ada.id === bob.id // => false
 *
 * @category constructors
 * @since 0.1.0
 */
export const keyOf = (
  name: string,
  { principal, tenant }: Pick<Approval.ApprovalScope, "principal" | "tenant">
): Effect.Effect<Key> =>
  Effect.map(ScopeId.make({ tenant, principal, conversation: name }), (id) => ({ id, name, tenant, principal }))

/**
 * How conversations are kept.
 *
 * - `timeToLive` is how long a conversation is kept after the last thing that was written of it (default: as long as
 *   the store).
 * - `maxBytes` is how much may be said in one (default 64 MiB of JSON). From then on a turn that would add to it fails
 *   with `Full` before the model is called; denials, cancellations and `clear` still go through.
 * - `heartbeat` is how often a process in a turn says that it lives: by default every second where other processes may
 *   use the store too, and it cannot be switched off there. Such a process also looks every half second whether it is
 *   to stop.
 *
 * @category options
 * @since 0.1.0
 */
export interface Options {
  readonly timeToLive?: Duration.Input | undefined
  readonly maxBytes?: number | undefined
  readonly heartbeat?: Duration.Input | undefined
}

/**
 * Makes a store of conversations over a `Store`, which others may use as well, for as long as the scope. `inMemory`
 * says that the store ends with this process.
 *
 * @example
 * import { Conversation, ConversationStore, Store, Toolkit } from "@assent/ai"
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect } from "effect"
 *
 * const program = Effect.gen(function*() {
 *   const store = yield* ConversationStore.make({ store: yield* Store.makeMemory(), maxBytes: 1_000 })
 *   const conversation = yield* Conversation.make({ id: "ticket-1", toolkit: Toolkit.empty }).pipe(
 *     Effect.provideService(ConversationStore.ConversationStore, store)
 *   )
 *   const error = yield* Effect.flip(conversation.send("word ".repeat(1_000)))
 *   return error._tag === "ConversationError" && error.reason
 * }).pipe(Effect.scoped, Effect.provide(ScriptedModel.layer({ turns: [] })))
 *
 * await Effect.runPromise(program) // => "Full"
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function*(
  options: Options & { readonly store: Store.Store; readonly inMemory?: boolean | undefined }
): Effect.fn.Return<Service, never, Scope.Scope> {
  const { maxBytes = 64 * 1024 * 1024, store } = options
  const { conversations, requests } = store
  const timeToLive = Duration.toMillis(Duration.fromInputUnsafe(options.timeToLive ?? "Infinity"))
  const heartbeat = Liveness.heartbeatOf(store, options.heartbeat)
  const outer = yield* Effect.scope
  const scope = yield* Scope.fork(outer)
  const locks = new Map<string, Lock>()
  const liveness = yield* Liveness.make({ store, heartbeat, isBusy: () => locks.size > 0, scope })
  const unwritten = Unwritten.make<ConversationError>(scope)
  yield* Scope.addFinalizer(scope, unwritten.close)
  const turns = yield* Scope.provide(Turns.make, outer)
  const recent = Recent.make()
  const stopping = Stopping.make({
    conversations,
    changes: store.changes,
    every: options.heartbeat === undefined && heartbeat !== undefined ? "500 millis" : heartbeat,
    scope
  })

  const readAll = (key: Key) =>
    Effect.flatMap(conversations.read(key.id), (stored) => {
      if (stored === undefined) return Effect.undefined
      const found = Rows.decode(stored.row, stored.messages)
      if (found === undefined) return Effect.fail(unreadable)
      recent.set(key.id, found)
      return Effect.succeed(found)
    })

  const read: Service["read"] = (key, known) =>
    Effect.andThen(
      Effect.ignore(unwritten.settle(key.id)),
      Effect.suspend(() => readKept(key, known ?? recent.get(key.id)))
    )

  const readKept: Service["read"] = (key, known) =>
    Effect.mapError(
      known === undefined ? readAll(key) : Effect.flatMap(conversations.get(key.id), (row) => {
        if (row?.version !== known.version) return row === undefined ? Effect.undefined : readAll(key)
        const bytes = row.bytes - Rows.bytesOf(row.state)
        return Effect.succeed(bytes === known.bytes ? known : { ...known, bytes })
      }),
      failed
    )

  const write: Service["write"] = Effect.fnUntraced(function*(key, found, kept, options) {
    const written = yield* Effect.mapError(Effect.fromResult(Rows.encode(found, kept)), unwritable)
    const { append, bytes, keep, state } = written
    if (options?.begins === true && bytes > maxBytes) return yield* fullOf(maxBytes)
    const { closed, opened } = yield* Effect.mapError(Inbox.changes(key, found?.kept, kept), unwritable)
    const { id, name, principal, tenant } = key
    const now = yield* Clock.currentTimeMillis
    // A turn may take longer than that, and must find what it began with; a day after its last step its process is dead.
    const lifetime = kept.turn === undefined ? timeToLive : Math.max(timeToLive, Store.margin)
    // An agent's is kept as long as the outermost one, and goes with it.
    const isKept = timeToLive === Infinity || (key.within !== undefined && key.within.root !== id)
    const expiresAt = isKept ? undefined : now + lifetime
    const row = conversations.write(id, found?.version, {
      name,
      tenant,
      principal,
      ...Within.belongs(key.within, id),
      keep,
      append,
      state,
      expiresAt,
      begins: options?.begins
    })
    const version = yield* Effect.mapError(
      opened.length === 0 && closed.length === 0 ? row : store.atomically(Effect.gen(function*() {
        const version = yield* row
        if (version === undefined) return undefined
        for (const { ended, nonces } of closed) yield* requests.close(nonces, ended)
        if (opened.length > 0) yield* requests.open(opened)
        return version
      })),
      failed
    )
    if (version === undefined) return undefined
    const next: Found = { version, kept, bytes, ...(isAgent(key) ? { isAgent: true } : undefined) }
    recent.set(id, next)
    return next
  })

  return {
    inMemory: options.inMemory,
    changes: store.changes,
    owner: liveness.owner,
    maxBytes,
    read,
    write,
    remove: ({ id }) =>
      Effect.suspend(() => {
        recent.delete(id)
        return Effect.mapError(conversations.remove(id), failed)
      }),
    page: Effect.fnUntraced(function*({ conversation, ...filter }, options) {
      const key = conversation === undefined ? undefined : yield* keyOf(conversation, filter)
      const page = yield* Effect.mapError(requests.page({ ...filter, root: key?.id }, options), failed)
      return {
        requests: page.requests.flatMap((row) => Inbox.openRequest(row) ?? []),
        next: page.next
      }
    }),
    events: Events.make(store, failed),
    isAlive: (owner) => Effect.mapError(liveness.isAlive(owner), failed),
    hold: ({ id }) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.gen(function*() {
          const lock = locks.get(id) ?? { semaphore: Semaphore.makeUnsafe(1), users: 0 }
          locks.set(id, lock)
          lock.users++
          const leave = Effect.sync(() => {
            lock.users--
            if (lock.users === 0) locks.delete(id)
          })
          yield* Effect.onError(restore(lock.semaphore.take(1)), () => leave)
          yield* Effect.addFinalizer(() => Effect.andThen(lock.semaphore.release(1), leave))
          yield* restore(Effect.mapError(unwritten.settle(id), notWritten))
          yield* restore(Effect.mapError(liveness.beating, failed))
        })
      ),
    onStop: ({ id }, stop) => Effect.mapError(stopping.watch(id, stop), failed),
    stop: ({ id }) => Effect.mapError(stopping.stop(id), failed),
    turns,
    // What this process has left itself it takes over; others do so when it has been silent.
    keepTrying: ({ id }, write) =>
      Effect.andThen(unwritten.keep(id, write), heartbeat === undefined ? Effect.void : unwritten.retry(id))
  }
})

/**
 * Removes a conversation of the scope it is called in (`Approval.Scope`), with all that waits in it: nobody can answer
 * that any more. What was decided is not forgotten, so nothing runs again (law L2). `OpenRequests.events` still tells
 * of its requests, by their names, and nothing of what they were about.
 *
 * It waits for a turn that is being taken in this process; one in another process fails with `Conflict`.
 *
 * @example
 * import { Conversation, ConversationStore, Toolkit } from "@assent/ai"
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect } from "effect"
 *
 * const program = Effect.gen(function*() {
 *   const conversation = yield* Conversation.make({ id: "ticket-1", toolkit: Toolkit.empty })
 *   yield* conversation.send("Forget what I told you.")
 *   const before = (yield* conversation.history).content.length
 *   yield* ConversationStore.remove("ticket-1")
 *   return [before, (yield* conversation.history).content.length]
 * }).pipe(
 *   Effect.provide(ConversationStore.layerMemory()),
 *   Effect.provide(ScriptedModel.layer({ turns: ["I have."] }))
 * )
 *
 * await Effect.runPromise(program) // => [2, 0]
 *
 * @category removing
 * @since 0.1.0
 */
export const remove = (id: string): Effect.Effect<void, ConversationError> =>
  Effect.scoped(Effect.gen(function*() {
    const store = yield* ConversationStore
    const key = yield* keyOf(id, yield* Approval.Scope)
    yield* store.hold(key)
    yield* store.remove(key)
  }))

// =============================================================================
// Layers
// =============================================================================

/**
 * A store in this process's memory. `capacity` (default 100,000) bounds how many conversations, messages and open requests
 * it keeps; a full one refuses new ones.
 *
 * @example
 * import { Conversation, ConversationStore, Toolkit } from "@assent/ai"
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect } from "effect"
 *
 * const Day = ConversationStore.layerMemory({ timeToLive: "1 day" })
 * const ticket = Conversation.make({ id: "ticket-1", toolkit: Toolkit.empty })
 * const kept = Effect.flatMap(ticket, (conversation) => conversation.history)
 *
 * const program = Effect.gen(function*() {
 *   const here = yield* Effect.provide(
 *     Effect.andThen(Effect.flatMap(ticket, (conversation) => conversation.send("Where is my parcel?")), kept),
 *     Day
 *   )
 *   // Another store, as after a restart, has nothing of it.
 *   const later = yield* Effect.provide(kept, Day)
 *   return [here.content.length, later.content.length]
 * }).pipe(Effect.provide(ScriptedModel.layer({ turns: ["It comes tomorrow."] })))
 *
 * await Effect.runPromise(program) // => [2, 0]
 *
 * @category layers
 * @since 0.1.0
 */
export const layerMemory = (
  options?: Omit<Options, "heartbeat"> & { readonly capacity?: number | undefined }
): Layer.Layer<never> =>
  Layer.effect(
    ConversationStore,
    Effect.flatMap(Store.makeMemory({ capacity: options?.capacity }), (store) =>
      make({ ...options, store, inMemory: true }))
  )

/**
 * A store of conversations over the `Store` of the program, which several processes may share.
 *
 * @example
 * import { Conversation, ConversationStore, Store, Toolkit } from "@assent/ai"
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect } from "effect"
 *
 * const inAProcess = (words: string, answer: string) =>
 *   Effect.gen(function*() {
 *     const conversation = yield* Conversation.make({ id: "ticket-1", toolkit: Toolkit.empty })
 *     yield* conversation.send(words)
 *   }).pipe(
 *     Effect.provide(ConversationStore.layerStore()),
 *     Effect.provide(ScriptedModel.layer({ turns: [answer] }))
 *   )
 *
 * // With a store of `@assent/sql`, this holds for processes that follow each other or live side by side.
 * const program = Effect.gen(function*() {
 *   yield* inAProcess("Where is my parcel?", "It comes tomorrow.")
 *   yield* inAProcess("Thank you.", "You are welcome.")
 *   const { conversations } = yield* Store.Store
 *   const { id } = yield* ConversationStore.keyOf("ticket-1", {})
 *   return (yield* conversations.get(id))?.messages
 * })
 *
 * await Effect.runPromise(Effect.provide(program, Store.layerMemory)) // => 4
 *
 * @category layers
 * @since 0.1.0
 */
export const layerStore = (options?: Options): Layer.Layer<never, never, Store.Store> =>
  Layer.effect(ConversationStore, Effect.flatMap(Store.Store, (store) => make({ ...options, store })))

// =============================================================================
// Internals
// =============================================================================

interface Lock {
  readonly semaphore: Semaphore.Semaphore
  users: number
}

const isAgent = ({ id, within }: Key): boolean => Within.belongs(within, id).parent !== undefined

const unreadable = new ConversationError({
  reason: "Unreadable",
  description:
    "What is kept under the id of this conversation is not a conversation, or one of a later version of this" +
    " library. It is left as it is; begin a conversation with another id."
})

const unwritable = ({ message }: Schema.SchemaError): ConversationError =>
  new ConversationError({
    reason: "Unwritable",
    description: `The conversation cannot be written as JSON: ${message}. Nothing was written; what` +
      " providers and programs put beside a message (`options`) must be JSON."
  })

const fullOf = (maxBytes: number): ConversationError =>
  new ConversationError({
    reason: "Full",
    description:
      `A conversation may have ${maxBytes} bytes (\`maxBytes\`), and this one would have more. Nothing more was` +
      " said or run. What waits can still be denied, cancelled and cleared; to go on, begin a conversation with another id."
  })

const notWritten = ({ description, reason }: ConversationError): ConversationError =>
  new ConversationError({
    reason,
    description:
      `${description} What was said last in this conversation is not written yet. It is kept in this process, and` +
      " nothing more is said before it is written."
  })

const failed = (error: ConversationError | Store.StoreError): ConversationError =>
  error instanceof ConversationError ? error : new ConversationError({
    reason: error.reason === "Full" ? "Full" : error.reason === "Corrupt" ? "Unreadable" : "Unavailable",
    description: error.description
  })

const processStoreKey = Symbol.for("@assent/ai/ConversationStore/process")

// One per process even when the module is loaded twice (hot reload): what was said must not be forgotten.
const processStore = (): Service => {
  const slots = globalThis as { [processStoreKey]?: Service }
  return slots[processStoreKey] ??= Effect.runSync(
    Effect.provideService(make({ store: Store.ofProcess(), inMemory: true }), Scope.Scope, Scope.makeUnsafe())
  )
}
