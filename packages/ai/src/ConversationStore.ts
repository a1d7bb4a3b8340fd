/**
 * Where conversations are kept: their history, what they wait for, and who is taking a turn with them.
 *
 * A conversation is one record, written by compare-and-set. Whoever takes a turn writes so first, and everybody else
 * waits; a process that dies in a turn is found dead after six heartbeats, and the next one goes on from what it had
 * written. So two processes never interleave, and none overwrites what another has added.
 *
 * The default lives in this process's memory. {@link layerFileSystem} serves every process that uses the directory, and
 * {@link layerStore} goes over any `AtomicStore`.
 *
 * @since 0.1.0
 */
import * as Prompt from "effect/ai/Prompt"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import type * as Path from "effect/Path"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as Approval from "./Approval.ts"
import * as Approver from "./Approver.ts"
import * as AtomicStore from "./AtomicStore.ts"
import * as Liveness from "./internal/journal/liveness.ts"
import * as Cryptography from "./internal/seal/cryptography.ts"
import * as ScopeId from "./internal/store/scopeId.ts"
import * as Store from "./Store.ts"

// =============================================================================
// Models
// =============================================================================

/**
 * A conversation as it is kept. `open` are the requests it waits for, `answered` the ids of those that were answered in
 * a turn that ended before it could say what became of them, and `deciders` who answered them; `turn` is there while somebody takes one: `owner`
 * names their process, and `at` is when it began, in milliseconds since 1970-01-01T00:00Z.
 *
 * @category models
 * @since 0.1.0
 */
export class Kept extends Schema.Class<Kept>("@assent/ai/ConversationStore/Kept")({
  format: Schema.Literal(1),
  history: Prompt.Prompt,
  open: Schema.Array(Approval.ApprovalRequest),
  answered: Schema.optionalKey(Schema.Array(Schema.String)),
  deciders: Schema.optionalKey(Schema.Record(Schema.String, Approver.DecidedBy)),
  turn: Schema.optionalKey(Schema.Struct({ owner: Schema.String, at: Schema.Number }))
}) {}

/**
 * A conversation, and the version of its record.
 *
 * @category models
 * @since 0.1.0
 */
export interface Found {
  readonly version: number
  readonly kept: Kept
}

// =============================================================================
// Errors
// =============================================================================

/**
 * A conversation that cannot go on now. `description` says what happened, why, and what to do.
 *
 * - `Busy`: another turn is being taken, here or in another process, and did not end in time. Nothing was done.
 * - `Cancelled`: somebody cancelled the turn. What it did before is in the history.
 * - `Conflict`: another process went on with the conversation while this one, which seemed dead, was in a turn. What this
 *   turn added is not in the history; what ran under an approval is in the journal and does not run again.
 * - `Unreadable`: the record is not one of a conversation. It is left as it is.
 * - `Unwritable`: something that was said, or stands beside it, has no JSON. What the turn added since its last step is
 *   not in the history.
 * - `Unavailable`: the store could not do what it was asked.
 *
 * @category errors
 * @since 0.1.0
 */
