/** What is shown of a request, on a screen that does what it is told: whatever the text is, it is all there, and only text. */
import * as Approval from "@assent/ai/Approval"
import { assert, describe, it } from "@effect/vitest"
import * as Prompt from "effect/cli/Prompt"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Content from "../../src/internal/call/content.ts"
import type * as Rows from "../../src/internal/call/rows.ts"
import * as Cells from "../../src/internal/text/cells.ts"
import * as Diff from "../../src/internal/text/diff.ts"
import * as Highlight from "../../src/internal/text/highlight.ts"
import * as Json from "../../src/internal/text/json.ts"
import * as Safe from "../../src/internal/text/safe.ts"
import * as Signs from "../../src/internal/text/signs.ts"
import { heading, type Line, paint, type Row, type Style, textOf } from "../../src/internal/text/style.ts"
import { cellsOf, makeScreen } from "../pty.ts"

const roomOf = (columns: number): Rows.Room => ({ columns, ambiguous: 1, ascii: false, signs: Signs.unicode })

/** All that is to be read of a request. */
const linesOf = (request: Approval.ApprovalRequest, room: Rows.Room): ReadonlyArray<Line> => [
  heading("May this run?", room.signs),
  ...Content.about(request, 0, room),
  ...Content.runs(request, request.params, room)
]

const theme = Prompt.makeTheme({ colors: true })

const show = (rows: ReadonlyArray<Row>, columns: number) =>
  Effect.promise(() =>
    new Promise<ReturnType<typeof makeScreen>>((resolve) => {
      const screen = makeScreen(columns, 10)
      screen.write(rows.map((row) => `${paint(row, theme)}\r\n`).join(""), () => resolve(screen))
    })
  )

// =============================================================================
// Hostile requests
// =============================================================================

const Piece = Schema.Literals([
  "\u001b[2J",
  "\u001b[H",
  "\u001b[31m",
  "\u001b]0;title\u0007",
  "\u009b1A",
  "\u202e",
  "\u2066",
  "\u200b",
  "\u2028",
  "\u{e0041}",
  "\ud800",
  "\r",
  "\n",
  "\n",
  "\t",
  "\b\b\b",
  "\u0301",
  "\u0301\u0302\u0303\u0304\u0305\u0306",
  "漢字",
  "ｗｉｄｅ",
  "👍🏽",
  "👩\u200d💻",
  "🇩🇪",
  "ไทย",
  "नमस्ते",
  "a",
  "const x = 'y' // z",
  "word ",
  "      ",
  "│ ",
  "    ⋮ ",
  "  Tool       ReadFile",
  "Run it?  y once ›",
  "\\u202e",
  "\"",
  "+ added",
  "{\"a\": [1, null]}",
  "0123456789".repeat(5)
])

const Text = Schema.Array(Piece).check(Schema.isMaxLength(12))

const Hostile = Schema.Struct({
  toolName: Text,
  reason: Text,
  params: Schema.Array(Schema.Tuple([Text, Schema.Union([Text, Schema.Finite, Schema.Struct({ inner: Text })])]))
    .check(Schema.isMaxLength(4)),
  content: Text,
  type: Schema.Literals(["text", "diff", "file_content", "command", "structured"]),
  language: Schema.Literals(["typescript", "json", "bash", "nonsense"]),
  columns: Schema.Literals([20, 40, 80])
})

const join = (text: ReadonlyArray<string>) => text.join("")

const valueOf = (value: number | ReadonlyArray<string> | { readonly inner: ReadonlyArray<string> }): Schema.Json =>
  typeof value === "number" ? value : "inner" in value ? { inner: join(value.inner) } : join(value)

const requestOf = (hostile: typeof Hostile.Type) => {
  const toolName = join(hostile.toolName)
  // A number of an object is not first, whatever was first.
  const params = Object.fromEntries(hostile.params.map(([name, value]) => [`${join(name)}:`, valueOf(value)]))
  return new Approval.ApprovalRequest({
    approvalId: "request-1",
    toolCallId: "call-1",
    toolName,
    params,
    description: Approval.describe(toolName, params),
    reason: Approval.escapeText(join(hostile.reason)),
    interaction: "approval",
    providerExecuted: false,
    presentation: new Approval.ApprovalPresentation({
      type: hostile.type,
      // As the engine gives it.
      content: Approval.escapeText(join(hostile.content), { multiline: true }),
      language: hostile.language
    })
  })
}

