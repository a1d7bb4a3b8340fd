/** The lint rule of docs/imports.md: whatever effect/ai exports can be imported from `@assent/ai`, and the rule finds the rest. */
import { assert, describe, it } from "@effect/vitest"
import * as Upstream from "effect/ai"
import { execFileSync } from "node:child_process"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import * as Assent from "../../src/index.ts"

const root = Path.join(import.meta.dirname, "../../../..")

const [, rule] = /```json\n(\{\n {2}"rules": \{\n {4}"no-restricted-imports"[^`]+)```/.exec(
  Fs.readFileSync(Path.join(root, "docs/imports.md"), "utf8")
)!

const program = `import { Tool } from "effect/ai"
import * as Toolkit from "effect/ai/Toolkit"
import { Chat, LanguageModel } from "@assent/ai"
import * as Response from "@assent/ai/Response"
import { OpenAiLanguageModel } from "@effect/ai-openai"
import { Effect } from "effect"
export { Chat, Effect, LanguageModel, OpenAiLanguageModel, Response, Tool, Toolkit }
`

describe("importing from one place", () => {
  it("everything of effect/ai is in @assent/ai", () => {
    assert.includeMembers(Object.keys(Assent), Object.keys(Upstream))
    // What runs a gated tool unasked is not exported under the names of ours.
    for (const name of ["toolkit", "registerToolkit"] as const) {
      assert.notStrictEqual<unknown>(Assent.McpServer[name], Upstream.McpServer[name])
    }
    for (const [name, value] of Object.entries(Upstream.McpServer)) {
      if (name !== "toolkit" && name !== "registerToolkit") {
        assert.strictEqual<unknown>(Reflect.get(Assent.McpServer, name), value, name)
      }
    }
  })

  it("the rule of docs/imports.md refuses effect/ai, and nothing else", () => {
    const folder = Fs.mkdtempSync(Path.join(Os.tmpdir(), "assent-imports-"))
    try {
      Fs.writeFileSync(Path.join(folder, ".oxlintrc.json"), rule!)
      Fs.writeFileSync(Path.join(folder, "program.ts"), program)
      const oxlint = Path.join(root, "node_modules/oxlint/bin/oxlint")
      const lint = () => execFileSync(process.execPath, [oxlint, "--format", "unix"], { cwd: folder, encoding: "utf8" })
      const output = assertFails(lint)
      const lines = output.split("\n").flatMap((line) => /^program\.ts:(\d+):/.exec(line)?.[1] ?? [])
      assert.deepStrictEqual([...new Set(lines)], ["1", "2"], output)
      assert.include(output, "effect/ai")
    } finally {
      Fs.rmSync(folder, { recursive: true })
    }
  })
})

const assertFails = (run: () => string): string => {
  try {
    assert.fail(run())
  } catch (error) {
    if (typeof error === "object" && error !== null && "stdout" in error) return String(error.stdout)
    throw error
  }
}
