/** What a key makes of a text. */
import { assert, describe, it } from "@effect/vitest"
import type { Screen } from "../../src/internal/screen/stage.ts"
import * as TextInput from "../../src/internal/screen/textInput.ts"
import * as Signs from "../../src/internal/text/signs.ts"
import * as Style from "../../src/internal/text/style.ts"

describe("a text", () => {
  const key = (
    name: string,
    given: { readonly text?: string; readonly ctrl?: boolean; readonly meta?: boolean } = {}
  ) => ({
    _tag: "Key" as const,
    name,
    text: "",
    ctrl: false,
    meta: false,
    ...given
  })

  const after = (text: string, ...keys: ReadonlyArray<ReturnType<typeof key>>) => {
    const [before, behind = ""] = text.split("|")
    const state = keys.reduce<TextInput.State>(
      (state, key) => TextInput.edited(state, key) ?? assert.fail(`${key.name} means nothing`),
      { before: before!, after: behind, problem: undefined }
    )
    return `${state.before}|${state.after}`
  }

  it("is edited by the keys that people know", () => {
    assert.strictEqual(after("ab|c", key("x", { text: "x" })), "abx|c")
    assert.strictEqual(after("ab|c", key("left"), key("left")), "|abc")
    assert.strictEqual(after("|abc", key("right"), key("end")), "abc|")
    assert.strictEqual(after("one\ntwo|", key("home")), "one\n|two")
    assert.strictEqual(after("one\ntw|o", key("up")), "on|e\ntwo")
    assert.strictEqual(after("on|e\ntwo\nx", key("down")), "one\ntw|o\nx")
    assert.strictEqual(after("long line|\nx\n", key("down")), "long line\nx|\n")
    assert.strictEqual(after("\n|a", key("up")), "|\na")
    assert.strictEqual(after("a👍|b", key("backspace")), "a|b")
    assert.strictEqual(after("a|👍b", key("delete")), "a|b")
    assert.strictEqual(after("a👍|b", key("left")), "a|👍b")
    assert.strictEqual(after("one two |three", key("w", { ctrl: true })), "one |three")
    assert.strictEqual(after("x\none |two\ny", key("u", { ctrl: true })), "x\n|two\ny")
    assert.strictEqual(after("x\none |two\ny", key("k", { ctrl: true })), "x\none |\ny")
    assert.strictEqual(after("x\none| two", key("a", { ctrl: true }), key("e", { ctrl: true })), "x\none two|")
    assert.strictEqual(after("a|b", key("return", { meta: true }), key("enter")), "a\n\n|b")
  })

  it("takes no key that is none of a text", () => {
    const state = { before: "a", after: "b", problem: undefined }
    for (
      const none of [
        key("f1"),
        key("g", { ctrl: true, text: "\u0007" }),
        key("y", { meta: true, text: "y" }),
        key("", { text: "\u001b" })
      ]
    ) {
      assert.isUndefined(TextInput.edited(state, none))
    }
  })

  it("is seen through a window around the cursor, whose cost does not grow with it", () => {
    const screen: Screen = { columns: 40, rows: 24, armed: true, signs: Signs.unicode, ambiguous: 1, ascii: false }
    const long = "0123456789\n".repeat(100_000)
    const state = { before: long, after: long, problem: undefined }
    const rows = TextInput.windowOf(state, screen)
    assert.strictEqual(rows.length, 8)
    assert.strictEqual(rows.flat().filter(({ text }) => text.includes("▏")).length, 1)
    // One that is in the text is not the cursor.
    const own = { before: `${"▏\n".repeat(100)}a`, after: "b", problem: undefined }
    assert.isTrue(TextInput.windowOf(own, screen).some((row) => Style.textOf(row) === "  │ a▏b"))
    assert.strictEqual(TextInput.windowOf(state, { ...screen, rows: 6 }).length, 1)
  })

  it.each([
    ["a\n".repeat(6), undefined],
    ["a\n".repeat(7), "14 characters, at 14"],
    ["a".repeat(199), undefined],
    ["a".repeat(200), "200 characters, at 200"]
  ])("says how much there is of it where the window may not show all: %j", (before, said) => {
    const screen: Screen = { columns: 80, rows: 24, armed: true, signs: Signs.unicode, ambiguous: 1, ascii: false }
    const rows = TextInput.rows({ before, after: "", problem: undefined }, screen).map(Style.textOf)
    assert.strictEqual(rows.find((row) => row.includes("characters"))?.trim(), said)
  })
})
