/**
 * Five specifications, requirement by requirement, and the tests that show each. A test that is renamed, or a requirement
 * without one, is found here; what differs on purpose is in the README, and is what the tables say.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Differences from "./differences.ts"
import * as Titles from "./titles.ts"

describe("specifications", () => {
  it("are five, each with its requirements, none said twice", () => {
    assert.deepStrictEqual(Differences.specifications.map(({ name, requirements }) => [name, requirements.length]), [
      ["tool-approval-protocol", 44],
      ["config-approval", 27],
      ["blocking-wrapper", 31],
      ["async-callbacks", 27],
      ["suspend-resume", 47]
    ])
    for (const { requirements } of Differences.specifications) {
      for (const key of ["number", "says"] as const) {
        const all = requirements.map((requirement) => requirement[key])
        assert.deepStrictEqual(all.filter((one, index) => all.indexOf(one) !== index), [])
      }
    }
  })

  for (const { name, requirements } of Differences.specifications) {
    for (const { differs, number, says, tests } of requirements) {
      it(`${name} ${number} ${says}: its tests are there`, () => {
        assert.isNotEmpty(tests)
        assert.notStrictEqual(differs, "")
        for (const { file, titles } of tests) {
          assert.isNotEmpty(titles)
          for (const title of titles) {
            assert.isTrue(Titles.titlesIn(file).has(title), `no test "${title}" in ${Titles.pathOf(file)}`)
          }
        }
      })
    }
  }

  it("what is no title is not found", () => {
    assert.isFalse(Titles.titlesIn("specifications/table").has("what is not there"))
    assert.isFalse(Titles.titlesIn("specifications/noSuchFile").has("what is no title is not found"))
    assert.isTrue(Titles.titlesIn("specifications/table").has("what is no title is not found"))
  })

  it("what differs on purpose is in the README", () => {
    const path = Path.join(import.meta.dirname, "../../../../README.md")
    const readme = Fs.readFileSync(path, "utf8")
    const start = readme.indexOf(Differences.begin) + Differences.begin.length
    const end = readme.indexOf(Differences.end)
    assert.isTrue(start >= Differences.begin.length && end > start, `no ${Differences.begin} … ${Differences.end}`)
    const expected = Differences.toMarkdown()
    if (process.env.UPDATE_DIFFERENCES === "1") {
      Fs.writeFileSync(path, `${readme.slice(0, start)}\n\n${expected}\n\n${readme.slice(end)}`)
    } else {
      assert.strictEqual(
        readme.slice(start, end).trim(),
        expected,
        "UPDATE_DIFFERENCES=1 npm test -- specifications/table writes it anew"
      )
    }
  })
})
