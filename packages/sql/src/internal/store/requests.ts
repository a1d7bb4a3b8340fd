/** Requests: what became of them, and how those stand as which tools wait. */
import * as Store from "@assent/ai/Store"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import type { Fragment } from "effect/sql/Statement"
import { batches, compile, type Database, format, optionalTime, rowLimit, time } from "./database.ts"
import * as Events from "./events.ts"
import * as Forgotten from "./forgotten.ts"
import { isOpen, isWaiting } from "./migrations.ts"
import * as Problem from "./problem.ts"
import type { Quotas } from "./quotas.ts"
import * as Text from "./text.ts"

interface Row {
  readonly nonce: string
  readonly approval_id: string
  readonly conversation: string | null
  readonly parent: string | null
  readonly root: string | null
  readonly tenant: string | null
  readonly principal: string | null
  readonly tool: string
  readonly call: string
  readonly kind: string
  readonly format: number
  readonly state: Store.RequestRow["state"]
  readonly version: number
  readonly issued_at: number
  readonly expires_at: number | null
  readonly waits: "open" | "taken" | "over" | null
  readonly due_at: number | null
  readonly webhook: string | null
  readonly entry: string | null
  readonly result: string | null
  readonly request: string | null
  readonly suspension: string | null
  readonly answer: string | null
  readonly given: string | null
}

const columnNames = "nonce, approval_id, conversation, parent, root, tenant, principal, tool, call, kind, format," +
  " state, version, issued_at, expires_at, waits, due_at, webhook, entry, result, request, suspension, answer, given"

const goesOn = "'approved', 'edited', 'answered', 'running'"

/**
 * Whether nobody decides it any more and nobody waits: what is left is to know what became of it. Then the request as it was
 * shown, the answer and the time it is due are given up.
 */
const isOver = (table: string, state: string): string =>
  `(CASE ${table}.waits WHEN 'open' THEN FALSE WHEN 'taken' THEN FALSE WHEN 'over' THEN ${state} NOT IN (${goesOn})` +
  ` ELSE ${state} NOT IN ('pending', ${goesOn}) END)`

/** Not one of a later version of this library. */
const isKnown = (row: Row): boolean => Number(row.format) === format

const decode = (operation: string, row: Row): Effect.Effect<Store.RequestRow, Store.StoreError> =>
  isKnown(row)
    ? Effect.succeed({
      nonce: Text.decode(row.nonce),
      approvalId: Text.decode(row.approval_id),
      toolName: Text.decode(row.tool),
      toolCallId: Text.decode(row.call),
      kind: Text.decode(row.kind),
      state: row.state,
      version: Number(row.version),
      issuedAt: Number(row.issued_at),
      ...(row.expires_at === null ? undefined : { expiresAt: Number(row.expires_at) }),
      ...(row.waits === null ? undefined : { waits: row.waits }),
      ...(row.due_at === null ? undefined : { dueAt: Number(row.due_at) }),
      ...Text.optionalFields({
        conversation: row.conversation,
        parent: row.parent,
        root: row.root,
        tenant: row.tenant,
        principal: row.principal,
        webhook: row.webhook,
        entry: row.entry,
        result: row.result,
        request: row.request,
        suspension: row.suspension,
        answer: row.answer,
        given: row.given
      })
    })
    : Effect.fail(Problem.corrupt(operation, "A request"))

/** Of nobody has decided anything yet. */
const fresh = (name: Store.RequestName, margin: number = Store.margin) => ({
  nonce: Text.encode(name.nonce),
  approval_id: Text.encode(name.approvalId),
  conversation: Text.encodeOptional(name.conversation),
  parent: Text.encodeOptional(name.parent),
  root: Text.encodeOptional(name.root),
  tenant: Text.encodeOptional(name.tenant),
  principal: Text.encodeOptional(name.principal),
  tool: Text.encode(name.toolName),
  call: Text.encode(name.toolCallId),
  kind: Text.encode(name.kind),
  format,
  state: "pending",
  version: 0,
  issued_at: time(name.issuedAt),
  expires_at: optionalTime(name.expiresAt),
  keep_until: optionalTime(name.expiresAt === undefined ? undefined : name.expiresAt + margin)
})

