/**
 * A configuration's text as a value, and the line of what cannot be read: `internal/config/text.ts`.
 */
import { assert, describe, it, vi } from "@effect/vitest"
import { Result } from "effect"
import * as ConfigText from "../../src/internal/config/text.ts"

const failure = (text: string, format: "json" | "yaml" | "toml") => {
  const read = ConfigText.read(text, format)
  return Result.isFailure(read) ? read.failure : assert.fail("it was read")
}

const value = (text: string, format: "json" | "yaml" | "toml") => Result.getOrThrow(ConfigText.read(text, format)).value

describe("the format of a file", () => {
  it("is what its last extension says, in whichever case", () => {
    const formats = ["a.json", "a.YAML", "a.b.yml", "a.toml", "a.Toml"].map(ConfigText.formatOf)
    assert.deepStrictEqual(formats, ["json", "yaml", "yaml", "toml", "toml"])
    for (const none of ["json", "a.json.bak", "a.json~", "a.yaml.1", "a.", "", "a.js"]) {
      assert.isUndefined(ConfigText.formatOf(none), none)
    }
  })
})

describe("a text", () => {
  it("of nothing says so, with a byte order mark or without", () => {
    for (const format of ["json", "yaml", "toml"] as const) {
      for (const blank of ["", " \n\t", "\uFEFF", "\uFEFF \n"]) {
        assert.match(failure(blank, format).message, /^It is empty/)
      }
    }
    assert.match(failure("null", "json").message, /^It is empty/)
  })

  it("may begin with a byte order mark, and nowhere else is one left out", () => {
    assert.deepStrictEqual(value("\uFEFF{\"a\": 1}", "json"), { a: 1 })
    assert.deepStrictEqual(value("{\"a\": \"x\uFEFF\"}", "json"), { a: "x\uFEFF" })
  })

  it("is read up to 1,048,576 characters", () => {
    const most = `"${"x".repeat(ConfigText.maxLength - 2)}"`
    assert.lengthOf(most, 1_048_576)
    assert.strictEqual(value(most, "json"), "x".repeat(ConfigText.maxLength - 2))
    assert.match(failure(`${most} `, "json").message, /longer than 1,048,576 characters/)
  })

  it("names the key that stands twice, and its line; only in JSON, as the others refuse it themselves", () => {
    const twice = failure("{\n\"tools\": {\n\"a\": 1,\n\"b\": 2,\n\"a\": 3}}", "json")
    assert.strictEqual(twice.message, "The key \"a\" appears twice.")
    assert.deepStrictEqual([twice.path, twice.line], [["tools", "a"], 5])
    assert.match(failure("a: 1\nb: 2\na: 3\n", "yaml").message, /duplicate/i)
  })

  it("says on which line a parser came to a halt", () => {
    const good = Array.from({ length: 11 }, (_, index) => `"k${index}": ${index},`).join("\n")
    assert.strictEqual(failure(`{\n${good}\n"x": oops}`, "json").line, 13)
    assert.strictEqual(failure(`{\n${good}\n"x": `, "json").line, 13)
    assert.strictEqual(failure(`{\n${good}\n"x": \n\n`, "json").line, 13, "not the blank lines behind it")
    for (const mistake of ["\"x\": oops", "\"x\": [1,],", "\"x\": 'a',", "\"x\" = 1,"]) {
      for (const end of ["\n", "\r\n"]) {
        const lines = ["{", ...good.split("\n"), mistake, "\"y\": 1", "}"]
        assert.strictEqual(failure(lines.join(end), "json").line, 13, mistake)
      }
    }
    const yaml = Array.from({ length: 11 }, (_, index) => `k${index}: ${index}`)
    for (const end of ["\n", "\r\n", "\r"]) {
      assert.strictEqual(failure([...yaml, "x: [1, 2", "y: 3", "z: 4"].join(end), "yaml").line, 12)
      assert.strictEqual(failure([...yaml, "x: \"a\" b", "y: 3", "z: 4"].join(end), "yaml").line, 12)
    }
    const toml = Array.from({ length: 11 }, (_, index) => `k${index} = ${index}`)
    assert.strictEqual(failure([...toml, "x = = 1", "y = 2"].join("\n"), "toml").line, 12)
  })

  it("finds the line where a parser names only a position, as that of Node 20", () => {
    const parse = vi.spyOn(JSON, "parse").mockImplementationOnce(() => {
      throw new SyntaxError("Expected double-quoted property name in JSON at position 10")
    })
    assert.strictEqual(failure("{\n\"a\": 1,\n}\n\n", "json").line, 3)
    parse.mockRestore()
  })
})

describe("a value", () => {
  const nested = (depth: number): unknown => depth === 0 ? 1 : { a: nested(depth - 1) }

  it("is nested at most 32 deep, and holds at most 50,000 values", () => {
    assert.isUndefined(ConfigText.problemOfSize(nested(32)))
    assert.strictEqual(ConfigText.problemOfSize(nested(33)), "It is nested more than 32 levels deep.")
    assert.isUndefined(ConfigText.problemOfSize(Array.from({ length: 49_999 }, () => 1)))
    const more = ConfigText.problemOfSize(Array.from({ length: 50_000 }, () => 1))
    assert.strictEqual(more, "There are more than 50,000 values in it.")
    assert.match(failure(JSON.stringify(nested(33)), "json").message, /nested more than 32/)
  })

  it("is data, and nothing of a class", () => {
    for (const good of [1, "a", null, [], {}, Object.create(null)]) assert.isUndefined(ConfigText.problemOfSize([good]))
    for (const odd of [new Date(0), new Map(), new (class A {})()]) {
      assert.match(ConfigText.problemOfSize({ a: [odd] }) ?? "", /not plain data/)
    }
  })
})
