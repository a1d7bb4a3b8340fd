/**
 * L3 Deny wins over approve for one request, in any order, until claimed; among equals the first wins. Later answers
 * change nothing and harm nothing.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Ref } from "effect"
import { Approval, ApprovalError, Chat, LanguageModel, Prompt } from "../../src/index.ts"
import * as Support from "./support.ts"

const askOne = (mode: Support.Mode, tools: Support.Tools) =>
  Support.ask(mode, { toolkit: tools.toolkit, calls: [Support.call("c1", "DeleteFile", { path: "a" })] })

/** What is said of one request, in order: `"+"` approves, `"-first"` denies with the reason "first". */
const said = (request: Approval.ApprovalRequest, ...words: ReadonlyArray<string>) =>
  words.map((word) => word === "+" ? Approval.approve(request) : Approval.deny(request, word.slice(1)))

const orders: ReadonlyArray<{ readonly words: ReadonlyArray<string>; readonly reason: string }> = [
  { words: ["+", "-first"], reason: "first" },
  { words: ["-first", "+"], reason: "first" },
  { words: ["+", "+", "-first"], reason: "first" },
  { words: ["+", "-first", "+"], reason: "first" },
  { words: ["-first", "+", "+"], reason: "first" },
  { words: ["-first", "-second"], reason: "first" },
  { words: ["-second", "-first"], reason: "second" },
  { words: ["+", "-first", "-second", "+"], reason: "first" },
  { words: ["-first", "+", "-second"], reason: "first" }
]

/** The same answers in one message, each in a message of its own, and partly in the history already. */
const spreads: Record<
  string,
  (history: Prompt.Prompt, list: ReadonlyArray<Approval.ApprovalAnswer>) => readonly [Prompt.Prompt, Prompt.Prompt]
> = {
  "in one message": (history, list) => [history, Support.answers(...list)],
  "in several messages": (history, list) => [
    history,
    list.reduce((prompt, one) => Prompt.concat(prompt, Support.answers(one)), Prompt.empty)
  ],
  "some in the history": (history, [first, ...rest]) => [
    Prompt.concat(history, Support.answers(first!)),
    Support.answers(...rest)
  ]
}

describe("L3 deny wins", () => {
  for (const [how, spread] of Object.entries(spreads)) {
    for (const { reason, words } of orders) {
      Support.forEachMode(`L3 B5 deny wins: ${words.join(" ")} ${how}`, function*(mode) {
        const tools = yield* Support.makeTools()
        const asked = yield* askOne(mode, tools)
        const script = yield* Support.answering
        const [history, prompt] = spread(asked.history, said(asked.requests[0]!, ...words))
        const turn = yield* Support.takeTurn(mode, {
          model: script.model,
          toolkit: tools.toolkit,
          history,
          prompt
        })
        assert.deepStrictEqual([tools.runs, turn.requests], [[], []])
        assert.strictEqual(turn.results.length, 1)
        assert.include(Support.failureReason(turn.results[0]), reason)
        const other = reason === "first" ? "second" : "first"
        assert.notInclude(Support.failureReason(turn.results[0]), other)
        assert.strictEqual(turn.text, "done")
        const sent = yield* Support.sentResults(script)
        assert.deepStrictEqual(sent.map((result) => result.isFailure), [true])
      })
    }
  }

  Support.forEachMode("L3 deny wins in a turn of its own, whatever came with later turns", function*(mode) {
    const tools = yield* Support.makeTools()
    const asked = yield* askOne(mode, tools)
    const script = yield* Support.answering
    const request = asked.requests[0]!
    const chat = yield* Support.converse(mode, {
      model: script.model,
      toolkit: tools.toolkit,
      history: asked.history
    })
    const first = yield* chat.take(Support.answers(...said(request, "-first")))
    assert.include(Support.failureReason(first.results[0]), "first")
    for (const words of [["+"], ["-second"], ["+", "-second"]]) {
      const later = yield* chat.take(Support.answers(...said(request, ...words)))
      assert.deepStrictEqual([tools.runs, later.requests], [[], []])
      const sent = yield* Support.sentResults(script)
      assert.deepStrictEqual(sent.map(Support.failureReason), [Support.failureReason(first.results[0])])
    }
  })

  it("L3 the public list of a history's approvals lets deny win, and the first of its kind", () => {
    const parts = (...list: ReadonlyArray<Prompt.ToolMessagePart>) =>
      LanguageModel.collectToolApprovals(
        Support.written([Support.callPart("c1", "DeleteFile", {}), Support.requestPart("a1", "c1")], list).content
      )
    const yes = Support.answerPart("a1", true, "yes")
    const no = (reason: string) => Support.answerPart("a1", false, reason)
    for (const list of [[yes, no("first"), no("second")], [no("first"), yes, no("second")], [no("first"), yes, yes]]) {
      const { approved, denied, pending } = parts(...list)
      assert.deepStrictEqual([approved.length, denied.length, pending.length], [0, 1, 0])
      assert.strictEqual(denied[0]!.response?.reason, "first")
      assert.strictEqual(denied[0]!.responses.length, list.length)
    }
  })
})

