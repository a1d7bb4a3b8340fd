/**
 * L11 for tools that wait: a person is asked what a run waits for only while the policy still lets it go on. What is
 * blocked by now ends without a question; where the policy fails it stays open, and nobody is asked either.
 */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { Approval, ApprovalController, ApprovalPolicy, type Prompt } from "../../src/index.ts"
import * as Support from "../waiting/support.ts"

type Judge = Parameters<typeof ApprovalPolicy.make>[0]

const tools = {
  "approved before it began": { call: Support.call("c1", "Gated", { question: "Size?" }), gated: true },
  "that needed nobody to begin": { call: Support.ask("c1", "Size?"), gated: false }
}

/** Somebody who approves everything and answers "42", and a policy that changes its mind. */
const begin = Effect.fnUntraced(function*(mode: Support.Mode, which: keyof typeof tools) {
  const { call, gated } = tools[which]
  const seen: Array<string> = []
  const judged: Array<string> = []
  let judge: Judge = () => gated ? Approval.needsApproval({}) : undefined
  const controller = ApprovalController.interactive((request) => {
    seen.push(request.interaction)
    return request.interaction === "approval" ? Approval.approve(request) : Approval.answer(request, "42")
  })
  const policy = ApprovalPolicy.make((asked) => {
    judged.push(asked.toolName)
    return judge(asked)
  })
  const { chat, first, names, script } = yield* Support.begin(mode, [call])
  const withPolicy = Effect.provideService(ApprovalPolicy.ApprovalPolicy, policy)
  const take = (prompt?: Prompt.RawInput) => withPolicy(chat.take(prompt))
  const asked = gated ? yield* take(Support.answers(Approval.approve(Support.only(first)))) : first
  assert.strictEqual(Support.only(asked).interaction, "askUser")
  return {
    names,
    script,
    seen,
    judged,
    question: Support.only(asked),
    take,
    ask: (prompt?: Prompt.RawInput) =>
      Effect.provideService(take(prompt), ApprovalController.ApprovalController, controller),
    change: (next: Judge) => void (judge = next)
  }
})

for (const which of Object.keys(tools) as Array<keyof typeof tools>) {
  describe(`L11 a tool that waits, ${which}`, () => {
    Support.inEachMode(
      `L11 blocked by now, it ends denied and nobody is asked what it waits for: ${which}`,
      function*(mode) {
        const story = yield* begin(mode, which)
        story.change(() => Approval.blocked("not today"))
        const turn = yield* story.ask()
        assert.deepStrictEqual([story.seen, turn.requests, turn.text], [[], [], "done"])
        assert.match(Support.failureReason(turn.results[0]), /not today/)
        // It stays so: neither an answer nor a policy that lets it pass again makes it go on.
        story.change(() => undefined)
        yield* story.ask(Support.answers(Approval.answer(story.question, "42")))
        assert.deepStrictEqual([story.seen, story.names()], [[], ["start"]])
      }
    )

    const failing: Record<string, Judge> = {
      "fails": () => Effect.fail("the database is down"),
      "dies": () => Effect.die("a mistake"),
      "throws": () => {
        throw new Error("a mistake")
      }
    }
    for (const [how, judge] of Object.entries(failing)) {
      Support.inEachMode(
        `L11 under a policy that ${how} nobody is asked, and it stays open: ${which}`,
        function*(mode) {
          const story = yield* begin(mode, which)
          story.change(judge)
          for (let i = 0; i < 2; i++) {
            const turn = yield* story.ask()
            assert.deepStrictEqual([story.seen, turn.requests.map(({ approvalId }) => approvalId)], [
              [],
              [story.question.approvalId]
            ])
            assert.deepStrictEqual([turn.results, turn.finish], [[], "pause"])
          }
          // Nothing was used up.
          story.change(() => undefined)
          const last = yield* story.ask()
          assert.deepStrictEqual([story.seen, last.text], [["askUser"], "done"])
          assert.deepStrictEqual(story.names(), ["start", "text"])
        }
      )
    }

    Support.inEachMode(`L11 while the policy lets it, a person is asked and it goes on: ${which}`, function*(mode) {
      const story = yield* begin(mode, which)
      const turn = yield* story.ask()
      assert.deepStrictEqual([story.seen, story.names(), turn.text], [["askUser"], ["start", "text"], "done"])
      assert.include(story.judged, which === "that needed nobody to begin" ? "Ask" : "Gated")
    })

    Support.inEachMode(`L11 the policy may change its mind while the person thinks: ${which}`, function*(mode) {
      const story = yield* begin(mode, which)
      const late = ApprovalController.interactive((request) => {
        story.change(() => Approval.blocked("not today"))
        return Approval.answer(request, "42")
      })
      const turn = yield* Effect.provideService(story.take(), ApprovalController.ApprovalController, late)
      assert.match(Support.failureReason(turn.results[0]), /not today/)
      assert.deepStrictEqual(story.names(), ["start"])
    })
  })
}

describe("L11 a tool that waits, approved and asked in one turn", () => {
  Support.inEachMode("L11 blocked since it began, nobody is asked what it waits for", function*(mode) {
    const seen: Array<string> = []
    let began = false
    const policy = ApprovalPolicy.make((call) =>
      call.toolName === "Gated" && began ? Approval.blocked("not today") : undefined
    )
    const controller = ApprovalController.interactive((request) => {
      seen.push(request.interaction)
      return request.interaction === "approval" ? Approval.approve(request) : Approval.answer(request, "42")
    })
    const { toolkit } = yield* Support.makeWaiting(() => Effect.sync(() => void (began = true)))
    const turn = yield* Support.firstTurn(mode, toolkit, [Support.call("c1", "Gated", { question: "Size?" })]).pipe(
      Effect.provideService(ApprovalPolicy.ApprovalPolicy, policy),
      Effect.provideService(ApprovalController.ApprovalController, controller)
    )
    assert.deepStrictEqual([seen, turn.requests], [["approval"], []])
    assert.match(Support.failureReason(turn.results[0]), /not today/)
  })
})
