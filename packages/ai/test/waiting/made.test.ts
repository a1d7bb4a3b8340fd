/** A suspension that is made is a suspension: the handler stops there, whatever it does with what it was given. */
import { assert, describe } from "@effect/vitest"
import { Duration, Effect, Fiber, Schedule, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import { Approval, ApprovalEvents, DeferredTool, Interaction, SuspensionStore, Toolkit } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import { type Story } from "../laws/story.ts"
import * as Support from "./support.ts"

type Ending = Effect.Effect<string | DeferredTool.Suspension<"Pay">, string>
type Body = (suspended: Effect.Effect<DeferredTool.Suspension<"Pay">>, pay: Effect.Effect<string>) => Ending

const failureModes = ["error", "return"] as const

/** Pays when it is told to, asking the manager in a way of its own; and what it did. */
const makePay = Effect.fnUntraced(function*(
  body: Body,
  options: { readonly failureMode: "error" | "return"; readonly needsApproval: boolean; readonly onAnswer?: boolean }
) {
  const did: Array<string> = []
  const Pay = DeferredTool.make("Pay", {
    success: Schema.String,
    failure: Schema.String,
    failureMode: options.failureMode,
    needsApproval: options.needsApproval,
    interactions: { manager: Interaction.getApproval, director: Interaction.getApproval }
  })
  const kit = Toolkit.make(Pay)
  const pay = Effect.sync(() => (did.push("paid"), "paid"))
  const asks = (interaction: "manager" | "director") =>
    Effect.suspend(() => {
      did.push(`asks the ${interaction}`)
      return body(Pay.suspend[interaction]({ prompt: "Pay?" }), pay)
    })
  const toolkit = yield* Effect.provide(
    kit,
    kit.toLayer({
      Pay: DeferredTool.handler(Pay, {
        start: () => options.onAnswer === true ? Pay.suspend.director({ prompt: "First?" }) : asks("manager"),
        resume: {
          manager: ({ approved }) => Effect.sync(() => (did.push(`was told ${approved}`), "resumed")),
          director: () => options.onAnswer === true ? asks("manager") : Effect.succeed("resumed")
        }
      })
    })
  )
  return { did, toolkit: toolkit as unknown as Support.AnyToolkit }
})

/** A turn in which the model pays, with whatever approval it takes to begin; and the events. */
const begin = Effect.fnUntraced(function*(
  mode: Support.Mode,
  body: Body,
  options: Parameters<typeof makePay>[1]
) {
  const events = yield* ApprovalEvents.make()
  const observed = yield* events.subscribe
  const { did, toolkit } = yield* makePay(body, options)
  const script = yield* ScriptedModel.make({ turns: [[Support.call("c1", "Pay", {})]], afterLastTurn: "done" })
  const chat = yield* Support.converse(mode, { model: script.model, toolkit })
  const within = Effect.provideService(ApprovalEvents.ApprovalEvents, events)
  let turn = yield* within(chat.take("Go on."))
  while (did.length === 0 && turn.requests.length > 0) {
    turn = yield* within(chat.take(Support.answers(Approval.approve(Support.only(turn)))))
  }
  const caught = Effect.gen(function*() {
    const seen: Array<ApprovalEvents.Observed> = []
    const reading = yield* Effect.forkChild(
      Stream.runForEach(observed, (event) => Effect.sync(() => void seen.push(event)))
    )
    yield* Support.idle
    yield* Fiber.interrupt(reading)
    return seen.flatMap((event) => event._tag === "SuspensionCaught" ? [[event.toolCallId, event.interaction]] : [])
  })
  return { caught, chat, did, turn }
})

/** In each mode of failure, of a call that needs nobody, of an approved one, and of one that goes on. */
const everyWay = (
  title: string,
  story: Story<[mode: Support.Mode, options: Parameters<typeof makePay>[1]]>
) => {
  for (const failureMode of failureModes) {
    const ways = {
      "needs nobody": { failureMode, needsApproval: false },
      "was approved": { failureMode, needsApproval: true },
      "goes on": { failureMode, needsApproval: false, onAnswer: true }
    }
    for (const [way, options] of Object.entries(ways)) {
      for (const mode of ["generateText", "streamText"] as const) {
        Support.inOneMode(mode, `${title}: one that ${way}, ${failureMode}`, (mode) => story(mode, options))
      }
    }
  }
}

const stopping: Record<string, Body> = {
  "returned": (suspended) => suspended,
  "yielded and returned": (suspended) =>
    Effect.gen(function*() {
      return yield* suspended
    }),
  "yielded, and no more": (suspended, pay) =>
    Effect.gen(function*() {
      yield* suspended
      return yield* pay
    }),
  "ignored": (suspended, pay) => Effect.andThen(Effect.ignore(suspended), pay),
  "made into an option": (suspended, pay) => Effect.andThen(Effect.option(suspended), pay),
  "made into a result": (suspended, pay) => Effect.andThen(Effect.result(suspended), pay),
  "under a timeout": (suspended, pay) =>
    Effect.andThen(Effect.ignore(Effect.timeout(suspended, Duration.seconds(1))), pay),
  "under a retry": (suspended, pay) =>
    Effect.andThen(Effect.retry(suspended, Schedule.recurs(3)), Effect.retry(pay, Schedule.recurs(3))),
  "one of all": (suspended, pay) =>
    Effect.flatMap(Effect.all([Effect.never, suspended], { concurrency: "unbounded" }), () => pay),
  "first in a race": (suspended, pay) => Effect.andThen(Effect.raceFirst(suspended, Effect.never), pay),
  "made in a fiber that is joined": (suspended, pay) =>
    Effect.andThen(Effect.flatMap(Effect.forkChild(suspended), Fiber.join), pay),
  "made beside a failure": (suspended, pay) =>
    Effect.andThen(
      Effect.all([suspended, Effect.fail("too late")], { concurrency: "unbounded" }),
      pay
    )
}

describe("a suspension that is made", () => {
  for (const [how, body] of Object.entries(stopping)) {
    everyWay(`${how} suspends`, function*(mode, options) {
      const { caught, chat, did, turn } = yield* begin(mode, body, options)
      assert.deepStrictEqual([did, Support.only(turn).awaited?.name], [["asks the manager"], "manager"])
      const last = yield* chat.take(Support.answers(Approval.approve(Support.only(turn))))
      assert.deepStrictEqual(Support.resultsOf(last), [["c1", "resumed"]])
      assert.deepStrictEqual(did, ["asks the manager", "was told true"])
      assert.deepStrictEqual(yield* caught, [])
    })
  }
})

const catching: Record<string, Body> = {
  "as an exit": (suspended, pay) => Effect.andThen(Effect.exit(suspended), pay),
  "with every cause": (suspended, pay) => Effect.catchCause(suspended, () => pay),
  "with every defect": (suspended, pay) => Effect.catchDefect(suspended, () => pay),
  "by losing a race": (suspended, pay) => Effect.race(suspended, Effect.andThen(Effect.yieldNow, pay)),
  "in a fiber of its own": (suspended, pay) =>
    Effect.andThen(Effect.forkChild(suspended, { startImmediately: true }), pay)
}

describe("a suspension that is caught", () => {
  for (const [how, body] of Object.entries(catching)) {
    everyWay(`${how} is a failed result and an event`, function*(mode, options) {
      const { caught, chat, did, turn } = yield* begin(mode, body, options)
      assert.deepStrictEqual([turn.requests, did], [[], ["asks the manager", "paid"]])
      const reason = Support.failureReason(turn.results[0])
      assert.match(reason, /nobody was asked/i)
      assert.match(reason, /what it did is not undone/i)
      assert.deepStrictEqual(yield* caught, [["c1", "manager"]])
      assert.deepStrictEqual((yield* (yield* SuspensionStore.SuspensionStore).list()).suspensions, [])
      const next = yield* chat.take("And now?")
      assert.deepStrictEqual([next.text, next.results, did.length], ["done", [], 2])
    })
  }

  Support.inEachMode("and made into the tool's own failure is that, and an event", function*(mode) {
    const body: Body = (suspended) => Effect.catchCause(suspended, () => Effect.fail("no manager"))
    const { caught, turn } = yield* begin(mode, body, { failureMode: "return", needsApproval: false })
    assert.deepStrictEqual(Support.resultsOf(turn), [["c1", "no manager"]])
    assert.deepStrictEqual(yield* caught, [["c1", "manager"]])
  })

  Support.inEachMode("and made again is one", function*(mode) {
    const body: Body = (suspended) => Effect.catchCause(suspended, () => suspended)
    const { caught, turn } = yield* begin(mode, body, { failureMode: "error", needsApproval: false })
    assert.deepStrictEqual([Support.only(turn).awaited?.name, yield* caught], ["manager", []])
  })

  Support.inEachMode("after its tool ended is an event", function*(mode) {
    const body: Body = (suspended, pay) => Effect.andThen(Effect.forkDetach(Effect.delay(suspended, "1 second")), pay)
    const { caught, turn } = yield* begin(mode, body, { failureMode: "error", needsApproval: false })
    assert.deepStrictEqual(Support.resultsOf(turn), [["c1", "paid"]])
    yield* TestClock.adjust("1 second")
    assert.deepStrictEqual(yield* caught, [["c1", "manager"]])
  })
})

describe("a suspension that is never run", () => {
  Support.inEachMode("is none: nobody can tell it from one that was not chosen", function*(mode) {
    const { caught, turn } = yield* begin(mode, (_, pay) => pay, { failureMode: "error", needsApproval: false })
    assert.deepStrictEqual([Support.resultsOf(turn), yield* caught], [[["c1", "paid"]], []])
  })
})
