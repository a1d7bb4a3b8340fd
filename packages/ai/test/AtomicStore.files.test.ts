/**
 * `AtomicStore` on disk: what is written where, what becomes of damage, and that sweeping never gives back a number
 * that somebody may still want to write. The laws it shares with other stores are in `AtomicStore.test.ts`.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import type * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import * as PlatformError from "effect/PlatformError"
import type * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import * as AtomicStore from "../src/AtomicStore.ts"
import * as Files from "../src/internal/store/fileSystem.ts"

type Services = Layer.Success<typeof NodeServices.layer> | Scope.Scope

const hour = 3_600_000
const day = 24 * hour

const inDirectory = (body: (directory: string) => Effect.Effect<void, unknown, Services>) => () =>
  Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped({ prefix: "assent-store-" })).pipe(
    Effect.flatMap(body),
    Effect.provide(NodeServices.layer)
  )

const later = () => ({ expiresAt: Date.now() + hour })

/** The files below a directory whose path ends so, the newest version of a key first. */
const filesEnding = Effect.fnUntraced(function*(directory: string, end: RegExp) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const names = yield* fs.readDirectory(directory, { recursive: true })
  return names.filter((name) => end.test(name)).toSorted().toReversed().map((name) => path.join(directory, name))
})

/** Opens a store whose next call of `method` on a path with `part` in it is held up. */
const openHeldUp = Effect.fnUntraced(function*(directory: string, method: "link" | "open" | "rename", part: string) {
  const fs = yield* FileSystem.FileSystem
  const reached = yield* Deferred.make<void>()
  const released = yield* Deferred.make<void>()
  const holdUp = (called: string, file: string) =>
    called === method && file.includes(part)
      ? Effect.andThen(Deferred.succeed(reached, undefined), Deferred.await(released))
      : Effect.void
  const store = yield* Effect.provideService(Files.make(directory), FileSystem.FileSystem, {
    ...fs,
    link: (from, to) => Effect.andThen(holdUp("link", to), fs.link(from, to)),
    open: (file, options) => Effect.andThen(holdUp("open", file), fs.open(file, options)),
    rename: (from, to) => Effect.andThen(holdUp("rename", from), fs.rename(from, to))
  })
  return { store, reached: Deferred.await(reached), release: Deferred.succeed(released, undefined) }
})

