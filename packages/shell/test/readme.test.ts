/** The program of the README: it stands there as it is, and it prints what the README says. */
import { assert, describe, it } from "@effect/vitest"
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Path from "node:path"

const here = import.meta.dirname
const readme = Fs.readFileSync(Path.join(here, "../README.md"), "utf8")
const file = Path.join(here, "readme/session.ts")

describe("README", () => {
  it("shows a program and what it prints", () => {
    const { status, stderr, stdout } = ChildProcess.spawnSync(
      process.execPath,
      ["--conditions=@assent/source", file],
      { encoding: "utf8" }
    )
    assert.strictEqual(status, 0, stderr)
    assert.include(readme, `\`\`\`ts\n${Fs.readFileSync(file, "utf8")}\`\`\``)
    assert.include(readme, `\`\`\`text\n${stdout}\`\`\``)
  })
})
