/** The tables, as they came about. A step that was published is never changed; another follows it. */
import type * as Store from "@assent/ai/Store"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Migrator from "effect/sql/Migrator"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { Database } from "./database.ts"
import * as Problem from "./problem.ts"

const run = (sql: SqlClient.SqlClient, statements: ReadonlyArray<string>) =>
  Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })

/** As which a tool waits, without an answer. An index serves a query that says the same as its condition, word by word. */
export const isWaiting = "state = 'pending' AND waits = 'open' AND answer IS NULL"

/** What waits for a decision: as it was shown, or as which a tool waits. */
export const isOpen =
  "state = 'pending' AND (waits IS NULL AND request IS NOT NULL OR waits = 'open' AND answer IS NULL)"

const first = (prefix: string): ReadonlyArray<string> => {
  const conversation = `${prefix}conversation`
  const message = `${prefix}message`
  const request = `${prefix}request`
  const remembered = `${prefix}remembered`
  const open = (name: string, columns: string, where = isOpen) =>
    `CREATE INDEX ${request}_${name} ON ${request} (${columns}) WHERE ${where}`
  return [
    `CREATE TABLE ${conversation} (
      id TEXT PRIMARY KEY, parent TEXT, root TEXT, tenant TEXT, principal TEXT, name TEXT NOT NULL,
      format INTEGER NOT NULL, version INTEGER NOT NULL, stopped INTEGER NOT NULL, state TEXT NOT NULL,
      messages INTEGER NOT NULL, bytes INTEGER NOT NULL, touched_at INTEGER NOT NULL, expires_at INTEGER
    ) STRICT`,
    `CREATE INDEX ${conversation}_expiry ON ${conversation} (expires_at) WHERE expires_at IS NOT NULL`,
    `CREATE INDEX ${conversation}_tenant ON ${conversation} (tenant, bytes) WHERE tenant IS NOT NULL`,
    `CREATE TABLE ${message} (
      conversation TEXT NOT NULL REFERENCES ${conversation} (id) ON DELETE CASCADE, seq INTEGER NOT NULL,
      body TEXT NOT NULL, PRIMARY KEY (conversation, seq)
    ) STRICT, WITHOUT ROWID`,
    `CREATE TABLE ${request} (
      nonce TEXT PRIMARY KEY, approval_id TEXT NOT NULL, conversation TEXT, parent TEXT, root TEXT, tenant TEXT,
      principal TEXT, tool TEXT NOT NULL, call TEXT NOT NULL, kind TEXT NOT NULL, format INTEGER NOT NULL,
      state TEXT NOT NULL, version INTEGER NOT NULL, owner TEXT, issued_at INTEGER NOT NULL, expires_at INTEGER,
      keep_until INTEGER, decided_at INTEGER, waits TEXT, due_at INTEGER, webhook TEXT,
      entry TEXT, result TEXT, request TEXT, suspension TEXT, answer TEXT
    ) STRICT`,
    open("open", "issued_at, nonce"),
    open("root", "root, issued_at, nonce"),
    // Of all that was never decided, because it goes with its conversation.
    open("conversation", "conversation, issued_at, nonce", "state = 'pending'"),
    open("tenant", "tenant, issued_at, nonce"),
    open("tenant_tool", "tenant, tool, issued_at, nonce"),
    open("principal", "principal, issued_at, nonce"),
    open("tool", "tool, issued_at, nonce"),
    open("kind", "kind, issued_at, nonce"),
    open("waiting", "issued_at, nonce", isWaiting),
    open("due", "due_at, nonce", "waits = 'open' AND due_at IS NOT NULL"),
    `CREATE UNIQUE INDEX ${request}_webhook ON ${request} (webhook) WHERE webhook IS NOT NULL AND waits = 'open'`,
    open("webhooks", "webhook", "webhook IS NOT NULL"),
    open("keep", "keep_until", "keep_until IS NOT NULL"),
    open("bodies", "decided_at", "result IS NOT NULL OR suspension IS NOT NULL"),
    `CREATE TABLE ${remembered} (
      id TEXT PRIMARY KEY, scope TEXT NOT NULL, source TEXT NOT NULL, tool TEXT NOT NULL, exact TEXT,
      format INTEGER NOT NULL, denies INTEGER NOT NULL, uses INTEGER, body TEXT, expires_at INTEGER, revoked_at INTEGER
    ) STRICT`,
    `CREATE INDEX ${remembered}_call ON ${remembered} (scope, source, tool, exact) WHERE revoked_at IS NULL`,
    `CREATE INDEX ${remembered}_scope ON ${remembered} (scope, id) WHERE revoked_at IS NULL`,
    `CREATE INDEX ${remembered}_expiry ON ${remembered} (expires_at) WHERE expires_at IS NOT NULL`,
    `CREATE TABLE ${prefix}owner (
      id TEXT PRIMARY KEY, beat INTEGER NOT NULL, every INTEGER NOT NULL, keep_until INTEGER NOT NULL
    ) STRICT`,
    `CREATE INDEX ${prefix}owner_keep ON ${prefix}owner (keep_until)`,
    `CREATE TABLE ${prefix}setting (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT`
  ]
}

const steps: ReadonlyArray<readonly [name: string, statements: (prefix: string) => ReadonlyArray<string>]> = [
  ["first", first]
]

/** Makes what is not there yet. Of several processes that begin at once, one does it. */
export const migrate = (database: Database): Effect.Effect<void, Store.StoreError> => {
  const { prefix, sql } = database
  const failed = Problem.fromSqlError("open")
  const table = `${prefix}migration`
  const loader = Migrator.fromRecord(Object.fromEntries(
    steps.map(([name, statements], index) => [`${index + 1}_${name}`, run(sql, statements(prefix))])
  ))
  return Effect.gen(function*() {
    yield* Migrator.make({})({ loader, table }).pipe(
      Effect.provideService(SqlClient.SqlClient, sql),
      // What could not be rolled back either, effect/sql dies of, beside the failure.
      Effect.catchCause((cause) => {
        const errors = cause.reasons.flatMap((reason) =>
          Cause.isFailReason(reason)
            ? [reason.error]
            : Cause.isDieReason(reason) && isSqlError(reason.defect)
            ? [reason.defect]
            : []
        )
        return errors[0] === undefined ? Effect.failCause(cause) : Effect.fail(errors[0])
      }),
      Effect.mapError((error): Store.StoreError => {
        if (error._tag === "SqlError") return failed(error)
        return isSqlError(error.cause) ? failed(error.cause) : Problem.corrupt("open", `The table "${table}"`)
      })
    )
    const [latest] = yield* Effect.mapError(
      sql<{ readonly id: number }>`SELECT max(migration_id) AS id FROM ${sql.literal(table)}`,
      failed
    )
    if (Number(latest?.id) > steps.length) return yield* Problem.corrupt("open", "The database")
  })
}

const isSqlError = (cause: unknown): cause is SqlError =>
  typeof cause === "object" && cause !== null && "_tag" in cause && cause._tag === "SqlError"
