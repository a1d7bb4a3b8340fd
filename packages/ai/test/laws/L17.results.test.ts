/**
 * L17: what a tool gives has a bound on depth and size. What is out of bounds is a failed result which says that the call
 * ran; it is recorded, and told again, as that; and its conversation goes on.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Schema, Stream } from "effect"
import { Approval, ApprovalEvents, type LanguageModel, Prompt, Tool } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import { deep, levelsOf, nested, whole, writable } from "./bounds.ts"
import * as Support from "./support.ts"

const schemas = { "any value": Schema.Unknown, "JSON": Schema.Json } as const

const toolOf = (success: Schema.Codec<unknown, unknown>, needsApproval: boolean) =>
  Tool.make("Fetch", { parameters: { url: Schema.String }, success, needsApproval })

interface Case {
  readonly result: unknown
  readonly reason: RegExp
  readonly approval?: LanguageModel.ApprovalOptions
}

const ran = /^The call ran, but its result is .*Do not repeat it as it was: ask for less/

const cases: Record<string, Case> = {
  "6,000 levels": { result: deep, reason: /nested deeper than 512 levels/ },
  "513 levels": { result: nested(513), reason: /nested deeper than 512 levels/ },
  "more than 10 MiB": { result: { text: "x".repeat(10_485_760) }, reason: /larger than 10 MiB \(10,485,760 bytes\)/ },
  "more than the program wants": {
    result: whole(2_049),
    reason: /larger than 2,048 bytes as JSON/,
    approval: { maxResultSize: "2 KiB" }
  }
}

const call = Support.call("c1", "Fetch", { url: "https://example.com" })

const run = Effect.fnUntraced(function*(
  mode: Support.Mode,
  tool: Tool.Any,
  handler: () => Effect.Effect<unknown, unknown>,
  approval?: LanguageModel.ApprovalOptions
) {
  const tools = yield* Support.makeTools([tool], { Fetch: handler })
  const script = yield* ScriptedModel.make({ turns: [[call]], afterLastTurn: "done" })
  const chat = yield* Support.converse(mode, { model: script.model, toolkit: tools.toolkit, approval })
  const asked = yield* chat.take("Fetch it.")
  const answers = asked.requests.map((request) => Approval.approve(request))
  const turn = answers.length === 0 ? asked : yield* chat.take(Support.answers(...answers))
  return { answers, chat, script, tools, turn }
})

for (const gated of [true, false]) {
  describe(`L17 results of ${gated ? "approved calls" : "calls that need nobody"}`, () => {
    for (const [what, { approval, reason, result }] of Object.entries(cases)) {
      for (const [kind, schema] of Object.entries(schemas)) {
        Support.forEachMode(
          `L17 ${what} as ${kind}: a failed result that says it ran, and the turns go on`,
          function*(mode) {
            const tool = toolOf(schema, gated)
            const { answers, chat, script, tools, turn } = yield* run(
              mode,
              tool,
              () => Effect.succeed(result),
              approval
            )
            assert.strictEqual(tools.count("Fetch"), 1)
            assert.match(Support.failureReason(turn.results[0]), reason)
            assert.match(Support.failureReason(turn.results[0]), ran)
            assert.isBelow(levelsOf(yield* writable(turn.history)), 32)
            // The same answer again is told the same, and nothing runs.
            const again = yield* chat.take(answers.length === 0 ? "And?" : Support.answers(...answers))
            assert.strictEqual(tools.count("Fetch"), 1)
            assert.isBelow((yield* writable(again.history)).length, 10_000)
            const told = (yield* Support.sentResults(script))[0]
            assert.match(Support.failureReason(told), reason)
          }
        )
      }
    }

    Support.forEachMode("L17 512 levels and 10 MiB to the byte are kept as they are", function*(mode) {
      for (const result of [nested(512), whole(10_485_760)]) {
        const { turn } = yield* run(mode, toolOf(Schema.Unknown, gated), () => Effect.succeed(result))
        assert.isTrue(
          turn.results[0]?.isFailure === false && turn.results[0].encodedResult === turn.results[0].result ||
            JSON.stringify(turn.results[0]?.encodedResult) === JSON.stringify(result)
        )
        yield* writable(turn.history)
      }
    })

    Support.forEachMode("L17 what a tool fails with has the same bound", function*(mode) {
      const tool = Tool.make("Fetch", {
        parameters: { url: Schema.String },
        failure: Schema.Unknown,
        failureMode: "return",
        needsApproval: gated
      })
      const { turn } = yield* run(mode, tool, () => Effect.fail(deep))
      assert.match(
        Support.failureReason(turn.results[0]),
        /^The call failed, and what it says of that is nested deeper/
      )
      yield* writable(turn.history)
    })

    Support.forEachMode(
      "L17 what comes before the end of a call is left out where it is out of bounds, and the rest is not",
      function*(mode) {
        const tool = toolOf(Schema.Unknown, gated)
        const tools = yield* Support.makeTools([tool], {
          Fetch: (_, context) =>
            Effect.gen(function*() {
              for (const said of ["first", deep, "third"]) yield* context.preliminary(said)
              return "last"
            })
        })
        const { model } = yield* ScriptedModel.make({ turns: [[call]], afterLastTurn: "done" })
        const chat = yield* Support.converse(mode, { model, toolkit: tools.toolkit })
        const events = yield* ApprovalEvents.make()
        const told: Array<string> = []
        yield* Effect.forkScoped(
          Stream.runForEach(yield* events.subscribe, ({ _tag }) => Effect.sync(() => void told.push(_tag)))
        )
        const turn = yield* Effect.gen(function*() {
          const asked = yield* chat.take("Fetch it.")
          return gated
            ? yield* chat.take(Support.answers(...asked.requests.map((request) => Approval.approve(request))))
            : asked
        }).pipe(Effect.provideService(ApprovalEvents.ApprovalEvents, events))
        yield* Support.idle
        assert.lengthOf(told.filter((tag) => tag === "PreliminaryLeftOut"), 1)
        const results = turn.parts.filter((part) => part.type === "tool-result").map((part) => part.encodedResult)
        assert.deepStrictEqual(results, ["first", "third", "last"])
      },
      ["streamText", "Chat.streamText"]
    )

    Support.forEachMode("L17 what a tool writes for the model has the same bound", function*(mode) {
      const tool = Tool.make("Fetch", {
        parameters: { url: Schema.String },
        success: Schema.String,
        needsApproval: gated,
        toModelOutput: () => [Prompt.textPart({ text: whole(3_000) })]
      })
      const { turn } = yield* run(mode, tool, () => Effect.succeed("short"), { maxResultSize: 2_048 })
      assert.match(Support.failureReason(turn.results[0]), ran)
      assert.notProperty(turn.results[0], "modelOutput")
    })
  })
}

describe("L17 results", () => {
  Support.forEachMode("L17 may be as large as they are, where a program says so", function*(mode) {
    const tool = Tool.make("Fetch", { parameters: { url: Schema.String }, success: Schema.String })
    const { turn } = yield* run(mode, tool, () => Effect.succeed("all"), { maxResultSize: Infinity })
    assert.deepStrictEqual(turn.results.map(({ result }) => result), ["all"])
  }, ["generateText", "streamText"])

  it.effect("L17 an event tells of a result that was left out, beside the one that it ran", () =>
    Support.fresh(Effect.gen(function*() {
      const events = yield* ApprovalEvents.make()
      const seen: Array<string> = []
      const reading = yield* Effect.forkScoped(
        Stream.runForEach(yield* events.subscribe, (event) =>
          Effect.sync(() => {
            if (event._tag === "ResultLeftOut") seen.push(`${event._tag} ${event.toolCallId} ${event.problem}`)
            if (event._tag === "Changed") seen.push(`${event._tag} ${event.state}`)
          }))
      )
      yield* run("generateText", toolOf(Schema.Unknown, true), () => Effect.succeed(deep)).pipe(
        Effect.provideService(ApprovalEvents.ApprovalEvents, events)
      )
      yield* Support.idle
      yield* Fiber.interrupt(reading)
      assert.deepStrictEqual(seen, ["Changed running", "ResultLeftOut c1 depth", "Changed failed"])
    })))
})
