/** What a form asks for. */
import { assert, describe, it } from "@effect/vitest"
import * as Form from "../../src/internal/waiting/form.ts"

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
