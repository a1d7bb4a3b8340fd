/** What a form asks for, and what of it does not fit. */
import * as Approval from "@assent/ai/Approval"
import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as Answers from "../../src/internal/waiting/answers.ts"
import * as Fields from "../../src/internal/waiting/fields.ts"
import * as Requests from "../scene/requests.ts"

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
      either: { anyOf: [{ type: "number" }, { type: "string" }] },
      odd: { anyOf: [{ type: "number" }, { enum: 1 }] }
    },
    required: ["name", "nights"]
  }

  it("asks for each field in its own way, and for JSON where it knows none", () => {
    assert.deepStrictEqual(Fields.fieldsOf(schema)!.map(({ kind, name, required }) => [name, kind, required]), [
      ["name", { _tag: "Text" }, true],
      ["nights", { _tag: "Number", integer: true }, true],
      ["price", { _tag: "Number", integer: false }, false],
      ["board", { _tag: "Choice", values: ["none", "full"] }, false],
      ["window", { _tag: "Choice", values: [true, false] }, false],
      ["guests", { _tag: "Json" }, false],
      ["either", { _tag: "Json" }, false],
      ["odd", { _tag: "Json" }, false]
    ])
    for (const other of [true, null, "x", { type: "string" }, { type: "object" }, { type: "object", properties: 1 }]) {
      assert.isUndefined(Fields.fieldsOf(other))
    }
  })

  it("is asked for as a whole where its schema has no fields", () => {
    for (const answerSchema of [{ type: "string" }, { type: "object", properties: {} }]) {
      const awaited = new Approval.Awaited({ name: "any", kind: "form", prompt: "What?", answerSchema })
      const asked = { request: Requests.form, awaited, editor: undefined, now: Requests.now }
      assert.isDefined(Answers.scene(asked)?.input)
    }
  })

  it("says what of an answer does not fit, and nothing of what it cannot read", () => {
    assert.isUndefined(Fields.problemOf(schema, { name: "Ada", nights: 2 }))
    assert.include(Fields.problemOf(schema, { name: "Ada", nights: 1.5 }), "[\"nights\"]")
    assert.include(Fields.problemOf(schema, { name: "Ada" }), "[\"nights\"]")
    for (const unread of [null, "x", { $ref: "elsewhere" }, { if: {} }]) assert.isUndefined(Fields.problemOf(unread, 1))
  })

  it("says of each field what is wrong with what was typed, and takes nothing for what may be left out", () => {
    const [name, nights, price, board, window, guests] = Fields.fieldsOf(schema)!
    const of = (field: Fields.Field | undefined, text: string, chosen?: number) =>
      Fields.valueOf(field!, { text, chosen })
    assert.deepStrictEqual(of(name, ""), Result.succeed(""))
    assert.deepStrictEqual(of(nights, "2"), Result.succeed(2))
    for (const wrong of ["", "x", "1.5", "1e999"]) {
      assert.deepStrictEqual(of(nights, wrong), Result.fail("a whole number, such as 2"))
    }
    assert.deepStrictEqual(of(price, "1e999"), Result.fail("a number, such as 2.5"))
    assert.deepStrictEqual(of(price, ""), Result.succeed(undefined))
    assert.deepStrictEqual(of(board, "", 1), Result.succeed("full"))
    assert.deepStrictEqual(of(board, ""), Result.succeed(undefined))
    assert.deepStrictEqual(of({ ...window!, required: true }, ""), Result.fail("choose one by ←→"))
    assert.deepStrictEqual(of(guests, "[\"ada\"]"), Result.succeed(["ada"]))
    assert.isTrue(Result.isFailure(of(guests, "[1]")))
    assert.isTrue(Result.isFailure(of(guests, "[")))
  })
})
