/** The README shows a program that runs as it is, and what it says of the page is so. */
import { UiMessageStream } from "@assent/web"
import { assert, describe, it } from "@effect/vitest"
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Path from "node:path"

const readme = Fs.readFileSync(Path.join(import.meta.dirname, "../README.md"), "utf8")
const first = Path.join(import.meta.dirname, "readme/first.ts")

describe("README", () => {
  it("begins with a program, which asks and runs", async () => {
    assert.include(readme, `\`\`\`ts\n${Fs.readFileSync(first, "utf8")}\`\`\``)
    const printed = await new Promise<string>((resolve, reject) => {
      ChildProcess.execFile(
        process.execPath,
        ["--conditions=@assent/source", first],
        { env: { ...process.env, ASSENT_APPROVAL_KEY: undefined, NO_COLOR: "1" }, timeout: 25_000 },
        (error, stdout, stderr) => error === null ? resolve(stdout) : reject(new Error(`${stdout}\n${stderr}`))
      )
    })
    assert.include(readme, `\`\`\`text\n${printed}\`\`\``)
  }, 30_000)

  it("says what a page announces", () => {
    assert.include(readme, `reason: "${UiMessageStream.withDetails}"`)
  })
})
