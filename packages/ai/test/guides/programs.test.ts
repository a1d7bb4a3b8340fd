/** The programs of the guides: they stand there as they are, they run as they are, and print what the page says. */
import { assert, describe, it } from "@effect/vitest"
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Page from "./page.ts"

const folder = Path.join(import.meta.dirname, "programs")
const programs = Fs.readdirSync(folder)

/** The page of a program; where a page has several, the word behind it says which. */
const pageOf = (program: string) => program.split(".")[0]!

describe.each([...new Set(programs.map(pageOf))])("docs/%s.md", (page) => {
  it("has these programs and no others", () => {
    const files = programs.filter((program) => pageOf(program) === page)
    const ours = files.map((program) => Fs.readFileSync(Path.join(folder, program), "utf8"))
    assert.deepStrictEqual(Page.programsOf(Page.read(page)).toSorted(), ours.toSorted())
  })
})

// At once, because a process takes longer to begin than to do what it does.
describe.concurrent("a program", () => {
  it.each(programs)("%s prints what its page says", async (program) => {
    const file = Path.join(folder, program)
    const said = Page.printedBy(Page.read(pageOf(program)), file)
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
