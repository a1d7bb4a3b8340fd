/**
 * What was answered before, so that a person is not asked the same thing twice.
 *
 * Nothing is remembered unless a program provides a memory and an answer says so. What is remembered covers this very
 * call unless the answer names more ({@link Remember}), for as long as it says, and as often; it belongs to one tenant,
 * principal and conversation, and to the tool as it was: when its parameters change, it is asked again. A remembered
 * denial is stronger than any approval.
 *
 * Without a named conversation (`Approval.Scope`) what is remembered lives for one call of the model, and one warning says so.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as ApprovalError from "./ApprovalError.ts"
import * as ApprovalMatcher from "./ApprovalMatcher.ts"
import * as Approver from "./Approver.ts"
import * as AtomicStore from "./AtomicStore.ts"
import * as Covering from "./internal/covering.ts"
import { definedFields } from "./internal/fields.ts"
import * as Cryptography from "./internal/seal/cryptography.ts"

// =============================================================================
// Models
// =============================================================================

/**
 * What an answer may say of being remembered, in `remember` of `Approval.approve` and `Approval.deny`: `"none"`;
 * `"session"`, this very call for as long as the memory lives; or more. `covers` is which calls of the tool (default:
 * those with just these parameters), `expiresIn` is in milliseconds, `uses` how many calls it may let run (default: any
 * number; a denial has no uses).
 *
 * @example
 * import { ApprovalMemory } from "@assent/ai"
 * import { Schema } from "effect"
 *
 * const isRemember = Schema.is(ApprovalMemory.Remember)
 *
 * isRemember({ covers: { _tag: "Path", globs: ["src/**"], param: "path" }, uses: 10 }) // => true
 * isRemember({}) // => true
 * isRemember({ uses: -1 }) // => false
 *
 * @category models
 * @since 0.1.0
 */
export const Remember = Schema.Union([
  Schema.Literals(["none", "session"]),
  Schema.Struct({
    covers: Schema.optionalKey(ApprovalMatcher.Description),
    expiresIn: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThan(0))),
    uses: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThan(0)))
  })
])

/**
 * What an answer may say of being remembered.
 *
 * @category models
 * @since 0.1.0
 */
export type Remember = typeof Remember.Type

/**
 * Whose memory it is. `call` is one call of the model, where no conversation is named.
 *
 * @category models
 * @since 0.1.0
 */
export const MemoryScope = Schema.Struct({
  tenant: Schema.optional(Schema.String),
  principal: Schema.optional(Schema.String),
  conversation: Schema.optional(Schema.String),
  call: Schema.optional(Schema.String)
})

/**
 * Whose memory it is.
 *
 * @category models
 * @since 0.1.0
 */
export type MemoryScope = typeof MemoryScope.Type

/**
 * An answer that is remembered. `version` is the fingerprint of the tool's parameters when it was given, `approvalId`
 * the request it was given to, `decidedBy` who gave it; times are milliseconds since 1970. `uses` is how many are left.
 *
 * @category models
 * @since 0.1.0
 */
export class Remembered extends Schema.Class<Remembered>("@assent/ai/ApprovalMemory/Remembered")({
  id: Schema.String,
  source: Schema.String,
  toolName: Schema.String,
  version: Schema.String,
  decision: Schema.Literals(["approved", "denied"]),
  covers: ApprovalMatcher.Description,
  note: Schema.optionalKey(Schema.String),
  decidedBy: Schema.optionalKey(Approver.DecidedBy),
  scope: MemoryScope,
  approvalId: Schema.String,
  toolCallId: Schema.String,
  rememberedAt: Schema.Number,
  expiresAt: Schema.optionalKey(Schema.Number),
  uses: Schema.optionalKey(Schema.Number),
  revokedAt: Schema.optionalKey(Schema.Number)
}) {}

/**
 * A call that is looked for. `params` are in their encoded form.
 *
 * @category models
 * @since 0.1.0
 */
export interface MemoryCall {
  readonly scope: MemoryScope
  readonly source: string
  readonly toolName: string
  readonly version: string
  readonly params: Schema.Json
}

/**
 * An answer that is to be remembered. `id` is that of the one moment it was given in: what has an id is remembered once,
 * however often it is said.
 *
 * @category models
 * @since 0.1.0
 */
export interface Answered extends MemoryCall {
  readonly id: string
  readonly decision: "approved" | "denied"
  readonly remember: Remember
  readonly note?: string | undefined
  readonly decidedBy?: Approver.DecidedBy | undefined
  readonly approvalId: string
  readonly toolCallId: string
}

// =============================================================================
// Service
// =============================================================================

/**
 * A memory. Its functions fail with `MemoryUnavailable`; the call is then asked (law L1).
 *
 * @category models
 * @since 0.1.0
 */
