/** What needs no terminal to be seen: what a session may cover, what a key makes of a text, what a form asks for. */
import * as Approval from "@assent/ai/Approval"
import * as ApprovalController from "@assent/ai/ApprovalController"
import * as ApprovalMatcher from "@assent/ai/ApprovalMatcher"
import * as TerminalController from "@assent/terminal/TerminalController"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as Edit from "../src/internal/edit.ts"
import * as Form from "../src/internal/form.ts"
import * as Session from "../src/internal/session.ts"
import * as TextInput from "../src/internal/textInput.ts"

const requestOf = (params: Schema.Json, fields: { readonly session?: string } = {}) =>
  new Approval.ApprovalRequest({
    approvalId: "request-1",
    toolCallId: "call-1",
    toolName: "WriteFile",
    params,
    description: Approval.describe("WriteFile", params),
    interaction: "approval",
    providerExecuted: false,
    ...fields
  })

describe("for the session", () => {
  const sentences = (params: Schema.Json, patterns?: Session.Patterns, session?: string) =>
    Session.choices(requestOf(params, session === undefined ? {} : { session }), params, patterns)
      .map(({ sentence }) => sentence)

  it("offers this call, what the policy says, the folder, and the tool, from the narrowest to the widest", () => {
    assert.deepStrictEqual(sentences({ path: "src/ui/a.ts" }, undefined, "any call on a Monday"), [
      "only the call WriteFile(path='src/ui/a.ts')",
      "any call on a Monday",
      "any call of WriteFile whose path matches `src/ui/**`",
      "any call of WriteFile"
    ])
  })

  it("offers no folder that the call does not plainly lie in", () => {
    for (
      const path of [
        "a.ts",
        "/etc",
        "../x/a.ts",
        "a/../b.ts",
        "s*c/a.ts",
        "[ab]/a.ts",
        "~/x/a.ts",
        "a\\b/c.ts",
        "C:/x/a"
      ]
    ) {
      assert.strictEqual(sentences({ path }).length, 2, path)
    }
    assert.strictEqual(sentences({ text: "src/a.ts" }).length, 2)
    assert.strictEqual(sentences({ targetFile: "/srv/data/a.ts" }).length, 3)
  })

  it("offers a program's patterns where they cover the call, and each once", () => {
    const patterns = () => [
      ApprovalMatcher.path(["src/**"], { param: "path" }),
      ApprovalMatcher.path(["src/ui/**"], { param: "path" }),
      ApprovalMatcher.path(["docs/**"], { param: "path" }),
      ApprovalMatcher.path(["../**"], { param: "path" })
    ]
    assert.deepStrictEqual(sentences({ path: "src/ui/a.ts" }, patterns).slice(1, -1), [
      "any call of WriteFile whose path matches `src/**`",
      "any call of WriteFile whose path matches `src/ui/**`"
    ])
  })

  it("remembers just what it says", () => {
    const [exact, tool] = Session.choices(requestOf({ a: 1 }), { a: 1 }, undefined)
    assert.deepStrictEqual(exact!.remember, {})
    assert.deepStrictEqual(tool!.remember, { covers: { _tag: "Tool" } })
  })
})

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
    const screen = { columns: 40, rows: 24, armed: true }
    const long = "0123456789\n".repeat(100_000)
    const state = { before: long, after: long, problem: undefined }
    const rows = TextInput.windowOf(state, screen)
    assert.strictEqual(rows.length, 8)
    assert.strictEqual(rows.flat().filter(({ text }) => text.includes("▏")).length, 1)
    assert.strictEqual(TextInput.windowOf(state, { ...screen, rows: 6 }).length, 1)
  })
})

describe("an edit", () => {
  it("is JSON, or says why it is none", () => {
    assert.deepStrictEqual(Edit.parse("{\"a\": [1, null]}"), Result.succeed({ a: [1, null] }))
    assert.deepStrictEqual(Edit.parse("{\"a\": 1e400}"), Result.fail("A number is too large for JSON."))
    assert.match(Result.getOrThrow(Result.flip(Edit.parse("{a}"))), /^This is no JSON: /)
  })
})

describe("a form", () => {
  const schema = {
    type: "object",
    properties: {
      name: { type: "string", description: "Who?" },
      nights: { type: "integer" },
      price: { anyOf: [{ type: "number" }, { type: "string", enum: ["Infinity", "-Infinity", "NaN"] }] },
      board: { type: "string", enum: ["none", "full"] },
      window: { type: "boolean" },
      guests: { type: "array", items: { type: "string" } },
      either: { anyOf: [{ type: "number" }, { type: "string" }] }
    },
    required: ["name", "nights"]
  }

  it("asks for each field in its own way, and for JSON where it knows none", () => {
    assert.deepStrictEqual(Form.fieldsOf(schema)!.map(({ kind, name, required }) => [name, kind, required]), [
      ["name", { _tag: "Text" }, true],
      ["nights", { _tag: "Number", integer: true }, true],
      ["price", { _tag: "Number", integer: false }, false],
      ["board", { _tag: "Choice", values: ["none", "full"] }, false],
      ["window", { _tag: "Choice", values: [true, false] }, false],
      ["guests", { _tag: "Json" }, false],
      ["either", { _tag: "Json" }, false]
    ])
    for (const other of [true, null, "x", { type: "string" }, { type: "object" }, { type: "object", properties: 1 }]) {
      assert.isUndefined(Form.fieldsOf(other))
    }
  })

  it("says what of an answer does not fit, and nothing of what it cannot read", () => {
    assert.isUndefined(Form.problemOf(schema, { name: "Ada", nights: 2 }))
    assert.include(Form.problemOf(schema, { name: "Ada", nights: 1.5 }), "[\"nights\"]")
    assert.include(Form.problemOf(schema, { name: "Ada" }), "[\"nights\"]")
    for (const unread of [null, "x", { $ref: "elsewhere" }, { if: {} }]) assert.isUndefined(Form.problemOf(unread, 1))
  })
})

describe("untilStopped", () => {
  it.effect("is nothing to a program that another controller answers", () =>
    Effect.gen(function*() {
      const program = TerminalController.untilStopped(Effect.succeed(1)).pipe(
        Effect.provideService(ApprovalController.ApprovalController, ApprovalController.strict)
      )
      assert.strictEqual(yield* program, 1)
    }))
})
