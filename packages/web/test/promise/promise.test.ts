/** docs/in-promise-style.md shows these programs, and each of its servers asks, runs and answers as the page says. */
import { assert, describe, it } from "@effect/vitest"
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as NodeUtil from "node:util"

const root = Path.join(import.meta.dirname, "../../../..")
const page = Fs.readFileSync(Path.join(root, "docs/in-promise-style.md"), "utf8")
const guides = Fs.readFileSync(Path.join(root, "docs/README.md"), "utf8")

const run = NodeUtil.promisify(ChildProcess.execFile)

describe.concurrent("docs/in-promise-style.md", () => {
  it("shows the programs that are run here, whole", () => {
    for (const file of ["chat.ts", "respond.ts", "node.ts", "express.js", "hono.ts"]) {
      const program = Fs.readFileSync(Path.join(import.meta.dirname, file), "utf8")
      assert.include(page, `\`\`\`${file.endsWith("ts") ? "ts" : "js"}\n${program}\`\`\``, file)
    }
  })

  it("has nothing that an editor would underline, with the tsconfig.json of the guides", async () => {
    const [, tsconfig = ""] = /^```json\n([^]*?)^```$/m.exec(guides) ?? []
    const { compilerOptions }: { readonly compilerOptions: object } = JSON.parse(tsconfig)
    const options = Object.entries({ ...compilerOptions, customConditions: "@assent/source" })
    // Each of its threads would look at the types of Effect by itself.
    const args = [
      "--ignoreConfig",
      "--singleThreaded",
      ...options.flatMap(([name, value]) => [`--${name}`, String(value)])
    ]
    const files = ["chat.ts", "respond.ts", "node.ts", "hono.ts"]
    const tsc = Path.join(root, "node_modules/typescript/bin/tsc")
    const { stdout } = await run(process.execPath, [tsc, ...args, ...files], { cwd: import.meta.dirname })
    assert.strictEqual(stdout, "")
  }, 60_000)

  // In a process of its own each: Express is not itself where its modules are vitest's.
  it.each(["node.ts", "express.js", "hono.ts"])("%s serves the chat", async (file) => {
    const { stdout } = await run(
      process.execPath,
      ["--conditions=@assent/source", Path.join(import.meta.dirname, "play.ts"), file],
      { env: { ...process.env, ASSENT_APPROVAL_KEY: undefined, NO_COLOR: "1", PORT: "0" }, timeout: 25_000 }
    )
    const [deleting, played = ""] = stdout.trim().split("\n")
    assert.strictEqual(deleting, "deleting debug.log")
    assert.deepStrictEqual(JSON.parse(played), {
      waiting: [[true], []],
      text: "debug.log is gone.",
      refused: [401, "Please log in."],
      kept: ["user", "assistant"],
      none: 204,
      others: file === "node.ts" ? 404 : 200
    })
  }, 30_000)
})
