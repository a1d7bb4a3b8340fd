/** What happened to requests, and how far whoever reads that has come. */
import * as Store from "@assent/ai/Store"
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import { type Database, rowLimit } from "./database.ts"
import { isNewsOfExpired, isOpen, isPlaceless, isTold, mayEnd } from "./migrations.ts"
import * as Problem from "./problem.ts"
import * as Text from "./text.ts"

interface Row {
  readonly place: number
  readonly event: Store.EventRow["event"]
  readonly at: number
  readonly state: Store.EndState | null
  readonly entry: string | null
  readonly nonce: string
  readonly tenant: string | null
  readonly principal: string | null
  readonly conversation: string | null
  readonly tool: string
  readonly request_kind: string
  readonly request: string
}

const decode = (row: Row): Store.EventRow => ({
  cursor: String(row.place),
  event: row.event,
  at: Number(row.at),
  nonce: Text.decode(row.nonce),
  toolName: Text.decode(row.tool),
  kind: Text.decode(row.request_kind),
  request: Text.decode(row.request),
  ...Text.optionalFields({ tenant: row.tenant, principal: row.principal, conversation: row.conversation }),
  ...(row.event !== "decided" || row.state === null
    ? undefined
    : { ended: { state: row.state, ...Text.optionalFields({ entry: row.entry }) } })
})

// =============================================================================
// Telling
// =============================================================================

/** Those of these requests that are listed are told to be, once; what was told of them is as they are shown by now. */
export const opened = (
  { sql, tables: { event, request } }: Database,
  nonces: ReadonlyArray<string>,
  now: number
): Effect.Effect<void, SqlError> => {
  const these = (table: Fragment) => sql`${table}.${sql.in("nonce", nonces)}`
  const tell =
    sql`INSERT INTO ${event} (kind, at, nonce, tenant, principal, conversation, tool, request_kind, expires_at,
      request, told)
    SELECT 'opened', ${now}, nonce, tenant, principal, coalesce(root, conversation), tool, kind, expires_at, request, 0
    FROM ${request}
    WHERE ${these(request)} AND ${sql.literal(isOpen)} AND request IS NOT NULL
      AND (expires_at IS NULL OR expires_at > ${now})
      AND NOT EXISTS (SELECT 1 FROM ${event} e WHERE e.nonce = ${request}.nonce AND ${sql.literal(mayEnd)})
    ORDER BY nonce RETURNING seq`
  const showAnew = sql`UPDATE ${event} SET request = shown.request FROM ${request} AS shown
    WHERE ${these(event)} AND ${sql.literal(mayEnd)} AND shown.nonce = ${event}.nonce
      AND shown.request <> ${event}.request`
  return Effect.flatMap(tell, (told) => told.length === nonces.length ? Effect.void : Effect.asVoid(showAnew))
}

/** What became of these requests, of which it was not told yet. */
export const ended = (
  { dialect, sql, tables: { event } }: Database,
  which: Fragment,
  { entry, state }: Store.Ended,
  now: number
): Effect.Effect<void, SqlError> => {
  const kind = state === "expired" ? "expired" : "decided"
  const more = isNewsOfExpired.includes(`'${state}'`) ? "" : ` AND ${isTold}`
  return Effect.asVoid(
    sql`INSERT INTO ${event} (kind, at, opened, state, entry)
      SELECT ${kind}, ${now}, seq, ${state}, ${Text.encodeOptional(entry)} FROM ${event}
      WHERE ${which} AND ${sql.literal(mayEnd + more)} ORDER BY nonce${sql.literal(dialect.forUpdate)}`
  )
}

/** What was asked in conversations that are removed is told by its names from now on. */
export const forgetWhatWasAskedIn = Effect.fnUntraced(function*(
  { sql, tables: { event } }: Database,
  conversations: ReadonlyArray<string>
): Effect.fn.Return<void, SqlError> {
  const asked = yield* sql<{ readonly seq: number; readonly last: number | null; readonly request: string }>`
    SELECT seq, last, request FROM ${event} WHERE ${sql.in("conversation", conversations)}`
  for (const { last, request, seq } of asked) {
    const names = Text.encode(Store.requestOfRemoved(Text.decode(request)))
    yield* sql`UPDATE ${event} SET request = ${names} WHERE seq = ${seq}`
    if (last !== null) yield* sql`UPDATE ${event} SET entry = NULL WHERE seq = ${last}`
  }
})