export interface Service {
  /** False if it never remembers anything: then it need not be asked. */
  readonly remembers: boolean
  /**
   * What covers a call: a denial if there is one, else an approval, of which one use is taken unless `peek` is true.
   *
   * A denial that may cover it for all that can be told comes before an approval too: the same file by another name, or
   * the tool with other parameters than it had. Whoever finds one that does not surely cover the call asks.
   */
  readonly find: (
    call: MemoryCall,
    options?: { readonly peek?: boolean | undefined }
  ) => Effect.Effect<Remembered | undefined, ApprovalError.ApprovalError>
  /** Remembers an answer; `undefined` if there is nothing to remember, or it was remembered before. */
  readonly remember: (answered: Answered) => Effect.Effect<Remembered | undefined, ApprovalError.ApprovalError>
  /** What is remembered for a scope and stands, in no order. */
  readonly list: (scope: MemoryScope) => Effect.Effect<ReadonlyArray<Remembered>, ApprovalError.ApprovalError>
  /** Takes back what is remembered, for ever; false if there is nothing of the id that stands. */
  readonly revoke: (scope: MemoryScope, id: string) => Effect.Effect<boolean, ApprovalError.ApprovalError>
}

/**
 * The memory read when a call is decided. The default remembers nothing.
 *
 * @category references
 * @since 0.1.0
 */
export const ApprovalMemory = Context.Reference<Service>("@assent/ai/ApprovalMemory", { defaultValue: () => none })

// =============================================================================
// Constructors
// =============================================================================

/**
 * Remembers nothing.
 *
 * @category constructors
 * @since 0.1.0
 */
export const none: Service = {
  remembers: false,
  find: () => Effect.undefined,
  remember: () => Effect.undefined,
  list: () => Effect.succeed([]),
  revoke: () => Effect.succeed(false)
}

/**
 * A memory over a store. `timeToLive` is how long an answer is remembered that does not say (default: as long as the
 * store).
 *
 * @example
 * import { ApprovalMemory, AtomicStore } from "@assent/ai"
 * import { Effect } from "effect"
 *
 * const call = { scope: { conversation: "c1" }, source: "local", toolName: "WriteFile", version: "v1" }
 *
 * const program = Effect.gen(function*() {
 *   const memory = yield* ApprovalMemory.make({ store: yield* AtomicStore.makeMemory() })
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
  readonly store: AtomicStore.AtomicStore
  readonly timeToLive?: Duration.Input | undefined
}): Effect.Effect<Service> =>
  Effect.sync(() => {
    const { store } = options
    const timeToLive = options.timeToLive === undefined ? Infinity : Duration.toMillis(options.timeToLive)

    const read = Effect.fnUntraced(function*(key: string): Effect.fn.Return<Stored | undefined, Failure> {
      const stored = yield* Effect.mapError(store.get(key), unavailable)
      if (stored === undefined) return undefined
      const decoded = decode(stored.value)
      if (Result.isFailure(decoded)) return yield* broken(key)
      const { expiresAt, revokedAt, uses } = decoded.success
      const stands = revokedAt === undefined && uses !== 0 &&
        (expiresAt === undefined || (yield* Clock.currentTimeMillis) < expiresAt)
      return stands ? { key, version: stored.version, remembered: decoded.success } : undefined
    })

    const readAll = Effect.fnUntraced(function*(prefix: string): Effect.fn.Return<ReadonlyArray<Stored>, Failure> {
      const all: Array<Stored> = []
      let after: string | undefined
      while (true) {
        const keys = yield* Effect.mapError(
          store.listByPrefix(prefix, definedFields({ after, limit: page })),
          unavailable
        )
        for (const key of keys) {
          const stored = yield* read(key)
          if (stored !== undefined) all.push(stored)
        }
        if (keys.length < page) return all
        after = keys[keys.length - 1]
      }
    })

    const replace = ({ key, version }: Stored, remembered: Remembered) =>
      Effect.mapError(store.compareAndSet(key, version, encode(remembered)), unavailable)

    /** One use less, or nothing if it has none left by now. */
    const take = Effect.fnUntraced(function*(stored: Stored): Effect.fn.Return<Remembered | undefined, Failure> {
      let current: Stored | undefined = stored
      while (current !== undefined) {
        const { uses } = current.remembered
        if (uses === undefined) return current.remembered
        const used = new Remembered({ ...current.remembered, uses: uses - 1 })
        if (yield* replace(current, used)) return used
        current = yield* read(stored.key)
      }
      return undefined
    })

    const find: Service["find"] = Effect.fnUntraced(function*(call, options) {
      const behaviors = yield* ApprovalMatcher.Behaviors
      const all = yield* readAll(yield* toolPrefix(call))
      const covering = all.filter(({ remembered }) => Covering.covers(remembered, call, behaviors))
      const denied = covering.find(isDenial) ??
        all.find((stored) => isDenial(stored) && Covering.mayCover(stored.remembered, call, behaviors))
      if (denied !== undefined) return denied.remembered
      // A use is not taken where something without uses says the same.
      const endless = covering.filter(({ remembered }) => remembered.uses === undefined)
      for (const approved of endless.length > 0 ? endless : covering) {
        const taken = options?.peek === true ? approved.remembered : yield* take(approved)
        if (taken !== undefined) return taken
      }
      return undefined
    })

    const remember: Service["remember"] = Effect.fnUntraced(function*(answered) {
      const { remember } = answered
      if (remember === "none") return undefined
      const said = remember === "session" ? {} : remember
      const matcher = said.covers === undefined ?
        ApprovalMatcher.exact(answered.params) :
        ApprovalMatcher.fromDescription(
          said.covers,
          yield* ApprovalMatcher.Behaviors
        )
      // What does not even cover the call that was answered was not meant so.
      if (!matcher.covers(answered.params)) return undefined
      const now = yield* Clock.currentTimeMillis
      const expiresAt = now + (said.expiresIn ?? timeToLive)
      const remembered = new Remembered({
        id: answered.id,
        source: answered.source,
        toolName: answered.toolName,
        version: answered.version,
        decision: answered.decision,
        covers: matcher.description,
        scope: answered.scope,
        approvalId: answered.approvalId,
        toolCallId: answered.toolCallId,
        rememberedAt: now,
        ...definedFields({ note: answered.note, decidedBy: answered.decidedBy }),
        ...(expiresAt === Infinity ? undefined : { expiresAt }),
        ...(said.uses === undefined || answered.decision === "denied" ? undefined : { uses: said.uses })
      })
      const key = `${yield* toolPrefix(answered)}${yield* Cryptography.sha256(answered.id)}`
      const written = yield* Effect.mapError(
        store.putIfAbsent(key, encode(remembered), { expiresAt: Math.min(expiresAt, Number.MAX_SAFE_INTEGER) }),
        unavailable
      )
      return written ? remembered : undefined
    })

    const list: Service["list"] = (scope) =>
      Effect.map(
        Effect.flatMap(scopePrefix(scope), readAll),
        (all) => all.map(({ remembered }) => remembered)
      )

    const revoke: Service["revoke"] = Effect.fnUntraced(function*(scope, id) {
      const all = yield* readAll(yield* scopePrefix(scope))
      let current = all.find(({ remembered }) => remembered.id === id)
      while (current !== undefined) {
        const revokedAt = yield* Clock.currentTimeMillis
        if (yield* replace(current, new Remembered({ ...current.remembered, revokedAt }))) return true
        current = yield* read(current.key)
      }
      return false
    })

    return { remembers: true, find, remember, list, revoke }
  })

