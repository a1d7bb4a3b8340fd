/**
 * L17: what a model calls a tool with has a bound on depth and size, looked at before anything reads it. Such a call is a
 * failed result that says so: nobody judges it, nobody is asked, nothing runs, and the history can be written.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema, Stream } from "effect"
import { Approval, ApprovalController, ApprovalEvents, ApprovalPolicy, Prompt, Tool, Toolkit } from "../../src/index.ts"
import { ScriptedApprover, ScriptedModel } from "../../src/testing/index.ts"
import { deep, levelsOf, nested, whole, writable } from "./bounds.ts"
import * as Support from "./support.ts"

const cases: Record<string, { readonly params: unknown; readonly reason: RegExp }> = {
  "6,000 levels": { params: { list: deep }, reason: /they are nested deeper than 512 levels\. Nothing ran/ },
  "a hundred thousand levels": { params: { list: nested(100_000) }, reason: /they are nested deeper than 512 levels/ },
  "513 levels": { params: { list: nested(512) }, reason: /they are nested deeper than 512 levels/ },
  "more than 1 MiB": {
    params: { list: [whole(1_048_576)] },
    reason: /they are larger than 1 MiB \(1,048,576 bytes\) as JSON\. Nothing ran/
  }
}

const kinds = {
  "an approved tool": Tool.make("Write", { parameters: { list: Schema.Json }, needsApproval: true }),
  "a tool that needs nobody": Tool.make("Write", { parameters: { list: Schema.Json } }),
  "a tool of any parameters": Tool.dynamic("Write", { parameters: { type: "object" }, needsApproval: true })
} as const

describe("L17 parameters of a call", () => {
  for (const [kind, tool] of Object.entries(kinds)) {
    for (const [what, { params, reason }] of Object.entries(cases)) {
      Support.forEachMode(`L17 ${what} for ${kind}: asked of nobody, run by nobody, and told`, function*(mode) {
        const tools = yield* Support.makeTools([tool])
        const judged: Array<string> = []
        const approver = ScriptedApprover.make(() => "approve")
        const { model, requests } = yield* ScriptedModel.make({
          turns: [[Support.call("c1", "Write", params)]],
          afterLastTurn: "done"
        })
        const chat = yield* Support.converse(mode, { model, toolkit: tools.toolkit })
        const turn = yield* chat.take("Write it.").pipe(
          Effect.provideService(
            ApprovalController.ApprovalController,
            ApprovalController.interactive(approver.callback)
          ),
          Effect.provideService(
            ApprovalPolicy.ApprovalPolicy,
            kind === "a tool that needs nobody"
              ? ApprovalPolicy.toolGate
              : ApprovalPolicy.make(({ toolName }) =>
                Effect.sync(() => {
                  judged.push(toolName)
                  return new Approval.NeedsApproval({})
                })
              )
          )
        )
        assert.deepStrictEqual([tools.runs, turn.requests, judged, yield* approver.seen], [[], [], [], []])
        assert.match(Support.failureReason(turn.results[0]), reason)
        const json = yield* writable(turn.history)
        assert.isBelow(levelsOf(json), 32)
        assert.isBelow(json.length, 5_000)
        // The conversation goes on, and the model reads why.
        const after = yield* chat.take("And now?")
        assert.strictEqual(after.text, "done")
        const sent = Support.partsOf((yield* requests).at(-1)!.prompt)
        const call = sent.find((part) => part.type === "tool-call")
        assert.match(JSON.stringify(call?.params), /^\{"omitted":"The parameters were (nested deeper|larger) than/)
        assert.match(Support.failureReason(sent.find((part) => part.type === "tool-result")), reason)
      })
    }
  }

  Support.forEachMode("L17 a tool that is not there is told, and nothing of the call is kept either", function*(mode) {
    const { runs, toolkit } = yield* Support.makeTools()
    const { model } = yield* ScriptedModel.make({
      turns: [[Support.call("c1", "Gone", { list: deep })]],
      afterLastTurn: "done"
    })
    const chat = yield* Support.converse(mode, { model, toolkit })
    const { history, results } = yield* chat.take("Go on.")
    assert.match(Support.failureReason(results[0]), /no tool|not available|"Gone"/)
    assert.isBelow((yield* writable(history)).length, 5_000)
    assert.strictEqual((yield* chat.take("And?")).text, "done")
    assert.deepStrictEqual(runs, [])
  })

  Support.forEachMode("L17 512 levels and 1 MiB to the byte are run as they are", function*(mode) {
    for (const tool of [kinds["an approved tool"], kinds["a tool that needs nobody"]]) {
      for (const list of [nested(511), whole(1_048_576 - 9)]) {
        const tools = yield* Support.makeTools([tool])
        const { model } = yield* ScriptedModel.make({
          turns: [[Support.call("c1", "Write", { list })]],
          afterLastTurn: "done"
        })
        const chat = yield* Support.converse(mode, { model, toolkit: tools.toolkit })
        const asked = yield* chat.take("Go on.")
        if (asked.requests.length > 0) {
          yield* chat.take(Support.answers(...asked.requests.map((request) => Approval.approve(request))))
        }
        assert.strictEqual(JSON.stringify(tools.runs.map(({ params }) => params)), JSON.stringify([{ list }]))
        yield* writable(yield* chat.history)
      }
    }
  }, ["generateText", "Chat.streamText"])

  Support.forEachMode(
    "L17 what a call carries beside its parameters is left out where it is too deep",
    function*(mode) {
      const { toolkit } = yield* Support.makeTools()
      const call = ScriptedModel.toolCall({
        id: "c1",
        name: "ReadFile",
        params: { path: "a" },
        metadata: { test: { deep } } as never
      })
      const { model } = yield* ScriptedModel.make({ turns: [[call]], afterLastTurn: "done" })
      const chat = yield* Support.converse(mode, { model, toolkit })
      const { history, results } = yield* chat.take("Go on.")
      assert.strictEqual(results[0]?.result, "text of a")
      assert.isBelow(levelsOf(yield* writable(history)), 32)
    }
  )
})

const Search = Tool.providerDefined({
  id: "test.search",
  customName: "Search",
  providerName: "search",
  parameters: Schema.Struct({ query: Schema.Unknown }),
  success: Schema.Unknown
})()

describe("L17 what the provider runs", () => {
  Support.forEachMode("L17 its calls and results are bounded as ours are", function*(mode) {
    // As upstream's own engine handles it, and as ours does beside a gated tool.
    for (const others of [[], [kinds["an approved tool"]]]) {
      const { model } = yield* ScriptedModel.make({
        turns: [[
          ScriptedModel.toolCall({ id: "m1", name: "Search", params: { query: deep }, providerExecuted: true }),
          ScriptedModel.toolResult({ id: "m1", name: "Search", result: deep })
        ]],
        afterLastTurn: "done"
      })
      const { toolkit } = yield* Support.makeTools([Search as unknown as Tool.Any, ...others])
      const chat = yield* Support.converse(mode, { model, toolkit })
      const turn = yield* chat.take("Look.")
      assert.match(Support.failureReason(turn.results[0]), /^The call ran, but its result is nested deeper/)
      assert.isBelow(levelsOf(yield* writable(turn.history)), 32)
      assert.strictEqual((yield* chat.take("And?")).text, "done")
    }
  })
})

describe("L17 parameters that a person changed", () => {
  Support.forEachMode(
    "L17 too deep: nothing runs, the request stays open, and a fitting answer still counts",
    function*(mode) {
      const tools = yield* Support.makeTools([kinds["an approved tool"]])
      let asked = 0
      const controller = ApprovalController.interactive((request) => {
        asked++
        return { approvalId: request.approvalId, decision: { _tag: "Approved", params: { list: deep } } } as never
      })
      const { model } = yield* ScriptedModel.make({
        turns: [[Support.call("c1", "Write", { list: 1 })]],
        afterLastTurn: "done"
      })
      const chat = yield* Support.converse(mode, { model, toolkit: tools.toolkit })
      const turn = yield* chat.take("Write it.").pipe(
        Effect.provideService(ApprovalController.ApprovalController, controller)
      )
      assert.deepStrictEqual([tools.runs, asked, turn.requests.length], [[], 1, 1])
      yield* writable(turn.history)
      yield* chat.take(Support.answers(Approval.approve(turn.requests[0]!)))
      assert.deepStrictEqual(tools.runs, [{ name: "Write", params: { list: 1 } }])
    }
  )

  Support.forEachMode(
    "L17 an approval of a history that carries too much approves nothing, and a denial denies",
    function*(mode) {
      for (const approved of [true, false]) {
        const tools = yield* Support.makeTools([kinds["an approved tool"]])
        const { model } = yield* ScriptedModel.make({
          turns: [[Support.call("c1", "Write", { list: 1 })]],
          afterLastTurn: "done"
        })
        const chat = yield* Support.converse(mode, { model, toolkit: tools.toolkit })
        const { requests } = yield* chat.take("Write it.")
        const turn = yield* chat.take(Prompt.fromMessages([
          Prompt.toolMessage({
            content: [
              Prompt.makePart("tool-approval-response", {
                approvalId: requests[0]!.approvalId,
                approved,
                options: { assent: { [approved ? "params" : "remember"]: deep } as never }
              })
            ]
          })
        ]))
        assert.deepStrictEqual(tools.runs, [])
        assert.strictEqual(turn.requests.length, approved ? 1 : 0)
        if (!approved) assert.match(Support.failureReason(turn.results[0]), /denied/)
      }
    }
  )
})

describe("L17 parameters", () => {
  it.effect("L17 an event tells of parameters that nothing has read", () =>
    Support.fresh(Effect.gen(function*() {
      const events = yield* ApprovalEvents.make()
      const seen: Array<string> = []
      yield* Effect.forkScoped(
        Stream.runForEach(yield* events.subscribe, ({ _tag }) => Effect.sync(() => seen.push(_tag)))
      )
      const tools = yield* Support.makeTools([kinds["an approved tool"]])
      yield* Support.ask("generateText", {
        toolkit: tools.toolkit,
        calls: [Support.call("c1", "Write", { list: deep })]
      }).pipe(Effect.provideService(ApprovalEvents.ApprovalEvents, events))
      yield* Support.idle
      assert.deepStrictEqual(seen, ["InvalidParameters"])
    })))

  it.effect("L17 a guarded toolkit refuses them before anybody is asked", () =>
    Effect.gen(function*() {
      const tools = yield* Support.makeTools([kinds["an approved tool"]])
      const approver = ScriptedApprover.make(() => "approve")
      const guarded = Toolkit.guard(tools.toolkit)
      const [result] = yield* guarded.handle("Write", { list: deep } as never).pipe(
        Effect.flatMap((results) => Stream.runCollect(results)),
        Effect.provideService(
          ApprovalController.ApprovalController,
          ApprovalController.interactive(approver.callback)
        )
      )
      assert.match(Support.failureReason(result as never), /nested deeper than 512 levels/)
      assert.deepStrictEqual([tools.runs, yield* approver.seen], [[], []])
    }))
})
