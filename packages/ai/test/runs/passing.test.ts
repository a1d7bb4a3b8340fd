/** L2: a resume that fails for a passing reason can be tried again: the answer is not lost, and the tool goes on once. */
import { assert, describe } from "@effect/vitest"
import { Effect, Schema } from "effect"
import {
  Approval,
  ApprovalController,
  DeferredTool,
  Interaction,
  LanguageModel,
  Prompt,
  Store
} from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import { failure, intercept } from "../store/intercept.ts"
import * as R from "./support.ts"

const Size = DeferredTool.make("Size", {
  success: Schema.String,
  state: Schema.String,
  interactions: { text: Interaction.askUser }
})
const call = ScriptedModel.toolCall({ id: "size-1", name: "Size", params: {} })

/** The store fails at the operation of this number once it is armed, and at none before or after. */
const failingAt = Effect.fnUntraced(function*(at: number, isDone: boolean) {
  const memory = yield* Store.makeMemory()
  const state = { isArmed: false, count: 0, operation: "" }
  const store = intercept(memory, (operation, _, run) =>
    Effect.suspend(() => {
      if (!state.isArmed || ++state.count !== at) return run
      state.operation = operation
      return isDone
        ? Effect.andThen(run, Effect.fail(failure(operation, "Busy")))
        : Effect.fail(failure(operation, "Busy"))
    }))
  return { state, store }
})

/** An answer that is given until the store has it; then the conversation goes on by itself. */
const answering = Effect.fnUntraced(function*(way: R.Way, at: number, isDone: boolean) {
  const { state, store } = yield* failingAt(at, isDone)
  const steps: Array<string> = []
  const world = yield* R.make(way, {
    turns: [[call]],
    store,
    controller: ApprovalController.deferred,
    more: [Size],
    handlers: {
      Size: DeferredTool.handler(Size, {
        start: () =>
          Effect.andThen(Effect.sync(() => steps.push("start")), Size.suspend.text({ prompt: "Which?" }, "asked")),
        resume: { text: (text) => Effect.as(Effect.sync(() => steps.push("text")), text) }
      }) as R.Handler
    }
  })
  yield* world.begin
  const { conversation } = world
  const [open] = conversation === undefined
    ? LanguageModel.collectToolApprovals((yield* world.history).content).pending
    : yield* conversation.pending()
  const answer = Approval.answer(open!, "42")
  const give: Effect.Effect<unknown, unknown> = conversation === undefined
    ? world.say(Prompt.approvalResponses([answer]))
    : world.serving(conversation.decide(answer))
  state.isArmed = true
  const first = yield* Effect.exit(give)
  const met = state.count >= at
  state.isArmed = false
  if (first._tag === "Failure" || conversation === undefined) yield* Effect.exit(give)
  yield* world.say("And now?")
  assert.deepStrictEqual(steps, ["start", "text"], `after ${state.operation}, operation ${at}`)
  yield* R.assertToldResult(world, "size-1", "42")
  return met
})

describe("a resume that fails for a passing reason", () => {
  for (const isDone of [false, true]) {
    R.inWays(
      `can be tried again, whichever operation of its store is ${
        isDone ? "done, and says that it failed" : "not done"
      }`,
      function*(way) {
        let at = 1
        while (yield* answering(way, at, isDone)) at++
        assert.isAbove(at, 3, "the store was used")
      },
      ["send", "Chat.generateText", "streamText"],
      30_000
    )
  }
})
