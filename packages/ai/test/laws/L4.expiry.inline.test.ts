/** `expiresIn` counts while somebody is asked inline: who does not answer within it is told, and the call ends (law L4). */
import { assert, describe } from "@effect/vitest"
import { Effect, Fiber, Schema } from "effect"
import { TestClock } from "effect/testing"
import {
  type Approval,
  ApprovalController,
  ApprovalJournal,
  ApprovalSeal,
  DeferredTool,
  Interaction,
  Toolkit
} from "../../src/index.ts"
import * as Waiting from "../waiting/support.ts"
import * as M from "./remembered.ts"
import * as Support from "./support.ts"

const calls = [Support.call("c1", "DeleteFile", { path: "a" }), Support.call("c2", "DeleteFile", { path: "b" })]

/** Somebody who never answers, and what they were asked and told. */
const silent = () => {
  const asked: Array<Approval.ApprovalRequest> = []
  const signals: Array<AbortSignal> = []
  const controller = ApprovalController.interactive((request, { signal }) => {
    asked.push(request)
    signals.push(signal)
    return new Promise<boolean>(() => {})
  })
  return { asked, signals, controller }
}

const withController = (controller: ApprovalController.Service) =>
  Effect.provideService(ApprovalController.ApprovalController, controller)

const stateOf = ({ approvalId, toolCallId, toolName }: Approval.ApprovalRequest) =>
  Effect.gen(function*() {
    const { success: sealed } = (yield* ApprovalSeal.ApprovalSeal).parse(approvalId) as any
    const journal = yield* ApprovalJournal.ApprovalJournal
    return (yield* journal.find({ ...sealed, approvalId, toolCallId, toolName }))?.state
  })

describe("asked inline", () => {
  Support.forEachMode(
    "L4 nobody answers in time: the signal is aborted, the call has expired, the model is told",
    function*(mode) {
      const { asked, controller, signals } = silent()
      const tools = yield* Support.makeTools()
      const { toolkit } = tools
      const { observe, seen } = yield* M.events
      const taking = yield* Support.ask(mode, {
        toolkit,
        calls: calls.slice(0, 1),
        approval: { expiresIn: "1 hour" }
      })
        .pipe(withController(controller), observe, Effect.forkChild)
      yield* Support.idle
      yield* TestClock.adjust("59 minutes")
      yield* Support.idle
      assert.deepStrictEqual(signals.map(({ aborted }) => aborted), [false])
      yield* TestClock.adjust("1 minute")
      const turn = yield* Fiber.join(taking)
      assert.deepStrictEqual(signals.map(({ aborted }) => aborted), [true])
      assert.match(Support.failureReason(turn.results[0]), /expired/)
      assert.deepStrictEqual([turn.requests, tools.runs], [[], []])
      assert.strictEqual(yield* stateOf(asked[0]!), "expired")
      assert.deepStrictEqual((yield* seen).map(({ _tag }) => _tag), ["Requested", "Changed"])
    }
  )

  Support.forEachMode(
    "L4 one that waits for its turn to be asked expires too, and is asked about no more",
    function*(mode) {
      const { asked, controller } = silent()
      const tools = yield* Support.makeTools()
      const { toolkit } = tools
      const taking = yield* Support.ask(mode, { toolkit, calls, approval: { expiresIn: "1 hour" } }).pipe(
        withController(controller),
        Effect.forkChild
      )
      assert.isTrue(yield* Support.advance(taking, "30 minutes", 4))
      const turn = yield* Fiber.join(taking)
      assert.strictEqual(asked.length, 1)
      assert.deepStrictEqual(turn.results.map((result) => /expired/.test(Support.failureReason(result))), [
        true,
        true
      ])
      assert.deepStrictEqual(tools.runs, [])
    },
    ["generateText", "streamText"]
  )

  Support.forEachMode("L4 a question of a history that is asked inline now expires when it says", function*(mode) {
    const { controller, signals } = silent()
    const { toolkit } = yield* Support.makeTools()
    const approval = { expiresIn: "1 hour" } as const
    const first = yield* Support.ask(mode, { toolkit, calls: calls.slice(0, 1), approval })
    yield* TestClock.adjust("30 minutes")
    const { model } = yield* Support.answering
    const taking = yield* Support.takeTurn(mode, { model, toolkit, approval, history: first.history }).pipe(
      withController(controller),
      Effect.forkChild
    )
    yield* Support.idle
    yield* TestClock.adjust("30 minutes")
    const turn = yield* Fiber.join(taking)
    assert.isTrue(signals[0]!.aborted)
    assert.match(Support.failureReason(turn.results[0]), /expired/)
    assert.strictEqual(turn.text, "done")
  }, ["generateText", "streamText"])

  Support.single("L4 a guarded toolkit's call expires, too", function*() {
    const { controller, signals } = silent()
    const { runs, toolkit } = yield* Support.makeTools()
    const guarded = Toolkit.guard(toolkit)
    const { model } = yield* Support.answering
    const taking = yield* Support.ask("generateText", {
      toolkit: guarded as unknown as Support.AnyToolkit,
      calls: calls.slice(0, 1),
      approval: { expiresIn: "1 hour" }
    }).pipe(withController(controller), Effect.forkChild)
    yield* Support.idle
    yield* TestClock.adjust("1 hour")
    const turn = yield* Fiber.join(taking)
    assert.isTrue(signals[0]!.aborted)
    assert.match(Support.failureReason(turn.results[0]), /expired/)
    assert.deepStrictEqual([runs.length, model === undefined], [0, false])
  })
})

