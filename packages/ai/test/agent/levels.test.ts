/**
 * Agents inside agents, three levels deep: what is asked at each level is asked once, at the outermost, and each answer finds its
 * way in. The names of agents and tools and the ids of calls are the same at all levels, and the strict provider reads them all.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type Approval, ApprovalController } from "../../src/index.ts"
import * as S from "./support.ts"
import * as Tree from "./tree.ts"
import * as World from "./world.ts"

const { no, yes } = S

const outer = "r.01"
const middle = "r.00.01"
const innermost = "r.00.00.00"

describe("three levels, each of which asks", () => {
  S.inWays("L5 each answer counts alone, from the outermost inwards", function*(way) {
    const play = yield* S.begin(way, Tree.threeLevels)
    yield* play.begin
    for (const key of [outer, middle, innermost]) yield* play.answer({ [key]: yes })
  }, S.ways)

  S.inWays("L5 the same from the innermost outwards, in another process each time", function*(way) {
    const play = yield* S.begin(way, Tree.threeLevels)
    yield* play.begin
    for (const key of [innermost, middle, outer]) {
      yield* play.restart
      yield* play.answer({ [key]: yes })
    }
  })

  S.inWays("L5 outer and inner answers are one batch", function*(way) {
    const play = yield* S.begin(way, Tree.threeLevels)
    yield* play.begin
    yield* play.answer({ [innermost]: yes, [outer]: yes, [middle]: yes })
  })

  S.inWays("L3 a denial at any level is told to the agent that called, and to no other", function*(way) {
    const play = yield* S.begin(way, Tree.threeLevels)
    yield* play.begin
    yield* play.answer({ [middle]: no })
    yield* play.answer({ [outer]: yes, [innermost]: no })
    assert.deepStrictEqual(play.did, ["saw:r.00.00.01", `paid:${outer}`])
  })

  S.inWays("L4 a trusted edit at the deepest level counts there", function*(way) {
    const play = yield* S.begin(way, Tree.threeLevels)
    yield* play.begin
    yield* play.answer({ [innermost]: S.edited("less") })
    yield* play.answer({ [outer]: yes, [middle]: yes })
  }, ["start"])

  S.inWays("L5 what an agent asks in its next step comes when the step before is settled", function*(way) {
    const deep = Tree.inner([Tree.pay, Tree.ask], [Tree.pay])
    const play = yield* S.begin(way, Tree.agent([Tree.inner([deep], [deep]), Tree.pay], [Tree.pay]))
    yield* play.begin
    yield* play.answer({ "r.00.00.00": yes })
    yield* play.answer({ "r.00.00.01": S.text("soon") })
    yield* play.answer({ "r.00.00.10": yes })
    yield* play.restart
    yield* play.answer({ "r.00.10.01": S.text("later"), "r.01": yes })
    yield* play.answer({ "r.00.10.00": yes })
    yield* play.answer({ "r.00.10.10": no })
    yield* play.answer({ "r.10": yes })
  })
})

describe("an agent that needs consent itself", () => {
  S.inWays("L1 begins when it has it, and not before; denied, its model is never called", function*(way) {
    const play = yield* S.begin(way, Tree.agent([Tree.gated([Tree.gated([Tree.pay])]), Tree.gated([Tree.pay])]))
    yield* play.begin
    yield* play.answer({ "r.01": no })
    yield* play.answer({ "r.00": yes })
    yield* play.answer({ "r.00.00": yes })
    yield* play.answer({ "r.00.00.00": yes })
    const asked = (yield* play.process().script.requests).map(({ prompt }) => World.agentOf(prompt))
    assert.notInclude(asked, "r.01")
  })
})

describe("what is asked inline", () => {
  S.inWays("L5 has the path of the agents, at each level, and is asked once", function*(way) {
    const play = yield* S.begin(
      way,
      Tree.agent([Tree.gated([Tree.inner([Tree.pay, Tree.look]), Tree.pay]), Tree.pay])
    )
    const asked: Array<Approval.ApprovalRequest> = []
    for (const key of ["r.00", "r.01", "r.00.01", "r.00.00.00"]) play.decisions.set(key, yes)
    yield* Effect.provide(
      play.begin,
      ApprovalController.layerInteractive((request) => {
        asked.push(request)
        return true
      })
    )
    assert.sameDeepMembers(
      asked.map((request) => [S.keyOf(request), request.path ?? [], request.presentation?.content]),
      [
        ["r.00", [], undefined],
        ["r.01", [], World.presentationOf("r.01").content],
        ["r.00.01", ["Agent"], World.presentationOf("r.00.01").content],
        ["r.00.00.00", ["Agent", "Agent"], World.presentationOf("r.00.00.00").content]
      ]
    )
  })

  S.inWays("L3 inline and deferred: who is asked inline and leaves it open is asked later", function*(way) {
    const play = yield* S.begin(way, Tree.threeLevels)
    play.decisions.set(middle, yes)
    yield* Effect.provide(
      play.begin,
      ApprovalController.layerInteractive((request) =>
        S.keyOf(request) === middle ? Effect.succeed(true) : Effect.fail("nobody is here")
      )
    )
    yield* play.answer({ [innermost]: yes, [outer]: yes })
  })
})

describe("two answers at once", () => {
  for (const where of ["one process", "two processes"] as const) {
    for (const [one, other] of [[innermost, outer], [innermost, middle], [innermost, innermost]] as const) {
      it.effect(`L2 to ${one} and ${other} in ${where} both count, and once`, () =>
        Effect.gen(function*() {
          const play = yield* S.begin("send", Tree.threeLevels)
          yield* play.begin
          const beside = where === "two processes" ? yield* play.another : undefined
          const first = yield* S.turn(play.take([], play.answersFor({ [one]: yes })))
          const second = yield* S.turn(play.take([], play.answersFor({ [other]: yes }), beside))
          yield* S.ended(first)
          yield* S.endedOrRefused(second)
          yield* play.check()
          const rest = [innermost, middle, outer].filter((key) => !play.decisions.has(key))
          yield* play.answer(Object.fromEntries(rest.map((key) => [key, yes])))
        }))
    }
  }
})
