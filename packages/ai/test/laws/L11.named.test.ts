/**
 * L11 who is named where: everybody's yes is nobody's, and who is named once more further in is named there.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { ApprovalController, ApprovalPolicy, Conversation, LanguageModel, Tool, Toolkit } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as L from "./levels.ts"
import { fresh } from "./support.ts"

const named = (controller: ApprovalController.Service) =>
  Effect.provideService(ApprovalController.ApprovalController, controller)

describe("L11 everybody's yes is nobody's", () => {
  const Target = Tool.make("Target", { needsApproval: true })
  const kit = Toolkit.make(Target)

  /** An agent whose controller approves everything, in a program in which others are named. */
  const agent = Effect.fnUntraced(function*(ran: () => void) {
    const { model } = yield* ScriptedModel.make({
      turns: [[ScriptedModel.toolCall({ id: "call-1", name: "Target", params: {} })]],
      afterLastTurn: "Done."
    })
    return yield* Conversation.make({ id: "agent", toolkit: kit }).pipe(
      Effect.provide(kit.toLayer({ Target: () => Effect.sync(ran) })),
      Effect.provideService(LanguageModel.LanguageModel, model),
      named(ApprovalController.approveAll)
    )
  })

  it.effect("L11 the agent's yes is not the word of a person around, who says no, and nothing runs", () =>
    fresh(Effect.gen(function*() {
      let [runs, asked] = [0, 0]
      const conversation = yield* agent(() => void runs++)
      const person = ApprovalController.interactive(() => (asked++, false))
      yield* conversation.send("Go.").pipe(named(person))
      assert.deepStrictEqual([runs, asked], [0, 1])
    })))

  it.effect("L11 nor of one who answers later: the call waits for them", () =>
    fresh(Effect.gen(function*() {
      let runs = 0
      const conversation = yield* agent(() => void runs++)
      const { _tag } = yield* conversation.send("Go.").pipe(named(ApprovalController.deferred))
      assert.deepStrictEqual([_tag, runs], ["Waiting", 0])
    })))

  it.effect("L11 where nobody else is named it answers, and where a policy lets the call run nobody is asked", () =>
    fresh(Effect.gen(function*() {
      let [runs, asked] = [0, 0]
      const alone = yield* agent(() => void runs++)
      yield* alone.send("Go.")
      const person = ApprovalController.interactive(() => (asked++, false))
      const allowed = yield* agent(() => void runs++)
      yield* allowed.send("Go.").pipe(
        named(person),
        Effect.provideService(ApprovalPolicy.ApprovalPolicy, ApprovalPolicy.make(() => false))
      )
      assert.deepStrictEqual([runs, asked], [2, 0])
    })))

  it.effect("L11 a guarded toolkit that approves everything asks whoever is named around it", () =>
    fresh(Effect.gen(function*() {
      let [runs, asked] = [0, 0]
      const guarded = yield* Toolkit.guard(kit).pipe(
        Effect.provide(kit.toLayer({ Target: () => Effect.sync(() => void runs++) })),
        named(ApprovalController.approveAll)
      )
      const person = ApprovalController.interactive(() => (asked++, false))
      yield* guarded.handle("Target", {}).pipe(Effect.flatMap(Stream.runDrain), named(person))
      assert.deepStrictEqual([runs, asked], [0, 1])
    })))
})

describe("L11 who is named once more further in is named there", () => {
  for (const stream of [false, true]) {
    it.effect(`L11 nobody between answers for whoever answers later [${stream ? "stream" : "generate"}]`, () =>
      fresh(Effect.gen(function*() {
        const levels = (["deferred", "approve", "deferred"] as const).map((who) => L.level("none", who))
        const { asked, end } = yield* L.nest({ stream, gated: true, levels })
        assert.deepStrictEqual([end, asked], ["open", []])
      })))
  }
})
