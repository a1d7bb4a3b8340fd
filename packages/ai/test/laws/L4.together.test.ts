/** Answers that come in one prompt stand alone: what is stale, unknown or forged among them takes nothing with it. */
import { assert, describe } from "@effect/vitest"
import { Approval, Prompt } from "../../src/index.ts"
import * as C from "./conversation.ts"

describe("L4 answers in one prompt", () => {
  C.everyWay("L4 those that have a request count, and the others change nothing", function*(way) {
    const { runs, toolkit } = yield* C.fileTools
    const calls = ["a", "b", "c"].map((path) => C.deleteCall(path, path))
    const chat = yield* C.start({ way, toolkit, turns: [calls, "done"] })
    const [settled, open, denied] = (yield* chat.send("go")).requests
    yield* chat.send(Prompt.approvalResponses([Approval.deny(settled!, "keep it")]))
    const forged = open!.approvalId.replace(/.$/, (last) => last === "A" ? "B" : "A")
    const turn = yield* chat.send(Prompt.approvalResponses([
      Approval.approve(settled!),
      { approvalId: "made-up", approved: true },
      { approvalId: forged, approved: true },
      Approval.approve(open!),
      Approval.deny(denied!, "that one too")
    ]))
    assert.deepStrictEqual(runs, ["delete b"])
    assert.deepStrictEqual(turn.requests, [])
    assert.sameDeepMembers(turn.results.map(({ id, isFailure }) => [id, isFailure]), [["b", false], ["c", true]])
    C.assertWellFormed(yield* chat.lastPrompt)
  })
})
