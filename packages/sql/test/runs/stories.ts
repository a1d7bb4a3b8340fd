/** What becomes of a real process while it pays, and what is wrong then. */
import { Clock, Effect } from "effect"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import * as Child from "../chaos/process.ts"

export const ways = ["send", "stream", "decide", "start", "resume"] as const
export type Way = (typeof ways)[number]

export interface Found {
  readonly problems: ReadonlyArray<string>
  /** How long it took, in milliseconds, until another process went on, or the process had ended. */
  readonly millis: number
}

const makeFolder = Effect.acquireRelease(
  Effect.sync(() => Fs.mkdtempSync(Path.join(Os.tmpdir(), "assent-runs-"))),
  (folder) => Effect.sync(() => Fs.rmSync(folder, { recursive: true, force: true }))
)

const program = (name: string) => Path.join("..", "..", "runs", "programs", name)

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** An agent that pays: its own process, and the one that it has begun. */
const paying = Effect.fnUntraced(function*(folder: string, where: "file" | "default", way: Way, beat?: number) {
  const child = yield* Child.start(program("agent.ts"), folder, where, way, ...(beat === undefined ? [] : [`${beat}`]))
  const [agent = 0, other = 0] = (yield* child.said("running")).split(" ").map(Number)
  yield* Effect.addFinalizer(() => Effect.sync(() => isRunning(other) ? process.kill(other, "SIGKILL") : undefined))
  return { agent, child, other }
})

/** What the model is told in another process that goes on; and how long that took. */
const goesOn = Effect.fnUntraced(function*(folder: string, after: Effect.Effect<unknown>, beat?: number) {
  const next = yield* Child.start(program("next.ts"), folder, ...(beat === undefined ? [] : [`${beat}`]))
  yield* next.said("ready")
  yield* after
  const began = yield* Clock.currentTimeMillis
  yield* next.say("go")
  const told = yield* next.said("told")
  const millis = (yield* Clock.currentTimeMillis) - began
  const paid = Fs.readFileSync(Path.join(folder, "paid.log"), "utf8").trim().split("\n")
  const problems: Array<string> = []
  if (!/"isFailure":true/.test(told) || !/unknown/i.test(told)) problems.push(`The model is told ${told}.`)
  if (paid.length !== 1) problems.push(`It was paid ${paid.length} times.`)
  return { millis, problems }
})

/** `kill -9` while it pays: another process goes on. */
export const killed = (way: Way, beat?: number): Effect.Effect<Found, Error> =>
  Effect.scoped(Effect.gen(function*() {
    const folder = yield* makeFolder
    const { child } = yield* paying(folder, "file", way, beat)
    const { millis, problems } = yield* goesOn(folder, child.kill, beat)
    return { millis, problems: problems.map((problem) => `kill -9, ${way}: ${problem}`) }
  }))

/** Another process follows the turn while it pays, and is told when that one is killed. */
export const followed = (beat: number): Effect.Effect<Found, Error> =>
  Effect.scoped(Effect.gen(function*() {
    const folder = yield* makeFolder
    const { child } = yield* paying(folder, "file", "stream", beat)
    const follower = yield* Child.start(program("follower.ts"), folder, `${beat}`)
    yield* follower.said("follows")
    yield* child.kill
    const began = yield* Clock.currentTimeMillis
    const said = yield* follower.said("ended")
    const millis = (yield* Clock.currentTimeMillis) - began
    return { millis, problems: said === "Cancelled after tool-call" ? [] : [`kill -9, followed: It is told ${said}.`] }
  }))

/** A signal while it pays: what it has begun is given up with it, and another process goes on. */
export const signalled = (
  signal: "SIGTERM" | "SIGINT",
  where: "file" | "default",
  way: Way,
  beat?: number
): Effect.Effect<Found, Error> =>
  Effect.scoped(Effect.gen(function*() {
    const folder = yield* makeFolder
    const { agent, child, other } = yield* paying(folder, where, way, beat)
    const began = yield* Clock.currentTimeMillis
    process.kill(agent, signal)
    const ended = yield* Effect.timeoutOption(child.ended, "10 seconds")
    const millis = (yield* Clock.currentTimeMillis) - began
    const problems: Array<string> = []
    if (ended._tag === "None") problems.push("It did not end.")
    if (isRunning(other)) problems.push("The process that it had begun goes on.")
    if (Fs.existsSync(Path.join(folder, "lock"))) problems.push("Its lock is still there.")
    if (where === "file") problems.push(...(yield* goesOn(folder, Effect.void, beat)).problems)
    return { millis, problems: problems.map((problem) => `${signal}, ${where}, ${way}: ${problem}`) }
  }))
