/** `npm run law -- L4`: the files that it runs, and what it says of a law that there is not. */
import { assert, describe, it } from "@effect/vitest"
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { find, laws, named, names, root } from "./find.ts"

describe("npm run law", () => {
  it("knows the laws of the page", () => {
    assert.deepStrictEqual(laws, Array.from({ length: 17 }, (_, index) => `L${index + 1}`))
  })

  it.each([
    ["a title", `it("L4 no forgery", () => {})`, true],
    ["a title with several laws", `it("L2 L4: once", () => {})`, true],
    ["a row of a table", `it.each([["B7 L4 edited", 1]])("%s", () => {})`, true],
    ["a template", "it(`L4 ${name}`, () => {})", true],
    ["another law", `it("L14 a reason", () => {})`, false],
    ["a comment", `// (law L4)\nit("approves", () => {})`, false],
    ["the name of a file", `import "./L4-edits.test.ts"\nimport "./L4.test.ts"`, false]
  ])("%s: %s", (_, source, expected) => {
    assert.strictEqual(names(named("L4"), "a.test.ts", source), expected)
  })

  it("the form for a law that does not hold has them all, in the page's words", () => {
    const read = (path: string) => Fs.readFileSync(Path.join(root, path), "utf8")
    const titles = [...read("docs/the-laws.md").matchAll(/^## (L\d+ .+)$/gm)].map(([, title]) => title)
    const options = [...read(".github/ISSUE_TEMPLATE/law.yml").matchAll(/^ {8}- (L\d+ .+)$/gm)].map(([, title]) =>
      title
    )
    assert.deepStrictEqual(options, titles)
  })

  const found = find()
  const all = [...found.values()].flat()

  it.each(laws)("finds every file of %s in the folder of laws, and not all files", (law) => {
    const files = found.get(law) ?? []
    const folder = "packages/ai/test/laws"
    const own = Fs.readdirSync(Path.join(root, folder)).filter((file) =>
      new RegExp(`^${law}[-.].*test\\.ts$`).test(file)
    )
    assert.isNotEmpty(own)
    assert.includeMembers([...files], own.map((file) => `${folder}/${file}`))
    assert.isBelow(files.length, new Set(all).size)
  })

  it("finds a test whose titles are from a table beside it", () => {
    assert.include(found.get("L4") ?? [], "packages/ai/test/search/search.test.ts")
  })

  it("finds tests of a law in other packages too", () => {
    const packages = new Set(all.map((path) => path.split("/")[1]))
    assert.includeMembers([...packages], ["ai", "ai-sdk", "openai", "sql", "web"])
  })

  it.each([
    [["L18"], "There is no law L18. The laws are L1 to L17, in docs/the-laws.md."],
    [["forgery"], "There is no law FORGERY. The laws are L1 to L17, in docs/the-laws.md."],
    [[], "Say which law: npm run law -- L4. The laws are L1 to L17, in docs/the-laws.md."]
  ])("%j fails with a sentence", (words, sentence) => {
    const main = Path.join(import.meta.dirname, "main.ts")
    const { status, stderr } = ChildProcess.spawnSync(process.execPath, [main, ...words], { encoding: "utf8" })
    assert.strictEqual(stderr.trim(), sentence)
    assert.strictEqual(status, 1)
  })
})
