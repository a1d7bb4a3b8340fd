/**
 * SQLite as a client of effect/sql, on the `node:sqlite` of Node 22.13 and later, Bun and Deno.
 *
 * It is here until there is a driver for effect 4.1, and does what a store of approvals needs: what is committed is on the
 * disk, nothing blocks while another process writes, and only the file's owner can read it.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Reactivity from "effect/reactivity/Reactivity"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as SqlClient from "effect/sql/SqlClient"
import type * as SqlConnection from "effect/sql/SqlConnection"
import type * as SqlError from "effect/sql/SqlError"
import * as Statement from "effect/sql/Statement"
import * as Connection from "./internal/sqlite/connection.ts"
import * as Problem from "./internal/sqlite/problem.ts"
import * as Runtime from "./internal/sqlite/runtime.ts"

// =============================================================================
// Models
// =============================================================================

/**
 * Which database, and how it is written.
 *
 * `filename` is a path (no URI), whose folder is made where there is none, or `":memory:"`. With `synchronous` `"FULL"` (the
 * default) a commit survives a loss of power; with `"NORMAL"`, which is several times faster, the last commits may not,
 * but the file stays whole. `busyTimeout` (default 4 seconds) is how long it is tried again, in real time, while another
 * process writes. `yieldAfterWrite` (default true) gives timers and sockets a turn after each write.
 *
 * @category options
 * @since 0.1.0
 */
export interface Options {
  readonly filename: string
  readonly synchronous?: "FULL" | "NORMAL" | undefined
  readonly busyTimeout?: Duration.Input | undefined
  readonly yieldAfterWrite?: boolean | undefined
}

// =============================================================================
// Constructors
// =============================================================================

/**
 * Opens a database, as long as the scope. It has one connection, and a transaction is `BEGIN IMMEDIATE`. Fails with a
 * `ConnectionError` where the runtime has no `node:sqlite`, and where the file cannot be opened.
 *
 * @example
 * import { SqliteClient } from "@assent/sql"
 * import { Effect } from "effect"
 * import { Reactivity } from "effect/reactivity"
 *
 * const program = Effect.gen(function*() {
 *   const sql = yield* SqliteClient.make({ filename: ":memory:" })
 *   yield* sql`CREATE TABLE word (text TEXT NOT NULL) STRICT`
 *   const failing = Effect.andThen(sql`INSERT INTO word (text) VALUES (${"no"})`, Effect.fail("no"))
 *   yield* Effect.flip(sql.withTransaction(failing))
 *   return yield* sql`SELECT text FROM word`
 * }).pipe(Effect.scoped, Effect.provide(Reactivity.layer))
 *
 * await Effect.runPromise(program) // => []
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function*(
  options: Options
): Effect.fn.Return<SqlClient.SqlClient, SqlError.SqlError, Scope.Scope | Reactivity.Reactivity> {
  const { filename, synchronous = "FULL" } = options
  const { DatabaseSync } = yield* Runtime.load
  yield* Runtime.makeFile(filename)
  const connection = yield* Effect.acquireRelease(
    Effect.try({
      try: () =>
        Connection.make({
          database: new DatabaseSync(filename),
          busyTimeout: Duration.toMillis(Duration.fromInputUnsafe(options.busyTimeout ?? "4 seconds")),
          yields: options.yieldAfterWrite ?? true
        }),
      catch: (cause) => Problem.fromCause(cause, "open")
    }),
    (connection) => connection.close
  )
  // The first is heeded only while there is no table.
  yield* connection.run("PRAGMA auto_vacuum = INCREMENTAL")
  yield* connection.run("PRAGMA journal_mode = WAL")
  yield* connection.run(
    `PRAGMA synchronous = ${synchronous}; PRAGMA foreign_keys = ON; PRAGMA journal_size_limit = ${maxLogBytes}`
  )
  const acquirers = SqlClient.makeSqliteAcquirers({
    connection: Effect.succeed(connection),
    semaphore: yield* Semaphore.make(1),
    isTransaction: () => connection.isTransaction()
  })
  const acquirer = Effect.tap(acquirers.acquirer, () => Effect.sync(connection.hand))
  const borrower: SqlConnection.Borrower = (use) =>
    acquirers.borrower((borrowed) => {
      connection.hand()
      return use(borrowed)
    })
  return yield* SqlClient.make({
    ...acquirers,
    acquirer,
    transactionAcquirer: acquirer,
    borrower,
    compiler: Statement.makeCompilerSqlite(),
    driver: "assent-sqlite",
    beginTransaction: "BEGIN IMMEDIATE",
    commit: () => connection.commit,
    releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`,
    prepareTransactionControls: true,
    spanAttributes: [["db.system.name", "sqlite"]]
  })
})

// =============================================================================
// Layers
// =============================================================================

/**
 * A database that is open as long as the layer.
 *
 * @example
 * import { SqliteClient } from "@assent/sql"
 * import { Effect } from "effect"
 * import { SqlClient } from "effect/sql"
 *
 * const program = Effect.gen(function*() {
 *   const sql = yield* SqlClient.SqlClient
 *   yield* sql`CREATE TABLE word (text TEXT NOT NULL) STRICT`
 *   yield* sql`INSERT INTO word (text) VALUES (${"yes"})`
 *   const [row] = yield* sql<{ readonly text: string }>`SELECT text FROM word`
 *   return row?.text
 * }).pipe(Effect.provide(SqliteClient.layer({ filename: ":memory:" })))
 *
 * await Effect.runPromise(program) // => "yes"
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options): Layer.Layer<SqlClient.SqlClient, SqlError.SqlError> =>
  Layer.effect(SqlClient.SqlClient, make(options)).pipe(Layer.provide(Reactivity.layer))

// =============================================================================
// Internals
// =============================================================================

/** To which the log of writes is cut back once it was carried over into the file. */
const maxLogBytes = 16 * 1024 * 1024
