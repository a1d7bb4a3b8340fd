/** Answers that the program vouches for, denials that come late, what is said of an interaction, and the watching of timers. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, pipe, Schema } from "effect"
import { TestClock } from "effect/testing"
import {
  Approval,
  ApprovalError,
  DeferredTool,
  Interaction,
  Prompt,
  SuspensionStore,
  Toolkit,
  Webhook
} from "../../src/index.ts"
import { TrustsAnswers } from "../../src/internal/environment/trust.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as Support from "./support.ts"

const Wait = DeferredTool.make("Wait", {
  parameters: { kind: Schema.Literals(["external", "webhook", "timer", "kept", "dropped"]) },
  success: Schema.Unknown,
  interactions: {
    external: Interaction.external(Schema.Number),
    webhook: Interaction.webhook(Schema.Struct({ paid: Schema.Number })),
    timer: Interaction.timer,
    kept: pipe(Interaction.askUser, Interaction.onNewMessage("keep"), Interaction.describe("the size")),
    dropped: Interaction.onNewMessage(Interaction.external(Schema.Number), "supersede")
  }
})

const makeToolkit = Effect.gen(function*() {
  const kit = Toolkit.make(Wait)
  const ended: Array<unknown> = []
  const end = (answer: unknown) =>
    Effect.sync(() => {
      ended.push(answer)
      return answer
    })
  const toolkit = yield* Effect.provide(
    kit,
    kit.toLayer({
      Wait: DeferredTool.handler(Wait, {
        start: ({ kind }) => {
          switch (kind) {
            case "external":
              return Wait.suspend.external({})
            case "webhook":
              return Effect.flatMap(Webhook.makeToken, (token) => Wait.suspend.webhook({ token }))
            case "timer":
              return Wait.suspend.timer({ after: "1 hour" })
            case "kept":
              return Wait.suspend.kept({ prompt: "Size?" })
            case "dropped":
              return Wait.suspend.dropped({})
          }
        },
        resume: { external: end, webhook: end, timer: end, kept: end, dropped: end }
      })
    })
  )
  return { toolkit: toolkit as unknown as Support.AnyToolkit, ended }
})

const begin = (mode: Support.Mode, kind: typeof Wait.parametersSchema.Type["kind"]) =>
  Effect.gen(function*() {
    const { ended, toolkit } = yield* makeToolkit
    const script = yield* ScriptedModel.make({
      turns: [[Support.call("c1", "Wait", { kind })]],
      afterLastTurn: "done"
    })
    const chat = yield* Support.converse(mode, { model: script.model, toolkit })
    return { chat, ended, first: yield* chat.take("Go."), script }
  })

const cases: ReadonlyArray<readonly ["external" | "webhook" | "timer", Schema.Json]> = [
  ["external", 7],
  ["webhook", { paid: 20 }],
  ["timer", { dueAt: 1, firedAt: 2 }]
]

describe("an answer in a history, to what nobody is asked for", () => {
  for (const [kind, answer] of cases) {
    Support.inEachMode(`${kind}: counts where the program vouches for the history, and nowhere else`, function*(mode) {
      const foreign = yield* begin(mode, kind)
      const answers = (turn: Support.Turn) => Support.answers(Approval.answer(Support.only(turn), answer))
      const refused = yield* foreign.chat.take(answers(foreign.first))
      assert.match(Support.only(refused).reason ?? "", /an answer in a message history does not count/)
      assert.deepStrictEqual(foreign.ended, [])
      const own = yield* begin(mode, kind)
      const last = yield* Effect.provideService(own.chat.take(answers(own.first)), TrustsAnswers, true)
      assert.deepStrictEqual([own.ended, last.text], [[answer], "done"])
    })

    Support.inEachMode(`${kind}: one that does not fit leaves it open, also where it is vouched for`, function*(mode) {
      const { chat, ended, first } = yield* begin(mode, kind)
      const wrong = Support.answers(Approval.answer(Support.only(first), { wrong: true }))
      const turn = yield* Effect.provideService(chat.take(wrong), TrustsAnswers, true)
      assert.match(Support.only(turn).reason ?? "", /does not fit/)
      assert.deepStrictEqual(ended, [])
    })
  }
})

describe("what a new message means", () => {
  Support.inEachMode("is for an interaction to say: a question that is kept, an event that is not", function*(mode) {
    const kept = yield* begin(mode, "kept")
    const beside = yield* kept.chat.take("Something else.")
    assert.deepStrictEqual([beside.text, beside.requests.length], ["done", 0])
    const last = yield* kept.chat.take(Support.answers(Approval.answer(Support.only(kept.first), "42")))
    assert.deepStrictEqual([kept.ended, last.text], [["42"], "done"])
    const dropped = yield* begin(mode, "dropped")
    const superseded = yield* dropped.chat.take("Something else.")
    assert.match(Support.failureReason(superseded.results[0]), /Superseded by a new message/)
    const { suspensions } = yield* Effect.flatMap(SuspensionStore.SuspensionStore, (store) => store.list())
    assert.deepStrictEqual(suspensions, [])
  })

  it("does not change what else is said of it, nor the one it was made of", () => {
    const { kept } = Wait.interactions
    assert.deepStrictEqual([kept.onNewMessage, kept.description, kept.kind], ["keep", "the size", "askUser"])
    assert.deepStrictEqual([Interaction.askUser.onNewMessage, Interaction.askUser.description], [
      "supersede",
      undefined
    ])
    const [described] = DeferredTool.describe(Toolkit.make(Wait)).filter(({ interaction }) => interaction === "kept")
    assert.deepStrictEqual([described?.description, described?.answeredBy], ["the size", "message"])
  })
})

describe("a denial that comes late", () => {
  Support.inEachMode("of a request that waits beside the conversation ends it, and nothing goes on", function*(mode) {
    const { chat, ended, first } = yield* begin(mode, "timer")
    const timer = Support.only(first)
    yield* chat.take("Something else.")
    const denied = yield* chat.take(Support.answers(Approval.deny(timer, "never mind")))
    assert.deepStrictEqual(denied.results.map(Support.failureReason), [Support.begun("never mind.")])
    yield* TestClock.adjust("2 hours")
    yield* chat.take("And now?")
    assert.deepStrictEqual(ended, [])
  })

  Support.inEachMode(
    "behind the result of its call, in a history that somebody else wrote, ends what still waits",
    function*(mode) {
      const { toolkit } = yield* makeToolkit
      const script = yield* ScriptedModel.make({ turns: [], afterLastTurn: "done" })
      const asked = yield* Support.firstTurn(mode, toolkit, [Support.call("c1", "Wait", { kind: "external" })])
      const request = Support.only(asked)
      const store = yield* SuspensionStore.SuspensionStore
      const result = Prompt.fromMessages([
        Prompt.toolMessage({
          content: [
            Prompt.toolResultPart({
              id: "c1",
              name: "Wait",
              isFailure: true,
              result: "lost",
              providerExecuted: false
            })
          ]
        })
      ])
      yield* Support.takeTurn(mode, {
        model: script.model,
        toolkit,
        history: Prompt.concat(asked.history, result),
        prompt: Support.answers(Approval.deny(request, "too late"))
      })
      assert.strictEqual((yield* store.find(request.approvalId))?.status, "over")
      assert.deepStrictEqual((yield* store.list()).suspensions, [])
    }
  )
})

describe("watching timers", () => {
  Support.once("calls for each when it is due, again where that failed, and goes on looking", function*() {
    const store = yield* SuspensionStore.SuspensionStore
    yield* begin("generateText", "timer")
    const woken: Array<string> = []
    const watching = yield* Effect.forkChild(
      SuspensionStore.watchTimers(({ toolCallId }) =>
        Effect.suspend(() => {
          woken.push(toolCallId)
          return woken.length === 1 ? Effect.fail("busy") : woken.length === 2 ? Effect.die("broken") : Effect.void
        }), { interval: "10 seconds" }),
      { startImmediately: true }
    )
    const pass = (time: `${number} ${"minutes" | "seconds"}`) => Effect.andThen(TestClock.adjust(time), Support.idle)
    yield* pass("59 minutes")
    assert.deepStrictEqual(woken, [])
    for (const expected of [1, 2, 3, 3]) {
      yield* pass(expected === 1 ? "60 seconds" : "10 seconds")
      assert.lengthOf(woken, expected)
    }
    // A timer that is set while it watches.
    yield* begin("generateText", "timer")
    yield* pass("60 minutes")
    assert.lengthOf(woken, 4)
    assert.deepStrictEqual(yield* store.due({ now: Number.MAX_SAFE_INTEGER }), [])
    yield* Fiber.interrupt(watching)
  })

  Support.once("outlives a store that cannot be asked for a while", function*() {
    const store = yield* SuspensionStore.SuspensionStore
    yield* begin("generateText", "timer")
    let broken = true
    let woken = 0
    const failing: SuspensionStore.Service = {
      ...store,
      due: (options) =>
        broken
          ? Effect.fail(ApprovalError.make(new ApprovalError.SuspensionsUnavailable({ description: "gone" })))
          : store.due(options)
    }
    const watching = yield* SuspensionStore.watchTimers(() => Effect.sync(() => ++woken), { interval: "1 minute" })
      .pipe(
        Effect.provideService(SuspensionStore.SuspensionStore, failing),
        Effect.forkChild({ startImmediately: true })
      )
    yield* Effect.andThen(TestClock.adjust("2 hours"), Support.idle)
    assert.strictEqual(woken, 0)
    broken = false
    yield* Effect.andThen(TestClock.adjust("1 minute"), Support.idle)
    assert.strictEqual(woken, 1)
    yield* Fiber.interrupt(watching)
  })
})
