/** Trust goes in as it came: untrusted edits, forged and foreign ids, and who decided. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { Approval, ApprovalPolicy, Response } from "../../src/index.ts"
import * as Laws from "../laws/support.ts"
import * as S from "./support.ts"
import * as Tree from "./tree.ts"

const { yes } = S

const innermost = "r.00.00.00"

describe("an edit in a message history, which anybody may have written", () => {
  S.inWays(
    "L4 is no answer to what is asked three levels deep: nothing runs, and it is asked again as it was",
    function*(way) {
      const play = yield* S.begin(way, Tree.threeLevels)
      yield* play.begin
      const edit = S.answerTo(play.seen.get(innermost)!, S.edited("mallory"))
      const turn = yield* play.take([], [edit])
      yield* play.check(turn)
      yield* play.answer({ [innermost]: yes, "r.01": yes, "r.00.01": yes })
    },
    ["streamText"]
  )

  S.inWays("L4 is none beside answers that count, which do", function*(way) {
    const play = yield* S.begin(way, Tree.threeLevels)
    yield* play.begin
    const edit = S.answerTo(play.seen.get(innermost)!, S.edited("mallory"))
    const turn = yield* play.take([], [...play.answersFor({ "r.00.01": yes }), edit])
    yield* play.check(turn)
    assert.include(play.did, "paid:r.00.01")
  }, ["streamText"])
})

describe("an answer to what was asked elsewhere", () => {
  S.inWays("L4 deep in another conversation is unknown here, and stays open there", function*(way) {
    const store = yield* S.makeStore
    const other = yield* S.begin("send", Tree.threeLevels, { store, id: "c2" })
    yield* other.begin
    const play = yield* S.begin(way, Tree.threeLevels, { store })
    yield* play.begin
    for (const request of other.seen.values()) {
      yield* S.refused(play, [Approval.approve(request)], "UnknownApproval")
    }
    // Beside one that counts it is refused alone.
    const both = [Approval.approve(other.seen.get(innermost)!), ...play.answersFor({ [innermost]: yes })]
    const turn = yield* play.take([], both)
    yield* play.check(turn)
    if (!S.isHeld(way)) assert.lengthOf(turn.refused, 1)
    yield* other.check()
  }, [...S.someWays, "send"])

  it.effect("L4 by another principal, in another scope of the same id, is unknown", () =>
    Effect.gen(function*() {
      const store = yield* S.makeStore
      const other = yield* S.begin("send", Tree.threeLevels, { store, scope: { tenant: "b" } })
      yield* other.begin
      const play = yield* S.begin("send", Tree.threeLevels, { store, scope: { tenant: "a" } })
      yield* play.begin
      yield* S.refused(play, [Approval.approve(other.seen.get(innermost)!)], "UnknownApproval")
      yield* other.check()
    }))

  it.effect("L2 is known as decided where it was decided, at every level, also in another process", () =>
    Effect.gen(function*() {
      const play = yield* S.begin("send", Tree.threeLevels)
      yield* play.begin
      yield* play.answer({ [innermost]: yes })
      yield* play.restart
      yield* S.refused(play, [S.answerTo(play.seen.get(innermost)!, S.no)], "AlreadyDecided")
      yield* play.check()
    }))
})

describe("who decided", () => {
  it.effect("L16 goes in with the answer, and is told of by the outermost", () =>
    Effect.gen(function*() {
      const play = yield* S.begin("send", Tree.threeLevels)
      yield* play.begin
      yield* play.conversation().decide(play.answersFor({ [innermost]: yes }), { by: { id: "ada", name: "Ada" } })
      yield* play.check()
      const state = yield* play.conversation().stateOf(play.seen.get(innermost)!.approvalId)
      assert.strictEqual(state?.state, "done")
      assert.deepInclude(state?.decidedBy, { id: "ada", name: "Ada" })
    }))

  it.effect("L16 where two have to agree, inside, one of each list does, and nobody else", () =>
    Effect.gen(function*() {
      const play = yield* S.begin("send", Tree.threeLevels)
      const policy = ApprovalPolicy.make((call) =>
        call.toolName === "Pay" ? Approval.needsApproval({ approvers: [["ada"], ["kim"]] }) : Approval.preApproved()
      )
      const asked = yield* Effect.provideService(play.take("Task r"), ApprovalPolicy.ApprovalPolicy, policy)
      const request = asked.requests.find((request) => S.keyOf(request) === innermost)!
      assert.deepStrictEqual(request.approvers, [["ada"], ["kim"]])
      const decide = (id: string) =>
        Effect.provideService(
          play.conversation().decide(Approval.approve(request), { by: { id } }),
          ApprovalPolicy.ApprovalPolicy,
          policy
        )
      assert.strictEqual(S.refusal(yield* Effect.flip(decide("mallory"))), "NotAnApprover")
      yield* decide("ada")
      assert.notInclude(play.did, `paid:${innermost}`)
      assert.strictEqual(S.refusal(yield* Effect.flip(decide("ada"))), "NotAnApprover")
      yield* play.restart
      yield* decide("kim")
      assert.include(play.did, `paid:${innermost}`)
    }))
})

describe("a page that has lost the metadata of an inner request", () => {
  S.inWays("L4 shows a call that it does not know, and never the parameters of the outer one", function*(way) {
    const play = yield* S.begin(way, Tree.threeLevels)
    const { script, serving, toolkit } = play.process()
    const { parts } = yield* serving(
      Laws.takeTurn(way as Laws.Mode, { model: script.model, toolkit, prompt: "Task r" })
    )
    const bare = parts.map((part) =>
      part.type === "tool-approval-request" ? { ...part, metadata: {} } as typeof part : part
    )
    const shown = Response.approvalRequests(bare)
    assert.lengthOf(shown, 3)
    const inner = shown.filter(({ toolCallId }) => toolCallId.includes("/"))
    assert.lengthOf(inner, 2)
    for (const { description, params } of inner) {
      assert.notInclude(description, "Agent")
      assert.notInclude(JSON.stringify(params), "r.00")
    }
  }, ["streamText"])
})

describe("a yes for a call that has ended", () => {
  S.inWays("L2 the very same answer again, in the same history or conversation, runs nothing again", function*(way) {
    const play = yield* S.begin(way, Tree.threeLevels)
    yield* play.begin
    const answers = play.answersFor({ [innermost]: yes, "r.00.01": yes })
    yield* play.check(yield* play.take([], answers))
    const exit = yield* Effect.exit(play.take([], answers))
    if (!S.isHeld(way)) assert.isTrue(Exit.isFailure(exit))
    yield* play.check()
  })
})
