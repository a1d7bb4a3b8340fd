import { assert, describe, it } from "@effect/vitest"
import { parse } from "../source.ts"
import { compile, examples } from "./extract.ts"

const read = (text: string) => examples({ name: "Sample", file: "Sample.ts", text, parsed: parse("Sample.ts", text) })
const compiled = (text: string) => compile({ name: "sample", line: 1, code: text })

describe("extract", () => {
  it("takes the lines up to the next tag or the end, named after what they stand before", () => {
    const text = [
      "/**",
      " * Adds.",
      " *",
      " * @example",
      " * const a = 1",
      " *",
      " * a // => 1",
      " *",
      " * @since 0.1.0",
      " */",
      "export const add = 1",
      "export interface Shape {",
      "  /**",
      "   * @example",
      "   * 2 // => 2",
      "   */",
      "  readonly side: number",
      "}"
    ].join("\n")
    assert.deepStrictEqual(read(text), [
      { name: "add", line: 5, code: "const a = 1\n\na // => 1" },
      { name: "Shape.side", line: 15, code: "2 // => 2" }
    ])
  })

  it("keeps the line numbers of the source", () => {
    const lines = compile({ name: "late", line: 40, code: "first()\nsecond()" }).split("\n")
    assert.strictEqual(lines[39], "first()")
    assert.strictEqual(lines[40], "second()")
  })

  it("asserts expressions, awaited and over several lines, and variables", () => {
    assert.include(compiled("f(1) // => 2"), "$assert.deepStrictEqual<unknown>(f(1), 2) // => 2")
    assert.include(compiled("await f(1) // => 2"), "$assert.deepStrictEqual<unknown>(await f(1), 2) // => 2")
    assert.include(
      compiled("f(\n  1\n) // => [1, 2]"),
      "$assert.deepStrictEqual<unknown>(f(\n  1\n), [1, 2]) // => [1, 2]"
    )
    assert.include(compiled("const a = f() // => 2"), "const a = f(); $assert.deepStrictEqual<unknown>(a, 2) // => 2")
    assert.include(
      compiled("g(() => {\n  f() // => 2\n})"),
      "g(() => {\n  $assert.deepStrictEqual<unknown>(f(), 2) // => 2\n})"
    )
  })

  it("lets no assertion be lost", () => {
    assert.include(compiled("return 1 // => 1"), "throw new Error(")
    assert.include(compiled("// => 1"), "throw new Error(")
  })
})
