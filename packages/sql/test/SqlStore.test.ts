import { ApprovalJournal, Store } from "@assent/ai"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber, Logger } from "effect"
import type * as SqlClient from "effect/sql/SqlClient"
import { CurrentTransformer } from "effect/sql/Statement"
import { TestClock } from "effect/testing"
import * as Fs from "node:fs"
import { answer, named, shown, waits, written } from "../../ai/test/store/laws/support.ts"
import * as Database from "../src/internal/store/database.ts"
import { sqlite } from "../src/internal/store/dialect.ts"
import * as Kept from "../src/internal/store/kept.ts"
import { steps } from "../src/internal/store/migrations.ts"
import * as Sweeping from "../src/internal/sweeping.ts"
import { makeClient, makeFilename, makeStore, makeStoreOver, storeInFile } from "./database.ts"

const reasonOf = <A, R>(effect: Effect.Effect<A, Store.StoreError, R>) =>
  Effect.map(Effect.flip(effect), ({ reason }) => reason)

/** No more than so many pages from now on: what is written is too much for the disk. */
const fill = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, more: number) {
  const [pages] = yield* sql<{ readonly page_count: number }>`PRAGMA page_count`
  yield* sql.unsafe(`PRAGMA max_page_count = ${(pages?.page_count ?? 0) + more}`)
})

const long = `"${"x".repeat(200_000)}"`

