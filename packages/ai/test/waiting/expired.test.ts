/** Nobody answered is an outcome: the tool that waits is woken by its expiry, and says how it goes on. */
import { assert, describe } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import { Approval, DeferredTool, Interaction, SuspensionStore, Toolkit } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import type * as Laws from "../laws/support.ts"
import * as Support from "./support.ts"

/** Asks the manager twice and then the director, an hour each; nobody reminds the director. */
export const Leave = DeferredTool.make("Leave", {
  parameters: { days: Schema.FiniteFromString },
  success: Schema.String,
  state: Schema.Struct({ reminders: Schema.FiniteFromString }),
  interactions: { manager: Interaction.getApproval, director: Interaction.getApproval, note: Interaction.askUser }
})

/** The same, but a person has to be asked before it begins. */
const Sick = DeferredTool.make("Sick", {
  parameters: {},
  success: Schema.String,
  needsApproval: true,
  interactions: { note: Interaction.askUser }
})

const makeTools = (before: (step: string) => Effect.Effect<void> = () => Effect.void) =>
  Effect.gen(function*() {
    const steps: Array<readonly [string, ...ReadonlyArray<unknown>]> = []
    const step = (name: string, ...given: ReadonlyArray<unknown>) =>
      Effect.suspend(() => {
        steps.push([name, ...given])
        return before(name)
      })
    const verdict = ({ approved }: Interaction.Verdict) => Effect.succeed(approved ? "granted" : "refused")
    const kit = Toolkit.make(Leave, Sick)
    const layer = kit.toLayer({
      Leave: DeferredTool.handler(Leave, {
        start: ({ days }) =>
          Effect.andThen(
            step("start", days),
            Leave.suspend.manager({ prompt: `${days} days?`, expiresIn: "1 hour" }, { reminders: 0 })
          ),
        resume: {
          manager: (said, { reminders }, { params }) =>
            Effect.andThen(step("manager", said.approved, reminders, params.days), verdict(said)),
          director: (said) => Effect.andThen(step("director", said.approved), verdict(said)),
          note: (said) => Effect.as(step("note", said), said)
        },
        expired: {
          manager: ({ reminders }, { expiredAt, params, toolCallId }) =>
            Effect.andThen(
              step("manager expired", reminders, params.days, expiredAt, toolCallId),
              reminders === 0
                ? Leave.suspend.manager({ prompt: "Please!", expiresIn: "1 hour" }, { reminders: reminders + 1 })
                : Leave.suspend.director({ prompt: "And you?", expiresIn: "1 hour" }, { reminders })
            )
        }
      }),
      Sick: DeferredTool.handler(Sick, {
        start: () => Effect.andThen(step("start"), Sick.suspend.note({ prompt: "Why?" })),
        resume: { note: (said) => Effect.as(step("note", said), said) },
        expired: { note: () => Effect.as(step("note expired"), "never mind") }
      })
    })
    const toolkit = yield* Effect.provide(kit, layer)
    return { toolkit: toolkit as unknown as Laws.AnyToolkit, steps, names: () => steps.map(([name]) => name) }
  })

const begin = (
  mode: Laws.Mode,
  options?: {
    readonly call?: ScriptedModel.TurnPart
    readonly before?: (step: string) => Effect.Effect<void>
    readonly approval?: Parameters<typeof Support.converse>[1]["approval"]
  }
) =>
  Effect.gen(function*() {
    const tools = yield* makeTools(options?.before)
    const script = yield* ScriptedModel.make({
      turns: [[options?.call ?? Support.call("c1", "Leave", { days: "3" })]],
      afterLastTurn: "done"
    })
    const { toolkit } = tools
    const chat = yield* Support.converse(mode, { model: script.model, toolkit, approval: options?.approval })
    const first = yield* chat.take("Go on.")
    return { ...tools, chat, first, script }
  })

const hour = 3_600_000

