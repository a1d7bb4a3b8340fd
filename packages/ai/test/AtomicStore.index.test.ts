/** Listing an `AtomicStore` on disk: what a page costs, and that nothing is missing whoever wrote it, and when. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Deferred, Effect, Fiber, FileSystem, type Layer, Path, type Scope } from "effect"
import { TestClock } from "effect/testing"
import * as Files from "../src/internal/store/fileSystem.ts"

type Services = Layer.Success<typeof NodeServices.layer> | Scope.Scope

const hour = 3_600_000

const test = (title: string, body: (directory: string) => Effect.Effect<void, unknown, Services>) =>
  it.effect(
    title,
    () =>
      Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped({ prefix: "assent-index-" })).pipe(
        Effect.flatMap(body),
        Effect.provide(NodeServices.layer)
      ),
    60_000
  )

const later = Effect.map(Clock.currentTimeMillis, (now) => ({ expiresAt: now + 48 * hour }))

const put = (store: Files.Files, key: string) => Effect.flatMap(later, (expiry) => store.putIfAbsent(key, "", expiry))

const listAll = (store: Files.Files, prefix = "") => store.listByPrefix(prefix, undefined, 1_000)

/** A store that counts what it asks the file system for. */
const openCounting = Effect.fnUntraced(function*(directory: string) {
  const fs = yield* FileSystem.FileSystem
  let calls = 0
  let names = 0
  const counted: FileSystem.FileSystem = {
    ...fs,
    readDirectory: (path, options) =>
      Effect.tap(fs.readDirectory(path, options), (found) => {
        calls++
        names += found.length
        return Effect.void
      }),
    readFileString: (path, encoding) => {
      calls++
      return fs.readFileString(path, encoding)
    },
    open: (path, options) => {
      calls++
      return fs.open(path, options)
    },
    stat: (path) => {
      calls++
      return fs.stat(path)
    }
  }
  const store = yield* Effect.provideService(Files.make(directory), FileSystem.FileSystem, counted)
  const cost = <A, E>(effect: Effect.Effect<A, E>) =>
    Effect.suspend(() => {
      const before = calls + names
      return Effect.map(effect, (value) => ({ value, cost: calls + names - before }))
    })
  return { store, cost }
})

describe("a page of keys on disk", () => {
  test("costs what it is long, however many keys there are", (directory) =>
    Effect.gen(function*() {
      const { cost, store } = yield* openCounting(directory)
      const costs: Array<number> = []
      for (const count of [20, 200]) {
        for (let i = count === 20 ? 0 : 20; i < count; i++) yield* put(store, `job/${String(i).padStart(4, "0")}`)
        yield* listAll(store)
        for (const after of [undefined, "job/0005"]) {
          const page = yield* cost(store.listByPrefix("job/", after, 10))
          assert.lengthOf(page.value, 10)
          costs.push(page.cost)
        }
      }
      assert.deepStrictEqual(costs.slice(2), costs.slice(0, 2))
    }))

  test("costs no more for those that are gone, once they were found gone", (directory) =>
    Effect.gen(function*() {
      const { cost, store } = yield* openCounting(directory)
      for (let i = 0; i < 100; i++) yield* store.put(`job/${i}`, "", { expiresAt: 0 })
      yield* put(store, "job/last")
      yield* listAll(store)
      // Those that were announced a moment ago may be on their way.
      yield* TestClock.adjust("2 minutes")
      assert.isAbove((yield* cost(listAll(store))).cost, 200)
      const page = yield* cost(listAll(store))
      assert.deepStrictEqual(page.value, ["job/last"])
      assert.isBelow(page.cost, 20)
      yield* store.putIfAbsent("job/7", "", yield* later)
      yield* store.put("job/8", "", yield* later)
      assert.deepStrictEqual(yield* listAll(store), ["job/7", "job/8", "job/last"])
      yield* TestClock.adjust("15 minutes")
      assert.deepStrictEqual(yield* listAll(store), ["job/7", "job/8", "job/last"])
    }))
})

