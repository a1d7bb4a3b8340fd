/** Processes of the versions before at a database that one of today has changed: what they wrote, and go on to write. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, type Scope } from "effect"
import * as Migrator from "effect/sql/Migrator"
import * as SqlClient from "effect/sql/SqlClient"
import { named, shown, written } from "../../ai/test/store/laws/support.ts"
import type { Dialect } from "../src/internal/store/dialect.ts"
import { steps } from "../src/internal/store/migrations.ts"
import { makeStoreOver } from "./database.ts"

/** The tables as the version left them that knew so many steps. */
export const makeTables = (sql: SqlClient.SqlClient, dialect: Dialect, prefix: string, count: number) => {
  const loader = Migrator.fromRecord(Object.fromEntries(
    steps.slice(0, count).map(([name, statements], index) => [
      `${index + 1}_${name}`,
      Effect.forEach(statements(prefix, dialect), (statement) => sql.unsafe(statement), { discard: true })
    ])
  ))
  return Effect.provideService(
    Migrator.make({})({ loader, table: `${prefix}migration` }),
    SqlClient.SqlClient,
    sql
  )
}

/** A row of a request as the first version wrote it. */
export const rowOf = (nonce: string, fields: object) => ({
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

export interface Place {
  readonly dialect: Dialect
  readonly prefix: string
  /** Another connection to it each time. */
  readonly connect: Effect.Effect<SqlClient.SqlClient, unknown, Scope.Scope>
}

export const describeBefore = (name: string, makePlace: Effect.Effect<Place, unknown, Scope.Scope>) =>
  describe(`a process of a version before, on ${name}`, () => {
    for (const count of [...steps.keys()].slice(1)) {
      it.live(`that knew ${count} of ${steps.length} steps goes on while one of today takes the others, and shares with it`, () =>
        Effect.gen(function*() {
          const { connect, dialect, prefix } = yield* makePlace
          const old = yield* connect
          yield* makeTables(old, dialect, prefix, count)
          const table = old.literal(`${prefix}request`)
          const asks = (nonce: string) =>
            old`INSERT INTO ${table} ${
              old.insert(rowOf(nonce, { request: `{"of":"${nonce}"}`, conversation: "c", root: "c" }))
            }`
          const decides = (nonce: string, state: string) =>
            old`UPDATE ${table} SET state = ${state}, version = version + 1, entry = '{}', decided_at = 9
              WHERE nonce = ${nonce} AND version = 0 RETURNING nonce`
          yield* asks("first")
          yield* asks("second")
          const store = yield* makeStoreOver(yield* connect, { prefix })
          yield* asks("third")
          assert.lengthOf(yield* decides("second", "denied"), 1)
          const page = yield* store.requests.page({ root: "c" }, { limit: 10 })
          assert.deepStrictEqual(page.requests.map(({ nonce }) => nonce).toSorted(), ["first", "third"])
          for (const nonce of ["first", "third"]) {
            assert.isTrue(yield* store.requests.decide(named(nonce), 0, { state: "running", entry: "{}" }))
            assert.lengthOf(yield* decides(nonce, "denied"), 0)
          }
          assert.isFalse(yield* store.requests.decide(named("second"), 0, { state: "running", entry: "{}" }))
          yield* store.requests.open([shown("fourth", { conversation: "c", root: "c" })])
          assert.lengthOf(yield* decides("fourth", "denied"), 1)
          assert.strictEqual((yield* store.requests.get("fourth"))?.state, "denied")
        }).pipe(Effect.scoped))
    }

    it.live("that could not go on fails at each operation, says of what the database is, and changes nothing", () =>
      Effect.gen(function*() {
        const { connect, prefix } = yield* makePlace
        const sql = yield* connect
        const { conversations, owners, remembered, requests } = yield* makeStoreOver(sql, { prefix })
        const version = yield* conversations.write("c", undefined, written())
        yield* requests.open([shown("n")])
        // What such a step has to do.
        yield* sql.unsafe(`ALTER TABLE ${prefix}conversation RENAME TO ${prefix}talk`)
        yield* sql.unsafe(`ALTER TABLE ${prefix}request RENAME COLUMN state TO standing`)
        yield* sql.unsafe(`ALTER TABLE ${prefix}remembered RENAME COLUMN body TO content`)
        yield* sql.unsafe(`ALTER TABLE ${prefix}owner RENAME COLUMN beat TO pulse`)
        const operations: ReadonlyArray<Effect.Effect<unknown, { readonly reason: string; readonly message: string }>> =
          [
            conversations.read("c"),
            conversations.write("c", version, written()),
            conversations.write("d", undefined, written()),
            conversations.stop("c"),
            requests.get("n"),
            requests.open([shown("m")]),
            requests.decide(named("n"), 0, { state: "running", entry: "{}" }),
            requests.page({}, { limit: 10 }),
            remembered.list("s", { limit: 10 }),
            owners.beat({ id: "o", beat: 1, every: 1_000 })
          ]
        for (const operation of operations) {
          const { message, reason } = yield* Effect.flip(operation)
          assert.strictEqual(reason, "Corrupt", message)
          assert.match(message, /it is of a later version of this library.* Use the version that wrote it/)
        }
        const rows = yield* sql.unsafe<{ readonly count: number }>(
          `SELECT count(*) AS count FROM ${prefix}request WHERE standing = 'pending'`
        )
        assert.strictEqual(Number(rows[0]?.count), 1)
      }).pipe(Effect.scoped))
  })
