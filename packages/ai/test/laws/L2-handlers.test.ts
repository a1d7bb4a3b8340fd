/**
 * L2 At most once, with handlers that end oddly, and with readers that leave before or between claims.
 */
import { assert, describe } from "@effect/vitest"
import { Effect, Fiber, Schema } from "effect"
import { Approval, ApprovalPolicy, Tool } from "../../src/index.ts"
import * as Support from "./support.ts"

const cyclic: Record<string, unknown> = {}
cyclic["self"] = cyclic

const calls = (...ids: ReadonlyArray<string>) => ids.map((id) => Support.call(id, "Odd", { path: id }))

const paths = (tools: Support.Tools) => tools.runs.map((run) => (run.params as { path: string }).path).toSorted()

describe("L2 at most once: handlers that end oddly", () => {
  const odd: Record<string, Effect.Effect<unknown, unknown>> = {
    "nothing": Effect.void,
    "null": Effect.succeed(null),
    "an empty text": Effect.succeed(""),
    "a bigint": Effect.succeed({ n: 1n }),
    "NaN": Effect.succeed(NaN),
    "a cycle": Effect.succeed(cyclic),
    "a function": Effect.succeed(() => 1),
    "a class": Effect.succeed(new Map([["a", 1]])),
    "half a surrogate pair": Effect.succeed("\ud800"),
    "2 MB": Effect.succeed("x".repeat(2_000_000)),
    "an interruption": Effect.interrupt,
    "a failure": Effect.fail(new Error("no")),
    "a failure of nothing": Effect.fail(undefined),
    "a defect": Effect.die("boom"),
    "a throw": Effect.sync(() => {
      throw new Error("boom")
    })
  }
  const kinds: Record<string, Tool.Any> = {
    "of any type": Tool.dynamic("Odd", { parameters: { type: "object" }, needsApproval: true }),
    "of any type, failures returned": Tool.dynamic("Odd", {
      parameters: { type: "object" },
      failure: Schema.Unknown,
      failureMode: "return",
      needsApproval: true
    }),
    "that should be a text": Tool.make("Odd", {
      parameters: { path: Schema.String },
      success: Schema.String,
      failure: Schema.String,
      needsApproval: true
    })
  }
  for (const [kind, tool] of Object.entries(kinds)) {
    for (const [what, handler] of Object.entries(odd)) {
      Support.forEachMode(
        `L2 a result ${kind} that is ${what}: the tool runs once, however often it is asked for`,
        function*(mode) {
          const { asked, tools } = yield* Support.asking(mode, calls("c1"), [tool], { Odd: () => handler })
          const { model } = yield* Support.answering
          const turn = Support.approve(mode, { asked, model, tools })
          for (let i = 0; i < 3; i++) {
            yield* Effect.exit(turn)
            assert.deepStrictEqual(paths(tools), ["c1"])
          }
        },
        ["generateText", "Chat.streamText"]
      )
    }
  }

  Support.forEachMode("L2 an odd handler in a batch does not make its siblings run again", function*(mode) {
    const { asked, tools } = yield* Support.asking(mode, calls("c1", "c2", "c3"), [kinds["of any type"]!], {
      Odd: ({ path }) => path === "c2" ? Effect.die("boom") : Effect.succeed("fine")
    })
    const { model } = yield* Support.answering
    const turn = Support.approve(mode, { asked, model, tools })
    for (let i = 0; i < 3; i++) yield* Effect.exit(turn)
    assert.deepStrictEqual(paths(tools), ["c1", "c2", "c3"])
  })
})

describe("L2 at most once: readers that leave", () => {
  const Odd = Tool.make("Odd", { parameters: { path: Schema.String }, success: Schema.String, needsApproval: true })

  Support.forEachMode("L2 a reader that leaves before the claim: nothing ran, nothing is used up", function*(mode) {
    const hold = yield* Support.makeHold
    const { asked, tools } = yield* Support.asking(mode, calls("c1"), [Odd])
    const { model } = yield* Support.answering
    const turn = Support.approve(mode, { asked, model, tools })
    // The policy is asked again before the run (law L11): there the reader leaves.
    const reader = yield* Effect.forkChild(turn.pipe(
      Effect.provideService(
        ApprovalPolicy.ApprovalPolicy,
        ApprovalPolicy.make(() => Effect.as(hold.wait, Approval.needsApproval()))
      )
    ))
    yield* hold.entered
    yield* Fiber.interrupt(reader)
    yield* hold.release
    yield* Support.idle
    assert.deepStrictEqual(tools.runs, [])
    const result = yield* turn
    assert.deepStrictEqual([result.results.map((one) => one.result), result.text], [["ran"], "done"])
    assert.deepStrictEqual(paths(tools), ["c1"])
  })

  Support.forEachMode("L2 a reader that leaves while calls wait in line: each runs once in the end", function*(mode) {
    const hold = yield* Support.makeHold
    const { asked, tools } = yield* Support.asking(mode, calls("c1", "c2", "c3"), [Odd], {
      Odd: () => Effect.as(hold.wait, "ran")
    })
    const script = yield* Support.answering
    const turn = Support.takeTurn(mode, {
      model: script.model,
      toolkit: tools.toolkit,
      history: asked.history,
      prompt: Support.answers(...asked.requests.map((request) => Approval.approve(request))),
      concurrency: 1
    })
    const reader = yield* Effect.forkChild(turn)
    yield* hold.entered
    yield* Support.idle
    assert.strictEqual(tools.runs.length, 1)
    yield* Fiber.interrupt(reader)
    yield* hold.release
    yield* Support.idle
    const result = yield* turn
    assert.deepStrictEqual(paths(tools), ["c1", "c2", "c3"])
    assert.deepStrictEqual(result.results.map((one) => one.isFailure), [false, false, false])
    const sent = yield* Support.sentResults(script)
    assert.deepStrictEqual(sent.map((one) => [one.id, one.result]), [["c1", "ran"], ["c2", "ran"], ["c3", "ran"]])
  })

  Support.forEachMode("L2 of two readers one leaves: the other gets the result", function*(mode) {
    for (const leaver of [0, 1]) {
      const hold = yield* Support.makeHold
      const { asked, tools } = yield* Support.asking(mode, calls("c1"), [Odd], {
        Odd: () => Effect.as(hold.wait, "ran")
      })
      const { model } = yield* Support.answering
      const turn = Support.approve(mode, { asked, model, tools })
      const first = yield* Effect.forkChild(turn)
      yield* hold.entered
      const second = yield* Effect.forkChild(turn)
      yield* Support.idle
      yield* Fiber.interrupt([first, second][leaver]!)
      yield* hold.release
      const result = yield* Fiber.join([second, first][leaver]!)
      assert.deepStrictEqual(result.results.map((one) => one.result), ["ran"])
      assert.strictEqual(tools.runs.length, 1)
    }
  })
})
