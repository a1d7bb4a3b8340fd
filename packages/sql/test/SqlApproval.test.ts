import { ApprovalJournal, ApprovalSeal, Store } from "@assent/ai"
import { SqlApproval } from "@assent/sql"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Logger, Redacted, Result } from "effect"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { answer, named, shown } from "../../ai/test/store/laws/support.ts"
import * as Seal from "../src/internal/seal.ts"
import * as Database from "../src/internal/store/database.ts"
import { sqlite } from "../src/internal/store/dialect.ts"
import * as Kept from "../src/internal/store/kept.ts"
import * as Settings from "../src/internal/store/settings.ts"
import { binding, makeClient, makeFilename } from "./database.ts"

const seal = Effect.flatMap(
  ApprovalSeal.ApprovalSeal,
  (seal) => Effect.map(seal.seal(binding), (sealed) => sealed.approvalId)
)

/** What is wrong with an approval, if anything. */
const verify = (approvalId: string) =>
  Effect.flatMap(ApprovalSeal.ApprovalSeal, (seal) =>
    Effect.map(
      Effect.result(seal.verify(approvalId, binding)),
      (result) => Result.isSuccess(result) ? undefined : result.failure.reason._tag
    ))

/** A program that opens the file, and ends. */
const program =
  (filename: string, options?: Partial<SqlApproval.Options>) => <A, E>(effect: Effect.Effect<A, E, Store.Store>) =>
    Effect.provide(effect, SqlApproval.layer({ filename, synchronous: "NORMAL", yieldAfterWrite: false, ...options }))

const configured = (key: string | undefined) =>
  Effect.provideService(
    ConfigProvider.ConfigProvider,
    ConfigProvider.fromUnknown(key === undefined ? {} : { ASSENT_APPROVAL_KEY: key })
  )

const key = "a key of the program, of 32 bytes or more"

describe("the key", () => {
  it.effect("is made once and kept in the file: an approval outlives the process without a variable", () =>
    Effect.gen(function*() {
      const filename = yield* makeFilename
      const asked = yield* program(filename)(seal)
      assert.isUndefined(yield* program(filename)(verify(asked)))
      assert.strictEqual(yield* program(yield* makeFilename)(verify(asked)), "UnknownKey")
      assert.isTrue(yield* program(filename)(Effect.flatMap(ApprovalSeal.ApprovalSeal, (seal) => seal.configured)))
    }).pipe(configured(undefined)))

  it.effect("is one, however many open a new file at once", () =>
    Effect.gen(function*() {
      const filename = yield* makeFilename
      const asked = yield* Effect.all(
        Array.from({ length: 4 }, () => program(filename, { yieldAfterWrite: true })(seal)),
        { concurrency: "unbounded" }
      )
      for (const approvalId of asked) assert.isUndefined(yield* program(filename)(verify(approvalId)))
    }).pipe(configured(undefined)))

  it.effect("of ASSENT_APPROVAL_KEY wins, and is the same with the file and without", () =>
    Effect.gen(function*() {
      const filename = yield* makeFilename
      const kept = yield* configured(undefined)(program(filename)(seal))
      const elsewhere = yield* Effect.provide(seal, ApprovalSeal.layer({ key }))
      assert.isUndefined(yield* program(filename)(verify(elsewhere)))
      assert.strictEqual(yield* program(filename)(verify(kept)), "UnknownKey")
    }).pipe(configured(key)))

  it.effect("of the program wins over both, and can be replaced by another", () =>
    Effect.gen(function*() {
      const filename = yield* makeFilename
      const old = yield* program(filename, { seal: { key: "the old key, which has 32 bytes or more" } })(seal)
      const next = {
        key: Redacted.make("the new key, which has 32 bytes or more"),
        keyId: "new",
        previousKeys: [{ key: "the old key, which has 32 bytes or more", until: "2030-01-01T00:00:00Z" }]
      }
      assert.isUndefined(yield* program(filename, { seal: next })(verify(old)))
    }).pipe(configured(key)))

  it.effect("that is too short, or is none, is an error that does not show it", () =>
    Effect.gen(function*() {
      const filename = yield* makeFilename
      // Also after the file was restored, when more than the key is put together.
      for (let round = 0; round < 2; round++) {
        const error = yield* Effect.flip(program(filename)(seal))
        assert.strictEqual(error._tag === "ApprovalError" ? error.reason._tag : error._tag, "InvalidKey")
        assert.notInclude(JSON.stringify(error), "too short")
        yield* SqlApproval.restored({ filename })
      }
    }).pipe(configured("too short")))
})

