/**
 * L4, L14: nobody answered is an outcome. The expiry of what a tool waits for wakes its run, which goes on with the handler
 * for it; `expiresIn` counts while somebody is asked inline; and what has expired is listed nowhere as open.
 */
import { assert, describe } from "@effect/vitest"
import { Effect, Fiber, Schema } from "effect"
import { TestClock } from "effect/testing"
import {
  Approval,
  ApprovalController,
  ConversationStore,
  DeferredTool,
  Interaction,
  SuspensionStore
} from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import { failureReason } from "../laws/support.ts"
import * as Processes from "./processes.ts"
import * as R from "./support.ts"

/** Asks a manager for an hour, reminds them for another one, and then asks the director. */
const Expense = DeferredTool.make("Expense", {
  parameters: { amount: Schema.Number },
  success: Schema.String,
  state: Schema.Literals(["asked", "reminded"]),
  interactions: { manager: Interaction.getApproval, director: Interaction.getApproval, note: Interaction.askUser }
})

const expense = ScriptedModel.toolCall({ id: "expense-1", name: "Expense", params: { amount: 20 } })

const asking = Effect.fnUntraced(function*(
  way: R.Way,
  options: Partial<R.Options> = {},
  during: (step: string) => Effect.Effect<void> = () => Effect.void
) {
  const steps: Array<string> = []
  const step = (name: string) => Effect.suspend(() => (steps.push(name), during(name)))
  const toolkit = {
    more: [Expense],
    handlers: {
      Expense: DeferredTool.handler(Expense, {
        start: ({ amount }) =>
          Effect.andThen(
            step("asks"),
            Expense.suspend.manager({ prompt: `May ${amount} be paid?`, expiresIn: "1 hour" }, "asked")
          ),
        resume: {
          manager: ({ approved }, state) => Effect.as(step(`manager ${approved}, ${state}`), `manager: ${approved}`),
          director: ({ approved }) => Effect.as(step(`director ${approved}`), `director: ${approved}`),
          note: (text) => Effect.succeed(text)
        },
        expired: {
          manager: (state) =>
            state === "asked"
              ? Effect.andThen(
                step("reminds"),
                Expense.suspend.manager({ prompt: "Still to be answered.", expiresIn: "1 hour" }, "reminded")
              )
              : Effect.andThen(
                step("escalates"),
                Expense.suspend.director({ prompt: "The manager is silent.", expiresIn: "1 hour" }, "reminded")
              ),
          director: () => Effect.as(step("gives up"), "nobody decided")
        }
      })
    }
  }
  const world = yield* R.make(way, {
    turns: [[expense]],
    controller: ApprovalController.deferred,
    ...toolkit,
    ...options
  })
  return { steps, toolkit, world }
})

const promptOf = (parts: R.Parts) =>
  parts.flatMap((part) => {
    if (part.type !== "tool-approval-request") return []
    const request = part.metadata.assent as { readonly awaited?: { readonly prompt?: string } } | undefined
    return [request?.awaited?.prompt]
  })

describe("a tool that waits, whom nobody answers in time", () => {
  R.inWays("goes on with its handler: it reminds, it escalates, and it ends, each once", function*(way) {
    const { steps, world } = yield* asking(way)
    assert.deepStrictEqual(promptOf(yield* world.begin), ["May 20 be paid?"])
    yield* TestClock.adjust("1 hour")
    assert.deepStrictEqual(promptOf(yield* world.say([])), ["Still to be answered."])
    yield* TestClock.adjust("1 hour")
    assert.deepStrictEqual(promptOf(yield* world.say([])), ["The manager is silent."])
    yield* TestClock.adjust("1 hour")
    yield* world.say([])
    yield* R.assertToldResult(world, "expense-1", "nobody decided")
    yield* world.say("Thanks.")
    assert.deepStrictEqual(steps, ["asks", "reminds", "escalates", "gives up"])
  }, R.askingWays)

  R.inWays("wakes its run by itself: whoever watches the timers is woken, and nobody has to look", function*(way) {
    const { steps, world } = yield* asking(way)
    const { begin, conversation, serving } = world
    yield* begin
    const woken: Array<string> = []
    yield* Effect.forkChild(serving(SuspensionStore.watchTimers(({ toolCallId }) =>
      Effect.andThen(
        Effect.sync(() => woken.push(toolCallId)),
        conversation!.wake
      ), { interval: "1 minute" })))
    yield* TestClock.adjust("30 minutes")
    assert.deepStrictEqual([steps, woken], [["asks"], []])
    yield* TestClock.adjust("32 minutes")
    yield* R.idle
    assert.deepStrictEqual([steps, woken], [["asks", "reminds"], ["expense-1"]])
  }, ["send", "stream"])

  R.inWays("an answer in time counts, however late anybody looks; one that is late does not", function*(way) {
    const { steps, world } = yield* asking(way)
    yield* world.begin
    const [request] = yield* world.conversation!.pending()
    yield* world.serving(DeferredTool.deliver(Expense, "manager", request!, { approved: true }))
    yield* TestClock.adjust("5 hours")
    yield* world.say([])
    yield* R.assertToldResult(world, "expense-1", "manager: true")

    const late = yield* asking(way)
    yield* late.world.begin
    const [open] = yield* late.world.conversation!.pending()
    yield* TestClock.adjust("1 hour")
    yield* Effect.exit(late.world.serving(late.world.conversation!.decide(Approval.approve(open!))))
    yield* late.world.say([])
    assert.deepStrictEqual([steps, late.steps], [["asks", "manager true, asked"], ["asks", "reminds"]])
  }, ["send", "stream"])

  R.inWays("its handler runs once, whichever processes look", function*(way) {
    const shared = yield* Processes.makeShared
    const { steps, toolkit, world } = yield* asking(way, { store: shared })
    yield* world.begin
    yield* TestClock.adjust("1 hour")
    const other = yield* R.make("send", {
      turns: [],
      store: shared,
      controller: ApprovalController.deferred,
      ...toolkit
    })
    const turns = yield* Effect.forEach(
      [world.say([]), other.say([])],
      (turn) => Effect.forkChild(turn, { startImmediately: true })
    )
    for (const turn of turns) assert.isTrue(yield* R.endsWithin(turn, 10))
    assert.deepStrictEqual(steps, ["asks", "reminds"])
    const open = yield* world.conversation!.pending()
    assert.deepStrictEqual(open.map(({ awaited }) => awaited?.prompt), ["Still to be answered."])
  }, ["send", "stream"])
})

