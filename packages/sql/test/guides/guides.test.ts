/** docs/approvals-later.md shows this program, and what its processes print, one after the other. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { makeFilename } from "../database.ts"

const file = Path.join(import.meta.dirname, "refunds.ts")
const page = Fs.readFileSync(Path.join(import.meta.dirname, "../../../../docs/approvals-later.md"), "utf8")

const prompt = "$ node refunds.ts "

const run = (folder: string, args: string) =>
  Effect.promise(() =>
    new Promise<string>((resolve, reject) => {
      ChildProcess.execFile(
        process.execPath,
        ["--conditions=@assent/source", file, ...args.split(" ")],
        { cwd: folder, env: { ...process.env, ASSENT_APPROVAL_KEY: undefined, NO_COLOR: "1" }, timeout: 25_000 },
        (error, stdout, stderr) => error === null ? resolve(stdout) : reject(new Error(`${stdout}\n${stderr}`))
      )
    })
  )

describe("docs/approvals-later.md", () => {
  it("shows the program that is run here", () => {
    assert.include(page, `\`\`\`ts\n${Fs.readFileSync(file, "utf8")}\`\`\``)
  })

  it.effect("each process of it prints what the page says", () =>
    Effect.gen(function*() {
      const folder = Path.dirname(yield* makeFilename)
      const [, session = ""] = /^```text\n([^]*?)^```$/m.exec(page) ?? []
      const commands = session.split("\n").filter((line) => line.startsWith(prompt)).map((line) =>
        line.slice(prompt.length)
      )
      assert.isAtLeast(commands.length, 8)
      const printed: Array<string> = []
      for (const command of commands) printed.push(`${prompt}${command}\n${yield* run(folder, command)}`)
      assert.strictEqual(printed.join(""), session)
      assert.deepStrictEqual(Fs.readdirSync(folder), ["approvals.db"])
    }), 120_000)
})
