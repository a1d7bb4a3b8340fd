/**
 * L2: the journal says what became of a call before anybody's policy is asked. An approval of a call that ended, edited
 * or not, gets what is on record, whatever a policy would say of it by now.
 */
import { assert, describe } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { Approval, ApprovalPolicy, Tool } from "../../src/index.ts"
import * as Support from "./support.ts"

const Pay = Tool.make("Pay", {
  parameters: { amount: Schema.Number },
  success: Schema.String,
  failure: Schema.String,
  failureMode: "return",
  needsApproval: true
})

const begin = Effect.fnUntraced(function*(mode: Support.Mode, outcome: Effect.Effect<string, string>) {
  const asked: Array<string> = []
  const presented: Array<number> = []
  const policy = ApprovalPolicy.make((call) => {
    asked.push(JSON.stringify(call.encodedParams))
    return Approval.needsApproval({ editable: true })
  })
  const shown = Tool.present(Pay, ({ amount }) =>
    Effect.sync(() => {
      presented.push(amount)
      return new Approval.ApprovalPresentation({ type: "text", content: `pay ${amount}` })
    }))
  const tools = yield* Support.makeTools([shown], { Pay: () => outcome })
  const withPolicy = Effect.provideService(ApprovalPolicy.ApprovalPolicy, policy)
  const first = yield* withPolicy(Support.ask(mode, {
    toolkit: tools.toolkit,
    calls: [Support.call("c1", "Pay", { amount: 1000 })]
  }))
  const script = yield* Support.answering
  const take = (...answers: ReadonlyArray<Approval.ApprovalAnswer>) =>
    Effect.gen(function*() {
      asked.length = 0
      presented.length = 0
      const turn = yield* withPolicy(
        Support.reply(mode, { asked: first, model: script.model, tools }, Support.answers(...answers))
      )
      return { turn, asked: [...asked, ...presented] }
    })
  return { request: first.requests[0]!, take, tools }
})

/** What can be said again of a call, once it ended. */
const again = {
  "the same edit": (request: Approval.ApprovalRequest) => [Approval.approve(request, { params: { amount: 10 } })],
  "another edit": (request: Approval.ApprovalRequest) => [Approval.approve(request, { params: { amount: 20 } })],
  "an edit that does not fit": (request: Approval.ApprovalRequest) => [
    Approval.approve(request, { params: { amount: "x" } })
  ],
  "a plain approval and an edit": (request: Approval.ApprovalRequest) => [
    Approval.approve(request),
    Approval.approve(request, { params: { amount: 10 } })
  ],
  "a plain approval": (request: Approval.ApprovalRequest) => [Approval.approve(request)]
}

const ends: Record<string, {
  readonly outcome: Effect.Effect<string, string>
  readonly answer: (request: Approval.ApprovalRequest) => Approval.ApprovalAnswer
  readonly result: (turn: Support.Turn) => void
  readonly runs: number
}> = {
  "done": {
    outcome: Effect.succeed("paid"),
    answer: (request) => Approval.approve(request, { params: { amount: 10 } }),
    result: (turn) => assert.deepStrictEqual(turn.results.map(({ result }) => result), ["paid"]),
    runs: 1
  },
  "failed": {
    outcome: Effect.fail("no money"),
    answer: (request) => Approval.approve(request, { params: { amount: 10 } }),
    result: (turn) =>
      assert.deepStrictEqual(turn.results.map(({ isFailure, result }) => [isFailure, result]), [[true, "no money"]]),
    runs: 1
  },
  "denied": {
    outcome: Effect.succeed("paid"),
    answer: (request) => Approval.deny(request, "never"),
    result: (turn) => assert.match(Support.failureReason(turn.results[0]), /never/),
    runs: 0
  }
}

for (const [state, { answer, outcome, result, runs }] of Object.entries(ends)) {
  describe(`L2 a call that is ${state}`, () => {
    for (const [what, answers] of Object.entries(again)) {
      Support.forEachMode(
        `L2 ${what} of a call that is ${state} asks no policy: what is on record is given`,
        function*(mode) {
          const { request, take, tools } = yield* begin(mode, outcome)
          result((yield* take(answer(request))).turn)
          const later = yield* take(...answers(request))
          result(later.turn)
          assert.deepStrictEqual([later.turn.requests, later.turn.text], [[], "done"])
          assert.deepStrictEqual(later.asked, [])
          assert.deepStrictEqual(tools.runs.map(({ params }) => params), runs === 0 ? [] : [{ amount: 10 }])
        }
      )
    }
  })
}
