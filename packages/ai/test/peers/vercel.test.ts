/**
 * V7's own list of tests for approvals (PEERS.md §2), told of our engine. Where a law says more, its tests do.
 */
import { assert, describe } from "@effect/vitest"
import { Effect, Fiber, Schema } from "effect"
import { Approval, ApprovalPolicy, type Prompt, Response, Tool, Toolkit } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as C from "../laws/conversation.ts"
import * as Support from "../laws/support.ts"
import { begin, no, outcomes, two, work, workTools, yes } from "./conversation.ts"

const blocking = Effect.provideService(
  ApprovalPolicy.ApprovalPolicy,
  ApprovalPolicy.make(() => Approval.blocked("not on Sundays"))
)

const oddNames = ["toString", "constructor", "__proto__", "hasOwnProperty"]

describe("V7's list: what answers name", () => {
  C.everyWay("V7 unknown id: nothing runs, the request waits on, its own answer counts", function*(way) {
    const chat = yield* begin(way)
    const turn = yield* chat.send(yes({ approvalId: "approval-unknown" }))
    assert.deepStrictEqual([chat.runs, turn.finishReason, turn.requests], [[], "pause", chat.requests])
    yield* chat.send(yes(chat.requests[0]!))
    assert.deepStrictEqual(chat.runs, ["delete a"])
    C.assertWellFormed(yield* chat.lastPrompt)
  })

  C.everyWay("V7 unknown id: an answer to nothing at all does no harm", function*(way) {
    const { runs, toolkit } = yield* C.fileTools
    const chat = yield* C.start({ way, toolkit, turns: ["hello", "bye"] })
    yield* chat.send("hello")
    const turn = yield* chat.send(yes({ approvalId: "approval-unknown" }))
    assert.deepStrictEqual([turn.shape, yield* chat.calls], ["finish", 1], "there is nothing to call the model for")
    assert.strictEqual((yield* chat.send("bye")).text, "bye")
    C.assertWellFormed(yield* chat.lastPrompt)
    assert.deepStrictEqual(runs, [])
  })

  C.everyWay("V7 missing call: the approval of a call that is gone runs nothing, and is no defect", function*(way) {
    const chat = yield* begin(way)
    yield* chat.setHistory(Support.rewrite(chat.asking, (part) => part.type === "tool-call" ? undefined : part))
    const turn = yield* chat.send(yes(...chat.requests))
    assert.deepStrictEqual([chat.runs, turn.results, turn.text], [[], [], "done"])
    C.assertWellFormed(yield* chat.lastPrompt)
  })

  C.everyWay("V7 ids named toString, constructor, __proto__: of approvals nobody issued", function*(way) {
    const chat = yield* begin(way)
    for (const approvalId of oddNames) {
      assert.strictEqual((yield* chat.send(yes({ approvalId }))).finishReason, "pause", approvalId)
      const invented = [Support.callPart("c9", "DeleteFile", { path: "b" }), Support.requestPart(approvalId, "c9")]
      yield* chat.setHistory(Support.written(invented))
      assert.deepStrictEqual(outcomes(yield* chat.send(yes({ approvalId }))), ["-c9"], approvalId)
      yield* chat.setHistory(chat.asking)
    }
    assert.deepStrictEqual(chat.runs, [])
  })

  C.everyWay(
    "V7 ids named toString, constructor, __proto__: of calls, each runs once for its own approval",
    function*(way) {
      const chat = yield* begin(way, { calls: oddNames.map((id) => C.deleteCall(id, id)) })
      assert.deepStrictEqual(chat.requests.map((request) => request.toolCallId), oddNames)
      const [first, ...rest] = chat.requests
      assert.deepStrictEqual(outcomes(yield* chat.send(yes(first!))), ["toString"])
      assert.deepStrictEqual(chat.runs, ["delete toString"])
      const turn = yield* chat.send(yes(...rest))
      assert.deepStrictEqual([outcomes(turn), turn.text], [oddNames.slice(1).toSorted(), "done"])
      assert.deepStrictEqual(chat.runs.toSorted(), oddNames.map((name) => `delete ${name}`).toSorted())
      C.assertWellFormed(yield* chat.lastPrompt)
    }
  )

  C.everyWay("V7 ids named toString, constructor, __proto__: as names of tools that are not there", function*(way) {
    const { runs, toolkit } = yield* C.fileTools
    const chat = yield* C.start({ way, toolkit, turns: [], script: { afterLastTurn: "done" } })
    for (const name of oddNames) {
      yield* chat.setHistory(Support.written([Support.callPart("c1", name, {}), Support.requestPart("a1", "c1")]))
      const turn = yield* chat.send(yes({ approvalId: "a1" }))
      assert.deepStrictEqual([outcomes(turn), turn.text], [["-c1"], "done"], name)
    }
    assert.deepStrictEqual(runs, [])
  })

  C.everyWay("V7 existing result: an approval of a call that has its result does not run it again", function*(way) {
    const chat = yield* begin(way)
    yield* chat.send(yes(...chat.requests))
    const again = yield* chat.send(yes(...chat.requests))
    assert.deepStrictEqual([chat.runs, again.requests, again.text], [["delete a"], [], ""])
    assert.deepStrictEqual(again.results.map(({ result }) => result), [{ deleted: "a" }], "the result there is")
    const prompt = yield* chat.lastPrompt
    C.assertWellFormed(prompt)
    assert.deepStrictEqual(C.resultsOf(prompt).map((part) => part.result), [{ deleted: "a" }])
  })

  C.everyWay(
    "V7 mixed pending and denied: the denied one is settled, the other waits, then both are told",
    function*(way) {
      const chat = yield* begin(way, { calls: two })
      const [first, second] = chat.requests
      const partial = yield* chat.send(no(first!))
      assert.deepStrictEqual([outcomes(partial), partial.requests], [["-c1"], [second!]])
      const turn = yield* chat.send(yes(second!))
      assert.deepStrictEqual([outcomes(turn), turn.text, chat.runs], [["c2"], "done", ["delete b"]])
      const prompt = yield* chat.lastPrompt
      C.assertWellFormed(prompt)
      assert.deepStrictEqual(C.outline(prompt).slice(1), [
        "assistant:[call c1, call c2]",
        "tool:[failure c1, result c2]"
      ])
    }
  )
})