describe("what a database knows of itself", () => {
  for (
    const [name, operation, run] of [
      ["its key", "open", Settings.sealKey],
      ["whether it was restored", "open", Settings.epoch],
      ["that it was restored", "restored", Settings.raiseEpoch]
    ] as const
  ) {
    it.effect(`${name}: an error says in which operation it was`, () =>
      Effect.gen(function*() {
        // Without tables.
        const database = Database.make(yield* makeClient({ filename: ":memory:" }), sqlite, "assent_")
        const error: Store.StoreError = yield* Effect.flip(Effect.asVoid(run(database)))
        assert.strictEqual(error.operation, operation)
      }))
  }
})

describe("the key of a database that others can read", () => {
  const other = "another key of the program, of 32 bytes or more"
  /** What the ids say of the key with which they are sealed. */
  const keyIdOf = (options?: ApprovalSeal.Options) =>
    Effect.gen(function*() {
      const database = yield* Kept.open(yield* makeClient({ filename: ":memory:" }))
      const made = yield* Seal.makeShared(database, options)
      return (yield* made.seal(binding)).approvalId.split(".")[1]
    })

  it.effect("is the one of the options, or else of the seal that is given, or else of ASSENT_APPROVAL_KEY", () =>
    Effect.gen(function*() {
      const [one, two] = [yield* keyIdOf({ key }), yield* keyIdOf({ key: other })]
      assert.notStrictEqual(one, two)
      const given = ApprovalSeal.layer({ key: other })
      assert.strictEqual(yield* Effect.provide(keyIdOf({ key }), given), one)
      assert.strictEqual(yield* Effect.provide(keyIdOf(), given), two)
      assert.strictEqual(yield* keyIdOf(), one)
    }).pipe(configured(key)))

  it.effect("has to be the program's: none is kept beside what it seals", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(keyIdOf())
      assert.strictEqual(error._tag === "ApprovalError" ? error.reason._tag : error._tag, "InvalidKey")
    }).pipe(configured(undefined)))
})

describe("restored from a backup", () => {
  it.effect.each(["the file's key", "the program's"])(
    "with %s, what was asked before is not known",
    (which) =>
      Effect.gen(function*() {
        const filename = yield* makeFilename
        const options = which === "the program's" ? { seal: { key, keyId: "a-name-of-32-characters-the-most" } } : {}
        const before = yield* program(filename, options)(seal)
        const backup = Fs.readFileSync(filename)
        yield* SqlApproval.restored({ filename })
        assert.strictEqual(yield* program(filename, options)(verify(before)), "UnknownKey")
        const after = yield* program(filename, options)(seal)
        assert.isUndefined(yield* program(filename, options)(verify(after)))
        // The same backup once more: what was asked after the first time may have run too.
        Fs.writeFileSync(filename, backup)
        yield* SqlApproval.restored({ filename })
        assert.strictEqual(yield* program(filename, options)(verify(after)), "UnknownKey")
      }).pipe(configured(undefined))
  )

  it.effect("a program goes on with all its keys, however alike their names are", () =>
    Effect.gen(function*() {
      const filename = yield* makeFilename
      const old = { key: "the old key, which has 32 bytes or more", keyId: "production-2030-key-of-march" }
      const next = {
        key: "the new key, which has 32 bytes or more",
        keyId: "production-2030-key-of-april",
        previousKeys: [{ ...old, until: "2030-01-01T00:00:00Z" }]
      }
      yield* SqlApproval.restored({ filename })
      const asked = yield* program(filename, { seal: old })(seal)
      assert.isUndefined(yield* program(filename, { seal: next })(verify(asked)))
    }))

  it.effect("whoever had read further than the backup is told that it misses something, for ever", () =>
    Effect.gen(function*() {
      const filename = yield* makeFilename
      const use = <A>(use: (store: Store.Store) => Effect.Effect<A, Store.StoreError>) =>
        program(filename)(Effect.flatMap(Store.Store, use))
      yield* use((store) => store.requests.open([shown("open"), shown("decided")]))
      yield* use((store) => store.requests.decide(named("decided"), 0, { state: "denied", entry: "{}" }))
      const kept = yield* use((store) => store.events.latest)
      // What came after the backup is lost.
      const later = String(Number(kept) + 2)
      for (let round = 0; round < 2; round++) {
        yield* SqlApproval.restored({ filename })
        yield* use((store) => store.requests.open(Array.from({ length: 5 }, (_, index) => shown(`${round} ${index}`))))
        for (const after of [kept, later]) {
          const page = yield* use((store) => store.events.page({}, { after, limit: 100 }))
          assert.deepStrictEqual([page.isMissed, page.events.length], [true, 5])
          const next = yield* use((store) => store.events.page({}, { after: page.from, limit: 100 }))
          assert.deepStrictEqual([next.isMissed, next.events.length], [false, 5])
        }
      }
      yield* use((store) => store.requests.decide(named("open"), 0, { state: "denied", entry: "{}" }))
      const { events } = yield* use((store) => store.events.page({}, { limit: 100 }))
      assert.strictEqual(events.at(-1)?.nonce, "open")
    }))

  it.effect("what was remembered as approved is asked again, what was denied stays so, and what ran stays known", () =>
    Effect.gen(function*() {
      const filename = yield* makeFilename
      yield* program(filename)(Effect.flatMap(Store.Store, (store) =>
        Effect.all([
          store.remembered.insert(answer("approved")),
          store.remembered.insert(answer("denied", { denies: true })),
          store.requests.decide(named("n"), 0, { state: "done", entry: "{}" })
        ])))
      yield* SqlApproval.restored({ filename })
      const [rows, request] = yield* program(filename)(
        Effect.flatMap(
          Store.Store,
          (store) => Effect.all([store.remembered.list("s", { limit: 9 }), store.requests.get("n")])
        )
      )
      assert.deepStrictEqual([rows.map(({ id }) => id), request?.state], [["denied"], "done"])
    }))
})

