/**
 * The tables, as they came about. A step that was published is never changed; another follows it.
 *
 * Processes of the version before go on while one of the next takes a step. A step that only adds (a column that may be NULL, an
 * index, a table) is in nobody's way. One beside which they could not go on renames a table or a column that they write, so
 * that each of their operations fails, says that the database is of a later version, and has changed nothing.
 */
import type * as Store from "@assent/ai/Store"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Migrator from "effect/sql/Migrator"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { Database } from "./database.ts"
import type { Dialect } from "./dialect.ts"
import * as Problem from "./problem.ts"

const run = (sql: SqlClient.SqlClient, statements: ReadonlyArray<string>) =>
  Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })

/** As which a tool waits, without an answer. An index serves a query that says the same as its condition, word by word. */
export const isWaiting = "state = 'pending' AND waits = 'open' AND answer IS NULL"

/** What waits for a decision: as it was shown, or as which a tool waits. */
export const isOpen =
  "state = 'pending' AND (waits IS NULL AND request IS NOT NULL OR waits = 'open' AND answer IS NULL)"

type Step = (prefix: string, dialect: Dialect) => ReadonlyArray<string>

const first: Step = (prefix, { integer: I, sessions, table, tableByKey, text: T }) => {
  const conversation = `${prefix}conversation`
  const message = `${prefix}message`
  const request = `${prefix}request`
  const remembered = `${prefix}remembered`
  const open = (name: string, columns: string, where = isOpen) =>
    `CREATE INDEX ${request}_${name} ON ${request} (${columns}) WHERE ${where}`
  return [
    `CREATE TABLE ${conversation} (
      id ${T} PRIMARY KEY, parent ${T}, root ${T}, tenant ${T}, principal ${T}, name ${T} NOT NULL,
      format ${I} NOT NULL, version ${I} NOT NULL, stopped ${I} NOT NULL, state ${T} NOT NULL,
      messages ${I} NOT NULL, bytes ${I} NOT NULL, touched_at ${I} NOT NULL, expires_at ${I}
    )${table}`,
    `CREATE INDEX ${conversation}_expiry ON ${conversation} (expires_at) WHERE expires_at IS NOT NULL`,
    `CREATE INDEX ${conversation}_tenant ON ${conversation} (tenant, bytes) WHERE tenant IS NOT NULL`,
    `CREATE TABLE ${message} (
      conversation ${T} NOT NULL REFERENCES ${conversation} (id) ON DELETE CASCADE, seq ${I} NOT NULL,
      body ${T} NOT NULL, PRIMARY KEY (conversation, seq)
    )${tableByKey}`,
    `CREATE TABLE ${request} (
      nonce ${T} PRIMARY KEY, approval_id ${T} NOT NULL, conversation ${T}, parent ${T}, root ${T}, tenant ${T},
      principal ${T}, tool ${T} NOT NULL, call ${T} NOT NULL, kind ${T} NOT NULL, format ${I} NOT NULL,
      state ${T} NOT NULL, version ${I} NOT NULL, owner ${T}, issued_at ${I} NOT NULL, expires_at ${I},
      keep_until ${I}, decided_at ${I}, waits ${T}, due_at ${I}, webhook ${T},
      entry ${T}, result ${T}, request ${T}, suspension ${T}, answer ${T}
    )${table}`,
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
      id ${T} PRIMARY KEY, scope ${T} NOT NULL, source ${T} NOT NULL, tool ${T} NOT NULL, exact ${T},
      format ${I} NOT NULL, denies ${I} NOT NULL, uses ${I}, body ${T}, expires_at ${I}, revoked_at ${I}
    )${table}`,
    `CREATE INDEX ${remembered}_call ON ${remembered} (scope, source, tool, exact) WHERE revoked_at IS NULL`,
    `CREATE INDEX ${remembered}_scope ON ${remembered} (scope, id) WHERE revoked_at IS NULL`,
    `CREATE INDEX ${remembered}_expiry ON ${remembered} (expires_at) WHERE expires_at IS NOT NULL`,
    `CREATE TABLE ${prefix}owner (
      id ${T} PRIMARY KEY, beat ${I} NOT NULL, every ${I} NOT NULL, keep_until ${I} NOT NULL${sessions}
    )${table}`,
    `CREATE INDEX ${prefix}owner_keep ON ${prefix}owner (keep_until)`,
    `CREATE TABLE ${prefix}setting (name ${T} PRIMARY KEY, value ${T} NOT NULL)${table}`
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
const events: Step = (prefix, dialect) => {
  const { forUpdate, integer: I, place, serial, table, text: T } = dialect
  const event = `${prefix}event`
  const request = `${prefix}request`
  const columns = "kind, at, nonce, tenant, principal, conversation, tool, request_kind, expires_at, request, told"
  const named = "nonce, tenant, principal, conversation, tool, kind, expires_at, request"
  const ends = (state: string, entry: string) =>
    `INSERT INTO ${event} (kind, at, opened, state, entry)
      SELECT CASE ${state} WHEN 'expired' THEN 'expired' ELSE 'decided' END, NEW.decided_at, seq, ${state}, ${entry}
      FROM ${event} WHERE nonce = NEW.nonce AND ${mayEnd} AND (${isTold} OR ${state} IN ${isNewsOfExpired})${forUpdate}`
  return [
    `CREATE TABLE ${event} (
      seq ${serial}, kind ${T} NOT NULL, at ${I} NOT NULL,
      opened ${I}, state ${T}, entry ${T},
      nonce ${T}, tenant ${T}, principal ${T}, conversation ${T}, tool ${T}, request_kind ${T}, expires_at ${I},
      request ${T}, told ${I}, last ${I}${place === "seq" ? "" : `, ${place} ${I} UNIQUE`}
    )${table}`,
    ...(place === "seq" ? [] : [`CREATE INDEX ${event}_placeless ON ${event} (seq) WHERE ${isPlaceless}`]),
    `CREATE UNIQUE INDEX ${event}_open ON ${event} (nonce) WHERE ${mayEnd}`,
    `CREATE INDEX ${event}_expiry ON ${event} (expires_at, nonce) WHERE ${isTold} AND expires_at IS NOT NULL`,
    ...dialect.trigger({
      name: `${event}_end`,
      event: "INSERT",
      table: event,
      when: "NEW.opened IS NOT NULL",
      statement: `UPDATE ${event} SET told = CASE NEW.kind WHEN 'expired' THEN 1 ELSE 2 END, last = NEW.seq
      WHERE seq = NEW.opened`
    }),
    ...dialect.trigger({
      name: `${request}_decided_first`,
      event: "INSERT",
      table: request,
      when: "NEW.state <> 'pending'",
      statement: ends("NEW.state", "NEW.entry")
    }),
    ...dialect.trigger({
      name: `${request}_decided`,
      event: "UPDATE OF state",
      table: request,
      when: "OLD.state = 'pending' AND NEW.state <> 'pending'",
      statement: ends("NEW.state", "NEW.entry")
    }),
    ...dialect.trigger({
      name: `${request}_taken`,
      event: "UPDATE OF waits",
      table: request,
      when: "OLD.state = 'pending' AND OLD.waits = 'open' AND NEW.waits <> 'open'",
      statement: ends("CASE NEW.waits WHEN 'over' THEN 'withdrawn' ELSE 'answered' END", "NULL")
    }),
    // It was claimed and could not begin.
    ...dialect.trigger({
      name: `${request}_reopened`,
      event: "UPDATE OF state",
      table: request,
      when: `OLD.state <> 'pending' AND NEW.state = 'pending' AND NEW.request IS NOT NULL
        AND (NEW.waits IS NULL OR NEW.waits = 'open' AND NEW.answer IS NULL)
        AND (NEW.expires_at IS NULL OR NEW.expires_at > NEW.decided_at)`,
      statement: `INSERT INTO ${event} (${columns})
        SELECT 'opened', NEW.decided_at, ${named.split(", ").map((name) => `NEW.${name}`).join(", ")}, 0
        WHERE NOT EXISTS (SELECT 1 FROM ${event} WHERE nonce = NEW.nonce AND ${mayEnd})`
    }),
    // What waits already.
    `INSERT INTO ${event} (${columns})
      SELECT 'opened', issued_at, ${named}, 0 FROM ${request} WHERE ${isOpen} AND request IS NOT NULL
      ORDER BY issued_at, nonce`,
    `CREATE TABLE ${prefix}reader (
      name ${T} PRIMARY KEY, version ${I} NOT NULL, place ${T}, holder ${T}
    )${table}`
  ]
}

/** Where events are given their places by who reads. */
export const isPlaceless = "place IS NULL"

/** What was told of a conversation's requests is found when it is removed. */
const removed: Step = (prefix) => [
  `CREATE INDEX ${prefix}event_conversation ON ${prefix}event (conversation, seq) WHERE conversation IS NOT NULL`
]

/**
 * Agents within calls: what is asked in them belongs to the call (`parent`) and to the outermost conversation (`root`), which
 * what was asked before agents could be is of itself. `given` has the decisions that no turn has taken yet.
 */
const agents: Step = (prefix, { text: T }) => {
  const request = `${prefix}request`
  const conversation = `${prefix}conversation`
  return [
    `ALTER TABLE ${request} ADD COLUMN given ${T}`,
    `UPDATE ${request} SET root = conversation WHERE root IS NULL AND conversation IS NOT NULL AND state = 'pending'`,
    `CREATE INDEX ${request}_parent ON ${request} (parent) WHERE parent IS NOT NULL`,
    `CREATE INDEX ${conversation}_parent ON ${conversation} (parent) WHERE parent IS NOT NULL`,
    `CREATE INDEX ${conversation}_root ON ${conversation} (root) WHERE parent IS NOT NULL`
  ]
}

export const steps: ReadonlyArray<readonly [name: string, statements: Step]> = [
  ["first", first],
  ["events", events],
  ["removed", removed],
  ["agents", agents]
]

/** Makes what is not there yet. Of several processes that begin at once, one does it. */
export const migrate = (database: Database): Effect.Effect<void, Store.StoreError> => {
  const { dialect, prefix, sql } = database
  const failed = Problem.fromSqlError("open")
  const table = `${prefix}migration`
  const loader = Migrator.fromRecord(Object.fromEntries(
    steps.map(([name, statements], index) => [`${index + 1}_${name}`, run(sql, statements(prefix, dialect))])
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
