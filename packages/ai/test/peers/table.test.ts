/**
 * The tables of `packages/ai/test/README.md` name tests; here they are looked up, so that the tables cannot rot.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { type Node, parse, walk } from "../source.ts"
import { nameOf, registrars, textOf } from "../specifications/titles.ts"

const tests = Path.join(import.meta.dirname, "..")

/** The titles of a test file, and the keys of its tables of cases, which become parts of titles. */
const readTitles = (file: string): ReadonlyArray<string> => {
  const text = Fs.readFileSync(Path.join(tests, `${file}.test.ts`), "utf8")
  return [...walk(parse(file, text).program as unknown as Node)].flatMap((node) => {
    if (node.type === "Property") return textOf(node.key) ?? []
    if (node.type !== "CallExpression" || !registrars.has(String(nameOf(node.callee)))) return []
    return textOf((node.arguments as ReadonlyArray<unknown>)[0]) ?? []
  })
}

const cache = new Map<string, ReadonlyArray<string>>()
const titlesOf = (file: string): ReadonlyArray<string> => {
  const found = cache.get(file) ?? readTitles(file)
  cache.set(file, found)
  return found
}

interface Named {
  readonly file: string
  readonly words: string
}

/** Reads "`file` "words", "words"; `file` "words"". */
const readTests = (cell: string): ReadonlyArray<Named> =>
  cell.split(/; (?=`)/).flatMap((entry) => {
    const [, file, list] = /^`([^`]+)` (.+)$/.exec(entry) ?? []
    assert.isDefined(file, `not "file, words": ${entry}`)
    const words = [...list!.matchAll(/"([^"]+)"/g)].map((match) => match[1]!)
    assert.strictEqual(words.map((one) => `"${one}"`).join(", "), list)
    return words.map((words) => ({ file: file!, words }))
  })

interface Row {
  readonly name: string
  readonly cells: ReadonlyArray<string>
  readonly tests: ReadonlyArray<Named>
}

const readme = Fs.readFileSync(Path.join(tests, "README.md"), "utf8")

/** The rows of the tables with this first heading; their last column names tests. */
const rowsOf = (heading: string): ReadonlyArray<Row> => {
  const tables = readme.split("\n\n").map((block) => block.trim().split("\n")).filter(([first = ""]) =>
    first.startsWith(`| ${heading} `)
  )
  assert.isNotEmpty(tables, `no table "${heading}"`)
  return tables.flatMap((lines) => lines.slice(2)).map((line) => {
    const cells = line.slice(1, -1).split("|").map((cell) => cell.trim())
    return { name: cells[0]!, cells, tests: readTests(cells.at(-1)!) }
  })
}

const cases = rowsOf("Case")

describe("tables of test/README.md", () => {
  for (const { name, tests } of [...cases, ...rowsOf("Item"), ...rowsOf("Story")]) {
    it(`${name}: every test it names is there`, () => {
      assert.isNotEmpty(tests)
      for (const { file, words } of tests) {
        assert.isTrue(titlesOf(file).some((title) => title.includes(words)), `no test "${words}" in ${file}.test.ts`)
      }
    })
  }

  for (const { name, tests: named } of rowsOf("Section")) {
    it(`${name}: every test it names is there`, () => {
      assert.isNotEmpty(named)
      for (const { file, words } of named) {
        // Titles of cases stand in tables of all kinds.
        assert.include(Fs.readFileSync(Path.join(tests, `${file}.test.ts`), "utf8"), words)
      }
    })
  }

  it("every case has a row, in order, with all cells filled", () => {
    const numbers = Array.from({ length: 31 }, (_, index) => index + 1)
    const expected = numbers.filter((number) => ![22, 23, 25, 27, 30].includes(number)).map((number) => `B${number}`)
    assert.deepStrictEqual(cases.map(({ name }) => name), [...expected, "order"])
    for (const { cells } of cases) assert.isTrue(cells.length === 4 && cells.every((cell) => cell !== ""))
  })

  it("what upstream does is measured in every case, and in no case that has no row", () => {
    const measured = ["peers/upstream", "peers/mcp"].flatMap(titlesOf)
      .flatMap((title) => /^(B\d+|order) /.exec(title)?.[1] ?? [])
    assert.sameMembers([...new Set(measured)].filter((name) => name !== ""), cases.map(({ name }) => name))
  })
})
