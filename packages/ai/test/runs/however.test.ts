/** L2: what ran is told, and run once, however it came to run, and whatever a new message means for what is open (L6). */
import { assert, describe } from "@effect/vitest"
import { Context, Effect, Fiber, Layer, Schema } from "effect"
import {
  Approval,
  ApprovalController,
  ApprovalMemory,
  ApprovalPolicy,
  DeferredTool,
  Interaction
} from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as Laws from "../laws/support.ts"
import * as R from "./support.ts"

/** The first turn is left at a place. */
const left = Effect.fnUntraced(function*(way: R.Way, options: R.Options, place: Effect.Effect<unknown>) {
  const world = yield* R.make(way, options)
  const reader = yield* Effect.forkChild(world.begin)
  yield* place
  yield* R.idle
  yield* Fiber.interrupt(reader)
  return world
})

/** Of two equal calls the first is answered for both: the second one, which waits, is what is left. */
const recalled = Effect.fnUntraced(function*(
  way: R.Way,
  services: Context.Context<never>,
  onAsk: () => void
) {
  const hold = yield* R.makeHold
  let runs = 0
  const world = yield* left(way, {
    turns: [[{ ...R.pay, id: "pay-0" }, R.pay]],
    handlers: { Pay: () => Effect.as(Effect.suspend(() => runs++ === 0 ? Effect.void : hold.wait), "paid 5") },
    controller: ApprovalController.interactive(() => {
      onAsk()
      return new Approval.Approved({ remember: "session" })
    }),
    within: (effect) =>
      Effect.provideService(
        Effect.provideService(
          effect,
          ApprovalMemory.ApprovalMemory,
          Context.get(services, ApprovalMemory.ApprovalMemory)
        ),
        Approval.Scope,
        { conversation: "c1" }
      )
  }, hold.entered)
  return { hold, world }
})

const ways: ReadonlyArray<R.Way> = ["send", "stream", "Chat.generateText", "Chat.streamText"]

describe("whatever a new message means for what is open", () => {
  for (const onNewMessage of ["supersede", "keep", "hold", "fail"] as const) {
    R.inWays(`"${onNewMessage}": a call that runs is joined, and told`, function*(way) {
      const hold = yield* R.makeHold
      const world = yield* left(way, {
        turns: [[R.pay], R.paysUnlessTold],
        handlers: { Pay: R.heldOnce(hold, () => "paid 5") },
        approval: { onNewMessage }
      }, hold.entered)
      const next = yield* Effect.forkChild(world.say("And now?"))
      yield* R.idle
      yield* hold.release
      yield* Fiber.join(next)
      yield* R.assertToldResult(world, "pay-1", "paid 5")
      assert.strictEqual(world.count("Pay"), 1)
    }, ways)

    R.inWays(
      `"${onNewMessage}": a question that was left does not stop the next turn, and nothing ran of it unasked`,
      function*(way) {
        const asked = yield* R.makeHold
        let questions = 0
        const world = yield* left(way, {
          turns: [[R.pay]],
          // Who is asked again says no.
          controller: ApprovalController.interactive(() =>
            questions++ === 0 ? Effect.as(asked.wait, true) : new Approval.Denied({ note: "not now" })
          ),
          approval: { onNewMessage }
        }, asked.entered)
        yield* world.say("And now?")
        assert.strictEqual(world.count("Pay"), 0)
        const reason = Laws.failureReason(yield* R.toldOf(world, "pay-1"))
        assert.match(reason, /nothing ran|not now/i, "told so, or asked again")
        if (world.conversation !== undefined) assert.deepStrictEqual(yield* world.conversation.pending(), [])
      },
      ways
    )
  }
})

