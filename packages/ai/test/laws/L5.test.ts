/**
 * L5, partial batch waits: while any unsettled call stands in the history the model is not called; settled ones run,
 * their results are returned, open requests are returned again with the same ids, finish reason "pause".
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Approval, Prompt, Response } from "../../src/index.ts"
import * as C from "./conversation.ts"

const two = [C.deleteCall("c1", "a"), C.deleteCall("c2", "b")]
const ids = (turn: C.Turn) => turn.requests.map((request) => request.approvalId)

describe("L5 partial batch waits", () => {
  C.everyWay("L5 B15 two requests, one approved: its result, the other request again, no model call", function*(way) {
    const { runs, toolkit } = yield* C.fileTools
    const chat = yield* C.start({ way, toolkit, turns: [two, "done"] })
    const asked = yield* chat.send("tidy up")
    assert.strictEqual(asked.shape, "call call request request finish")
    assert.isTrue(Response.isWaiting(asked.parts))
    const [first, second] = asked.requests

    const partial = yield* chat.send(Prompt.approvalResponses([Approval.approve(first!)]))
    assert.strictEqual(partial.shape, "result request finish")
    assert.strictEqual(partial.finishReason, "pause")
    assert.isTrue(Response.isWaiting(partial.parts))
    assert.deepStrictEqual(partial.results.map((part) => [part.id, part.result]), [["c1", { deleted: "a" }]])
    assert.deepStrictEqual(ids(partial), [second!.approvalId])
    assert.deepStrictEqual(partial.requests, [second!], "the request is shown as it was the first time")
    assert.deepStrictEqual(runs, ["delete a"])
    assert.strictEqual(yield* chat.calls, 1)

    const rest = yield* chat.send(Prompt.approvalResponses([Approval.approve(second!)]))
    assert.strictEqual(rest.shape, "result text finish")
    assert.deepStrictEqual(runs, ["delete a", "delete b"])
    assert.strictEqual(yield* chat.calls, 2)
    yield* C.assertSent(chat, [
      "user:[tidy up]",
      "assistant:[call c1, call c2]",
      "tool:[result c1, result c2]"
    ])
  })

  C.everyWay("L5 two requests, one denied: its failed result, the other request again", function*(way) {
    const { runs, toolkit } = yield* C.fileTools
    const chat = yield* C.start({ way, toolkit, turns: [two, "done"] })
    const asked = yield* chat.send("tidy up")
    const partial = yield* chat.send(Prompt.approvalResponses([Approval.deny(asked.requests[1]!, "keep b")]))
    assert.strictEqual(partial.shape, "result request finish")
    assert.strictEqual(partial.finishReason, "pause")
    assert.include(C.reasonOf(partial.results[0]!), "keep b")
    assert.strictEqual(partial.results[0]!.id, "c2")
    assert.deepStrictEqual(ids(partial), [asked.requests[0]!.approvalId])
    assert.deepStrictEqual(runs, [])
    assert.strictEqual(yield* chat.calls, 1)
  })

  C.everyWay(
    "L5 polling without answers: the same requests each time, one request each, the model is called once",
    function*(way) {
      const { runs, toolkit } = yield* C.fileTools
      const chat = yield* C.start({ way, toolkit, turns: [two, "done"] })
      const asked = yield* chat.send("tidy up")
      for (let poll = 0; poll < 10; poll++) {
        const turn = yield* chat.send([])
        assert.strictEqual(turn.shape, "request request finish")
        assert.strictEqual(turn.finishReason, "pause")
        assert.deepStrictEqual(turn.requests, asked.requests)
      }
      assert.strictEqual(yield* chat.calls, 1)
      assert.deepStrictEqual(C.pendingOf(yield* chat.history).map((one) => one.approvalId), ids(asked))

      const turn = yield* chat.send(
        C.approveAll(asked)
      )
      assert.strictEqual(turn.shape, "result result text finish")
      assert.deepStrictEqual(runs.toSorted(), ["delete a", "delete b"])
      assert.deepStrictEqual(C.outline(yield* chat.lastPrompt), [
        "user:[tidy up]",
        "assistant:[call c1, call c2]",
        "tool:[result c1, result c2]"
      ], "request-only messages vanish")
    }
  )

  C.everyWay(
    "L5 three requests answered one by one, last first: each result once, all in one tool message",
    function*(way) {
      const { runs, toolkit } = yield* C.fileTools
      const chat = yield* C.start({ way, toolkit, turns: [[...two, C.deleteCall("c3", "c")], "done", "bye"] })
      const asked = yield* chat.send("tidy up")
      const given: Array<string> = []
      for (const request of asked.requests.toReversed()) {
        const turn = yield* chat.send(Prompt.approvalResponses([Approval.approve(request)]))
        given.push(...turn.results.map((part) => part.id))
      }
      assert.deepStrictEqual(given, ["c3", "c2", "c1"])
      assert.deepStrictEqual(runs, ["delete c", "delete b", "delete a"])
      assert.strictEqual(yield* chat.calls, 2)
      yield* chat.send("thanks")
      const prompt = yield* chat.lastPrompt
      C.assertWellFormed(prompt)
      assert.deepStrictEqual(C.outline(prompt).slice(1, 4), [
        "assistant:[call c1, call c2, call c3]",
        "tool:[result c1, result c2, result c3]",
        "assistant:[done]"
      ])
    }
  )

  C.everyWay("L5 an ungated sibling runs at once and only once, the gated one waits", function*(way) {
    const { runs, toolkit } = yield* C.fileTools
    const chat = yield* C.start({ way, toolkit, turns: [[C.readCall("r1", "x"), C.deleteCall("c1", "a")], "done"] })
    const asked = yield* chat.send("tidy up")
    assert.deepStrictEqual(runs, ["read x"])
    assert.deepStrictEqual(asked.results.map((part) => part.id), ["r1"])
    assert.strictEqual(asked.requests.length, 1)
    const poll = yield* chat.send([])
    assert.strictEqual(poll.shape, "request finish")
    const turn = yield* chat.send(Prompt.approvalResponses([Approval.approve(asked.requests[0]!)]))
    assert.strictEqual(turn.shape, "result text finish")
    assert.deepStrictEqual(runs, ["read x", "delete a"])
    const prompt = yield* chat.lastPrompt
    C.assertWellFormed(prompt)
    assert.deepStrictEqual(C.resultsOf(prompt).map((part) => part.id).toSorted(), ["c1", "r1"])
  })

  C.everyWay("L5 the whole batch answered in one message, in any order: the model goes on", function*(way) {
    const { runs, toolkit } = yield* C.fileTools
    const chat = yield* C.start({ way, toolkit, turns: [two, "done"] })
    const asked = yield* chat.send("tidy up")
    const turn = yield* chat.send(Prompt.approvalResponses([
      Approval.deny(asked.requests[1]!),
      Approval.approve(asked.requests[0]!)
    ]))
    assert.strictEqual(turn.shape, "result result text finish")
    assert.strictEqual(turn.text, "done")
    assert.deepStrictEqual(runs, ["delete a"])
    assert.isFalse(Response.isWaiting(turn.parts))
  })

  C.everyWay("L5 a new system message is no user message: the batch still waits", function*(way) {
    const { runs, toolkit } = yield* C.fileTools
    const chat = yield* C.start({ way, toolkit, turns: [two, "done"] })
    const asked = yield* chat.send("tidy up")
    const turn = yield* chat.send([{ role: "system", content: "be brief" }])
    assert.strictEqual(turn.finishReason, "pause")
    assert.deepStrictEqual(ids(turn), ids(asked))
    assert.strictEqual(yield* chat.calls, 1)
    assert.deepStrictEqual(runs, [])
  })

  it.effect("L5 a repeated request carries everything a page shows, in generate and stream", () =>
    C.fresh(Effect.gen(function*() {
      for (const way of ["generateText", "streamText"] as const) {
        const { toolkit } = yield* C.fileTools
        const chat = yield* C.start({ way, toolkit, turns: [two] })
        yield* chat.send("tidy up")
        const poll = yield* chat.send([])
        assert.deepStrictEqual(
          poll.requests.map(({ description, params, toolCallId, toolName }) => [
            toolCallId,
            toolName,
            params,
            description
          ]),
          [
            ["c1", "DeleteFile", { path: "a" }, "DeleteFile(path='a')"],
            ["c2", "DeleteFile", { path: "b" }, "DeleteFile(path='b')"]
          ]
        )
      }
    })))
})
