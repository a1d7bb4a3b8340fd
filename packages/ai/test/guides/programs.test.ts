/** The programs of the guides: they stand there as they are, they run as they are, and print what the page says. */
import { assert, describe, it } from "@effect/vitest"
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Page from "./page.ts"

const folder = Path.join(import.meta.dirname, "programs")
const programs = Fs.readdirSync(folder).map((file) => file.replace(/\.ts$/, ""))

// At once, because a process takes longer to begin than to do what it does.
describe.concurrent.each(programs)("docs/%s.md", (name) => {
  const file = Path.join(folder, `${name}.ts`)
  const page = Page.read(name)

  it("has this program and no other", () => {
    assert.deepStrictEqual(Page.programsOf(page), [Fs.readFileSync(file, "utf8")])
  })

  it("says what it prints", async () => {
    const said = Page.printedBy(page, file)
    assert.isNotEmpty(said)
    assert.strictEqual(await Page.run(file), said)
  }, 60_000)
})

describe("docs/testing-an-agent.md", () => {
  it("has the tests that are run here, beside this one", () => {
    const file = Path.join(import.meta.dirname, "testing-an-agent.test.ts")
    assert.deepStrictEqual(Page.programsOf(Page.read("testing-an-agent")), [Fs.readFileSync(file, "utf8")])
  })
})
