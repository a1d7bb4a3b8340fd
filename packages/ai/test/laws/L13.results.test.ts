/** L13 which of the calls with one id a result, a request or an answer belongs to. */
import { assert, describe } from "@effect/vitest"
import { Approval, Prompt } from "../../src/index.ts"
import { assistant, call, result, results, send, tool, user } from "./byHand.ts"
import * as Support from "./support.ts"

describe("L13 which result belongs to which call", () => {
  // A gated call that ran has a result that names its approval, wherever the writer of the history put it.
  const twice = [
    user("Go on."),
    assistant(call("c1", "a"), Support.requestPart("r1", "c1")),
    user("And again."),
    assistant(call("c1", "b"), Support.requestPart("r2", "c1"))
  ]
  const stories: Record<
    string,
    readonly [written: ReadonlyArray<Prompt.ToolResultPart>, sent: ReadonlyArray<unknown>]
  > = {
    "in their order": [[result("c1", "one", { approvalId: "r1" }), result("c1", "two", { approvalId: "r2" })], [
      "one",
      "two"
    ]],
    "the other way round": [[result("c1", "two", { approvalId: "r2" }), result("c1", "one", { approvalId: "r1" })], [
      "one",
      "two"
    ]],
    "one of them again": [
      [
        result("c1", "one", { approvalId: "r1" }),
        result("c1", "one more", { approvalId: "r1" }),
        result("c1", "two", { approvalId: "r2" })
      ],
      ["one", "two"]
    ],
    "one of another call": [
      [
        result("c2", "another's", { approvalId: "r1" }),
        result("c1", "one", { approvalId: "r1" }),
        result("c1", "two", { approvalId: "r2" })
      ],
      ["one", "two"]
    ],
    "the later one without a name, and both": [[result("c1", "two"), result("c1", "one", { approvalId: "r1" })], [
      "one",
      "two"
    ]],
    "names that are none": [[result("c1", "two", { approvalId: 7 }), result("c1", "one", { approvalId: null })], [
      "one",
      "two"
    ]],
    "a name that nothing has": [[result("c1", "two", { approvalId: "r9" }), result("c1", "one", { other: true })], [
      "one",
      "two"
    ]],
    "marks that are none": [[result("c1", "two", null), result("c1", "one", "r2")], ["one", "two"]]
  }
  for (const [title, [written, sent]] of Object.entries(stories)) {
    Support.forEachMode(`L13 results of an id used twice, ${title}: each finds its call`, function*(mode) {
      const it = yield* send(mode, [...twice, tool(...written)])
      assert.deepStrictEqual(results(it.sent), sent)
    }, ["generateText", "streamText"])
  }

  const lost = { earlier: true }
  const thrice = [user("Go on."), assistant(call("c1", "a")), assistant(call("c1", "b")), assistant(call("c1", "c"))]
  const marked: Record<string, readonly [written: ReadonlyArray<Prompt.ToolResultPart>, sent: ReadonlyArray<unknown>]> =
    {
      "none is marked: the latest first": [[result("c1", 3), result("c1", 2), result("c1", 1)], [1, 2, 3]],
      "all but the latest are marked": [[result("c1", 1, lost), result("c1", 2, lost), result("c1", 3)], [1, 2, 3]],
      "the marked ones come last": [[result("c1", 3), result("c1", 1, lost), result("c1", 2, lost)], [1, 2, 3]],
      "one is marked": [[result("c1", 1, lost), result("c1", 3), result("c1", 2)], [1, 2, 3]],
      "all are marked: the last is for the latest": [
        [result("c1", 1, lost), result("c1", 2, lost), result("c1", 3, lost)],
        [1, 2, 3]
      ],
      "there are more than calls": [
        [result("c1", 1, lost), result("c1", 2, lost), result("c1", 3, lost), result("c1", 4, lost), result("c1", 5)],
        [1, 2, 3]
      ]
    }
  for (const [title, [written, sent]] of Object.entries(marked)) {
    Support.forEachMode(`L13 results of calls lost earlier, and of an id used again; ${title}`, function*(mode) {
      const it = yield* send(mode, [...thrice, tool(...written)])
      assert.deepStrictEqual(results(it.sent), sent)
    }, ["generateText", "streamText"])
  }

  Support.forEachMode("L13 a call's first result is its result", function*(mode) {
    const it = yield* send(mode, [
      user("Go on."),
      assistant(call("c1")),
      tool(result("c1", "first"), result("c1", "x"))
    ])
    assert.deepStrictEqual(results(it.sent), ["first"])
  })

  Support.forEachMode("L4 L13 of two requests for one call each can be answered", function*(mode) {
    for (const which of [0, 1]) {
      const tools = yield* Support.makeTools()
      const calls = [Support.call("c1", "DeleteFile", { path: "a" })]
      const first = yield* Support.ask(mode, { toolkit: tools.toolkit, calls })
      const second = yield* Support.ask(mode, { toolkit: tools.toolkit, calls })
      const ids = [first.requests[0]!.approvalId, second.requests[0]!.approvalId]
      const { model } = yield* Support.answering
      yield* Support.takeTurn(mode, {
        model,
        toolkit: tools.toolkit,
        history: Prompt.fromMessages([
          user("Go on."),
          assistant(
            Support.callPart("c1", "DeleteFile", { path: "a" }),
            ...ids.map((id) => Support.requestPart(id, "c1"))
          )
        ]),
        prompt: Support.answers(Approval.approve({ approvalId: ids[which]! }))
      })
      assert.deepStrictEqual(tools.runs.map((run) => run.params), [{ path: "a" }])
    }
  })

  Support.forEachMode("L5 a request is open in a history that begins with it", function*(mode) {
    const { asked } = yield* Support.asking(mode, [Support.call("c1", "DeleteFile", { path: "a" })])
    const it = yield* send(mode, asked.history.content.filter((message) => message.role === "assistant"))
    assert.deepStrictEqual(it.turn.requests, asked.requests)
  })
})
