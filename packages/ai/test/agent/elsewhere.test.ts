/** A program whose journal is in one store and whose suspensions are in another, as one layer too few makes it. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { AgentTool, Approval, ApprovalJournal, Conversation, Tool, Toolkit } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"

describe("an approval inside an agent whose call another store has on record", () => {
  it.effect("L2 runs nothing, and says that both belong in one store", () => {
    let paid = 0
    const pay = Toolkit.make(Tool.make("Pay", { success: Schema.String, needsApproval: true }))
    const Clerk = AgentTool.make("Clerk", { parameters: { task: Schema.String }, success: Schema.String })
    const toolkit = Toolkit.make(Clerk)
    const Handlers = toolkit.toLayer(Effect.gen(function*() {
      const paying = yield* pay.pipe(Effect.provide(pay.toLayer({ Pay: () => Effect.sync(() => `paid ${++paid}`) })))
      return { Clerk: AgentTool.handler(Clerk, { toolkit: paying, prompt: ({ task }) => task }) }
    }))
    const Model = ScriptedModel.layer({
      turns: [
        [ScriptedModel.toolCall({ id: "elsewhere-1", name: "Clerk", params: { task: "Pay it." } })],
        [ScriptedModel.toolCall({ id: "elsewhere-2", name: "Pay", params: {} })]
      ]
    })
    return Effect.gen(function*() {
      const conversation = yield* Conversation.make({ id: "elsewhere", toolkit })
      yield* conversation.send("Let the clerk pay it.")
      const [request] = yield* conversation.pending()
      const error = yield* Effect.flip(conversation.decide(Approval.approve(request!)))
      assert.strictEqual(error._tag === "ApprovalError" ? error.reason._tag : error._tag, "SuspensionsUnavailable")
      assert.include(error.message, "over one store")
      assert.strictEqual(paid, 0)
    }).pipe(Effect.provide(Layer.mergeAll(Handlers, Model, ApprovalJournal.layerMemory())))
  })
})
