/** Which processes live. */
import type * as Store from "@assent/ai/Store"
import * as Effect from "effect/Effect"
import { type Database, time } from "./database.ts"
import * as Text from "./text.ts"

export const make = ({ sql, tables, use }: Database): Store.Owners => ({
  beat: ({ at, every, id }) =>
    use("owners.beat", () =>
      Effect.asVoid(
        sql`INSERT INTO ${tables.owner} ${sql.insert({ id: Text.encode(id), beat: time(at), every: time(every) })}
          ON CONFLICT (id) DO UPDATE SET beat = excluded.beat, every = excluded.every`
      )),
  get: (id) =>
    use("owners.get", () =>
      Effect.map(
        sql<{ readonly beat: number; readonly every: number }>`SELECT beat, every FROM ${tables.owner}
          WHERE id = ${Text.encode(id)}`,
        ([row]) => row === undefined ? undefined : { id, at: Number(row.beat), every: Number(row.every) }
      ))
})
