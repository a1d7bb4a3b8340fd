/** What a database knows of itself: the key that seals approvals, and whether it was restored from a backup. */
import type * as Store from "@assent/ai/Store"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Base64Url from "effect/encoding/Base64Url"
import type { Database } from "./database.ts"
import * as Events from "./events.ts"

/** Random, so that no two restorations of one backup have the same. `undefined` where it never was restored. */
export type Epoch = string | undefined

const token = (bytes: number): string => Base64Url.encode(SecureRandom.randomBytesUnsafe(bytes))

const read = ({ sql, tables }: Database, name: string) =>
  Effect.map(
    sql<{ readonly value: string }>`SELECT value FROM ${tables.setting} WHERE name = ${name}`,
    ([row]) => row?.value
  )

/** Made by whoever asks first, of all processes, and the same from then on. */
export const sealKey = (database: Database): Effect.Effect<string, Store.StoreError> =>
  database.transact("open", () =>
    Effect.gen(function*() {
      const known = yield* read(database, "seal_key")
      if (known !== undefined) return known
      const value = token(32)
      yield* database.sql`INSERT INTO ${database.tables.setting} ${database.sql.insert({ name: "seal_key", value })}`
      return value
    }))

export const epoch = (database: Database): Effect.Effect<Epoch, Store.StoreError> =>
  database.use("open", () => read(database, "epoch"))

/**
 * From now on the database is another than the one it was restored from: what was asked before is not known, and what was
 * approved for more than one call is asked again, because it may have been taken back or used up since.
 */
export const raiseEpoch = (database: Database): Effect.Effect<void, Store.StoreError> =>
  database.transact("restored", (now) =>
    Effect.gen(function*() {
      const { sql, tables } = database
      const row = sql.insert({ name: "epoch", value: token(9) })
      yield* sql`INSERT INTO ${tables.setting} ${row} ON CONFLICT (name) DO UPDATE SET value = excluded.value`
      yield* sql`UPDATE ${tables.remembered} SET revoked_at = ${now}, body = NULL WHERE denies = 0 AND revoked_at IS NULL`
      yield* Events.restart(database, now)
    }))
