/** L2: a turn that fails after something ran forgets nothing of it, and leaves no question that nobody can answer. */
import { assert, describe } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { AiError } from "effect/ai"
import { ApprovalController, LanguageModel } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as Shared from "../conversation/support.ts"
import { failure, intercept } from "../store/intercept.ts"
import * as R from "./support.ts"

const overloaded = AiError.make({
  module: "Provider",
  method: "call",
  reason: new AiError.UnknownError({ description: "overloaded" })
})

/** How often a text of the user stands in what the provider got last. */
const said = (world: R.World, words: string) =>
  Effect.map(
    R.sent(world),
    ({ content }) =>
      content.flatMap((message) => message.role === "user" ? message.content : [])
        .filter((part) => part.type === "text" && part.text === words).length
  )

describe("a turn that fails after a call ran", () => {
  R.inWays("in the provider's next answer: the next turn's model is told the result, and pays once", function*(way) {
    const world = yield* R.make(way, { turns: [[R.pay], overloaded, R.paysUnlessTold] })
    assert.isTrue(Exit.isFailure(yield* Effect.exit(world.begin)))
    yield* world.say("And now?")
    yield* R.assertToldResult(world, "pay-1", "paid 5")
    assert.strictEqual(world.count("Pay"), 1)
  }, R.conversationWays)

  R.inWays(
    "because of a sibling (failure mode \"error\"): the next turn's model is told both, and pays once",
    function*(way) {
      const world = yield* R.make(way, { turns: [[R.pay, R.breaks], R.paysUnlessTold] })
      assert.isTrue(Exit.isFailure(yield* Effect.exit(world.begin)))
      yield* world.say("And now?")
      yield* R.assertToldResult(world, "pay-1", "paid 5")
      assert.isTrue((yield* R.toldOf(world, "break-1")).isFailure)
      assert.deepStrictEqual([world.count("Pay"), world.count("Break")], [1, 1])
    }
  )

  R.inWays("because the stream breaks: the next turn's model is told the result of what needs nobody", function*(way) {
    const looked = yield* R.makeHold
    yield* looked.release
    const world = yield* R.make(way, {
      turns: [[
        R.look,
        ScriptedModel.text("So"),
        ScriptedModel.pause(looked.entered),
        ScriptedModel.fail(overloaded)
      ]],
      handlers: { Look: R.heldOnce(looked, () => "the stock") }
    })
    assert.isTrue(Exit.isFailure(yield* Effect.exit(world.begin)))
    yield* world.say("And now?")
    yield* R.assertToldResult(world, "look-1", "the stock")
    assert.strictEqual(world.count("Look"), 1)
  }, R.streamWays)

  R.inWays("and is tried again with the same words does not say them twice", function*(way) {
    const world = yield* R.make(way, { turns: [[R.pay, R.breaks], R.paysUnlessTold] })
    assert.isTrue(Exit.isFailure(yield* Effect.exit(world.begin)))
    yield* world.say("Pay the bill.")
    assert.strictEqual(yield* said(world, "Pay the bill."), 1)
    yield* R.assertToldResult(world, "pay-1", "paid 5")
    assert.strictEqual(world.count("Pay"), 1)
    // Said again later, it is said again.
    yield* world.say("Pay the bill.")
    assert.strictEqual(yield* said(world, "Pay the bill."), 2)
  }, R.chatWays)

  R.inWays("and goes on with `send([])` has said its words once", function*(way) {
    const world = yield* R.make(way, { turns: [[R.pay, R.breaks], R.paysUnlessTold] })
    assert.isTrue(Exit.isFailure(yield* Effect.exit(world.begin)))
    yield* world.say([])
    assert.strictEqual(yield* said(world, way === "decide, inline" ? "Take a note." : "Pay the bill."), 1)
    yield* R.assertToldResult(world, "pay-1", "paid 5")
    assert.strictEqual(world.count("Pay"), 1)
  }, R.conversationWays)
})

describe("a turn that fails before anybody answered", () => {
  const open = (world: R.World) =>
    Effect.map(world.history, ({ content }) => LanguageModel.collectToolApprovals(content).pending)

  // Nobody here answers: what is asked is for a later turn, of which this one will not tell.
  R.inWays("leaves no open question, and nothing ran", function*(way) {
    const world = yield* R.make(way, { turns: [[R.pay, R.crash]], controller: ApprovalController.deferred })
    assert.isTrue(Exit.isFailure(yield* Effect.exit(world.begin)))
    assert.deepStrictEqual(yield* open(world), [])
    if (world.conversation !== undefined) assert.deepStrictEqual(yield* world.conversation.pending(), [])
    const next = yield* world.say("And now?")
    assert.deepStrictEqual(next.filter((part) => part.type === "tool-approval-request"), [])
    assert.strictEqual(yield* said(world, "And now?"), 1)
    assert.strictEqual(world.count("Pay"), 0)
  }, ["send", "stream", "Chat.generateText", "Chat.streamText"])
})

describe("a conversation that cannot be written", () => {
  /** From when the model has spoken on, nothing can be written of the conversation. */
  const refused = Effect.fnUntraced(function*(way: R.Way, reason: "Unavailable" | "Full") {
    let refuses = false
    const asked: Array<string> = []
    const store = intercept(
      yield* Shared.makeShared,
      (operation, _, run) =>
        Effect.suspend(() =>
          refuses && operation === "conversations.write" ? Effect.fail(failure(operation, reason)) : run
        )
    )
    const world = yield* R.make(way, {
      turns: [() => ((refuses = true), [R.look, R.pay, R.ship]), R.paysUnlessTold],
      store,
      controller: ApprovalController.interactive(({ toolName }) => {
        if (toolName !== "Note") asked.push(toolName)
        return true
      })
    })
    if (way === "decide") refuses = true
    return { asked, world, recover: () => (refuses = false) }
  })

  for (const reason of ["Unavailable", "Full"] as const) {
    R.inWays(`runs nothing, and asks nobody: the turn fails (${reason})`, function*(way) {
      const { asked, recover, world } = yield* refused(way, reason)
      assert.isTrue(Exit.isFailure(yield* Effect.exit(world.begin)))
      assert.deepStrictEqual(["Look", "Pay", "Ship"].map((name) => world.count(name)), [0, 0, 0])
      assert.deepStrictEqual(asked, [])
      // When it can be written again, it goes on. What a reader of the stream saw of it may stand there, without a result.
      recover()
      yield* world.say("And now?")
      const told = yield* R.toldOf(world, "pay-1")
      assert.deepStrictEqual([told.isFailure, world.count("Pay")], told.isFailure ? [true, 0] : [false, 1])
      assert.strictEqual(yield* said(world, "And now?"), 1)
    }, R.inlineWays.filter((way) => !way.startsWith("Chat")))
  }

  R.inWays("runs nothing of what is decided, which stays to be decided", function*(way) {
    let refuses = false
    const store = intercept(
      yield* Shared.makeShared,
      (operation, _, run) =>
        Effect.suspend(() => refuses && operation === "conversations.write" ? Effect.fail(failure(operation)) : run)
    )
    const world = yield* R.make(way, { turns: [[R.pay, R.ship]], store })
    refuses = true
    assert.isTrue(Exit.isFailure(yield* Effect.exit(world.begin)))
    assert.deepStrictEqual([world.count("Pay"), world.count("Ship")], [0, 0])
    refuses = false
    yield* world.begin
    yield* R.assertToldResult(world, "pay-1", "paid 5")
    assert.deepStrictEqual([world.count("Pay"), world.count("Ship")], [1, 1])
  }, ["decide"])
})