describe("however a call came to run", () => {
  const running = Effect.fnUntraced(function*(
    way: R.Way,
    options: Omit<Partial<R.Options>, "handlers">,
    around: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R> = (effect) => effect
  ) {
    const hold = yield* R.makeHold
    const options_: R.Options = {
      turns: [[R.pay], R.paysUnlessTold],
      ...options,
      within: around,
      handlers: { Pay: R.heldOnce(hold, ({ amount }) => `paid ${amount}`) }
    }
    return { hold, world: yield* left(way, options_, hold.entered) }
  })

  const paid = Effect.fnUntraced(
    function*({ hold, world }: Effect.Success<ReturnType<typeof running>>, amount: number) {
      yield* hold.release
      yield* R.idle
      yield* world.say("And now?")
      yield* R.assertToldResult(world, "pay-1", `paid ${amount}`)
      assert.strictEqual(world.count("Pay"), 1)
    }
  )

  R.inWays("approved with other parameters: its result is told", function*(way) {
    const edits = ApprovalController.interactive(() => new Approval.Approved({ params: { amount: 3 } }))
    yield* paid(yield* running(way, { controller: edits }), 3)
  }, ways)

  R.inWays("a \"no\" to a sibling is told as it was said", function*(way) {
    const some = ApprovalController.interactive(({ toolName }) =>
      toolName === "Pay" ? true : new Approval.Denied({ note: "keep it here" })
    )
    const story = yield* running(way, { controller: some, turns: [[R.ship, R.pay]] })
    yield* paid(story, 5)
    assert.include(Laws.failureReason(yield* R.toldOf(story.world, "ship-1")), "keep it here")
    assert.strictEqual(story.world.count("Ship"), 0)
  }, ways)

  /** Nobody is asked about this one: it is told with its result or as unknown, and it is not run again. */
  const assertToldOnce = Effect.fnUntraced(function*(world: R.World, result: string, times: number) {
    yield* R.idle
    yield* world.say("And now?")
    const told = yield* R.toldOf(world, "pay-1")
    if (told.isFailure) assert.match(Laws.failureReason(told), /unknown/i)
    else assert.strictEqual(told.result, result)
    assert.strictEqual(world.count("Pay"), times)
  })

  R.inWays(
    "let run by a policy: it is told the result, or that it is unknown, and it is not run again",
    function*(way) {
      const policy = ApprovalPolicy.make(() => Effect.succeed(Approval.preApproved()))
      const { hold, world } = yield* running(
        way,
        {},
        (effect) => Effect.provideService(effect, ApprovalPolicy.ApprovalPolicy, policy)
      )
      yield* hold.release
      yield* assertToldOnce(world, "paid 5", 1)
    },
    ways
  )

  R.inWays(
    "let run by what is remembered: it is told the result, or that it is unknown, and it is not run again",
    function*(way) {
      let asked = 0
      const services = yield* Layer.build(ApprovalMemory.layerSession())
      const { hold, world } = yield* recalled(way, services, () => asked++)
      yield* hold.release
      yield* assertToldOnce(world, "paid 5", 2)
      assert.strictEqual(asked, 1, "the other one was")
    },
    ways
  )

  R.inWays("one at a time: what had not begun is not told as what ran", function*(way) {
    const story = yield* running(way, { turns: [[R.pay, R.ship]], concurrency: 1 })
    yield* paid(story, 5)
    const { world } = story
    const shipping = yield* R.toldOf(world, "ship-1")
    if (world.count("Ship") === 1) assert.strictEqual(shipping.result, "shipped to Ada")
    else assert.match(Laws.failureReason(shipping), /nothing ran/i)
  }, ways)
})

describe("a tool that waits, and is answered inline", () => {
  const Submit = DeferredTool.make("Submit", {
    success: Schema.String,
    interactions: { manager: Interaction.getApproval }
  })
  const submit = ScriptedModel.toolCall({ id: "submit-1", name: "Submit", params: {} })

  /** A tool whose one step takes its time, and says how that ended. */
  const stepping = Effect.fnUntraced(function*(held: "start" | "manager") {
    const hold = yield* R.makeHold
    const steps: Array<string> = []
    const step = (name: string) =>
      Effect.suspend(() => {
        steps.push(name)
        return name !== held
          ? Effect.void
          : Effect.onInterrupt(hold.wait, () => Effect.sync(() => steps.push("stopped")))
      })
    const options: Pick<R.Options, "turns" | "more" | "handlers"> = {
      turns: [[submit]],
      more: [Submit],
      handlers: {
        Submit: DeferredTool.handler(Submit, {
          start: () => Effect.andThen(step("start"), Submit.suspend.manager({ prompt: "May it?" })),
          resume: { manager: ({ approved }) => Effect.as(step("manager"), `submitted: ${approved}`) }
        }) as R.Handler
      }
    }
    return { hold, options, steps }
  })

  R.inWays("is left while it goes on: the next turn's model is told its result, and it goes on once", function*(way) {
    const { hold, options, steps } = yield* stepping("manager")
    const world = yield* left(way, options, hold.entered)
    const next = yield* Effect.forkChild(world.say("And now?"))
    yield* R.idle
    yield* hold.release
    yield* Fiber.join(next)
    yield* R.assertToldResult(world, "submit-1", "submitted: true")
    assert.deepStrictEqual(steps, ["start", "manager"])
    if (world.conversation !== undefined) assert.deepStrictEqual(yield* world.conversation.pending(), [])
  }, ways)

  for (const held of ["start", "manager"] as const) {
    R.inWays(`is stopped by cancel in its "${held}", and the model is told that it is unknown`, function*(way) {
      const { hold, options, steps } = yield* stepping(held)
      const world = yield* R.make(way, options)
      const reader = yield* Effect.forkChild(Effect.exit(world.begin))
      yield* hold.entered
      const cancelling = yield* Effect.forkChild(world.conversation!.cancel("stop it"))
      assert.isTrue(yield* R.endsWithin(cancelling, 10))
      assert.isTrue(yield* R.endsWithin(reader, 10))
      assert.deepStrictEqual(steps.slice(-2), [held, "stopped"])
      yield* world.say("And now?")
      yield* R.assertToldUnknown(world, "submit-1")
      assert.deepStrictEqual(yield* world.conversation!.pending(), [])
    }, ["send", "stream"])
  }
})

describe("a call id that the model uses again (L13)", () => {
  R.inWays("after a turn that was left is another call, with a result of its own", function*(way) {
    const hold = yield* R.makeHold
    const world = yield* left(way, {
      turns: [[R.pay], [{ ...R.pay, params: { amount: 7 } }]],
      handlers: { Pay: R.heldOnce(hold, ({ amount }) => `paid ${amount}`) }
    }, hold.entered)
    yield* hold.release
    yield* R.idle
    yield* world.say("And seven more.")
    yield* world.say("Thanks.")
    const results = Laws.partsOf(yield* R.sent(world)).flatMap((part) =>
      part.type === "tool-result" ? [part.result] : []
    )
    assert.deepStrictEqual(results, ["paid 5", "paid 7"])
    assert.strictEqual(world.count("Pay"), 2)
  }, ways)
})