describe("asked inline what a tool waits for", () => {
  Waiting.inOneMode(
    "generateText",
    "L4 nobody answers in time: the call ends as expired, and what it did stands",
    function*(mode) {
      const { controller, signals } = silent()
      const beginning = yield* Effect.forkChild(
        withController(controller)(Waiting.begin(mode, [Waiting.ask("c1", "Which?")], {
          approval: { expiresIn: "1 hour" }
        }))
      )
      yield* Support.idle
      yield* TestClock.adjust("1 hour")
      const { first, names } = yield* Fiber.join(beginning)
      assert.isTrue(signals[0]!.aborted)
      assert.match(Support.failureReason(first.results[0]), /expired at .* is not undone/)
      assert.deepStrictEqual(names(), ["start"])
    }
  )

  Waiting.inEachMode("L4 nobody answers in time: the tool goes on as it says, and asks anew", function*(mode) {
    const { asked, controller, signals } = silent()
    const Ring = DeferredTool.make("Ring", {
      success: Schema.String,
      state: Schema.Number,
      interactions: { bell: Interaction.askUser }
    })
    const kit = Toolkit.make(Ring)
    const toolkit = yield* Effect.provide(
      kit,
      kit.toLayer({
        Ring: DeferredTool.handler(Ring, {
          start: () => Ring.suspend.bell({ prompt: "Ring?", expiresIn: "1 hour" }, 1),
          resume: { bell: (said) => Effect.succeed(said) },
          expired: {
            bell: (rings) =>
              rings < 3
                ? Ring.suspend.bell({ prompt: "Ring!", expiresIn: "1 hour" }, rings + 1)
                : Effect.succeed(`rang ${rings} times`)
          }
        })
      })
    )
    const taking = yield* Support.ask(mode, {
      toolkit: toolkit as unknown as Support.AnyToolkit,
      calls: [Support.call("c1", "Ring", {})]
    }).pipe(withController(controller), Effect.forkChild)
    assert.isTrue(yield* Support.advance(taking, "30 minutes", 10))
    const turn = yield* Fiber.join(taking)
    assert.deepStrictEqual(Waiting.resultsOf(turn), [["c1", "rang 3 times"]])
    assert.deepStrictEqual(asked.map(({ awaited }) => awaited?.prompt), ["Ring?", "Ring!", "Ring!"])
    assert.deepStrictEqual(signals.map(({ aborted }) => aborted), [true, true, true])
  })
})
