/** An agent that is told to end while its tool runs: nothing of it is left behind. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import * as Child from "node:child_process"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Sends the signal when the program has said `ready`, which is how a line of it begins. */
export const assertStops = (
  program: string,
  way: string,
  signal: NodeJS.Signals,
  ready = "serving",
  ...args: ReadonlyArray<string>
) =>
  Effect.gen(function*() {
    const folder = yield* Effect.acquireRelease(
      Effect.sync(() => Fs.mkdtempSync(Path.join(Os.tmpdir(), "signals-"))),
      (folder) => Effect.sync(() => Fs.rmSync(folder, { recursive: true, force: true }))
    )
    const lock = Path.join(folder, "lock")
    const agent = yield* Effect.acquireRelease(
      Effect.sync(() =>
        Child.spawn(process.execPath, ["--conditions=@assent/source", program, lock, way, folder, ...args], {
          stdio: ["ignore", "pipe", "pipe"],
          env: { ...process.env, ASSENT_APPROVAL_KEY: undefined }
        })
      ),
      (agent) => Effect.sync(() => agent.kill("SIGKILL"))
    )
    let said = ""
    const ended = new Promise<number | null>((resolve) => agent.once("close", resolve))
    const isReady = new Promise<void>((resolve) => {
      const hear = (text: string) => {
        said += text
        if (said.split("\n").some((line) => line.startsWith(ready))) resolve()
      }
      agent.stdout.setEncoding("utf8").on("data", hear)
      agent.stderr.setEncoding("utf8").on("data", hear)
    })
    yield* Effect.promise(() => Promise.race([isReady, ended]))
    const pid = Number(/serving (\d+)/.exec(said)?.[1])
    assert.isTrue(pid > 0, said)
    yield* Effect.addFinalizer(() => Effect.sync(() => isAlive(pid) && process.kill(pid, "SIGKILL")))
    assert.isTrue(isAlive(pid) && Fs.existsSync(lock))
    const at = Date.now()
    agent.kill(signal)
    const code = yield* Effect.promise(() => ended)
    const took = Date.now() - at
    assert.deepStrictEqual([isAlive(pid), Fs.existsSync(lock), code], [false, false, 130], said)
    assert.isBelow(took, 8_000)
    return took
  }).pipe(Effect.scoped)
