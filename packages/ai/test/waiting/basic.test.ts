/** Tools that wait: the way from a call to its result, over the requests as which it waits. */
import { assert, describe } from "@effect/vitest"
import { TestClock } from "effect/testing"
import { Approval, DeferredTool, SuspensionStore } from "../../src/index.ts"
import * as Support from "./support.ts"

describe("a tool that waits", () => {
  Support.inEachMode("two approvals, one after the other, and then the result", function*(mode) {
    const { chat, first, names, script, steps } = yield* Support.begin(mode, [Support.submit("c1")])
    assert.isTrue(first.waiting)
    assert.deepStrictEqual(first.results, [])
    const manager = Support.only(first)
    assert.deepStrictEqual(
      [manager.interaction, manager.awaited?.name, manager.awaited?.prompt, manager.description, manager.params],
      ["getApproval", "manager", "$250 for chairs?", "$250 for chairs?", { item: "chairs", amount: "250" }]
    )
    const second = yield* chat.take(Support.answers(Approval.approve(manager, { note: "fine" })))
    assert.strictEqual(second.finish, "pause")
    const director = Support.only(second)
    assert.deepStrictEqual([director.awaited?.name, director.toolCallId], ["director", "c1"])
    assert.notStrictEqual(director.approvalId, manager.approvalId)
    assert.deepStrictEqual(second.results, [])
    assert.strictEqual(yield* script.calls, 1)
    const third = yield* chat.take(Support.answers(Approval.approve(director)))
    assert.isFalse(third.waiting)
    assert.deepStrictEqual(Support.resultsOf(third), [
      ["c1", { said: "chairs approved by manager, director", at: Support.at }]
    ])
    assert.strictEqual(third.text, "done")
    const sent = yield* Support.sentResults(script)
    assert.deepStrictEqual(sent.map(({ result }) => result), [{
      said: "chairs approved by manager, director",
      at: "2026-01-02T03:04:05.000Z"
    }])
    const expense = new Support.Expense({ item: "chairs", amount: 250 })
    assert.deepStrictEqual(steps, [
      ["start", expense],
      ["manager", { approved: true, note: "fine" }, expense, []],
      ["director", { approved: true }, expense, ["manager"]]
    ])
    assert.strictEqual((yield* chat.take("Thanks")).text, "done")
    assert.deepStrictEqual(names(), ["start", "manager", "director"])
  })

  Support.inEachMode("beside a plain tool: that one runs, and the model is called when both are done", function*(mode) {
    const { chat, first, names, script } = yield* Support.begin(mode, [
      Support.ask("c1", "Which?"),
      Support.call("c2", "ReadFile", { path: "a" }),
      Support.call("c3", "DeleteFile", { path: "b" })
    ])
    assert.deepStrictEqual(first.requests.map(({ interaction, toolCallId }) => [toolCallId, interaction]), [
      ["c1", "askUser"],
      ["c3", "approval"]
    ])
    assert.deepStrictEqual(Support.resultsOf(first), [["c2", "text of a"]])
    const [question, approval] = first.requests
    const second = yield* chat.take(Support.answers(Approval.answer(question!, "that one")))
    assert.deepStrictEqual(Support.resultsOf(second), [["c1", "that one"]])
    assert.deepStrictEqual(second.requests.map(({ approvalId }) => approvalId), [approval!.approvalId])
    assert.strictEqual(yield* script.calls, 1)
    const third = yield* chat.take(Support.answers(Approval.approve(approval!)))
    assert.deepStrictEqual(Support.resultsOf(third), [["c3", { deleted: true }]])
    assert.strictEqual(third.text, "done")
    assert.deepStrictEqual(names().toSorted(), ["DeleteFile", "ReadFile", "start", "text"])
  })

  Support.inEachMode("several wait in one batch, and are answered in any order", function*(mode) {
    const { chat, first, names } = yield* Support.begin(mode, [
      Support.ask("c1", "One?"),
      Support.ask("c2", "Two?"),
      Support.submit("c3")
    ])
    assert.deepStrictEqual(first.requests.map(({ description }) => description), [
      "One?",
      "Two?",
      "$250 for chairs?"
    ])
    const [one, two, three] = first.requests
    const second = yield* chat.take(Support.answers(Approval.approve(three!), Approval.answer(two!, "2")))
    assert.deepStrictEqual(Support.resultsOf(second), [["c2", "2"]])
    assert.deepStrictEqual(second.requests.map(({ description }) => description), ["One?", "And you?"])
    const third = yield* chat.take(Support.answers(Approval.answer(one!, "1")))
    const last = yield* chat.take(Support.answers(Approval.deny(Support.only(third), "too much")))
    assert.deepStrictEqual(Support.resultsOf(last), [["c3", { message: "rejected by director" }]])
    assert.strictEqual(last.text, "done")
    assert.strictEqual(names().filter((name) => name === "start").length, 3)
  })

  Support.inEachMode("it may need approval before it begins", function*(mode) {
    const { chat, first, steps } = yield* Support.begin(mode, [Support.call("c1", "Gated", { question: "Size?" })])
    const approval = Support.only(first)
    assert.deepStrictEqual([approval.interaction, approval.awaited, steps.length], ["approval", undefined, 0])
    const second = yield* chat.take(Support.answers(Approval.approve(approval)))
    const question = Support.only(second)
    assert.deepStrictEqual([question.interaction, question.description], ["askUser", "Size?"])
    const third = yield* chat.take(Support.answers(Approval.answer(question, "42")))
    assert.deepStrictEqual(Support.resultsOf(third), [["c1", "Size? 42"]])
    assert.deepStrictEqual(steps, [["start", "Size?"], ["text", "42", "Size?"]])
  })

  Support.inEachMode(
    "what is open is returned again by a poll, with the same id, and nothing runs again",
    function*(mode) {
      const { chat, first, names, script } = yield* Support.begin(mode, [Support.ask("c1", "Which?")])
      for (let i = 0; i < 3; i++) {
        const again = yield* chat.take()
        assert.strictEqual(again.finish, "pause")
        assert.deepStrictEqual(again.requests, first.requests)
      }
      assert.deepStrictEqual([names(), yield* script.calls], [["start"], 1])
      const last = yield* chat.take(Support.answers(Approval.answer(Support.only(first), "x")))
      assert.deepStrictEqual(Support.resultsOf(last), [["c1", "x"]])
    }
  )

  Support.inEachMode("a history that went through JSON goes on", function*(mode) {
    const { first, script, steps, toolkit } = yield* Support.begin(mode, [Support.submit("c1")])
    const history = Support.throughJson(first.history)
    const other = yield* Support.converse(mode, { model: script.model, toolkit, history })
    const second = yield* other.take(Support.answers(Approval.deny(Support.only(first), "fix")))
    assert.strictEqual(Support.only(second).interaction, "form")
    const third = yield* other.take(Support.answers(Approval.answer(Support.only(second), { amount: "99" })))
    assert.strictEqual(Support.only(third).description, "$99?")
    const last = yield* other.take(Support.answers(Approval.deny(Support.only(third))))
    assert.deepStrictEqual(Support.resultsOf(last), [["c1", { said: "rejected by manager", at: Support.at }]])
    assert.deepStrictEqual(steps.at(-1)?.[2], new Support.Expense({ item: "chairs", amount: 99 }))
  })
})

