/** L8: a turn that fails because of one call leaves nothing waiting that nobody was told of. */
import { assert, describe } from "@effect/vitest"
import { Cause, Effect, Schema } from "effect"
import { DeferredTool, Interaction, SuspensionStore, Tool, Toolkit } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as Support from "./support.ts"

const Fail = Tool.make("Fail", { failure: Schema.String })
const Wait = DeferredTool.make("Wait", { success: Schema.String, interactions: { text: Interaction.askUser } })

describe("a call that waits beside one that fails the turn", () => {
  Support.inEachMode("waits no more", function*(mode) {
    const kit = Toolkit.make(Fail, Wait)
    const toolkit = yield* Effect.provide(
      kit,
      kit.toLayer({
        Fail: () => Effect.fail("no"),
        Wait: DeferredTool.handler(Wait, {
          start: () => Wait.suspend.text({ prompt: "Which?" }),
          resume: { text: (text) => Effect.succeed(text) }
        })
      })
    )
    const script = yield* ScriptedModel.make({
      turns: [[Support.call("c1", "Wait", {}), Support.call("c2", "Fail", {})]],
      afterLastTurn: "done"
    })
    const chat = yield* Support.converse(mode, {
      model: script.model,
      toolkit: toolkit as unknown as Support.AnyToolkit
    })
    yield* Effect.flip(chat.take("Go."))
    const store = yield* SuspensionStore.SuspensionStore
    assert.deepStrictEqual((yield* store.list()).suspensions, [])
  })
})

describe("a handler that may wait, and dies of a mistake of its own", () => {
  Support.inEachMode("fails the turn with it, as any handler does", function*(mode) {
    const kit = Toolkit.make(Wait)
    const broken = new Error("broken")
    const toolkit = yield* Effect.provide(
      kit,
      kit.toLayer({
        Wait: DeferredTool.handler(Wait, {
          start: () => Effect.die(broken),
          resume: { text: (text) => Effect.succeed(text) }
        })
      })
    )
    const script = yield* ScriptedModel.make({ turns: [[Support.call("c1", "Wait", {})]], afterLastTurn: "done" })
    const chat = yield* Support.converse(mode, {
      model: script.model,
      toolkit: toolkit as unknown as Support.AnyToolkit
    })
    const cause = yield* Effect.flip(Effect.sandbox(chat.take("Go.")))
    assert.deepStrictEqual(cause.reasons.filter(Cause.isDieReason).map(({ defect }) => defect), [broken])
  })
})
