/**
 * L2, L3: Stop means stop. `cancel` reaches a run however it was approved, from any object of its conversation in any
 * process; a nested run stops with its parent.
 */
import { assert, describe } from "@effect/vitest"
import { Effect, Exit, Fiber } from "effect"
import { ApprovalController, Conversation, ConversationStore, LanguageModel } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as Laws from "../laws/support.ts"
import * as Processes from "./processes.ts"
import * as R from "./support.ts"

/** A handler that waits, and says how its run ended. */
const watched = Effect.gen(function*() {
  const hold = yield* R.makeHold
  const ends: Array<string> = []
  const handler = (given: unknown): R.Handler => () =>
    Effect.onExit(
      Effect.as(hold.wait, given),
      (exit) => Effect.sync(() => ends.push(Exit.isSuccess(exit) ? "ended" : "stopped"))
    )
  return { hold, ends, handler }
})

/** Who cancels: of each, the conversation as they hold it. */
const cancellers = {
  "the object whose turn it is": ({ world }) => Effect.succeed(world.conversation!),
  "another object of the conversation": ({ world }) => world.another,
  "another process": ({ shared }) =>
    Effect.map(R.make("send", { turns: [], store: shared }), ({ conversation }) => conversation!)
} satisfies Record<
  string,
  (story: { readonly world: R.World; readonly shared: R.World["store"] }) => Effect.Effect<unknown, unknown, any>
>

/** `Pay` runs, in a turn that goes on, or in one that was left. */
const running = Effect.fnUntraced(function*(way: R.Way, isLeft: boolean) {
  const { ends, handler, hold } = yield* watched
  const shared = yield* Processes.makeShared
  const world = yield* R.make(way, {
    turns: [[R.pay], R.paysUnlessTold],
    handlers: { Pay: handler("paid 5") },
    store: shared
  })
  const reader = yield* Effect.forkChild(Effect.exit(world.begin))
  yield* hold.entered
  if (isLeft) yield* Fiber.interrupt(reader)
  return { ends, hold, reader, shared, world }
})

for (const [who, canceller] of Object.entries(cancellers)) {
  describe(`cancel, from ${who}`, () => {
    for (const isLeft of [false, true]) {
      R.inWays(
        `stops an approved run whose turn ${
          isLeft ? "was left" : "goes on"
        }; what it did is unknown, and it is paid once`,
        function*(way) {
          const story = yield* running(way, isLeft)
          const { ends, reader, world } = story
          const other = yield* canceller(story)
          const cancelling = yield* Effect.forkChild(other.cancel("stop it"))
          assert.isTrue(yield* R.endsWithin(cancelling, 10))
          yield* Fiber.join(cancelling)
          // Another process may hear of it with its next beat.
          assert.isTrue(yield* R.within(10, () => ends.length > 0))
          assert.deepStrictEqual(ends, ["stopped"])
          if (!isLeft) {
            assert.isTrue(yield* R.endsWithin(reader, 10))
            const error = yield* Effect.flip(Effect.flatten(Fiber.join(reader)))
            assert.instanceOf(error, ConversationStore.ConversationError)
            assert.strictEqual(error instanceof ConversationStore.ConversationError && error.reason, "Cancelled")
          }
          assert.deepStrictEqual(yield* world.conversation!.pending(), [])
          yield* world.say("And now?")
          yield* R.assertToldUnknown(world, "pay-1")
          assert.strictEqual(world.count("Pay"), 1)
        },
        R.conversationWays
      )
    }
  })
}

