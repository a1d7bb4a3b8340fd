/** A store of the rows of a database. */
import * as Store from "@assent/ai/Store"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as SqlClient from "effect/sql/SqlClient"
import * as Listening from "../changes/listening.ts"
import * as Presence from "../changes/presence.ts"
import * as Watching from "../changes/watching.ts"
import * as Conversations from "./conversations.ts"
import * as Database from "./database.ts"
import * as Dialect from "./dialect.ts"
import * as Events from "./events.ts"
import { migrate } from "./migrations.ts"
import * as Owners from "./owners.ts"
import * as Quotas from "./quotas.ts"
import * as Remembered from "./remembered.ts"
import * as Requests from "./requests.ts"
import * as Sweep from "./sweep.ts"
import * as Telling from "./telling.ts"

export interface Options extends Quotas.Options {
  readonly isShared?: boolean | undefined
  readonly resultTimeToLive?: Duration.Input | undefined
  readonly eventTimeToLive?: Duration.Input | undefined
  readonly maxEvents?: number | undefined
}

/** A database with its tables. */
export const open = Effect.fnUntraced(function*(
  sql: SqlClient.SqlClient,
  { prefix = "assent_", timeout = defaultTimeout }: {
    readonly prefix?: string | undefined
    readonly timeout?: Duration.Input | undefined
  } = {}
): Effect.fn.Return<Database.Database, Store.StoreError> {
  // It becomes a part of statements as it is.
  if (!/^[a-z_][a-z0-9_]{0,31}$/.test(prefix)) {
    return yield* new Store.StoreError({
      operation: "open",
      reason: "Unavailable",
      description: "The prefix of the tables is not 1 to 32 small letters, digits and _, beginning with no digit."
    })
  }
  const dialect = Dialect.of(sql)
  if (dialect === undefined) {
    return yield* new Store.StoreError({
      operation: "open",
      reason: "Unavailable",
      description: "The database is neither SQLite nor PostgreSQL, and others are not known here."
    })
  }
  if (dialect.name === "pg" && connectionsOf(sql) < fewestConnections) {
    return yield* new Store.StoreError({
      operation: "open",
      reason: "Unavailable",
      description:
        `The client may have ${connectionsOf(sql)} of the ${fewestConnections} connections that are needed: one` +
        " listens, one says that the process lives, and others work. Let it have more (maxConnections)."
    })
  }
  const database = Database.make(sql, dialect, prefix, {
    timeout: dialect.name === "pg" ? Duration.toMillis(Duration.fromInputUnsafe(timeout)) : undefined
  })
  yield* migrate(database)
  return database
})

/** As long as the scope it tells those who wait for what other processes write. */
export const make = Effect.fnUntraced(function*(
  database: Database.Database,
  options: Options = {}
): Effect.fn.Return<Store.Store, never, Scope.Scope> {
  const quotas = Quotas.make(database, options)
  const millis = (input: Duration.Input) => Duration.toMillis(Duration.fromInputUnsafe(input))
  const bodiesLife = millis(options.resultTimeToLive ?? Duration.days(30))
  const events = { life: millis(options.eventTimeToLive ?? Store.eventLife), count: options.maxEvents ?? maxEvents }
  const isShared = options.isShared ?? true
  const { dialect, prefix, sql } = database
  const operations: Store.Operations = {
    isShared,
    atomically: database.atomically,
    conversations: Conversations.make(database, quotas),
    requests: Requests.make(database, quotas),
    remembered: Remembered.make(database),
    owners: Owners.make(database, dialect.name === "pg" ? yield* Presence.start(sql) : undefined),
    events: Events.make(database),
    readers: Events.makeReaders(database),
    sweep: Sweep.make(database, bodiesLife, events)
  }
  if (!isShared) return Store.make(operations)
  const hub = yield* dialect.name === "pg" ? Listening.start(sql, `${prefix}changed`) : Watching.start(sql)
  return Store.make(Telling.make(database, hub, operations))
})

/** How many connections a client of `@effect/sql-pg` may have; nothing is known of others. */
const connectionsOf = (sql: object): number => {
  if (!("config" in sql) || typeof sql.config !== "object" || sql.config === null) return Infinity
  const { config } = sql
  return "maxConnections" in config && typeof config.maxConnections === "number" ? config.maxConnections : Infinity
}

const fewestConnections = 4
const maxEvents = 1_000_000
const defaultTimeout = "30 seconds"
