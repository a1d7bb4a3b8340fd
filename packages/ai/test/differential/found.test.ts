/**
 * Differences that the differential test found and that neither the design nor a law asks for. Each example says what
 * upstream does; the ones of our engine fail until `src` is mended or the design says why.
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

describe("found", () => {
  Play.everySide(
    "results of a whole response come in the order of completion",
    ["generateText", "generateObject"],
    (side, method) =>
      Effect.gen(function*() {
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
        assert.deepStrictEqual(played.results.map((part) => part.id), ["quick", "slow"])
      })
  )

  Play.everySide(
    "a call of an unknown tool is refused in upstream's words",
    Play.both,
    (side, method) =>
      Effect.gen(function*() {
        const played = yield* Play.play(side, {
          method,
          tools: [Work],
          content: [Play.call("u", "Missing"), Play.finish("tool-calls")]
        })
        const { message } = Play.failureOf(played) as Error
        assert.isTrue(message.startsWith(`LanguageModel.${method}: Invalid output: Expected {`), message)
      })
  )

  Play.everySide(
    "nothing of a chunk that is refused is emitted",
    ["streamText"],
    (side, method) =>
      Effect.gen(function*() {
        const played = yield* Play.play(side, {
          method,
          tools: [Work],
          content: [Play.text(method, "a"), Play.call("u", "Missing"), Play.finish("tool-calls")]
        })
        assert.deepStrictEqual(Play.outline(played.parts), ["text-delta"])
      })
  )

  Play.everySide(
    "a call the provider ran is refused if its parameters do not decode",
    Play.both,
    (side, method) =>
      Effect.gen(function*() {
        const played = yield* Play.play(side, {
          method,
          tools: [Tools.WebSearch],
          content: [
            { ...Play.call("p", "WebSearch", { query: "cats", top: "many" }), providerExecuted: true },
            Play.finish("stop")
          ]
        })
        const failure = Play.failureOf(played)
        assert.isTrue(failure instanceof Error, "the turn fails")
        assert.include((failure as Error).message, "Expected a finite number")
      })
  )

  Play.everySide(
    "of several finishes one that is incomplete is enough for nothing to run",
    Play.both,
    (side, method) =>
      Effect.gen(function*() {
        let runs = 0
        const played = yield* Play.play(side, {
          method,
          tools: [Work],
          handlers: { Work: () => Effect.sync(() => `run ${++runs}`) },
          content: [Play.call("c", "Work", { millis: 0 }), Play.finish("length"), Play.finish("stop")]
        })
        assert.deepStrictEqual(Play.outline(played.results), ["failure c"])
        assert.strictEqual(runs, 0)
      })
  )

  Play.everySide(
    "a handler's spans belong to the call's span, which says what ran",
    ["generateText"],
    (side, method) =>
      Effect.gen(function*() {
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
      })
  )

  Play.everySide(
    "the span of a turn that a handler fails is a failed one",
    ["generateText"],
    (side, method) =>
      Effect.gen(function*() {
        const { spans } = yield* Play.play(side, {
          method,
          tools: [Work],
          handlers: { Work: () => Effect.die(new Error("defect")) },
          content: [Play.call("c", "Work", { millis: 0 }), Play.finish("stop")]
        })
        assert.deepStrictEqual(spans.map(({ failed, name }) => [name, failed]), [["LanguageModel.generateText", true]])
      })
  )

  Play.everySide(
    "a toolkit that is an effect is run in the span of the call",
    ["generateText"],
    (side, method) =>
      Effect.gen(function*() {
        const { spans } = yield* Play.play(side, {
          method,
          tools: [Work],
          content: [Play.finish("stop")],
          toolkit: (resolved) => Effect.withSpan(Effect.succeed(resolved), "toolkit")
        })
        assert.deepStrictEqual(spans.map(({ name, parent }) => [name, parent]), [
          ["LanguageModel.generateText", undefined],
          ["toolkit", "LanguageModel.generateText"]
        ])
      })
  )

  Play.everySide("a handler finds the model's id generator", Play.both, (side, method) =>
    Effect.gen(function*() {
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
      assert.deepStrictEqual(found, [true])
    }))

  Play.everySide(
    "telemetry sees the results of the turn",
    [...Play.both, "generateObject"],
    (side, method) =>
      Effect.gen(function*() {
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
  )
})