export class ConversationError extends Schema.TaggedError<ConversationError>()("ConversationError", {
  reason: Schema.Literals(["Busy", "Cancelled", "Conflict", "Unreadable", "Unwritable", "Unavailable"]),
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
 * The operations of a store. `key` is what {@link keyOf} makes.
 *
 * @category services
 * @since 0.1.0
 */
export interface Service {
  /** Names this process in the turns it takes. */
  readonly owner: string
  readonly read: (key: string) => Effect.Effect<Found | undefined, ConversationError>
  /** Writes over that version, or anew where it is `undefined`; false if the record is another by now. */
  readonly write: (key: string, version: number | undefined, kept: Kept) => Effect.Effect<boolean, ConversationError>
  /** Whether the process that takes a turn lives. */
  readonly isAlive: (owner: string) => Effect.Effect<boolean, ConversationError>
  /** Waits for every other turn of this process with that conversation; until the scope ends, all others wait. */
  readonly hold: (key: string) => Effect.Effect<void, ConversationError, Scope.Scope>
}

/**
 * The store of a program. The default is in memory, one per process.
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
 * @category constructors
 * @since 0.1.0
 */
export const keyOf = (id: string, scope: Approval.ApprovalScope): Effect.Effect<string> =>
  ScopeId.make({ ...scope, conversation: id })

/**
 * Makes a store over an `AtomicStore`. `timeToLive` is how long a conversation is kept after its first turn (default: as
 * long as the store). `heartbeat` (for stores that processes share) is how often a process in a turn says that it lives.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function*(options: {
  readonly store: AtomicStore.AtomicStore
  readonly timeToLive?: Duration.Input | undefined
  readonly heartbeat?: Duration.Input | undefined
}): Effect.fn.Return<Service, never, Scope.Scope> {
  const { store } = options
  const owner = yield* Cryptography.randomToken(16)
  const timeToLive = Duration.toMillis(Duration.fromInputUnsafe(options.timeToLive ?? "Infinity"))
  const locks = new Map<string, Lock>()
  const liveness = Liveness.make({
    owners: ownersIn(store),
    owner,
    heartbeat: options.heartbeat === undefined ? undefined : Duration.fromInputUnsafe(options.heartbeat),
    isBusy: () => locks.size > 0,
    scope: yield* Effect.scope
  })
  const read: Service["read"] = (key) =>
    Effect.flatMap(Effect.mapError(store.get(key), unavailable), (stored) => {
      if (stored === undefined) return Effect.undefined
      const decoded = decode(stored.value)
      return Result.isSuccess(decoded)
        ? Effect.succeed({ version: stored.version, kept: decoded.success })
        : Effect.fail(
          new ConversationError({
            reason: "Unreadable",
            description:
              `The record "${key}" is not one of a conversation, or of a later version of this library. It is` +
              " left as it is; begin a conversation with another id."
          })
        )
    })
  const write: Service["write"] = Effect.fnUntraced(function*(key, version, kept) {
    const encoded = encode(kept)
    if (Result.isFailure(encoded)) {
      return yield* new ConversationError({
        reason: "Unwritable",
        description:
          `The conversation cannot be written as JSON: ${encoded.failure.message}. Nothing was written; what` +
          " providers and programs put beside a message (`options`) must be JSON."
      })
    }
    const value = encoded.success
    const expiresAt = Math.min((yield* Clock.currentTimeMillis) + timeToLive, Number.MAX_SAFE_INTEGER)
    return yield* Effect.mapError(
      version === undefined
        ? store.putIfAbsent(key, value, { expiresAt })
        : store.compareAndSet(key, version, value),
      unavailable
    )
  })
  return {
    owner,
    read,
    write,
    isAlive: (owner) => Effect.mapError(liveness.isAlive(owner), unavailable),
    hold: (key) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.gen(function*() {
          const lock = locks.get(key) ?? { semaphore: Semaphore.makeUnsafe(1), users: 0 }
          locks.set(key, lock)
          lock.users++
          const leave = Effect.sync(() => {
            lock.users--
            if (lock.users === 0) locks.delete(key)
          })
          yield* Effect.onError(restore(lock.semaphore.take(1)), () => leave)
          yield* Effect.addFinalizer(() => Effect.andThen(lock.semaphore.release(1), leave))
          yield* restore(Effect.mapError(liveness.beating, unavailable))
        })
      )
  }
})

// =============================================================================
// Layers
// =============================================================================

/**
 * A store in this process's memory. `capacity` (default 100,000) bounds how many conversations it keeps; a full one
 * refuses new ones.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerMemory = (options?: { readonly capacity?: number | undefined }): Layer.Layer<never> =>
  Layer.effect(
    ConversationStore,
    Effect.flatMap(AtomicStore.makeMemory({ capacity: options?.capacity }), (store) => make({ store }))
  )

/**
 * A store over any `AtomicStore`, which several processes may share.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerStore = (options?: {
  readonly timeToLive?: Duration.Input | undefined
  readonly heartbeat?: Duration.Input | undefined
}): Layer.Layer<never, never, AtomicStore.AtomicStore> =>
  Layer.effect(
    ConversationStore,
    Effect.flatMap(
      AtomicStore.AtomicStore,
      (store) => make({ store, timeToLive: options?.timeToLive, heartbeat: options?.heartbeat ?? "5 seconds" })
    )
  )

/**
 * A store in a folder, shared by every process that uses the folder: the journal's own, if you like.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerFileSystem = (options: {
  readonly directory: string
  readonly timeToLive?: Duration.Input | undefined
  readonly heartbeat?: Duration.Input | undefined
}): Layer.Layer<never, AtomicStore.AtomicStoreError, FileSystem.FileSystem | Path.Path> =>
  Layer.provide(layerStore(options), AtomicStore.layerFileSystem({ directory: options.directory }))

// =============================================================================
// Internals
// =============================================================================

interface Lock {
  readonly semaphore: Semaphore.Semaphore
  users: number
}

const codec = Schema.fromJsonString(Schema.toCodecJson(Kept))
const decode = Schema.decodeUnknownResult(codec)
const encode = Schema.encodeUnknownResult(codec)

const ownersIn = (store: AtomicStore.AtomicStore): Store.Owners => ({
  beat: ({ at, every, id }) =>
    Effect.mapError(
      store.put(`owner/${id}`, JSON.stringify([at, every]), { expiresAt: at + Store.margin }),
      storeError
    ),
  get: (id) =>
    Effect.mapError(
      Effect.map(store.get(`owner/${id}`), (stored) => {
        if (stored === undefined) return undefined
        const [at, every] = JSON.parse(stored.value)
        return { id, at, every }
      }),
      storeError
    )
})

const storeError = ({ description }: AtomicStore.AtomicStoreError) =>
  new Store.StoreError({ operation: "owners", description, reason: "Unavailable" })

const unavailable = (error: { readonly description: string }): ConversationError =>
  new ConversationError({ reason: "Unavailable", description: error.description })

const processStoreKey = Symbol.for("@assent/ai/ConversationStore/process")

// One per process even when the module is loaded twice (hot reload): what was said must not be forgotten.
const processStore = (): Service => {
  const slots = globalThis as { [processStoreKey]?: Service }
  return slots[processStoreKey] ??= Effect.runSync(
    AtomicStore.makeMemory().pipe(
      Effect.flatMap((store) => make({ store })),
      Effect.provideService(Scope.Scope, Scope.makeUnsafe())
    )
  )
}
