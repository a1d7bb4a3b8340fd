/** What is taken from the runtime: `node:sqlite`, files that only their owner reads, and real time. */
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type { SqlError } from "effect/sql/SqlError"
import * as Fs from "node:fs"
import * as Path from "node:path"
import type * as Sqlite from "node:sqlite"
import * as Timers from "node:timers"
import * as Problem from "./problem.ts"

/** Loaded when a database is opened, so that this package can be imported where there is none; at once where that can be. */
export const load: Effect.Effect<typeof Sqlite, SqlError> = Effect.suspend(() => {
  const loaded = typeof process === "object" ? process.getBuiltinModule?.("node:sqlite") : undefined
  if (loaded !== undefined) return Effect.succeed(loaded)
  return Effect.tryPromise({
    try: () => import("node:sqlite"),
    catch: () => Problem.unsupported(typeof process === "object" ? `Node ${process.version}` : "something else")
  })
})

/** Whether a name is that of a file, and not of a database that is gone when it is closed. */
export const isFile = (filename: string): boolean => filename !== "" && filename !== ":memory:"

/**
 * Makes the file, for its owner alone, before SQLite does: it would leave that to the umask, and its `-wal` and `-shm` have
 * the mode of the file.
 */
export const makeFile = (filename: string): Effect.Effect<void, SqlError> =>
  filename.startsWith("file:")
    ? Effect.fail(Problem.noPath())
    : isFile(filename)
    ? Effect.try({
      try: () => {
        makeFolder(Path.dirname(Path.resolve(filename)))
        Fs.closeSync(Fs.openSync(filename, "a", 0o600))
      },
      catch: Problem.fromFile
    })
    : Effect.void

// By ourselves, because Node's `recursive` never ends where nothing can be made, such as in `/proc`.
const makeFolder = (folder: string): void => {
  if (Fs.existsSync(folder)) return
  makeFolder(Path.dirname(folder))
  try {
    Fs.mkdirSync(folder, { mode: 0o700 })
  } catch (cause) {
    // Another process may have been faster.
    if (!Fs.existsSync(folder)) throw cause
  }
}

/** Whether others than its owner may read a file. Not known on Windows, where a mode says nothing. */
export const isReadByOthers = (filename: string): Effect.Effect<boolean> =>
  Effect.sync(() => {
    if (!isFile(filename) || process.platform === "win32") return false
    try {
      return (Fs.statSync(filename).mode & 0o077) !== 0
    } catch {
      // Where it cannot be looked at it cannot be opened, which says why.
      return false
    }
  })

/** Real milliseconds, also where a test has a clock of its own: others who use the database do not look at that. */
export const pause = (milliseconds: number): Effect.Effect<void> =>
  Effect.callback((resume) => {
    const timer = Timers.setTimeout(() => resume(Effect.void), milliseconds)
    return Effect.sync(() => Timers.clearTimeout(timer))
  })

/** The same, but nothing that keeps a process alive. */
export const idle = (milliseconds: number): Effect.Effect<void> =>
  Effect.callback((resume) => {
    const timer = Timers.setTimeout(() => resume(Effect.void), milliseconds)
    timer.unref()
    return Effect.sync(() => Timers.clearTimeout(timer))
  })

/** What an effect comes to, or what it fails with after so many real milliseconds; then it is given up, and not waited for. */
export const within = <A, E>(effect: Effect.Effect<A, E>, milliseconds: number, late: Exit.Exit<never, E>) =>
  Effect.callback<A, E>((resume) => {
    const fiber = Effect.runFork(effect)
    const giveUp = () => fiber.interruptUnsafe()
    const timer = Timers.setTimeout(() => {
      resume(late)
      giveUp()
    }, milliseconds)
    fiber.addObserver((exit) => {
      Timers.clearTimeout(timer)
      resume(exit)
    })
    return Effect.sync(giveUp)
  })

/** A turn of the loop, for timers and sockets. */
export const turn: Effect.Effect<void> = Effect.callback((resume) => {
  Timers.setImmediate(() => resume(Effect.void))
})