// =============================================================================
// Layers
// =============================================================================

/**
 * A memory in this process that lives as long as its layer: what a person means by "for this session". `capacity`
 * (default 10,000) bounds it; what does not fit is not remembered, and so is asked again.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerSession = (options?: {
  readonly capacity?: number | undefined
  readonly timeToLive?: Duration.Input | undefined
}): Layer.Layer<never> =>
  Layer.effect(
    ApprovalMemory,
    Effect.gen(function*() {
      const store = yield* AtomicStore.makeMemory({ capacity: options?.capacity ?? 10_000 })
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
        find: (call, options) => whileOpen(memory.find(call, options), undefined),
        remember: (answered) => whileOpen(memory.remember(answered), undefined),
        list: (scope) => whileOpen(memory.list(scope), []),
        revoke: (scope, id) => whileOpen(memory.revoke(scope, id), false)
      }
    })
  )

/**
 * A memory over any {@link AtomicStore.AtomicStore}, for conversations that outlive a process. `timeToLive` (default 30
 * days) is how long an answer is remembered that does not say.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerStore = (options?: {
  readonly timeToLive?: Duration.Input | undefined
}): Layer.Layer<never, never, AtomicStore.AtomicStore> =>
  Layer.effect(
    ApprovalMemory,
    Effect.flatMap(
      AtomicStore.AtomicStore,
      (store) => make({ store, timeToLive: options?.timeToLive ?? Duration.days(30) })
    )
  )

// =============================================================================
// Internals
// =============================================================================

type Failure = ApprovalError.ApprovalError

const isDenial = ({ remembered }: Stored): boolean => remembered.decision === "denied"

interface Stored {
  readonly key: string
  readonly version: number
  readonly remembered: Remembered
}

const page = 100

const codec = Schema.fromJsonString(Schema.toCodecJson(Remembered))
const decode = Schema.decodeUnknownResult(codec)
const encode = Schema.encodeSync(codec)

const memoryUnavailable = (description: string): Failure =>
  ApprovalError.make(new ApprovalError.MemoryUnavailable({ description }))

const unavailable = (error: AtomicStore.AtomicStoreError): Failure => memoryUnavailable(error.description)

const broken = (key: string): Effect.Effect<never, Failure> =>
  Effect.fail(memoryUnavailable(`The record "${key}" cannot be read.`))

// Scopes and names are anybody's text, of any length: their digests make keys that cannot run into each other.
const scopePrefix = (scope: MemoryScope): Effect.Effect<string> =>
  Effect.map(
    Cryptography.sha256(JSON.stringify([
      scope.tenant ?? null,
      scope.principal ?? null,
      scope.conversation ?? null,
      scope.call ?? null
    ])),
    (digest) => `memory/${digest}/`
  )

const toolPrefix = ({ scope, source, toolName }: MemoryCall): Effect.Effect<string> =>
  Effect.flatMap(
    scopePrefix(scope),
    (prefix) => Effect.map(Cryptography.sha256(JSON.stringify([source, toolName])), (digest) => `${prefix}${digest}/`)
  )
