/**
 * On record first: before anything of a response runs, or a person is asked, what the model said is written, so that
 * whoever comes next finds it, however the turn ends; and nothing of it is anybody's open question.
 */
import { assert, describe } from "@effect/vitest"
import { Effect, Fiber, Schema, Stream } from "effect"
import { ApprovalController, LanguageModel } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as Laws from "../laws/support.ts"
import * as Processes from "./processes.ts"
import * as R from "./support.ts"

/** Who is told "yes" once a hold is let go; a note is approved at once. */
const askedAt = (hold: R.Hold) =>
  ApprovalController.interactive(({ toolName }) => toolName === "Note" ? true : Effect.as(hold.wait, true))

/** What another process finds of the conversation. */
const found = Effect.fnUntraced(function*(store: R.World["store"]) {
  const { history } = yield* R.make("send", { turns: [], store })
  const parts = Laws.partsOf(yield* history)
  return {
    calls: parts.flatMap((part) => part.type === "tool-call" ? [part.id] : []),
    results: parts.flatMap((part) => part.type === "tool-result" ? [part.id] : []),
    texts: parts.flatMap((part) => part.type === "text" ? [part.text] : [])
  }
})

describe("before anything of a response runs", () => {
  R.inWays("what was said is written, with all of its calls", function*(way) {
    const hold = yield* R.makeHold
    const world = yield* R.make(way, {
      turns: [[ScriptedModel.text("I pay, and ship."), R.pay, R.ship]],
      handlers: { Pay: R.heldOnce(hold, () => "paid 5") }
    })
    const reader = yield* Effect.forkChild(world.begin)
    yield* hold.entered
    const { calls, texts } = yield* found(world.store)
    assert.includeMembers([...calls], ["pay-1", "ship-1"])
    assert.include(texts, "I pay, and ship.")
    assert.include(texts, way === "decide, inline" ? "Take a note." : "Pay the bill.")
    yield* hold.release
    yield* Fiber.join(reader)
    const after = yield* found(world.store)
    assert.deepStrictEqual(after.calls.filter((id) => id !== "note-1"), ["pay-1", "ship-1"], "once")
    assert.deepStrictEqual(after.results.filter((id) => id !== "note-1").toSorted(), ["pay-1", "ship-1"])
    assert.deepStrictEqual(after.texts.filter((text) => text === "I pay, and ship."), ["I pay, and ship."])
  }, R.conversationWays)

  R.inWays("and before a person is asked", function*(way) {
    const asked = yield* R.makeHold
    const world = yield* R.make(way, { turns: [[R.pay, R.ship]], controller: askedAt(asked) })
    const reader = yield* Effect.forkChild(world.begin)
    yield* asked.entered
    assert.includeMembers([...(yield* found(world.store)).calls], ["pay-1", "ship-1"])
    assert.deepStrictEqual(yield* world.conversation!.pending(), [])
    assert.deepStrictEqual([world.count("Pay"), world.count("Ship")], [0, 0])
    yield* asked.release
    yield* Fiber.join(reader)
    assert.deepStrictEqual([world.count("Pay"), world.count("Ship")], [1, 1])
  }, ["send", "stream", "decide, inline"])

  R.inWays("a result is noted before it is offered: a reader who leaves with it has left it on record", function*(way) {
    const hold = yield* R.makeHold
    const world = yield* R.make(way, {
      turns: [[R.pay, R.ship]],
      handlers: { Ship: R.heldOnce(hold, () => "shipped late") }
    })
    yield* Stream.runDrain(Stream.takeUntil(world.stream("Pay the bill."), (part) => part.type === "tool-result"))
    yield* hold.release
    yield* R.idle
    yield* world.say("And now?")
    yield* R.assertToldResult(world, "pay-1", "paid 5")
    const shipping = yield* R.toldOf(world, "ship-1")
    if (world.count("Ship") === 1) assert.deepStrictEqual(shipping.result, "shipped late")
    else assert.match(Laws.failureReason(shipping), /nothing ran/i)
  }, R.streamWays)
})

