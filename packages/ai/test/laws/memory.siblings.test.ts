/**
 * An answer to one of several open requests that is to be remembered answers those it covers, in the same turn and in
 * whatever order they stand (issue 5, point 3); what it does not cover stays open (law L5).
 */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { Approval, ApprovalMatcher, Prompt } from "../../src/index.ts"
import * as C from "./conversation.ts"
import * as M from "./remembered.ts"

const everyFile = { covers: ApprovalMatcher.tool.description }

const policy = M.needs({ rememberable: true })

const begin = Effect.fnUntraced(function*(way: C.Way, paths: ReadonlyArray<string>) {
  const { chat, runs } = yield* M.deleting(way, [paths, "done"], { script: { afterLastTurn: "repeat" } })
  const { requests } = yield* policy(chat.send("go"))
  return { chat, requests, runs }
})

const answer = (answers: ReadonlyArray<Approval.ApprovalAnswer>) => Prompt.approvalResponses(answers)

describe("memory: siblings that wait", () => {
  for (const which of [0, 1, 2]) {
    M.everyWay(
      `a yes to number ${which} of three identical requests, to be remembered, answers all of them`,
      function*(way) {
        const { chat, requests, runs } = yield* begin(way, ["a", "a", "a"])
        const turn = yield* policy(chat.send(answer([Approval.approve(requests[which]!, { remember: "session" })])))
        assert.deepStrictEqual([runs.length, turn.requests, turn.text], [3, [], "done"])
        C.assertWellFormed(yield* chat.lastPrompt)
      }
    )

    M.everyWay(`a no to number ${which} of three requests, remembered for all, is the answer to all`, function*(way) {
      const { chat, requests, runs } = yield* begin(way, ["a", "b", "c"])
      const turn = yield* policy(
        chat.send(answer([Approval.deny(requests[which]!, "keep", { remember: everyFile })]))
      )
      assert.deepStrictEqual([runs, turn.requests, turn.text], [[], [], "done"])
      assert.lengthOf(turn.results, 3)
      for (const result of turn.results) assert.include(C.reasonOf(result), "keep")
    })
  }

  M.everyWay(
    "a yes to the second, which another request names too that says nothing, answers the first",
    function*(way) {
      const { chat, requests, runs } = yield* begin(way, ["a", "b"])
      const other = Prompt.toolApprovalRequestPart({ approvalId: "made-up", toolCallId: "c2" })
      const { content } = yield* chat.history
      yield* chat.setHistory(Prompt.fromMessages(content.map((message) =>
        message.role === "assistant"
          ? Prompt.assistantMessage({ ...message, content: [...message.content, other] })
          : message
      )))
      const turn = yield* policy(chat.send(answer([Approval.approve(requests[1]!, { remember: everyFile })])))
      assert.deepStrictEqual([runs.toSorted(), turn.requests, turn.text], [["delete a", "delete b"], [], "done"])
    }
  )

  M.everyWay("what it does not cover stays open, and can be answered later", function*(way) {
    const { chat, requests, runs } = yield* begin(way, ["a", "b", "a"])
    const turn = yield* policy(chat.send(answer([Approval.approve(requests[0]!, { remember: "session" })])))
    assert.deepStrictEqual([runs, turn.requests.map(M.pathOf)], [["delete a", "delete a"], ["b"]])
    const last = yield* policy(chat.send(answer([Approval.deny(requests[1]!)])))
    assert.deepStrictEqual([runs.length, last.text], [2, "done"])
  })

  M.everyWay("an answer of its own is the answer: a yes to one is not undone by a no to its twin", function*(way) {
    const { chat, requests, runs } = yield* begin(way, ["a", "a"])
    const turn = yield* policy(chat.send(answer([
      Approval.approve(requests[0]!),
      Approval.deny(requests[1]!, "once is enough")
    ])))
    assert.deepStrictEqual([runs, turn.results.length], [["delete a"], 2])
  })

  M.everyWay("without a word on remembering the twin waits", function*(way) {
    const { chat, requests, runs } = yield* begin(way, ["a", "a"])
    const turn = yield* policy(chat.send(answer([Approval.approve(requests[0]!)])))
    assert.deepStrictEqual([runs.length, turn.requests.map(({ approvalId }) => approvalId)], [1, [
      requests[1]!.approvalId
    ]])
  })

  M.everyWay("a poll answers what was remembered elsewhere meanwhile", function*(way) {
    const { chat, runs } = yield* begin(way, ["a"])
    const other = yield* M.deleting(way, [["a"]])
    yield* M.person(() => M.yes("session")).answers(other.chat.send("go"))
    const turn = yield* policy(chat.send([]))
    assert.deepStrictEqual([runs, turn.requests, turn.text], [["delete a"], [], "done"])
  })

  M.everyWay("a person who says \"not to be remembered\" is believed, whoever wrote the history", function*(way) {
    const remembers = M.needs({ remember: "session" })
    const { chat } = yield* M.deleting(way, [["a"], "done", ["a"]])
    const asked = yield* remembers(chat.send("one"))
    yield* remembers(chat.send(answer([Approval.approve(asked.requests[0]!, { remember: "none" })])))
    assert.lengthOf((yield* remembers(chat.send("two"))).requests, 1)
  })
})
