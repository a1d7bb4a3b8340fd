/** Upstream's example programs with their imports switched and a gated tool in their kits: they work, and are protected. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import { AiError } from "effect/ai"
import { ApprovalController, ApprovalError, ApprovalEvents } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as Support from "../laws/support.ts"
import { AiWriter, program } from "./generated/10_language-model.ts"
import { AssistantToolkitLayer, ProductAssistant } from "./generated/20_tools.ts"
import { AiAssistant } from "./generated/30_chat.ts"
import type { LaunchPlan } from "./generated/domain/LaunchPlan.ts"
import * as Guarded from "./guarded.ts"
import * as Provider from "./provider.ts"

const cancel = Support.call("g1", "CancelOrder", { id: "o-1" })

interface Played<A> {
  readonly outcome: A
  /** How often the tool ran that needs approval, and how often it was asked about. */
  readonly runs: number
  readonly asked: number
  readonly calls: readonly [openai: number, anthropic: number]
}

const controllers = {
  "nobody answers": ApprovalController.deferred,
  "somebody approves": ApprovalController.approveAll,
  "nobody is there": ApprovalController.strict
}
type Who = keyof typeof controllers

/** Runs a program with its layer, as it is, with providers that follow scripts. */
const play = <A, E, R, E2>(
  who: Who,
  turns: { readonly openai: ReadonlyArray<ScriptedModel.Turn>; readonly anthropic?: ReadonlyArray<ScriptedModel.Turn> },
  layer: Layer.Layer<R, E2>,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<Played<A>, E | E2> =>
  Support.fresh(
    Effect.gen(function*() {
      const openai = yield* ScriptedModel.make({ turns: turns.openai })
      const anthropic = yield* ScriptedModel.make({ turns: turns.anthropic ?? [] })
      const events = yield* ApprovalEvents.make()
      const observed = yield* events.subscribe
      let asked = 0
      yield* Effect.forkScoped(Stream.runForEach(observed, (event) =>
        Effect.sync(() => {
          if (event._tag === "Requested") asked++
        })))
      Guarded.cancelled.length = 0
      const outcome = yield* effect.pipe(
        Effect.provide(layer),
        Provider.following({ openai, anthropic }),
        Effect.provideService(ApprovalController.ApprovalController, controllers[who]),
        Effect.provideService(ApprovalEvents.ApprovalEvents, events)
      )
      yield* Support.idle
      return {
        outcome,
        runs: Guarded.cancelled.length,
        asked,
        calls: [yield* openai.calls, yield* anthropic.calls] as const
      }
    }).pipe(Effect.scoped)
  ) as Effect.Effect<Played<A>, E | E2>

const becomes = (who: Who) => ({ runs: who === "somebody approves" ? 1 : 0, asked: 1 })

for (const who of Object.keys(controllers) as ReadonlyArray<Who>) {
  describe(`upstream's example programs: ${who}`, () => {
    it.effect("10_language-model: a plan of two providers writes an announcement", () =>
      Effect.gen(function*() {
        const failing = ScriptedModel.fail(
          AiError.make({ module: "Test", method: "test", reason: new AiError.RateLimitError({}) })
        )
        const { outcome, ...rest } = yield* play(
          who,
          { openai: [[failing], [failing], [failing]], anthropic: [[ScriptedModel.text("Now in the cloud."), cancel]] },
          AiWriter.layer,
          AiWriter.use((writer) => writer.draftAnnouncement("Effect Cloud"))
        )
        assert.deepStrictEqual(outcome, { provider: "anthropic", text: "Now in the cloud." })
        assert.deepStrictEqual(rest, { ...becomes(who), calls: [3, 1] })
      }))

    it.effect("10_language-model: its program", () =>
      Effect.gen(function*() {
        const played = yield* play(who, { openai: [[ScriptedModel.text("Hello."), cancel]] }, AiWriter.layer, program)
        assert.deepStrictEqual(played, { outcome: undefined, ...becomes(who), calls: [1, 0] })
      }))

    it.effect("10_language-model: a launch plan, which cannot wait for an approval", () =>
      Effect.gen(function*() {
        const plan: typeof LaunchPlan.Encoded = {
          audience: "developers",
          channels: ["blog"],
          launchDate: "2026-12-01",
          summary: "It is there.",
          keyRisks: []
        }
        const { outcome, ...rest } = yield* play(
          who,
          { openai: [[ScriptedModel.text(JSON.stringify(plan)), cancel]] },
          AiWriter.layer,
          AiWriter.use((writer) => Effect.result(writer.extractLaunchPlan("notes")))
        )
        assert.deepStrictEqual(rest, { ...becomes(who), calls: [1, 0] })
        if (outcome._tag === "Success") {
          assert.notStrictEqual(who, "nobody answers")
          assert.deepStrictEqual({ ...outcome.success }, plan)
        } else {
          assert.strictEqual(who, "nobody answers")
          const error = ApprovalError.fromAiError(
            AiError.make({ module: "Test", method: "test", reason: outcome.failure.reason })
          )
          assert.strictEqual(error._tag === "Some" ? error.value.reason._tag : error._tag, "ApprovalRequired")
        }
      }))

    it.effect("10_language-model: a stream of highlights", () =>
      Effect.gen(function*() {
        const { outcome, ...rest } = yield* play(
          who,
          { openai: [[ScriptedModel.text("- faster"), cancel]] },
          AiWriter.layer,
          AiWriter.use((writer) => Stream.mkString(writer.streamReleaseHighlights("4.1")))
        )
        assert.strictEqual(outcome, "- faster")
        assert.deepStrictEqual(rest, { ...becomes(who), calls: [1, 0] })
      }))

    it.effect("20_tools: the assistant answers with its tools", () =>
      Effect.gen(function*() {
        const { outcome, ...rest } = yield* play(
          who,
          {
            openai: [[
              ScriptedModel.text("Here they are."),
              Support.call("s1", "SearchProducts", { query: "wireless", maxResults: 1 }),
              cancel,
              Support.call("i1", "GetInventory", { productId: "p-1" })
            ]]
          },
          ProductAssistant.layer,
          ProductAssistant.use((assistant) => assistant.answer("What is there?"))
        )
        assert.deepStrictEqual(outcome, { text: "Here they are.", toolCallCount: 3 })
        assert.deepStrictEqual(rest, { ...becomes(who), calls: [1, 0] })
      }))

    it.effect("30_chat: a chat from JSON, and an agent that goes on until it is done or waits", () =>
      Effect.gen(function*() {
        const chatted = yield* play(
          who,
          { openai: ["Hello.", "Still here."] },
          AiAssistant.layer,
          AiAssistant.use((assistant) => Effect.all([assistant.chat("Hi"), assistant.chat("And now?")]))
        )
        assert.deepStrictEqual(chatted.outcome, ["Hello.", "Still here."])
        const { outcome, ...rest } = yield* play(
          who,
          {
            openai: [
              [Support.call("t1", "getCurrentTime", { id: "now" })],
              [Support.call("t2", "getCurrentTime", { id: "now" }), cancel],
              "It is late."
            ]
          },
          AiAssistant.layer,
          AiAssistant.use((assistant) => assistant.agent("What time is it?"))
        )
        assert.strictEqual(outcome, who === "nobody answers" ? "" : "It is late.")
        assert.deepStrictEqual(rest, { ...becomes(who), calls: [who === "nobody answers" ? 2 : 3, 0] })
      }))
  })
}

it.effect("20_tools: the handlers of a kit with a provider's tool are a layer", () =>
  Effect.gen(function*() {
    const context = yield* Effect.scoped(Layer.build(AssistantToolkitLayer))
    assert.isAbove(context.mapUnsafe.size, 2)
  }))
