/** Answers to tools that wait: wrong ones, denials, remarks, and those that nobody may give in a history. */
import { assert, describe } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { TestClock } from "effect/testing"
import { Approval, ApprovalController, ApprovalEvents, DeferredTool, SuspensionStore } from "../../src/index.ts"
import { logged } from "../laws/logs.ts"
import * as Support from "./support.ts"

const menu = (id: string, kind: string) => Support.call(id, "Menu", { kind })

const openOnes = Effect.flatMap(SuspensionStore.SuspensionStore, (store) => store.list())

describe("wrong answers", () => {
  const wrong: ReadonlyArray<readonly [kind: string, call: ReturnType<typeof Support.ask>, answer: any, says: RegExp]> =
    [
      ["a text", Support.ask("c1", "Which?"), 7, /string/],
      ["a blank text", Support.ask("c1", "Which?"), "  ", /blank/],
      ["an approval where a text is wanted", Support.ask("c1", "Which?"), undefined, /an answer is needed/],
      ["an option that was not offered", menu("c1", "one"), "steak", /"soup", "fish"/],
      ["several where one is to be chosen", menu("c1", "one"), ["soup"], /string/],
      ["one that was not offered among several", menu("c1", "many"), ["soup", "steak"], /"soup", "fish"/],
      ["one twice", menu("c1", "many"), ["soup", "soup"], /unique|distinct|duplicate/i]
    ]
  for (const [kind, call, answer, says] of wrong) {
    Support.inEachMode(`${kind}: the request stays open and says why`, function*(mode) {
      const { chat, first, names } = yield* Support.begin(mode, [call])
      const request = Support.only(first)
      const given = answer === undefined ? Approval.approve(request) : Approval.answer(request, answer)
      const second = yield* chat.take(Support.answers(given))
      assert.strictEqual(second.finish, "pause")
      const again = Support.only(second)
      assert.strictEqual(again.approvalId, request.approvalId)
      assert.match(again.reason ?? "", says)
      assert.match(again.reason ?? "", /stays open/)
      assert.deepStrictEqual(names(), ["start"])
      const right = call.name === "Ask" ? "that" : (call.params as any).kind === "one" ? "soup" : ["soup"]
      const last = yield* chat.take(Support.answers(Approval.answer(request, right)))
      assert.deepStrictEqual(Support.resultsOf(last), [["c1", right]])
    })
  }

  Support.inEachMode(
    "L10 one without its toolkit has no effect, its author is told, and it counts later",
    function*(mode) {
      const { first, names, toolkit: waiting } = yield* Support.begin(mode, [Support.ask("c1", "Which?")])
      const { model } = yield* Support.answering
      const prompt = Support.answers(Approval.answer(Support.only(first), "that"))
      const take = (toolkit: Support.AnyToolkit | undefined) =>
        Support.takeTurn(mode, { model, toolkit, history: first.history, prompt })
      const [turn, lines] = yield* logged(take(undefined))
      assert.deepStrictEqual([turn.results, names()], [[], ["start"]])
      assert.lengthOf(lines, 1)
      assert.match(lines[0]!.text, /answer to what "Ask" waits for came on a turn without a toolkit/)
      assert.deepStrictEqual(Support.resultsOf(yield* take(waiting)), [["c1", "that"]])
    }
  )

  Support.once("each is an event", function*() {
    const events = yield* ApprovalEvents.make()
    yield* Effect.provideService(
      Effect.gen(function*() {
        const observed = yield* events.subscribe
        const { chat, first } = yield* Support.begin("generateText", [Support.ask("c1", "Which?")])
        yield* chat.take(Support.answers(Approval.answer(Support.only(first), 7)))
        const seen = yield* Stream.runCollect(Stream.take(observed, 2))
        assert.deepStrictEqual(
          seen.map((event) => [event._tag, event._tag === "Refused" ? event.reason._tag : undefined]),
          [["Requested", undefined], ["Refused", "InvalidAnswer"]]
        )
      }),
      ApprovalEvents.ApprovalEvents,
      events
    )
  })
})

