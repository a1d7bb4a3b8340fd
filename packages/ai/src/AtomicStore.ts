/**
 * A small store in which of several who want to write a key exactly one does: what at-most-once (law L2) rests on.
 *
 * A key is written once with `putIfAbsent` and from then on only with `compareAndSet`, which names the version it
 * replaces. `put` is for heartbeats: the last writer wins, and nothing may be decided by it.
 *
 * {@link layerMemory} serves one process, {@link layerFileSystem} every process that uses the directory. Other stores
 * are made with {@link make}; a `KeyValueStore` cannot serve as one, because it has no compare-and-set.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import type * as Path from "effect/Path"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Expiries from "./internal/store/expiries.ts"
import * as Failure from "./internal/store/failure.ts"
import * as Files from "./internal/store/fileSystem.ts"
import * as OrderedKeys from "./internal/store/orderedKeys.ts"
import * as Text from "./internal/text.ts"

const TypeId = "~@assent/ai/AtomicStore" as const

// =============================================================================
// Models
// =============================================================================

/**
 * What a key holds. Versions count from 0; a key that expired and was written anew starts at 0 again, so let keys
 * outlive everyone who remembers a version of them. A key that `put` writes stays at version 0.
 *
 * @category models
 * @since 0.1.0
 */
export interface Stored {
  readonly version: number
  readonly value: string
}

/**
 * The operations of a store. Keys are 1 to 512 characters of `A-Z a-z 0-9 . _ ~ : / -`; upper and lower case are
 * different everywhere. `expiresAt` is in milliseconds since 1970-01-01T00:00Z: from then on, by the `Clock`, the key
 * reads as absent. `false` means that nothing was written.
 *
 * @category models
 * @since 0.1.0
 */
export interface AtomicStore {
  readonly [TypeId]: typeof TypeId
  /** The value of a key, or `undefined` if it was never written or has expired. */
  readonly get: (key: string) => Effect.Effect<Stored | undefined, AtomicStoreError>
  /** Writes version 0 if the key was never written or has expired. Exactly one of several racing callers gets true. */
  readonly putIfAbsent: (
    key: string,
    value: string,
    options: { readonly expiresAt: number }
  ) => Effect.Effect<boolean, AtomicStoreError>
  /**
   * Writes version `expected + 1` if the key stands at `expected`, with the expiry it has. Exactly one of several
   * racing callers gets true.
   */
  readonly compareAndSet: (key: string, expected: number, value: string) => Effect.Effect<boolean, AtomicStoreError>
  /** Writes whatever was there; for heartbeats, not for decisions. Fails over a live key of the two above. */
  readonly put: (
    key: string,
    value: string,
    options: { readonly expiresAt: number }
  ) => Effect.Effect<void, AtomicStoreError>
  /** The keys that start with `prefix`, in order, after `after`, at most `limit` (default 100). */
  readonly listByPrefix: (prefix: string, options?: {
    readonly after?: string | undefined
    readonly limit?: number | undefined
  }) => Effect.Effect<ReadonlyArray<string>, AtomicStoreError>
}

// =============================================================================
// Errors
// =============================================================================

/**
 * A store that could not do what it was asked. `description` says what happened, why, and what to do.
 *
 * - `Full`: there is no room, in the store's capacity or on the disk. Nothing live is given up to make some.
 * - `Corrupt`: a file does not say what it should; `description` names it. The key is neither present nor absent.
 * - `Unavailable`: everything else, a key that cannot be one included.
 *
 * @category errors
 * @since 0.1.0
 */
export class AtomicStoreError extends Schema.TaggedError<AtomicStoreError>()("AtomicStoreError", {
  method: Schema.Literals(["open", "get", "putIfAbsent", "compareAndSet", "put", "listByPrefix"]),
  key: Schema.String,
  description: Schema.String,
  reason: Schema.Literals(["Full", "Unavailable", "Corrupt"])
}) {
  override get message(): string {
    return this.description
  }
}

// =============================================================================
// Service
// =============================================================================

/**
 * The store of a program.
 *
 * @example
 * import { AtomicStore } from "@assent/ai"
 * import { Effect } from "effect"
 *
 * const program = Effect.gen(function*() {
 *   const store = yield* AtomicStore.AtomicStore
 *   yield* store.putIfAbsent("door", "open", { expiresAt: Date.now() + 60_000 })
 *   yield* store.compareAndSet("door", 0, "closed")
 *   const late = yield* store.compareAndSet("door", 0, "open")
 *   return [late, yield* store.get("door")]
 * })
 *
 * const result = Effect.provide(program, AtomicStore.layerMemory)
 *
 * await Effect.runPromise(result) // => [false, { version: 1, value: "closed" }]
 *
 * @category services
 * @since 0.1.0
 */
