/**
 * L2 At most once: however often, in whatever form and by however many readers an approval comes back, its call runs
 * once, and everybody gets the one result.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Ref, Schema } from "effect"
import { Chat as UpstreamChat } from "effect/ai"
import { Approval, LanguageModel, Prompt, Tool } from "../../src/index.ts"
import { StrictProvider } from "../../src/testing/index.ts"
import * as Support from "./support.ts"

const chargeOnce = (mode: Support.Mode, tools: Support.Tools) =>
  Support.ask(mode, { toolkit: tools.toolkit, calls: [Support.call("c1", "Charge", { amount: "12" })] })

/** The one result of a turn is that of the charge, decoded and encoded. */
const assertCharged = (turn: Support.Turn) => {
  assert.deepStrictEqual(turn.results.map((result) => [result.id, result.isFailure]), [["c1", false]])
  assert.deepStrictEqual(turn.results[0]!.result, Support.charged(12))
  assert.deepStrictEqual(turn.results[0]!.encodedResult, Support.chargedEncoded(12))
  assert.strictEqual(turn.text, "done")
  assert.deepStrictEqual(turn.requests, [])
}

describe("L2 at most once: repeated answers", () => {
  Support.forEachMode("L2 B4 at most once: the same approval twice in one message runs once", function*(mode) {
    const tools = yield* Support.makeTools()
    const asked = yield* chargeOnce(mode, tools)
    const { model } = yield* Support.answering
    const yes = Approval.approve(asked.requests[0]!)
    const turn = yield* Support.reply(mode, { asked, model, tools }, Support.answers(yes, yes, yes))
    assertCharged(turn)
    assert.strictEqual(tools.runs.length, 1)
  })

  Support.forEachMode("L2 B4 at most once: the same approval in two messages runs once", function*(mode) {
    const tools = yield* Support.makeTools()
    const asked = yield* chargeOnce(mode, tools)
    const { model } = yield* Support.answering
    const yes = Support.answers(Approval.approve(asked.requests[0]!))
    const turn = yield* Support.reply(mode, { asked, model, tools }, Prompt.concat(yes, yes))
    assertCharged(turn)
    assert.strictEqual(tools.runs.length, 1)
  })

  Support.forEachMode(
    "L2 at most once: an approval that comes again after its result changes nothing",
    function*(mode) {
      const tools = yield* Support.makeTools()
      const asked = yield* chargeOnce(mode, tools)
      const script = yield* Support.answering
      const yes = Support.answers(Approval.approve(asked.requests[0]!))
      const chat = yield* Support.converse(mode, {
        model: script.model,
        toolkit: tools.toolkit,
        history: asked.history
      })
      assertCharged(yield* chat.take(yes))
      for (let i = 0; i < 2; i++) {
        const later = yield* chat.take(yes)
        assert.deepStrictEqual([later.requests, later.results.filter((result) => result.isFailure)], [[], []])
        const sent = yield* Support.sentResults(script)
        assert.deepStrictEqual(sent.map((result) => result.result), [Support.chargedEncoded(12)])
      }
      assert.strictEqual(tools.runs.length, 1)
    }
  )

  Support.forEachMode(
    "L2 B4 at most once: two requests for one call, both approved, run it once with one result",
    function*(mode) {
      const tools = yield* Support.makeTools()
      // The same call was asked about in two chats: two good seals for one and the same call.
      const first = yield* chargeOnce(mode, tools)
      const second = yield* chargeOnce(mode, tools)
      const [one, other] = [first.requests[0]!, second.requests[0]!]
      assert.notStrictEqual(one.approvalId, other.approvalId)
      const both = Support.rewrite(
        first.history,
        (part) => part.type === "tool-approval-request" ? [part, Support.requestPart(other.approvalId, "c1")] : part
      )
      const script = yield* Support.answering
      const turn = yield* Support.takeTurn(mode, {
        model: script.model,
        toolkit: tools.toolkit,
        history: both,
        prompt: Support.answers(Approval.approve(one), Approval.approve(other))
      })
      assert.strictEqual(tools.runs.length, 1)
      assert.strictEqual(turn.results.filter((result) => result.id === "c1" && !result.isFailure).length, 1)
      assert.deepStrictEqual((yield* Support.sentResults(script)).length, 1)
      const history = Support.partsOf(turn.history).filter((part) => part.type === "tool-result")
      assert.strictEqual(history.length, 1)
    }
  )

  Support.forEachMode("L2 at most once: a request repeated by polling is one request", function*(mode) {
    const tools = yield* Support.makeTools()
    const asked = yield* chargeOnce(mode, tools)
    const { model } = yield* Support.answering
    const chat = yield* Support.converse(mode, { model, toolkit: tools.toolkit, history: asked.history })
    for (let i = 0; i < 3; i++) {
      const poll = yield* chat.take()
      assert.deepStrictEqual(
        poll.requests.map((request) => request.approvalId),
        asked.requests.map((request) => request.approvalId)
      )
    }
    assertCharged(yield* chat.take(Support.answers(Approval.approve(asked.requests[0]!))))
    assert.strictEqual(tools.runs.length, 1)
  })
})

