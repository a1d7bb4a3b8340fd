/** What may happen inside an agent beside approvals: questions that a text answers, timers, equal tasks, and models that fail. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { AiError, SuspensionStore } from "../../src/index.ts"
import * as S from "./support.ts"
import * as Tree from "./tree.ts"
import * as World from "./world.ts"

const { yes } = S

describe("a question that an agent asks three levels deep", () => {
  it.effect("L6 is answered by a plain text, as any question, and an approval never is", () =>
    Effect.gen(function*() {
      const play = yield* S.begin("send", Tree.agent([Tree.inner([Tree.inner([Tree.ask, Tree.pay])])]))
      yield* play.begin
      play.decisions.set("r.00.00.00", S.text("blue"))
      const taken = yield* play.say("blue")
      yield* play.check(taken)
      assert.deepStrictEqual(play.did, ["ask:r.00.00.00", "heard:r.00.00.00:blue"])
      yield* play.answer({ "r.00.00.01": yes })
    }))
})

describe("a timer three levels deep", () => {
  const deep = Tree.agent([Tree.inner([Tree.inner([Tree.wait]), Tree.pay]), Tree.pay])

  it.effect("L2 wakes the outermost conversation, which goes on through all of them, once", () =>
    Effect.gen(function*() {
      const play = yield* S.begin("send", deep)
      yield* play.begin
      const woken: Array<string | undefined> = []
      const wake = ({ scope }: SuspensionStore.Suspension) =>
        Effect.suspend(() => {
          woken.push(scope.conversation)
          return scope.conversation === "c1" ? Effect.asVoid(play.conversation().wake) : Effect.void
        })
      const watching = yield* Effect.forkChild(
        play.process().serving(SuspensionStore.watchTimers(wake, { interval: "1 minute" })),
        { startImmediately: true }
      )
      yield* TestClock.adjust("59 minutes")
      assert.deepStrictEqual(woken, [])
      for (let minute = 0; minute < 3; minute++) {
        yield* TestClock.adjust("1 minute")
        yield* S.idle
      }
      play.decisions.set("r.00.00.00", { _tag: "Due" })
      assert.deepStrictEqual(new Set(woken), new Set(["c1"]))
      yield* play.check()
      yield* Fiber.interrupt(watching)
      yield* play.answer({ "r.00.01": yes, "r.01": yes })
    }))

  it.effect("L2 that is due is seen by the next turn of the outermost too, in another process", () =>
    Effect.gen(function*() {
      const play = yield* S.begin("send", deep)
      yield* play.begin
      yield* TestClock.adjust("2 hours")
      yield* play.restart
      play.decisions.set("r.00.00.00", { _tag: "Due" })
      assert.strictEqual((yield* play.conversation().wake)?._tag, "Waiting")
      yield* play.check()
      yield* play.answer({ "r.00.01": yes, "r.01": yes })
    }))
})

describe("two agents with one and the same task", () => {
  S.inWays("L13 ask each for itself: a yes to one pays once, and leaves the other open", function*(way) {
    const tree = Tree.agent([Tree.inner([Tree.pay]), Tree.inner([Tree.pay])])
    const play = yield* S.begin(way, tree, {
      model: World.answerWith(Tree.agentsOf(tree), "Agent", { task: "r.00" })
    })
    const [one, other, ...more] = (yield* play.take("Task r")).requests
    assert.deepStrictEqual(more, [])
    assert.deepStrictEqual(one!.params, other!.params)
    assert.notStrictEqual(one!.approvalId, other!.approvalId)
    assert.sameMembers([one!.toolCallId, other!.toolCallId], ["c00/c00", "c01/c00"])
    const half = yield* play.take([], [S.answerTo(other!, yes)])
    assert.deepStrictEqual(half.requests.map(({ approvalId }) => approvalId), [one!.approvalId])
    assert.deepStrictEqual(play.did, ["paid:r.00.00"])
    const done = yield* play.take([], [S.answerTo(one!, S.no)])
    const [first, second] = one!.toolCallId === "c00/c00" ? ["[no]", "[paid:r.00.00]"] : ["[paid:r.00.00]", "[no]"]
    assert.strictEqual(done.text, `[${first} ${second}]`)
    assert.deepStrictEqual(play.did, ["paid:r.00.00"])
  })
})

describe("an inner model that fails once", () => {
  const away = AiError.make({
    module: "test",
    method: "test",
    reason: new AiError.UnknownError({ description: "The model is away." })
  })

  it.effect("L8 after a payment loses nothing: what waits beside it waits still, and it is not paid again", () =>
    Effect.gen(function*() {
      const tree = Tree.agent([Tree.inner([Tree.pay], [Tree.pay]), Tree.pay])
      const answer = World.answerAs(Tree.agentsOf(tree))
      let fails = false
      const play = yield* S.begin("send", tree, {
        model: (request) => {
          if (fails && World.agentOf(request.prompt) === "r.00") {
            fails = false
            return away
          }
          return answer
        }
      })
      yield* play.begin
      fails = true
      const exit = yield* Effect.exit(play.take([], play.answersFor({ "r.00.00": yes })))
      assert.include(play.did, "paid:r.00.00")
      assert.include((yield* play.pending).map(S.keyOf), "r.01")
      if (Exit.isFailure(exit)) yield* play.take([])
      const rest = (yield* play.pending).map((request) => [S.keyOf(request), yes] as const)
      yield* play.take([], play.answersFor(Object.fromEntries(rest)))
      assert.lengthOf(play.did.filter((what) => what === "paid:r.00.00"), 1)
      assert.include(play.did, "paid:r.01")
      assert.deepStrictEqual(yield* play.pending, [])
      assert.deepStrictEqual(yield* play.refusals, [])
    }))
})
