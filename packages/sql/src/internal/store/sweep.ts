/** Reclaims what nobody needs any more, a bounded piece at a time. */
import type * as Store from "@assent/ai/Store"
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import { type Database, rowLimit } from "./database.ts"
import * as Events from "./events.ts"
import * as Forgotten from "./forgotten.ts"

/** Pages of the file that are given back with one piece: a millisecond or so. */
const freedPages = 200

/** SQLite's file gets smaller only for whoever asks for it. Whether there is more to give back. */
export const giveBack = ({ sql, use }: Database): Effect.Effect<boolean, Store.StoreError> => {
  const free = Effect.map(
    sql<{ readonly freelist_count: number }>`PRAGMA freelist_count`,
    ([row]) => row?.freelist_count ?? 0
  )
  return use("sweep", () =>
    sql.onDialectOrElse({
      sqlite: () =>
        Effect.gen(function*() {
          const before = yield* free
          if (before === 0) return false
          yield* sql.unsafe(`PRAGMA incremental_vacuum(${freedPages})`)
          const after = yield* free
          // A file that was made by others may not get smaller at all.
          return after > 0 && after < before
        }),
      orElse: () => Effect.succeed(false)
    }))
}

type Rows = ReadonlyArray<unknown>

interface Gone {
  readonly nonce: string
}

export const make = (database: Database, bodiesLife: number, events: Events.Kept): Store.Operations["sweep"] => {
  const { atomically, sql, tables, use } = database
  const { conversation, message, owner, remembered, request } = tables

  // None of them was told of yet where nobody has decided it.
  const expired = (rows: ReadonlyArray<Gone>, now: number) =>
    rows.length === 0
      ? Effect.void
      : Events.ended(database, sql.in("nonce", rows.map(({ nonce }) => nonce)), { state: "expired" }, now)

  // CROSS JOIN, because SQLite then begins with the conversations that expired, of which there are few.
  const pieces = (now: number): ReadonlyArray<(limit: number) => Effect.Effect<Rows, SqlError | Store.StoreError>> => [
    // What agents said in one expires with it.
    (limit) =>
      sql`UPDATE ${conversation} SET expires_at = ${now} WHERE id IN (
        SELECT a.id FROM ${conversation} c CROSS JOIN ${conversation} a
        WHERE a.root = c.id AND a.parent IS NOT NULL AND a.expires_at IS NULL AND c.expires_at <= ${now}
        LIMIT ${limit}) RETURNING 1`,
    (limit) =>
      sql`DELETE FROM ${message} WHERE (conversation, seq) IN (
        SELECT m.conversation, m.seq FROM ${conversation} c CROSS JOIN ${message} m
        WHERE m.conversation = c.id AND c.expires_at <= ${now} LIMIT ${limit}) RETURNING 1`,
    // What was asked in one and never decided goes with it; what was decided stays (law L2).
    (limit) =>
      atomically(Effect.tap(
        sql<Gone>`DELETE FROM ${request} WHERE nonce IN (
          SELECT r.nonce FROM ${conversation} c CROSS JOIN ${request} r
          WHERE r.conversation = c.id AND c.expires_at <= ${now} AND r.state = 'pending' LIMIT ${limit}) RETURNING nonce`,
        (rows) => expired(rows, now)
      )),
    (limit) =>
      sql`DELETE FROM ${conversation} WHERE id IN (
        SELECT id FROM ${conversation} WHERE expires_at <= ${now} LIMIT ${limit}) RETURNING 1`,
    // Together with the word that they are: their clock may be one that runs ahead.
    (limit) =>
      atomically(Effect.tap(
        sql<Forgotten.Gone & Gone>`DELETE FROM ${request} WHERE nonce IN (
          SELECT nonce FROM ${request} WHERE keep_until <= ${now} LIMIT ${limit}) RETURNING nonce, keep_until, issued_at`,
        (rows) => Effect.andThen(Forgotten.raise(database, rows), expired(rows, now))
      )),
    (limit) =>
      sql`UPDATE ${request} SET result = NULL, suspension = NULL WHERE nonce IN (
        SELECT nonce FROM ${request} WHERE (result IS NOT NULL OR suspension IS NOT NULL) AND decided_at <= ${
        now - bodiesLife
      }
          AND (waits IS NULL OR waits = 'over') LIMIT ${limit}) RETURNING 1`,
    (limit) =>
      sql`DELETE FROM ${remembered} WHERE id IN (
        SELECT id FROM ${remembered} WHERE expires_at <= ${now} LIMIT ${limit}) RETURNING 1`,
    (limit) =>
      sql`DELETE FROM ${owner} WHERE id IN (
        SELECT id FROM ${owner} WHERE keep_until <= ${now} LIMIT ${limit}) RETURNING 1`
  ]

  return (limit) =>
    use("sweep", (now) =>
      Effect.gen(function*() {
        const most = rowLimit(limit)
        let left = most
        for (const piece of pieces(now)) {
          // Each is a transaction of its own, so that nobody waits for all of them.
          if (left > 0) left -= (yield* piece(left)).length
        }
        if (left > 0) left -= yield* Events.sweep(database, events, now, left)
        return most - left
      }))
}
