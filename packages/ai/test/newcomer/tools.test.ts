/** "I imported Tool from effect/ai", "I wrote a JSON Schema": said where the tool is made, or where it is first given to us. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import * as Upstream from "effect/ai"
import { DeferredTool, Interaction, Tool, Toolkit } from "../../src/index.ts"
import * as Untyped from "./untyped.ts"

const { anything, reasonOf } = Untyped

const fields = { path: Schema.String }

type Make = (name: unknown, options?: unknown) => typeof Untyped.ReadFile
const make = anything<Make>(Tool.make)
const dynamic = anything<Make>(Tool.dynamic)
const deferred = anything<Make>(DeferredTool.make)

/** A tool of effect/ai with plain fields, which only our `Tool.make` takes. */
const theirs = anything<Make>(Upstream.Tool.make)("ReadFile", { parameters: fields, success: Schema.String })

const says =
  /The tool "ReadFile" has an object as its parameters.*Import Tool from @assent\/ai, not from effect\/ai.*Schema\.Struct\(\{/

describe("a Tool of effect/ai with plain fields for its parameters", () => {
  const doors: Record<string, () => unknown> = {
    "Toolkit.make": () => Toolkit.make(theirs),
    "Toolkit.merge": () => Toolkit.merge(Upstream.Toolkit.make(theirs)),
    "Tool.setNeedsApproval": () => Tool.setNeedsApproval(theirs, true)
  }
  for (const [door, open] of Object.entries(doors)) {
    it(`${door} says which import is wrong, and what to write`, () => {
      assert.throws(open, TypeError, says)
    })
  }

  const kit = Upstream.Toolkit.make(theirs)
  for (const [way, turn] of Object.entries(Untyped.ways(anything(kit), "ReadFile"))) {
    it.effect(`in a Toolkit of effect/ai: ${way} says the same before the model is called`, () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(turn)
        assert.strictEqual(reasonOf(error)?._tag, "InvalidToolkit")
        assert.match((error as Error).message, says)
      }).pipe(Effect.provide(kit.toLayer({ ReadFile: () => Effect.succeed("read") }))))
  }
})

describe("an option that asks nobody, because it does not exist", () => {
  for (const option of ["needApproval", "needs_approval", "requireApproval", "requiresConfirmation", "permission"]) {
    it(`${option} is refused, and not ignored`, () => {
      const refusal = new RegExp(
        `^The tool "ReadFile" was given the option "${option}", which does not exist, so nobody`
      )
      assert.throws(() => make("ReadFile", { [option]: true }), TypeError, refusal)
      assert.throws(() => dynamic("ReadFile", { [option]: true }), TypeError, refusal)
      assert.throws(() => deferred("ReadFile", { interactions: {}, [option]: true }), TypeError, refusal)
    })
  }

  it("needsApproval itself is not", () => {
    assert.doesNotThrow(() => make("ReadFile", { needsApproval: true, description: "needs permission" }))
  })
})

describe("options that are no schemas", () => {
  const tools: Record<string, readonly [attempt: () => unknown, says: RegExp]> = {
    "a JSON Schema for parameters": [
      () => make("ReadFile", { parameters: { type: "object", properties: {} } }),
      /"ReadFile" was given a text for the parameter "type", not a schema\. Write parameters: \{ path: Schema\.String \}; a JSON Schema is for Tool\.dynamic\.$/
    ],
    "a type's name for a parameter": [
      () => make("ReadFile", { parameters: { path: "string" } }),
      /"ReadFile" was given a text for the parameter "path", not a schema/
    ],
    "a constructor for a parameter": [
      () => make("ReadFile", { parameters: { path: String } }),
      /a function for the parameter "path", not a schema/
    ],
    "a text for parameters": [
      () => make("ReadFile", { parameters: "path" }),
      /was given a text for its parameters, not a schema/
    ],
    "plain fields for success": [
      () => make("ReadFile", { success: fields }),
      /has an object as its success, not a schema\. Write success: Schema\.Struct\(\{ … \}\)/
    ],
    "plain fields for failure, of a dynamic tool": [
      () => dynamic("ReadFile", { failure: fields }),
      /has an object as its failure, not a schema/
    ],
    "options in the place of the name": [
      () => make({ name: "ReadFile" }),
      /Tool\.make takes a name and then options.*its name is an object/
    ]
  }
  for (const [what, [attempt, says]] of Object.entries(tools)) {
    it(what, () => {
      assert.throws(attempt, TypeError, says)
    })
  }

  it("what is a schema, plain fields, or a JSON Schema of a dynamic tool stays as it was", () => {
    assert.deepStrictEqual(Object.keys(Tool.make("A", { parameters: fields }).parametersSchema.fields), ["path"])
    assert.isTrue(Schema.isSchema(Tool.make("A", { parameters: Schema.Struct(fields) }).parametersSchema))
    assert.isTrue(Tool.isDynamic(Tool.dynamic("A", { parameters: { type: "object" } })))
  })
})

describe("interactions that are none", () => {
  const attempts: Record<string, readonly [interactions: unknown, says: RegExp]> = {
    "none at all": [undefined, /"ReadFile" was given undefined for its interactions\. Write interactions: \{ colour:/],
    "a word": [{ colour: "askUser" }, /was given a text for the interaction "colour"\./],
    "a form without its schema": [{ address: Interaction.form }, /was given a function for the interaction "address"\./]
  }
  for (const [what, [interactions, says]] of Object.entries(attempts)) {
    it(what, () => {
      assert.throws(() => deferred("ReadFile", { interactions }), TypeError, says)
    })
  }

  it("a tool that waits for its agents only has an empty object", () => {
    assert.deepStrictEqual(Object.keys(DeferredTool.make("ReadFile", { interactions: {} }).suspend), [])
  })
})

describe("what is no tool, and what is no toolkit", () => {
  const given: Record<string, unknown> = {
    "a text": "ReadFile",
    "an array": [Untyped.ReadFile],
    "an object": { ReadFile: Untyped.ReadFile },
    "undefined": undefined
  }
  for (const [what, value] of Object.entries(given)) {
    it(`Toolkit.make of ${what}`, () => {
      assert.throws(
        () => Toolkit.make(anything<typeof Untyped.ReadFile>(value)),
        TypeError,
        `Toolkit.make takes tools, one after the other, as in Toolkit.make(DeleteFile, ReadFile); it was given ${what}.`
      )
    })
  }

  for (const [what, value] of Object.entries({ ...given, "a tool": Untyped.ReadFile, "null": null })) {
    if (value === undefined) continue
    for (const [way, turn] of Object.entries(Untyped.ways(anything(value), "ReadFile"))) {
      it.effect(`${what} in the place of a toolkit: ${way}`, () =>
        Effect.gen(function*() {
          const error = yield* Effect.flip(turn)
          assert.strictEqual(reasonOf(error)?._tag, "InvalidToolkit")
          assert.include(
            (error as Error).message,
            `It is ${what}, not a toolkit: give Toolkit.make(DeleteFile, ReadFile).`
          )
        }))
    }
  }
})
