/** What upstream makes of what handlers do, and ours with it: results, preliminary and final, and failures of any kind. */
import { assert, describe } from "@effect/vitest"
import { AiError, Prompt, Tool } from "effect/ai"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Play from "./play.ts"

const Progress = Tool.make("Progress", {
  parameters: Schema.Struct({ steps: Schema.FiniteFromString }),
  success: Schema.Struct({ at: Schema.FiniteFromString })
})

const progress = {
  Progress: ({ steps }: { readonly steps: number }, context: { preliminary: (_: unknown) => Effect.Effect<void> }) =>
    Effect.gen(function*() {
      for (let step = 1; step <= steps; step++) {
        yield* context.preliminary({ at: step })
        yield* Effect.sleep(2)
      }
      return { at: 100 }
    })
}

const fields = {
  parameters: Schema.Struct({ amount: Schema.FiniteFromString }),
  success: Schema.Struct({ total: Schema.BigIntFromString }),
  failure: Schema.Struct({ reason: Schema.String, code: Schema.FiniteFromString })
}

const Strict = Tool.make("Strict", fields)
const Lenient = Tool.make("Lenient", { ...fields, failureMode: "return" })

const decodeNumber = Schema.decodeUnknownEffect(Schema.Number)

/** What a handler does, what it becomes where failures fail the turn, and where they are returned. */
const failures = {
  "a failure of its own": {
    handler: () => Effect.fail({ reason: "no", code: 7 }),
    thrown: { failed: { reason: "no", code: 7 }, message: undefined, origin: "handler" },
    returned: { reason: "no", code: "7" }
  },
  "a reason of an `AiError`": {
    handler: () => Effect.fail(new AiError.UnknownError({ description: "who knows" })),
    thrown: { reason: "UnknownError", message: "Toolkit.Strict.handle: who knows", origin: "handler" },
    returned: {
      _tag: "AiError",
      module: "Toolkit",
      method: "Lenient.handle",
      reason: { _tag: "UnknownError", description: "who knows", metadata: {} }
    }
  },
  "a schema error": {
    handler: () => decodeNumber("x"),
    thrown: {
      reason: "InvalidToolResultError",
      message: "Toolkit.Strict.handle: Tool 'Strict' returned invalid result: " +
        "Tool handler returned invalid result: Expected number",
      origin: "result"
    },
    returned: {
      _tag: "AiError",
      module: "Toolkit",
      method: "Lenient.handle",
      reason: {
        _tag: "InvalidToolResultError",
        toolName: "Lenient",
        description: "Tool handler returned invalid result: Expected number"
      }
    }
  }
} as const

const thrownOf = (played: Play.Played): unknown => {
  const [ending] = Play.endingOf(played) as ReadonlyArray<{ failed: unknown; message: unknown; origin: unknown }>
  const { failed, message, origin } = ending!
  return AiError.isAiError(failed) ? { reason: failed.reason._tag, message, origin } : { failed, message, origin }
}