const freshColumns = Object.keys(
  fresh({ nonce: "", approvalId: "", toolName: "", toolCallId: "", kind: "", issuedAt: 0 })
)

export const make = (database: Database, quotas: Quotas): Store.Requests => {
  const { lock, prefix, sql, tables, transact, use } = database
  const table = tables.request
  const tableName = `${prefix}request`
  const columns = sql.literal(columnNames)
  // With its table, because beside what is to be inserted a column alone may be of either.
  const isThere = (now: number | "now") => sql`(${table}.keep_until IS NULL OR ${table}.keep_until > ${now})`

  /** Until it is reclaimed, what was asked in a conversation that has expired is there, and nobody can decide it. */
  const isToBeDecided = (now: number) =>
    sql`NOT EXISTS (SELECT 1 FROM ${tables.conversation} c
      WHERE c.id IN (${table}.conversation, ${table}.root) AND c.expires_at <= ${now})`

  /** Of a transaction. One that expired is not there, and must not be in the way of one that begins. */
  const removeExpired = Effect.fnUntraced(function*(nonces: ReadonlyArray<string>, now: number) {
    const gone = yield* sql<Forgotten.Gone & Pick<Row, "nonce">>`DELETE FROM ${table}
      WHERE ${sql.in("nonce", nonces)} AND keep_until <= ${now} RETURNING nonce, keep_until, issued_at`
    if (gone.length === 0) return false
    yield* Forgotten.raise(database, gone)
    yield* Events.ended(database, sql.in("nonce", gone.map(({ nonce }) => nonce)), { state: "expired" }, now)
    return true
  })

  const select = (operation: string, now: number, where: Fragment, rest?: Fragment) =>
    Effect.flatMap(
      sql<Row>`SELECT ${columns} FROM ${table} WHERE ${where} AND ${isThere(now)} ${rest ?? sql.literal("")}`,
      (rows) => Effect.forEach(rows, (row) => decode(operation, row))
    )

  const selectOne = (operation: string, where: (now: number) => Fragment, rest?: Fragment) =>
    use(operation, (now) => Effect.map(select(operation, now, where(now), rest), ([row]) => row))

  /** Of several, the one that waits, or else the latest. */
  const bestFirst = sql.literal("ORDER BY CASE waits WHEN 'open' THEN 0 ELSE 1 END, issued_at DESC, nonce DESC LIMIT 1")

  const wrote = (rows: ReadonlyArray<unknown>): boolean => rows.length === 1

  // What every claim and every record needs is compiled once.
  const getOne = compile(sql, sql<Row>`SELECT ${columns} FROM ${table} WHERE nonce = ${"nonce"} AND ${isThere("now")}`)

  const decisions = new Map<Store.Decided["state"], Record<"first" | "next", ReturnType<typeof compile>>>()
  const decisionOf = (state: Store.Decided["state"]) => {
    const known = decisions.get(state)
    if (known !== undefined) return known
    const over = sql.literal(isOver(tableName, `'${state}'`))
    const decided = ["state", "version", "entry", "result", "owner", "decided_at"]
    const set = sql`${
      sql.csv(decided.map((name) => sql`${sql.literal(name)} = ${name}`))
    }, request = CASE WHEN ${over} THEN NULL ELSE ${table}.request END,
      answer = CASE WHEN ${over} THEN NULL ELSE ${table}.answer END,
      given = CASE WHEN ${over} THEN NULL ELSE ${table}.given END,
      due_at = CASE WHEN ${over} THEN NULL ELSE ${table}.due_at END`
    const all = Object.fromEntries([...freshColumns, ...decided].map((name) => [name, name]))
    const made = {
      first: compile(
        sql,
        sql`INSERT INTO ${table} ${sql.insert(all)} ON CONFLICT (nonce) DO UPDATE SET ${set} WHERE ${table}.version = 0
          AND ${isThere("now")} RETURNING nonce`
      ),
      next: compile(
        sql,
        sql`UPDATE ${table} SET ${set} WHERE nonce = ${"nonce"} AND version = ${"from"} AND ${isThere("now")}
          RETURNING nonce`
      )
    }
    decisions.set(state, made)
    return made
  }

  const decide = (
    name: Store.RequestName,
    version: number,
    { entry, owner, result, state }: Store.Decided,
    now: number
  ) => {
    const decided = {
      state,
      version: version + 1,
      entry: Text.encode(entry),
      result: Text.encodeOptional(result),
      owner: Text.encodeOptional(owner),
      decided_at: now
    }
    const { first, next } = decisionOf(state)
    return Effect.map(
      version === 0
        ? first({ ...fresh(name), ...decided, now })
        : next({ ...decided, nonce: Text.encode(name.nonce), from: version, now }),
      wrote
    )
  }

  return {
    get: (nonce) =>
      use(
        "requests.get",
        (now) =>
          Effect.flatMap(getOne({ nonce: Text.encode(nonce), now }), ([row]) =>
            row === undefined ? Effect.undefined : decode("requests.get", row))
      ),
    open: (requests) =>
      transact("requests.open", (now) =>
        Effect.forEach(batches(once(requests)), (chunk) => {
          const rows = Arr.map(chunk, ({ request, ...name }) => ({ ...fresh(name), request: Text.encode(request) }))
          const nonces = rows.map(({ nonce }) => nonce)
          return Effect.andThen(
            removeExpired(nonces, now),
            sql`INSERT INTO ${table} ${sql.insert(rows)} ON CONFLICT (nonce) DO UPDATE SET request = excluded.request
              WHERE NOT ${sql.literal(isOver(tableName, `${tableName}.state`))}`
          ).pipe(Effect.andThen(Events.opened(database, nonces, now)))
        }, { discard: true })),
    close: (nonces, ended) =>
      transact("requests.close", (now) =>
        Effect.forEach(batches(nonces), (chunk) => {
          const named = sql.in("nonce", chunk.map(Text.encode))
          const closed = sql`${named} AND state = 'pending'`
          const cleared = sql`UPDATE ${table} SET request = NULL, given = NULL WHERE ${closed}`
          return Effect.flatMap(
            sql`DELETE FROM ${table} WHERE ${closed} AND waits IS NULL AND version = 0 RETURNING nonce`,
            (gone) => gone.length === chunk.length ? Effect.void : Effect.asVoid(cleared)
          ).pipe(Effect.andThen(ended === undefined ? Effect.void : Events.ended(database, named, ended, now)))
        }, { discard: true })),
    decide: (name, version, decided) => {
      const begins = decided.state === "running"
      const run = (now: number) =>
        Effect.gen(function*() {
          // What begins needs room; what ends a request, or tells of a run, is let through.
          if (begins) yield* quotas.begin("requests.decide", name.tenant)
          if (version === 0 && (begins || decided.state === "pending")) {
            yield* Effect.catchTag(
              Forgotten.refuse(database, "requests.decide", name, now),
              "StoreError",
              // What a tool waits for is kept for longer, and never in the place of what was forgotten.
              (error) =>
                Effect.flatMap(
                  getOne({ nonce: Text.encode(name.nonce), now }),
                  ([row]) => row !== undefined && row.waits !== null ? Effect.void : Effect.fail(error)
                )
            )
          }
          if (yield* decide(name, version, decided, now)) return true
          if (version !== 0) return false
          const gone = yield* transact("requests.decide", () => removeExpired([Text.encode(name.nonce)], now))
          if (!gone) return false
          return yield* decide(name, version, decided, now)
        })
      return use("requests.decide", run)
    },
    suspend: (suspended) =>
      transact("requests.suspend", (now) =>
        Effect.gen(function*() {
          const { dueAt, suspension, webhook, ...name } = suspended
          const row = {
            ...fresh(name, Store.waitingMargin),
            waits: "open",
            suspension: Text.encode(suspension),
            due_at: optionalTime(dueAt),
            webhook: Text.encodeOptional(webhook)
          }
          yield* quotas.begin("requests.suspend", name.tenant)
          yield* removeExpired([row.nonce], now)
          const [known] = yield* sql<Pick<Row, "waits">>`SELECT waits FROM ${table} WHERE nonce = ${row.nonce}`
          if (known !== undefined && known.waits !== null) return "known"
          yield* Forgotten.refuse(database, "requests.suspend", name, now)
          if (row.webhook !== null) {
            yield* lock(`webhook ${row.webhook}`)
            const [other] = yield* sql<
              { readonly gone: number | null }
            >`SELECT keep_until <= ${now} AS gone FROM ${table}
              WHERE webhook = ${row.webhook} AND waits = 'open'`
            if (other !== undefined && Number(other.gone) === 0) return "webhook"
            // One that expired is not there.
            yield* sql`DELETE FROM ${table} WHERE webhook = ${row.webhook} AND waits = 'open'`
          }
          const begun = yield* sql`INSERT INTO ${table} ${sql.insert(row)} ON CONFLICT (nonce) DO UPDATE
            SET waits = 'open', suspension = excluded.suspension, due_at = excluded.due_at, webhook = excluded.webhook,
            keep_until = excluded.keep_until WHERE ${table}.waits IS NULL RETURNING nonce`
          return begun.length === 1 ? "suspended" : "known"
        })),
    advance: (nonce, from, to, suspension) =>
      use("requests.advance", (now) => {
        const over = sql.literal(to === "over" ? "TRUE" : "FALSE")
        const states = from.filter((state) => state === "open" || state === "taken")
        if (states.length === 0) return Effect.succeed(false)
        return Effect.map(
          sql`UPDATE ${table} SET waits = ${to}, due_at = NULL,
            suspension = coalesce(${Text.encodeOptional(suspension)}, suspension),
            answer = CASE WHEN ${over} THEN NULL ELSE answer END,
            request = CASE WHEN ${over} AND state NOT IN (${sql.literal(goesOn)}) THEN NULL ELSE request END,
            decided_at = coalesce(decided_at, ${now})
            WHERE nonce = ${Text.encode(nonce)} AND ${sql.in("waits", states)} AND ${isThere(now)} RETURNING nonce`,
          wrote
        )
      }),
    deliver: (nonce, answer, entry) =>
      transact("requests.deliver", (now) =>
        Effect.flatMap(
          sql`UPDATE ${table} SET answer = ${Text.encode(answer)}, due_at = 0
            WHERE nonce = ${Text.encode(nonce)} AND waits = 'open' AND answer IS NULL AND ${
            isThere(now)
          } RETURNING nonce`,
          (rows) =>
            wrote(rows)
              ? Effect.as(
                Events.ended(database, sql`nonce = ${Text.encode(nonce)}`, { state: "answered", entry }, now),
                true
              )
              : Effect.succeed(false)
        )),
    give: (nonce, known, given, wakes) =>
      transact("requests.give", (now) =>
        Effect.gen(function*() {
          const before = Text.encodeOptional(known)
          const kept = yield* sql`UPDATE ${table} SET given = ${Text.encodeOptional(given)}
            WHERE nonce = ${Text.encode(nonce)} AND ${sql.literal(isOpen)} AND ${isThere(now)} AND ${isToBeDecided(now)}
              AND ${before === null ? sql.literal("given IS NULL") : sql`given = ${before}`} RETURNING nonce`
          if (!wrote(kept)) return false
          if (wakes !== undefined) {
            yield* sql`UPDATE ${table} SET due_at = 0 WHERE nonce = ${Text.encode(wakes)} AND waits = 'open'`
          }
          return true
        })),
    // Written, so that whoever would end it waits.
    holds: (nonce, version) =>
      use("requests.holds", (now) =>
        Effect.map(
          sql`UPDATE ${table} SET version = version
            WHERE nonce = ${Text.encode(nonce)} AND version = ${version} AND state = 'running' AND ${isThere(now)}
            RETURNING nonce`,
          wrote
        )),
    hasWithin: (parent) =>
      use(
        "requests.hasWithin",
        () =>
          Effect.map(
            sql`SELECT 1 FROM ${table} WHERE parent = ${Text.encode(parent)}
              UNION ALL SELECT 1 FROM ${tables.conversation} WHERE parent = ${Text.encode(parent)} LIMIT 1`,
            (rows) => rows.length > 0
          )
      ),
    within: (parent) =>
      use("requests.within", (now) =>
        select(
          "requests.within",
          now,
          sql`parent = ${Text.encode(parent)} AND (NOT ${
            sql.literal(isOver(tableName, `${tableName}.state`))
          } OR state IN ('suspended', 'unknown'))`,
          sql`ORDER BY nonce`
        )),
    told: (nonce) =>
      use("requests.told", () =>
        Effect.asVoid(
          sql`UPDATE ${table} SET due_at = NULL WHERE nonce = ${Text.encode(nonce)} AND due_at IS NOT NULL`
        )),
    byWebhook: (webhook) => selectOne("requests.byWebhook", () => sql`webhook = ${Text.encode(webhook)}`, bestFirst),
    page: (filter, { after, limit }) =>
      use("requests.page", (now) =>
        Effect.gen(function*() {
          const size = Math.max(1, rowLimit(limit))
          const cursor = after === undefined ? undefined : readCursor(after)
          if (after !== undefined && cursor === undefined) return yield* Problem.noPage("requests.page")
          const exactly = (column: string, value: string | undefined) =>
            value === undefined ? [] : [sql`${sql.literal(column)} = ${Text.encode(value)}`]
          const where = sql.and([
            sql.literal(isOpen),
            sql.literal("given IS NULL"),
            ...exactly("tenant", filter.tenant),
            ...exactly("principal", filter.principal),
            ...exactly("conversation", filter.conversation),
            ...exactly("root", filter.root),
            ...exactly("tool", filter.toolName),
            ...exactly("kind", filter.kind),
            ...(filter.waiting === true ? [sql.literal(isWaiting)] : []),
            ...(filter.issuedBefore === undefined ? [] : [sql`issued_at < ${time(filter.issuedBefore)}`]),
            ...(cursor === undefined ? [] : [sql`(issued_at, nonce) > (${cursor.issuedAt}, ${cursor.nonce})`]),
            sql`(expires_at IS NULL OR expires_at > ${now})`,
            isToBeDecided(now)
          ])
          // One more, to know whether there is another page.
          const rows = yield* sql<Row>`SELECT ${columns} FROM ${table} WHERE ${where}
            ORDER BY issued_at, nonce LIMIT ${size + 1}`
          const known = rows.slice(0, size).filter(isKnown)
          const unknown = Math.min(size, rows.length) - known.length
          // Somebody has to see the others, also while another process is of a later version.
          if (unknown > 0) yield* Effect.logWarning(Problem.leftOut(unknown))
          const requests = yield* Effect.forEach(known, (row) => decode("requests.page", row))
          const last = rows.length > size ? rows[size - 1] : undefined
          return { requests, next: last === undefined ? undefined : `${last.issued_at}.${last.nonce}` }
        })),
    due: (until, limit, without = none) =>
      use("requests.due", (now) => {
        const left = Array.from(without, Text.encode).slice(0, maxLeftOut)
        const isWanted = left.length === 0 ? sql.literal("TRUE") : sql`NOT ${sql.in("nonce", left)}`
        const known = sql`format = ${format} AND ${isWanted}`
        return Effect.map(
          select(
            "requests.due",
            now,
            sql`waits = 'open' AND due_at IS NOT NULL AND due_at <= ${time(until)} AND ${known}`,
            sql`ORDER BY due_at, nonce LIMIT ${rowLimit(limit + without.size - left.length)}`
          ),
          (rows) => rows.filter(({ nonce }) => !without.has(nonce)).slice(0, limit)
        )
      })
  }
}

/** Each in one row, by whose order everybody waits for others: as it was first, and shown as it was last. */
const once = <A extends { readonly nonce: string; readonly request: string }>(
  requests: ReadonlyArray<A>
): ReadonlyArray<A> => {
  const rows = new Map<string, A>()
  for (const one of requests) rows.set(one.nonce, { ...(rows.get(one.nonce) ?? one), request: one.request })
  return [...rows.values()].toSorted((left, right) => left.nonce < right.nonce ? -1 : 1)
}

const none: ReadonlySet<string> = new Set()

/** How many are named in a statement; a database takes only so many. */
const maxLeftOut = 500

/** Where a page ended. */
const readCursor = (after: string): { readonly issuedAt: number; readonly nonce: string } | undefined => {
  const dot = after.indexOf(".")
  const issuedAt = Number(after.slice(0, dot))
  return dot > 0 && Number.isSafeInteger(issuedAt) ? { issuedAt, nonce: after.slice(dot + 1) } : undefined
}
