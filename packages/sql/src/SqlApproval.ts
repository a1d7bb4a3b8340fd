/**
 * Everything that approvals need to outlive a process, in one SQLite file or in a PostgreSQL database.
 *
 * {@link layer} keeps requests and what became of them, what tools wait for, conversations and remembered answers there, and
 * the key that seals approvals: made once, by the first process that opens the file, and read from then on. Whoever can
 * read the file can make up approvals, so it is made for its owner alone.
 *
 * @since 0.1.0
 */
import type * as ApprovalError from "@assent/ai/ApprovalError"
import * as ApprovalJournal from "@assent/ai/ApprovalJournal"
import * as ApprovalMemory from "@assent/ai/ApprovalMemory"
import * as ApprovalSeal from "@assent/ai/ApprovalSeal"
import * as ConversationStore from "@assent/ai/ConversationStore"
import * as Store from "@assent/ai/Store"
import * as SuspensionStore from "@assent/ai/SuspensionStore"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Reactivity from "effect/reactivity/Reactivity"
import type * as Scope from "effect/Scope"
import * as SqlClient from "effect/sql/SqlClient"
import * as Seal from "./internal/seal.ts"
import * as Runtime from "./internal/sqlite/runtime.ts"
import * as Dialect from "./internal/store/dialect.ts"
import * as Kept from "./internal/store/kept.ts"
import * as Problem from "./internal/store/problem.ts"
import * as Settings from "./internal/store/settings.ts"
import * as Sweeping from "./internal/sweeping.ts"
import * as SqliteClient from "./SqliteClient.ts"
import type * as SqlStore from "./SqlStore.ts"

// =============================================================================
// Models
// =============================================================================

/**
 * How things are kept.
 *
 * `seal` are the program's own keys; without them the key is that of the configuration `ASSENT_APPROVAL_KEY`. `grace` and
 * `heartbeat` are those of `ApprovalJournal`; a conversation is kept for `conversationTimeToLive` after its last turn
 * (default: for ever) and may have so many bytes, `conversationBytes` (default 64 MiB); an answer that does not say so is
 * remembered for `rememberFor` (default 30 days).
 *
 * @category options
 * @since 0.1.0
 */
export interface PgOptions extends Omit<SqlStore.Options, "isShared"> {
  readonly seal?: ApprovalSeal.Options | undefined
  readonly grace?: Duration.Input | undefined
  readonly heartbeat?: Duration.Input | undefined
  readonly conversationTimeToLive?: Duration.Input | undefined
  readonly conversationBytes?: number | undefined
  readonly rememberFor?: Duration.Input | undefined
}

/**
 * Which file, and how things are kept in it. Without `seal` and `ASSENT_APPROVAL_KEY` the key is the one in the file.
 *
 * @category options
 * @since 0.1.0
 */
export interface Options extends SqliteClient.Options, PgOptions {}

// =============================================================================
// Layers
// =============================================================================

/**
 * A program whose approvals are kept in a file: its store, journal, suspensions, conversations, memory and seal. What has
 * expired is reclaimed while it is open, a little at a time. Fails with a `StoreError` where the file cannot be opened, is
 * no database, or is of a later version of this package; and with `InvalidKey`.
 *
 * @example
 * import { ApprovalSeal } from "@assent/ai"
 * import { SqlApproval } from "@assent/sql"
 * import { Effect } from "effect"
 *
 * const isKept = Effect.flatMap(ApprovalSeal.ApprovalSeal, (seal) => seal.configured)
 *
 * await Effect.runPromise(Effect.provide(isKept, SqlApproval.layer({ filename: ":memory:" }))) // => true
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (
  options: Options
): Layer.Layer<Store.Store, Store.StoreError | ApprovalError.ApprovalError> =>
  over(
    Effect.gen(function*() {
      const database = yield* open(options)
      const isShared = Runtime.isFile(options.filename)
      const store = yield* Kept.make(database, { ...options, isShared })
      const seal = yield* Seal.make(database, options.seal)
      if (isShared) yield* Sweeping.start(database, store)
      return Context.add(Context.make(Store.Store, store), ApprovalSeal.ApprovalSeal, seal)
    }),
    options
  )

/**
 * The same in a PostgreSQL database, for programs on more than one machine: over a client of `@effect/sql-pg`, which the
 * program makes, so that whoever keeps a file installs none. Its key is never in the database, because whoever can read
 * that could make up approvals: it comes from `ApprovalSeal.layer`, the option `seal` or `ASSENT_APPROVAL_KEY`. Fails with
 * `InvalidKey` where there is none of them, and with a `StoreError` where the database is another one, cannot be reached, or is
 * of a later version of this package.
 *
 * @example
 * import { ApprovalSeal } from "@assent/ai"
 * import { SqlApproval } from "@assent/sql"
 * import { PgClient } from "@effect/sql-pg"
 * import { Effect, Layer, Redacted } from "effect"
 *
 * const key = Redacted.make("a key that every process has, of 32 bytes or more")
 * const Kept = SqlApproval.layerPg({ tenantBytes: 1_000_000_000 }).pipe(
 *   Layer.provide(ApprovalSeal.layer({ key })),
 *   // In a program: PgClient.layerConfig({ url: Config.Redacted("DATABASE_URL") }). Nobody listens at this address.
 *   Layer.provide(PgClient.layer({ url: Redacted.make("postgres://127.0.0.1:1/approvals") }))
 * )
 *
 * const program = Effect.flip(Effect.provide(Effect.void, Kept))
 *
 * await Effect.runPromise(program).then((error) => error._tag === "StoreError" && error.reason) // => "Unavailable"
 *
 * @category layers
 * @since 0.1.0
 */
