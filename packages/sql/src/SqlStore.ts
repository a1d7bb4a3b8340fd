/**
 * A store of `@assent/ai` over effect/sql: everything that is kept, in tables of one database, for every process that uses
 * it. Each operation is one statement or one transaction; `atomically` is the client's transaction, so that what a program
 * writes into its own tables within it is a part of it.
 *
 * SQLite and PostgreSQL (14 and later) are known. On PostgreSQL a transaction is READ COMMITTED: each operation in it sees what
 * others have committed by then, a conversation that is read in it is nobody else's until it ends, and one that was in the
 * way of others is carried out again as a whole.
 *
 * @since 0.1.0
 */
import * as Store from "@assent/ai/Store"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as SqlClient from "effect/sql/SqlClient"
import * as Kept from "./internal/store/kept.ts"

// =============================================================================
// Models
// =============================================================================

/**
 * How a store is kept.
 *
 * `prefix` begins the names of its tables (default `"assent_"`): small letters, digits and `_`. `isShared` says whether
 * other processes may use the database (default true). The conversations of one tenant may have so many bytes together,
 * `tenantBytes` (default: unbounded): from then on none of its turns begins, and denials still go through. What one
 * conversation may have is `maxBytes` of `ConversationStore`. The results of what ran are kept for
 * `resultTimeToLive` (default 30 days); that it ran is kept as long as its approval could be sent again. What happened to
 * requests is told for `eventTimeToLive` (default 7 days), and no more than the last `maxEvents` of it (default 1,000,000).
 * An operation over the network fails with `Unavailable` after `timeout` of real time (default 30 seconds).
 *
 * @category options
 * @since 0.1.0
 */
export interface Options {
  readonly prefix?: string | undefined
  readonly isShared?: boolean | undefined
  readonly tenantBytes?: number | undefined
  readonly resultTimeToLive?: Duration.Input | undefined
  readonly eventTimeToLive?: Duration.Input | undefined
  readonly maxEvents?: number | undefined
  readonly timeout?: Duration.Input | undefined
}

// =============================================================================
// Constructors
// =============================================================================

/**
 * Makes a store over a client, and its tables where they are not there yet. As long as the scope it tells those who wait for
 * what other processes write.
 *
 * @example
 * import { SqliteClient, SqlStore } from "@assent/sql"
 * import { Effect } from "effect"
 * import { SqlClient } from "effect/sql"
 *
 * // What a program writes into a table of its own is written with the store's rows, or none of it is.
 * const program = Effect.gen(function*() {
 *   const sql = yield* SqlClient.SqlClient
 *   yield* sql`CREATE TABLE note (text TEXT NOT NULL) STRICT`
 *   const store = yield* SqlStore.make()
 *   const both = Effect.gen(function*() {
 *     yield* sql`INSERT INTO note (text) VALUES (${"hello"})`
 *     yield* store.conversations.write("c-1", undefined, { name: "shoes", state: "{}", keep: 0, append: [] })
 *     return yield* Effect.fail("the machine is on fire")
 *   })
 *   yield* Effect.flip(store.atomically(both))
 *   return [(yield* sql`SELECT text FROM note`).length, yield* store.conversations.get("c-1")]
 * }).pipe(Effect.scoped, Effect.provide(SqliteClient.layer({ filename: ":memory:" })))
 *
 * await Effect.runPromise(program) // => [0, undefined]
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function*(
  options?: Options
): Effect.fn.Return<Store.Store, Store.StoreError, SqlClient.SqlClient | Scope.Scope> {
  return yield* Kept.make(yield* Kept.open(yield* SqlClient.SqlClient, options), options)
})

// =============================================================================
// Layers
// =============================================================================

/**
 * A store over a client. `SqlApproval.layer` sets up everything over one file.
 *
 * @example
 * import { SqliteClient, SqlStore } from "@assent/sql"
 * import { Store } from "@assent/ai"
 * import { Effect, Layer } from "effect"
 *
 * const program = Effect.gen(function*() {
 *   const store = yield* Store.Store
 *   yield* store.conversations.write("c-1", undefined, { name: "shoes", state: "{}", keep: 0, append: [`{"a":1}`] })
 *   const found = yield* store.conversations.read("c-1")
 *   return found?.messages
 * }).pipe(Effect.provide(Layer.provide(SqlStore.layer(), SqliteClient.layer({ filename: ":memory:" }))))
 *
 * await Effect.runPromise(program) // => [`{"a":1}`]
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options?: Options): Layer.Layer<Store.Store, Store.StoreError, SqlClient.SqlClient> =>
  Layer.effect(Store.Store, make(options))