describe("nothing is missing", () => {
  test("of what another process writes, from its first moment on", (directory) =>
    Effect.gen(function*() {
      const one = yield* Files.make(directory)
      const other = yield* Files.make(directory)
      const long = "long/".padEnd(400, "x")
      assert.deepStrictEqual(yield* listAll(one), [])
      for (const key of ["b", "Upper/Case", "a", long]) {
        yield* put(other, key)
        assert.include(yield* listAll(one), key)
      }
      assert.deepStrictEqual(yield* listAll(one), ["Upper/Case", "a", "b", long])
      assert.deepStrictEqual(yield* one.listByPrefix("long/", undefined, 5), [long])
      assert.deepStrictEqual(yield* one.listByPrefix("", "a", 1), ["b"])
      // Hours later, when other logs are written.
      yield* TestClock.adjust("5 hours")
      yield* put(other, "c")
      assert.deepStrictEqual(yield* listAll(one), ["Upper/Case", "a", "b", "c", long])
    }))

  test("of a store that an earlier version wrote, which had no logs", (directory) =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const before = yield* Files.make(directory)
      for (const key of ["a", "b"]) yield* put(before, key)
      yield* fs.remove(path.join(directory, "v1/log"), { recursive: true })
      const store = yield* Files.make(directory)
      assert.deepStrictEqual(yield* listAll(store), ["a", "b"])
      // A process of the earlier version still runs: what it writes is found within minutes.
      yield* put(before, "c").pipe(Effect.andThen(fs.remove(path.join(directory, "v1/log"), { recursive: true })))
      yield* TestClock.adjust("10 minutes")
      assert.deepStrictEqual(yield* listAll(store), ["a", "b", "c"])
    }))

  test("of a key that is looked for between its announcement and its beginning", (directory) =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const reached = yield* Deferred.make<void>()
      const released = yield* Deferred.make<void>()
      const slow = yield* Effect.provideService(Files.make(directory), FileSystem.FileSystem, {
        ...fs,
        link: (from, to) =>
          to.endsWith("k-key/0")
            ? Deferred.succeed(reached, undefined).pipe(
              Effect.andThen(Deferred.await(released)),
              Effect.andThen(fs.link(from, to))
            )
            : fs.link(from, to)
      })
      const reader = yield* Files.make(directory)
      yield* listAll(reader)
      const writing = yield* Effect.forkChild(put(slow, "key"))
      yield* Deferred.await(reached)
      assert.deepStrictEqual(yield* listAll(reader), [])
      yield* Deferred.succeed(released, undefined)
      assert.isTrue(yield* Fiber.join(writing))
      assert.deepStrictEqual(yield* listAll(reader), ["key"])
    }))

  test("when somebody died while announcing", (directory) =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const reader = yield* Files.make(directory)
      yield* listAll(reader)
      const store = yield* Files.make(directory)
      yield* put(store, "a")
      const [log] = yield* fs.readDirectory(path.join(directory, "v1/log"))
      yield* fs.writeFileString(path.join(directory, "v1/log", log!), "\nk-ha", { flag: "a" })
      assert.deepStrictEqual(yield* listAll(reader), ["a"])
      yield* put(store, "b")
      assert.deepStrictEqual(yield* listAll(reader), ["a", "b"])
    }))
})

describe("logs", () => {
  test("go when nobody reads them any more", (directory) =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const store = yield* Files.make(directory)
      const logs = fs.readDirectory(path.join(directory, "v1/log"))
      yield* put(store, "a")
      yield* store.sweep
      assert.lengthOf(yield* logs, 1)
      yield* TestClock.adjust("30 hours")
      yield* put(store, "b")
      yield* store.sweep
      assert.lengthOf(yield* logs, 1)
      assert.deepStrictEqual(yield* listAll(store), ["a", "b"])
    }))
})
