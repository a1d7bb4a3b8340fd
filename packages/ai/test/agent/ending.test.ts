/**
 * What ends the outermost ends everything inside it: a new message, Stop, what is taken back, a limit, an expiry, a reader who
 * leaves, a removal. It is nobody's "no": no inner model is called for it, and what comes late pays nothing.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import { Approval, ApprovalController, ApprovalPolicy, ConversationStore } from "../../src/index.ts"
import { isCancelled } from "../conversation/stopping.ts"
import * as S from "./support.ts"
import * as Tree from "./tree.ts"
import * as World from "./world.ts"

const { yes } = S

const keys = ["r.01", "r.00.01", "r.00.00.00"] as const

/** Which agents' models were called, in order. */
const called = (play: S.Play) =>
  Effect.map(
    Effect.forEach(play.processes, ({ script }) => script.requests),
    (all) => all.flat().map(({ prompt }) => World.agentOf(prompt))
  )

/** A yes to all that was asked, at the outermost and at the conversation it was asked in: nothing comes of any of it. */
const lateYes = (play: S.Play) =>
  Effect.gen(function*() {
    const before = [...play.did]
    const models = yield* S.calls(play)
    for (const request of play.seen.values()) {
      yield* S.refused(play, [Approval.approve(request)], "AlreadyDecided")
      const id = request.conversation
      if (id === undefined || S.isHeld(play.way)) continue
      const { serving, toolkit } = play.process()
      const inner = yield* serving(World.conversationOf({ id, toolkit }))
      assert.deepStrictEqual(yield* inner.pending(), [])
      yield* Effect.exit(serving(inner.decide(Approval.approve(request))))
    }
    assert.deepStrictEqual(play.did, before)
    assert.strictEqual(yield* S.calls(play), models)
  })

describe("a new message", () => {
  S.inWays("L6 supersedes what waits at every level, and a late yes pays nothing", function*(way) {
    const play = yield* S.begin(way, Tree.threeLevels)
    yield* play.begin
    const before = yield* called(play)
    const taken = yield* play.say("Leave it.")
    assert.deepStrictEqual([taken.tag, taken.text, taken.requests], ["Completed", "Something else.", []])
    assert.deepStrictEqual((yield* called(play)).slice(before.length), ["r"])
    yield* lateYes(play)
    assert.deepStrictEqual(play.did, ["saw:r.00.00.01"])
    assert.deepStrictEqual(yield* play.refusals, [])
  })

  S.inWays(
    "L6 after some were answered: what was paid stays, and the rest is superseded in another process too",
    function*(way) {
      const play = yield* S.begin(way, Tree.threeLevels)
      yield* play.begin
      yield* play.answer({ "r.00.01": yes })
      yield* play.restart
      yield* play.say("Leave it.")
      yield* lateYes(play)
      assert.sameMembers(play.did, ["saw:r.00.00.01", "paid:r.00.01"])
      assert.deepStrictEqual(yield* play.refusals, [])
    }
  )
})

describe("Stop", () => {
  it.effect("L2 cancels what waits at every level, calls no model, and a late yes pays nothing", () =>
    Effect.gen(function*() {
      const play = yield* S.begin("send", Tree.threeLevels)
      yield* play.begin
      const before = yield* called(play)
      yield* play.conversation().cancel("enough")
      assert.deepStrictEqual(yield* play.pending, [])
      assert.deepStrictEqual(yield* called(play), before)
      for (const request of play.seen.values()) {
        assert.strictEqual((yield* play.conversation().stateOf(request.approvalId))?.state, "cancelled")
      }
      yield* lateYes(play)
      assert.strictEqual((yield* play.say("Well?")).text, "Something else.")
      assert.deepStrictEqual((yield* called(play)).slice(before.length), ["r"])
      assert.deepStrictEqual(yield* play.refusals, [])
    }))

  for (
    const [what, tree, before] of [
      ["that was approved", Tree.threeLevels, { "r.00.00.00": yes }],
      ["that nobody is asked about", Tree.agent([Tree.inner([Tree.inner([Tree.look, Tree.pay])])]), {}]
    ] as const
  ) {
    it.effect(`L2 reaches a run ${what}, three levels deep, and no model goes on`, () =>
      Effect.gen(function*() {
        const seen: Array<string> = []
        const hold = yield* S.makeHold
        const held = what === "that was approved" ? "paid:" : "saw:"
        const play = yield* S.begin("send", tree, {
          before: (what) =>
            what.startsWith(held)
              ? Effect.onExit(
                hold.wait,
                (exit) => Effect.sync(() => seen.push(Exit.isSuccess(exit) ? "ended" : "was stopped"))
              )
              : Effect.void
        })
        const first = Object.keys(before).length === 0 ? play.take(World.promptOf("r")) : Effect.gen(function*() {
          yield* play.begin
          return yield* play.take([], play.answersFor(before))
        })
        const running = yield* Effect.forkChild(first, { startImmediately: true })
        yield* hold.entered
        const models = yield* called(play)
        yield* play.conversation().cancel("enough")
        assert.deepStrictEqual(seen, ["was stopped"])
        assert.isTrue(isCancelled(yield* Fiber.await(running)))
        assert.deepStrictEqual(yield* play.pending, [])
        assert.deepStrictEqual(yield* called(play), models)
        yield* lateYes(play)
        assert.strictEqual((yield* play.say("Well?")).text, "Something else.")
        assert.deepStrictEqual(yield* play.refusals, [])
        assert.notInclude(play.did.join(), held)
      }))
  }
})

