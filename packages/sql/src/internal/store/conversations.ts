/** Conversations and their messages. */
import type * as Store from "@assent/ai/Store"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import { batches, type Database, format, optionalTime } from "./database.ts"
import * as Events from "./events.ts"
import * as Problem from "./problem.ts"
import type { Quotas } from "./quotas.ts"
import * as Text from "./text.ts"

interface Row {
  readonly id: string
  readonly parent: string | null
  readonly root: string | null
  readonly tenant: string | null
  readonly principal: string | null
  readonly name: string
  readonly format: number
  readonly version: number
  readonly stopped: number
  readonly state: string
  readonly messages: number
  readonly bytes: number
  readonly expires_at: number | null
}

export const make = (database: Database, quotas: Quotas): Store.Conversations => {
  const { lock, sql, tables, transact, use } = database
  const { conversation, message, request } = tables

  // Who reads it within a transaction writes what follows from it.
  const alone = (key: string) => lock(`conversation ${key}`)

  const decode = (operation: string, row: Row): Effect.Effect<Store.ConversationRow, Store.StoreError> =>
    Number(row.format) === format
      ? Effect.succeed({
        id: Text.decode(row.id),
        ...Text.optionalFields({
          parent: row.parent,
          root: row.root,
          tenant: row.tenant,
          principal: row.principal
        }),
        name: Text.decode(row.name),
        version: Number(row.version),
        stopped: Number(row.stopped),
        state: Text.decode(row.state),
        messages: Number(row.messages),
        bytes: Number(row.bytes),
        ...(row.expires_at === null ? undefined : { expiresAt: Number(row.expires_at) })
      })
      : Effect.fail(Problem.corrupt(operation, "A conversation"))

  const columns = sql.literal(
    "id, parent, root, tenant, principal, name, format, version, stopped, state, messages, bytes, expires_at"
  )

  const turnOf = ({ begins, tenant }: Store.ConversationWrite) => begins === true ? quotas.turn(tenant) : undefined
  const also = (turn: ReturnType<typeof turnOf>) => turn === undefined ? sql.literal("") : sql`, ${turn.alone}`

  const insertMessages = (id: string, first: number, bodies: ReadonlyArray<string>) =>
    Effect.forEach(
      batches(bodies.map((body, index) => ({ conversation: id, seq: first + index, body }))),
      (rows) => sql`INSERT INTO ${message} ${sql.insert(rows)}`,
      { discard: true }
    )

  /** What was asked in it and never decided goes with it. */
  const removeAsked = Effect.fnUntraced(function*(id: string, hasExpired: boolean, now: number) {
    const asked = yield* sql<{ readonly nonce: string }>`DELETE FROM ${request} WHERE conversation = ${id}
      AND state = 'pending' RETURNING nonce`
    yield* Effect.forEach(
      batches(asked.map(({ nonce }) => nonce).toSorted()),
      (nonces) => Events.ended(database, sql.in("nonce", nonces), { state: hasExpired ? "expired" : "withdrawn" }, now),
      { discard: true }
    )
    yield* Events.forgetWhatWasAskedIn(database, [id])
  })

  /** Those of the agents in it go with it. */
  const removeAgents = Effect.fnUntraced(function*(id: string, hasExpired: boolean, now: number) {
    const agents = yield* sql<{ readonly id: string }>`DELETE FROM ${conversation}
      WHERE root = ${id} AND parent IS NOT NULL AND id <> ${id} RETURNING id`
    for (const agent of agents.toSorted((self, that) => self.id < that.id ? -1 : 1)) {
      yield* removeAsked(agent.id, hasExpired, now)
    }
  })

  const fieldsOf = (write: Store.ConversationWrite, now: number) => ({
    parent: Text.encodeOptional(write.parent),
    root: Text.encodeOptional(write.root),
    tenant: Text.encodeOptional(write.tenant),
    principal: Text.encodeOptional(write.principal),
    name: Text.encode(write.name),
    state: Text.encode(write.state),
    touched_at: now,
    expires_at: optionalTime(write.expiresAt)
  })

  const insert = Effect.fnUntraced(function*(
    id: string,
    write: Store.ConversationWrite,
    bodies: ReadonlyArray<string>,
    now: number
  ) {
    const [found] = yield* sql<Pick<Row, "expires_at">>`SELECT expires_at FROM ${conversation}
      WHERE id = ${id}`
    if (found !== undefined) {
      if (found.expires_at === null || Number(found.expires_at) > now) return undefined
      const gone = yield* sql`DELETE FROM ${conversation} WHERE id = ${id} AND expires_at <= ${now} RETURNING id`
      if (gone.length === 0) return undefined
      yield* removeAsked(id, true, now)
      yield* removeAgents(id, true, now)
    }
    const fields = fieldsOf(write, now)
    const bytes = Text.bytesOf(fields.state) + sizeOf(bodies)
    const version = firstVersion()
    const turn = turnOf(write)
    const made = yield* sql`INSERT INTO ${conversation} ${
      sql.insert({ id, format, version, stopped: 0, messages: bodies.length, bytes, ...fields })
    } ON CONFLICT (id) DO NOTHING RETURNING id${also(turn)}`
    if (made.length === 0) return undefined
    if (turn !== undefined) yield* turn.check
    yield* insertMessages(id, 0, bodies)
    return version
  })

  const update = Effect.fnUntraced(function*(
    id: string,
    version: number,
    write: Store.ConversationWrite,
    bodies: ReadonlyArray<string>,
    now: number
  ) {
    const fields = fieldsOf(write, now)
    const turn = turnOf(write)
    // Nothing of what was there goes: then one statement says it all.
    const added = Text.bytesOf(fields.state) + sizeOf(bodies)
    const grown = yield* sql`UPDATE ${conversation} SET version = version + 1, parent = ${fields.parent},
      root = ${fields.root}, tenant = ${fields.tenant}, principal = ${fields.principal}, name = ${fields.name},
      state = ${fields.state}, messages = messages + ${bodies.length}, bytes = bytes - octet_length(state) + ${added},
      touched_at = ${now}, expires_at = ${fields.expires_at}
      WHERE id = ${id} AND version = ${version} AND messages = ${write.keep}
        AND (expires_at IS NULL OR expires_at > ${now}) RETURNING id${also(turn)}`
    if (grown.length === 1) {
      if (turn !== undefined) yield* turn.check
      yield* insertMessages(id, write.keep, bodies)
      return version + 1
    }
    // First, so that whoever else writes it waits for the row, or finds another version.
    const [found] = yield* sql<
      { readonly messages: number; readonly bytes: number; readonly state: number }
    >`UPDATE ${conversation} SET version = version + 1
      WHERE id = ${id} AND version = ${version} AND (expires_at IS NULL OR expires_at > ${now})
      RETURNING messages, bytes, octet_length(state) AS state`
    if (found === undefined) return undefined
    const messages = Number(found.messages)
    const keep = Math.min(Math.max(Math.trunc(write.keep), 0), messages)
    let gone = 0
    if (keep < messages) {
      const [sum] = yield* sql<
        { readonly bytes: number | null }
      >`SELECT sum(octet_length(body)) AS bytes FROM ${message}
        WHERE conversation = ${id} AND seq >= ${keep}`
      gone = Number(sum?.bytes ?? 0)
      yield* sql`DELETE FROM ${message} WHERE conversation = ${id} AND seq >= ${keep}`
    }
    const bytes = Number(found.bytes) + added - Number(found.state) - gone
    yield* sql`UPDATE ${conversation} SET parent = ${fields.parent}, root = ${fields.root}, tenant = ${fields.tenant},
      principal = ${fields.principal}, name = ${fields.name}, state = ${fields.state}, messages = ${
      keep + bodies.length
    },
      bytes = ${bytes}, touched_at = ${now}, expires_at = ${fields.expires_at} WHERE id = ${id} RETURNING id${
      also(turn)
    }`
    if (turn !== undefined) yield* turn.check
    yield* insertMessages(id, keep, bodies)
    return version + 1
  })

  return {
    get: (id) =>
      use("conversations.get", (now) =>
        Effect.flatMap(
          Effect.andThen(
            alone(Text.encode(id)),
            sql<Row>`SELECT ${columns} FROM ${conversation}
              WHERE id = ${Text.encode(id)} AND (expires_at IS NULL OR expires_at > ${now})`
          ),
          ([row]) => row === undefined ? Effect.undefined : decode("conversations.get", row)
        )),
    read: (id) =>
      use("conversations.read", (now) =>
        Effect.gen(function*() {
          const key = Text.encode(id)
          yield* alone(key)
          // One statement, so that the messages are those of the row.
          const [first, ...rest] = yield* sql<Row & { readonly seq: number; readonly body: string }>`
            SELECT -1 AS seq, NULL AS body, ${columns} FROM ${conversation}
              WHERE id = ${key} AND (expires_at IS NULL OR expires_at > ${now})
            UNION ALL
            SELECT seq, body, ${noColumns(sql)} FROM ${message} WHERE conversation = ${key}
            ORDER BY 1`
          if (first === undefined || Number(first.seq) !== -1) return undefined
          const row = yield* decode("conversations.read", first)
          if (rest.length !== row.messages) return yield* Problem.corrupt("conversations.read", "A conversation")
          return { row, messages: rest.map(({ body }) => Text.decode(body)) }
        })),
    write: (id, version, write) =>
      transact("conversations.write", (now) => {
        const bodies = write.append.map(Text.encode)
        const key = Text.encode(id)
        return version === undefined ? insert(key, write, bodies, now) : update(key, version, write, bodies, now)
      }),
    stop: (id) =>
      use("conversations.stop", (now) =>
        Effect.map(
          sql`UPDATE ${conversation} SET stopped = stopped + 1
            WHERE id = ${Text.encode(id)} AND (expires_at IS NULL OR expires_at > ${now}) RETURNING id`,
          (rows) => rows.length > 0
        )),
    remove: (id) =>
      transact("conversations.remove", (now) =>
        Effect.gen(function*() {
          const key = Text.encode(id)
          const [row] = yield* sql<Pick<Row, "expires_at">>`DELETE FROM ${conversation} WHERE id = ${key}
            RETURNING expires_at`
          const hasExpired = row !== undefined && row.expires_at !== null && Number(row.expires_at) <= now
          yield* removeAsked(key, hasExpired, now)
          yield* removeAgents(key, hasExpired, now)
        }))
  }
}

/**
 * Far from that of any conversation of this id before, also of one that was removed, so that whoever knows a version of
 * that one cannot take this for it.
 */
const firstVersion = (): number =>
  SecureRandom.randomBytesUnsafe(4).reduce((sum, byte) => sum * 256 + byte, 0) * 2 ** 20

const noColumns = (sql: Database["sql"]) =>
  sql.literal("NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL")

const sizeOf = (bodies: ReadonlyArray<string>): number => bodies.reduce((total, body) => total + Text.bytesOf(body), 0)