describe("V7's list: what the signature covers", () => {
  const Move = Tool.make("Move", {
    parameters: { from: Schema.String, to: Schema.String },
    success: Schema.String,
    needsApproval: true
  })
  const moves = Effect.gen(function*() {
    const moved: Array<string> = []
    const toolkit = yield* C.withHandlers(Toolkit.make(Move), {
      Move: (params) => Effect.sync(() => (moved.push(JSON.stringify([params.from, params.to])), "moved"))
    })
    return { moved, toolkit }
  })
  const move = (params: unknown) => [ScriptedModel.toolCall({ id: "c1", name: "Move", params })]
  const withParams = (history: Prompt.Prompt, params: unknown) =>
    Support.rewrite(history, (part) => part.type === "tool-call" ? { ...part, params } : part)

  C.everyWay("V7 key order irrelevant: the same parameters in another order are the same", function*(way) {
    const { moved, toolkit } = yield* moves
    const chat = yield* begin(way, { toolkit, calls: move({ from: "a", to: "b" }) })
    yield* chat.setHistory(withParams(chat.asking, { to: "b", from: "a" }))
    assert.deepStrictEqual(outcomes(yield* chat.send(yes(...chat.requests))), ["c1"])
    assert.deepStrictEqual(moved, [`["a","b"]`])
  })

  const twins: ReadonlyArray<readonly [{ from: string; to: string }, { from: string; to: string }]> = [
    [{ from: "a\u0000", to: "b" }, { from: "a", to: "\u0000b" }],
    [{ from: "a\u001f", to: "b" }, { from: "a", to: "\u001fb" }],
    [{ from: "a\n", to: "b" }, { from: "a\\n", to: "b" }],
    [{ from: "a\",\"to\":\"b", to: "" }, { from: "a", to: "b" }],
    [{ from: "a\u200b", to: "b" }, { from: "a", to: "b" }],
    [{ from: "é", to: "b" }, { from: "e\u0301", to: "b" }]
  ]
  C.everyWay("V7 no collision by control characters: text moved between fields is another call", function*(way) {
    const { moved, toolkit } = yield* moves
    for (const [shown, forged] of twins) {
      const chat = yield* begin(way, { toolkit, calls: move(shown) })
      yield* chat.setHistory(withParams(chat.asking, forged))
      assert.deepStrictEqual(outcomes(yield* chat.send(yes(...chat.requests))), ["-c1"], JSON.stringify(shown))
    }
    assert.deepStrictEqual(moved, [])
  })

  C.everyWay("V7 forged input breaking the schema: a failed result, no defect, nothing runs", function*(way) {
    const { moved, toolkit } = yield* moves
    for (
      const params of [{ from: 1, to: "b" }, { from: "a" }, null, "a", ["a", "b"], { from: { toString: "a" } }]
    ) {
      const chat = yield* begin(way, { toolkit, calls: move({ from: "a", to: "b" }) })
      yield* chat.setHistory(withParams(chat.asking, params))
      const turn = yield* chat.send(yes(...chat.requests))
      assert.deepStrictEqual([outcomes(turn), turn.text], [["-c1"], "done"], JSON.stringify(params))
      C.reasonOf(turn.results[0]!)
    }
    assert.deepStrictEqual(moved, [])
  })
})