describe("what is taken back", () => {
  it.effect("L6 is taken back at every level, and nothing goes on with it", () =>
    Effect.gen(function*() {
      const play = yield* S.begin("send", Tree.threeLevels)
      yield* play.begin
      const before = yield* called(play)
      const cleared = yield* play.conversation().clear({ reason: "not now" })
      assert.sameMembers(cleared.map(S.keyOf), [...keys])
      assert.deepStrictEqual(yield* play.pending, [])
      assert.deepStrictEqual(yield* called(play), before)
      yield* lateYes(play)
    }))

  it.effect("L6 with all that one agent asks, that agent does not go on; the one beside it does", () =>
    Effect.gen(function*() {
      const play = yield* S.begin("send", Tree.agent([Tree.inner([Tree.pay]), Tree.inner([Tree.ask])]))
      yield* play.begin
      const cleared = yield* play.conversation().clear({ tool: "Pay" })
      assert.deepStrictEqual(cleared.map(S.keyOf), ["r.00.00"])
      const before = yield* called(play)
      yield* play.conversation().decide(
        (yield* play.pending).map((request) => Approval.answer(request, "that one"))
      )
      assert.deepStrictEqual((yield* called(play)).slice(before.length), ["r.01", "r"])
    }))
})

describe("a limit of the outermost", () => {
  it.effect("L2 in time ends what runs inside, and no inner model goes on", () =>
    Effect.gen(function*() {
      const hold = yield* S.makeHold
      const play = yield* S.begin("send", Tree.agent([Tree.inner([Tree.inner([Tree.look, Tree.pay])])]), {
        outerLimits: { time: "1 minute" },
        before: (what) => what.startsWith("saw:") ? hold.wait : Effect.void
      })
      const running = yield* S.turn(play.take(World.promptOf("r")))
      yield* hold.entered
      const models = yield* called(play)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual((yield* S.ended(running)).tag, "Limited")
      yield* hold.release
      yield* S.idle
      assert.deepStrictEqual(yield* called(play), models)
      assert.deepStrictEqual(play.did, [])
    }))

  it.effect("L11 in steps is not widened by what an agent inside is allowed", () =>
    Effect.gen(function*() {
      const looks = Array.from({ length: 8 }, () => [Tree.look])
      const play = yield* S.begin("send", Tree.agent([Tree.inner(...looks)]), {
        outerLimits: { steps: 4 },
        limits: { steps: 100 }
      })
      yield* play.take(World.promptOf("r"))
      assert.isAtMost((yield* called(play)).filter((key) => key === "r.00").length, 4)
    }))
})

describe("an expiry", () => {
  S.inWays(
    "L6 inside is told to the agent that asked; a late yes pays nothing, and everything comes to its end",
    function*(way) {
      const play = yield* S.begin(way, Tree.threeLevels, { approval: { expiresIn: "1 hour" } })
      yield* play.begin
      yield* TestClock.adjust("2 hours")
      assert.deepStrictEqual(yield* play.conversation().pending(), [])
      const taken = (yield* play.conversation().wake)!
      assert.strictEqual(taken._tag, "Completed")
      assert.deepStrictEqual(play.did, ["saw:r.00.00.01"])
      for (const request of play.seen.values()) {
        const exit = yield* Effect.exit(play.take([], [Approval.approve(request)]))
        assert.isTrue(Exit.isFailure(exit))
      }
      assert.deepStrictEqual(play.did, ["saw:r.00.00.01"])
      assert.deepStrictEqual(yield* play.refusals, [])
    },
    ["start"]
  )
})

describe("an expiry of one request", () => {
  it.effect("L6 three levels deep is told to the agent that asked, and everything else stays open", () =>
    Effect.gen(function*() {
      const hour = 60 * 60 * 1_000
      const policy = ApprovalPolicy.make((call) =>
        JSON.stringify(call.params).includes("r.00.00.00")
          ? Approval.needsApproval({ expiresIn: hour, presentation: World.presentationOf("r.00.00.00") })
          : undefined
      )
      const expiring = Effect.provideService(ApprovalPolicy.ApprovalPolicy, policy)
      const play = yield* S.begin("send", Tree.threeLevels)
      yield* expiring(play.begin)
      assert.isDefined(play.seen.get("r.00.00.00")!.expiresAt)
      yield* TestClock.adjust("2 hours")
      assert.sameMembers((yield* play.pending).map(S.keyOf), ["r.00.01", "r.01"])
      const woken = yield* expiring(play.conversation().wake)
      assert.strictEqual(woken?._tag, "Waiting")
      play.decisions.set("r.00.00.00", S.no)
      yield* play.check()
      yield* S.refused(play, [Approval.approve(play.seen.get("r.00.00.00")!)], "AlreadyDecided")
      yield* expiring(play.answer({ "r.01": yes, "r.00.01": yes }))
      assert.notInclude(play.did, "paid:r.00.00.00")
    }))
})

