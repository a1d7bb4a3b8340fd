/**
 * An `AtomicStore` in a directory that processes share. Its only means of deciding a race are operations that fail
 * when somebody was faster: `link` onto a name that exists, and `rename` of a directory onto one with something in it.
 *
 * ```
 * <directory>/v1/keys/<key>/0 1 2 …     the versions of a key, in the order they were written, each written once
 *                          /latest      the value of a key that `put` writes
 *                          /t-…         files being written
 *               /swept/<run>/<key>/     directories of keys that expired long ago, on their way out
 *               /log/<hour>             the names of keys that were begun; see `atomicStoreIndex.ts`
 * ```
 *
 * - **Writing.** A record is written to a temporary file in the key's own directory and then linked to the number after
 *   the newest. One of several racing writers succeeds, and a reader never sees half a file. The numbers go on when an
 *   expired key is written anew, so that this, too, is a race for one number.
 * - **No number is ever free again.** Version files are never removed from a key's directory; the directory leaves as a
 *   whole. A writer who was held up while that happened finds that its temporary file left with it, so its `link`
 *   fails, even if the key has a new directory by then. For this the temporary file must be in the directory *before*
 *   the writer last looks which number is the newest.
 * - **Sweeping.** The last number of a directory is taken by a mark, in a race with every other writer; after a mark
 *   nobody writes there. The mark names the one place the directory goes to, in a folder made for that run of the
 *   sweeper and never made again. So a mover who was held up cannot take a newer directory of the same key away: as
 *   long as the folder exists the place is taken, and afterwards there is no folder to move to.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import type * as PlatformError from "effect/PlatformError"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Cryptography from "../seal/cryptography.ts"
import * as Failure from "./failure.ts"
import * as Index from "./index.ts"
import * as Names from "./names.ts"

interface Stored {
  readonly version: number
  readonly value: string
}

interface Expiry {
  readonly expiresAt: number
}

/** The operations of the store, for keys that have been checked, and its sweeper. */
export interface Files {
  readonly get: (key: string) => Effect.Effect<Stored | undefined, Failure.Failure>
  readonly putIfAbsent: (key: string, value: string, options: Expiry) => Effect.Effect<boolean, Failure.Failure>
  readonly compareAndSet: (key: string, expected: number, value: string) => Effect.Effect<boolean, Failure.Failure>
  readonly put: (key: string, value: string, options: Expiry) => Effect.Effect<void, Failure.Failure>
  readonly listByPrefix: (
    prefix: string,
    after: string | undefined,
    limit: number
  ) => Effect.Effect<ReadonlyArray<string>, Failure.Failure>
  /** Removes what crashed processes left behind and keys that expired more than a day ago, a batch at a time. */
  readonly sweep: Effect.Effect<void, Failure.Failure>
}

const hour = 3_600_000
const day = 24 * hour

// Every further attempt is caused by somebody else's success, so this is reached by broken file systems only.
const maxAttempts = 100

const sweepBatch = 64

// =============================================================================
// Records
// =============================================================================

const Kept = Schema.Struct({
  id: Schema.String,
  key: Schema.String,
  version: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)),
  expiresAt: Schema.Finite,
  value: Schema.String
})

const Mark = Schema.Struct({
  id: Schema.String,
  swept: Schema.String.check(Schema.isPattern(/^[0-9a-z]+-[\w-]+$/))
})

type Kept = typeof Kept.Type
type Mark = typeof Mark.Type

const decodeRecord = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Union([Kept, Mark])))

const isMark = (record: Kept | Mark | undefined): record is Mark => record !== undefined && "swept" in record

/** What a key's directory says: its newest record, and the number to write next. */
interface Head {
  readonly names: ReadonlyArray<string>
  readonly next: number
  readonly record: Kept | Mark | undefined
}

const nothing: Head = { names: [], next: 0, record: undefined }

const live = (head: Head, now: number): Kept | undefined =>
  head.record !== undefined && !isMark(head.record) && head.record.expiresAt > now ? head.record : undefined

// =============================================================================
// The store
// =============================================================================

const encoder = new TextEncoder()