describe("results of handlers", () => {
  Play.everySide(
    "preliminary results come before the final one, as they come",
    ["streamText"],
    function*(side, method) {
      const played = yield* Play.play(side, {
        method,
        tools: [Progress],
        handlers: progress,
        content: [Play.call("c", "Progress", { steps: "2" }), Play.text(method, "a"), Play.finish("tool-calls")]
      })
      assert.deepStrictEqual(Play.outline(played.parts), [
        "call c",
        "text-delta",
        "preliminary c",
        "preliminary c",
        "result c",
        "finish"
      ])
      // The call came at 11; the chunk after it, at 21, starts the handler.
      assert.deepStrictEqual(played.emitted.map(({ at }) => at), [11, 21, 21, 23, 25, 41])
      assert.deepStrictEqual(
        played.results.map(({ encodedResult, result }) => [result, encodedResult]),
        [1, 2, 100].map((at) => [{ at }, { at: String(at) }])
      )
    }
  )

  Play.everySide("a whole response holds final results only", ["generateText"], function*(side, method) {
    const played = yield* Play.play(side, {
      method,
      tools: [Progress],
      handlers: progress,
      content: [Play.call("c", "Progress", { steps: "2" }), Play.finish("tool-calls")]
    })
    assert.deepStrictEqual(
      played.results.map((part) => [part.id, part.preliminary, part.providerExecuted, part.result]),
      [["c", false, false, { at: 100 }]]
    )
  })

  for (const [title, { handler, returned, thrown }] of Object.entries(failures)) {
    Play.everySide(`failure mode "error": ${title} fails the turn`, Play.both, function*(side, method) {
      const played = yield* Play.play(side, {
        method,
        tools: [Strict],
        handlers: { Strict: handler },
        content: [Play.call("c", "Strict", { amount: "1" }), Play.finish("tool-calls")]
      })
      assert.deepStrictEqual(thrownOf(played), thrown)
    })

    Play.everySide(`failure mode "return": ${title} is a failed result`, Play.both, function*(side, method) {
      const played = yield* Play.play(side, {
        method,
        tools: [Lenient],
        handlers: { Lenient: handler },
        content: [Play.call("c", "Lenient", { amount: "1" }), Play.finish("tool-calls")]
      })
      assert.strictEqual(Play.endingOf(played), "success")
      assert.deepStrictEqual(
        played.results.map(({ encodedResult, isFailure, preliminary }) => [isFailure, preliminary, encodedResult]),
        [[true, false, returned]]
      )
    })
  }

  for (const tool of [Strict, Lenient]) {
    Play.everySide(
      `a defect is a defect of the turn, whatever the failure mode (${tool.name})`,
      Play.both,
      function*(side, method) {
        const played = yield* Play.play(side, {
          method,
          tools: [tool],
          handlers: { [tool.name]: () => Effect.die(new Error("defect")) },
          content: [Play.call("c", tool.name, { amount: "1" }), Play.finish("tool-calls")]
        })
        assert.deepStrictEqual(Play.endingOf(played), [{ died: "Error: defect" }])
      }
    )

    Play.everySide(`a success that has no encoding fails the turn (${tool.name})`, Play.both, function*(side, method) {
      const played = yield* Play.play(side, {
        method,
        tools: [tool],
        handlers: { [tool.name]: () => Effect.succeed({ total: "one" }) },
        content: [Play.call("c", tool.name, { amount: "1" }), Play.finish("tool-calls")]
      })
      const failure = Play.failureOf(played) as AiError.AiError
      assert.deepStrictEqual([failure.method, failure.reason._tag], [
        `${tool.name}.handle`,
        "ToolResultEncodingError"
      ])
    })
  }

  Play.everySide("an interrupted handler interrupts the turn", ["generateText"], function*(side, method) {
    const played = yield* Play.play(side, {
      method,
      tools: [Strict],
      handlers: { Strict: () => Effect.interrupt },
      content: [Play.call("c", "Strict", { amount: "1" }), Play.finish("tool-calls")]
    })
    assert.deepStrictEqual(Play.endingOf(played), ["interrupted"])
  })

  Play.everySide(
    "output for the model is in the result of a success, and only there",
    Play.both,
    function*(side, method) {
      const Speak = Tool.make("Speak", {
        parameters: Schema.Struct({ fail: Schema.Boolean }),
        success: Schema.String,
        failure: Schema.String,
        failureMode: "return",
        toModelOutput: (result) => [Prompt.makePart("text", { text: `said ${result}` })]
      })
      const played = yield* Play.play(side, {
        method,
        tools: [Speak],
        handlers: { Speak: ({ fail }) => fail ? Effect.fail("no") : Effect.succeed("yes") },
        content: [
          Play.call("c1", "Speak", { fail: false }),
          Play.call("c2", "Speak", { fail: true }),
          Play.finish("tool-calls")
        ]
      })
      // Upstream gives results in the order of completion.
      const inOrder = played.results.toSorted((left, right) => left.id < right.id ? -1 : 1)
      const outputs = inOrder.map((part) => "modelOutput" in part ? part.modelOutput : "none")
      assert.deepStrictEqual(outputs, [[Prompt.makePart("text", { text: "said yes" })], "none"])
    }
  )
})