describe("AtomicStore on disk", () => {
  const test = (title: string, body: Parameters<typeof inDirectory>[0]) => it.live(title, inDirectory(body), 60_000)

  test("shares a directory, which only its owner may read", (directory) =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const below = path.join(directory, "not", "yet")
      const one = yield* AtomicStore.makeFileSystem({ directory: below })
      const other = yield* AtomicStore.makeFileSystem({ directory: below })
      yield* one.putIfAbsent("key", "one", later())
      assert.isTrue(yield* other.compareAndSet("key", 0, "other"))
      yield* other.put("beat", "other", later())
      assert.deepStrictEqual(yield* one.get("key"), { version: 1, value: "other" })
      assert.deepStrictEqual(yield* one.get("beat"), { version: 0, value: "other" })
      if (process.platform === "win32") return
      assert.strictEqual((yield* fs.stat(below)).mode & 0o777, 0o700)
      for (const file of yield* filesEnding(below, /(^|\/)[^/]+$/)) {
        const info = yield* fs.stat(file)
        assert.strictEqual(info.mode & 0o777, info.type === "Directory" ? 0o700 : 0o600, file)
      }
      assert.deepStrictEqual(yield* filesEnding(below, /(^|\/)t-[^/]*$/), [])
    }))

  for (
    const [how, damage] of [
      ["cut in half", (text: string) => text.slice(0, text.length / 2)],
      ["empty", () => ""],
      ["full of zeros", (text: string) => "\0".repeat(text.length)],
      ["of another key", (text: string) => text.replace("\"key\":\"key\"", "\"key\":\"other\"")],
      ["of no version", (text: string) => text.replace(/"version":\d+/, "\"version\":-1")]
    ] as const
  ) {
    test(`says which file is corrupt when one is ${how}`, (directory) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const store = yield* AtomicStore.makeFileSystem({ directory })
        yield* store.putIfAbsent("key", "0", later())
        yield* store.compareAndSet("key", 0, "1")
        yield* store.putIfAbsent("well", "0", later())
        const [file] = yield* filesEnding(directory, /k-key.\d$/)
        yield* fs.writeFileString(file!, damage(yield* fs.readFileString(file!)))
        for (
          const operation of [
            store.get("key"),
            store.putIfAbsent("key", "", later()),
            store.compareAndSet("key", 1, "")
          ]
        ) {
          const error = yield* Effect.flip<unknown, AtomicStore.AtomicStoreError, never>(operation)
          assert.strictEqual(error.reason, "Corrupt")
          assert.include(error.description, file)
        }
        assert.strictEqual((yield* store.get("well"))?.value, "0")
        assert.deepStrictEqual(yield* store.listByPrefix(""), ["key", "well"])
      }))
  }

  test("says which file cannot be read", (directory) =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const store = yield* AtomicStore.makeFileSystem({ directory })
      yield* store.putIfAbsent("key", "0", later())
      const [file] = yield* filesEnding(directory, /k-key.\d$/)
      yield* fs.remove(file!)
      yield* fs.makeDirectory(file!)
      const error = yield* Effect.flip(store.get("key"))
      assert.strictEqual(error.reason, "Corrupt")
      assert.include(error.description, `"${file}" cannot be read (EISDIR)`)
    }))

  test("says why it cannot be opened or written", (directory) =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const file = path.join(directory, "file")
      yield* fs.writeFileString(file, "")
      const open = AtomicStore.makeFileSystem({ directory: file })
      const closed = yield* Effect.flip(open)
      assert.strictEqual(closed.method, "open")
      assert.strictEqual(closed.reason, "Unavailable")
      assert.include(closed.description, file)

      const failing = (method: "link" | "open", code: string) => ({
        ...fs,
        [method]: () =>
          Effect.fail(PlatformError.systemError({
            _tag: "Unknown",
            module: "FileSystem",
            method,
            cause: Object.assign(new Error(code), { code })
          }))
      })
      const unlinked = yield* Effect.flip(
        Effect.provideService(
          AtomicStore.makeFileSystem({ directory }),
          FileSystem.FileSystem,
          failing("link", "ENOTSUP")
        )
      )
      assert.match(unlinked.description, /no hard links.*local disk/)

      let full = false
      const store = yield* Effect.provideService(AtomicStore.makeFileSystem({ directory }), FileSystem.FileSystem, {
        ...fs,
        open: (file, options) => full ? failing("open", "ENOSPC").open(file, options) : fs.open(file, options)
      })
      yield* store.putIfAbsent("key", "0", later())
      full = true
      const error = yield* Effect.flip(store.compareAndSet("key", 0, "1"))
      assert.strictEqual(error.reason, "Full")
      assert.match(error.description, /no room left to write.*Nothing was decided/)
      full = false
      assert.isTrue(yield* store.compareAndSet("key", 0, "1"))
    }))

  test("sweeps in the background when it opens", (directory) =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const files = yield* Files.make(directory)
      for (let i = 0; i < 150; i++) yield* files.putIfAbsent(`${i}`, "", { expiresAt: Date.now() - 2 * day })
      yield* files.putIfAbsent("live", "", later())
      const store = yield* AtomicStore.makeFileSystem({ directory })
      while ((yield* fs.readDirectory(path.join(directory, "v1/keys"))).length > 1) yield* Effect.sleep(10)
      assert.deepStrictEqual(yield* store.listByPrefix(""), ["live"])
    }))
})