describe("L2 at most once: the same history again", () => {
  Support.forEachMode(
    "L2 B6 at most once: the same history sent twice runs once, and gives the same result",
    function*(mode) {
      const tools = yield* Support.makeTools()
      const asked = yield* chargeOnce(mode, tools)
      const { model } = yield* Support.answering
      for (const history of [asked.history, asked.history, Support.throughJson(asked.history)]) {
        assertCharged(
          yield* Support.takeTurn(mode, {
            model,
            toolkit: tools.toolkit,
            history,
            prompt: Support.answers(Approval.approve(asked.requests[0]!))
          })
        )
      }
      assert.deepStrictEqual(tools.runs, [{ name: "Charge", params: { amount: 12 } }])
    }
  )

  Support.forEachMode(
    "L2 at most once: a history answered in one way and sent again in the others runs once",
    function*(mode) {
      const tools = yield* Support.makeTools()
      const asked = yield* chargeOnce(mode, tools)
      const { model } = yield* Support.answering
      for (const other of [mode, ...Support.modes]) {
        assertCharged(
          yield* Support.approve(other, { asked, model, tools })
        )
      }
      assert.strictEqual(tools.runs.length, 1)
    }
  )

  Support.forEachMode(
    "L2 B6 at most once: two fibers with one history at once run it once, and both get it",
    function*(mode) {
      const hold = yield* Support.makeHold
      const tools = yield* Support.makeTools([Support.Charge], {
        Charge: ({ amount }) => Effect.as(hold.wait, Support.charged(amount))
      })
      const asked = yield* chargeOnce(mode, tools)
      const { model } = yield* Support.answering
      const turn = Support.approve(mode, { asked, model, tools })
      const fibers = yield* Effect.forEach([1, 2, 3, 4], () => Effect.forkChild(turn))
      yield* hold.entered
      yield* Support.idle
      assert.strictEqual(tools.runs.length, 1)
      yield* hold.release
      for (const one of yield* Fiber.joinAll(fibers)) assertCharged(one)
      assertCharged(yield* turn)
      assert.strictEqual(tools.runs.length, 1)
    }
  )

  for (const mode of ["Chat.generateText", "Chat.streamText"] as const) {
    Support.single(`L2 B6 at most once: two Chats made from one export run it once [${mode}]`, function*() {
      const tools = yield* Support.makeTools()
      const asked = yield* chargeOnce(mode, tools)
      const { model } = yield* Support.answering
      const exported = yield* Effect.flatMap(UpstreamChat.fromPrompt(asked.history), (chat) => chat.exportJson)
      const turn = Effect.gen(function*() {
        const chat = yield* UpstreamChat.fromJson(exported)
        return yield* Support.takeTurn(mode, {
          model,
          toolkit: tools.toolkit,
          history: yield* Ref.get(chat.history),
          prompt: Support.answers(Approval.approve(asked.requests[0]!))
        })
      })
      for (const one of yield* Effect.all([turn, turn, turn], { concurrency: "unbounded" })) assertCharged(one)
      assertCharged(yield* turn)
      assert.strictEqual(tools.runs.length, 1)
    })
  }

  Support.forEachMode(
    "L2 at most once: of a batch, each call runs once, over two turns and a replay of each",
    function*(mode) {
      const { asked, tools } = yield* Support.asking(
        mode,
        ["c1", "c2", "c3"].map((id) => Support.call(id, "DeleteFile", { path: id }))
      )
      const { model } = yield* Support.answering
      const [one, two, three] = asked.requests.map((request) => Approval.approve(request))
      const turn = (history: Prompt.Prompt, ...list: ReadonlyArray<Approval.ApprovalAnswer>) =>
        Support.takeTurn(mode, { model, toolkit: tools.toolkit, history, prompt: Support.answers(...list) })
      const first = yield* turn(asked.history, one!)
      yield* turn(asked.history, one!)
      assert.strictEqual(tools.runs.length, 1)
      yield* turn(asked.history, one!, two!)
      assert.strictEqual(tools.runs.length, 2)
      const last = yield* turn(first.history, two!, three!)
      yield* turn(first.history, two!, three!)
      yield* turn(asked.history, three!, two!, one!)
      assert.deepStrictEqual(tools.runs.map((run) => JSON.stringify(run.params)).toSorted(), [
        `{"path":"c1"}`,
        `{"path":"c2"}`,
        `{"path":"c3"}`
      ])
      assert.strictEqual(last.text, "done")
      assert.deepStrictEqual(
        StrictProvider.check(Support.rewrite(last.history, dropApprovals)).filter(isAboutCount),
        []
      )
    }
  )
})