/** Opens the store: makes its directories and makes sure that the file system can decide a race. */
export const make = Effect.fnUntraced(function*(directory: string): Effect.fn.Return<
  Files,
  Failure.Failure,
  FileSystem.FileSystem | Path.Path
> {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const root = path.join(directory, "v1")
  const keysRoot = path.join(root, "keys")
  const sweptRoot = path.join(root, "swept")
  const logRoot = path.join(root, "log")
  const index = yield* Index.make({ keysRoot, logRoot })

  const makeDirectory = (target: string) =>
    fs.makeDirectory(target, { recursive: true, mode: 0o700 }).pipe(Effect.mapError(Failure.unwritable(target)))

  /** The names in a directory, or `undefined` without it. */
  const list = (target: string): Effect.Effect<ReadonlyArray<string> | undefined, Failure.Failure> =>
    fs.readDirectory(target).pipe(
      Effect.catchIf(Failure.isNotFound, () => Effect.undefined),
      Effect.mapError(Failure.unreadable(target))
    )

  const remove = (target: string) => Effect.ignore(fs.remove(target, { recursive: true, force: true }))

  /** Whether the operation succeeded, rather than failed because somebody was faster. */
  const unlessOvertaken = (target: string, operation: Effect.Effect<void, PlatformError.PlatformError>) =>
    operation.pipe(
      Effect.as(true),
      Effect.catchIf(
        (error) => Failure.isAlreadyExists(error) || Failure.isNotFound(error),
        () => Effect.succeed(false)
      ),
      Effect.mapError(Failure.unwritable(target))
    )

  // Readable by the owner only, and on the disk before anybody can see it.
  const write = (file: string, text: string, options: { readonly sync: boolean }) =>
    unlessOvertaken(
      file,
      Effect.scoped(Effect.gen(function*() {
        const opened = yield* fs.open(file, { flag: "wx", mode: 0o600 })
        yield* opened.writeAll(encoder.encode(text))
        if (options.sync) yield* opened.sync
      }))
    )

  // Keeps new names through a loss of power, where the system can: Windows cannot open a directory.
  const syncDirectory = (target: string) =>
    Effect.ignore(Effect.scoped(Effect.flatMap(fs.open(target, { flag: "r" }), (opened) => opened.sync)))

  const readRecord = (file: string): Effect.Effect<Kept | Mark | undefined, Failure.Failure> =>
    fs.readFileString(file).pipe(
      Effect.map(Option.some),
      Effect.catchIf(Failure.isNotFound, () => Effect.succeedNone),
      Effect.mapError(Failure.unreadable(file)),
      Effect.flatMap((text) => {
        if (Option.isNone(text)) return Effect.undefined
        const record = decodeRecord(text.value)
        return Option.isSome(record) ? Effect.succeed(record.value) : Effect.fail(Failure.notARecord(file))
      })
    )

  const readHead = Effect.fnUntraced(function*(target: string, key?: string): Effect.fn.Return<Head, Failure.Failure> {
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const names = yield* list(target)
      if (names === undefined) return nothing
      const newest = Names.newestNumber(names)
      const name = newest >= 0 ? String(newest) : names.includes("latest") ? "latest" : undefined
      if (name === undefined) return { ...nothing, names }
      const file = path.join(target, name)
      const record = yield* readRecord(file)
      // The directory was swept in between.
      if (record === undefined) continue
      if (key !== undefined && !isMark(record) && record.key !== key) {
        return yield* Effect.fail(Failure.notARecord(file))
      }
      return { names, next: newest + 1, record }
    }
    return yield* Effect.fail(Failure.unsettled(target))
  })

  /** Uses a temporary file in a key's directory; false if the directory went away. `use` says whether it is gone. */
  const withTemporary = Effect.fnUntraced(function*(
    target: string,
    record: Kept | Mark,
    options: { readonly sync: boolean },
    use: (file: string) => Effect.Effect<boolean, Failure.Failure>
  ): Effect.fn.Return<boolean, Failure.Failure> {
    const file = path.join(target, yield* Names.temporaryName)
    return yield* Effect.flatMap(
      write(file, JSON.stringify(record), options),
      (written) => written ? use(file) : Effect.succeed(false)
    ).pipe(Effect.tap((used) => used ? Effect.void : remove(file)), Effect.tapError(() => remove(file)))
  })

  /** Writes the next number of a directory if it still stands at `seen`; false, and nothing written, otherwise. */
  const publish = (target: string, seen: Head, record: Kept | Mark) =>
    withTemporary(
      target,
      record,
      { sync: true },
      Effect.fnUntraced(function*(file) {
        // Read again with the temporary file in place, so that it stands in the very directory that is decided on.
        const head = yield* readHead(target)
        if (head.next !== seen.next || head.record?.id !== seen.record?.id) return false
        const published = path.join(target, String(seen.next))
        if (!(yield* unlessOvertaken(published, fs.link(file, published)))) return false
        yield* syncDirectory(target)
        if (seen.next === 0) yield* syncDirectory(keysRoot)
        const gone = yield* Effect.option(Effect.flip(fs.remove(file)))
        if (Option.isNone(gone) || !Failure.isNotFound(gone.value)) return true
        // Somebody swept the temporary file, or all of the directory. Only what can be read there counts.
        return (yield* Effect.orElseSucceed(readRecord(published), () => undefined))?.id === record.id
      })
    )

  // ---------------------------------------------------------------------------
  // Sweeping
  // ---------------------------------------------------------------------------

  const retire = Effect.fnUntraced(function*(run: string) {
    // Renamed first: at no time is there a folder of that name with an empty place in it.
    const gone = path.join(sweptRoot, `${run}.gone`)
    yield* Effect.ignore(fs.rename(path.join(sweptRoot, run), gone))
    yield* remove(gone)
  })

  const withRun = <A>(use: (run: string) => Effect.Effect<A, Failure.Failure>) =>
    Effect.acquireUseRelease(
      Effect.tap(Names.timedName, (run) => makeDirectory(path.join(sweptRoot, run))),
      use,
      retire
    )

  /** Marks a directory as dead if it still stands at `seen`. */
  const mark = (target: string, seen: Head, run: string) =>
    Effect.flatMap(Cryptography.randomToken(16), (id) => publish(target, seen, { id, swept: run }))

  /** Takes a directory with a mark out of the way; whether it is, the caller sees by looking again. */
  const moveAway = Effect.fnUntraced(
    function*(name: string, head: Head, found: Mark): Effect.fn.Return<void, Failure.Failure> {
      const target = path.join(keysRoot, name)
      const folder = path.join(sweptRoot, found.swept)
      const moved = yield* Effect.result(fs.rename(target, path.join(folder, name)))
      if (moved._tag === "Success") return
      const exists = yield* Effect.mapError(fs.exists(folder), Failure.unreadable(folder))
      if (exists) return yield* Effect.yieldNow
      // Whoever marked it is gone, and with its folder the only place it could go to: it needs another mark.
      yield* withRun((run) => bury(name, head, run))
    }
  )

  const bury = Effect.fnUntraced(
    function*(name: string, seen: Head, run: string): Effect.fn.Return<void, Failure.Failure> {
      const target = path.join(keysRoot, name)
      if (yield* mark(target, seen, run)) {
        yield* Effect.ignore(fs.rename(target, path.join(sweptRoot, run, name)))
      }
    }
  )

  /** Removes abandoned temporary files, and gives back what to bury. */
  const inspect = Effect.fnUntraced(
    function*(name: string, now: number): Effect.fn.Return<Head | undefined, Failure.Failure> {
      const target = path.join(keysRoot, name)
      const head = yield* readHead(target)
      const abandoned = head.names.filter((name) => Names.isAbandoned(name, now - hour))
      if (head.record === undefined) {
        if (abandoned.length !== head.names.length) return undefined
        const info = yield* Effect.option(fs.stat(target))
        const modified = Option.flatMap(info, (info) => info.mtime)
        return Option.isSome(modified) && modified.value.getTime() < now - hour ? head : undefined
      }
      yield* Effect.forEach(abandoned, (name) => remove(path.join(target, name)), { discard: true })
      return isMark(head.record) || head.record.expiresAt <= now - day ? head : undefined
    }
  )

  const sweepKeys = Effect.fnUntraced(function*(names: ReadonlyArray<string>): Effect.fn.Return<void, Failure.Failure> {
    const now = yield* Clock.currentTimeMillis
    const buried: Array<readonly [string, Head]> = []
    for (const name of names) {
      if (Names.decodeName(name) === undefined) continue
      // A key that cannot be read is left as it is, for a person to see.
      const head = Option.getOrUndefined(yield* Effect.option(inspect(name, now)))
      if (head === undefined) continue
      if (isMark(head.record)) yield* Effect.ignore(Effect.uninterruptible(moveAway(name, head, head.record)))
      else buried.push([name, head])
    }
    if (buried.length === 0) return
    yield* withRun((run) =>
      Effect.forEach(buried, ([name, head]) => Effect.ignore(Effect.uninterruptible(bury(name, head, run))), {
        discard: true
      })
    )
  })

  const sweep = Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    for (const name of (yield* list(root)) ?? []) {
      if (Names.isAbandoned(name, now - hour)) yield* remove(path.join(root, name))
    }
    for (const name of (yield* list(sweptRoot)) ?? []) {
      if (Names.isOlder(name, now - hour)) yield* retire(name)
    }
    yield* index.sweep
    const names = (yield* list(keysRoot)) ?? []
    for (let start = 0; start < names.length; start += sweepBatch) {
      if (start > 0) yield* Effect.sleep("50 millis")
      yield* sweepKeys(names.slice(start, start + sweepBatch))
    }
  })

  // ---------------------------------------------------------------------------
  // Opening
  // ---------------------------------------------------------------------------

  yield* makeDirectory(keysRoot)
  yield* makeDirectory(sweptRoot)
  yield* makeDirectory(logRoot)
  const first = path.join(root, yield* Names.temporaryName)
  const second = path.join(root, yield* Names.temporaryName)
  yield* write(first, "", { sync: false })
  const linked = yield* Effect.option(fs.link(first, second))
  const refused = yield* Effect.option(Effect.flip(fs.link(first, second)))
  yield* Effect.andThen(remove(first), remove(second))
  if (Option.isNone(linked) || Option.isNone(refused) || !Failure.isAlreadyExists(refused.value)) {
    return yield* Effect.fail(Failure.unavailable(
      `The file system of "${directory}" has no hard links that can decide which of two processes was first. Use a` +
        " directory on a local disk."
    ))
  }

  // ---------------------------------------------------------------------------
  // Operations
  // ---------------------------------------------------------------------------

  /** Tries until `step` has a result. Not interruptible: who is told nothing cannot tell what was written. */
  const attempt = <A>(
    key: string,
    step: (target: string, head: Head, name: string) => Effect.Effect<Option.Option<A>, Failure.Failure>
  ): Effect.Effect<A, Failure.Failure> =>
    Effect.uninterruptible(Effect.gen(function*() {
      const name = yield* Names.encodeName(key)
      const target = path.join(keysRoot, name)
      for (let attempt = 0; attempt < maxAttempts; attempt++) {
        const result = yield* step(target, yield* readHead(target, key), name)
        if (Option.isSome(result)) return result.value
      }
      return yield* Effect.fail(Failure.unsettled(target))
    }))

  const again = Effect.succeedNone

  const publishKept = Effect.fnUntraced(function*(target: string, head: Head, fields: Omit<Kept, "id">) {
    const id = yield* Cryptography.randomToken(16)
    return (yield* publish(target, head, { ...fields, id })) ? Option.some(true) : Option.none()
  })

  // The key of a directory, if it is there. One whose record cannot be read is: `get` says what is wrong with it.
  const keyOf = Effect.fnUntraced(function*(name: string): Effect.fn.Return<string | undefined, Failure.Failure> {
    const decoded = Names.decodeName(name)
    const head = yield* Effect.result(readHead(path.join(keysRoot, name)))
    if (Result.isSuccess(head)) return live(head.success, yield* Clock.currentTimeMillis)?.key
    return head.failure.reason === "Corrupt" && decoded?.whole === true
      ? decoded.beginning
      : yield* Effect.fail(head.failure)
  })

  return {
    get: Effect.fnUntraced(function*(key) {
      const target = path.join(keysRoot, yield* Names.encodeName(key))
      const head = yield* readHead(target, key)
      const record = live(head, yield* Clock.currentTimeMillis)
      return record === undefined ? undefined : { version: record.version, value: record.value }
    }),

    putIfAbsent: (key, value, { expiresAt }) =>
      attempt(
        key,
        Effect.fnUntraced(function*(target, head, name) {
          if (live(head, yield* Clock.currentTimeMillis) !== undefined) return Option.some(false)
          if (isMark(head.record)) return yield* Effect.andThen(moveAway(name, head, head.record), again)
          if (head === nothing) yield* makeDirectory(target)
          yield* index.announce(name)
          return yield* publishKept(target, head, { key, version: 0, expiresAt, value })
        })
      ),

    compareAndSet: (key, expected, value) =>
      Effect.suspend(() => {
        // The record this call replaces: never one of the same version that the key was begun anew with meanwhile.
        let replaced: string | undefined
        return attempt(
          key,
          Effect.fnUntraced(function*(target, head) {
            const record = live(head, yield* Clock.currentTimeMillis)
            // Nothing but `latest`: a key that `put` writes.
            if (record === undefined || record.version !== expected || head.next === 0) return Option.some(false)
            replaced ??= record.id
            if (record.id !== replaced) return Option.some(false)
            return yield* publishKept(target, head, { ...record, version: expected + 1, value })
          })
        )
      }),

    put: (key, value, { expiresAt }) =>
      attempt(
        key,
        Effect.fnUntraced(function*(target, head, name) {
          if (head.next > 0 && live(head, yield* Clock.currentTimeMillis) !== undefined) {
            return yield* Effect.fail(Failure.unavailable(Failure.putOverDecision))
          }
          if (isMark(head.record)) return yield* Effect.andThen(moveAway(name, head, head.record), again)
          if (head.next > 0) return yield* Effect.andThen(withRun((run) => bury(name, head, run)), again)
          if (head === nothing) yield* makeDirectory(target)
          if (live(head, yield* Clock.currentTimeMillis) === undefined) yield* index.announce(name)
          const record = { id: yield* Cryptography.randomToken(16), key, version: 0, expiresAt, value }
          const latest = path.join(target, "latest")
          // After a day of silence a sweeper may take this beat along; it does not get the next one.
          const renamed = yield* withTemporary(target, record, { sync: false }, (file) =>
            unlessOvertaken(latest, fs.rename(file, latest)))
          return renamed ? Option.some(undefined) : Option.none()
        })
      ),

    listByPrefix: (prefix, after, limit) => index.list(prefix, after, limit, keyOf),

    sweep
  }
})
