/**
 * L8 where nothing is gated: a call that the model got wrong, by its tool's name or by its parameters, is a failed result
 * that it can fix. The turn goes on, and the other calls run.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { Conversation, ConversationStore, LanguageModel, Tool, Toolkit } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as C from "./conversation.ts"
import * as Support from "./support.ts"

const parameters = { path: Schema.String, depth: Schema.optionalKey(Schema.Int.check(Schema.isLessThan(9))) }

const Read = Tool.make("Read", { parameters, success: Schema.String })
const Dynamic = Tool.dynamic("Dynamic", { parameters: Schema.Struct(parameters), success: Schema.String })
const Shell = Tool.providerDefined({
  id: "provider.shell",
  customName: "Shell",
  providerName: "shell",
  requiresHandler: true,
  parameters: Schema.Struct(parameters),
  success: Schema.String
})({})
const Gated = Tool.make("Gated", { parameters, success: Schema.String, needsApproval: true })
const Search = Tool.providerDefined({
  id: "provider.search",
  customName: "Search",
  providerName: "search",
  parameters: Schema.Struct({}),
  success: Schema.String
})()

const tools = [Read, Dynamic, Shell] as ReadonlyArray<Tool.Any>

const right = Support.call("right", "Read", { path: "a" })

const unknown = (names: string) =>
  `The tool "Write" is not in the toolkit. Nothing ran. Call one of the available tools: ${names}.`

const unfit = (name: string, problem: string) =>
  `The parameters of "${name}" cannot be used: they do not fit the tool's schema. ${problem}. Nothing ran. Call the tool` +
  " again with valid parameters."

const wrong: Record<string, readonly [params: unknown, problem: string]> = {
  "a field that is missing": [{}, "Missing key at [\"path\"]"],
  "a field of another type": [{ path: 12 }, "Expected string at [\"path\"]"],
  "a field out of bounds": [{ path: "a", depth: 12 }, "Expected a value less than 9 at [\"depth\"]"],
  "no object": ["a", "Expected object"]
}

const take = (mode: Support.Mode, kit: Support.Tools, calls: ReadonlyArray<ScriptedModel.TurnPart>) =>
  Effect.gen(function*() {
    const script = yield* ScriptedModel.make({ turns: [calls], afterLastTurn: "done" })
    const chat = yield* Support.converse(mode, { model: script.model, toolkit: kit.toolkit })
    const turn = yield* chat.take("Go on.")
    const results = new Map(turn.results.map((result) => [result.id, result]))
    assert.strictEqual((yield* chat.take()).text, "done")
    const sent = yield* Support.sentResults(script)
    assert.deepStrictEqual(sent.map(({ id }) => id).toSorted(), [...results.keys()].toSorted())
    return (id: string) => Support.failureReason(results.get(id))
  })

describe("L8 a call that the model got wrong, where nothing is gated", () => {
  Support.forEachMode("L8 an unknown tool: one sentence names those there are", function*(mode) {
    const kit = yield* Support.makeTools([...tools, Search])
    const said = yield* take(mode, kit, [Support.call("u", "Write", { path: "a" }), right])
    assert.deepStrictEqual([said("u"), kit.count("Read")], [unknown("Read, Dynamic, Shell"), 1])
  })

  Support.forEachMode("L8 an unknown tool, where there is none to call: it says so", function*(mode) {
    const said = yield* take(mode, yield* Support.makeTools([Search]), [Support.call("u", "Write", {})])
    assert.strictEqual(said("u"), "The tool \"Write\" is not in the toolkit. Nothing ran. There are no tools to call.")
  })

  Support.forEachMode("L8 L17 of many tools some are named, and how many there are", function*(mode) {
    const many = Array.from({ length: 500 }, (_, index) => Tool.make(`Tool${index}${"x".repeat(100)}`))
    const said = yield* take(mode, yield* Support.makeTools(many), [Support.call("u", "Write".repeat(500), {})])
    assert.isBelow(said("u").length, 1_800)
    assert.match(said("u"), /Tool19x+, and 480 more\.$/)
  })

  for (const { name } of [...tools, Gated]) {
    Support.forEachMode(`L8 parameters that do not fit ${name}: which, and what was expected`, function*(mode) {
      const kit = yield* Support.makeTools(name === "Gated" ? [...tools, Gated] : tools)
      const calls = Object.values(wrong).map(([params], index) => Support.call(`w${index}`, name, params))
      const said = yield* take(mode, kit, [...calls.slice(0, 2), right, ...calls.slice(2)])
      assert.deepStrictEqual(
        calls.map((_, index) => said(`w${index}`)),
        Object.values(wrong).map(([, problem]) => unfit(name, problem))
      )
      assert.deepStrictEqual(kit.runs, [{ name: "Read", params: { path: "a" } }])
    })
  }

  Support.forEachMode("L8 L15 what was expected is cut, and nothing of what was written is said", function*(mode) {
    const Choose = Tool.make("Choose", {
      parameters: { one: Schema.Literals(Array.from({ length: 500 }, (_, index) => `choice ${index}`)) },
      success: Schema.String
    })
    const kit = yield* Support.makeTools([Choose])
    const said = yield* take(mode, kit, [Support.call("w", "Choose", { one: "a secret" })])
    assert.isBelow(said("w").length, 600)
    assert.notInclude(said("w"), "a secret")
  })

  it.effect("L8 in a stream, however it comes in chunks, what is right runs", () =>
    C.fresh(Effect.gen(function*() {
      for (const joined of [true, false]) {
        const kit = yield* Support.makeTools(tools)
        const calls = [Support.call("u", "Write", {}), right, Support.call("w", "Read", {})]
        const script = yield* ScriptedModel.make({ turns: [joined ? [ScriptedModel.chunk(calls as never)] : calls] })
        const turn = yield* Support.takeTurn("streamText", { model: script.model, toolkit: kit.toolkit, prompt: "Go." })
        assert.deepStrictEqual(turn.results.map(({ id, isFailure }) => [id, isFailure]).toSorted(), [
          ["right", false],
          ["u", true],
          ["w", true]
        ])
      }
    })))

  it.effect("L8 beside an object, the object is given", () =>
    C.fresh(Effect.gen(function*() {
      const kit = yield* Support.makeTools(tools)
      const script = yield* ScriptedModel.make({
        turns: [[Support.call("u", "Write", {}), Support.call("w", "Read", {}), right, ScriptedModel.text(`{"n":2}`)]]
      })
      const { content, value } = yield* LanguageModel.generateObject({
        prompt: "Count.",
        toolkit: kit.toolkit,
        schema: Schema.Struct({ n: Schema.Number })
      }).pipe(Effect.provideService(LanguageModel.LanguageModel, script.model))
      assert.deepStrictEqual([value, kit.count("Read")], [{ n: 2 }, 1])
      const results = content.flatMap((part) => part.type === "tool-result" ? [[part.id, part.isFailure]] : [])
      assert.deepStrictEqual(results, [["u", true], ["w", true], ["right", false]])
    })))

  it.effect("L8 in a conversation, the model goes on by itself", () =>
    C.fresh(Effect.gen(function*() {
      const script = yield* ScriptedModel.make({
        turns: [[Support.call("u", "Write", {}), Support.call("w", "Read", {})], [right], "done"]
      })
      const toolkit = Toolkit.make(Read)
      const conversation = yield* Conversation.make({ id: "ungated", toolkit }).pipe(
        Effect.provideService(LanguageModel.LanguageModel, script.model),
        Effect.provide([ConversationStore.layerMemory(), toolkit.toLayer({ Read: ({ path }) => Effect.succeed(path) })])
      )
      const outcome = yield* conversation.send("Read.")
      assert.deepInclude(outcome, { _tag: "Completed", text: "done" })
      const sent = yield* Support.sentResults(script)
      assert.deepStrictEqual(sent.map(({ id, isFailure }) => [id, isFailure]), [
        ["u", true],
        ["w", true],
        ["right", false]
      ])
    })))
})