/**
 * That those whose time is over have expired: at most so many, and how many. Where there is none, nothing is written. Who
 * reads what is told waits for those that somebody else is telling of; who sweeps leaves them to whoever that is.
 */
const expire = Effect.fnUntraced(function*(
  { sql, tables: { event }, transact }: Database,
  operation: string,
  limit: number,
  now: number,
  lock: string
): Effect.fn.Return<number, SqlError | Store.StoreError> {
  const isDue = sql`${sql.literal(isTold)} AND expires_at IS NOT NULL AND expires_at <= ${now}`
  const [due] = yield* sql`SELECT 1 AS due FROM ${event} WHERE ${isDue} LIMIT 1`
  if (due === undefined) return 0
  const told = yield* transact(
    operation,
    () =>
      sql`INSERT INTO ${event} (kind, at, opened, state) SELECT 'expired', ${now}, seq, 'expired' FROM ${event}
      WHERE ${isDue} ORDER BY expires_at, nonce LIMIT ${limit}${sql.literal(lock)} RETURNING seq`
  )
  return told.length
})

// =============================================================================
// Reading
// =============================================================================

const placeOf = ({ dialect, sql }: Database): Fragment => sql.literal(dialect.place)

/** Before which nothing is kept, and the newest. */
const bounds = (database: Database) => {
  const { sql, tables: { event, setting } } = database
  return Effect.map(
    sql<{ readonly floor: string | null; readonly newest: number | null }>`SELECT
      (SELECT value FROM ${setting} WHERE name = ${floorName}) AS floor,
      (SELECT max(${placeOf(database)}) FROM ${event}) AS newest`,
    ([row]) => {
      const floor = Number(row?.floor ?? 0)
      return { floor, newest: Math.max(floor, Number(row?.newest ?? 0)) }
    }
  )
}

/**
 * Where several write at once, what was written first may be there last. So there no event has a place until somebody reads:
 * one who does at a time gives the next ones to those that are there by then, and no place ever comes before one that was
 * read. At most so many, and how many; others that wait have to wait for their places too.
 */
const settle = Effect.fnUntraced(function*(
  database: Database,
  operation: string,
  limit: number
): Effect.fn.Return<number, SqlError | Store.StoreError> {
  const { dialect, lock, sql, tables: { event }, transact } = database
  if (dialect.place === "seq") return 0
  const placeless = sql.literal(isPlaceless)
  const [some] = yield* sql`SELECT 1 AS some FROM ${event} WHERE ${placeless} LIMIT 1`
  if (some === undefined) return 0
  const settled = yield* transact(operation, () =>
    Effect.gen(function*() {
      yield* lock("places")
      const { newest } = yield* bounds(database)
      return yield* sql`UPDATE ${event} SET place = CAST(${newest} AS bigint) + found.number FROM (
          SELECT seq, row_number() OVER (ORDER BY seq) AS number FROM (
            SELECT seq FROM ${event} WHERE ${placeless} ORDER BY seq LIMIT ${limit}) AS placeless) AS found
        WHERE ${event}.seq = found.seq RETURNING found.seq`
    }))
  return settled.length
})

const settleAll = Effect.fnUntraced(function*(database: Database, operation: string) {
  while ((yield* settle(database, operation, Store.maxScanned)) === Store.maxScanned);
})

const floorName = "events"

const raiseFloor = ({ sql, tables: { setting } }: Database, floor: number) =>
  sql`INSERT INTO ${setting} ${sql.insert({ name: floorName, value: String(floor) })}
    ON CONFLICT (name) DO UPDATE SET value = excluded.value`

