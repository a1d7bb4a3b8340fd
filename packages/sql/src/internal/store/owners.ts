/** Which processes live. */
import * as Store from "@assent/ai/Store"
import * as Effect from "effect/Effect"
import * as Presence from "../changes/presence.ts"
import { type Database, time } from "./database.ts"
import * as Text from "./text.ts"

interface Row {
  readonly beat: unknown
  readonly every: unknown
  /** Whether it has a session, and whether that is there. */
  readonly connected: unknown
  readonly held: unknown
}

export const make = (
  { prefix, sql, tables, use }: Database,
  presence: Presence.Presence | undefined
): Store.Owners => {
  const lockOf = (id: string) => `${prefix}owner ${id}`
  const session = (id: string) =>
    presence === undefined
      ? sql.literal("0 AS connected, 0 AS held")
      : sql`connected, CASE WHEN ${Presence.isHeld(sql, lockOf(id))} THEN 1 ELSE 0 END AS held`
  return {
    beat: ({ beat, every, id }) =>
      use("owners.beat", (now) =>
        Effect.gen(function*() {
          const row = {
            id: Text.encode(id),
            beat: time(beat),
            every: time(every),
            keep_until: time(now + Store.margin + 6 * every)
          }
          const connected = presence === undefined
            ? undefined
            : { connected: (yield* presence.keep(lockOf(row.id))) ? 1 : 0 }
          const also = sql.literal(connected === undefined ? "" : ", connected = excluded.connected")
          yield* sql`INSERT INTO ${tables.owner} ${sql.insert({ ...row, ...connected })} ON CONFLICT (id) DO UPDATE
            SET beat = excluded.beat, every = excluded.every, keep_until = excluded.keep_until${also}`
        })),
    // Whoever looks may have another clock than who beats, so it is there until it is reclaimed.
    get: (id) =>
      use("owners.get", () => {
        const key = Text.encode(id)
        return Effect.map(
          sql<Row>`SELECT beat, every, ${session(key)} FROM ${tables.owner} WHERE id = ${key}`,
          ([row]) => {
            const [beat, every] = [countOf(row?.beat), countOf(row?.every)]
            if (beat === undefined || every === undefined) return undefined
            const isGone = Number(row?.connected) === 1 && Number(row?.held) === 0
            return { id, beat, every, ...(isGone ? { isGone } : undefined) }
          }
        )
      })
  }
}

// Drivers give whole numbers as either.
const countOf = (value: unknown): number | undefined =>
  typeof value === "bigint" || (typeof value === "number" && Number.isFinite(value)) ? Number(value) : undefined
