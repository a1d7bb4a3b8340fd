/** Several at one PostgreSQL database: who is in whose way, who is told what, and what is said where nothing can be done. */
import { type ApprovalError, ApprovalSeal, type Store } from "@assent/ai"
import { SqlApproval } from "@assent/sql"
import { assert, describe, it } from "@effect/vitest"
import { Cause, ConfigProvider, Context, Effect, Exit, Fiber, Layer, Option, Redacted, Schedule } from "effect"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { named, shown, waits, written } from "../../../ai/test/store/laws/support.ts"
import { binding } from "../database.ts"
import { makeClient, makePrefix, makeStore, makeStoreOver, url } from "./database.ts"

const key = Redacted.make("a key of the program, of 32 bytes or more")

describe("transactions", () => {
  it.live("that wait for one another are carried out again, and both are done", () =>
    Effect.gen(function*() {
      const { sql, store } = yield* makeStore()
      yield* sql`CREATE TABLE IF NOT EXISTS word (name text PRIMARY KEY, count integer NOT NULL)`
      yield* sql`INSERT INTO word VALUES ('a', 0), ('b', 0) ON CONFLICT (name) DO UPDATE SET count = 0`
      let tries = 0
      const raise = (first: string, second: string) =>
        store.atomically(Effect.gen(function*() {
          tries++
          yield* sql`UPDATE word SET count = count + 1 WHERE name = ${first}`
          // Long enough that the other has the other one.
          yield* Effect.sleep("100 millis")
          yield* sql`UPDATE word SET count = count + 1 WHERE name = ${second}`
          yield* store.requests.open([shown(`${first}${second}`)])
        }))
      yield* Effect.all([raise("a", "b"), raise("b", "a")], { concurrency: 2 })
      assert.isAtLeast(tries, 3)
      const rows = yield* sql<{ readonly count: number }>`SELECT count FROM word`
      assert.deepStrictEqual(rows.map(({ count }) => Number(count)), [2, 2])
      assert.lengthOf((yield* store.requests.page({}, { limit: 10 })).requests, 2)
    }).pipe(Effect.scoped))

  it.live("that open the same requests in opposite order are in nobody's way", () =>
    Effect.gen(function*() {
      const { store } = yield* makeStore()
      for (let round = 0; round < 3; round++) {
        let tries = 0
        const requests = Array.from({ length: 1_000 }, (_, index) => shown(`${round}.${index}`))
        const open = (all: typeof requests) =>
          store.atomically(Effect.suspend(() => {
            tries++
            return store.requests.open(all)
          }))
        yield* Effect.all([open(requests), open(requests.toReversed())], { concurrency: 2 })
        assert.strictEqual(tries, 2)
      }
    }).pipe(Effect.scoped))

  it.live("whose statement the database gives up because of others are carried out again, within one another too", () =>
    Effect.gen(function*() {
      const { sql, store } = yield* makeStore()
      for (const how of ["by itself", "within another, whose failure is taken for an end"]) {
        let tries = 0
        const failing = Effect.suspend((): Effect.Effect<unknown, SqlError> =>
          ++tries < 4 ? sql.unsafe(`DO $$ BEGIN RAISE EXCEPTION 'others' USING ERRCODE = '40001'; END $$`) : Effect.void
        )
        yield* store.atomically(Effect.andThen(
          store.requests.open([shown(how)]),
          how === "by itself" ? failing : store.atomically(failing)
        ))
        assert.strictEqual(tries, 4)
        assert.isDefined(yield* store.requests.get(how))
      }
      // For ever: that is said, and nothing of it is there.
      const never = sql.unsafe(`DO $$ BEGIN RAISE EXCEPTION 'others' USING ERRCODE = '40P01'; END $$`)
      const exit = yield* Effect.exit(store.atomically(Effect.andThen(store.requests.open([shown("never")]), never)))
      assert.isTrue(Exit.isFailure(exit) && Cause.hasFails(exit.cause))
      assert.isUndefined(yield* store.requests.get("never"))
    }).pipe(Effect.scoped))
})

