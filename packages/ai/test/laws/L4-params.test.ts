/**
 * L4: parameters, ids and names that cannot be shown, sealed and run as one and the same JSON are failed results: asked
 * of nobody, run by nobody.
 */
import { assert, describe } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { Approval, ApprovalController, Tool } from "../../src/index.ts"
import { ScriptedApprover } from "../../src/testing/index.ts"
import * as Support from "./support.ts"

const Write = Tool.dynamic("Write", { parameters: { type: "object" }, needsApproval: true })

const Typed = Tool.make("Typed", {
  parameters: { n: Schema.optionalKey(Schema.Number), text: Schema.optionalKey(Schema.String) },
  needsApproval: true
})

const cyclic: Record<string, unknown> = { path: "a" }
cyclic["self"] = cyclic

const bad: Record<string, unknown> = {
  "NaN": { n: NaN },
  "Infinity": { n: Infinity },
  "-Infinity": { list: [1, [-Infinity]] },
  "a bigint": { n: 1n },
  "a symbol": { n: Symbol.for("x") },
  "a function": { n: () => 1 },
  "half a surrogate pair": { text: "a\ud800" },
  "the other half": { text: "\udc00a" },
  "half a pair in a key": { "\ud83d": 1 },
  "half a pair deep inside": { a: [{ b: "x\ud800y" }] },
  "more than 1 MB": { text: "x".repeat(1_100_000) },
  "more than 1 MB of two-byte characters": { text: "ä".repeat(600_000) },
  "more than 1 MB in many keys": Object.fromEntries(Array.from({ length: 60_000 }, (_, i) => [`key-number-${i}`, i])),
  "a cycle": cyclic
}

const assertFailed = (tools: Support.Tools, turn: Support.Turn, id = "c1") => {
  assert.deepStrictEqual([tools.runs, turn.requests], [[], []])
  assert.deepStrictEqual(turn.results.map((result) => result.id), [id])
  const reason = Support.failureReason(turn.results[0])
  assert.isBelow(reason.length, 5000)
}

