/** The programs of the README: they stand there as they are, they run as they are, and they end. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { makeFilename } from "./database.ts"

const here = import.meta.dirname

/** What a program prints. One that does not end by itself is an error. */
const run = (folder: string, program: string, ...args: ReadonlyArray<string>) =>
  Effect.promise(() =>
    new Promise<string>((resolve, reject) => {
      ChildProcess.execFile(
        process.execPath,
        ["--conditions=@assent/source", Path.join(here, program), ...args],
        { cwd: folder, env: { ...process.env, ASSENT_APPROVAL_KEY: undefined, NO_COLOR: "1" }, timeout: 25_000 },
        (error, stdout, stderr) => error === null ? resolve(stdout) : reject(new Error(`${stdout}\n${stderr}`))
      )
    })
  )

// At once, because a process takes longer to end by itself than to do what it does.
describe.concurrent("README", () => {
  it.effect(
    "the first program asks; another run of it brings the answer, and a third does nothing",
    () =>
      Effect.gen(function*() {
        const readme = Fs.readFileSync(Path.join(here, "../README.md"), "utf8")
        assert.include(readme, Fs.readFileSync(Path.join(here, "readme/first.ts"), "utf8"))
        const folder = Path.dirname(yield* makeFilename)
        const first = yield* run(folder, "readme/first.ts")
        assert.strictEqual(first, "May it? SendMail(to='ann@example.com')\n")
        assert.include(readme, first)
        const second = yield* run(folder, "readme/first.ts", "yes")
        assert.strictEqual(second, "sending a mail to ann@example.com\nThe mail is on its way.\n")
        assert.strictEqual(yield* run(folder, "readme/first.ts", "yes"), "")
        assert.strictEqual(yield* run(folder, "readme/first.ts"), first)
        assert.strictEqual(yield* run(folder, "readme/first.ts", "no"), "I have not sent it.\n")
        assert.deepStrictEqual(Fs.readdirSync(folder), ["approvals.db"])
      }),
    60_000
  )
})

describe.concurrent("a store", () => {
  it.effect.each(["open", "fail"])(
    "keeps no process alive: one that leaves it %s ends",
    (how) =>
      Effect.gen(function*() {
        const folder = Path.dirname(yield* makeFilename)
        assert.strictEqual(yield* run(folder, "programs/leaves.ts", how), "done\n")
      }),
    30_000
  )
})
