/** Which processes live. */
import * as Store from "@assent/ai/Store"
import * as Effect from "effect/Effect"
import { type Database, time } from "./database.ts"
import * as Text from "./text.ts"

export const make = ({ sql, tables, use }: Database): Store.Owners => ({
  beat: ({ at, every, id }) =>
    use("owners.beat", () =>
      Effect.asVoid(
        sql`INSERT INTO ${tables.owner} ${
          sql.insert({
            id: Text.encode(id),
            beat: time(at),
            every: time(every),
            // Long after it counts as dead, whose silence is longer than this store's clock says.
            keep_until: time(at + Store.margin + 6 * every)
          })
        } ON CONFLICT (id) DO UPDATE SET beat = excluded.beat, every = excluded.every, keep_until = excluded.keep_until`
      )),
  get: (id) =>
    use("owners.get", (now) =>
      Effect.map(
        sql<{ readonly beat: number; readonly every: number }>`SELECT beat, every FROM ${tables.owner}
          WHERE id = ${Text.encode(id)} AND keep_until > ${now}`,
        ([row]) => row === undefined ? undefined : { id, at: Number(row.beat), every: Number(row.every) }
      ))
})
