import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import { type ChildProcess, fork } from "node:child_process"
import { fileURLToPath } from "node:url"
import * as AtomicStore from "../src/AtomicStore.ts"

const racer = fileURLToPath(new URL("fixtures/atomic-store-racer.ts", import.meta.url))

type Store = AtomicStore.AtomicStore

const soon = { expiresAt: 60_000 }

const later = () => ({ expiresAt: Date.now() + 3_600_000 })

const temporaryDirectory = Effect.flatMap(
  FileSystem.FileSystem,
  (fs) => fs.makeTempDirectoryScoped({ prefix: "assent-store-" })
)

const layerTemporary = Layer.unwrap(
  Effect.map(temporaryDirectory, (directory) => AtomicStore.layerFileSystem({ directory }))
).pipe(Layer.provide(NodeServices.layer))

// =============================================================================
// Laws of every store
// =============================================================================

const laws = (name: string, layer: Layer.Layer<Store, unknown>) =>
  describe(name, () => {
    const law = (title: string, test: (store: Store) => Effect.Effect<void, unknown>) =>
      it.effect(title, () => Effect.provide(Effect.flatMap(AtomicStore.AtomicStore, test), layer), 60_000)

    law("writes a key once, and then only over the version that stands", (store) =>
      Effect.gen(function*() {
        assert.isUndefined(yield* store.get("a"))
        assert.isFalse(yield* store.compareAndSet("a", 0, "none"))
        assert.isTrue(yield* store.putIfAbsent("a", "zero", soon))
        assert.isFalse(yield* store.putIfAbsent("a", "again", soon))
        assert.deepStrictEqual(yield* store.get("a"), { version: 0, value: "zero" })
        for (const wrong of [-1, 1, 0.5, Number.NaN]) assert.isFalse(yield* store.compareAndSet("a", wrong, "wrong"))
        for (let version = 0; version < 12; version++) {
          assert.isTrue(yield* store.compareAndSet("a", version, `after ${version}`))
          assert.isFalse(yield* store.compareAndSet("a", version, "late"))
        }
        assert.deepStrictEqual(yield* store.get("a"), { version: 12, value: "after 11" })
        assert.isUndefined(yield* store.get("b"))
      }))

    law("L2 At most once: of 50 racing putIfAbsent one succeeds", (store) =>
      Effect.gen(function*() {
        const won = yield* Effect.forEach(
          Array.from({ length: 50 }, (_, i) => i),
          (i) => store.putIfAbsent("race", String(i), soon),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(won.filter((won) => won), [true])
        assert.deepStrictEqual(yield* store.get("race"), { version: 0, value: String(won.indexOf(true)) })
      }))

    law("L2 At most once: of 50 racing compareAndSet one succeeds", (store) =>
      Effect.gen(function*() {
        yield* store.putIfAbsent("race", "start", soon)
        for (let version = 0; version < 3; version++) {
          const won = yield* Effect.forEach(
            Array.from({ length: 50 }, (_, i) => i),
            (i) => store.compareAndSet("race", version, String(i)),
            { concurrency: "unbounded" }
          )
          assert.deepStrictEqual(won.filter((won) => won), [true])
          assert.deepStrictEqual(yield* store.get("race"), { version: version + 1, value: String(won.indexOf(true)) })
        }
      }))

    law("reads a key as absent from its expiry on, and lets one writer begin anew", (store) =>
      Effect.gen(function*() {
        yield* store.putIfAbsent("key", "old", soon)
        yield* store.compareAndSet("key", 0, "older")
        yield* TestClock.adjust("59999 millis")
        assert.isFalse(yield* store.putIfAbsent("key", "early", { expiresAt: 200_000 }))
        assert.deepStrictEqual(yield* store.get("key"), { version: 1, value: "older" })
        yield* TestClock.adjust("1 millis")
        assert.isUndefined(yield* store.get("key"))
        assert.deepStrictEqual(yield* store.listByPrefix(""), [])
        assert.isFalse(yield* store.compareAndSet("key", 1, "late"))
        const won = yield* Effect.forEach(
          Array.from({ length: 20 }, (_, i) => i),
          (i) => store.putIfAbsent("key", String(i), { expiresAt: 120_000 }),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(won.filter((won) => won), [true])
        assert.deepStrictEqual(yield* store.get("key"), { version: 0, value: String(won.indexOf(true)) })
        assert.isFalse(yield* store.compareAndSet("key", 1, "late"))
        assert.isTrue(yield* store.compareAndSet("key", 0, "next"))
        yield* TestClock.adjust("1 minute")
        assert.isUndefined(yield* store.get("key"))
      }))

    law("lets the last put stand, and decides nothing by it", (store) =>
      Effect.gen(function*() {
        yield* store.put("beat", "1", soon)
        yield* store.put("beat", "2", { expiresAt: 90_000 })
        yield* TestClock.adjust("1 minute")
        assert.deepStrictEqual(yield* store.get("beat"), { version: 0, value: "2" })
        assert.isFalse(yield* store.compareAndSet("beat", 0, "3"))
        assert.isFalse(yield* store.putIfAbsent("beat", "3", { expiresAt: 90_000 }))
        yield* store.putIfAbsent("decision", "yes", { expiresAt: 90_000 })
        const error = yield* Effect.flip(store.put("decision", "no", { expiresAt: 90_000 }))
        assert.match(error.description, /must not be overwritten.*compareAndSet/)
        assert.strictEqual((yield* store.get("decision"))?.value, "yes")
        yield* TestClock.adjust("1 minute")
        assert.isUndefined(yield* store.get("beat"))
        yield* store.put("decision", "beat", { expiresAt: 200_000 })
        assert.isTrue(yield* store.putIfAbsent("beat", "decided", { expiresAt: 200_000 }))
        assert.deepStrictEqual(yield* store.get("decision"), { version: 0, value: "beat" })
        assert.isFalse(yield* store.compareAndSet("decision", 0, "over"))
        assert.isTrue(yield* store.compareAndSet("beat", 0, "over"))
      }))

    law("keeps every key apart, by case, by punctuation and at any length", (store) =>
      Effect.gen(function*() {
        const keys = [
          "key",
          "Key",
          "KEY",
          "_key",
          "-key",
          ".key",
          "~key",
          ":key",
          "k/e/y",
          "k_ey",
          "_0",
          "_A",
          "a_",
          "A",
          "..",
          "../../etc/passwd",
          "/",
          "/etc/passwd",
          "nul",
          "CON",
          "com1.txt",
          "0",
          "latest",
          "t-0-a",
          "x".repeat(512),
          "X".repeat(512),
          `${"x".repeat(511)}X`,
          "~".repeat(512),
          `${"~".repeat(511)}/`
        ] // dprint-ignore
        for (const key of keys) assert.isTrue(yield* store.putIfAbsent(key, `value of ${key}`, soon), key)
        for (const key of keys) {
          assert.deepStrictEqual(yield* store.get(key), { version: 0, value: `value of ${key}` })
          assert.deepStrictEqual(yield* store.listByPrefix(key, { limit: 1 }), [key])
        }
        assert.deepStrictEqual(yield* store.listByPrefix(""), keys.toSorted())
      }))

    law("refuses what cannot be a key or an expiry", (store) =>
      Effect.gen(function*() {
        for (const key of ["", " ", "a b", "ü", "a\\b", "a%2e", "a\n", "\u0000", "k".repeat(513)]) {
          for (
            const refused of [
              store.get(key),
              store.putIfAbsent(key, "", soon),
              store.compareAndSet(key, 0, ""),
              store.put(key, "", soon),
              ...(key === "" ? [] : [store.listByPrefix(key)])
            ]
          ) {
            const error = yield* Effect.flip<unknown, AtomicStore.AtomicStoreError, never>(refused)
            assert.strictEqual(error._tag, "AtomicStoreError")
            assert.match(error.message, /^The key cannot be used: .*\. Nothing was changed\. .*\.$/)
            assert.notInclude(error.key, "\n")
          }
        }
        for (const expiresAt of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
          assert.match((yield* Effect.flip(store.put("a", "", { expiresAt }))).description, /Give a number/)
          assert.match((yield* Effect.flip(store.putIfAbsent("a", "", { expiresAt }))).description, /Give a number/)
        }
        assert.deepStrictEqual(yield* store.listByPrefix(""), [])
        assert.isTrue(yield* store.putIfAbsent("__proto__", "own", soon))
        assert.isTrue(yield* store.putIfAbsent("past", "gone", { expiresAt: -1 }))
        assert.isUndefined(yield* store.get("past"))
      }))

    law("gives back any value as it was", (store) =>
      Effect.gen(function*() {
        for (
          const value of ["", "\u0000\n\"\\", "😀é\u2028", "\ud800 alone \udfff", "{\"id\":1}", "x".repeat(1_000_000)]
        ) {
          yield* store.put("put", value, soon)
          assert.strictEqual((yield* store.get("put"))?.value, value)
          yield* store.putIfAbsent("decided", "", soon)
          yield* store.compareAndSet("decided", (yield* store.get("decided"))!.version, value)
          assert.strictEqual((yield* store.get("decided"))?.value, value)
        }
      }))

    law("lists by prefix in order, page by page", (store) =>
      Effect.gen(function*() {
        const long = `job/${"z".repeat(300)}`
        const keys = [...Array.from({ length: 120 }, (_, i) => `job/${i}`), long]
        for (const key of keys.toReversed()) yield* store.putIfAbsent(key, "", soon)
        yield* store.putIfAbsent("job/gone", "", { expiresAt: 0 })
        yield* store.put("jobs", "", soon)
        yield* store.putIfAbsent("Job/1", "", soon)
        const sorted = keys.toSorted()
        assert.deepStrictEqual(yield* store.listByPrefix("job/"), sorted.slice(0, 100))
        const pages: Array<string> = []
        for (let after: string | undefined; pages.length < 200; after = pages.at(-1)) {
          const page = yield* store.listByPrefix("job/", { after, limit: 50 })
          if (page.length === 0) break
          pages.push(...page)
        }
        assert.deepStrictEqual(pages, sorted)
        assert.deepStrictEqual(yield* store.listByPrefix(long.slice(0, 200)), [long])
        assert.deepStrictEqual(yield* store.listByPrefix("job", { after: long }), ["jobs"])
        assert.deepStrictEqual(yield* store.listByPrefix("job/", { limit: 0 }), [])
        assert.deepStrictEqual(yield* store.listByPrefix("nothing"), [])
      }))
  })

describe("AtomicStore", () => {
  laws("layerMemory", AtomicStore.layerMemory)
  laws("layerFileSystem", layerTemporary)

  // ===========================================================================
  // Memory
  // ===========================================================================

  describe("makeMemory", () => {
    it.effect("is full of live keys until one expires, and gives up none", () =>
      Effect.gen(function*() {
        const store = yield* AtomicStore.makeMemory({ capacity: 2 })
        yield* store.putIfAbsent("a", "", soon)
        yield* store.put("b", "", { expiresAt: 90_000 })
        for (const write of [store.putIfAbsent("c", "", soon), store.put("c", "", soon)]) {
          const error = yield* Effect.flip<unknown, AtomicStore.AtomicStoreError, never>(write)
          assert.strictEqual(error.reason, "Full")
          assert.match(error.description, /holds 2 keys.*Nothing was written/)
        }
        assert.isTrue(yield* store.compareAndSet("a", 0, "still written"))
        yield* store.put("b", "beat", { expiresAt: 120_000 })
        yield* TestClock.adjust("1 minute")
        assert.isTrue(yield* store.putIfAbsent("c", "", { expiresAt: 120_000 }))
        assert.deepStrictEqual(yield* store.listByPrefix(""), ["b", "c"])
      }))

    it.effect("is full exactly when as many keys as it may hold are live, whatever was written before", () =>
      Effect.gen(function*() {
        const capacity = 20
        const store = yield* AtomicStore.makeMemory({ capacity })
        const model = new Map<string, number>()
        let seed = 42
        const random = (below: number) => ((seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0) >>> 8) % below
        for (let now = 0; now < 4_000; now++) {
          const key = `k${random(60)}`
          const expiresAt = now + random(80)
          for (const [key, at] of model) if (at <= now) model.delete(key)
          const fits = model.has(key) || model.size < capacity
          const result = yield* Effect.result(store.put(key, "", { expiresAt }))
          assert.strictEqual(result._tag, fits ? "Success" : "Failure", `at ${now}`)
          if (fits) model.set(key, expiresAt)
          yield* TestClock.adjust("1 millis")
        }
      }))
  })

  // ===========================================================================
  // Processes
  // ===========================================================================

  describe("makeFileSystem, shared by processes", () => {
    const test = (
      title: string,
      body: (directory: string) => Effect.Effect<void, unknown, Layer.Success<typeof NodeServices.layer> | Scope.Scope>
    ) => it.live(title, () => Effect.provide(Effect.flatMap(temporaryDirectory, body), NodeServices.layer), 60_000)

    test("L2 At most once: two processes that add 100 each have added 200", (directory) =>
      Effect.gen(function*() {
        const store = yield* AtomicStore.makeFileSystem({ directory })
        yield* store.putIfAbsent("counter", "0", later())
        const racers = yield* Effect.forEach([1, 2], () => startRacer("increment", directory, "counter", "100"))
        yield* Effect.forEach(racers, (racer) => racer.run, { concurrency: 2 })
        assert.deepStrictEqual(yield* store.get("counter"), { version: 200, value: "200" })
      }))

    test("L2 At most once: of three processes one has each expired key, while they are being swept", (directory) =>
      Effect.gen(function*() {
        const store = yield* AtomicStore.makeFileSystem({ directory })
        const keys = Array.from({ length: 150 }, (_, i) => `key-${i}`)
        // Every third is only expired, every third was never there.
        for (const [i, key] of keys.entries()) {
          const expiresAt = Date.now() - (i % 3 === 0 ? 172_800_000 : 1_000)
          if (i % 3 < 2) yield* store.putIfAbsent(key, "old", { expiresAt })
        }
        const racers = yield* Effect.forEach([1, 2, 3], () => startRacer("claim", directory, "150"))
        const sweeping = yield* Effect.forkChild(
          Effect.forever(Effect.scoped(Effect.andThen(AtomicStore.makeFileSystem({ directory }), Effect.sleep(5))))
        )
        const claimed = yield* Effect.forEach(racers, (racer) => racer.run, { concurrency: 3 })
        yield* Fiber.interrupt(sweeping)
        const numbers = claimed.flat() as ReadonlyArray<number>
        assert.deepStrictEqual(numbers.toSorted((a, b) => a - b), keys.map((_, i) => i))
        for (const [i, key] of keys.entries()) {
          const owner = racers[claimed.findIndex((some) => (some as ReadonlyArray<number>).includes(i))]
          assert.strictEqual((yield* store.get(key))?.value, String(owner?.process.pid))
        }
      }))

    test("is readable after a process was killed while it wrote", (directory) =>
      Effect.gen(function*() {
        const store = yield* AtomicStore.makeFileSystem({ directory })
        yield* store.putIfAbsent("key", "start", later())
        let before = 0
        for (let round = 0; round < 4; round++) {
          const racer = yield* startRacer("write", directory, "key")
          yield* racer.run
          // Long enough under way that it is killed at some point of some write.
          while ((yield* store.get("key"))!.version < before + 2) yield* Effect.sleep(1)
          yield* Effect.sleep(round * 3)
          yield* racer.kill
          const { value, version } = (yield* store.get("key"))!
          assert.isAbove(version, before)
          assert.strictEqual(value, String(version).repeat(50_000))
          const beat = (yield* store.get("heartbeat"))!.value
          assert.strictEqual(beat, beat.slice(0, beat.length / 50_000).repeat(50_000))
          assert.isTrue(yield* store.compareAndSet("key", version, "mine"))
          before = version + 1
        }
      }))
  })
})

interface Racer {
  readonly process: ChildProcess
  /** Lets it go, and waits for what it says next. */
  readonly run: Effect.Effect<unknown>
  readonly kill: Effect.Effect<void>
}

/** Starts a process that uses the store, and waits until it is open. */
const startRacer = (...args: ReadonlyArray<string>): Effect.Effect<Racer, never, Scope.Scope> => {
  const said = (process: ChildProcess) =>
    Effect.callback<unknown>((resume) => {
      process.once("message", (message) => resume(Effect.succeed(message)))
      process.once("exit", (code) => resume(Effect.die(new Error(`The racer ended with ${code}.`))))
    })
  const exited = (process: ChildProcess) =>
    Effect.callback<void>((resume) => {
      if (process.exitCode !== null || process.signalCode !== null) return resume(Effect.void)
      process.once("exit", () => resume(Effect.void))
      process.kill("SIGKILL")
    })
  return Effect.acquireRelease(
    Effect.sync(() => fork(racer, args, { execPath: process.execPath, execArgv: ["--conditions=@assent/source"] })),
    exited
  ).pipe(
    Effect.tap(said),
    Effect.map((process) => ({
      process,
      run: Effect.suspend(() => {
        const next = said(process)
        process.send("go")
        return next
      }),
      kill: exited(process)
    }))
  )
}