export const make = (database: Database): Store.Events => {
  const { sql, tables: { event }, use } = database
  const place = placeOf(database)

  const after = Effect.fnUntraced(function*(from: number, filter: Store.EventFilter, limit: number) {
    // What is looked at is bounded, whether the filter names it or not.
    const [scanned] = yield* sql<{ readonly last: number | null; readonly count: number }>`
      SELECT max(${place}) AS last, count(*) AS count FROM
        (SELECT ${place} FROM ${event} WHERE ${place} > ${from} ORDER BY ${place} LIMIT ${
      Store.maxScanned + 1
    }) AS scanned`
    if (scanned === undefined || scanned.last === null) return { rows: [], next: from, isMore: false }
    const exactly = (column: string, value: string | undefined) =>
      value === undefined ? [] : [sql`o.${sql.literal(column)} = ${Text.encode(value)}`]
    const last = Number(scanned.last)
    const rows = yield* sql<Row>`
      SELECT e.${place} AS place, e.kind AS event, e.at, e.state, e.entry, o.nonce, o.tenant, o.principal, o.conversation, o.tool,
        o.request_kind, o.request
      FROM ${event} e JOIN ${event} o ON o.seq = coalesce(e.opened, e.seq)
      WHERE ${
      sql.and([
        sql`e.${place} > ${from}`,
        sql`e.${place} <= ${last}`,
        ...exactly("tenant", filter.tenant),
        ...exactly("principal", filter.principal),
        ...exactly("conversation", filter.conversation),
        ...exactly("tool", filter.toolName),
        ...exactly("request_kind", filter.kind)
      ])
    } ORDER BY e.${place} LIMIT ${limit}`
    const isFull = rows.length === limit
    return {
      rows,
      next: isFull ? Number(rows[limit - 1]!.place) : last,
      isMore: isFull || Number(scanned.count) > Store.maxScanned
    }
  })

  return {
    latest: use("events.latest", () =>
      Effect.andThen(
        settleAll(database, "events.latest"),
        Effect.map(bounds(database), ({ newest }) => String(newest))
      )),
    page: (filter, options) => {
      const limit = Math.max(1, rowLimit(options.limit))
      return use("events.page", (now) =>
        Effect.gen(function*() {
          const given = options.after === undefined ? undefined : readPlace(options.after)
          if (options.after !== undefined && given === undefined) return yield* Problem.noPlace("events.page")
          const told = yield* expire(database, "events.page", Store.maxScanned, now, database.dialect.forUpdate)
          const settled = yield* settle(database, "events.page", Store.maxScanned)
          let from = given ?? (yield* bounds(database)).floor
          let isMissed = false
          while (true) {
            const { isMore, next, rows } = yield* after(from, filter, limit)
            // Read later than the events, so that what somebody gave up before that is known to be missing.
            const { floor, newest } = yield* bounds(database)
            if (from >= floor && from <= newest) {
              return {
                events: rows.map(decode),
                from: String(from),
                next: String(next),
                isMore: isMore || Math.max(told, settled) === Store.maxScanned,
                isMissed
              }
            }
            isMissed = given !== undefined
            from = floor
          }
        }))
    }
  }
}

const readPlace = (cursor: string): number | undefined => {
  const seq = Number(cursor)
  return /^\d+$/.test(cursor) && Number.isSafeInteger(seq) ? seq : undefined
}

export const makeReaders = ({ sql, tables: { reader }, use }: Database): Store.Readers => ({
  get: (name) =>
    use("readers.get", () =>
      Effect.map(
        sql<{ readonly version: number; readonly place: string | null; readonly holder: string | null }>`
          SELECT version, place, holder FROM ${reader} WHERE name = ${Text.encode(name)}`,
        ([row]) =>
          row === undefined ? undefined : {
            version: Number(row.version),
            ...Text.optionalFields({ cursor: row.place, holder: row.holder })
          }
      )),
  move: (name, version, to) => {
    const fields = { place: Text.encodeOptional(to.cursor), holder: Text.encodeOptional(to.holder) }
    const next = (version ?? 0) + 1
    return use("readers.move", () =>
      Effect.map(
        version === undefined
          ? sql`INSERT INTO ${reader} ${sql.insert({ name: Text.encode(name), version: next, ...fields })}
              ON CONFLICT (name) DO NOTHING RETURNING name`
          : sql`UPDATE ${reader} SET version = ${next}, place = ${fields.place}, holder = ${fields.holder}
              WHERE name = ${Text.encode(name)} AND version = ${version} RETURNING name`,
        (rows) => rows.length === 1 ? next : undefined
      ))
  }
})