export const AtomicStore: Context.Service<AtomicStore, AtomicStore> = Context.Service("@assent/ai/AtomicStore")

// =============================================================================
// Constructors
// =============================================================================

/**
 * Makes a store of its operations, which are then only called with keys, expiries and limits that are valid.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (operations: Omit<AtomicStore, typeof TypeId>): AtomicStore => ({
  [TypeId]: TypeId,
  get: (key) => ifUsable("get", key, undefined, () => operations.get(key)),
  putIfAbsent: (key, value, options) =>
    ifUsable("putIfAbsent", key, options.expiresAt, () => operations.putIfAbsent(key, value, options)),
  compareAndSet: (key, expected, value) =>
    ifUsable("compareAndSet", key, undefined, () => operations.compareAndSet(key, expected, value)),
  put: (key, value, options) => ifUsable("put", key, options.expiresAt, () => operations.put(key, value, options)),
  listByPrefix: (prefix, options) => {
    const limit = options?.limit ?? 100
    const list = (): Effect.Effect<ReadonlyArray<string>, AtomicStoreError> =>
      limit >= 1 ? operations.listByPrefix(prefix, { after: options?.after, limit }) : Effect.succeed([])
    return prefix === "" ? Effect.suspend(list) : ifUsable("listByPrefix", prefix, undefined, list)
  }
})

/**
 * Makes a store in memory, for one process. It holds at most `capacity` keys (default 100,000): when it is full of
 * keys that have not expired, writing another fails with reason `Full`, and no key is given up for it.
 *
 * @example
 * import { AtomicStore } from "@assent/ai"
 * import { Effect } from "effect"
 *
 * const program = Effect.gen(function*() {
 *   const store = yield* AtomicStore.makeMemory({ capacity: 1 })
 *   yield* store.putIfAbsent("a", "1", { expiresAt: Date.now() + 60_000 })
 *   const error = yield* Effect.flip(store.putIfAbsent("b", "2", { expiresAt: Date.now() + 60_000 }))
 *   return error.reason
 * })
 *
 * await Effect.runPromise(program) // => "Full"
 *
 * @category constructors
 * @since 0.1.0
 */
export const makeMemory = (options?: { readonly capacity?: number | undefined }): Effect.Effect<AtomicStore> =>
  Effect.sync(() => makeMemoryUnsafe(options?.capacity ?? 100_000))

/**
 * Makes a store in a directory, for every process that uses the directory. It is created if need be, readable by its
 * owner only, and must be on a file system with hard links: a local disk, not a network share. What was written is on
 * the disk when the operation returns.
 *
 * Every write of a decided key is a small file of its own. While the scope is open, what crashed processes left behind
 * and keys that expired more than a day before the store was opened are removed, a batch at a time.
 *
 * @category constructors
 * @since 0.1.0
 */
export const makeFileSystem = Effect.fnUntraced(function*(options: {
  readonly directory: string
}): Effect.fn.Return<AtomicStore, AtomicStoreError, FileSystem.FileSystem | Path.Path | Scope.Scope> {
  const files = yield* named("open", "", Files.make(options.directory))
  yield* Effect.forkScoped(Effect.ignore(files.sweep))
  return make({
    get: (key) => named("get", key, files.get(key)),
    putIfAbsent: (key, value, options) => named("putIfAbsent", key, files.putIfAbsent(key, value, options)),
    compareAndSet: (key, expected, value) => named("compareAndSet", key, files.compareAndSet(key, expected, value)),
    put: (key, value, options) => named("put", key, files.put(key, value, options)),
    listByPrefix: (prefix, options) =>
      named("listByPrefix", prefix, files.listByPrefix(prefix, options?.after, options?.limit ?? 100))
  })
})

// =============================================================================
// Layers
// =============================================================================

/**
 * A store in memory, as {@link makeMemory} makes it with its default capacity.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerMemory: Layer.Layer<AtomicStore> = Layer.effect(AtomicStore, makeMemory())

/**
 * A store in a directory, as {@link makeFileSystem} makes it.
 *
 * @example
 * import { AtomicStore } from "@assent/ai"
 * import { NodeServices } from "@effect/platform-node"
 * import { Layer } from "effect"
 *
 * const layer = Layer.provide(AtomicStore.layerFileSystem({ directory: ".assent" }), NodeServices.layer)
 *
 * Layer.isLayer(layer) // => true
 *
 * @category layers
 * @since 0.1.0
 */
