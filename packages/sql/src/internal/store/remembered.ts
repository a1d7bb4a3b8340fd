/** Remembered answers, by key. */
import type * as Store from "@assent/ai/Store"
import * as Effect from "effect/Effect"
import { type Database, format, optionalTime, rowLimit } from "./database.ts"
import * as Problem from "./problem.ts"
import * as Text from "./text.ts"

interface Row {
  readonly id: string
  readonly scope: string
  readonly source: string
  readonly tool: string
  readonly exact: string | null
  readonly format: number
  readonly denies: number
  readonly uses: number | null
  readonly body: string | null
  readonly expires_at: number | null
}

const decode = (operation: string, row: Row): Effect.Effect<Store.RememberedRow, Store.StoreError> =>
  Number(row.format) === format && row.body !== null
    ? Effect.succeed({
      id: Text.decode(row.id),
      scope: Text.decode(row.scope),
      source: Text.decode(row.source),
      toolName: Text.decode(row.tool),
      ...Text.optionalFields({ exact: row.exact }),
      denies: Number(row.denies) === 1,
      ...(row.uses === null ? undefined : { uses: Number(row.uses) }),
      body: Text.decode(row.body),
      ...(row.expires_at === null ? undefined : { expiresAt: Number(row.expires_at) })
    })
    : Effect.fail(Problem.corrupt(operation, "A remembered answer"))

export const make = (database: Database): Store.RememberedAnswers => {
  const { sql, tables, transact, use } = database
  const table = tables.remembered
  const columns = sql.literal("id, scope, source, tool, exact, format, denies, uses, body, expires_at")
  const stands = (now: number) =>
    sql`revoked_at IS NULL AND (uses IS NULL OR uses > 0) AND (expires_at IS NULL OR expires_at > ${now})`

  return {
    candidates: ({ exact, scope, source, toolName }) =>
      use("remembered.candidates", (now) => {
        const some = (which: ReturnType<typeof sql.literal>) =>
          sql`SELECT ${columns} FROM ${table} WHERE scope = ${Text.encode(scope)} AND source = ${Text.encode(source)}
            AND tool = ${Text.encode(toolName)} AND ${which} AND ${stands(now)}`
        // Two, because a condition with OR is not looked up in the index but walked along.
        return Effect.flatMap(
          sql<Row>`${some(sql.literal("exact IS NULL"))} UNION ALL ${some(sql`exact = ${Text.encode(exact)}`)}`,
          (rows) => Effect.forEach(rows, (row) => decode("remembered.candidates", row))
        )
      }),
    insert: (row) =>
      transact("remembered.insert", (now) =>
        Effect.map(
          // One that expired is not there.
          Effect.andThen(
            sql`DELETE FROM ${table} WHERE id = ${Text.encode(row.id)} AND expires_at <= ${now}`,
            sql`INSERT INTO ${table} ${
              sql.insert({
                id: Text.encode(row.id),
                scope: Text.encode(row.scope),
                source: Text.encode(row.source),
                tool: Text.encode(row.toolName),
                exact: Text.encodeOptional(row.exact),
                format,
                denies: row.denies ? 1 : 0,
                // More than can be read again is as good as any number.
                uses: row.uses === undefined ? null : Math.min(Math.trunc(row.uses), Number.MAX_SAFE_INTEGER),
                body: Text.encode(row.body),
                expires_at: optionalTime(row.expiresAt)
              })
            } ON CONFLICT (id) DO NOTHING RETURNING id`
          ),
          (rows) => rows.length === 1
        )),
    take: (id) =>
      use("remembered.take", (now) =>
        Effect.map(
          sql<{ readonly uses: number }>`UPDATE ${table} SET uses = uses - 1,
            revoked_at = CASE uses WHEN 1 THEN ${now} END, body = CASE uses WHEN 1 THEN NULL ELSE body END
            WHERE id = ${Text.encode(id)} AND uses IS NOT NULL AND ${stands(now)} RETURNING uses`,
          ([row]) => row === undefined ? undefined : Number(row.uses)
        )),
    revoke: (scope, id) =>
      use("remembered.revoke", (now) =>
        Effect.map(
          // The id stays, so that the answer is not remembered again.
          sql`UPDATE ${table} SET revoked_at = ${now}, body = NULL
            WHERE id = ${Text.encode(id)} AND scope = ${Text.encode(scope)} AND ${stands(now)} RETURNING id`,
          (rows) => rows.length === 1
        )),
    list: (scope, { after, limit }) =>
      use("remembered.list", (now) =>
        Effect.flatMap(
          sql<Row>`SELECT ${columns} FROM ${table} WHERE scope = ${Text.encode(scope)} AND ${stands(now)}
            ${after === undefined ? sql.literal("") : sql`AND id > ${Text.encode(after)}`}
            ORDER BY id LIMIT ${rowLimit(limit)}`,
          (rows) => Effect.forEach(rows, (row) => decode("remembered.list", row))
        ))
  }
}