describe("a reader who leaves", () => {
  for (const kind of ["ask", "inner"] as const) {
    it.effect(`L2 while one call waits (${kind}) and another runs loses nothing: the next turn asks, and it is done once`, () =>
      Effect.gen(function*() {
        const hold = yield* S.makeHold
        const waits = kind === "ask" ? Tree.ask : Tree.inner([Tree.pay])
        const play = yield* S.begin("stream", Tree.agent([waits, Tree.inner([Tree.look])]), {
          before: (what) => what === "saw:r.01.00" ? hold.wait : Effect.void
        })
        const reader = yield* Effect.forkChild(Stream.runDrain(play.conversation().stream(World.promptOf("r"))), {
          startImmediately: true
        })
        yield* hold.entered
        yield* S.idle
        yield* Fiber.interrupt(reader)
        const models = yield* called(play)
        yield* hold.release
        yield* S.idle
        assert.deepStrictEqual(yield* called(play), models, "a model is called though nobody reads")
        const asked = yield* play.take([])
        const key = kind === "ask" ? "r.00" : "r.00.00"
        assert.deepStrictEqual(asked.requests.map(S.keyOf), [key])
        play.seen.set(key, asked.requests[0]!)
        yield* play.take([], play.answersFor({ [key]: kind === "ask" ? S.text("so") : yes }))
        const done = kind === "ask" ? ["ask:r.00", "heard:r.00:so"] : ["paid:r.00.00"]
        assert.deepStrictEqual(play.did.filter((what) => !what.startsWith("saw:")), done)
        assert.deepStrictEqual(yield* play.pending, [])
        assert.deepStrictEqual(yield* play.refusals, [])
      }))
  }

  for (const kind of ["look", "pay"] as const) {
    it.effect(`L2 while a ${kind} runs three levels deep: it runs at most once, nothing is lost, and the next turn goes on`, () =>
      Effect.gen(function*() {
        const hold = yield* S.makeHold
        const deep = kind === "look" ? Tree.look : Tree.pay
        const play = yield* S.begin("stream", Tree.agent([Tree.inner([Tree.inner([deep, Tree.pay]), Tree.pay])]), {
          before: (what) => what.endsWith(":r.00.00.00") ? hold.wait : Effect.void
        })
        const parts = kind === "look" ?
          play.conversation().stream(World.promptOf("r")) :
          yield* Effect.gen(function*() {
            yield* play.begin
            return play.conversation().stream([], { answers: play.answersFor({ "r.00.00.00": yes }) })
          })
        const reader = yield* Effect.forkChild(Stream.runDrain(parts), { startImmediately: true })
        yield* hold.entered
        const models = yield* called(play)
        yield* Fiber.interrupt(reader)
        yield* hold.release
        yield* S.idle
        assert.deepStrictEqual(yield* called(play), models, "a model is called though nobody reads")
        const next = yield* S.turn(play.say("And now?"))
        assert.strictEqual((yield* S.ended(next)).text, "Something else.")
        assert.deepStrictEqual(yield* play.pending, [])
        assert.deepStrictEqual(yield* play.refusals, [])
        assert.isAtMost(play.did.filter((what) => what.endsWith(":r.00.00.00")).length, 1)
        yield* lateYes(play)
      }))
  }
})

describe("a removal", () => {
  it.effect("L17 of the outermost conversation takes those inside it, with what waits in them", () =>
    Effect.gen(function*() {
      const { ids, store, watched } = yield* S.makeWatched
      const play = yield* S.begin("send", Tree.threeLevels, { store: watched })
      yield* play.begin
      assert.strictEqual(ids.size, 3)
      yield* play.process().serving(ConversationStore.remove("c1"))
      for (const id of ids) assert.isUndefined(yield* store.conversations.get(id))
      assert.deepStrictEqual((yield* store.requests.page({}, { limit: 10 })).requests, [])
      const deep = play.seen.get("r.00.00.00")!
      yield* S.refused(play, [Approval.approve(deep)], "UnknownApproval")
    }))
})

describe("an inner conversation", () => {
  it.effect("L2 is asked nothing inline while what is above it has ended", () =>
    Effect.gen(function*() {
      const hold = yield* S.makeHold
      const play = yield* S.begin("send", Tree.agent([Tree.inner([Tree.pay])]), {})
      const running = yield* S.turn(
        Effect.provide(
          play.take(World.promptOf("r")),
          ApprovalController.layerInteractive(() => Effect.as(hold.wait, true))
        )
      )
      yield* hold.entered
      yield* play.conversation().cancel("enough")
      yield* hold.release
      assert.isTrue(isCancelled(yield* S.exitOf(running)))
      assert.deepStrictEqual(play.did, [])
    }))
})
