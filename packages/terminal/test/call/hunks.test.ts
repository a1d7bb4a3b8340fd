/** A diff as it is shown: numbers and signs beside its lines, and not a character less. */
import { assert, describe, it } from "@effect/vitest"
import * as Hunks from "../../src/internal/call/hunks.ts"
import { textOf } from "../../src/internal/text/style.ts"

const shown = (...lines: ReadonlyArray<string>) =>
  Hunks.rows(`${lines.join("\n")}\n`, undefined, "…").map((row) => textOf(row))

describe("a diff", () => {
  it("has the numbers of before for what goes, and of after for the rest, and names no file", () => {
    assert.deepStrictEqual(
      shown("--- a.txt", "+++ a.txt", "@@ -9,3 +9,4 @@", " nine", "-ten", "+10", "+10.5", " eleven"),
      [" 9   nine", "10 - ten", "10 + 10", "11 + 10.5", "12   eleven"]
    )
  })

  it("says where it leaves lines out, and where a last line has no line break", () => {
    assert.deepStrictEqual(
      shown(
        "@@ -1 +1 @@",
        "-a",
        "\\ No newline at end of file",
        "+b",
        "@@ -9 +9 @@",
        "-c",
        "+d",
        "\\ No newline at end of file"
      ),
      [
        "1 - a",
        "    \\ No newline at end of file",
        "1 + b",
        "…",
        "9 - c",
        "9 + d",
        "    \\ No newline at end of file"
      ]
    )
  })

  it("of a new file has lines that come", () => {
    assert.deepStrictEqual(shown("--- a", "+++ a", "@@ -0,0 +1,2 @@", "+one", "+two"), ["1 + one", "2 + two"])
  })

  it("that is none, or whose numbers are not its own, is shown as it is", () => {
    for (
      const lines of [
        ["no diff"],
        ["Index: a", "@@ -1 +1 @@", "-a", "+b"],
        ["@@ -1,3 +1 @@", "-a", "+b"],
        ["@@ -1 +1 @@", "-a", "+b", "+c"],
        ["@@ -1 +1 @@", "*a", "+b"]
      ]
    ) assert.deepStrictEqual(shown(...lines), lines)
  })

  it("has the colours of its language, beside the signs' own", () => {
    const [row] = Hunks.rows("@@ -1 +1 @@\n-const a = 1\n+const a = 2\n", "typescript", "…")
    assert.deepStrictEqual(row!.map(({ style, text }) => [text, style]).slice(1, 3), [
      ["- ", "removed"],
      ["const", "keyword"]
    ])
  })
})