describe("V7's list: policy and handlers", () => {
  C.everyWay("V7 policy denial beats client approval", function*(way) {
    const chat = yield* begin(way)
    const turn = yield* blocking(chat.send(yes(...chat.requests)))
    assert.include(C.reasonOf(turn.results[0]!), "not on Sundays")
    assert.deepStrictEqual([chat.runs, turn.requests, turn.text], [[], [], "done"])
  })

  C.everyWay("V7 automatic denial: nobody is asked, the model is told at once, and goes on", function*(way) {
    const chat = yield* blocking(begin(way, { turns: ["I see"] }))
    assert.deepStrictEqual([chat.asked.requests, outcomes(chat.asked)], [[], ["-c1"]])
    assert.isFalse(Response.isWaiting(chat.asked.parts))
    assert.include(C.reasonOf(chat.asked.results[0]!), "not on Sundays")
    assert.strictEqual((yield* blocking(chat.send([]))).text, "I see")
    C.assertWellFormed(yield* chat.lastPrompt)
    assert.deepStrictEqual(chat.runs, [])
  })

  C.everyWay("V7 approved tool throws: it is told or fails the turn, and is not run again", function*(way) {
    const runs: Array<string> = []
    const toolkit = yield* workTools(({ name }) => {
      runs.push(name)
      throw new Error("a bug")
    })
    const chat = yield* begin(way, { toolkit, calls: [work("c1")] })
    yield* Effect.exit(chat.send(yes(...chat.requests)))
    yield* chat.setHistory(chat.asking)
    const turn = yield* chat.send(yes(...chat.requests))
    assert.deepStrictEqual([runs, outcomes(turn), turn.text], [["c1"], ["-c1"], "done"])
    assert.notInclude(C.reasonOf(turn.results[0]!), "a bug")
    C.assertWellFormed(yield* chat.lastPrompt)
  })
})

describe("V7's list: what a turn gives while something waits", () => {
  C.everyWay("V7 sibling results while another waits: the call that nobody gates runs and is given", function*(way) {
    const chat = yield* begin(way, { calls: [C.deleteCall("c1", "a"), C.readCall("c2", "b")] })
    assert.strictEqual(chat.asked.shape, "call call result request finish")
    assert.deepStrictEqual([outcomes(chat.asked), chat.runs], [["c2"], ["read b"]])
    const turn = yield* chat.send(yes(...chat.requests))
    assert.deepStrictEqual([outcomes(turn), turn.text, chat.runs], [["c1"], "done", ["read b", "delete a"]])
    C.assertWellFormed(yield* chat.lastPrompt)
  })

  for (const way of ["streamText", "Chat.streamText"] as const) {
    Support.single(`V7 sibling results are streamed while an approved call still runs [${way}]`, function*() {
      const hold = yield* Support.makeHold
      const seen = yield* Support.makeHold
      const toolkit = yield* workTools(({ name }) => Effect.as(name === "slow" ? hold.wait : Effect.void, name))
      const chat = yield* begin(way, { toolkit, calls: [work("slow"), work("quick"), work("open")] })
      const [slow, quick] = chat.requests
      const onPart = (part: Response.AnyPart) =>
        part.type === "tool-result" && part.id === "quick" ? seen.release : Effect.void
      const turn = yield* Effect.forkChild(chat.send(yes(slow!, quick!), { onPart }))
      yield* hold.entered
      yield* seen.wait
      assert.isUndefined(turn.pollUnsafe())
      yield* hold.release
      const { requests, shape } = yield* Fiber.join(turn)
      assert.deepStrictEqual([shape, requests.map((request) => request.toolCallId)], [
        "result result request finish",
        ["open"]
      ])
    })

    Support.single(`V7 preliminary results of approved tools are streamed as they come [${way}]`, function*() {
      const seen: Array<string> = []
      const hold = yield* Support.makeHold
      const half = yield* Support.makeHold
      const toolkit = yield* workTools((_, context) =>
        Effect.andThen(context.preliminary("half"), Effect.as(hold.wait, "all"))
      )
      const chat = yield* begin(way, { toolkit, calls: [work("c1")] })
      const onPart = (part: Response.AnyPart) => {
        if (part.type !== "tool-result") return Effect.void
        seen.push(`${part.result}`)
        return half.release
      }
      const turn = yield* Effect.forkChild(chat.send(yes(...chat.requests), { onPart }))
      yield* half.wait
      assert.deepStrictEqual(seen, ["half"])
      yield* hold.release
      assert.deepStrictEqual(outcomes(yield* Fiber.join(turn)), ["c1"])
      assert.deepStrictEqual(seen, ["half", "all"])
      assert.deepStrictEqual(C.resultsOf(yield* chat.lastPrompt).map((part) => part.result), ["all"])
    })
  }
})
