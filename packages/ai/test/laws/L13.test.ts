/**
 * L13, ids never cross: reused call ids never share approvals or results; a second use within one response is renamed
 * before sealing. (`emission.test.ts` has truncated responses.)
 */
import { assert, describe } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { Approval, Prompt } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as C from "./conversation.ts"
import * as Support from "./support.ts"

const approve = (request: Approval.ApprovalRequest | undefined) =>
  Prompt.approvalResponses([Approval.approve(request!)])

const begin = Effect.fnUntraced(function*(way: C.Way, turns: C.StartOptions["turns"]) {
  const { runs, toolkit } = yield* C.fileTools
  const chat = yield* C.start({ way, toolkit, turns, script: { afterLastTurn: "over" } })
  return { chat, runs, asked: yield* chat.send("tidy up") }
})

const results = (prompt: Prompt.Prompt) =>
  C.resultsOf(prompt).map((part) => part.isFailure ? C.reasonOf(part) : part.result)

describe("L13 ids reused across turns", () => {
  C.everyWay("L13 B10 both approved: each runs its own params once, each result stands at its call", function*(way) {
    const { asked, chat, runs } = yield* begin(way, [
      [C.deleteCall("call", "a")],
      [C.deleteCall("call", "b")],
      "done"
    ])
    const second = yield* chat.send(approve(asked.requests[0]))
    assert.deepStrictEqual(runs, ["delete a"])
    assert.strictEqual(second.requests.length, 1)
    assert.notStrictEqual(second.requests[0]!.approvalId, asked.requests[0]!.approvalId)
    assert.deepStrictEqual(second.requests[0]!.params, { path: "b" })
    yield* chat.send(approve(second.requests[0]))
    assert.deepStrictEqual(runs, ["delete a", "delete b"])
    const prompt = yield* chat.lastPrompt
    C.assertWellFormed(prompt)
    assert.deepStrictEqual(results(prompt), [{ deleted: "a" }, { deleted: "b" }])
    yield* chat.send("thanks")
    assert.deepStrictEqual(results(yield* chat.lastPrompt), [{ deleted: "a" }, { deleted: "b" }])
  })

  C.everyWay("L13 B10 the first approval, sent again, says nothing about the second call", function*(way) {
    const { asked, chat, runs } = yield* begin(way, [
      [C.deleteCall("call", "a")],
      [C.deleteCall("call", "b")],
      "done"
    ])
    const second = yield* chat.send(approve(asked.requests[0]))
    const again = yield* chat.send(approve(asked.requests[0]))
    assert.deepStrictEqual(runs, ["delete a"])
    assert.deepStrictEqual(again.requests.map((request) => request.approvalId), [second.requests[0]!.approvalId])
    assert.strictEqual(again.finishReason, "pause")
    yield* chat.send(Prompt.approvalResponses([Approval.deny(second.requests[0]!, "keep b")]))
    const [first, denied] = results(yield* chat.lastPrompt)
    assert.deepStrictEqual(first, { deleted: "a" })
    assert.include(denied as string, "keep b")
    assert.deepStrictEqual(runs, ["delete a"])
  })

  C.everyWay("L13 B10 the first denied, the second approved: only the second runs", function*(way) {
    const { asked, chat, runs } = yield* begin(way, [
      [C.deleteCall("call", "a")],
      [C.deleteCall("call", "b")],
      "done"
    ])
    const second = yield* chat.send(Prompt.approvalResponses([Approval.deny(asked.requests[0]!, "keep a")]))
    yield* chat.send(approve(second.requests[0]))
    assert.deepStrictEqual(runs, ["delete b"])
    const [denied, ran] = results(yield* chat.lastPrompt)
    assert.include(denied as string, "keep a")
    assert.deepStrictEqual(ran, { deleted: "b" })
    C.assertWellFormed(yield* chat.lastPrompt)
  })

  C.everyWay("L13 B10 the same call, params and id, is another request each time", function*(way) {
    const same = [C.deleteCall("call", "a")]
    const { asked, chat, runs } = yield* begin(way, [same, same, same, "done"])
    const seen = new Set([asked.requests[0]!.approvalId])
    let turn = yield* chat.send(approve(asked.requests[0]))
    for (let round = 0; round < 2; round++) {
      seen.add(turn.requests[0]!.approvalId)
      turn = yield* chat.send(approve(turn.requests[0]))
    }
    assert.strictEqual(seen.size, 3)
    assert.deepStrictEqual(runs, ["delete a", "delete a", "delete a"])
    C.assertWellFormed(yield* chat.lastPrompt)
    assert.strictEqual(C.resultsOf(yield* chat.lastPrompt).length, 3)
  })

  C.everyWay("L13 B10 an ungated call may reuse a gated one's id while that waits", function*(way) {
    const { asked, chat, runs } = yield* begin(way, [[C.deleteCall("call", "a")], [C.readCall("call", "x")], "done"])
    yield* chat.send(approve(asked.requests[0]))
    yield* chat.send("go on")
    assert.deepStrictEqual(runs, ["delete a", "read x"])
    const prompt = yield* chat.lastPrompt
    C.assertWellFormed(prompt)
    assert.deepStrictEqual(results(prompt), [{ deleted: "a" }, "content of x"])
  })

  C.everyWay("L13 B10 a gated call may reuse the id of an ungated one before it", function*(way) {
    const { asked, chat, runs } = yield* begin(way, [[C.readCall("call", "x")], [C.deleteCall("call", "a")], "done"])
    assert.deepStrictEqual(asked.results.map((part) => part.result), ["content of x"])
    const second = yield* chat.send("go on")
    assert.deepStrictEqual(runs, ["read x"])
    yield* chat.send(approve(second.requests[0]))
    assert.deepStrictEqual(runs, ["read x", "delete a"])
    assert.deepStrictEqual(results(yield* chat.lastPrompt), ["content of x", { deleted: "a" }])
    C.assertWellFormed(yield* chat.lastPrompt)
  })

  C.everyWay("L13 a result of a superseded call is not taken for its namesake's", function*(way) {
    const { chat, runs } = yield* begin(way, [[C.deleteCall("call", "a")], [C.deleteCall("call", "b")], "done"])
    const second = yield* chat.send("never mind a, delete b")
    yield* chat.send(approve(second.requests[0]))
    assert.deepStrictEqual(runs, ["delete b"])
    const [superseded, ran] = results(yield* chat.lastPrompt)
    assert.match(superseded as string, /superseded/i)
    assert.deepStrictEqual(ran, { deleted: "b" })
    C.assertWellFormed(yield* chat.lastPrompt)
  })
})