const styles: ReadonlyArray<Style | undefined> = [
  undefined,
  "bold",
  "muted",
  "primary",
  "success",
  "error",
  "added",
  "removed",
  "keyword",
  "string",
  "number",
  "title"
]

/** How the screen says each of our styles. */
const styleWords = Effect.gen(function*() {
  const screen = yield* show(styles.map((style) => [{ text: "x", style }]), 10)
  const cells = cellsOf(screen)
  return new Map(styles.map((style, index) => [style, cells[index]![0]!.style]))
})

/** Lines as they were before they were broken into rows. */
const unbroken = (rows: ReadonlyArray<string>): ReadonlyArray<string> => {
  const lines: Array<string> = []
  for (const row of rows) {
    const rest = /^ {2,}⋮ (.*)$/s.exec(row)
    if (rest !== null && lines.length > 0) lines[lines.length - 1] += rest[1]
    else lines.push(row)
  }
  return lines
}

describe("whatever the text is", () => {
  it.effect.prop(
    "it is text, behind a mark, and it is all there, in order",
    { hostile: Hostile },
    ({ hostile }) =>
      Effect.gen(function*() {
        const request = requestOf(hostile)
        const rows = Cells.layout(linesOf(request, roomOf(hostile.columns)), roomOf(hostile.columns))
        const screen = yield* show(rows, hostile.columns)
        const words = yield* styleWords
        const cells = cellsOf(screen)

        // Every row is a row of the screen, and says there what it says here, in our colours.
        rows.forEach((row, index) => {
          const line = screen.buffer.normal.getLine(index)!
          assert.isFalse(line.isWrapped)
          assert.strictEqual(line.translateToString(true).trimEnd(), textOf(row).trimEnd())
          const drawn = cells[index]!.filter(({ text }) => text !== "").map(({ style, text }) => ({ style, text }))
          let at = 0
          for (const { style, text } of row) {
            let left = text
            while (left !== "") {
              const cell = drawn[at++]!
              assert.isTrue(left.startsWith(cell.text))
              assert.strictEqual(cell.style, words.get(style))
              left = left.slice(cell.text.length)
            }
          }
        })
        assert.isTrue(cells.slice(rows.length).flat().every(({ text }) => text === ""))

        // What is not ours is never at the left edge.
        const edge = rows.map(textOf).filter((row) => !row.startsWith("  ") && row !== "")
        assert.deepStrictEqual(edge.length, 1)
        assert.match(edge[0]!, /^━━ May/)

        // Every parameter, to its last character.
        const said = unbroken(rows.map(textOf)).join("\n")
        let from = 0
        for (const [name, value] of Object.entries(request.params as Schema.JsonObject)) {
          const expected = [
            Safe.line(JSON.stringify(name)),
            ...(typeof value === "string"
              ? Safe.lines(value).split("\n").map(Safe.tabs)
              // In one row where two are enough.
              : said.includes(`= ${Safe.line(JSON.stringify(value))}`, from)
              ? [Safe.line(JSON.stringify(value))]
              : Safe.lines(JSON.stringify(value, null, 2)).split("\n"))
          ]
          for (const [index, text] of expected.entries()) {
            // In one line, or in quotes.
            const others = index === 0 || typeof value !== "string" ? [] : [value, JSON.stringify(value)].map(Safe.line)
            const found = [text, ...others].map((one) => said.indexOf(one, from)).filter((at) => at >= 0)
            assert.isAbove(found.length, 0, `${text}\nis missing in\n${said}`)
            from = Math.min(...found)
          }
        }
      }),
    { arbitrary: { runs: 30, seed: "terminal" }, timeout: 30_000 }
  )

  it.effect("no character is thought narrower than the screen draws it", () =>
    Effect.gen(function*() {
      const characters: Array<string> = []
      for (const [from, to] of [[0x20, 0x33ff], [0xa000, 0xa4ff], [0xf900, 0xffff], [0x1f000, 0x1faff]] as const) {
        for (let code = from; code <= to; code++) {
          const character = String.fromCodePoint(code)
          if (Safe.line(character) === character && character !== "|") characters.push(character)
        }
      }
      const screen = yield* show(characters.map((character) => [{ text: `${character}|` }]), 10)
      characters.forEach((character, index) => {
        const line = screen.buffer.normal.getLine(index)!
        const at = [0, 1, 2].find((column) => line.getCell(column)!.getChars().endsWith("|"))
        assert.isAtLeast(Cells.cells(character), at ?? 99, `U+${character.codePointAt(0)!.toString(16)}`)
      })
    }))
})

