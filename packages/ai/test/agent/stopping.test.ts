/**
 * A denial that stops (`stop`) ends the turn, and a turn has all levels: what was approved still runs, what waits stays open, and
 * no model of any level is called before somebody says something new.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber } from "effect"
import { ConversationError } from "../../src/ConversationStore.ts"
import { Approval, ApprovalController, Response } from "../../src/index.ts"
import * as Laws from "../laws/support.ts"
import * as S from "./support.ts"
import * as Tree from "./tree.ts"
import * as World from "./world.ts"

const { yes } = S

const stop = (play: S.Play, key: string) => [Approval.deny(play.seen.get(key)!, "Stop.", { stop: true })]

const deep = "r.00.00.00"
const onlyDeep = Tree.agent([Tree.inner([Tree.inner([Tree.pay])])])

describe("a denial that stops, within an agent", () => {
  S.inWays("L5 ends the turns of all levels, and no model is called", function*(way) {
    const play = yield* S.begin(way, onlyDeep)
    yield* play.begin
    const models = yield* S.calls(play)
    const taken = yield* play.take([], stop(play, deep))
    assert.strictEqual(yield* S.calls(play), models)
    assert.deepStrictEqual(taken.requests, [])
    if (!S.isHeld(way)) assert.strictEqual(taken.tag, "Stopped")
    // Nothing goes on by itself, in another process either.
    yield* play.restart
    yield* play.take([])
    assert.strictEqual(yield* S.calls(play), models)
    assert.strictEqual((yield* play.say("Well?")).text, "Something else.")
    assert.strictEqual(yield* S.calls(play), models + 1)
    assert.deepStrictEqual(play.did, [])
    assert.deepStrictEqual(yield* play.refusals, [])
  })

  S.inWays("L5 leaves what waits beside it open, at every level, and lets what is approved there run", function*(way) {
    const play = yield* S.begin(way, Tree.threeLevels)
    yield* play.begin
    const models = yield* S.calls(play)
    const first = yield* play.take([], stop(play, deep))
    assert.sameMembers(first.requests.map(S.keyOf), ["r.00.01", "r.01"])
    yield* play.restart
    const second = yield* play.take([], play.answersFor({ "r.00.01": yes }))
    assert.sameMembers(second.requests.map(S.keyOf), ["r.01"])
    const third = yield* play.take([], play.answersFor({ "r.01": yes }))
    assert.deepStrictEqual(third.requests, [])
    if (!S.isHeld(way)) assert.strictEqual(third.tag, "Stopped")
    assert.strictEqual(yield* S.calls(play), models)
    assert.sameMembers(play.did, ["saw:r.00.00.01", "paid:r.00.01", "paid:r.01"])
    assert.strictEqual((yield* play.say("Well?")).text, "Something else.")
    assert.strictEqual(yield* S.calls(play), models + 1)
    assert.deepStrictEqual(yield* play.refusals, [])
  })

  it.effect("L5 given by a controller ends the turn that it is given in", () =>
    Effect.gen(function*() {
      const play = yield* S.begin("stream", Tree.threeLevels)
      const denied = (request: Approval.ApprovalRequest) =>
        S.keyOf(request) === deep ? Approval.deny(request, "Stop.", { stop: true }) : Approval.approve(request)
      const taken = yield* Effect.provide(
        play.take(World.promptOf(Tree.rootKey)),
        ApprovalController.layerInteractive(denied)
      )
      assert.strictEqual(taken.tag, "Stopped")
      assert.strictEqual(yield* S.calls(play), 3)
      assert.sameMembers(play.did, ["saw:r.00.00.01", "paid:r.00.01", "paid:r.01"])
      assert.deepStrictEqual(yield* play.refusals, [])
    }))

  it.effect("L5 says so on the finish of a response", () =>
    Effect.gen(function*() {
      const process = yield* World.makeProcess({
        agents: Tree.agentsOf(onlyDeep),
        does: () => {},
        store: yield* S.makeStore
      })
      const turn = yield* process.serving(
        Effect.provide(
          Laws.takeTurn("generateText", {
            model: process.script.model,
            toolkit: process.toolkit,
            prompt: World.promptOf(Tree.rootKey)
          }),
          ApprovalController.layerInteractive((request) => Approval.deny(request, "Stop.", { stop: true }))
        )
      )
      assert.isTrue(Response.isStopped(turn.parts))
    }))

  S.inWays("L5 ends a tool that talks to several agents, with what the others of them wait for", function*(way) {
    const play = yield* S.begin(way, Tree.agent([Tree.team(Tree.agent([Tree.pay]), Tree.agent([Tree.pay]))]))
    yield* play.begin
    const models = yield* S.calls(play)
    const taken = yield* play.take([], stop(play, "r.00#0.00"))
    assert.deepStrictEqual(taken.requests, [])
    if (!S.isHeld(way)) assert.strictEqual(taken.tag, "Stopped")
    yield* S.refused(play, play.answersFor({ "r.00#1.00": yes }), "AlreadyDecided")
    assert.strictEqual(yield* S.calls(play), models)
    assert.deepStrictEqual(play.did, [])
  })
})

describe("`cancel` of an agent's own conversation", () => {
  it.effect("L2 is refused, and stops nothing: the outermost one is what people see", () =>
    Effect.gen(function*() {
      const { ids, store, watched } = yield* S.makeWatched
      const hold = yield* S.makeHold
      const play = yield* S.begin("send", Tree.agent([Tree.inner([Tree.look])]), {
        store: watched,
        before: (what) => what.startsWith("saw:") ? hold.wait : Effect.void
      })
      const running = yield* S.turn(play.take(World.promptOf(Tree.rootKey)))
      yield* hold.entered
      const { serving, toolkit } = play.process()
      for (const id of ids) {
        const row = yield* store.conversations.get(id)
        if (row?.parent === undefined) continue
        const inner = yield* serving(World.conversationOf({ id: row.name, toolkit }))
        const fiber = yield* Effect.forkChild(Effect.exit(inner.cancel("enough")), { startImmediately: true })
        yield* hold.release
        const exit = yield* Fiber.join(fiber)
        assert.isTrue(Exit.isFailure(exit))
        const error = yield* Effect.flip(exit)
        assert.instanceOf(error, ConversationError)
        assert.strictEqual((error as ConversationError).reason, "Conflict")
      }
      assert.strictEqual((yield* S.ended(running)).tag, "Completed")
      assert.deepStrictEqual(play.did, ["saw:r.00.00"])
    }))
})
