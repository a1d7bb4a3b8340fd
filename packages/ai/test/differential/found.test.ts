/**
 * What the differential test found: faults of ours, which were fixed, and differences that neither the design nor a law
 * asks for, each with the reason why it stays.
 */
import { assert, describe } from "@effect/vitest"
import { IdGenerator, Telemetry, Tool } from "effect/ai"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Play from "./play.ts"
import * as Tools from "./tools.ts"

const Work = Tool.make("Work", { parameters: Schema.Struct({ millis: Schema.Number }), success: Schema.String })

const work = { Work: ({ millis }: { readonly millis: number }) => Effect.as(Effect.sleep(millis), `${millis} ms`) }

describe("found, and fixed", () => {
  Play.everySide("nothing of a chunk that is refused is emitted", ["streamText"], function*(side, method) {
    const played = yield* Play.play(side, {
      method,
      tools: [Tools.WebSearch],
      content: [Play.text(method, "a"), Play.undecodable("p"), Play.finish("tool-calls")]
    })
    assert.isDefined(Play.failureOf(played))
    assert.deepStrictEqual(Play.outline(played.parts), ["text-delta"])
  })

  Play.everySide(
    "of several finishes one that is incomplete is enough for nothing to run",
    Play.both,
    function*(side, method) {
      let runs = 0
      const played = yield* Play.play(side, {
        method,
        tools: [Work],
        handlers: { Work: () => Effect.sync(() => `run ${++runs}`) },
        content: [Play.call("c", "Work", { millis: 0 }), Play.finish("length"), Play.finish("stop")]
      })
      assert.deepStrictEqual(Play.outline(played.results), ["failure c"])
      assert.strictEqual(runs, 0)
    }
  )

  Play.everySide(
    "a handler's spans belong to the model's span, which says what ran",
    ["generateText"],
    function*(side, method) {
      const { spans } = yield* Play.play(side, {
        method,
        tools: [Work],
        handlers: { Work: () => Effect.withSpan(Effect.succeed("done"), "handler") },
        content: [Play.call("c", "Work", { millis: 0 }), Play.finish("stop")],
        around: (effect) => Effect.withSpan(effect, "program")
      })
      assert.deepStrictEqual(spans.map(({ name, parent }) => [name, parent]), [
        ["program", undefined],
        ["LanguageModel.generateText", "program"],
        ["handler", "LanguageModel.generateText"]
      ])
      assert.deepStrictEqual(spans[0]!.attributes, {})
      assert.deepInclude(spans[1]!.attributes, { tool: "Work", parameters: { millis: 0 } })
    }
  )

  Play.everySide("a handler that dies: the span of the model fails with it", ["generateText"], function*(side, method) {
    const { spans } = yield* Play.play(side, {
      method,
      tools: [Work],
      handlers: { Work: () => Effect.die(new Error("defect")) },
      content: [Play.call("c", "Work", { millis: 0 }), Play.finish("stop")]
    })
    assert.deepStrictEqual(spans.map(({ failed, name }) => [name, failed]), [["LanguageModel.generateText", true]])
  })

  Play.everySide("telemetry sees the results of the turn", [...Play.both, "generateObject"], function*(side, method) {
    const seen: Array<string> = []
    yield* Play.play(side, {
      method,
      tools: [Work],
      handlers: work,
      content: [
        Play.call("c", "Work", { millis: 0 }),
        ...(method === "generateObject" ? [{ type: "text", text: "{\"answer\":\"1\"}" } as const] : []),
        Play.finish("tool-calls")
      ],
      around: Effect.provideService(Telemetry.CurrentSpanTransformer, ({ response }) => {
        seen.push(...Play.outline(response as never).toSorted())
      })
    })
    assert.includeMembers(seen, ["call c", "finish", "result c"])
  })
})

describe("found, and kept", () => {
  Play.everySide(
    "results of a whole response: upstream gives them as they complete, the engine in the order of the calls, so that one conversation is one prompt",
    ["generateText", "generateObject"],
    function*(side, method) {
      const played = yield* Play.play(side, {
        method,
        tools: [Work],
        handlers: work,
        content: [
          Play.call("slow", "Work", { millis: 20 }),
          Play.call("quick", "Work", { millis: 10 }),
          ...(method === "generateObject" ? [{ type: "text", text: "{\"answer\":\"1\"}" } as const] : []),
          Play.finish("tool-calls")
        ]
      })
      assert.deepStrictEqual(
        played.results.map((part) => part.id),
        side.engine ? ["slow", "quick"] : ["quick", "slow"]
      )
    }
  )

  Play.everySide(
    "a call the provider ran, with parameters that do not decode: upstream refuses the response, the engine passes what has run already",
    Play.both,
    function*(side, method) {
      const played = yield* Play.play(side, {
        method,
        tools: [Tools.WebSearch],
        content: [
          { ...Play.call("p", "WebSearch", { query: "cats", top: "many" }), providerExecuted: true },
          Play.finish("stop")
        ]
      })
      if (side.engine) return assert.deepStrictEqual(Play.outline(played.parts), ["call p", "finish"])
      const failure = Play.failureOf(played)
      assert.isTrue(failure instanceof Error, "the turn fails")
      assert.include((failure as Error).message, "Expected a finite number")
    }
  )

  Play.everySide(
    "a toolkit that is an effect: upstream runs it in the span of the call, we before it, to see its tools",
    ["generateText"],
    function*(side, method) {
      const { spans } = yield* Play.play(side, {
        method,
        tools: [Work],
        content: [Play.finish("stop")],
        toolkit: (resolved) => Effect.withSpan(Effect.succeed(resolved), "toolkit")
      })
      assert.deepStrictEqual(
        spans.map(({ name, parent }) => [name, parent]),
        side.ours
          ? [["toolkit", undefined], ["LanguageModel.generateText", undefined]]
          : [["LanguageModel.generateText", undefined], ["toolkit", "LanguageModel.generateText"]]
      )
    }
  )

  Play.everySide(
    "a handler finds the model's id generator, which no type promises; under the engine, it does not",
    Play.both,
    function*(side, method) {
      const found: Array<boolean> = []
      yield* Play.play(side, {
        method,
        tools: [Work],
        handlers: {
          Work: () =>
            Effect.map(Effect.serviceOption(IdGenerator.IdGenerator), (generator) => {
              found.push(Option.isSome(generator))
              return "done"
            })
        },
        content: [Play.call("c", "Work", { millis: 0 }), Play.finish("stop")]
      })
      assert.deepStrictEqual(found, [!side.engine])
    }
  )
})