export const layerFileSystem = (options: {
  readonly directory: string
}): Layer.Layer<AtomicStore, AtomicStoreError, FileSystem.FileSystem | Path.Path> =>
  Layer.effect(AtomicStore, makeFileSystem(options))

// =============================================================================
// Internals
// =============================================================================

type Method = AtomicStoreError["method"]

const failure = (method: Method, key: string, reason: AtomicStoreError["reason"], description: string) =>
  new AtomicStoreError({ method, key: Text.escape(key, { maxLength: 512 }), reason, description })

const named = <A, R>(method: Method, key: string, effect: Effect.Effect<A, Failure.Failure, R>) =>
  Effect.mapError(effect, ({ description, reason }) => failure(method, key, reason, description))

const ifUsable = <A>(
  method: Method,
  key: string,
  expiresAt: number | undefined,
  operation: () => Effect.Effect<A, AtomicStoreError>
): Effect.Effect<A, AtomicStoreError> => {
  if (!/^[A-Za-z0-9._~:/-]{1,512}$/.test(key)) {
    return Effect.fail(failure(
      method,
      key,
      "Unavailable",
      "The key cannot be used: keys are 1 to 512 characters of A-Z a-z 0-9 . _ ~ : / -. Nothing was changed. Encode" +
        " what the key is made of."
    ))
  }
  if (expiresAt !== undefined && !Number.isFinite(expiresAt)) {
    return Effect.fail(failure(
      method,
      key,
      "Unavailable",
      `The expiry cannot be used: ${expiresAt} is not a time in milliseconds. Nothing was changed. Give a number.`
    ))
  }
  return Effect.suspend(operation)
}

interface Entry extends Stored {
  readonly key: string
  readonly decided: boolean
  readonly expiresAt: number
}

const makeMemoryUnsafe = (capacity: number): AtomicStore => {
  const entries = new Map<string, Entry>()
  const expiries = Expiries.make()
  // Kept from when a page is first asked for, so that nobody else pays for it.
  let ordered: OrderedKeys.OrderedKeys | undefined

  const live = (key: string, now: number): Entry | undefined => {
    const entry = entries.get(key)
    return entry !== undefined && entry.expiresAt > now ? entry : undefined
  }

  // Every write forgets up to two expired keys, so that room is made faster than it is used up.
  const write = (method: Method, entry: Entry, now: number): Effect.Effect<void, AtomicStoreError> => {
    for (let i = 0; i < 2; i++) {
      const expired = expiries.takeUntil(now)
      if (expired === undefined) continue
      entries.delete(expired)
      ordered?.delete(expired)
    }
    if (!entries.has(entry.key) && entries.size >= capacity) {
      return Effect.fail(failure(
        method,
        entry.key,
        "Full",
        `The store holds ${capacity} keys, as many as it may, and none has expired. Nothing was written. Let keys` +
          " expire sooner or raise its capacity."
      ))
    }
    entries.set(entry.key, entry)
    ordered?.add(entry.key)
    expiries.set(entry.key, entry.expiresAt)
    return Effect.void
  }

  return make({
    get: (key) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const entry = live(key, now)
        return entry === undefined ? undefined : { version: entry.version, value: entry.value }
      }),
    putIfAbsent: (key, value, { expiresAt }) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        live(key, now) !== undefined
          ? Effect.succeed(false)
          : Effect.as(write("putIfAbsent", { key, version: 0, value, expiresAt, decided: true }, now), true)),
    compareAndSet: (key, expected, value) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const entry = live(key, now)
        if (entry === undefined || !entry.decided || entry.version !== expected) return false
        entries.set(key, { ...entry, version: expected + 1, value })
        return true
      }),
    put: (key, value, { expiresAt }) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        live(key, now)?.decided === true
          ? Effect.fail(failure("put", key, "Unavailable", Failure.putOverDecision))
          : write("put", { key, version: 0, value, expiresAt, decided: false }, now)),
    listByPrefix: (prefix, options) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        ordered ??= OrderedKeys.make(entries.keys())
        const keys: Array<string> = []
        for (const key of ordered.from(prefix, options?.after)) {
          if (live(key, now) === undefined) continue
          keys.push(key)
          if (keys.length === options?.limit) break
        }
        return keys
      })
  })
}
