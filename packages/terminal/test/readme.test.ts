/** The README shows the program that a newcomer begins with, and the screens that the tests see. */
import { assert, describe, it } from "@effect/vitest"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { withProgram } from "./pty.ts"
import { assertScreen, fileOf } from "./screens.ts"

const readme = Fs.readFileSync(Path.join(import.meta.dirname, "../README.md"), "utf8")
const start = Path.join(import.meta.dirname, "readme/start.ts")

const names = Fs.readdirSync(Path.dirname(fileOf("start"))).map((name) => name.replace(/\.txt$/, ""))

describe("README", () => {
  it("begins with a program, which asks and runs", async () => {
    assert.include(readme, `\`\`\`ts\n${Fs.readFileSync(start, "utf8")}\`\`\``)
    await withProgram(start, {}, async (program) => {
      await program.ready("d details")
      program.type("y")
      assert.strictEqual(await program.ended(), 0)
      assertScreen("start", program.text.slice(program.text.indexOf("━━")))
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
    const screens = new Map(names.map((name) => [Fs.readFileSync(fileOf(name), "utf8"), name]))
    assert.deepStrictEqual(shown.filter((screen) => !screens.has(screen)), [])
    const seen = shown.map((screen) => screens.get(screen))
    for (
      const name of ["start", "janitor", "hostile", "narrow", "session", "edit", "edited", "ticks", "choice", "form"]
    ) {
      assert.include(seen, name)
    }
  })
})
