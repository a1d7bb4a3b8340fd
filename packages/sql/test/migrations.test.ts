/** A file of the version before is opened and goes on: what waits in it waits, and is told of from then on. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { named, shown, waits } from "../../ai/test/store/laws/support.ts"
import { sqlite } from "../src/internal/store/dialect.ts"
import { describeBefore, makeTables, rowOf } from "./before.ts"
import { makeClient, makeFilename, makeStoreOver } from "./database.ts"

describeBefore(
  "SQLite",
  Effect.map(makeFilename, (filename) => ({
    dialect: sqlite,
    prefix: "assent_",
    connect: makeClient({ filename, synchronous: "NORMAL", yieldAfterWrite: true })
  }))
)

describe("a file of the first version", () => {
  it.effect("is opened, and what waits in it is told of, and what becomes of it", () =>
    Effect.scoped(Effect.gen(function*() {
      const filename = yield* makeFilename
      yield* Effect.scoped(Effect.gen(function*() {
        const sql = yield* makeClient({ filename, synchronous: "NORMAL", yieldAfterWrite: false })
        yield* makeTables(sql, sqlite, "assent_", 1)
        for (
          const one of [
            rowOf("asked", { request: `{"old":1}` }),
            rowOf("earlier", { request: `{"old":2}`, issued_at: 1 }),
            rowOf("waiting", { request: `{"old":3}`, waits: "open", suspension: "{}" }),
            rowOf("approved by some", { version: 1, entry: "{}" }),
            rowOf("answered", { request: `{"old":4}`, waits: "open", suspension: "{}", answer: "1" }),
            rowOf("decided", { state: "denied", version: 1, entry: "{}" })
          ]
        ) yield* sql`INSERT INTO assent_request ${sql.insert(one)}`
      }))
      for (const opening of ["first", "second"]) {
        yield* Effect.scoped(Effect.gen(function*() {
          const sql = yield* makeClient({ filename, synchronous: "NORMAL", yieldAfterWrite: false })
          const store = yield* makeStoreOver(sql)
          const { events } = yield* store.events.page({ tenant: "t" }, { limit: 100 })
          const told = events.map(({ at, event, nonce, request }) => [nonce, event, at, request])
          const opened = [
            ["earlier", "opened", 1, `{"old":2}`],
            ["asked", "opened", 5, `{"old":1}`],
            ["waiting", "opened", 5, `{"old":3}`]
          ]
          if (opening === "first") {
            assert.deepStrictEqual(told, opened)
            assert.lengthOf((yield* store.requests.page({}, { limit: 100 })).requests, 3)
            yield* store.requests.decide(named("asked"), 0, { state: "running", entry: "{}" })
            yield* store.requests.decide(named("approved by some"), 1, { state: "denied", entry: "{}" })
            yield* store.requests.open([shown("new", { tenant: "t" })])
            yield* store.requests.suspend(waits("other"))
          } else {
            assert.deepStrictEqual(told.slice(0, 3), opened)
            assert.deepStrictEqual(told.slice(3).map(([nonce, event]) => `${nonce} ${event}`), [
              "asked decided",
              "new opened"
            ])
          }
        }))
      }
    })))
})