describe("tables", () => {
  it.effect("of several who open a new database at once, one makes them, and all can use it", () =>
    Effect.gen(function*() {
      const filename = yield* makeFilename
      const open = makeStore({ filename, synchronous: "NORMAL", yieldAfterWrite: true })
      const stores = yield* Effect.all([open, open, open, open], { concurrency: "unbounded" })
      for (const [index, { store }] of stores.entries()) yield* store.requests.open([shown(`n${index}`)])
      assert.lengthOf((yield* stores[0].store.requests.page({}, { limit: 10 })).requests, 4)
      const { sql } = stores[0]
      assert.lengthOf(yield* sql`SELECT migration_id FROM assent_migration`, steps.length)
    }))

  it.effect("that find no room are an error which says so, and an opening that is interrupted is no error", () =>
    Effect.gen(function*() {
      const sql = yield* makeClient({ filename: ":memory:" })
      yield* fill(sql, 0)
      assert.strictEqual(yield* reasonOf(makeStoreOver(sql)), "Full")
      const opening = Effect.provideService(makeStoreOver(sql), CurrentTransformer, () => Effect.interrupt)
      const exit = yield* Effect.exit(opening)
      assert.isTrue(Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause))
    }))

  it.effect("stand beside those of another prefix", () =>
    Effect.gen(function*() {
      const sql = yield* makeClient({ filename: ":memory:" })
      const one = yield* makeStoreOver(sql)
      const other = yield* makeStoreOver(sql, { prefix: "other_" })
      yield* one.requests.open([shown("a")])
      assert.isUndefined(yield* other.requests.get("a"))
      const error = yield* Effect.flip(makeStoreOver(sql, { prefix: "a; DROP TABLE assent_request; --" }))
      assert.match(error.description, /prefix/)
    }))

  it.effect("of a later version are left alone, and so is a row of one", () =>
    Effect.gen(function*() {
      const { sql, store } = yield* makeStore()
      yield* store.requests.open([shown("a")])
      yield* store.conversations.write("c", undefined, written())
      yield* store.remembered.insert(answer("r"))
      yield* sql`UPDATE assent_request SET format = 2`
      yield* sql`UPDATE assent_conversation SET format = 2`
      yield* sql`UPDATE assent_remembered SET format = 2`
      assert.strictEqual(yield* reasonOf(store.requests.get("a")), "Corrupt")
      assert.strictEqual(yield* reasonOf(store.conversations.read("c")), "Corrupt")
      assert.strictEqual(yield* reasonOf(store.remembered.list("s", { limit: 1 })), "Corrupt")
      // Nor does it keep anybody from being woken.
      for (const nonce of ["later", "now"]) yield* store.requests.suspend(waits(nonce, { dueAt: 1 }))
      yield* sql`UPDATE assent_request SET format = 2 WHERE nonce = 'later'`
      assert.deepStrictEqual((yield* store.requests.due(1, 10)).map(({ nonce }) => nonce), ["now"])
      yield* sql`INSERT INTO assent_migration (migration_id, name) VALUES (99, 'later')`
      assert.strictEqual(yield* reasonOf(makeStoreOver(sql)), "Corrupt")
    }))

  it.effect("have rows of a later version, which are left out of what waits and of what is due", () =>
    Effect.gen(function*() {
      const { sql, store } = yield* makeStore()
      for (const nonce of ["a", "b", "c"]) yield* store.requests.suspend(waits(nonce, { dueAt: 1 }))
      yield* sql`UPDATE assent_request SET format = 2 WHERE nonce = 'b'`
      const lines: Array<string> = []
      const logger = Logger.make(({ message }) => void lines.push(String(message)))
      const { next, requests } = yield* Effect.provide(store.requests.page({}, { limit: 2 }), Logger.layer([logger]))
      assert.deepStrictEqual(requests.map(({ nonce }) => nonce), ["a"])
      assert.match(lines.join(), /left a request out/)
      const rest = yield* store.requests.page({}, { limit: 2, after: next })
      assert.deepStrictEqual(rest.requests.map(({ nonce }) => nonce), ["c"])
      assert.deepStrictEqual((yield* store.requests.due(2, 2)).map(({ nonce }) => nonce), ["a", "c"])
    }))

  it.effect("whose texts something else has changed are read as they are, and are no defect", () =>
    Effect.gen(function*() {
      const { sql, store } = yield* makeStore()
      yield* store.conversations.write("c", undefined, written({ append: ["{}"] }))
      yield* sql`UPDATE assent_message SET body = ${"\u0001{"}`
      assert.deepStrictEqual((yield* store.conversations.read("c"))?.messages, ["\u0001{"])
    }))

  it.effect("whose beats something else has changed are those of a process that is dead, and no error", () =>
    Effect.gen(function*() {
      const { sql, store } = yield* makeStore()
      const journal = yield* ApprovalJournal.make({ store, grace: 0 })
      for (const every of [-1, 0, 9e15, "soon", null]) {
        yield* sql`DROP TABLE assent_owner`
        yield* sql`CREATE TABLE assent_owner (id TEXT PRIMARY KEY, beat INTEGER, every ANY, keep_until INTEGER)`
        yield* sql`INSERT INTO assent_owner ${sql.insert({ id: `o${every}`, beat: 1, every, keep_until: 9e15 })}`
        if (typeof every !== "number") assert.isUndefined(yield* store.owners.get(`o${every}`))
        const claim = { approvalId: "a", nonce: `n${every}`, expiresAt: 9e15, toolName: "T", toolCallId: "c" }
        const entry = JSON.stringify({ state: "running", toolName: "T", toolCallId: "c", at: 0, owner: `o${every}` })
        const name = named(claim.nonce, { expiresAt: claim.expiresAt })
        assert.isTrue(yield* store.requests.decide(name, 0, { state: "running", entry }))
        const asking = yield* Effect.forkChild(
          journal.run(claim, { effect: Effect.die(new Error("It ran.")), idempotent: false }),
          { startImmediately: true }
        )
        yield* TestClock.adjust("5 seconds")
        assert.isUndefined(asking.pollUnsafe())
        yield* TestClock.adjust("2 seconds")
        assert.strictEqual((yield* Fiber.join(asking)).entry.state, "unknown")
      }
    }))

  it.effect("are looked up, never walked along", () =>
    Effect.gen(function*() {
      const { sql, store } = yield* makeStore()
      const plans: Array<string> = []
      const explain = Effect.fnUntraced(function*(run: Effect.Effect<unknown, Store.StoreError>) {
        const statements: Array<readonly [string, ReadonlyArray<unknown>]> = []
        yield* Effect.provideService(
          run,
          CurrentTransformer,
          (statement) =>
            Effect.sync(() => {
              statements.push(statement.compile())
              return statement
            })
        )
        for (const [text, params] of statements) {
          const rows = yield* sql.unsafe<{ readonly detail: string }>(`EXPLAIN QUERY PLAN ${text}`, params)
          plans.push(...rows.map(({ detail }) => detail))
        }
      })
      const filters: ReadonlyArray<Store.RequestFilter> = [
        {},
        { tenant: "t" },
        { principal: "p" },
        { conversation: "c" },
        { root: "r" },
        { toolName: "t" },
        { kind: "k" },
        { waiting: true },
        { tenant: "t", toolName: "t" },
        { issuedBefore: 5 }
      ]
      for (const filter of filters) yield* explain(store.requests.page(filter, { limit: 10, after: "5.n" }))
      yield* explain(store.remembered.candidates({ scope: "s", source: "l", toolName: "t", exact: "e" }))
      yield* explain(store.remembered.list("s", { limit: 5, after: "a" }))
      yield* explain(store.requests.due(5, 5))
      yield* explain(store.requests.due(5, 5, new Set(["a", "b"])))
      // A page of 100 of 100,000 must not sort 100,000.
      assert.deepStrictEqual(plans.filter((plan) => plan.includes("TEMP B-TREE")), [])
      yield* explain(store.requests.byWebhook("w"))
      yield* explain(store.requests.suspend(waits("n", { webhook: "w" })))
      yield* explain(store.conversations.remove("c"))
      yield* explain(store.sweep(10))
      assert.isAbove(plans.length, 20)
      assert.deepStrictEqual(plans.filter((plan) => /^SCAN(?! CONSTANT)/.test(plan)), [])
    }))
})