describe("nobody answered", () => {
  Support.inEachMode("reminders and an escalation can be written: the run goes on, and waits again", function*(mode) {
    const { chat, first, script, steps } = yield* begin(mode)
    const asked = Support.only(first)
    yield* TestClock.adjust("1 hour")
    const reminded = Support.only(yield* chat.take())
    assert.deepStrictEqual([reminded.awaited?.prompt, reminded.toolCallId], ["Please!", "c1"])
    assert.notStrictEqual(reminded.approvalId, asked.approvalId)
    yield* TestClock.adjust("1 hour")
    const escalated = Support.only(yield* chat.take())
    assert.strictEqual(escalated.awaited?.name, "director")
    assert.strictEqual(yield* script.calls, 1)
    const last = yield* chat.take(Support.answers(Approval.approve(escalated)))
    assert.deepStrictEqual(Support.resultsOf(last), [["c1", "granted"]])
    assert.deepStrictEqual(steps, [
      ["start", 3],
      ["manager expired", 0, 3, asked.expiresAt, "c1"],
      ["manager expired", 1, 3, reminded.expiresAt, "c1"],
      ["director", true]
    ])
    assert.strictEqual(asked.expiresAt! + hour, reminded.expiresAt)
  })

  Support.inEachMode(
    "without a handler the model is told that it expired, and that what it did before stands",
    function*(mode) {
      const { chat, names } = yield* begin(mode)
      for (let turn = 0; turn < 2; turn++) {
        yield* TestClock.adjust("1 hour")
        yield* chat.take()
      }
      yield* TestClock.adjust("1 hour")
      const last = yield* chat.take()
      assert.match(Support.failureReason(last.results[0]), /expired at .* is not undone/)
      assert.strictEqual(last.text, "done")
      assert.deepStrictEqual(names(), ["start", "manager expired", "manager expired"])
    }
  )

  Support.inEachMode("an answer that came in time wins, however late anybody looks", function*(mode) {
    const { chat, first, names, steps } = yield* begin(mode)
    yield* TestClock.adjust("59 minutes")
    yield* DeferredTool.deliver(Leave, "manager", Support.only(first), { approved: true })
    yield* TestClock.adjust("2 hours")
    assert.deepStrictEqual(Support.resultsOf(yield* chat.take()), [["c1", "granted"]])
    assert.deepStrictEqual(names(), ["start", "manager"])
    assert.deepStrictEqual(steps[1], ["manager", true, 0, 3])
  })

  Support.inEachMode(
    "an answer that came too late changes nothing: the run goes on as if nobody had answered",
    function*(mode) {
      const { chat, first, names } = yield* begin(mode)
      yield* TestClock.adjust("1 hour")
      const turn = yield* chat.take(Support.answers(Approval.approve(Support.only(first))))
      assert.strictEqual(Support.only(turn).awaited?.prompt, "Please!")
      assert.deepStrictEqual(names(), ["start", "manager expired"])
    }
  )

  Support.inEachMode(
    "an approval that expires runs nothing, whatever the tool would do after it began",
    function*(mode) {
      const { chat, first, names } = yield* begin(mode, {
        call: Support.call("c1", "Sick", {}),
        approval: { expiresIn: "1 hour" }
      })
      assert.strictEqual(Support.only(first).interaction, "approval")
      yield* TestClock.adjust("1 hour")
      const turn = yield* chat.take()
      assert.match(Support.failureReason(turn.results[0]), /expired/)
      assert.deepStrictEqual(names(), [])
    }
  )

  Support.inEachMode(
    "it may end without anybody: its result says that nobody decided, but that it expired",
    function*(mode) {
      const approval = { expiresIn: "1 hour" } as const
      const { chat, first, names } = yield* begin(mode, { call: Support.call("c1", "Sick", {}), approval })
      const second = yield* chat.take(Support.answers(Approval.approve(Support.only(first))))
      assert.strictEqual(Support.only(second).interaction, "askUser")
      yield* TestClock.adjust("1 hour")
      const last = yield* chat.take()
      assert.deepStrictEqual(Support.resultsOf(last), [["c1", "never mind"]])
      assert.deepStrictEqual(names(), ["start", "note expired"])
      assert.deepInclude(last.results[0]?.metadata.assent, { decidedBy: { via: "expiry" } })
    }
  )

  Support.inOneMode(
    "generateText",
    "L2 it goes on once: the same history again, twice at once, joins it",
    function*(mode) {
      const hold = yield* Support.makeHold
      const { first, names, toolkit } = yield* begin(mode, {
        before: (step) => step === "manager expired" ? hold.wait : Effect.void
      })
      yield* TestClock.adjust("1 hour")
      const { model } = yield* Support.answering
      const again = Support.takeTurn(mode, { model, toolkit, history: first.history })
      const [one, two] = yield* Effect.all([
        again,
        again,
        Effect.andThen(hold.entered, Effect.andThen(Support.idle, hold.release))
      ], { concurrency: "unbounded" })
      const third = yield* again
      assert.deepStrictEqual(names(), ["start", "manager expired"])
      const ids = [one, two, third].map((turn) => Support.only(turn).approvalId)
      assert.deepStrictEqual(new Set(ids).size, 1)
    }
  )

  Support.inOneMode("generateText", "L2 one that was interrupted is not gone on with again", function*(mode) {
    const { chat, names } = yield* begin(mode, {
      before: (step) => step === "manager expired" ? Effect.interrupt : Effect.void
    })
    yield* TestClock.adjust("1 hour")
    assert.match(Support.failureReason((yield* chat.take()).results[0]), /unknown/)
    assert.deepStrictEqual(names(), ["start", "manager expired"])
  })

  Support.inOneMode("generateText", "L10 a turn without the toolkit loses nothing", function*(mode) {
    const { chat, first, names } = yield* begin(mode)
    yield* TestClock.adjust("1 hour")
    const { model } = yield* Support.answering
    const without = yield* Support.takeTurn(mode, { model, history: first.history })
    assert.include(Support.only(without).reason, "was not there in this turn")
    assert.deepStrictEqual(names(), ["start"])
    assert.strictEqual(Support.only(yield* chat.take()).awaited?.prompt, "Please!")
  })

  Support.inOneMode("streamText", "L6 it goes on also when the user has said something since", function*(mode) {
    const { chat, names } = yield* begin(mode)
    yield* TestClock.adjust("1 hour")
    assert.strictEqual(Support.only(yield* chat.take("And?")).awaited?.prompt, "Please!")
    assert.deepStrictEqual(names(), ["start", "manager expired"])
  })
})