describe("cancel", () => {
  R.inWays("stops all that run, and says of one that had ended what it gave", function*(way) {
    const paying = yield* watched
    const shipping = yield* watched
    const world = yield* R.make(way, {
      turns: [[R.pay, R.ship, R.note]],
      handlers: { Pay: paying.handler("paid"), Ship: shipping.handler("shipped") }
    })
    const reader = yield* Effect.forkChild(Effect.exit(world.begin))
    yield* Effect.andThen(paying.hold.entered, shipping.hold.entered)
    yield* R.idle
    yield* world.conversation!.cancel("stop it")
    yield* Fiber.join(reader)
    assert.deepStrictEqual([...paying.ends, ...shipping.ends], ["stopped", "stopped"])
    yield* world.say("And now?")
    yield* R.assertToldUnknown(world, "pay-1")
    yield* R.assertToldUnknown(world, "ship-1")
    yield* R.assertToldResult(world, "note-2", "noted")
  }, R.conversationWays)

  R.inWays(
    "while a person is asked runs nothing: the next turn's model is told why, or that nothing ran",
    function*(way) {
      const asked = yield* R.makeHold
      const world = yield* R.make(way, {
        turns: [[R.pay]],
        controller: ApprovalController.interactive(({ toolName }) =>
          toolName === "Note" ? true : Effect.as(asked.wait, true)
        )
      })
      const reader = yield* Effect.forkChild(Effect.exit(world.begin))
      yield* asked.entered
      yield* world.conversation!.cancel("stop it")
      yield* Fiber.join(reader)
      yield* asked.release
      yield* R.idle
      assert.strictEqual(world.count("Pay"), 0)
      assert.deepStrictEqual(yield* world.conversation!.pending(), [])
      yield* world.say("And now?")
      assert.match(Laws.failureReason(yield* R.toldOf(world, "pay-1")), /stop it|nothing ran/i)
    },
    R.conversationWays.filter((way) => way !== "decide")
  )

  R.inWays("of a conversation stops no run of another", function*(way) {
    const { ends, hold, reader, shared } = yield* running(way, false)
    const other = yield* R.make("send", { turns: [], store: shared, id: "c2" })
    yield* other.conversation!.cancel("stop it")
    yield* R.idle
    assert.deepStrictEqual(ends, [])
    yield* hold.release
    assert.isTrue(yield* R.endsWithin(reader, 10))
    assert.isTrue(Exit.isSuccess(yield* Fiber.join(reader)))
  }, ["send"])
})

/** A handler with a turn of its own, in which `Ship` is approved and runs. */
const nestings = {
  "by a model's turn": (inner: R.Handler): R.Handler => () =>
    Effect.gen(function*() {
      const { toolkit } = yield* Laws.makeTools(R.tools, { Ship: inner })
      const { model } = yield* ScriptedModel.make({ turns: [[R.ship]] })
      const response = yield* LanguageModel.generateText({ prompt: "Go on.", toolkit }).pipe(
        Effect.provideService(LanguageModel.LanguageModel, model)
      )
      return response.text
    }) as Effect.Effect<unknown, unknown>,
  "by a conversation": (inner: R.Handler): R.Handler => () =>
    Effect.gen(function*() {
      const { toolkit } = yield* Laws.makeTools(R.tools, { Ship: inner })
      const { model } = yield* ScriptedModel.make({ turns: [[R.ship]], afterLastTurn: "Done." })
      const conversation = yield* Conversation.make({ id: "inner", toolkit }).pipe(
        Effect.provideService(LanguageModel.LanguageModel, model)
      )
      return (yield* conversation.send("Go on.")).text
    }) as Effect.Effect<unknown, unknown>
}

describe("cancel, of a run that has begun another", () => {
  for (const [how, nest] of Object.entries(nestings)) {
    for (const outer of [R.pay, R.look]) {
      R.inWays(
        `${how}, in a tool that ${outer === R.pay ? "was approved" : "needs nobody"}, stops both`,
        function*(way) {
          const { ends, handler, hold } = yield* watched
          const nested = nest(handler("shipped"))
          const world = yield* R.make(way, { turns: [[outer]], handlers: { Pay: nested, Look: nested } })
          const reader = yield* Effect.forkChild(Effect.exit(world.begin))
          yield* hold.entered
          const cancelling = yield* Effect.forkChild(world.conversation!.cancel("stop it"))
          assert.isTrue(yield* R.endsWithin(cancelling, 10))
          assert.isTrue(yield* R.endsWithin(reader, 10))
          assert.deepStrictEqual(ends, ["stopped"])
          yield* world.say("And now?")
          yield* R.assertToldUnknown(world, outer.id)
        },
        ["send", "stream", "decide, inline"]
      )
    }
  }
})

describe("ApprovalJournal.interrupt, of a run that has begun another", () => {
  for (const [how, nest] of Object.entries(nestings)) {
    R.inWays(`${how}, stops both`, function*(way) {
      const { ends, handler, hold } = yield* watched
      const ids: Array<string> = []
      const world = yield* R.make(way, {
        turns: [[R.pay]],
        handlers: { Pay: nest(handler("shipped")) },
        controller: ApprovalController.interactive(({ approvalId, toolName }) => {
          if (toolName === "Pay") ids.push(approvalId)
          return true
        })
      })
      const reader = yield* Effect.forkChild(Effect.exit(world.begin))
      yield* hold.entered
      assert.isTrue(yield* world.journal.interrupt(ids[0]!))
      assert.isTrue(yield* R.endsWithin(reader, 10))
      assert.deepStrictEqual(ends, ["stopped"])
      yield* world.say("And now?")
      yield* R.assertToldUnknown(world, "pay-1")
    }, ["Chat.generateText", "Chat.streamText", "generateText", "streamText"])
  }
})
