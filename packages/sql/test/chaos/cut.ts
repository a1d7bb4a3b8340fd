/**
 * A loss of power: the log of writes cut at any byte, or its last frame damaged. Every commit that is whole there is there,
 * none half, and whoever goes on from that moment of the world does nothing twice.
 */
import { Effect } from "effect"
import * as Fs from "node:fs"
import type { DatabaseSync } from "node:sqlite"
import * as Check from "./check.ts"
import * as Choose from "./choose.ts"
import * as Statements from "./statements.ts"
import * as Story from "./story.ts"
import * as World from "./world.ts"

const headerBytes = 32
const frameHeaderBytes = 24

/** What was in the database when its log had so many bytes. */
interface Commit {
  readonly logBytes: number
  readonly contents: string
}

/** A story that has come to its end, whose database was never carried over from the log. */
export interface Recording {
  readonly world: World.World
  readonly file: Uint8Array
  readonly log: Uint8Array
  readonly frameBytes: number
  /** In order, the first before anything was written. */
  readonly commits: ReadonlyArray<Commit>
}

export const record = Effect.gen(function*() {
  const world = yield* World.make
  const commits: Array<Commit> = []
  const files: Array<Uint8Array> = []
  let pageBytes = 0
  let opened: DatabaseSync | undefined
  let isLooking = false
  yield* Statements.watch(world.filename, (_, run, database) => {
    if (isLooking) return run()
    if (database !== opened) {
      opened = database
      database.exec("PRAGMA wal_autocheckpoint = 0")
    }
    const result = run()
    const logBytes = World.logBytes(world)
    if (!database.isTransaction && logBytes > (commits.at(-1)?.logBytes ?? 0)) {
      isLooking = true
      commits.push({ logBytes, contents: Check.contents(world) })
      pageBytes ||= Number(database.prepare("PRAGMA page_size").get()?.["page_size"])
      files[0] = Fs.readFileSync(world.filename)
      files[1] = Fs.readFileSync(`${world.filename}-wal`)
      isLooking = false
    }
    return result
  })
  yield* Story.played(world)
  const [file, log] = files
  if (file === undefined || log === undefined) return yield* Effect.die(new Error("Nothing was written."))
  return { world, file, log, commits, frameBytes: frameHeaderBytes + pageBytes }
})

/** At each end of a frame, a byte before and a byte after it, and so many anywhere else. */
export const cuts = ({ frameBytes, log }: Recording, random: number, seed: number): ReadonlyArray<number> => {
  const next = Choose.numbers(seed)
  const ends: Array<number> = []
  for (let end = headerBytes; end <= log.length; end += frameBytes) ends.push(end - 1, end, end + 1)
  const anywhere = Array.from({ length: random }, () => Math.floor(next() * log.length))
  return [...ends.filter((end) => end <= log.length), ...anywhere].toSorted((one, other) => one - other)
}

/** What the database has to be when its log ends there. */
const expected = ({ commits }: Recording, bytes: number): string =>
  commits.findLast(({ logBytes }) => logBytes <= bytes)?.contents ?? "[]"

const restore = (recording: Recording, bytes: number, log: Uint8Array) =>
  Effect.map(World.make, (world) => {
    Fs.writeFileSync(world.filename, recording.file)
    World.copyUntil(recording.world, world, bytes, log)
    return world
  })

/** What is wrong when power was lost with so many bytes of the log on the disk. `goesOn`: whether somebody goes on. */
export const problemsAt = (recording: Recording, bytes: number, goesOn: boolean) =>
  Effect.scoped(Effect.gen(function*() {
    const world = yield* restore(recording, bytes, recording.log.subarray(0, bytes))
    return yield* problemsOf(recording, world, bytes, goesOn, `cut at ${bytes}`)
  }))

/** The same, where the log ends with a frame in which bits are wrong. */
export const problemsOfDamage = (recording: Recording, commit: number, seed: number) =>
  Effect.scoped(Effect.gen(function*() {
    const next = Choose.numbers(seed)
    const { frameBytes } = recording
    const end = recording.commits[commit]!.logBytes
    const log = Uint8Array.from(recording.log.subarray(0, end))
    const at = end - frameBytes + Math.floor(next() * frameBytes)
    log[at] = log[at]! ^ (1 + Math.floor(next() * 255))
    // What was told after the commit before has to be there; the last one's frame is as good as not written.
    const world = yield* restore(recording, end - 1, log)
    return yield* problemsOf(recording, world, end - 1, true, `byte ${at} of a log of ${end} bytes was another`)
  }))

const problemsOf = Effect.fnUntraced(function*(
  recording: Recording,
  world: World.World,
  bytes: number,
  goesOn: boolean,
  where: string
) {
  const problems: Array<string> = []
  if (Check.contents(world) !== expected(recording, bytes)) problems.push("it is not the last whole commit")
  problems.push(...Check.problemsOf(world))
  if (goesOn) {
    yield* Story.played(world, { later: Story.tenMinutes })
    problems.push(...Check.problemsAtEnd(world))
  }
  return problems.map((problem) => `${where}: ${problem}`)
})
