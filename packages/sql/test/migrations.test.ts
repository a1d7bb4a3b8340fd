/** A file of the version before is opened and goes on: what waits in it waits, and is told of from then on. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Migrator from "effect/sql/Migrator"
import * as SqlClient from "effect/sql/SqlClient"
import { named, shown, waits } from "../../ai/test/store/laws/support.ts"
import { sqlite } from "../src/internal/store/dialect.ts"
import { steps } from "../src/internal/store/migrations.ts"
import { makeClient, makeFilename, makeStoreOver } from "./database.ts"

/** As the version that knew so many steps left it. */
const openBefore = Effect.fnUntraced(function*(filename: string, count: number) {
  const sql = yield* makeClient({ filename, synchronous: "NORMAL", yieldAfterWrite: false })
  const loader = Migrator.fromRecord(Object.fromEntries(
    steps.slice(0, count).map(([name, statements], index) => [
      `${index + 1}_${name}`,
      Effect.forEach(statements("assent_", sqlite), (statement) => sql.unsafe(statement), { discard: true })
    ])
  ))
  yield* Effect.provideService(Migrator.make({})({ loader, table: "assent_migration" }), SqlClient.SqlClient, sql)
  return sql
})

/** A row as the first version wrote it. */
const row = (nonce: string, fields: object) => ({
  nonce,
  approval_id: `id-${nonce}`,
  tool: "SendMail",
  call: `call-${nonce}`,
  kind: "approval",
  format: 1,
  state: "pending",
  version: 0,
  issued_at: 5,
  tenant: "t",
  ...fields
})

describe("a file of the first version", () => {
  it.effect("is opened, and what waits in it is told of, and what becomes of it", () =>
    Effect.scoped(Effect.gen(function*() {
      const filename = yield* makeFilename
      yield* Effect.scoped(Effect.gen(function*() {
        const sql = yield* openBefore(filename, 1)
        for (
          const one of [
            row("asked", { request: `{"old":1}` }),
            row("earlier", { request: `{"old":2}`, issued_at: 1 }),
            row("waiting", { request: `{"old":3}`, waits: "open", suspension: "{}" }),
            row("approved by some", { version: 1, entry: "{}" }),
            row("answered", { request: `{"old":4}`, waits: "open", suspension: "{}", answer: "1" }),
            row("decided", { state: "denied", version: 1, entry: "{}" })
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