describe("a call that begins to wait", () => {
  it.live("in several processes at one moment has begun once, and the others are told so", () =>
    Effect.gen(function*() {
      const prefix = makePrefix()
      const stores = yield* Effect.forEach([1, 2, 3], () => Effect.map(makeStore({ prefix }), ({ store }) => store))
      for (let round = 0; round < 5; round++) {
        const begun = yield* Effect.forEach(
          [...stores, ...stores, ...stores],
          (store) => store.requests.suspend(waits(`n${round}`)),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(begun.toSorted(), [...Array.from({ length: 8 }, () => "known"), "suspended"])
      }
    }).pipe(Effect.scoped))
})

describe("who waits", () => {
  it.live("is told by another process's connection that something is due, and of a conversation, soon", () =>
    Effect.gen(function*() {
      const { prefix, store } = yield* makeStore()
      const other = yield* makeStoreOver(yield* makeClient(), { prefix })
      // Both listen by now.
      yield* Effect.sleep("300 millis")
      const first = yield* store.conversations.write("c", undefined, written())
      yield* store.requests.suspend(waits("w"))
      yield* Effect.sleep("200 millis")
      const cases: ReadonlyArray<readonly [Store.Topic, Effect.Effect<unknown, Store.StoreError>]> = [
        ["due", store.requests.deliver("w", "1")],
        [{ conversation: "c" }, store.conversations.write("c", first, written({ append: ["1"] }))],
        [{ conversation: "c" }, store.conversations.stop("c")],
        ["events", store.requests.decide(named("n"), 0, { state: "denied", entry: "{}" })]
      ]
      for (const [topic, change] of cases) {
        const changes = other.changes!
        const fiber = yield* Effect.forkChild(
          Effect.timeoutOption(changes.after(changes.mark(), topic), "5 seconds"),
          { startImmediately: true }
        )
        yield* change
        assert.isTrue(Option.isSome(yield* Fiber.join(fiber)), JSON.stringify(topic))
        // What follows is not said together with it.
        yield* Effect.sleep("100 millis")
      }
      const changes = other.changes!
      const unrelated = Effect.timeoutOption(changes.after(changes.mark(), { conversation: "d" }), "300 millis")
      const fiber = yield* Effect.forkChild(unrelated, { startImmediately: true })
      yield* store.conversations.stop("c")
      assert.isTrue(Option.isNone(yield* Fiber.join(fiber)))
      // What is undone was not said.
      const undone = Effect.timeoutOption(changes.after(changes.mark(), { conversation: "c" }), "300 millis")
      const waiting = yield* Effect.forkChild(undone, { startImmediately: true })
      yield* Effect.flip(store.atomically(Effect.andThen(store.conversations.stop("c"), Effect.fail("no"))))
      assert.isTrue(Option.isNone(yield* Fiber.join(waiting)))
    }).pipe(Effect.scoped))

  it.live("is told anew after the connection was lost", () =>
    Effect.gen(function*() {
      const { prefix, store } = yield* makeStore()
      const other = yield* makeStoreOver(yield* makeClient({ applicationName: prefix }), { prefix })
      yield* Effect.sleep("300 millis")
      const sql = yield* makeClient()
      yield* sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = ${prefix}`
      const changes = other.changes!
      const anything = yield* Effect.timeoutOption(changes.after(changes.mark(), "due"), "5 seconds")
      assert.isTrue(Option.isSome(anything))
      yield* Effect.sleep("100 millis")
      const told = yield* Effect.forkChild(
        Effect.timeoutOption(changes.after(changes.mark(), "due"), "5 seconds"),
        { startImmediately: true }
      )
      yield* store.requests.suspend(waits("w"))
      yield* store.requests.deliver("w", "1")
      assert.isTrue(Option.isSome(yield* Fiber.join(told)))
    }).pipe(Effect.scoped))
})

describe("a process", () => {
  it.live("that has ended is known to be gone at once, and one that lost its connection until it has beaten again", () =>
    Effect.gen(function*() {
      const { prefix, sql, store } = yield* makeStore()
      const beat = (one: Store.Store, beat: number) => one.owners.beat({ id: "o", beat, every: 1_000 })
      const isGone = Effect.map(store.owners.get("o"), (row) => row?.isGone === true)
      yield* Effect.scoped(Effect.gen(function*() {
        const other = yield* makeStoreOver(yield* makeClient({ applicationName: prefix }), { prefix })
        yield* Effect.all([beat(other, 1), beat(other, 1), beat(other, 1)], { concurrency: "unbounded" })
        const sessions = yield* sql<{ readonly count: number }>`SELECT count(*) AS count FROM pg_locks
          JOIN pg_stat_activity USING (pid) WHERE locktype = 'advisory' AND application_name = ${prefix}`
        assert.strictEqual(Number(sessions[0]?.count), 1)
        yield* beat(other, 2)
        assert.isFalse(yield* isGone)
        yield* sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = ${prefix}`
        yield* Effect.repeat(isGone, { until: (is) => is, schedule: Schedule.spaced("10 millis") })
        // Whoever has just lost its connection finds that out, and makes another.
        yield* Effect.retry(beat(other, 3), { times: 20, schedule: Schedule.spaced("10 millis") })
        yield* beat(other, 4)
        assert.isFalse(yield* isGone)
      }))
      assert.isTrue(yield* isGone)
    }).pipe(Effect.scoped))

  it.live("that has closed its store, and not its client, is known to be gone as well", () =>
    Effect.gen(function*() {
      const { prefix, store } = yield* makeStore()
      const sql = yield* makeClient()
      const isGone = Effect.map(store.owners.get("o"), (row) => row?.isGone === true)
      yield* Effect.scoped(Effect.gen(function*() {
        const other = yield* makeStoreOver(sql, { prefix })
        yield* other.owners.beat({ id: "o", beat: 1, every: 1_000 })
        assert.isFalse(yield* isGone)
      }))
      assert.isTrue(yield* isGone)
    }).pipe(Effect.scoped))

  it.live("of the version before goes on while one of the next has changed the tables, and does not start again", () =>
    Effect.gen(function*() {
      const { prefix, sql, store } = yield* makeStore()
      const round = (name: string) =>
        Effect.gen(function*() {
          const version = yield* store.conversations.write(name, undefined, written({ append: ["1"] }))
          yield* store.conversations.write(name, version, written({ keep: 1, append: ["2"] }))
          yield* store.requests.open([shown(name, { conversation: name })])
          assert.isTrue(yield* store.requests.decide(named(name), 0, { state: "running", entry: "{}" }))
          assert.isTrue(yield* store.requests.decide(named(name), 1, { state: "done", entry: "{}", result: "1" }))
          assert.strictEqual((yield* store.requests.get(name))?.state, "done")
          assert.lengthOf((yield* store.conversations.read(name))?.messages ?? [], 2)
          yield* store.requests.page({}, { limit: 10 })
          yield* store.sweep(10)
        })
      // Its statements are prepared by then.
      yield* Effect.forEach(["a", "b", "c"], round, { concurrency: 3 })
      for (const table of ["request", "conversation", "message", "event", "owner"]) {
        yield* sql.unsafe(`ALTER TABLE ${prefix}${table} ADD COLUMN next text`)
      }
      yield* sql.unsafe(`INSERT INTO ${prefix}migration (migration_id, name) VALUES (99, 'next')`)
      yield* Effect.forEach(["d", "e", "f"], round, { concurrency: 3 })
      const error = yield* Effect.flip(makeStoreOver(sql, { prefix }))
      assert.strictEqual(error.reason, "Corrupt")
    }).pipe(Effect.scoped))
})