describe("an expiry is due", () => {
  Support.once("like a timer: whoever looks for timers is told, once, and of nothing that has no expiry", function*() {
    const { chat, first } = yield* begin("generateText")
    yield* Support.begin("generateText", [Support.ask("c1", "Which?")])
    const woken: Array<string> = []
    const look = SuspensionStore.wakeDue(({ approvalId }) => Effect.sync(() => woken.push(approvalId)))
    yield* TestClock.adjust("59 minutes")
    yield* look
    assert.deepStrictEqual(woken, [])
    yield* TestClock.adjust("1 minute")
    yield* look
    yield* look
    assert.deepStrictEqual(woken, [Support.only(first).approvalId])
    const reminded = Support.only(yield* chat.take())
    yield* TestClock.adjust("1 hour")
    yield* look
    assert.deepStrictEqual(woken.slice(1), [reminded.approvalId])
  })
})

describe("a handler that is gone", () => {
  Support.once("of a later release: the model is told that it expired", function*() {
    const { first } = yield* begin("generateText")
    const kit = Toolkit.make(Leave)
    const toolkit = yield* Effect.provide(
      kit,
      kit.toLayer({
        Leave: DeferredTool.handler(Leave, {
          start: () => Effect.succeed("no"),
          resume: {
            manager: () => Effect.succeed("no"),
            director: () => Effect.succeed("no"),
            note: () => Effect.succeed("no")
          }
        })
      })
    )
    yield* TestClock.adjust("1 hour")
    const { model } = yield* Support.answering
    const turn = yield* Support.takeTurn("generateText", {
      model,
      toolkit: toolkit as unknown as Laws.AnyToolkit,
      history: first.history
    })
    assert.match(Support.failureReason(turn.results[0]), /expired at .* is not undone/)
  })
})