describe("denials", () => {
  Support.inEachMode("a denial ends the call with its reason, and nothing waits any more", function*(mode) {
    const { chat, first, names } = yield* Support.begin(mode, [
      Support.ask("c1", "Which?"),
      menu("c2", "timer"),
      menu("c3", "external")
    ])
    const last = yield* chat.take(
      Support.answers(...first.requests.map((request) => Approval.deny(request, "never mind")))
    )
    assert.deepStrictEqual(last.results.map(Support.failureReason), Array(3).fill(Support.begun("never mind.")))
    assert.strictEqual(last.text, "done")
    assert.deepStrictEqual(names(), ["start", "start", "start"])
    assert.deepStrictEqual((yield* openOnes).suspensions, [])
    yield* TestClock.adjust("3 hours")
    assert.deepStrictEqual((yield* chat.take("And now?")).results, [])
  })

  Support.inEachMode("L3 a denial wins over an answer, in any order", function*(mode) {
    for (const order of [0, 1]) {
      const { chat, first, names } = yield* Support.begin(mode, [Support.ask("c1", "Which?"), Support.submit("c2")])
      const [question, approval] = first.requests
      const answers = [
        Approval.answer(question!, "x"),
        Approval.deny(question!, "no"),
        Approval.approve(approval!),
        Approval.deny(approval!)
      ]
      const last = yield* chat.take(Support.answers(...(order === 0 ? answers : answers.toReversed())))
      assert.deepStrictEqual(last.results.map(({ id, isFailure }) => [id, isFailure]), [["c1", true], ["c2", false]])
      assert.strictEqual((last.results[1]!.result as any).said, "rejected by manager")
      assert.deepStrictEqual(names().toSorted(), ["manager", "start", "start"])
    }
  })
})

describe("answers that a history cannot give", () => {
  Support.inEachMode("L4 nobody answers a timer or the program's own event there", function*(mode) {
    const { chat, first, names } = yield* Support.begin(mode, [menu("c1", "timer"), menu("c2", "external")])
    const [timer, external] = first.requests
    const second = yield* chat.take(Support.answers(
      Approval.answer(timer!, { dueAt: 0, firedAt: 0 }),
      Approval.answer(external!, { paid: "12" })
    ))
    assert.strictEqual(second.requests.length, 2)
    for (const request of second.requests) {
      assert.match(request.reason ?? "", /an answer in a message history does not count/)
    }
    yield* DeferredTool.deliver(Support.Menu, "external", external!, { paid: 1 })
    yield* TestClock.adjust("2 hours")
    const last = yield* chat.take()
    assert.deepStrictEqual(names(), ["start", "start", "timer", "external"])
    assert.deepStrictEqual(Support.resultsOf(last)[1], ["c2", { paid: 1 }])
  })

  Support.inEachMode("L4 an answer is no consent to begin, and consent to begin is no answer", function*(mode) {
    const { chat, first, names } = yield* Support.begin(mode, [Support.call("c1", "Gated", { question: "Size?" })])
    const second = yield* chat.take(Support.answers(Approval.approve(Support.only(first))))
    assert.deepStrictEqual(names(), ["start"])
    // The consent again, with an answer in it.
    const third = yield* chat.take(Support.answers(Approval.answer(Support.only(first), "42")))
    assert.deepStrictEqual(third.requests.map(({ approvalId }) => approvalId), [Support.only(second).approvalId])
    assert.deepStrictEqual(names(), ["start"])
  })
})