// =============================================================================
// Giving up
// =============================================================================

export interface Kept {
  /** Milliseconds. */
  readonly life: number
  readonly count: number
}

/** Tells what has expired and gives up what was kept for long enough: at most so many, and how many. */
export const sweep = Effect.fnUntraced(function*(
  database: Database,
  { count, life }: Kept,
  now: number,
  limit: number
): Effect.fn.Return<number, SqlError | Store.StoreError> {
  const { atomically, dialect, lock, sql, tables: { event, request } } = database
  const place = placeOf(database)
  const told = yield* expire(database, "sweep", limit, now, dialect.forUpdateOfFree())
  if (told === limit) return told
  yield* settle(database, "sweep", limit)
  const isAged = Effect.gen(function*() {
    const { floor, newest } = yield* bounds(database)
    const rows = yield* sql<{ readonly place: number; readonly at: number }>`SELECT ${place} AS place, at FROM ${event}
      WHERE ${place} > ${floor} ORDER BY ${place} LIMIT ${limit - told}`
    const end = rows.findIndex(({ at, place }) => Number(at) > now - life && Number(place) > newest - count)
    const aged = end < 0 ? rows : rows.slice(0, end)
    return { floor, newest, aged, upTo: Number(aged.at(-1)?.place ?? floor) }
  })
  if ((yield* isAged).aged.length === 0) return told
  return yield* atomically(Effect.gen(function*() {
    yield* lock("events given up")
    const { aged, floor, newest, upTo } = yield* isAged
    if (aged.length === 0) return told
    const these = sql`${place} > ${floor} AND ${place} <= ${upTo}`
    const isLast = dialect.place === "seq"
      ? sql`last <= ${upTo}`
      : sql`EXISTS (SELECT 1 FROM ${event} AS ended WHERE ended.seq = ${event}.last AND ended.place <= ${upTo})`
    // One that was opened is there as long as what is told of it. What was answered and never carried out ends nowhere else.
    yield* sql`DELETE FROM ${event} WHERE ${isLast} AND seq IN
      (SELECT opened FROM ${event} WHERE ${these} AND opened IS NOT NULL)`
    // The numbers go on from the newest.
    const old = sql`${these} AND ${place} < ${newest}`
    yield* sql`DELETE FROM ${event} WHERE ${old} AND opened IS NOT NULL`
    yield* sql`DELETE FROM ${event} WHERE ${old} AND ${sql.literal(isTold)} AND NOT EXISTS (SELECT 1 FROM ${request} r
      WHERE r.nonce = ${event}.nonce AND ${sql.literal(isOpen)} AND r.request IS NOT NULL)`
    yield* raiseFloor(database, upTo)
    return told + aged.length
  }))
})

/** No place that was given before is one any more. */
export const restart = Effect.fnUntraced(function*(
  database: Database,
  now: number
): Effect.fn.Return<void, SqlError | Store.StoreError> {
  const { dialect, sql, tables: { event } } = database
  yield* settleAll(database, "restored")
  const next = (yield* bounds(database)).newest + restartStep
  yield* sql`DELETE FROM ${event} WHERE opened IS NOT NULL OR told IS NULL OR told > 0`
  yield* sql`INSERT INTO ${event} ${sql.insert({ [dialect.place]: next, kind: "restored", at: now })}`
  yield* raiseFloor(database, next)
})

/** More than any database will have told since its backup. */
const restartStep = 2 ** 40
