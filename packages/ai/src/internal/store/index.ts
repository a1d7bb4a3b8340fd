/**
 * Which keys an `AtomicStore` in a directory may hold, in order and in memory, so that a page of them costs what the page
 * is long. Nothing is decided by it: what it names is looked at before it is listed.
 *
 * ```
 * <directory>/v1/log/<hour>     the names of keys that were begun in that hour, each in a line, by whichever process
 * ```
 *
 * - **What is there** is read from the directory of keys as a whole when somebody lists for the first time, and again
 *   every ten minutes: so a store without a log, of an earlier version or after a loss of power, is whole in a moment.
 * - **What came since** is read from the logs, which are only ever appended to. A key is announced there before it can be
 *   read, so a reader that knows of no key whose beginning came before its own look.
 * - **What is gone** is forgotten when it is found so, unless it was announced a moment ago: its writer may be on the way.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as Semaphore from "effect/Semaphore"
import * as Failure from "./failure.ts"
import * as Names from "./names.ts"
import * as OrderedKeys from "./orderedKeys.ts"

export interface Index {
  /** Says that a key of this name is about to be begun. */
  readonly announce: (name: string) => Effect.Effect<void, Failure.Failure>
  /** The keys with a prefix that are there, in order; `keyOf` gives the key of a directory, if it is there. */
  readonly list: (
    prefix: string,
    after: string | undefined,
    limit: number,
    keyOf: (name: string) => Effect.Effect<string | undefined, Failure.Failure>
  ) => Effect.Effect<ReadonlyArray<string>, Failure.Failure>
  /** Removes logs that nobody reads any more. */
  readonly sweep: Effect.Effect<void, Failure.Failure>
}

const minute = 60_000
const hour = 60 * minute

const betweenScans = 10 * minute
/** How long after its announcement a key may still be on its way. */
const onTheWay = minute

const segmentOf = (time: number): number => Math.max(0, Math.floor(time / hour))
const segmentName = (segment: number): string => segment.toString(36)
const readSegment = (name: string): number | undefined =>
  /^[0-9a-z]{1,9}$/.test(name) ? Number.parseInt(name, 36) : undefined

