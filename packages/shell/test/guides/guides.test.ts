/** docs/policies-in-a-file.md: its file and its program as they stand there, and what the program prints. */
import { assert, describe, it } from "@effect/vitest"
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { promisify } from "node:util"

const here = import.meta.dirname
const page = Fs.readFileSync(Path.join(here, "../../../../docs/policies-in-a-file.md"), "utf8")
const policy = Fs.readFileSync(Path.join(here, "approval.yaml"), "utf8")

const execute = promisify(ChildProcess.execFile)

const run = async (file: string, args: ReadonlyArray<string>): Promise<string> => {
  const cwd = Fs.mkdtempSync(Path.join(Os.tmpdir(), "assent-guide-"))
  Fs.writeFileSync(Path.join(cwd, "approval.yaml"), file)
  try {
    const { stdout } = await execute(
      process.execPath,
      ["--conditions=@assent/source", Path.join(here, "agent.ts"), ...args],
      { cwd, env: { ...process.env, ASSENT_APPROVAL_KEY: undefined, NO_COLOR: "1" } }
    )
    return stdout
  } finally {
    Fs.rmSync(cwd, { recursive: true })
  }
}

const [session = "", misspelt = "", unknown = ""] = page.match(/(?<=^```text\n)[^]*?(?=^```$)/gm) ?? []

describe.concurrent("docs/policies-in-a-file.md", () => {
  it("shows the file and the program that are run here", () => {
    assert.include(page, `\`\`\`yaml\n${policy}\`\`\``)
    assert.include(page, `\`\`\`ts\n${Fs.readFileSync(Path.join(here, "agent.ts"), "utf8")}\`\`\``)
  })

  it("prints what the page says", async () => {
    const commands = [...session.matchAll(/^\$ node agent\.ts(?: (\w+))?(?: "(.*)")?$/gm)]
    assert.isAtLeast(commands.length, 4)
    const printed = await Promise.all(
      commands.map(async ([line, ...args]) => `${line}\n${await run(policy, args.filter((arg) => arg !== undefined))}`)
    )
    assert.strictEqual(printed.join(""), session)
  }, 60_000)

  it("says of a mistake what the page says", async () => {
    assert.strictEqual(await run(policy.replace("required", "requird"), ["check"]), misspelt)
    assert.include(await run(policy.replace("write_file", "write_fil"), ["check"]), unknown)
    assert.isNotEmpty(unknown)
  }, 60_000)
})
