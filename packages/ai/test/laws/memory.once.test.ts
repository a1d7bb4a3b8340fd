/**
 * A grant is made once, at the moment the answer has its effect in the journal (law L2): not by reading a history again,
 * not by an answer that comes twice or too late, and not for a run that could not be claimed.
 */
import { assert, describe } from "@effect/vitest"
import { Effect, Fiber, Layer, Schema } from "effect"
import { TestClock } from "effect/testing"
import {
  Approval,
  ApprovalJournal,
  ApprovalMatcher,
  ApprovalMemory,
  ApprovalSeal,
  Prompt,
  Store,
  Tool,
  Toolkit
} from "../../src/index.ts"
import * as C from "./conversation.ts"
import * as M from "./remembered.ts"
import { makeHold } from "./support.ts"

const everyFile = { covers: ApprovalMatcher.tool.description }

/** Neither for what runs nor for what became of it. */
const noRoom = Layer.effect(Store.Store, Store.makeMemory({ capacity: 0, maxSettled: 0 }))

const policy = M.needs({ rememberable: true })

const revokeAll = Effect.gen(function*() {
  const memory = yield* ApprovalMemory.ApprovalMemory
  for (const { id, scope } of yield* M.listed()) yield* memory.revoke(scope, id)
})

/** Asked about `a`; `answer` answers in the history as it was then, as often as it is run. */
const begin = Effect.fnUntraced(function*(way: C.Way, options?: Partial<C.StartOptions>) {
  const { chat, runs } = yield* M.deleting(way, [["a"], "done"], { script: { afterLastTurn: "repeat" }, ...options })
  const asked = yield* policy(chat.send("go"))
  const history = yield* chat.history
  const request = asked.requests[0]!
  const answer = (prompt: Prompt.RawInput, sendOptions?: C.SendOptions) =>
    Effect.andThen(chat.setHistory(history), policy(chat.send(prompt, sendOptions)))
  const say = (...answers: ReadonlyArray<Approval.ApprovalAnswer>) => answer(Prompt.approvalResponses(answers))
  return { answer, chat, request, runs, say, history }
})

describe("memory: a grant is made once", () => {
  for (
    const [decision, answerOf] of [
      ["yes", (request: Approval.ApprovalRequest) => Approval.approve(request, { remember: everyFile })],
      ["no", (request: Approval.ApprovalRequest) => Approval.deny(request, "no", { remember: everyFile })]
    ] as const
  ) {
    M.everyWay(`the same history again makes no second grant of a ${decision}, and none comes back`, function*(way) {
      const { observe, seen } = yield* M.events
      const { request, say } = yield* begin(way)
      const memory = yield* ApprovalMemory.ApprovalMemory
      for (let i = 0; i < 3; i++) yield* observe(say(answerOf(request)))
      const [one, ...others] = yield* M.listed()
      assert.deepStrictEqual([others, one!.approvalId, one!.toolCallId], [[], request.approvalId, "c1"])
      assert.isTrue(yield* memory.revoke(one!.scope, one!.id))
      for (let i = 0; i < 2; i++) yield* observe(say(answerOf(request)))
      assert.deepStrictEqual(yield* M.listed(), [])
      const remembered = (yield* seen).filter((event) => event._tag === "Remembered")
      assert.deepStrictEqual(remembered.map(({ approvalId, toolCallId }) => [approvalId, toolCallId]), [
        [request.approvalId, "c1"]
      ])
      assert.include(remembered[0]!.covers, "DeleteFile")
      assert.strictEqual(remembered[0]!.decision, decision === "yes" ? "approved" : "denied")
    })

    M.everyWay(`a ${decision} whose time is over does not come back with the same history`, function*(way) {
      const { request, say } = yield* begin(way)
      const { decision } = answerOf(request)
      const short = new Approval.ApprovalAnswer({
        approvalId: request.approvalId,
        decision: decision._tag === "Approved"
          ? new Approval.Approved({ remember: { expiresIn: 1000 } })
          : new Approval.Denied({ remember: { expiresIn: 1000 } })
      })
      yield* say(short)
      assert.lengthOf(yield* M.listed(), 1)
      yield* TestClock.adjust("1 hour")
      yield* say(short)
      assert.deepStrictEqual(yield* M.listed(), [])
    })
  }

  M.everyWay("an answer that comes twice in one message makes one grant", function*(way) {
    const { request, runs, say } = yield* begin(way)
    const yes = Approval.approve(request, { remember: "session" })
    yield* say(yes, yes)
    assert.deepStrictEqual([runs, (yield* M.listed()).length], [["delete a"], 1])
  })

  M.everyWay("the same answer in two turns at once makes one grant", function*(way) {
    const first = yield* begin(way)
    const second = yield* M.deleting(way, ["done"], { history: first.history, script: { afterLastTurn: "repeat" } })
    const yes = Prompt.approvalResponses([Approval.approve(first.request, { remember: everyFile })])
    yield* Effect.all([first.answer(yes), policy(second.chat.send(yes))], { concurrency: "unbounded" })
    assert.lengthOf([...first.runs, ...second.runs], 1)
    assert.lengthOf(yield* M.listed(), 1)
  })

  M.everyWay("a use that was taken does not come back with the same history", function*(way) {
    const { request, say } = yield* begin(way)
    yield* say(Approval.approve(request, { remember: { ...everyFile, uses: 1 } }))
    const other = yield* M.deleting(way, [["b"], ["c"]])
    assert.lengthOf((yield* policy(other.chat.send("b"))).requests, 0)
    yield* say(Approval.approve(request, { remember: { ...everyFile, uses: 1 } }))
    const third = yield* M.deleting(way, [["c"]])
    assert.lengthOf((yield* policy(third.chat.send("c"))).requests, 1)
  })
})

