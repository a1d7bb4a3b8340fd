/** `npm start`, with a person at the terminal. */
import { assert, describe, it } from "@effect/vitest"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { type Program, withProgram } from "./pty.ts"
import { assertScreen } from "./screens.ts"

const file = Path.join(import.meta.dirname, "../../../scratchpad/janitor.ts")

const folderOf = (program: Program): string => /An agent tidies (\S+)/.exec(program.text)![1]!

describe.concurrent("npm start at a terminal", () => {
  it(
    "deletes what was approved, keeps what was denied, and tells the agent why",
    () =>
      withProgram(file, {}, async (program) => {
        await program.ready("↑↓")
        const folder = folderOf(program)
        const before = Fs.readdirSync(folder).toSorted()
        assertScreen("janitor", program.rows("An agent tidies").replaceAll(folder, "/tmp/janitor-1f8Zq2"))
        await program.press("y", "is gone.")
        await program.ready("↑↓")
        assert.deepStrictEqual(before.length - Fs.readdirSync(folder).length, 1)
        program.type("n")
        await program.ready("Enter denies")
        await program.press("keep it", "keep it▏")
        await program.press("\r", "stays: \"keep it\"")
        await program.until("a long file", () => /space next.*›$/.test(program.live))
        await program.readOn()
        await program.ready("↑↓")
        await program.press("y", "That makes two.")
        assert.strictEqual(await program.ended(), 0)
        assert.include(program.text, "folder     removed")
        assert.isFalse(Fs.existsSync(folder))
      }),
    60_000
  )

  it(
    "Ctrl-C deletes nothing, removes the folder, and ends with 130",
    () =>
      withProgram(file, { columns: 40 }, async (program) => {
        await program.ready("↑↓")
        const folder = folderOf(program)
        assert.strictEqual(Fs.readdirSync(folder).length, 5)
        program.type("\x03")
        assert.strictEqual(await program.ended(), 130)
        assert.include(program.text, "■ stopped  exit code 130")
        assert.notMatch(program.text, /Error|\.ts:\d/)
        assert.isFalse(Fs.existsSync(folder))
      }),
    60_000
  )
})
