/** The README shows the program that a newcomer begins with, and the screens that the tests see. */
import { assert, describe, it } from "@effect/vitest"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { withProgram } from "./pty.ts"
import { assertScreen, fileOf } from "./screens.ts"

const readme = Fs.readFileSync(Path.join(import.meta.dirname, "../README.md"), "utf8")
const start = Path.join(import.meta.dirname, "readme/start.ts")

const folders = [Path.dirname(fileOf("start")), Path.join(import.meta.dirname, "drawings")]

/** What a real terminal was seen to show, by the names of the files. */
const screens = new Map(
  folders.flatMap((folder) =>
    Fs.readdirSync(folder).filter((name) => name.endsWith(".txt")).map((name) =>
      [Fs.readFileSync(Path.join(folder, name), "utf8"), name.replace(/\.txt$/, "")] as const
    )
  )
)

describe("README", () => {
  it("begins with a program, which asks and runs", async () => {
    assert.include(readme, `\`\`\`ts\n${Fs.readFileSync(start, "utf8")}\`\`\``)
    await withProgram(start, {}, async (program) => {
      await program.ready("Enter only after ↑↓")
      assertScreen("start", program.live)
      program.type("y")
      assert.strictEqual(await program.ended(), 0)
      assertScreen("started", program.text)
    })
  }, 60_000)

  it("of the repository shows what the person at `npm start` sees", () => {
    const page = Fs.readFileSync(Path.join(import.meta.dirname, "../../../README.md"), "utf8")
    const [, sample = ""] = /```text\n(━━ [^]*?)```/.exec(page) ?? []
    const [begin = "", end = ""] = sample.split("    …\n")
    const screen = Fs.readFileSync(fileOf("janitor"), "utf8")
    assert.isAbove(end.length, 0)
    assert.include(screen, `\n${begin}`)
    assert.isTrue(screen.endsWith(end), end)
  })

  it("shows screens as they are", () => {
    const shown = readme.match(/(?<=^```text\n)[^]*?(?=^```$)/gm) ?? []
    assert.deepStrictEqual(shown.filter((screen) => !screens.has(screen)), [])
    const seen = shown.map((screen) => screens.get(screen))
    for (
      const name of [
        "start",
        "started",
        "janitor",
        "bash-80",
        "edit-80",
        "page-40",
        "hostile",
        "session-80",
        "edit-field-80",
        "batch-ticked-80",
        "form-80",
        "deferred-80",
        "after-80"
      ]
    ) {
      assert.include(seen, name)
    }
  })
})
