/** `npm run laws` as a person types it. */
import { assert, describe, it } from "@effect/vitest"
import { execFile } from "node:child_process"
import * as Path from "node:path"

const main = Path.join(import.meta.dirname, "main.ts")

const laws = (...options: ReadonlyArray<string>) =>
  new Promise<{ readonly code: number; readonly output: string }>((resolve) =>
    execFile(
      process.execPath,
      ["--conditions=@assent/source", main, ...options],
      (error, stdout, stderr) => resolve({ code: error === null ? 0 : Number(error.code), output: stdout + stderr })
    )
  )

describe("npm run laws", () => {
  it("searches as far and from where it is told", async () => {
    const { code, output } = await laws("--runs", "3", "--seed", "fixed")
    assert.include(output, "3 plans, and every law holds")
    assert.strictEqual(code, 0)
  }, 30_000)

  it("says which option it does not know", async () => {
    const { code, output } = await laws("--run", "3")
    assert.include(output, "--run")
    assert.strictEqual(code, 2)
  }, 30_000)
})
