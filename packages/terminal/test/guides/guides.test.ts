/** docs/at-a-terminal.md: its program as it stands there, at a real terminal, with the keys that the page names. */
import { assert, describe, it } from "@effect/vitest"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { withProgram } from "../pty.ts"

const file = Path.join(import.meta.dirname, "agent.ts")
const page = Fs.readFileSync(Path.join(import.meta.dirname, "../../../../docs/at-a-terminal.md"), "utf8")

/** The last words of a question that takes keys. */
const question = "Enter only after ↑↓"

describe("docs/at-a-terminal.md", () => {
  it("shows the program that is run here", () => {
    assert.include(page, `\`\`\`ts\n${Fs.readFileSync(file, "utf8")}\`\`\``)
  })

  it("shows the screens that its steps lead to", async () => {
    const cwd = Fs.mkdtempSync(Path.join(Os.tmpdir(), "assent-guide-"))
    const notes = () => Fs.readFileSync(Path.join(cwd, "notes.md"), "utf8")
    const screens: Array<string> = []
    try {
      await withProgram(file, { cwd, rows: 40 }, async (program) => {
        const say = async (text: string) => {
          await program.until("the prompt", () => program.live.trimEnd() === "? you ›")
          program.type(`${text}\r`)
          await program.see(`you … ${text}`)
        }
        const answer = async (...keys: ReadonlyArray<readonly [words: string, key: string]>) => {
          for (const [words, key] of keys) {
            await program.ready(words)
            screens.push(program.live)
            program.type(key)
          }
        }
        await say("write notes.md Buy milk.")
        await answer([question, "y"])
        await say("write notes.md Buy milk and bread.")
        await answer([question, "n"], ["Esc goes back", "milk is enough"])
        await program.see("milk is enough")
        program.type("\r")
        await say("run cat notes.md")
        await answer([question, "s"], ["Esc goes back", "2"])
        await say("run cat notes.md | wc -l")
        await say("run rm notes.md")
        await answer([question, "\x03"])
        assert.strictEqual(await program.ended(), 130)
        screens.push(program.text)
      })
      assert.strictEqual(notes(), "Buy milk.\n")
      const shown = page.match(/(?<=^```text\n)[^]*?(?=^```$)/gm) ?? []
      assert.isAtLeast(shown.length, 3)
      for (const screen of shown) assert.include(screens.map((seen) => `${seen}\n`), screen)
    } finally {
      Fs.rmSync(cwd, { recursive: true })
    }
  }, 60_000)

  it("outlives a file that cannot be written, and ends without an error by Ctrl-C while nothing is asked", async () => {
    const cwd = Fs.mkdtempSync(Path.join(Os.tmpdir(), "assent-guide-"))
    try {
      await withProgram(file, { cwd }, async (program) => {
        await program.until("the prompt", () => program.live.trimEnd() === "? you ›")
        program.type("write missing/notes.md Buy milk.\r")
        await program.ready(question)
        program.type("y")
        await program.see("It failed: ")
        await program.until("the prompt", () => program.live.trimEnd() === "? you ›")
        program.type("\x03")
        assert.strictEqual(await program.ended(), 0)
        assert.notInclude(program.text, "QuitError")
      })
    } finally {
      Fs.rmSync(cwd, { recursive: true })
    }
  }, 60_000)
})