describe("the kinds of what is waited for", () => {
  const menu = (id: string, kind: string) => Support.call(id, "Menu", { kind })

  Support.inEachMode("options, one of which is chosen", function*(mode) {
    const { chat, first } = yield* Support.begin(mode, [menu("c1", "one")])
    const request = Support.only(first)
    assert.deepStrictEqual(request.awaited?.options, [
      { value: "soup", label: "soup" },
      { value: "fish", label: "Fish of the day", description: "with potatoes" }
    ])
    assert.deepStrictEqual(request.awaited?.answerSchema, { type: "string", enum: ["soup", "fish"] })
    const last = yield* chat.take(Support.answers(Approval.answer(request, "fish")))
    assert.deepStrictEqual(Support.resultsOf(last), [["c1", "fish"]])
  })

  Support.inEachMode("options, several of which are chosen", function*(mode) {
    const { chat, first } = yield* Support.begin(mode, [menu("c1", "many"), menu("c2", "many")])
    const [one, two] = first.requests
    assert.isTrue(one?.awaited?.multiple)
    const items = { type: "string", enum: ["soup", "fish"] }
    assert.deepStrictEqual(one?.awaited?.answerSchema, { type: "array", items, uniqueItems: true })
    const last = yield* chat.take(
      Support.answers(Approval.answer(one!, ["soup", "fish"]), Approval.answer(two!, []))
    )
    // A stream tells each result as soon as it is known, in whatever order that is.
    assert.sameDeepMembers([...Support.resultsOf(last)], [["c1", ["soup", "fish"]], ["c2", []]])
  })

  Support.inEachMode("what the program delivers, whenever it does", function*(mode) {
    const { chat, first } = yield* Support.begin(mode, [menu("c1", "external")])
    const request = Support.only(first)
    yield* DeferredTool.deliver(Support.Menu, "external", request, { paid: 12 })
    const last = yield* chat.take()
    assert.deepStrictEqual(Support.resultsOf(last), [["c1", { paid: 12 }]])
    assert.strictEqual(last.text, "done")
  })

  Support.inEachMode("a timer, on the turn that comes when it is due, or much later", function*(mode) {
    for (const late of ["2 hours", "29 days"] as const) {
      const { chat, first, steps } = yield* Support.begin(mode, [menu("c1", "timer")])
      const { awaited, issuedAt } = Support.only(first)
      assert.strictEqual(awaited?.dueAt, issuedAt! + 7_200_000)
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual((yield* chat.take()).requests, first.requests)
      const { suspensions } = yield* (yield* SuspensionStore.SuspensionStore).list()
      assert.deepStrictEqual(suspensions.length, 1)
      yield* TestClock.adjust(late === "2 hours" ? "1 hour" : "29 days")
      const last = yield* chat.take()
      assert.strictEqual(last.text, "done")
      assert.deepStrictEqual(steps.at(-1), [
        "timer",
        { dueAt: awaited!.dueAt, firedAt: issuedAt! + (late === "2 hours" ? 7_200_000 : 3_600_000 + 29 * 86_400_000) }
      ])
    }
  })
})