describe("L3 deny wins until claimed", () => {
  Support.forEachMode("L3 a denial after the run has finished does not change the result", function*(mode) {
    const tools = yield* Support.makeTools()
    const asked = yield* askOne(mode, tools)
    const script = yield* Support.answering
    const request = asked.requests[0]!
    const options = { model: script.model, toolkit: tools.toolkit }
    const first = yield* Support.takeTurn(mode, {
      ...options,
      history: asked.history,
      prompt: Support.answers(...said(request, "+"))
    })
    // Once after the result stands in the history, and once in a history that knows nothing of it.
    for (const history of [first.history, asked.history]) {
      for (const words of [["-late"], ["+", "-late"], ["-late", "+"]]) {
        const turn = yield* Support.takeTurn(mode, {
          ...options,
          history,
          prompt: Support.answers(...said(request, ...words))
        })
        // Where the result stands in the history, there is nothing to call the model for.
        assert.deepStrictEqual([turn.text, turn.requests], [history === first.history ? "" : "done", []])
        assert.lengthOf(turn.results, 1)
        for (const result of turn.results) assert.deepStrictEqual(result.result, { deleted: true })
        const sent = yield* Support.sentResults(script)
        assert.deepStrictEqual(sent.map((result) => result.result), [{ deleted: true }])
        assert.isFalse(JSON.stringify(turn.parts).includes("late"))
      }
    }
    assert.strictEqual(tools.runs.length, 1)
  })

  Support.forEachMode("L3 a denial while the tool runs does not change the result", function*(mode) {
    const hold = yield* Support.makeHold
    const tools = yield* Support.makeTools([Support.DeleteFile], {
      DeleteFile: () => Effect.as(hold.wait, { deleted: true })
    })
    const asked = yield* askOne(mode, tools)
    const { model } = yield* Support.answering
    const request = asked.requests[0]!
    const take = (...words: ReadonlyArray<string>) =>
      Support.reply(mode, { asked, model, tools }, Support.answers(...said(request, ...words)))
    const first = yield* Effect.forkChild(take("+"))
    yield* hold.entered
    const late = yield* Effect.forEach([["-late"], ["+", "-late"]], (words) => Effect.forkChild(take(...words)))
    yield* Support.idle
    yield* hold.release
    for (const turn of yield* Fiber.joinAll([first, ...late])) {
      assert.deepStrictEqual(turn.results.map((result) => result.result), [{ deleted: true }])
    }
    assert.strictEqual(tools.runs.length, 1)
  })

  Support.forEachMode(
    "L3 of an approval and a denial at once, one counts, and both readers are told the same",
    function*(mode) {
      for (let i = 0; i < 5; i++) {
        const tools = yield* Support.makeTools()
        const asked = yield* askOne(mode, tools)
        const { model } = yield* Support.answering
        const take = (...words: ReadonlyArray<string>) =>
          Support.reply(mode, { asked, model, tools }, Support.answers(...said(asked.requests[0]!, ...words)))
        const turns = yield* Effect.all([take("+"), take("-no"), take("+"), take("-no")], {
          concurrency: "unbounded"
        })
        const told = new Set(turns.map((turn) => JSON.stringify(turn.results.map((result) => result.encodedResult))))
        assert.strictEqual(told.size, 1)
        assert.strictEqual(tools.runs.length, turns[0].results[0]!.isFailure ? 0 : 1)
      }
    }
  )

  Support.forEachMode("L3 in a batch, what ran stays done while a sibling is still open", function*(mode) {
    const { asked, tools } = yield* Support.asking(
      mode,
      ["c1", "c2"].map((id) => Support.call(id, "DeleteFile", { path: id }))
    )
    const script = yield* Support.answering
    const [one, two] = [asked.requests[0]!, asked.requests[1]!]
    const chat = yield* Support.converse(mode, {
      model: script.model,
      toolkit: tools.toolkit,
      history: asked.history
    })
    yield* chat.take(Support.answers(...said(one, "+")))
    const turn = yield* chat.take(Support.answers(...said(one, "-late"), ...said(two, "-no")))
    assert.strictEqual(turn.text, "done")
    const sent = yield* Support.sentResults(script)
    assert.deepStrictEqual(sent.map((result) => [result.id, result.isFailure]), [["c1", false], ["c2", true]])
    assert.strictEqual(tools.runs.length, 1)
  })
})

