/** When upstream runs calls, and ours with it: how many at once, from when on, and not at all. */
import { assert, describe } from "@effect/vitest"
import { type Response, Tool } from "effect/ai"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Play from "./play.ts"
import * as Script from "./response.ts"
import * as Tools from "./tools.ts"

const Work = Tool.make("Work", { parameters: Schema.Struct({ millis: Schema.Number }), success: Schema.String })

/** Counts what runs, and how many at once. */
const counting = () => {
  const seen = { started: 0, most: 0, running: 0, interrupted: 0, startedAt: [] as Array<number> }
  const Work = ({ millis }: { readonly millis: number }) =>
    Effect.gen(function*() {
      seen.startedAt.push(yield* Tools.now)
      seen.started++
      seen.running++
      seen.most = Math.max(seen.most, seen.running)
      yield* Effect.sleep(millis)
      seen.running--
      return "done"
    }).pipe(Effect.onInterrupt(() => Effect.sync(() => seen.interrupted++)))
  return { seen, handlers: { Work } }
}

/** What becomes of a response, and what ran. */
const working = Effect.fnUntraced(function*(...[side, method, content, more]: Play.Told) {
  const { handlers, seen } = counting()
  const played = yield* Play.play(side, { method, tools: [Work], handlers, content, ...more })
  return { played, seen }
})

const calls = (count: number, millis: number): ReadonlyArray<Response.AllPartsEncoded> =>
  Array.from({ length: count }, (_, index) => Play.call(`c${index}`, "Work", { millis }))

describe("running", () => {
  // `Concurrency` of effect 4.1 is a number or "unbounded"; there is no "inherit" any more.
  for (const [concurrency, expected] of [[undefined, 6], ["unbounded", 6], [1, 1], [2, 2], [4, 4]] as const) {
    Play.everySide(
      `concurrency ${concurrency}: ${expected} of 6 calls run at once`,
      Play.both,
      function*(side, method) {
        const { played, seen } = yield* working(side, method, [...calls(6, 200), Play.finish("tool-calls")], {
          options: concurrency === undefined ? {} : { concurrency }
        })
        assert.strictEqual(played.results.length, 6)
        assert.deepStrictEqual([seen.started, seen.most], [6, expected])
        assert.strictEqual(
          played.requests[0]!.span.attributes.get("effect.ai.concurrency"),
          concurrency ?? "unbounded"
        )
      }
    )
  }

  Play.everySide("a stream's call starts when the stream has moved past it", ["streamText"], function*(side, method) {
    const { seen } = yield* working(side, method, [
      ...calls(2, 0),
      Play.text(method, "a"),
      Play.text(method, "b"),
      Play.finish("tool-calls")
    ])
    assert.deepStrictEqual(seen.startedAt, [1 + 2 * Script.beat, 1 + 3 * Script.beat])
  })

  for (const reason of ["stop", "tool-calls", "pause"] as const) {
    Play.everySide(`finish "${reason}": calls run`, Play.both, function*(side, method) {
      const { played, seen } = yield* working(side, method, [...calls(2, 1), Play.finish(reason)])
      assert.strictEqual(seen.started, 2)
      assert.deepStrictEqual(Play.outline(played.results), ["result c0", "result c1"])
      assert.strictEqual(played.parts.at(-1)?.type === "finish" || side.engine || method === "generateText", true)
    })
  }

  Play.everySide("no finish at all: calls run", Play.both, function*(side, method) {
    const { played, seen } = yield* working(side, method, calls(2, 1))
    assert.strictEqual(seen.started, 2)
    assert.deepStrictEqual(Play.outline(played.parts), ["call c0", "call c1", "result c0", "result c1"])
  })

  for (const reason of ["length", "content-filter", "error", "other", "unknown"] as const) {
    Play.everySide(
      `finish "${reason}": no call runs, each has a result that says why`,
      Play.both,
      function*(side, method) {
        // In one chunk with what came last, as providers break off.
        const content = [Play.call("c", "Work", { millis: 1 }), Play.finish(reason)]
        const { played, seen } = yield* working(side, method, content)
        assert.strictEqual(seen.started, 0)
        const result = {
          type: "execution-interrupted",
          reason: `Tool call execution was interrupted because the response finished with reason "${reason}"`
        }
        assert.deepStrictEqual(
          played.results.map(({ encodedResult, id, isFailure, result }) => ({
            id,
            isFailure,
            result,
            encodedResult
          })),
          [{ id: "c", isFailure: true, result, encodedResult: result }]
        )
      }
    )
  }

  Play.everySide(
    "a stream that is cut interrupts what runs and keeps what has ended",
    ["streamText"],
    function*(side, method) {
      const { played, seen } = yield* working(side, method, [
        Play.call("quick", "Work", { millis: 1 }),
        Play.call("slow", "Work", { millis: 1000 }),
        Play.text(method, "a"),
        Play.text(method, "b"),
        Play.finish("length")
      ])
      assert.deepStrictEqual([seen.started, seen.interrupted], [2, 1])
      assert.deepStrictEqual(Play.outline(played.results), ["result quick", "failure slow"])
    }
  )

  // Ours keeps 64 chunks for a slow reader, and the provider waits behind them; upstream keeps them all.
  Play.everySide(
    "a reader who is slow loses no result of a stream that is cut",
    ["streamText"],
    (side, method) =>
      Effect.forEach([1, 60, 61, 62, 63, 64, 65, 66], (count) =>
        Effect.gen(function*() {
          let first = true
          const { played, seen } = yield* working(side, method, [
            // Ends after the last text and before the finish.
            Play.call("c", "Work", { millis: (count - 1) * Script.beat + 5 }),
            ...Array.from({ length: count }, (_, index) => Play.text(method, `${index}`)),
            Play.finish("length")
          ], {
            reader: () =>
              Effect.suspend(() => {
                if (!first) return Effect.void
                first = false
                return Effect.sleep(10_000)
              })
          })
          assert.deepStrictEqual([seen.started, seen.interrupted], [1, 0])
          assert.deepStrictEqual(Play.outline(played.results), ["result c"], `with ${count} chunks`)
        }), { discard: true })
  )

  Play.everySide("a reader that leaves interrupts what runs", Play.both, function*(side, method) {
    const { seen } = yield* working(
      side,
      method,
      [Play.call("c", "Work", { millis: 1000 }), Play.finish("tool-calls")],
      { around: Effect.timeoutOption(100) }
    )
    assert.deepStrictEqual([seen.started, seen.interrupted], [1, 1])
  })

  const refused = [
    ["no call is started by a chunk that is refused", ["streamText"]],
    ["nothing runs where another part of the response is refused", ["generateText", "generateObject"]]
  ] as const
  for (const [title, methods] of refused) {
    Play.everySide(title, methods, function*(side, method) {
      const { played, seen } = yield* working(side, method, [
        Play.call("c", "Work", { millis: 0 }),
        Play.undecodable("p"),
        Play.finish("tool-calls")
      ], { tools: [Work, Tools.WebSearch] })
      assert.isDefined(Play.failureOf(played))
      assert.strictEqual(seen.started, 0)
    })
  }
})