describe("L13 several requests for one call", () => {
  C.everyWay("L13 L4 the answer to a request that somebody put beside ours is no answer to ours", function*(way) {
    const { asked, chat, runs } = yield* begin(way, [[C.deleteCall("call", "a")], "done"])
    const ours = asked.requests[0]!.approvalId
    for (const approvalId of ["made-up", `${ours.slice(0, -1)}${ours.endsWith("A") ? "E" : "A"}`]) {
      yield* chat.setHistory(
        Prompt.fromMessages(
          (yield* chat.history).content.map((message) =>
            message.role !== "assistant" ? message : Prompt.assistantMessage({
              content: [...message.content, Prompt.toolApprovalRequestPart({ approvalId, toolCallId: "call" })]
            })
          )
        )
      )
      yield* chat.send(Prompt.approvalResponses([Approval.approve({ approvalId })]))
      assert.deepStrictEqual(runs, [])
    }
  })
})

describe("L13 ids reused within one response", () => {
  const twins = [C.deleteCall("call", "a"), C.deleteCall("call", "b")]

  C.everyWay("L13 B10 the second is renamed: two calls, two requests, two ids", function*(way) {
    const { asked } = yield* begin(way, [twins])
    const calls = asked.parts.filter((part) => part.type === "tool-call").map((part) => part.id)
    assert.strictEqual(new Set(calls).size, 2, calls.join(" "))
    assert.strictEqual(calls[0], "call")
    assert.deepStrictEqual(asked.requests.map((request) => request.toolCallId), calls)
    assert.deepStrictEqual(asked.requests.map((request) => request.params), [{ path: "a" }, { path: "b" }])
  })

  for (const [chosen, path] of [[0, "a"], [1, "b"]] as const) {
    C.everyWay(`L13 B10 only number ${chosen + 1} approved: only its params run`, function*(way) {
      const { asked, chat, runs } = yield* begin(way, [twins, "done"])
      yield* chat.send(approve(asked.requests[chosen]))
      assert.deepStrictEqual(runs, [`delete ${path}`])
      yield* chat.send(Prompt.approvalResponses([Approval.deny(asked.requests[1 - chosen]!, "keep it")]))
      assert.deepStrictEqual(runs, [`delete ${path}`])
      const prompt = yield* chat.lastPrompt
      C.assertWellFormed(prompt)
      const given = results(prompt)
      assert.deepStrictEqual(given[chosen], { deleted: path })
      assert.include(given[1 - chosen] as string, "keep it")
    })
  }

  C.everyWay("L13 B10 both approved: each runs once, now and on later turns", function*(way) {
    const { asked, chat, runs } = yield* begin(way, [twins, "done", "bye"])
    yield* chat.send(C.approveAll(asked))
    yield* chat.send("thanks")
    assert.deepStrictEqual(runs.toSorted(), ["delete a", "delete b"])
    const prompt = yield* chat.lastPrompt
    C.assertWellFormed(prompt)
    assert.deepStrictEqual(results(prompt), [{ deleted: "a" }, { deleted: "b" }])
  })

  C.everyWay("L13 B10 ungated twins: both run, each has its result", function*(way) {
    const { asked, chat, runs } = yield* begin(way, [[C.readCall("call", "x"), C.readCall("call", "y")], "done"])
    assert.deepStrictEqual(runs.toSorted(), ["read x", "read y"])
    assert.strictEqual(new Set(asked.results.map((part) => part.id)).size, 2)
    yield* chat.send("go on")
    const prompt = yield* chat.lastPrompt
    C.assertWellFormed(prompt)
    assert.deepStrictEqual(results(prompt), ["content of x", "content of y"])
  })

  C.everyWay("L13 B10 a new name does not collide with an id that is used already", function*(way) {
    const { asked, chat, runs } = yield* begin(way, [[...twins, C.deleteCall("call", "c")], "done"])
    const renamed = asked.requests.map((request) => request.toolCallId)
    assert.strictEqual(new Set(renamed).size, 3)
    yield* chat.send(C.approveAll(asked))
    assert.deepStrictEqual(runs.toSorted(), ["delete a", "delete b", "delete c"])
    C.assertWellFormed(yield* chat.lastPrompt)

    // The provider may well use a name that we made up.
    const other = yield* begin(way, [[...twins, C.deleteCall(renamed[1]!, "c")], "done"])
    assert.strictEqual(new Set(other.asked.requests.map((request) => request.toolCallId)).size, 3)
    yield* other.chat.send(
      Prompt.approvalResponses(other.asked.requests.map((request) => Approval.approve(request)))
    )
    assert.deepStrictEqual(other.runs.toSorted(), ["delete a", "delete b", "delete c"])
    C.assertWellFormed(yield* other.chat.lastPrompt)
  })
})

