/** Answers that come while a turn runs, and what an answer costs. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Approval } from "../../src/index.ts"
import { intercept } from "../store/intercept.ts"
import * as S from "./support.ts"
import * as Tree from "./tree.ts"

const { yes } = S

const tree = Tree.agent([Tree.inner([Tree.pay]), Tree.pay])

describe("an answer that comes while a turn runs", () => {
  for (const where of ["the same process", "another process"] as const) {
    for (const [first, second] of [["r.00.00", "r.01"], ["r.01", "r.00.00"]] as const) {
      it.effect(`L2 to ${second} while ${first} is paid, in ${where}: it is kept at once, and counts without another`, () =>
        Effect.gen(function*() {
          const hold = yield* S.makeHold
          const play = yield* S.begin("send", tree, {
            before: (what) => what === `paid:${first}` ? hold.wait : Effect.void
          })
          yield* play.begin
          const running = yield* S.turn(play.take([], play.answersFor({ [first]: yes })))
          yield* hold.entered
          const beside = where === "another process"
            ? (yield* play.another).conversation
            : yield* play.process().again
          const answering = yield* S.turn(beside.decide(play.answersFor({ [second]: yes })))
          // It is not open any more, though the clock stands still and the turn goes on.
          yield* S.idle
          assert.deepStrictEqual(yield* beside.pending(), [])
          const state = (yield* beside.stateOf(play.seen.get(second)!.approvalId))?.state
          assert.include(["answered", "running", "done"], state)
          yield* hold.release
          yield* S.ended(running)
          yield* S.ended(answering)
          yield* play.check()
          const { text } = Tree.stand(tree, play.decisions)
          const { content } = yield* beside.history
          assert.include(JSON.stringify(content.at(-1)), JSON.stringify(text).slice(1, -1))
        }))
    }
  }
})

describe("an answer that decides nothing", () => {
  for (const key of ["r.00.00.00", "r.01"]) {
    it.effect(`L5 such as a question to whoever asks leaves ${key} open, with the words beside it`, () =>
      Effect.gen(function*() {
        const play = yield* S.begin("send", Tree.threeLevels)
        yield* play.begin
        const { approvalId } = play.seen.get(key)!
        const decision = new Approval.Info({ note: "Which account?" })
        const taken = yield* play.take([], [new Approval.ApprovalAnswer({ approvalId, decision })])
        yield* play.check(taken)
        assert.strictEqual(taken.requests.find((request) => S.keyOf(request) === key)?.reason, "Which account?")
        yield* play.answer({ [key]: yes })
      }))
  }
})

describe("a text", () => {
  it.effect("L16 that an agent asked for is kept for it, and is no answer in the history around it", () =>
    Effect.gen(function*() {
      const play = yield* S.begin("send", Tree.agent([Tree.inner([Tree.ask])]))
      yield* play.begin
      yield* play.conversation().send("that one")
      assert.deepStrictEqual(yield* play.pending, [])
      const { content } = yield* play.conversation().history
      const answers = content.flatMap((message) =>
        message.role === "tool" ? message.content.filter(({ type }) => type === "tool-approval-response") : []
      )
      assert.deepStrictEqual(answers, [])
    }))
})

describe("what is taken back of one tool", () => {
  it.effect("L6 is taken back at every level, and each agent goes on with the rest of what it asked", () =>
    Effect.gen(function*() {
      const tree = Tree.agent([Tree.inner([Tree.inner([Tree.pay, Tree.ask]), Tree.ask]), Tree.pay])
      const play = yield* S.begin("send", tree)
      yield* play.begin
      const cleared = yield* play.conversation().clear({ tool: "Pay" })
      assert.sameMembers(cleared.map(S.keyOf), ["r.01", "r.00.00.00"])
      for (const request of cleared) play.decisions.set(S.keyOf(request), S.no)
      yield* play.check()
      yield* play.answer({ "r.00.00.01": S.text("a") })
      yield* play.answer({ "r.00.01": S.text("b") })
    }))

  it.effect("L6 is all that an agent deeper down has asked, and that one goes on, too", () =>
    Effect.gen(function*() {
      const play = yield* S.begin("send", Tree.agent([Tree.inner([Tree.inner([Tree.pay]), Tree.ask])]))
      yield* play.begin
      const cleared = yield* play.conversation().clear({ tool: "Pay" })
      assert.deepStrictEqual(cleared.map(S.keyOf), ["r.00.00.00"])
      play.decisions.set("r.00.00.00", S.no)
      yield* play.answer({ "r.00.01": S.text("a") })
    }))
})

describe("a partial answer", () => {
  it.effect("L17 makes no new suspension, at no level, and asks nothing anew", () =>
    Effect.gen(function*() {
      const suspended: Array<string> = []
      const store = intercept(yield* S.makeStore, (operation, key, run) => {
        if (operation === "requests.suspend") suspended.push(key)
        return run
      })
      const deep = Tree.inner([Tree.inner([Tree.pay, Tree.pay, Tree.pay, Tree.pay])])
      const play = yield* S.begin("send", Tree.agent([deep]), { store })
      yield* play.begin
      const before = suspended.length
      for (const index of [2, 0, 3]) {
        yield* play.restart
        yield* play.answer({ [`r.00.00.0${index}`]: yes })
      }
      assert.deepStrictEqual(suspended.slice(before), [])
      yield* play.answer({ "r.00.00.01": yes })
      assert.deepStrictEqual(suspended.slice(before), [])
    }))
})
