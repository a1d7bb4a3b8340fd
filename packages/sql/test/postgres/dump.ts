/** What is in the tables of PostgreSQL, as a file of SQLite with nothing else in it, at which the checks of `test/chaos` look. */
import * as PgClient from "@effect/sql-pg/PgClient"
import { Effect, Redacted } from "effect"
import * as Reactivity from "effect/reactivity/Reactivity"
import * as Fs from "node:fs"
import { DatabaseSync, type SQLInputValue } from "node:sqlite"
import { tableNames } from "../../src/internal/store/database.ts"
import type { World } from "../chaos/world.ts"

export const dump = (url: string, prefix: string, { filename }: World) =>
  Effect.scoped(Effect.gen(function*() {
    const sql = yield* Effect.provide(PgClient.make({ url: Redacted.make(url) }), Reactivity.layer)
    Fs.rmSync(filename, { force: true })
    const database = new DatabaseSync(filename)
    yield* Effect.addFinalizer(() => Effect.sync(() => database.close()))
    for (const name of tableNames) {
      const columns = (yield* sql<{ readonly name: string }>`SELECT attname::text AS name FROM pg_attribute
        WHERE attrelid = to_regclass(${prefix + name}) AND attnum > 0 ORDER BY attnum`).map(({ name }) => name)
      // Before its first commit there is nothing.
      if (columns.length === 0) continue
      database.exec(`CREATE TABLE assent_${name} (${columns.join(", ")})`)
      const insert = database.prepare(`INSERT INTO assent_${name} VALUES (${columns.map(() => "?").join(", ")})`)
      for (const row of yield* sql.unsafe<Record<string, SQLInputValue>>(`SELECT * FROM ${prefix}${name}`)) {
        insert.run(...columns.map((column) => row[column] ?? null))
      }
    }
  }))
