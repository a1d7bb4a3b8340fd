/**
 * Of which requests the database may have given up what became of them. Their time, with the margin, is over by the clock; or
 * it was by one that ran ahead and came back. So it keeps the last time that was over so, and when the latest of those that
 * were given up was asked: whatever was asked later was not among them.
 */
import * as Store from "@assent/ai/Store"
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import type { Database } from "./database.ts"
import * as Problem from "./problem.ts"

/** A row that is given up. */
export interface Gone {
  readonly keep_until: number
  readonly issued_at: number
}

const name = "forgotten"

const read = ({ sql, tables }: Database): Effect.Effect<Gone | undefined, SqlError> =>
  Effect.map(
    sql<{ readonly value: string }>`SELECT value FROM ${tables.setting} WHERE name = ${name}`,
    ([row]) => {
      const [keepUntil = Number.NaN, issuedAt = Number.NaN] = row?.value.split(" ").map(Number) ?? []
      return Number.isFinite(keepUntil) && Number.isFinite(issuedAt)
        ? { keep_until: keepUntil, issued_at: issuedAt }
        : undefined
    }
  )

/** In the transaction in which they are gone. */
export const raise = (database: Database, rows: ReadonlyArray<Gone>): Effect.Effect<void, SqlError> =>
  rows.length === 0 ? Effect.void : Effect.flatMap(Effect.andThen(database.lock(name), read(database)), (known) => {
    const { sql, tables } = database
    const all = known === undefined ? rows : [...rows, known]
    const keepUntil = all.reduce((most, row) => Math.max(most, Number(row.keep_until)), 0)
    const issuedAt = all.reduce((most, row) => Math.max(most, Number(row.issued_at)), 0)
    if (known?.keep_until === keepUntil && known.issued_at === issuedAt) return Effect.void
    const row = sql.insert({ name, value: `${keepUntil} ${issuedAt}` })
    return Effect.asVoid(
      sql`INSERT INTO ${tables.setting} ${row} ON CONFLICT (name) DO UPDATE SET value = excluded.value`
    )
  })

/** Fails where what became of the request may be forgotten: it may have run. */
export const refuse = (
  database: Database,
  operation: string,
  { expiresAt, issuedAt }: Store.RequestName,
  now: number
): Effect.Effect<void, SqlError | Store.StoreError> => {
  if (expiresAt === undefined || expiresAt === Infinity) return Effect.void
  const keepUntil = expiresAt + Store.margin
  if (keepUntil <= now) return Effect.fail(Problem.forgotten(operation))
  return Effect.flatMap(
    read(database),
    (known) =>
      known !== undefined && keepUntil <= known.keep_until && issuedAt <= known.issued_at
        ? Effect.fail(Problem.forgotten(operation))
        : Effect.void
  )
}
