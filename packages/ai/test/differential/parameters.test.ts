/** What becomes of parameters: what the model wrote, what the part holds, and what the handler gets. */
import { assert, describe } from "@effect/vitest"
import { type AiError, type Response, Tool } from "effect/ai"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Play from "./play.ts"

const parameters = Schema.Struct({ amount: Schema.FiniteFromString })

const Strict = Tool.make("Strict", { parameters, success: Schema.String })
const Lenient = Tool.make("Lenient", { parameters, success: Schema.String, failureMode: "return" })
const ByJson = Tool.dynamic("ByJson", { parameters: { type: "object" }, success: Schema.String })
const Nothing = Tool.make("Nothing", { success: Schema.String })

const tools = [Strict, Lenient, ByJson, Nothing]

const receiving = () => {
  const received: Array<unknown> = []
  const handler = (params: unknown) => Effect.sync(() => (received.push(params), "done"))
  return { received, handlers: Object.fromEntries(tools.map(({ name }) => [name, handler])) }
}

/** What becomes of a response, and what the handlers got. */
const receive = Effect.fnUntraced(function*(...[side, method, content, more]: Play.Told) {
  const { handlers, received } = receiving()
  const played = yield* Play.play(side, { method, tools, handlers, content, ...more })
  return { played, received }
})

const paramsOf = (played: Play.Played): ReadonlyArray<unknown> =>
  played.parts.flatMap((part) => part.type === "tool-call" ? [part.params] : [])

const outcomeOf = (played: Play.Played): unknown => {
  const failure = Play.failureOf(played) as AiError.AiError | undefined
  return failure === undefined ? Play.outline(played.parts) : failure.reason._tag
}

describe("parameters", () => {
  Play.everySide(
    "the part holds what the model wrote, the handler gets it decoded",
    Play.both,
    function*(side, method) {
      const { played, received } = yield* receive(side, method, [
        Play.call("c1", "Strict", { amount: "5" }),
        Play.call("c2", "ByJson", [1, { b: null }]),
        Play.call("c3", "Nothing", {}),
        Play.finish("tool-calls")
      ], { options: { concurrency: 1 } })
      assert.deepStrictEqual(paramsOf(played), [{ amount: "5" }, [1, { b: null }], {}])
      assert.deepStrictEqual(received, [{ amount: 5 }, [1, { b: null }], {}])
    }
  )

  const ungated = [Play.upstream, Play.straight, Play.gated]

  Play.everySide(
    "parameters that do not decode fail upstream's turn in mode \"error\": see `deliberate.test.ts`",
    Play.both,
    function*(side, method) {
      const { played, received } = yield* receive(side, method, [
        Play.call("c", "Strict", { amount: 5 }),
        Play.finish("tool-calls")
      ])
      const failure = Play.failureOf(played) as AiError.AiError
      assert.strictEqual(
        failure.message,
        "Toolkit.Strict.handle: Invalid parameters for tool 'Strict': Expected string\n  at [\"amount\"]"
      )
      assert.deepStrictEqual(
        (Play.endingOf(played) as ReadonlyArray<{ origin: unknown }>).map(({ origin }) => origin),
        ["parameters"]
      )
      assert.deepStrictEqual(received, [])
    },
    [Play.upstream]
  )

  Play.everySide(
    "parameters that do not decode are a failed result in mode \"return\"",
    Play.both,
    function*(side, method) {
      const { played, received } = yield* receive(side, method, [
        Play.call("c", "Lenient", { amount: "much" }),
        Play.finish("tool-calls")
      ])
      assert.strictEqual(Play.endingOf(played), "success")
      assert.deepStrictEqual(
        played.results.map(({ encodedResult, isFailure }) => [
          isFailure,
          (encodedResult as { reason: { _tag: string } }).reason._tag
        ]),
        [[true, "ToolParameterValidationError"]]
      )
      assert.deepStrictEqual(received, [])
    },
    ungated
  )

  type Outcome = "InvalidOutputError" | ReadonlyArray<string>

  // The engine has an outcome of its own only where it differs on purpose: see `deliberate.test.ts`.
  const resolutions: Record<
    string,
    readonly [
      options: Record<string, unknown>,
      call: Response.ToolCallPartEncoded,
      expected: Outcome,
      ofEngine?: Outcome
    ]
  > = {
    "without resolution, good parameters are returned as written": [
      { disableToolCallResolution: true },
      Play.call("c", "Strict", { amount: "5" }),
      ["call c", "finish"]
    ],
    "without resolution, what does not fit the encoded form is refused": [
      { disableToolCallResolution: true },
      Play.call("c", "Strict", { amount: 5 }),
      "InvalidOutputError"
    ],
    "without resolution, what only fails to decode is returned": [
      { disableToolCallResolution: true },
      Play.call("c", "Strict", { amount: "much" }),
      ["call c", "finish"]
    ],
    "without resolution, an unknown tool is refused": [
      { disableToolCallResolution: true },
      Play.call("c", "Missing", {}),
      "InvalidOutputError"
    ],
    "without resolution and strict, an unknown tool is refused": [
      { disableToolCallResolution: true, toolCallValidation: "strict" },
      Play.call("c", "Missing", {}),
      "InvalidOutputError"
    ],
    "deferred, an unknown tool is returned": [
      { disableToolCallResolution: true, toolCallValidation: "deferred" },
      Play.call("c", "Missing", { any: [1] }),
      ["call c", "finish"]
    ],
    "deferred, bad parameters are returned": [
      { disableToolCallResolution: true, toolCallValidation: "deferred" },
      Play.call("c", "Strict", "nonsense"),
      ["call c", "finish"]
    ],
    "deferred says nothing where calls are resolved": [
      { toolCallValidation: "deferred" },
      Play.call("c", "Missing", {}),
      "InvalidOutputError",
      ["call c", "failure c", "finish"]
    ],
    "strict says nothing where calls are resolved": [
      { toolCallValidation: "strict" },
      Play.call("c", "Missing", {}),
      "InvalidOutputError",
      ["call c", "failure c", "finish"]
    ]
  }
  for (const [title, [options, call, ofUpstream, ofEngine = ofUpstream]] of Object.entries(resolutions)) {
    Play.everySide(title, Play.both, function*(side, method) {
      const { handlers, received } = receiving()
      const expected = side.engine ? ofEngine : ofUpstream
      const played = yield* Play.play(side, {
        method,
        tools,
        handlers,
        content: [call, Play.finish("tool-calls")],
        options
      })
      assert.deepStrictEqual(outcomeOf(played), expected)
      if (expected !== "InvalidOutputError") assert.deepStrictEqual(paramsOf(played), [call.params])
      assert.deepStrictEqual(received, [])
    })
  }
})