describe("L4 parameters", () => {
  for (const [what, params] of Object.entries(bad)) {
    Support.forEachMode(`L4 parameters with ${what}: failed result, nobody is asked, nothing runs`, function*(mode) {
      const tools = yield* Support.makeTools([Write])
      const turn = Support.ask(mode, { toolkit: tools.toolkit, calls: [Support.call("c1", "Write", params)] })
      assertFailed(tools, yield* turn)
      const approver = ScriptedApprover.make(() => "approve")
      const inline = turn.pipe(Effect.provideService(
        ApprovalController.ApprovalController,
        ApprovalController.interactive(approver.callback)
      ))
      assertFailed(tools, yield* inline)
      assert.deepStrictEqual(yield* approver.seen, [])
    })

    Support.forEachMode(
      `L4 parameters with ${what} put into a history in place of good ones do not run`,
      function*(mode) {
        const { asked, tools } = yield* Support.asking(mode, [Support.call("c1", "Write", { path: "a" })], [Write])
        // What the provider then says of such a call is its own business; that nothing runs is ours.
        const { model } = yield* Support.answering
        const turn = Support.takeTurn(mode, {
          model,
          toolkit: tools.toolkit,
          history: Support.rewrite(asked.history, (part) => part.type === "tool-call" ? { ...part, params } : part),
          prompt: Support.answers(Approval.approve(asked.requests[0]!))
        })
        const exit = yield* Effect.exit(turn)
        assert.deepStrictEqual(tools.runs, [])
        if (exit._tag === "Failure") {
          assert.isFalse(exit.cause.reasons.some((reason) => reason._tag === "Die"), "a defect")
        } else assertFailed(tools, exit.value)
      }
    )
  }

  Support.forEachMode(
    "L4 numbers that are not JSON and half pairs do not get through a schema either",
    function*(mode) {
      const tools = yield* Support.makeTools([Typed])
      for (const params of [{ n: NaN }, { n: -Infinity }, { text: "\ud800" }]) {
        const calls = [Support.call("c1", "Typed", params)]
        assertFailed(tools, yield* Support.ask(mode, { toolkit: tools.toolkit, calls }))
      }
    }
  )

  for (const what of ["half a surrogate pair", "half a pair in a key", "more than 1 MB"] as const) {
    Support.forEachMode(`L4 after parameters with ${what} the conversation goes on`, function*(mode) {
      const { asked, tools } = yield* Support.asking(mode, [
        Support.call("c1", "Write", bad[what]),
        Support.call("c2", "Write", { path: "a" })
      ], [Write])
      assert.deepStrictEqual(asked.requests.map((request) => request.toolCallId), ["c2"])
      const script = yield* Support.answering
      const turn = yield* Support.approve(mode, { asked, model: script.model, tools })
      assert.strictEqual(turn.text, "done")
      const sent = yield* Support.sentResults(script)
      assert.deepStrictEqual(sent.map((result) => [result.id, result.isFailure]), [["c1", true], ["c2", false]])
      assert.strictEqual(tools.runs.length, 1)
    })
  }

  const good: Record<string, unknown> = {
    "almost 1 MB": { text: "x".repeat(900_000) },
    "surrogate pairs": { text: "😀", "🗝": 1 },
    "odd numbers": { list: [-0, 1e300, 5e-324, 0.1] },
    "null and nothing": { a: null, b: [], c: {} },
    "control characters": { text: "\0\u001b[31m\u202e" }
  }
  for (const [what, params] of Object.entries(good)) {
    Support.forEachMode(`L4 parameters with ${what} are shown, sealed and run as they are`, function*(mode) {
      const { asked, tools } = yield* Support.asking(mode, [Support.call("c1", "Write", params)], [Write])
      assert.deepEqual(asked.requests[0]!.params, JSON.parse(JSON.stringify(params)))
      const { model } = yield* Support.answering
      const turn = yield* Support.takeTurn(mode, {
        model,
        toolkit: tools.toolkit,
        history: Support.throughJson(asked.history),
        prompt: Support.answers(Approval.approve(asked.requests[0]!))
      })
      assert.strictEqual(turn.text, "done")
      assert.deepEqual(tools.runs.map((run) => run.params), [JSON.parse(JSON.stringify(params))])
    })
  }
})

describe("L4 ids and names", () => {
  const ids: Record<string, string> = {
    "of 257 characters": "c".repeat(257),
    "of 10 kB": "c".repeat(10_000),
    "with half a surrogate pair": "c\ud800"
  }
  for (const [what, id] of Object.entries(ids)) {
    Support.forEachMode(`L4 a call id ${what} is a failed result`, function*(mode) {
      const tools = yield* Support.makeTools()
      const turn = yield* Support.ask(mode, {
        toolkit: tools.toolkit,
        calls: [Support.call(id, "DeleteFile", { path: "a" })]
      })
      assertFailed(tools, turn, id)
    })
  }

  const toolNames: Record<string, string> = { "of 129 characters": "t".repeat(129), "of 10 kB": "t".repeat(10_000) }
  for (const [what, name] of Object.entries(toolNames)) {
    Support.forEachMode(`L4 a call of a gated tool with a name ${what} is a failed result`, function*(mode) {
      const tools = yield* Support.makeTools([Tool.dynamic(name, { needsApproval: true })])
      const turn = yield* Support.ask(mode, { toolkit: tools.toolkit, calls: [Support.call("c1", name, {})] })
      assertFailed(tools, turn)
    })
  }

  Support.forEachMode("L4 an id of 256 characters and a name of 128 are asked about, and run once", function*(mode) {
    const [id, name] = ["c".repeat(256), "t".repeat(128)]
    const { asked, tools } = yield* Support.asking(mode, [Support.call(id, name, {})], [
      Tool.dynamic(name, { needsApproval: true })
    ])
    const { model } = yield* Support.answering
    yield* Support.approve(mode, { asked, model, tools })
    assert.deepStrictEqual(tools.runs.map((run) => run.name), [name])
  })
})