describe("L3 later answers", () => {
  for (const mode of ["Chat.generateText", "Chat.streamText"] as const) {
    Support.single(`L3 Chat.answer says AlreadyDecided for a late answer, and changes nothing [${mode}]`, function*() {
      const tools = yield* Support.makeTools()
      const { model } = yield* Support.answering
      for (const [word, state] of [["+", "done"], ["-no", "denied"]] as const) {
        const asked = yield* askOne(mode, tools)
        const request = asked.requests[0]!
        const settled = yield* Support.reply(mode, { asked, model, tools }, Support.answers(...said(request, word)))
        const chat = yield* Chat.fromPrompt(settled.history)
        for (const late of ["+", "-late"]) {
          const error = yield* Effect.flip(Chat.answer(chat, said(request, late)))
          assert.instanceOf(error, ApprovalError.ApprovalError)
          assert.deepInclude(error.reason, { _tag: "AlreadyDecided", state })
          assert.strictEqual(yield* Ref.get(chat.history), settled.history)
        }
      }
    })

    Support.single(
      `L4 Chat.answer takes the answers that have a request, and names the others with why [${mode}]`,
      function*() {
        const tools = yield* Support.makeTools()
        const asked = yield* askOne(mode, tools)
        const request = asked.requests[0]!
        const chat = yield* Chat.fromPrompt(asked.history)
        const refused = yield* Chat.answer(chat, [
          { approvalId: "made-up", approved: true },
          ...said(request, "-no"),
          { approvalId: request.approvalId, approved: "maybe" } as never
        ])
        assert.deepStrictEqual(refused.map(({ approvalId, error }) => [approvalId, error.reason._tag]), [
          [request.approvalId, "InvalidAnswer"],
          ["made-up", "UnknownApproval"]
        ])
        const { denied } = LanguageModel.collectToolApprovals((yield* Ref.get(chat.history)).content)
        assert.deepStrictEqual(denied.map(({ approvalId }) => approvalId), [request.approvalId])
      }
    )

    Support.single(`L3 Chat.answer lets deny win before the next turn carries the answers out [${mode}]`, function*() {
      const tools = yield* Support.makeTools()
      const asked = yield* askOne(mode, tools)
      const { model } = yield* Support.answering
      const request = asked.requests[0]!
      const chat = yield* Chat.fromPrompt(asked.history)
      yield* Chat.answer(chat, said(request, "+"))
      yield* Chat.answer(chat, said(request, "-changed my mind"))
      const turn = yield* Support.takeTurn(mode, {
        model,
        toolkit: tools.toolkit,
        history: yield* Ref.get(chat.history)
      })
      assert.deepStrictEqual(tools.runs, [])
      assert.include(Support.failureReason(turn.results[0]), "changed my mind")
    })
  }
})
