/** Parameters as a text that a person changes. */
import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as Edit from "../../src/internal/call/edit.ts"

describe("an edit", () => {
  it("is JSON, or says why it is none", () => {
    assert.deepStrictEqual(Edit.parse("{\"a\": [1, null]}"), Result.succeed({ a: [1, null] }))
    assert.deepStrictEqual(Edit.parse("{\"a\": 1e400}"), Result.fail("A number is too large for JSON."))
    assert.match(Result.getOrThrow(Result.flip(Edit.parse("{a}"))), /^Invalid JSON: /)
  })

  it("names what it changed, added or took away, where there are names", () => {
    assert.deepStrictEqual(Edit.changed({ a: 1, b: [1], c: 1 }, { a: 1, b: [2], d: 1 }), ["b", "c", "d"])
    assert.isUndefined(Edit.changed([1], { a: 1 }))
    assert.isUndefined(Edit.changed({ a: 1 }, [1]))
  })
})