describe("delivering", () => {
  Support.once("fails where it cannot count, and says why", function*() {
    const { chat, first } = yield* Support.begin("generateText", [menu("c1", "external"), menu("c2", "one")])
    const [external, one] = first.requests
    const reasonOf = (effect: Effect.Effect<void, any>) => Effect.map(Effect.flip(effect), ({ reason }) => reason._tag)
    const { Menu } = Support
    assert.deepStrictEqual(
      [
        yield* reasonOf(DeferredTool.deliver(Menu, "external", { approvalId: "unknown" }, { paid: 1 })),
        yield* reasonOf(DeferredTool.deliver(Menu, "external", one!, { paid: 1 })),
        yield* reasonOf(DeferredTool.deliver(Support.Ask, "text", external!, "x")),
        yield* reasonOf(DeferredTool.deliver(Menu, "one", one!, "steak"))
      ],
      ["UnknownApproval", "UnknownApproval", "UnknownApproval", "InvalidAnswer"]
    )
    yield* DeferredTool.deliver(Menu, "one", one!, "soup")
    yield* DeferredTool.deliver(Menu, "external", external!, { paid: 1 })
    assert.strictEqual(
      yield* reasonOf(DeferredTool.deliver(Menu, "external", external!, { paid: 2 })),
      "AlreadyDecided"
    )
    const last = yield* chat.take()
    assert.deepStrictEqual(Support.resultsOf(last), [["c1", { paid: 1 }], ["c2", "soup"]])
    assert.strictEqual(
      yield* reasonOf(DeferredTool.deliver(Menu, "external", external!, { paid: 2 })),
      "AlreadyDecided"
    )
    const { first: other } = yield* Support.begin("generateText", [menu("c1", "external")], {
      approval: { expiresIn: "30 days" }
    })
    yield* TestClock.adjust("30 days")
    assert.strictEqual(
      yield* reasonOf(DeferredTool.deliver(Menu, "external", Support.only(other), { paid: 1 })),
      "Expired"
    )
  })
})

describe("a controller", () => {
  const controlled = (mode: Support.Mode, ask: (request: Approval.ApprovalRequest) => Approval.ApprovalDecision) =>
    Effect.provideService(
      Support.begin(mode, [Support.call("c1", "Gated", { question: "Size?" }), Support.submit("c2")]),
      ApprovalController.ApprovalController,
      { ask: (request) => Effect.sync(() => ask(request)) }
    )

  Support.inEachMode("answers at once, every step, and the turn goes on to the end", function*(mode) {
    const asked: Array<string> = []
    const { first, script } = yield* controlled(mode, (request) => {
      asked.push(`${request.toolCallId} ${request.awaited?.name ?? "consent"}`)
      return request.interaction === "askUser"
        ? new Approval.Approved({ answer: "42" })
        : new Approval.Approved({})
    })
    assert.deepStrictEqual(first.requests, [])
    assert.deepStrictEqual(new Map(Support.resultsOf(first)).get("c1"), "Size? 42")
    assert.deepStrictEqual(asked.toSorted(), ["c1 consent", "c1 text", "c2 director", "c2 manager"])
    assert.strictEqual(yield* script.calls, 1)
  })

  Support.inEachMode("a remark leaves it open and stands in the request; a wrong answer says why", function*(mode) {
    const { first, names } = yield* controlled(mode, ({ awaited, interaction }) =>
      interaction === "approval"
        ? new Approval.Approved({})
        : awaited?.name === "text"
        ? new Approval.Approved({ answer: 7 })
        : new Approval.Info({ note: "ask Bob" }))
    assert.deepStrictEqual(first.requests.map(({ toolCallId }) => toolCallId), ["c1", "c2"])
    assert.match(first.requests[0]?.reason ?? "", /string/)
    assert.strictEqual(first.requests[1]?.reason, "ask Bob")
    assert.deepStrictEqual(names().toSorted(), ["start", "start"])
  })

  Support.inEachMode("denies", function*(mode) {
    const { first } = yield* controlled(
      mode,
      ({ interaction }) => interaction === "approval" ? new Approval.Approved({}) : new Approval.Denied({ note: "no" })
    )
    const results = new Map(first.results.map((result) => [result.id, result]))
    assert.strictEqual(Support.failureReason(results.get("c1")), Support.begun("no."))
    assert.strictEqual((results.get("c2")!.result as any).said, "rejected by manager")
  })
})