describe("AtomicStore on disk, swept", () => {
  const test = (title: string, body: Parameters<typeof inDirectory>[0]) => it.effect(title, inDirectory(body))

  test("keeps what is live, recent or damaged, and nothing else", (directory) =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      yield* TestClock.setTime(Date.now())
      const now = Date.now()
      const store = yield* Files.make(directory)
      for (const [key, expiresAt] of [["live", now + 3 * day], ["recent", now + 2 * hour], ["old", now - 1]] as const) {
        yield* store.putIfAbsent(key, key, { expiresAt })
        yield* store.put(`beat-${key}`, key, { expiresAt })
        yield* store.putIfAbsent(key.padEnd(400, "~"), key, { expiresAt })
      }
      yield* store.putIfAbsent("damaged", "", { expiresAt: now - 1 })
      const [damaged] = yield* filesEnding(directory, /k-damaged.0$/)
      yield* fs.writeFileString(damaged!, "")
      yield* fs.makeDirectory(path.join(directory, "v1/keys/k-empty"))
      const temporary = path.join(directory, `v1/keys/k-live/t-${now.toString(36)}-token`)
      yield* fs.writeFileString(temporary, "half of i")
      yield* fs.makeDirectory(path.join(directory, `v1/swept/${now.toString(36)}-token/k-gone`), { recursive: true })
      yield* fs.writeFileString(path.join(directory, `v1/t-${now.toString(36)}-token`), "")
      yield* fs.writeFileString(path.join(directory, "v1/keys/not-ours"), "")

      yield* TestClock.adjust(hour)
      yield* store.sweep
      assert.lengthOf(yield* filesEnding(directory, /keys.[kh]-[^/]*$/), 11)
      assert.lengthOf(yield* filesEnding(directory, /token$/), 3)

      yield* TestClock.adjust(day)
      yield* store.sweep
      const left = yield* filesEnding(directory, /v1.(keys|swept).[^/]*$|token|t-[^/]*$/)
      assert.deepStrictEqual(
        left.map((file) => path.basename(file).replace(/^h-.*(live|recent).*/, "long $1")).toSorted(),
        ["k-beat-live", "k-beat-recent", "k-damaged", "k-live", "k-recent", "long live", "long recent", "not-ours"]
      )
      assert.deepStrictEqual(yield* store.get("live"), { version: 0, value: "live" })
    }))

  test("L2 At most once: a writer who was held up meanwhile writes nothing", (directory) =>
    Effect.gen(function*() {
      const store = yield* Files.make(directory)
      for (const [key, anew] of [["shorter", 0], ["same", 1], ["longer", 2]] as const) {
        yield* TestClock.setTime(0)
        yield* store.putIfAbsent(key, "old", { expiresAt: hour })
        yield* store.compareAndSet(key, 0, "older")
        const late = yield* openHeldUp(directory, "link", `k-${key}`)
        const writing = yield* Effect.forkChild(late.store.compareAndSet(key, 1, "late"))
        yield* late.reached
        yield* TestClock.adjust(2 * day)
        yield* store.sweep
        assert.deepStrictEqual(yield* filesEnding(directory, new RegExp(`k-${key}`)), [])
        assert.isTrue(yield* store.putIfAbsent(key, "new", { expiresAt: 3 * day }))
        for (let i = 0; i < anew; i++) assert.isTrue(yield* store.compareAndSet(key, i, "new"))
        yield* late.release
        assert.isFalse(yield* Fiber.join(writing))
        assert.deepStrictEqual(yield* store.get(key), { version: anew, value: "new" })
        assert.isTrue(yield* store.compareAndSet(key, anew, "newer"))
      }
    }))

  for (const method of ["link", "open"] as const) {
    test(`L2 At most once: a writer who was held up before ${method} over an expired key loses`, (directory) =>
      Effect.gen(function*() {
        const store = yield* Files.make(directory)
        yield* store.putIfAbsent("key", "old", { expiresAt: 0 })
        yield* TestClock.adjust(2 * day)
        const late = yield* openHeldUp(directory, method, "k-key")
        const writing = yield* Effect.forkChild(late.store.putIfAbsent("key", "late", { expiresAt: 3 * day }))
        yield* late.reached
        yield* store.sweep
        assert.isTrue(yield* store.putIfAbsent("key", "new", { expiresAt: 3 * day }))
        yield* late.release
        assert.isFalse(yield* Fiber.join(writing))
        assert.deepStrictEqual(yield* store.get("key"), { version: 0, value: "new" })
      }))
  }

  for (const retired of [false, true]) {
    test(`a held up sweeper takes no newer key away (its folder ${retired ? "is gone" : "stands"})`, (directory) =>
      Effect.gen(function*() {
        const store = yield* Files.make(directory)
        yield* store.putIfAbsent("key", "old", { expiresAt: 0 })
        yield* TestClock.adjust(2 * day)
        const late = yield* openHeldUp(directory, "rename", "k-key")
        const sweeping = yield* Effect.forkChild(late.store.sweep)
        yield* late.reached
        assert.isUndefined(yield* store.get("key"))
        assert.isFalse(yield* store.compareAndSet("key", 0, "over"))
        assert.deepStrictEqual(yield* store.listByPrefix("", undefined, 10), [])
        assert.isTrue(yield* store.putIfAbsent("key", "new", { expiresAt: 9 * day }))
        if (retired) {
          yield* TestClock.adjust(2 * hour)
          yield* store.sweep
          assert.deepStrictEqual(yield* filesEnding(directory, /swept.[^/]*$/), [])
        }
        yield* late.release
        yield* Fiber.join(sweeping)
        assert.deepStrictEqual(yield* store.get("key"), { version: 0, value: "new" })
        assert.deepStrictEqual(yield* filesEnding(directory, /swept.[^/]*$/), [])
      }))
  }

  test("what a crashed sweeper marked can be written anew, and is swept by the next", (directory) =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const store = yield* Files.make(directory)
      const crashing = yield* Effect.provideService(Files.make(directory), FileSystem.FileSystem, {
        ...fs,
        rename: (from, to) =>
          /keys.k-/.test(from)
            ? Effect.fail(PlatformError.systemError({ _tag: "Busy", module: "FileSystem", method: "rename" }))
            : fs.rename(from, to)
      })
      for (const key of ["decided", "beat", "nobody"]) yield* store.putIfAbsent(key, "old", { expiresAt: 0 })
      yield* TestClock.adjust(2 * day)
      yield* crashing.sweep
      assert.lengthOf(yield* filesEnding(directory, /k-[a-z]+.1$/), 3)
      assert.deepStrictEqual(yield* filesEnding(directory, /swept.[^/]*$/), [])
      assert.isTrue(yield* store.putIfAbsent("decided", "new", { expiresAt: 3 * day }))
      yield* store.put("beat", "new", { expiresAt: 3 * day })
      assert.deepStrictEqual(yield* store.get("decided"), { version: 0, value: "new" })
      assert.deepStrictEqual(yield* store.get("beat"), { version: 0, value: "new" })
      yield* store.sweep
      assert.deepStrictEqual(yield* filesEnding(directory, /k-nobody/), [])
      assert.deepStrictEqual(yield* store.listByPrefix("", undefined, 10), ["beat", "decided"])
    }))
})
