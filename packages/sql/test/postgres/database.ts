/** Stores for tests, each with tables of its own in the database of the server that `main.ts` has started. */
import { SqlStore } from "@assent/sql"
import * as PgClient from "@effect/sql-pg/PgClient"
import { Clock, Effect, Redacted } from "effect"
import * as Reactivity from "effect/reactivity/Reactivity"
import * as SqlClient from "effect/sql/SqlClient"

export const url = process.env["ASSENT_TEST_POSTGRES"] ?? ""

/** It has the real time, also where a test has a clock of its own: the server has it too. */
export const makeClient = (options?: PgClient.PgPoolConfig) =>
  PgClient.make({ url: Redacted.make(url), ...options }).pipe(
    Effect.provide(Reactivity.layer),
    Effect.provideService(Clock.Clock, realClock)
  )

const realClock = Effect.runSync(Clock.clockWith(Effect.succeed))

let count = 0

/** One that no other test has. */
export const makePrefix = (): string => `t${process.pid}_${++count}_`

export const makeStoreOver = (sql: SqlClient.SqlClient, options?: SqlStore.Options) =>
  Effect.provideService(SqlStore.make(options), SqlClient.SqlClient, sql)

export const makeStore = Effect.fnUntraced(function*(options?: SqlStore.Options & PgClient.PgPoolConfig) {
  const sql = yield* makeClient(options)
  const prefix = options?.prefix ?? makePrefix()
  return { sql, prefix, store: yield* makeStoreOver(sql, { ...options, prefix }) }
})
