/** Whatever text: by the widths that terminals have, none of it stands at the left edge of a row. */
import { assert, describe, it } from "@effect/vitest"
import * as Cells from "../../src/internal/text/cells.ts"
import * as Safe from "../../src/internal/text/safe.ts"
import * as Signs from "../../src/internal/text/signs.ts"
import * as Style from "../../src/internal/text/style.ts"
import { random } from "../random.ts"
import { screenOf, terminals } from "../widths/terminals.ts"

/** Every code point as it is shown after a letter. */
const shown = (): ReadonlyArray<string> => {
  const all = Array.from({ length: 0x110000 }, (_, code) => `x${String.fromCodePoint(code)}`)
  all[0x0a] = "x"
  return Safe.lines(all.join("\n")).split("\n").map((text) => text.slice(1))
}

describe("every code point", () => {
  const texts = shown()

  it("is escaped, or thought at least as wide as each terminal draws it, however that is set", () => {
    assert.strictEqual(texts.length, 0x110000)
    const narrower: Array<string> = []
    let raw = 0
    texts.forEach((text, code) => {
      if (text !== String.fromCodePoint(code)) return
      raw++
      for (const ambiguous of [1, 2] as const) {
        const ours = Cells.cells(text, ambiguous)
        for (const { name, widths } of terminals) {
          const theirs = widths[code] === 3 ? ambiguous : widths[code]!
          if (ours < theirs) narrower.push(`${code.toString(16)} is ${theirs} in ${name}, set to ${ambiguous}`)
        }
      }
    })
    assert.deepStrictEqual(narrower, [])
    // The tables say something, and most of Unicode is shown as it is.
    assert.isAbove(raw, 100_000)
    assert.strictEqual(terminals.length, 9)
    assert.strictEqual(terminals.find(({ name }) => name === "kitty")!.widths[0x4e00], 2)
  })

  it("that cannot be seen, or told from a blank, or that none or each has its own of, is escaped", () => {
    const hidden = /[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u
    const raw = texts.flatMap((text, code) =>
      code !== 0x20 && code !== 0x0a && code !== 0x09 && hidden.test(text) ? [code.toString(16)] : []
    )
    assert.deepStrictEqual(raw, [])
    const text = `a\u00a0b\ue000\u{e0041}${String.fromCharCode(0xd800)}\u{10fffe}`
    assert.strictEqual(Safe.line(text), "a\\u00a0b\\ue000\\u{e0041}\\ud800\\u{10fffe}")
    // A mark stands over a letter, and over nothing that is above it.
    assert.strictEqual(Safe.lines("a\u0301\n\u0301\t\u0301"), "a\u0301\n\\u0301\t\\u0301")
  })

  it("of our own signs takes one cell where a terminal answers so, and none is in ASCII's", () => {
    for (const sign of Signs.all) assert.strictEqual(Cells.cells(sign, 1), 1, sign)
    assert.match(Object.values(Signs.ascii).join(""), /^[\x20-\x7e]+$/)
  })
})

const pieces = [
  "a",
  "word ",
  "  ",
  "漢",
  "ｗ",
  "\u0301",
  "\u{1f469}\u200d\u{1f467}",
  "❤\ufe0f",
  "\u{1f1e9}\u{1f1ea}",
  "\u1112\u1161\u11ab",
  "\u{e0067}\u{e007f}",
  "\u202e",
  "я",
  "│",
  "━━ May this run? ━━",
  "\t",
  "\u00a0",
  "\ue0b0",
  "\u0e33",
  "\ufdfd",
  "\u{1242b}",
  "\u0d23\u0d4d\u200d",
  "1\u20e3"
]

const textOf = ({ below, many, one }: ReturnType<typeof random>): string =>
  many(120, () => below(2) === 0 ? one(pieces) : String.fromCodePoint(0x20 + below(0x10ffe0))).join("")

const drawn = (rows: ReadonlyArray<Style.Row>, screen: ReturnType<typeof screenOf>): Promise<ReadonlyArray<string>> =>
  new Promise((resolve) =>
    screen.write(rows.map((row) => `${Style.textOf(row)}\r\n`).join(""), () => {
      const buffer = screen.buffer.normal
      const seen = Array.from({ length: buffer.baseY + buffer.cursorY }, (_, index) => {
        const line = buffer.getLine(index)!
        return `${line.isWrapped ? "wrapped: " : ""}${line.translateToString(true)}`
      })
      screen.dispose()
      resolve(seen)
    })
  )

describe("a text", () => {
  it("begins no row of a screen, whatever it is, by the widths of each terminal", async () => {
    for (const columns of [20, 43, 80]) {
      for (const ambiguous of [1, 2] as const) {
        const lines = Array.from({ length: 6 }, (_, seed) => ({
          first: Style.plain("    │ "),
          rest: Style.plain("    ⋮ "),
          body: Style.plain(Safe.tabs(Safe.lines(textOf(random(columns + seed))).replaceAll("\n", " "))),
          prose: seed % 2 === 0
        }))
        const rows = Cells.layout(lines, { columns, ambiguous, ascii: false })
        for (const terminal of terminals) {
          const seen = await drawn(rows, screenOf(terminal, ambiguous, columns, 50))
          assert.strictEqual(seen.length, rows.length, terminal.name)
          for (const row of seen) assert.match(row, /^ {4}[│⋮]( |$)/, terminal.name)
        }
      }
    }
  }, 30_000)

  it("begins none behind a name that is longer than a row either", () => {
    for (let seed = 1; seed <= 30; seed++) {
      const name = `${Safe.line(textOf(random(seed)))}${"n".repeat(30)}`
      const first = Style.plain(`    ${name} │ `)
      const rows = Cells.layout([{ first, rest: first, body: Style.plain(name) }], {
        columns: 30,
        ambiguous: 2,
        ascii: false
      })
      assert.isAbove(rows.length, 1)
      for (const row of rows) {
        assert.match(Style.textOf(row), /^( {4}| {2}⋮ )/, `seed ${seed}`)
        assert.isAtMost(Cells.widthOf(row, 2), 30, `seed ${seed}`)
      }
    }
  })

  it("is ASCII where a terminal takes nothing else", () => {
    for (let seed = 1; seed <= 200; seed++) {
      const rows = Cells.layout(
        [{ first: Style.plain("| "), rest: Style.plain(": "), body: Style.plain(Safe.line(textOf(random(seed)))) }],
        { columns: 40, ambiguous: 2, ascii: true }
      )
      for (const row of rows) assert.match(Style.textOf(row), /^[|:] [\x20-\x7e]{0,38}$/, `seed ${seed}`)
    }
  })

  it("is whole, and broken after a single space, or where a row is full", () => {
    for (let seed = 1; seed <= 500; seed++) {
      const { below, many, one } = random(seed)
      // ASCII alone is broken in a quicker way, and at the same places.
      const letters = seed % 2 === 0 ? ["a", "bc", "long", " ", "  ", "漢", "é"] : ["a", "bc", "long", " ", "  "]
      const spans = many(60, () => ({ text: one(letters), style: one([undefined, "bold", "muted"] as const) }))
      const text = Style.textOf(spans)
      const width = 8 + below(22)
      const laid = Cells.wrap(spans, width, true)
      const rows = laid.map(Style.textOf)
      assert.strictEqual(rows.join(""), text)
      const accented = Cells.wrap([{ text: text.replaceAll("a", "é") }], width, true)
      assert.deepStrictEqual(accented.map((row) => Style.textOf(row).length), rows.map((row) => row.length))
      const styles = (row: Style.Row) => row.flatMap(({ style, text }) => Array.from(text, () => style))
      assert.deepStrictEqual(laid.flatMap(styles), styles(spans))
      rows.slice(0, -1).forEach((row, index) => {
        const next = rows[index + 1]!
        const isFull = Cells.cells(row) + Cells.cells(next[0]!) > width
        assert.isTrue(isFull || (/(^|\S) $/.test(row) && !next.startsWith(" ")), JSON.stringify(rows))
      })
    }
  })
})
