/** How upstream takes a toolkit and what its handlers can reach, and ours with it; and the spans of a call. */
import { assert, describe } from "@effect/vitest"
import { Tool } from "effect/ai"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Play from "./play.ts"

class Desk extends Context.Service<Desk, { readonly name: string }>()("@assent/ai/test/Desk") {}

const Work = Tool.make("Work", { parameters: Schema.Struct({ at: Schema.String }), success: Schema.String })
const Seated = Tool.make("Seated", { success: Schema.String, dependencies: [Desk] })

const content = [Play.call("c", "Work", { at: "once" }), Play.finish("tool-calls")]

describe("toolkits", () => {
  const forms: Record<string, NonNullable<Play.Options["toolkit"]>> = {
    "with its handlers": (resolved) => resolved,
    "as itself": (_, toolkit) => toolkit,
    "as an effect": (resolved) => Effect.delay(Effect.succeed(resolved), 5),
    "made by hand": ({ handle, tools }) => ({ tools, handle })
  }
  for (const [form, toolkit] of Object.entries(forms)) {
    Play.everySide(`a toolkit ${form}`, [...Play.both, "generateObject"], function*(side, method) {
      const played = yield* Play.play(side, {
        method,
        tools: [Work],
        handlers: { Work: ({ at }) => Effect.succeed(`worked ${at}`) },
        content: method === "generateObject" ? [...content, { type: "text", text: "{\"answer\":\"1\"}" }] : content,
        toolkit
      })
      assert.strictEqual(Play.endingOf(played), "success")
      assert.deepStrictEqual(played.results.map(({ result }) => result), ["worked once"])
      assert.deepStrictEqual(played.value, method === "generateObject" ? { answer: 1 } : undefined)
    })
  }

  Play.everySide(
    "a toolkit that is an effect is run once, before the model is asked",
    Play.both,
    function*(side, method) {
      const log: Array<string> = []
      const played = yield* Play.play(side, {
        method,
        tools: [Work],
        content,
        toolkit: (resolved) => Effect.as(Effect.sync(() => log.push("toolkit")), resolved)
      })
      assert.deepStrictEqual(log, ["toolkit"])
      assert.strictEqual(played.requests.length, 1)
    }
  )

  Play.everySide("a toolkit that fails fails the call, and the model is not asked", Play.both, function*(side, method) {
    const played = yield* Play.play(side, {
      method,
      tools: [Work],
      content,
      toolkit: () => Effect.fail({ _tag: "NoToolkit" })
    })
    assert.deepStrictEqual(Play.failureOf(played), { _tag: "NoToolkit" })
    assert.deepStrictEqual(played.requests, [])
  })

  Play.everySide("handlers are given the call's id", Play.both, function*(side, method) {
    const ids: Array<string | undefined> = []
    yield* Play.play(side, {
      method,
      tools: [Work],
      handlers: { Work: (_, { toolCallId }) => Effect.sync(() => (ids.push(toolCallId), "done")) },
      content
    })
    assert.deepStrictEqual(ids, ["c"])
  })

  Play.everySide("a service that a tool depends on is that of the call", Play.both, function*(side, method) {
    const played = yield* Play.play(side, {
      method,
      tools: [Seated],
      handlers: { Seated: () => Effect.map(Desk, (desk) => `at ${desk.name}`) },
      content: [Play.call("c", "Seated"), Play.finish("tool-calls")],
      around: Effect.provideService(Desk, { name: "a desk" })
    })
    assert.deepStrictEqual(played.results.map(({ result }) => result), ["at a desk"])
  })

  Play.everySide("a service that nobody provides is a defect", Play.both, function*(side, method) {
    const played = yield* Play.play(side, {
      method,
      tools: [Seated],
      handlers: { Seated: () => Effect.map(Desk, (desk) => `at ${desk.name}`) },
      content: [Play.call("c", "Seated"), Play.finish("tool-calls")]
    })
    assert.include(JSON.stringify(Play.endingOf(played)), "Service not found: @assent/ai/test/Desk")
  })
})

describe("spans", () => {
  const attributes = { "effect.ai.tool_choice": "auto", "effect.ai.concurrency": 2 }
  const expected = {
    generateText: { ...attributes, "gen_ai.output.type": "text" },
    streamText: { ...attributes, "gen_ai.output.type": "text" },
    generateObject: { ...attributes, "gen_ai.output.type": "json", "effect.ai.object_name": "Answer" }
  }
  Play.everySide(
    "a call has one span, of its method's name",
    ["generateText", "streamText", "generateObject"],
    function*(side, method) {
      const { spans } = yield* Play.play(side, {
        method,
        tools: [Work],
        content: method === "generateObject" ? [{ type: "text", text: "{\"answer\":\"1\"}" }] : [Play.finish("stop")],
        options: { concurrency: 2 },
        around: Effect.withSpan("program")
      })
      assert.deepStrictEqual(spans, [
        { name: "program", parent: undefined, attributes: {}, kind: "internal", failed: false },
        {
          name: `LanguageModel.${method}`,
          parent: "program",
          attributes: expected[method],
          kind: "client",
          failed: false
        }
      ])
    }
  )

  Play.everySide(
    "in a stream a handler's spans belong to the program's, which says what ran",
    ["streamText"],
    function*(side, method) {
      const { spans } = yield* Play.play(side, {
        method,
        tools: [Work],
        handlers: { Work: () => Effect.withSpan(Effect.succeed("done"), "handler") },
        content,
        around: Effect.withSpan("program")
      })
      assert.deepStrictEqual(spans.map(({ name, parent }) => [name, parent]), [
        ["program", undefined],
        ["LanguageModel.streamText", "program"],
        ["handler", "program"]
      ])
      assert.deepStrictEqual(spans[0]!.attributes, { tool: "Work", parameters: { at: "once" } })
    }
  )

  Play.everySide(
    "the span of a call that the model fails is a failed one",
    ["generateText", "generateObject"],
    function*(side, method) {
      const { spans } = yield* Play.play(side, {
        method,
        tools: [Work],
        content: [{ type: "tool-result", id: "p", name: "Nobody", result: 1, isFailure: false }]
      })
      assert.deepStrictEqual(spans.map(({ failed, name }) => [name, failed]), [[`LanguageModel.${method}`, true]])
    }
  )
})
