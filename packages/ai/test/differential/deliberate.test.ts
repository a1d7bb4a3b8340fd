/** Where the design differs from upstream on purpose: what upstream does, what the engine does, and by which law. */
import { assert, describe } from "@effect/vitest"
import { type AiError, Prompt, Tool } from "effect/ai"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Observe from "./observe.ts"
import * as Play from "./play.ts"
import * as Tools from "./tools.ts"

const Work = Tool.make("Work", {
  parameters: Schema.Struct({ millis: Schema.Number, fail: Schema.optionalKey(Schema.Boolean) }),
  success: Schema.String,
  failure: Schema.String
})

const working = () => {
  const log: Array<string> = []
  const Work = (
    { fail, millis }: { millis: number; fail?: boolean },
    { toolCallId }: { toolCallId?: string | undefined }
  ) =>
    Effect.gen(function*() {
      log.push(`start ${toolCallId}`)
      yield* Effect.sleep(millis)
      if (fail === true) return yield* Effect.fail(`failed ${toolCallId}`)
      log.push(`end ${toolCallId}`)
      return "done"
    }).pipe(Effect.onInterrupt(() => Effect.sync(() => log.push(`interrupted ${toolCallId}`))))
  return { log, handlers: { Work } }
}

/** What becomes of a response, and what ran. */
const work = Effect.fnUntraced(function*(...[side, method, content, more]: Play.Told) {
  const { handlers, log } = working()
  const played = yield* Play.play(side, { method, tools: [Work], handlers, content, ...more })
  return { log, played }
})

const slow = Play.call("slow", "Work", { millis: 50 })
const failing = (id: string, millis: number) => Play.call(id, "Work", { millis, fail: true })

