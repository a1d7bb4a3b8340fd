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

/** One that was told to be open, of which there may be more to tell. */
export const mayEnd = "told < 2"

/** The same, where nothing was told since. */
export const isTold = "told = 0"

/** What is told of a request that was told to have expired: only that somebody has decided it all the same. */
export const isNewsOfExpired = "('approved', 'edited', 'answered', 'running', 'denied')"

/**
 * What happened to requests. The row of one that was opened has what names it, and whether there is more to tell (`told`:
 * nothing since 0, that it expired 1, its decision 2); those of what ended it lead there, `opened`, and `last` to the last
 * of them. The newest row is never deleted, so that no number is given twice. A decision is told by the database itself, in the statement that makes it, so that it costs no transaction.
 */
const events = (prefix: string): ReadonlyArray<string> => {
  const event = `${prefix}event`
  const request = `${prefix}request`
  const columns = "kind, at, nonce, tenant, principal, conversation, tool, request_kind, expires_at, request, told"
  const named = "nonce, tenant, principal, conversation, tool, kind, expires_at, request"
  // NEW is a row of requests.
  const ends = (state: string, entry: string) =>
    `INSERT INTO ${event} (kind, at, opened, state, entry)
      SELECT CASE ${state} WHEN 'expired' THEN 'expired' ELSE 'decided' END, NEW.decided_at, seq, ${state}, ${entry}
      FROM ${event} WHERE nonce = NEW.nonce AND ${mayEnd} AND (${isTold} OR ${state} IN ${isNewsOfExpired});`
  return [
    `CREATE TABLE ${event} (
      seq INTEGER PRIMARY KEY, kind TEXT NOT NULL, at INTEGER NOT NULL,
      opened INTEGER, state TEXT, entry TEXT,
      nonce TEXT, tenant TEXT, principal TEXT, conversation TEXT, tool TEXT, request_kind TEXT, expires_at INTEGER,
      request TEXT, told INTEGER, last INTEGER
    ) STRICT`,
    `CREATE UNIQUE INDEX ${event}_open ON ${event} (nonce) WHERE ${mayEnd}`,
    `CREATE INDEX ${event}_expiry ON ${event} (expires_at, nonce) WHERE ${isTold} AND expires_at IS NOT NULL`,
    `CREATE TRIGGER ${event}_end AFTER INSERT ON ${event} WHEN NEW.opened IS NOT NULL BEGIN
      UPDATE ${event} SET told = CASE NEW.kind WHEN 'expired' THEN 1 ELSE 2 END, last = NEW.seq
      WHERE seq = NEW.opened;
    END`,
    `CREATE TRIGGER ${request}_decided_first AFTER INSERT ON ${request} WHEN NEW.state <> 'pending' BEGIN
      ${ends("NEW.state", "NEW.entry")}
    END`,
    `CREATE TRIGGER ${request}_decided AFTER UPDATE OF state ON ${request}
      WHEN OLD.state = 'pending' AND NEW.state <> 'pending' BEGIN
      ${ends("NEW.state", "NEW.entry")}
    END`,
    `CREATE TRIGGER ${request}_taken AFTER UPDATE OF waits ON ${request}
      WHEN OLD.state = 'pending' AND OLD.waits = 'open' AND NEW.waits <> 'open' BEGIN
      ${ends("CASE NEW.waits WHEN 'over' THEN 'withdrawn' ELSE 'answered' END", "NULL")}
    END`,
    // It was claimed and could not begin.
    `CREATE TRIGGER ${request}_reopened AFTER UPDATE OF state ON ${request}
      WHEN OLD.state <> 'pending' AND NEW.state = 'pending' AND NEW.request IS NOT NULL
        AND (NEW.waits IS NULL OR NEW.waits = 'open' AND NEW.answer IS NULL)
        AND (NEW.expires_at IS NULL OR NEW.expires_at > NEW.decided_at) BEGIN
      INSERT INTO ${event} (${columns})
        SELECT 'opened', NEW.decided_at, ${named.split(", ").map((name) => `NEW.${name}`).join(", ")}, 0
        WHERE NOT EXISTS (SELECT 1 FROM ${event} WHERE nonce = NEW.nonce AND ${mayEnd});
    END`,
    // What waits already.
    `INSERT INTO ${event} (${columns})
      SELECT 'opened', issued_at, ${named}, 0 FROM ${request} WHERE ${isOpen} AND request IS NOT NULL
      ORDER BY issued_at, nonce`,
    `CREATE TABLE ${prefix}reader (
      name TEXT PRIMARY KEY, version INTEGER NOT NULL, place TEXT, holder TEXT
    ) STRICT`
  ]
}

/**
 * Agents within calls: what is asked in them belongs to the call (`parent`) and to the outermost conversation (`root`), which
 * what was asked before agents could be is of itself. `given` has the decisions that no turn has taken yet.
 */
const agents = (prefix: string): ReadonlyArray<string> => {
  const request = `${prefix}request`
  const conversation = `${prefix}conversation`
  return [
    `ALTER TABLE ${request} ADD COLUMN given TEXT`,
    `UPDATE ${request} SET root = conversation WHERE root IS NULL AND conversation IS NOT NULL AND state = 'pending'`,
    `CREATE INDEX ${request}_parent ON ${request} (parent) WHERE parent IS NOT NULL`,
    `CREATE INDEX ${conversation}_parent ON ${conversation} (parent) WHERE parent IS NOT NULL`,
    `CREATE INDEX ${conversation}_root ON ${conversation} (root) WHERE parent IS NOT NULL`
  ]
}

export const steps: ReadonlyArray<readonly [name: string, statements: (prefix: string) => ReadonlyArray<string>]> = [
  ["first", first],
  ["events", events],
  ["agents", agents]
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