export const layerPg = (
  options: PgOptions = {}
): Layer.Layer<Store.Store, Store.StoreError | ApprovalError.ApprovalError, SqlClient.SqlClient> =>
  over(
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      if (Dialect.of(sql)?.name !== "pg") return yield* Problem.noPostgres
      const database = yield* Kept.open(sql, options)
      const store = yield* Kept.make(database, options)
      const seal = yield* Seal.makeShared(database, options.seal)
      yield* Sweeping.start(database, store)
      return Context.add(Context.make(Store.Store, store), ApprovalSeal.ApprovalSeal, seal)
    }),
    options
  )

// =============================================================================
// Restoring
// =============================================================================

/**
 * To be said once of a file that was restored from a backup, before a program uses it: what ran since the backup was made
 * is not in it, and could run again. From then on approvals that were asked before are not known, with whichever key they
 * were sealed, and are asked again; so is what remembered approvals covered, because they may have been taken back since.
 *
 * @example
 * import { ApprovalSeal } from "@assent/ai"
 * import { SqlApproval } from "@assent/sql"
 * import { Effect } from "effect"
 * import * as Fs from "node:fs"
 * import * as Os from "node:os"
 * import * as Path from "node:path"
 *
 * const folder = Fs.mkdtempSync(Path.join(Os.tmpdir(), "assent-"))
 * const filename = Path.join(folder, "approvals.db")
 * const Kept = SqlApproval.layer({ filename })
 * const call = { source: "local", toolName: "Pay", toolCallId: "1", schemaFingerprint: "v1", params: "{}", scope: {} }
 *
 * const program = Effect.gen(function*() {
 *   const seal = Effect.flatMap(ApprovalSeal.ApprovalSeal, (seal) => seal.seal(call))
 *   const { approvalId } = yield* Effect.provide(seal, Kept)
 *   yield* SqlApproval.restored({ filename })
 *   const verify = Effect.flatMap(ApprovalSeal.ApprovalSeal, (seal) => seal.verify(approvalId, call))
 *   return yield* Effect.provide(Effect.flip(verify), Kept)
 * })
 * const error = await Effect.runPromise(program)
 * Fs.rmSync(folder, { recursive: true })
 *
 * error.reason._tag // => "UnknownKey"
 *
 * @category restoring
 * @since 0.1.0
 */
export const restored = (
  options: SqliteClient.Options & { readonly prefix?: string | undefined }
): Effect.Effect<void, Store.StoreError> => Effect.scoped(Effect.flatMap(open(options), Settings.raiseEpoch))

/**
 * {@link restored}, of a PostgreSQL database.
 *
 * @example
 * import { SqlApproval } from "@assent/sql"
 * import { PgClient } from "@effect/sql-pg"
 * import { Effect, Redacted } from "effect"
 *
 * // Nobody listens at this address.
 * const Database = PgClient.layer({ url: Redacted.make("postgres://127.0.0.1:1/approvals") })
 *
 * // To be run once, after the backup was played back and before a program begins.
 * const program = Effect.flip(Effect.provide(SqlApproval.restoredPg(), Database))
 *
 * await Effect.runPromise(program).then((error) => error._tag === "StoreError" && error.reason) // => "Unavailable"
 *
 * @category restoring
 * @since 0.1.0
 */
export const restoredPg = (
  options: { readonly prefix?: string | undefined } = {}
): Effect.Effect<void, Store.StoreError, SqlClient.SqlClient> =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => Effect.flatMap(Kept.open(sql, options), Settings.raiseEpoch))

// =============================================================================
// Internals
// =============================================================================

/** All that keeps something, over one store. */
const over = <E, R>(
  base: Effect.Effect<Context.Context<Store.Store>, E, R>,
  { conversationBytes, conversationTimeToLive, grace, heartbeat, rememberFor }: PgOptions
): Layer.Layer<Store.Store, E, Exclude<R, Scope.Scope>> =>
  Layer.mergeAll(
    ApprovalJournal.layerStore({ grace, heartbeat }),
    SuspensionStore.layerStore,
    ConversationStore.layerStore({ timeToLive: conversationTimeToLive, maxBytes: conversationBytes, heartbeat }),
    ApprovalMemory.layerStore({ timeToLive: rememberFor })
  ).pipe(Layer.provideMerge(Layer.effectContext(base)))

const open = Effect.fnUntraced(function*(
  options: SqliteClient.Options & { readonly prefix?: string | undefined }
) {
  if (yield* Runtime.isReadByOthers(options.filename)) {
    yield* Effect.logWarning(
      "Others on this machine can read the file of the approvals, and with it the key that seals them. Make it its" +
        " owner's alone (chmod 600), and the files beside it whose names begin as its own."
    )
  }
  const client = SqliteClient.make(options).pipe(
    Effect.provide(Reactivity.layer),
    Effect.mapError(Problem.fromSqlError("open"))
  )
  return yield* Kept.open(yield* client, options)
})