describe("rows", () => {
  it.effect.prop(
    "say what the text says, to the last blank, and none is too wide",
    { text: Text },
    ({ text }) =>
      Effect.sync(() => {
        const shown = Safe.line(join(text))
        for (const prose of [false, true]) {
          const rows = Cells.wrap([{ text: shown }], 14, prose)
          assert.strictEqual(rows.map(textOf).join(""), shown)
          assert.isTrue(rows.every((row) => Cells.cells(textOf(row)) <= 14))
        }
      }),
    { arbitrary: { runs: 60, seed: "terminal" } }
  )
})

const shownOf = (params: Schema.Json) => {
  const request = new Approval.ApprovalRequest({
    approvalId: "request-1",
    toolCallId: "call-1",
    toolName: "Pay",
    params,
    description: Approval.describe("Pay", params),
    interaction: "approval",
    providerExecuted: false
  })
  const room = roomOf(200)
  const textsOf = (lines: ReadonlyArray<Line>) => Cells.layout(lines, room).map(textOf)
  return { request: textsOf(linesOf(request, room)), details: textsOf(Content.details(request, params, 0, room)) }
}

describe("what looks like something else", () => {
  it("has a note where letters run from right to left; the details are in ASCII, and say the same", () => {
    for (const to of ["/srv/\u05d0/1/2", "\u0645 12 \u0645", "\ufb1d", "\u{1e900}"]) {
      const { details, request } = shownOf({ to })
      assert.include(request.join("\n"), "run from right to left")
      const json = details.filter((row) => row.startsWith("    = ")).map((row) => row.slice(6)).join("\n")
      assert.match(json, /^[\n\x20-\x7e]*$/)
      assert.deepStrictEqual(JSON.parse(json), { to })
    }
    for (const to of ["Zürich", "東京", "C:\\users"]) assert.notInclude(shownOf({ to }).request.join("\n"), "Note")
  })

  it("an escape is told from a text that is written like one", () => {
    const { request } = shownOf({ real: "a\u202eb", written: "a\\u202eb" })
    assert.deepInclude(request, "    real    │ a\\u202eb")
    assert.deepInclude(request, "    written │ \"a\\\\u202eb\"")
  })
})

describe("JSON", () => {
  it("is written as everywhere, and in one line where it is nested deep, so that no call fills the memory", () => {
    const value = { a: [1, { b: null, "c d": "e\n" }, [], {}], f: true }
    assert.strictEqual(Json.format(value), JSON.stringify(value, null, 2))
    let deep: Schema.Json = Array.from({ length: 1_000 }, (_, index) => index)
    for (let level = 0; level < 510; level++) deep = [deep]
    assert.isBelow(Json.format(deep).length, 10_000)
    assert.deepStrictEqual(JSON.parse(Json.format(deep)), deep)
    assert.isBelow(shownOf({ deep }).request.length, 100)
  })
})

describe("colours", () => {
  it.effect.prop("of code change no character", { text: Text }, ({ text }) =>
    Effect.sync(() => {
      const shown = Safe.lines(join(text))
      for (const language of ["typescript", "json", "bash", "xml", "markdown", "nonsense", undefined]) {
        assert.strictEqual(Highlight.highlight(shown, language).map(textOf).join("\n"), shown)
      }
    }), { arbitrary: { runs: 60, seed: "terminal" } })

  it("are those of the language, and of nothing where the text is very long", () => {
    const [row] = Highlight.highlight("const a = 1", "typescript")
    assert.deepStrictEqual(row![0], { text: "const", style: "keyword" })
    const long = `const a = "${"x".repeat(60_000)}"`
    assert.deepStrictEqual(Highlight.highlight(long, "typescript"), [[{ text: long }]])
  })

  it("of a diff are beside its signs", () => {
    const diff = "--- a\n+++ b\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"
    assert.deepStrictEqual(Diff.colored(diff).map((row) => [textOf(row), row[0]!.style]), [
      ["--- a", "bold"],
      ["+++ b", "bold"],
      ["@@ -1,2 +1,2 @@", "primary"],
      [" one", undefined],
      ["-two", "removed"],
      ["+2", "added"]
    ])
  })
})