describe("a disk", () => {
  it.effect("that is full: nothing is written, the reason is said, and the store goes on when there is room", () =>
    Effect.gen(function*() {
      const { sql, store } = yield* storeInFile
      yield* store.conversations.write("c", undefined, written({ append: ["1"] }))
      yield* fill(sql, 3)
      const { version } = (yield* store.conversations.get("c"))!
      for (
        const write of [
          store.conversations.write("c", version, written({ keep: 1, append: [long] })),
          store.requests.open([{ ...named("a"), request: long }]),
          store.requests.decide(named("a"), 0, { state: "done", entry: long }),
          store.requests.suspend(waits("a", { suspension: long })),
          store.remembered.insert(answer("r", { body: long })),
          store.atomically(
            Effect.andThen(store.requests.open([shown("b")]), store.requests.open([{ ...named("a"), request: long }]))
          )
        ]
      ) {
        const error = yield* Effect.flip(write)
        assert.strictEqual(error.reason, "Full")
      }
      assert.deepStrictEqual((yield* store.conversations.read("c"))?.messages, ["1"])
      assert.deepStrictEqual((yield* store.requests.page({}, { limit: 9 })).requests, [])
      yield* fill(sql, 1_000)
      assert.isTrue(yield* store.requests.decide(named("a"), 0, { state: "done", entry: long }))
    }))

  it.effect("that gets full within: who goes on as if nothing had happened has done nothing", () =>
    Effect.gen(function*() {
      const { sql, store } = yield* storeInFile
      yield* fill(sql, 3)
      const exit = yield* Effect.exit(store.atomically(Effect.gen(function*() {
        yield* store.requests.open([shown("before")])
        yield* Effect.ignore(store.conversations.write("long", undefined, written({ append: [long] })))
        yield* Effect.ignore(store.requests.open([shown("after")]))
      })))
      assert.isTrue(Exit.isFailure(exit))
      assert.deepStrictEqual((yield* store.requests.page({}, { limit: 9 })).requests, [])
    }))

  it.effect("that gets full within, where SQLite undoes the statement alone: so does the store", () =>
    Effect.gen(function*() {
      const { sql, store } = yield* storeInFile
      yield* fill(sql, 3)
      yield* store.atomically(Effect.gen(function*() {
        yield* store.requests.open([shown("before")])
        yield* Effect.flip(store.requests.open([{ ...named("long"), request: long }]))
        yield* store.requests.open([shown("after")])
      }))
      assert.lengthOf((yield* store.requests.page({}, { limit: 9 })).requests, 2)
      assert.lengthOf((yield* store.events.page({}, { limit: 9 })).events, 2)
    }))

  it.effect("with another file in its place, or a damaged one", () =>
    Effect.gen(function*() {
      const filename = yield* makeFilename
      Fs.writeFileSync(
        filename,
        "This is no database, but a text that is longer than the head of one would be.".repeat(9)
      )
      const error = yield* Effect.flip(makeStore({ filename }))
      assert.strictEqual(error._tag === "StoreError" ? error.reason : error.reason._tag, "UnknownError")
    }))

  it.effect("that others use for too long", () =>
    Effect.gen(function*() {
      const filename = yield* makeFilename
      const one = yield* makeStore({ filename })
      const other = yield* makeStore({ filename, busyTimeout: 0 })
      yield* one.store.atomically(Effect.gen(function*() {
        yield* one.store.requests.open([shown("a")])
        assert.strictEqual(yield* reasonOf(other.store.requests.open([shown("b")])), "Busy")
        assert.strictEqual(yield* reasonOf(other.store.atomically(Effect.void)), "Busy")
        // Whoever reads does not wait.
        assert.isUndefined(yield* other.store.requests.get("a"))
      }))
      assert.isDefined(yield* other.store.requests.get("a"))
    }))
})