describe("a process that dies in the handler of what nobody answered", () => {
  R.inWays("what it did is unknown, and it is not done again", function*(way) {
    const shared = yield* Processes.makeShared
    const process = Processes.make(shared)
    const hold = yield* R.makeHold
    const { steps, toolkit, world } = yield* asking(
      way,
      { store: process.store },
      (step) => step === "reminds" ? hold.wait : Effect.void
    )
    yield* world.begin
    yield* TestClock.adjust("1 hour")
    yield* Effect.forkDetach(world.say([]))
    yield* hold.entered
    process.die()
    const other = yield* R.make("send", {
      turns: [],
      store: shared,
      controller: ApprovalController.deferred,
      ...toolkit
    })
    const next = yield* Effect.forkChild(other.say([]))
    assert.isTrue(yield* R.endsWithin(next, 9))
    yield* Fiber.join(next)
    yield* R.assertToldUnknown(other, "expense-1")
    assert.deepStrictEqual(steps, ["asks", "reminds"])
    assert.deepStrictEqual(yield* other.conversation!.pending(), [])
  }, ["send"])
})

describe("expiresIn, while somebody is asked inline", () => {
  R.inWays("counts: the call ends as expired, nothing ran, and the model is told so", function*(way) {
    let closed = 0
    const asked = yield* R.makeHold
    const world = yield* R.make(way, {
      turns: [[R.pay]],
      approval: { expiresIn: "1 hour" },
      controller: ApprovalController.interactive(({ toolName }) =>
        toolName === "Note"
          ? true
          : Effect.as(Effect.onInterrupt(asked.wait, () => Effect.sync(() => closed++)), true)
      )
    })
    const turn = yield* Effect.forkChild(world.begin)
    yield* asked.entered
    yield* TestClock.adjust("59 minutes")
    assert.isTrue(turn.pollUnsafe() === undefined)
    yield* TestClock.adjust("1 minute")
    assert.isTrue(yield* R.endsWithin(turn, 2), "the turn goes on")
    yield* Fiber.join(turn)
    assert.strictEqual(closed, 1, "whoever asks is told that nobody waits any more")
    yield* world.say("And now?")
    const reason = failureReason(yield* R.toldOf(world, "pay-1"))
    assert.match(reason, /expired/i)
    assert.match(reason, /nothing ran/i)
    assert.strictEqual(world.count("Pay"), 0)
  }, [...R.inlineWays, ...R.plainWays])
})

describe("expiresIn of what a tool waits for, while somebody is asked inline", () => {
  R.inWays("counts too: it goes on with its handler, and asks again, each time for as long as it said", function*(way) {
    const asked: Array<string | undefined> = []
    const { steps, world } = yield* asking(way, {
      controller: ApprovalController.interactive(({ awaited }) => {
        asked.push(awaited?.prompt)
        return Effect.never
      })
    })
    const turn = yield* Effect.forkChild(world.begin)
    for (const prompts of [1, 2, 3]) {
      assert.isTrue(yield* R.within(2, () => asked.length === prompts), `${prompts} times`)
      yield* TestClock.adjust("1 hour")
    }
    assert.isTrue(yield* R.endsWithin(turn, 2))
    assert.deepStrictEqual(asked, ["May 20 be paid?", "Still to be answered.", "The manager is silent."])
    yield* world.say("And now?")
    yield* R.assertToldResult(world, "expense-1", "nobody decided")
    assert.deepStrictEqual(steps, ["asks", "reminds", "escalates", "gives up"])
  }, ["send", "stream", "Chat.streamText", "generateText"])
})

describe("a request that has expired", () => {
  R.inWays("is in no list of what is open: an approval, and what a tool waits for", function*(way) {
    const { world } = yield* asking(way, {
      turns: [[expense, R.pay, R.ship]],
      approval: { expiresIn: "2 hours" }
    })
    const { conversation, store } = world
    yield* world.begin
    const open = Effect.map(conversation!.pending(), (requests) => requests.map(({ toolCallId }) => toolCallId))
    const listed = Effect.gen(function*() {
      const { page } = yield* ConversationStore.make({ store })
      return (yield* page({}, { limit: 10 })).requests.map(({ request }) => request.toolCallId)
    })
    assert.deepStrictEqual((yield* open).toSorted(), ["expense-1", "pay-1", "ship-1"])
    yield* TestClock.adjust("1 hour")
    assert.deepStrictEqual((yield* open).toSorted(), ["pay-1", "ship-1"])
    assert.deepStrictEqual((yield* listed).toSorted(), ["pay-1", "ship-1"])
    assert.deepStrictEqual(yield* conversation!.pending("getApproval"), [])
    yield* TestClock.adjust("1 hour")
    assert.deepStrictEqual([yield* open, yield* listed], [[], []])
  }, ["send", "stream"])
})