const plain = ["generateText", "streamText"] as const

describe("L9 L13 ids", () => {
  Support.forEachMode(
    "L9 L13 a call of the provider's keeps its id, also beside a call of ours that has it",
    function*(mode) {
      const tools = yield* Support.makeTools()
      const search = ScriptedModel.toolCall({
        id: "c1",
        name: "Search",
        params: { query: "a" },
        providerExecuted: true
      })
      const turn = yield* Support.ask(mode, {
        toolkit: tools.toolkit,
        calls: [Support.call("c1", "ReadFile", { path: "a" }), search]
      })
      const ids = turn.parts.flatMap((part) => part.type === "tool-call" ? [[part.name, part.id]] : [])
      assert.deepStrictEqual(ids, [["ReadFile", "c1"], ["Search", "c1"]])
    },
    plain
  )

  Support.forEachMode(
    "L13 the result of a call that was left without one is marked as one of an earlier message",
    function*(mode) {
      const tools = yield* Support.makeTools()
      const { model } = yield* Support.answering
      const turn = yield* Support.takeTurn(mode, {
        model,
        toolkit: tools.toolkit,
        history: Support.written([Support.callPart("c1", "ReadFile", { path: "a" })])
      })
      assert.deepStrictEqual(turn.results.map((part) => part.metadata), [{ assent: { earlier: true } }])
      assert.include(Support.failureReason(turn.results[0]), "has no result in the conversation")
    }
  )

  Support.forEachMode(
    "L2 a preliminary result of an approved call names its approval, as the last one does",
    function*(mode) {
      const tools = yield* Support.makeTools()
      const preliminary = { result: { deleted: false }, encodedResult: { deleted: false }, isFailure: false }
      const final = { result: { deleted: true }, encodedResult: { deleted: true }, isFailure: false }
      const toolkit = {
        ...tools.toolkit,
        handle: () =>
          Effect.succeed(Stream.make({ ...preliminary, preliminary: true }, { ...final, preliminary: false }))
      } as unknown as Support.AnyToolkit
      const asked = yield* Support.ask(mode, { toolkit, calls: [Support.call("c1", "DeleteFile", { path: "a" })] })
      const { model } = yield* Support.answering
      const turn = yield* Support.takeTurn(mode, {
        model,
        toolkit,
        history: asked.history,
        prompt: Support.answers(Approval.approve(asked.requests[0]!))
      })
      const { approvalId } = asked.requests[0]!
      assert.deepStrictEqual(
        turn.parts.flatMap((part) => part.type === "tool-result" ? [[part.preliminary, part.metadata]] : []),
        [[true, { assent: { approvalId } }], [false, { assent: { approvalId, decidedBy: { via: "message" } } }]]
      )
    },
    ["streamText", "Chat.streamText"]
  )
})
