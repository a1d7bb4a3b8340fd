import { assert, describe, it } from "@effect/vitest"
import { Array as Arr, Deferred, Effect, Exit, Fiber, Scope, Stream } from "effect"
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { makeClient, makeFilename } from "./database.ts"

const modeOf = (file: string): string => (Fs.statSync(file).mode & 0o777).toString(8)

describe("SqliteClient", () => {
  it.effect("nobody but its owner can read the file, nor what SQLite writes beside it", () =>
    Effect.gen(function*() {
      const filename = Path.join(yield* makeFilename, "in", "folders", "a.db")
      const sql = yield* makeClient({ filename })
      yield* sql`CREATE TABLE a (b TEXT) STRICT`
      assert.deepStrictEqual(["", "-wal", "-shm"].map((end) => modeOf(filename + end)), ["600", "600", "600"])
      assert.strictEqual(modeOf(Path.dirname(filename)), "700")
    }))

  it("is there at once where Node gives its SQLite at once: a program need not wait for it", () => {
    const opened = Effect.runSync(Effect.scoped(Effect.map(makeClient({ filename: ":memory:" }), () => "open")))
    assert.strictEqual(opened, "open")
  })

  it.effect("a commit is on the disk, and the file can get smaller", () =>
    Effect.gen(function*() {
      const sql = yield* makeClient({ filename: yield* makeFilename })
      const [settings] = yield* sql`SELECT (SELECT journal_mode FROM pragma_journal_mode) AS journal,
        (SELECT synchronous FROM pragma_synchronous) AS synchronous,
        (SELECT auto_vacuum FROM pragma_auto_vacuum) AS vacuum`
      assert.deepStrictEqual({ ...settings }, { journal: "wal", synchronous: 2, vacuum: 2 })
    }))

  it.effect("while another writes it is tried again, also where a test has the clock, and nobody else stops", () =>
    Effect.gen(function*() {
      const filename = yield* makeFilename
      const [one, other] = [yield* makeClient({ filename }), yield* makeClient({ filename })]
      yield* one`CREATE TABLE a (b INTEGER) STRICT`
      const began = yield* Deferred.make<void>()
      const go = yield* Deferred.make<void>()
      const first = yield* Effect.forkChild(one.withTransaction(Effect.gen(function*() {
        yield* one`INSERT INTO a VALUES (1)`
        yield* Deferred.succeed(began, undefined)
        yield* Deferred.await(go)
      })))
      yield* Deferred.await(began)
      const second = yield* Effect.forkChild(other`INSERT INTO a VALUES (2)`, { startImmediately: true })
      // It is tried a few times meanwhile.
      for (let turn = 0; turn < 20; turn++) yield* Effect.promise(() => new Promise((done) => setImmediate(done)))
      assert.isUndefined(second.pollUnsafe())
      yield* Deferred.succeed(go, undefined)
      yield* Fiber.join(first)
      yield* Fiber.join(second)
      assert.deepStrictEqual((yield* one`SELECT b FROM a ORDER BY b`).map((row) => row["b"]), [1, 2])
    }))

  it.effect("it gives up in the end", () =>
    Effect.gen(function*() {
      const filename = yield* makeFilename
      const [one, other] = [yield* makeClient({ filename }), yield* makeClient({ filename, busyTimeout: 0 })]
      yield* one`CREATE TABLE a (b INTEGER) STRICT`
      const error = yield* one.withTransaction(Effect.flip(other`INSERT INTO a VALUES (2)`))
      assert.strictEqual(error.reason._tag, "LockTimeoutError")
    }))

  it.effect("timers and sockets have a turn after each write", () =>
    Effect.gen(function*() {
      const happened: Array<string> = []
      const sql = yield* makeClient({ filename: ":memory:" })
      yield* sql`CREATE TABLE a (b INTEGER) STRICT`
      setImmediate(() => happened.push("turn"))
      yield* sql`INSERT INTO a VALUES (1)`
      happened.push("written")
      setImmediate(() => happened.push("turn"))
      yield* sql.withTransaction(sql`INSERT INTO a VALUES (2)`)
      happened.push("committed")
      assert.deepStrictEqual(happened, ["turn", "written", "turn", "committed"])
    }))

  it.effect("or none, for whoever says so", () =>
    Effect.gen(function*() {
      const happened: Array<string> = []
      const sql = yield* makeClient({ filename: ":memory:", yieldAfterWrite: false })
      yield* sql`CREATE TABLE a (b INTEGER) STRICT`
      setImmediate(() => happened.push("turn"))
      yield* sql.withTransaction(sql`INSERT INTO a VALUES (2)`)
      assert.deepStrictEqual(happened, [])
    }))

  it.effect("where the disk is full, nothing that follows in a transaction is carried out by itself", () =>
    Effect.gen(function*() {
      const sql = yield* makeClient({ filename: yield* makeFilename })
      yield* sql`CREATE TABLE a (b TEXT) STRICT`
      const [pages] = yield* sql<{ readonly page_count: number }>`PRAGMA page_count`
      yield* sql.unsafe(`PRAGMA max_page_count = ${(pages?.page_count ?? 0) + 2}`)
      const exit = yield* Effect.exit(sql.withTransaction(Effect.gen(function*() {
        yield* sql`INSERT INTO a VALUES ('before')`
        yield* Effect.ignore(sql`INSERT INTO a VALUES (${"x".repeat(100_000)})`)
        yield* Effect.ignore(sql`INSERT INTO a VALUES ('after')`)
        yield* Effect.ignore(sql.withTransaction(sql`INSERT INTO a VALUES ('within')`))
      })))
      assert.isTrue(Exit.isFailure(exit))
      assert.deepStrictEqual(yield* sql`SELECT b FROM a`, [])
      yield* sql`INSERT INTO a VALUES ('next')`
      yield* sql.withTransaction(sql`INSERT INTO a VALUES ('one more')`)
      assert.lengthOf(yield* sql`SELECT b FROM a`, 2)
    }))

  it.effect("rows come as objects, as arrays and as a stream", () =>
    Effect.gen(function*() {
      const sql = yield* makeClient({ filename: ":memory:" })
      yield* sql`CREATE TABLE a (b INTEGER, c TEXT) STRICT`
      yield* sql`INSERT INTO a ${sql.insert(Arr.makeBy(300, (b) => ({ b, c: b === 1 ? null : "c" })))}`
      const two = sql`SELECT b, c FROM a WHERE b < ${2} ORDER BY b`
      assert.deepStrictEqual((yield* two).map((row) => ({ ...row })), [{ b: 0, c: "c" }, { b: 1, c: null }])
      assert.deepStrictEqual(yield* two.values, [[0, "c"], [1, null]])
      assert.lengthOf(yield* Stream.runCollect(sql`SELECT b FROM a`.stream), 300)
      // More statements than are kept.
      for (let n = 0; n < 300; n++) assert.lengthOf(yield* sql.unsafe(`SELECT ${n} AS n`), 1)
    }))

  it.effect("a name that is taken is told from what else is wrong", () =>
    Effect.gen(function*() {
      const sql = yield* makeClient({ filename: ":memory:" })
      yield* sql`CREATE TABLE a (b INTEGER UNIQUE, c INTEGER) STRICT`
      yield* sql`INSERT INTO a VALUES (1, 1)`
      const tags = yield* Effect.forEach(
        [sql`INSERT INTO a VALUES (1, 2)`, sql`INSERT INTO a VALUES (2, 'text')`, sql`NO SQL`],
        (statement) => Effect.map(Effect.flip(statement), ({ reason }) => reason._tag)
      )
      assert.deepStrictEqual(tags, ["UniqueViolation", "ConstraintError", "UnknownError"])
    }))

  it.effect("what is closed fails, also in the middle of a transaction", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const filename = yield* makeFilename
      const sql = yield* Scope.provide(makeClient({ filename }), scope)
      yield* sql`CREATE TABLE a (b INTEGER) STRICT`
      const exit = yield* Effect.exit(
        sql.withTransaction(Effect.andThen(sql`INSERT INTO a VALUES (1)`, Scope.close(scope, Exit.void)))
      )
      assert.isTrue(Exit.isFailure(exit))
      assert.isTrue(Exit.isFailure(yield* Effect.exit(sql`SELECT b FROM a`)))
      assert.deepStrictEqual(yield* (yield* makeClient({ filename }))`SELECT b FROM a`, [])
    }))

  it.effect("a folder, and a place where nothing may be written, are errors without their paths", () =>
    Effect.gen(function*() {
      const folder = Path.dirname(yield* makeFilename)
      for (const filename of [folder, "/proc/nowhere/secret.db"]) {
        const error = yield* Effect.flip(makeClient({ filename }))
        assert.strictEqual(error.reason._tag, "ConnectionError")
        assert.notInclude(JSON.stringify(error), "secret")
        assert.notInclude(error.message, folder)
      }
    }))

  it("a runtime that has no node:sqlite is told so", () => {
    // What Node 20 says, on any Node: its own `node:sqlite` is left out.
    const program = `
      import { SqliteClient } from "@assent/sql"
      import { Effect } from "effect"
      const opened = Effect.scoped(Effect.provide(Effect.void, SqliteClient.layer({ filename: ":memory:" })))
      console.log((await Effect.runPromise(Effect.flip(opened))).message)`
    const { stderr, stdout } = ChildProcess.spawnSync(
      process.execPath,
      ["--no-experimental-sqlite", "--conditions=@assent/source", "--input-type=module", "--eval", program],
      { cwd: import.meta.dirname, encoding: "utf8", timeout: 20_000 }
    )
    assert.match(stdout, /^@assent\/sql needs Node 22\.13 or later/, stderr)
  })
})