const dropApprovals = (part: Prompt.Part) =>
  part.type === "tool-approval-request" || part.type === "tool-approval-response" ? undefined : part

const isAboutCount = ({ rule }: StrictProvider.Violation) => rule === "duplicate-result" || rule === "dangling-call"

describe("L2 at most once: what a result is", () => {
  const outcomes = {
    "a success that decodes": Support.Charge,
    "a success of nothing": Tool.make("Charge", {
      parameters: { amount: Schema.FiniteFromString },
      needsApproval: true
    }),
    "a failure that is returned": Tool.make("Charge", {
      parameters: { amount: Schema.FiniteFromString },
      failure: Schema.Struct({ retryAt: Schema.DateFromString }),
      failureMode: "return",
      needsApproval: true
    }),
    "a success for the model": Tool.make("Charge", {
      parameters: { amount: Schema.FiniteFromString },
      success: Schema.BigIntFromString,
      needsApproval: true,
      toModelOutput: (total) => [Prompt.textPart({ text: `charged ${total}` })]
    })
  }
  const handlers: { readonly [K in keyof typeof outcomes]: Effect.Effect<unknown, unknown> } = {
    "a success that decodes": Effect.succeed(Support.charged(12)),
    "a success of nothing": Effect.void,
    "a failure that is returned": Effect.fail({ retryAt: new Date("2026-01-02T03:04:05.000Z") }),
    "a success for the model": Effect.succeed(12n)
  }
  for (const what of Object.keys(outcomes) as Array<keyof typeof outcomes>) {
    Support.forEachMode(`L2 a repeat gets ${what} exactly as the first reader did`, function*(mode) {
      const tools = yield* Support.makeTools([outcomes[what]], { Charge: () => handlers[what] })
      const asked = yield* chargeOnce(mode, tools)
      const script = yield* Support.answering
      const turn = Effect.gen(function*() {
        const { results, text } = yield* Support.approve(mode, { asked, model: script.model, tools })
        assert.deepStrictEqual([results.length, text], [1, "done"])
        const { encodedResult, isFailure, modelOutput, result } = results[0]!
        return {
          // JSON has no undefined: what a recorded nothing is encoded as.
          encodedResult: encodedResult ?? null,
          isFailure,
          modelOutput,
          result,
          sent: (yield* Support.sentResults(script))[0]!.result
        }
      })
      const first = yield* turn
      assert.strictEqual(first.isFailure, what === "a failure that is returned")
      assert.deepStrictEqual(yield* turn, first)
      assert.strictEqual(tools.runs.length, 1)
    })
  }

  Support.forEachMode("L2 a handler that fails the turn is not run again by a repeat", function*(mode) {
    const tool = Tool.make("Charge", {
      parameters: { amount: Schema.FiniteFromString },
      failure: Schema.String,
      needsApproval: true
    })
    for (const handler of [Effect.fail("no money"), Effect.die(new Error("no power"))]) {
      const tools = yield* Support.makeTools([tool], { Charge: () => handler })
      const asked = yield* chargeOnce(mode, tools)
      const { model } = yield* Support.answering
      const turn = Support.approve(mode, { asked, model, tools })
      for (let i = 0; i < 3; i++) yield* Effect.exit(turn)
      assert.strictEqual(tools.runs.length, 1)
    }
  })

  it("L2 the public list of a history's approvals runs nothing", () => {
    const list = LanguageModel.collectToolApprovals(
      Support.written([Support.callPart("c1", "Charge", {}), Support.requestPart("a1", "c1")], [
        Support.answerPart("a1", true)
      ]).content
    )
    assert.deepStrictEqual([list.approved.length, list.denied.length, list.pending.length], [1, 0, 0])
  })
})