export const make = Effect.fnUntraced(function*(
  options: { readonly keysRoot: string; readonly logRoot: string }
): Effect.fn.Return<Index, never, FileSystem.FileSystem | Path.Path> {
  const { keysRoot, logRoot } = options
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const oneAtATime = yield* Semaphore.make(1)
  const encoder = new TextEncoder()

  const keys = OrderedKeys.make([])
  /** Names that say only how their keys begin. */
  const partial = new Map<string, string>()
  /** Names that were found to be nobody's, and not announced since. */
  const gone = new Set<string>()
  /** When names were announced that may be on their way. */
  const announced = new Map<string, number>()
  /** How far each log was read. */
  const read = new Map<number, number>()
  let scannedAt: number | undefined

  const list = (target: string): Effect.Effect<ReadonlyArray<string>, Failure.Failure> =>
    fs.readDirectory(target).pipe(
      Effect.catchIf(Failure.isNotFound, () => Effect.succeed<ReadonlyArray<string>>([])),
      Effect.mapError(Failure.unreadable(target))
    )

  const add = (name: string): void => {
    const decoded = Names.decodeName(name)
    if (decoded === undefined) return
    if (decoded.whole) keys.add(decoded.beginning)
    else partial.set(name, decoded.beginning)
  }

  const forget = (name: string, now: number): void => {
    if (now - (announced.get(name) ?? Number.NEGATIVE_INFINITY) < onTheWay) return
    const decoded = Names.decodeName(name)
    if (decoded?.whole === true) keys.delete(decoded.beginning)
    else partial.delete(name)
    gone.add(name)
  }

  const segments = (from: number) =>
    Effect.map(list(logRoot), (names) =>
      names.flatMap((name) => {
        const segment = readSegment(name)
        return segment !== undefined && segment >= from ? [segment] : []
      }))

  const sizeOf = (file: string) =>
    fs.stat(file).pipe(
      Effect.map(({ size }) => Number(size)),
      Effect.catchIf(Failure.isNotFound, () => Effect.succeed(0)),
      Effect.mapError(Failure.unreadable(file))
    )

  const readFrom = (file: string, start: number, length: number) =>
    Effect.scoped(Effect.gen(function*() {
      const opened = yield* fs.open(file, { flag: "r" })
      yield* opened.seek(BigInt(start), "start")
      const chunks: Array<string> = []
      const decoder = new TextDecoder()
      for (let left = length; left > 0;) {
        const chunk = Option.getOrUndefined(yield* opened.readAlloc(Math.min(left, 65_536)))
        if (chunk === undefined || chunk.length === 0) break
        chunks.push(decoder.decode(chunk, { stream: true }))
        left -= chunk.length
      }
      return chunks.join("")
    })).pipe(Effect.mapError(Failure.unreadable(file)))

  // What was announced since the last look.
  const follow = Effect.fnUntraced(function*(since: number, now: number): Effect.fn.Return<void, Failure.Failure> {
    for (const segment of yield* segments(segmentOf(since) - 1)) {
      const file = path.join(logRoot, segmentName(segment))
      const start = read.get(segment) ?? 0
      const size = yield* sizeOf(file)
      if (size <= start) continue
      const text = yield* readFrom(file, start, size - start)
      // A line that is being written is read when it is whole.
      const end = text.lastIndexOf("\n") + 1
      read.set(segment, start + end)
      for (const name of text.slice(0, end).split("\n")) {
        if (name === "") continue
        add(name)
        gone.delete(name)
        announced.set(name, now)
      }
    }
  })

  // Everything, from the directory itself. How far the logs go is noted before, so that nothing falls in between.
  const scan = Effect.fnUntraced(function*(now: number): Effect.fn.Return<void, Failure.Failure> {
    yield* follow(scannedAt ?? now, now)
    const names = yield* list(keysRoot)
    const here = new Set(names)
    for (const name of gone) {
      if (!here.has(name)) gone.delete(name)
    }
    for (const name of names) {
      if (!gone.has(name)) add(name)
    }
    for (const [name, at] of announced) {
      if (now - at >= onTheWay) announced.delete(name)
    }
    for (const segment of read.keys()) {
      if (segment < segmentOf(now) - 1) read.delete(segment)
    }
    scannedAt = now
  })

  const refresh = Effect.flatMap(
    Clock.currentTimeMillis,
    (now) =>
      scannedAt === undefined || now - scannedAt >= betweenScans || now < scannedAt
        ? scan(now)
        : follow(scannedAt, now)
  )

  return {
    announce: Effect.fnUntraced(function*(name) {
      const file = path.join(logRoot, segmentName(segmentOf(yield* Clock.currentTimeMillis)))
      // In one write; a line that somebody died in ends here.
      yield* Effect.scoped(
        Effect.flatMap(
          fs.open(file, { flag: "a", mode: 0o600 }),
          (opened) => opened.writeAll(encoder.encode(`\n${name}\n`))
        )
      ).pipe(Effect.mapError(Failure.unwritable(file)))
    }),

    list: (prefix, after, limit, keyOf) =>
      oneAtATime.withPermits(1)(Effect.gen(function*() {
        yield* refresh
        const now = yield* Clock.currentTimeMillis
        const isListed = (key: string) => key.startsWith(prefix) && (after === undefined || key > after)
        const page: Array<string> = []
        for (const [name, beginning] of partial) {
          if (!beginning.startsWith(prefix) && !prefix.startsWith(beginning)) continue
          const key = yield* keyOf(name)
          if (key === undefined) forget(name, now)
          else if (isListed(key)) page.push(key)
        }
        let wanted = limit
        let last = after
        while (wanted > 0) {
          const batch: Array<string> = []
          for (const key of keys.from(prefix, last)) {
            batch.push(key)
            if (batch.length >= Math.min(wanted, 64)) break
          }
          if (batch.length === 0) break
          last = batch[batch.length - 1]
          const found = yield* Effect.forEach(batch, (key) =>
            Effect.flatMap(
              Names.encodeName(key),
              (name) => Effect.map(keyOf(name), (there) => ({ key, name, isThere: there !== undefined }))
            ), { concurrency: 8 })
          for (const { isThere, key, name } of found) {
            if (!isThere) forget(name, now)
            else {
              page.push(key)
              wanted--
            }
          }
        }
        return page.toSorted((a, b) => a < b ? -1 : a > b ? 1 : 0).slice(0, limit)
      })),

    sweep: Effect.gen(function*() {
      const now = yield* Clock.currentTimeMillis
      for (const segment of yield* segments(0)) {
        if (segment < segmentOf(now) - 24) {
          yield* Effect.ignore(fs.remove(path.join(logRoot, segmentName(segment)), { force: true }))
        }
      }
    })
  }
})
