/** What a tool says of itself, on requests: its description, and the order of its parameters. */
import * as Tool from "@assent/ai/Tool"
import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as Said from "../../src/internal/gather/said.ts"

const parameters = { to: Schema.String, cc: Schema.optionalKey(Schema.String), body: Schema.String }

describe("a request says of its tool", () => {
  it("what the tool says it does, escaped, and nothing where it says nothing", () => {
    const Send = Tool.make("Send", { description: "Sends\u001b[2J\nan e-mail.", parameters })
    assert.strictEqual(Said.fields(Send, {}).toolDescription, "Sends\\u001b[2J\nan e-mail.")
    assert.deepStrictEqual(Said.fields(Tool.make("Send", { parameters }), {}), {})
    assert.deepStrictEqual(Said.fields(Tool.make("Send", { description: " ", parameters }), {}), {})
    assert.deepStrictEqual(Said.fields(undefined, { to: "kai" }), {})
  })

  it("the order of its parameters, of those that are given, where it is another one", () => {
    const Send = Tool.make("Send", { parameters })
    assert.deepStrictEqual(Said.fields(Send, { body: "Hi", to: "kai" }), { order: ["to", "body"] })
    assert.deepStrictEqual(Said.fields(Send, { to: "kai" }), {})
    assert.deepStrictEqual(Said.fields(Send, { body: "Hi", other: 1, to: "kai" }), { order: ["to", "body"] })
    assert.deepStrictEqual(Said.fields(Send, ["kai"]), {})
  })

  it("nothing of the order where its schema cannot be written as JSON", () => {
    const Odd = Tool.make("Odd", { parameters: Schema.Struct({ b: Schema.BigInt, a: Schema.String }) })
    assert.doesNotThrow(() => Said.fields(Odd, { a: "x", b: "1" }))
  })
})
