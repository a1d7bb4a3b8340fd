/** docs/the-laws.md names every law, and all tests of each: those of a file's name, and no file that is not there. */
import { assert, describe, it } from "@effect/vitest"
import * as Fs from "node:fs"
import * as Path from "node:path"

const laws = Path.join(import.meta.dirname, "../laws")
const page = Fs.readFileSync(Path.join(import.meta.dirname, "../../../../docs/the-laws.md"), "utf8")

const numbers = Array.from({ length: 17 }, (_, index) => `L${index + 1}`)
const sections = new Map(page.split(/^## /m).slice(1).map((section) => [section.split(" ")[0]!, section]))

describe("docs/the-laws.md", () => {
  it("has a section for each law, in order", () => {
    assert.deepStrictEqual([...sections.keys()].filter((name) => /^L\d/.test(name)), numbers)
  })

  it.each(numbers)("%s links to its tests, all of them, and each of them is named after it", (law) => {
    const linked = [...sections.get(law)!.matchAll(/\(\.\.\/packages\/ai\/test\/laws\/([^)]+)\)/g)].map(([, file]) =>
      file!
    )
    const there = Fs.readdirSync(laws).filter((file) => file.endsWith(".test.ts") && /^L\d+/.exec(file)?.[0] === law)
    assert.deepStrictEqual(linked.toSorted(), there.toSorted())
    assert.isNotEmpty(linked)
  })
})