describe("everything over one file", () => {
  it.effect("whose name SQLite would take for a URI, or that cannot be looked at, is an error (law L4)", () =>
    Effect.gen(function*() {
      const filename = yield* makeFilename
      for (const name of [`file:${filename}`, `file://${filename}?mode=memory`, `${filename}${"x".repeat(300)}`]) {
        for (const open of [program(name)(Effect.void), SqlApproval.restored({ filename: name })]) {
          const error = yield* Effect.flip(open)
          assert.strictEqual(error._tag === "StoreError" ? error.reason : error._tag, "Unavailable")
        }
      }
      assert.deepStrictEqual(Fs.readdirSync(Path.dirname(filename)), [])
    }).pipe(configured(undefined)))

  it.effect("is named, so that a configured key is not refused, and shared", () =>
    Effect.gen(function*() {
      const named = Effect.gen(function*() {
        return [(yield* ApprovalJournal.ApprovalJournal).named, (yield* Store.Store).isShared]
      })
      assert.deepStrictEqual(yield* program(yield* makeFilename)(named), [true, true])
      // Nobody else can open that one.
      assert.deepStrictEqual(yield* program(":memory:")(named), [true, false])
    }))

  it.effect("tells whoever runs it that others can read the file", () =>
    Effect.gen(function*() {
      const filename = yield* makeFilename
      const said: Array<unknown> = []
      const logger = Logger.make(({ message }) => {
        said.push(message)
      })
      const open = program(filename)(Effect.void).pipe(Effect.provide(Logger.layer([logger])))
      yield* open
      assert.deepStrictEqual(said, [])
      Fs.chmodSync(filename, 0o644)
      yield* open
      assert.lengthOf(said, 1)
      assert.match(String(said[0]), /chmod 600/)
    }))

  it.effect("says what is wrong with a file that is no database", () =>
    Effect.gen(function*() {
      const filename = yield* makeFilename
      Fs.writeFileSync(filename, "no database ".repeat(100), { mode: 0o600 })
      const error = yield* Effect.flip(program(filename)(Effect.void))
      assert.strictEqual(error._tag === "StoreError" ? error.reason : error._tag, "Corrupt")
      assert.notInclude(error.message, filename)
    }))

  it.effect("its tables can be in a database that has others", () =>
    Effect.gen(function*() {
      const filename = yield* makeFilename
      const sql = yield* makeClient({ filename })
      yield* sql`CREATE TABLE request (id TEXT) STRICT`
      assert.isString(yield* program(filename, { prefix: "approval_" })(seal))
      assert.lengthOf(yield* sql`SELECT name FROM approval_setting`, 1)
    }).pipe(configured(undefined)))
})