describe("an operation at a database that may be far away", () => {
  it.live("is given up after its time, and says which it was", () =>
    Effect.gen(function*() {
      const sql = yield* makeClient({ filename: ":memory:" })
      const database = Database.make(sql, sqlite, "assent_", { timeout: 5 })
      for (
        const { operation, run } of [
          { operation: "requests.get", run: database.use("requests.get", () => Effect.never) },
          { operation: "requests.open", run: database.transact("requests.open", () => Effect.never) },
          { operation: "atomically", run: database.atomically(Effect.never) }
        ]
      ) {
        const error: Store.StoreError = yield* Effect.flip(run)
        assert.deepStrictEqual([error.operation, error.reason], [operation, "Unavailable"])
        assert.match(error.description, /has not answered for 5 milliseconds/)
      }
    }).pipe(Effect.scoped))
})

describe("quotas", () => {
  it.effect("of a tenant: nothing begins that would be too much; what has begun is written, and what ends", () =>
    Effect.gen(function*() {
      const { store } = yield* makeStore({ filename: ":memory:", tenantBytes: 10_000 })
      const of = (keep: number, length: number) => written({ tenant: "t", keep, append: ["x".repeat(length)] })
      const first = yield* store.conversations.write("c", undefined, { ...of(0, 9_990), begins: true })
      const asked = named("n", { tenant: "t" })
      const more = { ...of(1, 20), begins: true }
      assert.strictEqual(yield* reasonOf(store.conversations.write("c", first, more)), "Full")
      const second = yield* store.conversations.write("c", first, of(1, 50_000))
      assert.isDefined(second)
      assert.strictEqual(yield* reasonOf(store.requests.decide(asked, 0, { state: "running", entry: "{}" })), "Full")
      assert.strictEqual(yield* reasonOf(store.requests.suspend({ ...asked, suspension: "{}" })), "Full")
      assert.isTrue(yield* store.requests.decide(asked, 0, { state: "denied", entry: "{}" }))
      assert.isDefined(yield* store.conversations.write("c", second, of(0, 5_000)))
      assert.isTrue(yield* store.requests.decide({ ...asked, nonce: "m" }, 0, { state: "running", entry: "{}" }))
    }))

  it.effect("sum the conversations of a tenant, and not those of others", () =>
    Effect.gen(function*() {
      const { store } = yield* makeStore({ filename: ":memory:", tenantBytes: 10_000 })
      const of = (tenant: string) => written({ tenant, append: ["x".repeat(6_000)], begins: true })
      yield* store.conversations.write("a", undefined, of("one"))
      yield* store.conversations.write("b", undefined, of("other"))
      assert.strictEqual(yield* reasonOf(store.conversations.write("c", undefined, of("one"))), "Full")
      yield* store.conversations.remove("a")
      assert.isDefined(yield* store.conversations.write("c", undefined, of("one")))
    }))
})