describe("deliberate differences", () => {
  Play.everySide("DESIGN §4 a finish in second position: upstream leaves it there, the engine puts it last", [
    "generateText"
  ], function*(side, method) {
    const { played } = yield* work(side, method, [
      Play.text(method, "a"),
      Play.finish("stop"),
      Play.call("c", "Work", { millis: 0 })
    ])
    assert.deepStrictEqual(
      Play.outline(played.parts),
      side.engine ? ["text", "call c", "result c", "finish"] : ["text", "finish", "call c", "result c"]
    )
  })

  Play.everySide(
    "DESIGN §4 a finish in second position of a stream is last, upstream's too",
    ["streamText"],
    function*(side, method) {
      const { played } = yield* work(side, method, [
        Play.text(method, "a"),
        Play.finish("stop"),
        Play.call("c", "Work", { millis: 0 })
      ])
      assert.deepStrictEqual(Play.outline(played.parts), ["text-delta", "call c", "result c", "finish"])
    }
  )

  Play.everySide(
    "L13 an id used twice in one response: upstream keeps both, the engine renames the second",
    Play.both,
    function*(side, method) {
      const { log, played } = yield* work(side, method, [
        Play.call("c", "Work", { millis: 1 }),
        Play.call("c", "Work", { millis: 30 }),
        Play.finish("stop")
      ])
      const [first, second] = side.engine ? ["c", "c_2"] : ["c", "c"]
      const calls = played.parts.filter((part) => part.type === "tool-call")
      assert.deepStrictEqual(calls.map(({ id }) => id), [first, second])
      assert.deepStrictEqual(played.results.map(({ id }) => id), [first, second])
      assert.sameMembers(log.filter((line) => line.startsWith("start")), [`start ${first}`, `start ${second}`])
    }
  )

  Play.everySide(
    "L8 a call that fails the turn: upstream interrupts its siblings, the engine lets them end",
    Play.both,
    function*(side, method) {
      const { log, played } = yield* work(side, method, [slow, failing("quick", 1), Play.finish("tool-calls")])
      assert.strictEqual(Play.failureOf(played), "failed quick")
      assert.deepStrictEqual(
        log.filter((line) => line.endsWith("slow")),
        ["start slow", side.engine ? "end slow" : "interrupted slow"]
      )
      assert.deepStrictEqual(
        Play.outline(played.results),
        side.engine && method === "streamText" ? ["result slow"] : []
      )
    }
  )

  Play.everySide(
    "L8 of several failures upstream raises the first in time, the engine the first in order",
    Play.both,
    function*(side, method) {
      const { played } = yield* work(side, method, [
        failing("late", 50),
        failing("early", 1),
        Play.finish("tool-calls")
      ])
      assert.strictEqual(Play.failureOf(played), side.engine ? "failed late" : "failed early")
    }
  )

  Play.everySide(
    "L4 other ways to write parameters: upstream's part keeps them, under a policy it has the one form",
    Play.both,
    function*(side, method) {
      const played = yield* Play.play(side, {
        method,
        tools: [Tools.Charge],
        handlers: { Charge: ({ amount }) => Effect.succeed({ at: new Date(0), total: BigInt(amount * 2) }) },
        content: [Play.call("c", "Charge", { more: 1, amount: "7.50" }), Play.finish("tool-calls")]
      })
      const [call] = played.parts.filter((part) => part.type === "tool-call")
      assert.deepStrictEqual(call?.params, side.path === "silent" ? { amount: "7.5" } : { more: 1, amount: "7.50" })
      assert.deepStrictEqual(played.results.map(({ encodedResult }) => encodedResult), [
        { at: "1970-01-01T00:00:00.000Z", total: "15" }
      ])
    }
  )

  Play.everySide(
    "DESIGN §1 parameters that do not decode: upstream fails the turn in mode \"error\", the engine gives a failed result",
    Play.both,
    function*(side, method) {
      const { log, played } = yield* work(side, method, [
        Play.call("c", "Work", { millis: "long" }),
        Play.finish("tool-calls")
      ])
      assert.deepStrictEqual(log, [])
      if (!side.engine) {
        assert.strictEqual((Play.failureOf(played) as AiError.AiError).reason._tag, "ToolParameterValidationError")
        return
      }
      assert.deepStrictEqual(played.results.map(({ isFailure, result }) => [isFailure, result]), [[true, {
        type: "execution-interrupted",
        reason: "The parameters of \"Work\" cannot be used: they do not fit the tool's schema. Expected number at" +
          " [\"millis\"]. Nothing ran. Call the tool again with valid parameters."
      }]])
    }
  )

  const answer = { type: "text", text: "{\"answer\":\"42\"}" } as const

  for (const name of Tools.unknownNames) {
    Play.everySide(
      `L8 DESIGN §1 a local call of an unknown tool, ${name}: upstream fails the turn and runs nothing, the engine gives it a failed result and the others run`,
      [...Play.both, "generateObject"],
      function*(side, method) {
        const { handlers, log } = working()
        const calls = [Play.call("u", name, { any: 1 }), Play.call("c", "Work", { millis: 1 })]
        const played = yield* Play.play(side, {
          method,
          tools: [Work],
          handlers,
          content: [...calls, ...(method === "generateObject" ? [answer] : []), Play.finish("tool-calls")]
        })
        if (!side.engine) {
          assert.strictEqual((Play.failureOf(played) as AiError.AiError).reason._tag, "InvalidOutputError")
          assert.deepStrictEqual([played.parts, log], [[], []])
          return
        }
        assert.strictEqual(Play.endingOf(played), "success")
        assert.deepStrictEqual(log, ["start c", "end c"])
        const said = Tools.unknownResult(name, side.path === "gated" ? [Work, Tools.Wipe] : [Work])
        assert.deepStrictEqual(
          played.results.map(({ encodedResult, id, isFailure, name, result }) => [
            id,
            name,
            isFailure,
            result,
            encodedResult
          ]),
          [["u", name, true, said, said], ["c", "Work", false, "done", "done"]]
        )
        assert.deepStrictEqual(
          played.parts.flatMap((part) => part.type === "tool-call" ? [[part.id, part.params]] : []),
          [["u", { any: 1 }], ["c", { millis: 1 }]]
        )
        assert.strictEqual(played.parts.at(-1)?.type, "finish")
        if (method === "generateObject") assert.deepStrictEqual(played.value, { answer: 42 })
      }
    )
  }

  // The engine asks for the calls with deferred validation, which lets any name pass. Whose tool it is only the provider
  // can know: it ran it, and nothing here does.
  Play.everySide(
    "DESIGN §1 an undeclared call of the provider's: upstream refuses it, the engine passes it on",
    Play.both,
    function*(side, method) {
      const played = yield* Play.play(side, {
        method,
        tools: [Work],
        content: [{ ...Play.call("p", "Theirs", { a: 1 }), providerExecuted: true }, Play.finish("stop")]
      })
      if (side.engine) assert.deepStrictEqual(Play.outline(played.parts), ["call p", "finish"])
      else assert.strictEqual((Play.failureOf(played) as AiError.AiError).reason._tag, "InvalidOutputError")
    }
  )

  Play.everySide("DESIGN §1 the provider is told that validation is deferred", Play.both, function*(side, method) {
    const played = yield* Play.play(side, { method, tools: [Work], content: [Play.finish("stop")] })
    assert.strictEqual(played.requests[0]!.toolCallValidation, side.engine ? "deferred" : undefined)
  })

  const Ping = Tool.make("Ping")
  const called = Prompt.assistantMessage({
    content: [Prompt.toolCallPart({ id: "c", name: "Ping", params: {}, providerExecuted: false })]
  })
  const answered = (result: unknown) =>
    Prompt.toolMessage({
      content: [Prompt.toolResultPart({ id: "c", name: "Ping", isFailure: false, result, providerExecuted: false })]
    })
  const sent = Effect.fnUntraced(function*(
    side: Play.Side,
    method: Observe.Method,
    messages: ReadonlyArray<Prompt.Message>
  ) {
    const played = yield* Play.play(side, {
      method,
      tools: [Ping],
      content: [Play.finish("stop")],
      options: { prompt: Prompt.fromMessages(messages) }
    })
    return played.requests[0]!.prompt.content
  })

  // Providers refuse both, and neither says anything.
  Play.everySide(
    "L7 a result that is nothing: upstream sends undefined, ours null",
    Play.both,
    function*(side, method) {
      const messages = yield* sent(side, method, [called, answered(undefined)])
      const [part] = messages[1]!.content as ReadonlyArray<Prompt.ToolResultPart>
      assert.strictEqual(part!.result, side.ours ? null : undefined)
    }
  )

  Play.everySide(
    "L7 a message without content: upstream sends it, ours leaves it out",
    Play.both,
    function*(side, method) {
      const empty = Prompt.assistantMessage({ content: [] })
      const messages = yield* sent(side, method, [called, answered(null), empty])
      assert.strictEqual(messages.length, side.ours ? 2 : 3)
    }
  )

  for (const [finals, expected] of [[0, []], [2, ["final 0", "final 1"]]] as const) {
    Play.everySide(
      `L7 a handler that gives ${finals} final results: upstream emits them all, the engine one`,
      Play.both,
      function*(side, method) {
        const played = yield* Play.play(side, {
          method,
          tools: [Work],
          content: [Play.call("c", "Work", { millis: 0 }), Play.finish("stop")],
          toolkit: ({ tools }) => ({ tools, handle: () => Effect.succeed(Tools.finals(finals)) })
        })
        const results = played.results.map(({ result }) => result)
        if (!side.engine) assert.deepStrictEqual<ReadonlyArray<unknown>>(results, expected)
        else if (finals > 0) assert.deepStrictEqual(results, ["final 1"])
        // A call cannot be left without a result, and none can be made up.
        else assert.include(JSON.stringify(Play.endingOf(played)), "did not produce a final result")
      }
    )
  }
})