describe("who follows events", () => {
  it.live("misses none of those who commit in another order than they began", () =>
    Effect.gen(function*() {
      const { prefix, store } = yield* makeStore()
      const reader = yield* makeStoreOver(yield* makeClient(), { prefix })
      const count = 60
      const seen: Array<string> = []
      const reading = yield* Effect.forkChild(Effect.gen(function*() {
        let after: string | undefined
        while (seen.length < count) {
          const page = yield* reader.events.page({}, { after, limit: 7 })
          seen.push(...page.events.map(({ nonce }) => nonce))
          after = page.next
        }
      }))
      const write = (index: number) =>
        store.atomically(Effect.gen(function*() {
          yield* store.requests.open([shown(`n${index}`)])
          // The later ones commit first.
          yield* Effect.sleep(((count - index) % 7) * 30)
        }))
      yield* Effect.forEach(Array.from({ length: count }, (_, index) => index), write, { concurrency: 8 })
      yield* Effect.timeout(Fiber.join(reading), "20 seconds")
      assert.lengthOf(seen, count)
      assert.lengthOf(new Set(seen), count)
    }).pipe(Effect.scoped))
})

describe("SqlApproval.layerPg", () => {
  const open = (options: SqlApproval.PgOptions, variable?: string) =>
    Effect.scoped(Effect.gen(function*() {
      const sql = yield* makeClient()
      const kept = Layer.provide(
        SqlApproval.layerPg({ prefix: makePrefix(), ...options }),
        Layer.succeed(SqlClient.SqlClient, sql)
      )
      const context = yield* Layer.build(kept)
      return yield* Context.get(context as Context.Context<never>, ApprovalSeal.ApprovalSeal).configured
    })).pipe(
      Effect.provideService(
        ConfigProvider.ConfigProvider,
        ConfigProvider.fromUnknown(variable === undefined ? {} : { ASSENT_APPROVAL_KEY: variable })
      )
    )

  it.live("refuses to begin without a key, and says why", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(open({}))
      assert.strictEqual((error as ApprovalError.ApprovalError).reason._tag, "InvalidKey")
      assert.match(error.message, /could make up approvals.*ASSENT_APPROVAL_KEY.*ApprovalSeal\.layer/)
      assert.isTrue(yield* open({ seal: { key } }))
      assert.isTrue(yield* open({}, Redacted.value(key)))
      assert.isTrue(yield* Effect.provide(open({}), ApprovalSeal.layer({ key })))
    }))

  it.live("does not begin with fewer connections than it needs, and says what for", () =>
    Effect.gen(function*() {
      const few = Effect.scoped(Effect.flatMap(makeClient({ maxConnections: 2 }), (sql) => makeStoreOver(sql)))
      assert.match((yield* Effect.flip(few)).message, /2 of the 4 connections.*maxConnections/)
    }))

  it.live("says so where the server cannot be reached, without its password", () =>
    Effect.gen(function*() {
      const nowhere = makeClient({
        url: Redacted.make(url.replace(/:\d+\//, ":1/").replace("postgres@", "postgres:secret@"))
      })
      const error = yield* Effect.flip(Effect.scoped(Effect.flatMap(nowhere, (sql) => makeStoreOver(sql))))
      assert.strictEqual((error as Store.StoreError).reason, "Unavailable")
      assert.notInclude(String(error), "secret")
    }))

  it.live("asks anew what was asked before the database was restored, and needs the keys for that", () =>
    Effect.scoped(Effect.gen(function*() {
      const prefix = makePrefix()
      const sql = yield* makeClient()
      const ids = (options: SqlApproval.PgOptions) =>
        Effect.scoped(Effect.gen(function*() {
          const kept = Layer.provide(
            SqlApproval.layerPg({ prefix, ...options }),
            Layer.succeed(SqlClient.SqlClient, sql)
          )
          const seal = Context.get((yield* Layer.build(kept)) as Context.Context<never>, ApprovalSeal.ApprovalSeal)
          return (yield* seal.seal(binding)).approvalId.split(".")[1]
        }))
      const before = yield* ids({ seal: { key } })
      assert.strictEqual(yield* ids({ seal: { key } }), before)
      yield* Effect.provideService(SqlApproval.restoredPg({ prefix }), SqlClient.SqlClient, sql)
      assert.notStrictEqual(yield* ids({ seal: { key } }), before)
      const error = yield* Effect.flip(Effect.provide(ids({}), ApprovalSeal.layer({ key })))
      assert.match(String(error.message), /restored from a backup/)
    })))
})