describe("memory: what has no effect makes no grant", () => {
  M.everyWay("a yes that comes after a no, and a no that comes after the call ran", function*(way) {
    const denied = yield* begin(way)
    yield* denied.say(Approval.deny(denied.request, "no"))
    yield* denied.say(Approval.approve(denied.request, { remember: everyFile }))
    const ran = yield* begin(way)
    yield* ran.say(Approval.approve(ran.request))
    yield* ran.say(Approval.deny(ran.request, "too late", { remember: everyFile }))
    assert.deepStrictEqual([denied.runs, ran.runs, yield* M.listed()], [[], ["delete a"], []])
  })

  M.everyWay("a no of whoever was still being asked when the call was approved elsewhere", function*(way) {
    const { history, request, runs, say } = yield* begin(way)
    const hold = yield* makeHold
    const terminal = yield* M.deleting(way, ["done"], { history, script: { afterLastTurn: "repeat" } })
    const ada = M.person(() => Effect.as(hold.wait, M.no("too late", everyFile)))
    const asking = yield* Effect.forkChild(policy(ada.answers(terminal.chat.send([]))))
    yield* hold.entered
    yield* say(Approval.approve(request))
    yield* hold.release
    yield* Fiber.await(asking)
    assert.deepStrictEqual([runs, ada.seen, yield* M.listed()], [["delete a"], ["a"], []])
  })

  M.everyWay("of a yes and a no in one message, the no is the answer (law L3)", function*(way) {
    const { request, say } = yield* begin(way)
    yield* say(
      Approval.approve(request, { remember: everyFile }),
      Approval.deny(request, "no", { remember: "session" })
    )
    assert.deepStrictEqual((yield* M.listed()).map(({ covers, decision }) => [decision, covers._tag]), [
      ["denied", "Exact"]
    ])
  })

  M.everyWay("a run that could not be claimed, because the journal is full", (way) =>
    Effect.gen(function*() {
      const { request, runs, say } = yield* begin(way)
      yield* Effect.exit(say(Approval.approve(request, { remember: everyFile })))
      yield* Effect.exit(say(Approval.deny(request, "no", { remember: everyFile })))
      yield* Effect.exit(
        M.person(() => M.yes(everyFile)).answers(Effect.exit(say()))
      )
      assert.deepStrictEqual([runs, yield* M.listed()], [[], []])
    }).pipe(Effect.provide(Layer.provide(ApprovalJournal.layerStore(), noRoom))))

  M.everyWay(
    "and no claim, where there is room for a denial alone, which is remembered",
    (way) =>
      Effect.gen(function*() {
        const { request, runs, say } = yield* begin(way)
        yield* Effect.exit(say(Approval.approve(request, { remember: everyFile })))
        assert.deepStrictEqual([runs, yield* M.listed()], [[], []])
        yield* say(Approval.deny(request, "no", { remember: everyFile }))
        const remembered = yield* M.listed()
        assert.deepStrictEqual([runs, remembered.map(({ decision }) => decision)], [[], ["denied"]])
      }).pipe(Effect.provide(ApprovalJournal.layerMemory({ capacity: 0 })))
  )

  M.everyWay("an approval that expired", function*(way) {
    const { request, runs, say } = yield* begin(way, { approval: { expiresIn: "1 minute" } })
    yield* TestClock.adjust("2 minutes")
    const turn = yield* say(Approval.approve(request, { remember: everyFile }))
    assert.include(C.reasonOf(turn.results[0]!), "expired")
    assert.deepStrictEqual([runs, yield* M.listed()], [[], []])
  })

  M.everyWay(
    "an approval that is void: the tool is gone, its parameters changed, or what was shown did",
    function*(way) {
      const yes = (request: Approval.ApprovalRequest) =>
        Prompt.approvalResponses([Approval.approve(request, { remember: everyFile })])
      const gone = yield* begin(way)
      const other = yield* C.withHandlers(Toolkit.make(C.ReadFile), { ReadFile: ({ path }) => Effect.succeed(path) })
      yield* gone.answer(yes(gone.request), { toolkit: other })

      const changed = yield* begin(way)
      const Changed = Tool.make("DeleteFile", { parameters: { path: Schema.String, how: Schema.String } })
      const toolkit = yield* C.withHandlers(Toolkit.make(Changed), { DeleteFile: () => Effect.die("ran") })
      yield* changed.answer(yes(changed.request), { toolkit })

      const none = yield* begin(way)
      yield* none.answer(yes(none.request), { toolkit: "none" })

      let content = "one"
      const shown = M.withPolicy(() =>
        Approval.needsApproval({
          rememberable: true,
          presentation: new Approval.ApprovalPresentation({ type: "text", content })
        })
      )
      const { chat, runs } = yield* M.deleting(way, [["a"], "done"])
      const asked = yield* shown(chat.send("go"))
      content = "two"
      const turn = yield* shown(chat.send(yes(asked.requests[0]!)))
      assert.lengthOf(turn.results.filter((result) => result.isFailure), 1)
      assert.deepStrictEqual([runs, gone.runs, changed.runs, none.runs], [[], [], [], []])
      assert.deepStrictEqual(yield* M.listed(), [])
    }
  )

  M.everyWay("an approval that the policy forbids by now, or a request that a new message superseded", function*(way) {
    const { chat, request } = yield* begin(way)
    const yes = Prompt.approvalResponses([Approval.approve(request, { remember: everyFile })])
    yield* M.withPolicy(() => Approval.blocked("closed"))(chat.send(yes))
    const superseded = yield* begin(way)
    yield* policy(superseded.chat.send("never mind"))
    yield* superseded.say(Approval.deny(superseded.request, "no", { remember: everyFile }))
    yield* superseded.say(Approval.approve(superseded.request, { remember: everyFile }))
    assert.deepStrictEqual([superseded.runs, yield* M.listed()], [[], []])
  })

  M.everyWay("an answer to a request that is not ours (law L4)", function*(way) {
    for (const approved of [true, false]) {
      const { request, runs, say } = yield* begin(way)
      const answer = approved
        ? Approval.approve(request, { remember: everyFile })
        : Approval.deny(request, "no", { remember: everyFile })
      yield* say(answer).pipe(Effect.provide(ApprovalSeal.layer({ key: "another key than the one that sealed it" })))
      assert.deepStrictEqual([runs, yield* M.listed()], [[], []])
    }
  })
})

describe("memory: a grant that was made holds", () => {
  M.everyWay("whatever became of the run it was made with", function*(way) {
    const Broken = Tool.make("DeleteFile", {
      parameters: { path: Schema.String },
      failure: Schema.String,
      failureMode: "return",
      needsApproval: true
    })
    const toolkit = yield* C.withHandlers(Toolkit.make(Broken), { DeleteFile: () => Effect.fail("disk full") })
    const { chat } = yield* M.deleting(way, [["a"], ["a"]], { toolkit })
    const ada = M.person(() => M.yes("session"))
    yield* ada.answers(chat.send("one"))
    yield* ada.answers(chat.send("two"))
    assert.lengthOf(ada.seen, 1)
    yield* revokeAll
    assert.deepStrictEqual(yield* M.listed(), [])
  })
})