describe("sweeping", () => {
  it.effect("gives up the results of what ran long ago, and never that it ran (law L2)", () =>
    Effect.gen(function*() {
      const { store } = yield* makeStore({ filename: ":memory:", resultTimeToLive: "1 day" })
      yield* store.requests.decide(named("a"), 0, { state: "done", entry: "ran", result: "1" })
      yield* store.requests.decide(named("b"), 0, { state: "running", entry: "runs" })
      assert.strictEqual(yield* store.sweep(10), 0)
      yield* TestClock.adjust("25 hours")
      assert.strictEqual(yield* store.sweep(10), 1)
      const row = yield* store.requests.get("a")
      assert.deepStrictEqual([row?.state, row?.entry, row?.result], ["done", "ran", undefined])
      assert.strictEqual((yield* store.requests.get("b"))?.state, "running")
    }))

  it.effect("is not needed where what is over is decided anew: what has expired is not in the way", () =>
    Effect.gen(function*() {
      const { store } = yield* makeStore()
      const name = named("a", { expiresAt: 1_000 })
      const denied = { state: "denied", entry: "no" } as const
      yield* store.requests.decide(name, 0, { state: "done", entry: "ran", result: "1" })
      assert.isFalse(yield* store.requests.decide(name, 0, denied))
      yield* TestClock.adjust(1_000 + Store.margin)
      assert.isTrue(yield* store.requests.decide(name, 0, denied))
    }))

  it.effect("of an expired conversation takes as many pieces as it needs, and nobody sees half of it", () =>
    Effect.gen(function*() {
      const { sql, store } = yield* makeStore()
      const write = (expiresAt?: number) => written({ append: Array.from({ length: 25 }, (_, n) => `${n}`), expiresAt })
      yield* store.conversations.write("c", undefined, write(1_000))
      yield* store.conversations.write("d", undefined, write())
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* store.sweep(10), 10)
      assert.isUndefined(yield* store.conversations.read("c"))
      // Who begins anew meanwhile has nothing of the one before.
      yield* store.conversations.write("c", undefined, written({ append: ["new"] }))
      assert.strictEqual(yield* store.sweep(100), 0)
      assert.deepStrictEqual((yield* store.conversations.read("c"))?.messages, ["new"])
      assert.lengthOf(yield* sql`SELECT seq FROM assent_message`, 26)
    }))
})

describe("a round of sweeping", () => {
  it.live("goes on while there is something to reclaim, in rows or in the file, and no longer", () =>
    Effect.gen(function*() {
      const sql = yield* makeClient({ filename: yield* makeFilename, synchronous: "NORMAL" })
      const database = yield* Kept.open(sql)
      const freePages = Effect.map(
        sql<{ readonly freelist_count: number }>`PRAGMA freelist_count`,
        ([row]) => row!.freelist_count
      )
      let pieces = 0
      const sweep = (reclaims: ReadonlyArray<number>) => ({
        sweep: () => Effect.sync(() => reclaims[pieces++] ?? 0)
      })
      yield* Sweeping.round(database, sweep([200, 200, 1]))
      assert.strictEqual(pieces, 4)
      yield* sql`CREATE TABLE big (text TEXT) STRICT`
      yield* sql`INSERT INTO big VALUES (${"x".repeat(2_000_000)})`
      yield* sql`DROP TABLE big`
      const needed = Math.ceil((yield* freePages) / 200)
      assert.isAbove(needed, 1)
      pieces = 0
      yield* Sweeping.round(database, sweep([]))
      assert.deepStrictEqual([yield* freePages, pieces], [0, needed])
    }))
})

describe("a transaction of the program", () => {
  it.effect("joins: its own tables and the store's are written together, or not", () =>
    Effect.gen(function*() {
      const { sql, store } = yield* makeStore()
      yield* sql`CREATE TABLE payment (id TEXT) STRICT`
      const pay = Effect.andThen(
        sql`INSERT INTO payment VALUES ('p')`,
        store.requests.decide(named("a"), 0, { state: "done", entry: "{}" })
      )
      yield* Effect.ignore(store.atomically(Effect.andThen(pay, Effect.fail("no"))))
      yield* Effect.ignore(sql.withTransaction(Effect.andThen(pay, Effect.fail("no"))))
      assert.deepStrictEqual([yield* sql`SELECT id FROM payment`, yield* store.requests.get("a")], [[], undefined])
      yield* store.atomically(pay)
      assert.deepStrictEqual([(yield* sql`SELECT id FROM payment`).length, (yield* store.requests.get("a"))?.state], [
        1,
        "done"
      ])
    }))
})