describe("what a handler does in turns of its own", () => {
  R.inWays("is not on the record of the turn it is called in", function*(way) {
    const hold = yield* R.makeHold
    const inner = Effect.gen(function*() {
      const { toolkit } = yield* Laws.makeTools(R.tools, { Ship: R.heldOnce(hold, () => "shipped") })
      const { model } = yield* ScriptedModel.make({ turns: [[ScriptedModel.text("Inside."), R.ship]] })
      const { toolResults } = yield* LanguageModel.generateText({ prompt: "Ship it.", toolkit }).pipe(
        Effect.provideService(LanguageModel.LanguageModel, model)
      )
      return `${toolResults.length} shipped`
    })
    const world = yield* R.make(way, { turns: [[R.pay]], handlers: { Pay: () => inner as Effect.Effect<string> } })
    const reader = yield* Effect.forkChild(world.begin)
    yield* hold.entered
    yield* Fiber.interrupt(reader)
    yield* hold.release
    yield* R.idle
    yield* world.say("And now?")
    yield* R.assertToldResult(world, "pay-1", "1 shipped")
    const said = JSON.stringify(yield* R.sent(world))
    for (const word of ["ship-1", "Inside.", "Ship it."]) assert.notInclude(said, word)
  })
})

describe("a process that dies", () => {
  const dieAt = Effect.fnUntraced(function*(
    way: R.Way,
    turns: R.Options["turns"],
    options: Partial<R.Options>,
    place: Effect.Effect<unknown>
  ) {
    const shared = yield* Processes.makeShared
    const process = Processes.make(shared)
    const world = yield* R.make(way, { turns, ...options, store: process.store })
    yield* Effect.forkDetach(world.begin)
    yield* place
    yield* R.idle
    process.die()
    const next = yield* R.make("send", { turns: [R.paysUnlessTold], busyFor: "10 minutes", store: shared })
    const taken = yield* Effect.forkChild(next.say("And now?"))
    assert.isTrue(yield* R.endsWithin(taken, 30))
    yield* Fiber.join(taken)
    return { next, world }
  })

  R.inWays("while one of several calls runs: of those that had ended the results are told", function*(way) {
    const hold = yield* R.makeHold
    const { next, world } = yield* dieAt(
      way,
      [[R.pay, R.ship, R.note]],
      { handlers: { Ship: R.heldOnce(hold, () => "shipped") } },
      hold.entered
    )
    yield* R.assertToldResult(next, "pay-1", "paid 5")
    yield* R.assertToldResult(next, "note-2", "noted")
    yield* R.assertToldUnknown(next, "ship-1")
    assert.deepStrictEqual([world.count("Pay"), world.count("Ship"), next.count("Pay")], [1, 1, 0])
  }, R.conversationWays)

  R.inWays("while a call runs that needs nobody: it is told as unknown", function*(way) {
    const hold = yield* R.makeHold
    const { next } = yield* dieAt(
      way,
      [[R.look]],
      { handlers: { Look: R.heldOnce(hold, () => "late") } },
      hold.entered
    )
    yield* R.assertToldUnknown(next, "look-1")
    assert.strictEqual(next.count("Look"), 0)
  }, ["send", "stream", "decide, inline"])

  R.inWays("while a person is asked: nothing ran, and the model is told so", function*(way) {
    const asked = yield* R.makeHold
    const { next, world } = yield* dieAt(way, [[R.pay]], { controller: askedAt(asked) }, asked.entered)
    yield* R.assertToldNothingRan(next, "pay-1")
    assert.deepStrictEqual([world.count("Pay"), next.count("Pay")], [0, 0])
    assert.deepStrictEqual(yield* next.conversation!.pending(), [])
  }, ["send", "stream", "decide, inline"])
})

describe("generateObject", () => {
  R.inWays("that is left while an approved call runs: the next turn's model is told its result", function*(way) {
    const hold = yield* R.makeHold
    const world = yield* R.make(way, {
      turns: [[R.pay], R.paysUnlessTold],
      handlers: { Pay: R.heldOnce(hold, () => "paid 5") }
    })
    const reader = yield* Effect.forkChild(world.object("Pay the bill.", Schema.Struct({ isPaid: Schema.Boolean })))
    yield* hold.entered
    yield* Fiber.interrupt(reader)
    yield* hold.release
    yield* R.idle
    yield* world.say("And now?")
    yield* R.assertToldResult(world, "pay-1", "paid 5")
    assert.strictEqual(world.count("Pay"), 1)
  }, ["Chat.generateText"])
})
