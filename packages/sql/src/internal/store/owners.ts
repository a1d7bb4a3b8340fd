/** Which processes live. */
import * as Store from "@assent/ai/Store"
import * as Effect from "effect/Effect"
import { type Database, time } from "./database.ts"
import * as Text from "./text.ts"

export const make = ({ sql, tables, use }: Database): Store.Owners => ({
  beat: ({ beat, every, id }) =>
    use("owners.beat", (now) =>
      Effect.asVoid(
        sql`INSERT INTO ${tables.owner} ${
          sql.insert({
            id: Text.encode(id),
            beat: time(beat),
            every: time(every),
            keep_until: time(now + Store.margin + 6 * every)
          })
        } ON CONFLICT (id) DO UPDATE SET beat = excluded.beat, every = excluded.every, keep_until = excluded.keep_until`
      )),
  // Whoever looks may have another clock than who beats, so it is there until it is reclaimed.
  get: (id) =>
    use("owners.get", () =>
      Effect.map(
        sql<{ readonly beat: unknown; readonly every: unknown }>`SELECT beat, every FROM ${tables.owner}
          WHERE id = ${Text.encode(id)}`,
        ([row]) => {
          const [beat, every] = [countOf(row?.beat), countOf(row?.every)]
          return beat === undefined || every === undefined ? undefined : { id, beat, every }
        }
      ))
})

// Drivers give whole numbers as either.
const countOf = (value: unknown): number | undefined =>
  typeof value === "bigint" || (typeof value === "number" && Number.isFinite(value)) ? Number(value) : undefined
