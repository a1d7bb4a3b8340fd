/**
 * What runs is neither open nor waited for, and a turn that was queued behind one that is left comes after what is on
 * record of it.
 */
import { assert, describe } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import { ApprovalController, ConversationStore, Response } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as R from "./support.ts"

const payHeld = Effect.fnUntraced(function*(way: R.Way, options: Partial<R.Options> = {}) {
  const hold = yield* R.makeHold
  const world = yield* R.make(way, {
    turns: [[R.pay], R.paysUnlessTold],
    handlers: { Pay: R.heldOnce(hold, ({ amount }) => `paid ${amount}`) },
    ...options
  })
  return { hold, world }
})

/** What everybody who looks at the store sees to be open. */
const inbox = ({ store }: R.World) =>
  Effect.gen(function*() {
    const service = yield* ConversationStore.make({ store })
    return (yield* service.page({}, { limit: 10 })).requests.map(({ request }) => request.toolCallId)
  })

describe("a call that was approved inline and runs", () => {
  R.inWays("is not in `pending()`: while its turn goes on, when it was left, and when it has ended", function*(way) {
    const { hold, world } = yield* payHeld(way)
    const { pending } = world.conversation!
    const reader = yield* Effect.forkChild(world.begin)
    yield* hold.entered
    for (const moment of ["its turn goes on", "it was left", "it has ended"]) {
      if (moment === "it was left") yield* Fiber.interrupt(reader)
      if (moment === "it has ended") yield* Effect.andThen(hold.release, R.idle)
      assert.deepStrictEqual(yield* pending(), [], moment)
      assert.deepStrictEqual(yield* inbox(world), [], moment)
    }
  }, R.conversationWays)

  R.inWays("does not make the turn wait: `isWaiting` is false where a limit ended it", function*(way) {
    const { hold, world } = yield* payHeld(way, { limits: { time: "5 seconds" } })
    const reader = yield* Effect.forkChild(world.begin)
    yield* hold.entered
    yield* TestClock.adjust("5 seconds")
    const parts = yield* Fiber.join(reader)
    const outcome = yield* world.conversation!.outcome
    assert.strictEqual(outcome?._tag, "Limited")
    assert.isFalse(Response.isWaiting(parts), "its parts")
    assert.isFalse(Response.isWaiting(outcome?.content ?? []), "its outcome")
    assert.deepStrictEqual(Response.approvalRequests(parts), [])
  }, R.conversationWays)

  R.inWays("nor do the parts that its reader saw", function*(way) {
    const hold = yield* R.makeHold
    const world = yield* R.make(way, {
      turns: [[ScriptedModel.text("I pay it."), R.pay]],
      handlers: { Pay: R.heldOnce(hold, () => "paid late") }
    })
    const seen: Array<Response.AnyPart> = []
    const reader = yield* Effect.forkChild(
      Stream.runForEach(world.stream("Pay the bill."), (part) => Effect.sync(() => seen.push(part)))
    )
    yield* hold.entered
    yield* R.idle
    yield* Fiber.interrupt(reader)
    assert.isTrue(seen.some((part) => part.type === "text-end"))
    assert.isFalse(Response.isWaiting(seen))
  }, R.streamWays)

  R.inWays("nor the turn that joins it, also when that is left in turn: the third is told", function*(way) {
    const { hold, world } = yield* payHeld(way)
    const reader = yield* Effect.forkChild(world.begin)
    yield* hold.entered
    yield* Fiber.interrupt(reader)
    const second = yield* Effect.forkChild(world.say("And now?"))
    yield* R.idle
    yield* Fiber.interrupt(second)
    yield* hold.release
    yield* R.idle
    const parts = yield* world.say("Well?")
    assert.isFalse(Response.isWaiting(parts))
    yield* R.assertToldResult(world, "pay-1", "paid 5")
    assert.strictEqual(world.count("Pay"), 1)
  })
})

describe("a turn that waits for one that is left", () => {
  R.inWays("comes after what is on record of it: its model is told the result", function*(way) {
    const { hold, world } = yield* payHeld(way)
    const reader = yield* Effect.forkChild(world.begin)
    yield* hold.entered
    const queued = yield* Effect.forkChild(world.say("And now?"))
    yield* R.idle
    yield* Fiber.interrupt(reader)
    yield* R.idle
    yield* hold.release
    yield* Fiber.join(queued)
    yield* R.assertToldResult(world, "pay-1", "paid 5")
    assert.strictEqual(world.count("Pay"), 1)
  })

  R.inWays("and so do several, in their order", function*(way) {
    const { hold, world } = yield* payHeld(way)
    const reader = yield* Effect.forkChild(world.begin)
    yield* hold.entered
    const queued = yield* Effect.forEach(
      ["One?", "Two?"],
      (words) => Effect.tap(Effect.forkChild(world.say(words)), () => R.idle)
    )
    yield* Fiber.interrupt(reader)
    yield* hold.release
    yield* Fiber.joinAll(queued)
    const { content } = yield* R.sent(world)
    const said = content.flatMap((message) => message.role === "user" ? message.content : [])
    assert.deepStrictEqual(
      said.slice(-3).map((part) => part.type === "text" ? part.text : part.type),
      [way === "decide, inline" ? "Take a note." : "Pay the bill.", "One?", "Two?"]
    )
    yield* R.assertToldResult(world, "pay-1", "paid 5")
    assert.strictEqual(world.count("Pay"), 1)
  })
})

describe("a stream that is left where no call began", () => {
  const assistantText = (world: R.World) =>
    Effect.map(
      world.history,
      ({ content }) =>
        content.flatMap((message) => message.role === "assistant" ? message.content : [])
          .map((part) => part.type === "text" ? part.text : part.type)
    )

  R.inWays("keeps what its reader saw, and nothing that was still to come", function*(way) {
    const world = yield* R.make(way, {
      turns: [[
        ScriptedModel.text("Well, "),
        ScriptedModel.text("I do not "),
        ScriptedModel.pause(Effect.never),
        ScriptedModel.text("know.")
      ]]
    })
    yield* Stream.runDrain(Stream.takeUntil(world.stream("Hello."), (part) => part.type === "text-end"))
    assert.deepStrictEqual(yield* assistantText(world), ["Well, "])
    yield* world.say("And now?")
    assert.include(JSON.stringify(yield* R.sent(world)), "Well, ")
  }, R.streamWays)

  const words = "A sentence of which only the beginning is read."
  const responses = {
    "a text alone": [ScriptedModel.text(words)],
    "a text with a call that did not begin": [ScriptedModel.text(words), R.pay]
  }
  for (const [what, response] of Object.entries(responses)) {
    R.inWays(`does not keep words that nobody saw, of ${what}`, function*(way) {
      // Where somebody is asked, what the model said is on record before.
      const world = yield* R.make(way, { turns: [response], controller: ApprovalController.deferred })
      const parts = yield* Stream.runCollect(Stream.take(world.stream("Hello."), 2))
      assert.deepStrictEqual(parts.map(({ type }) => type), ["text-start", "text-delta"])
      assert.strictEqual(world.count("Pay"), 0)
      const kept = yield* assistantText(world)
      assert.notInclude(kept.join(""), "is read.")
      assert.notInclude(kept.join(""), "tool-call")
    }, R.streamWays)
  }
})
