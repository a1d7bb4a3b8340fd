/**
 * Agents and a store that does not know of them: their journal is in one and their suspensions in another, as one layer too few
 * makes it; or it is down.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import {
  AgentTool,
  Approval,
  ApprovalError,
  ApprovalJournal,
  Conversation,
  SuspensionStore,
  Tool,
  Toolkit
} from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"

/** A clerk that pays, if somebody lets it; each conversation starts with a call of it. */
const makeClerk = () => {
  const runs = { paid: 0 }
  const pay = Toolkit.make(Tool.make("Pay", { success: Schema.String, needsApproval: true }))
  const Clerk = AgentTool.make("Clerk", { parameters: { task: Schema.String }, success: Schema.String })
  const toolkit = Toolkit.make(Clerk)
  const Handlers = toolkit.toLayer(Effect.gen(function*() {
    const paying = yield* pay.pipe(Effect.provide(pay.toLayer({ Pay: () => Effect.sync(() => `paid ${++runs.paid}`) })))
    return { Clerk: AgentTool.handler(Clerk, { toolkit: paying, prompt: ({ task }) => task }) }
  }))
  const Model = (id: string, ...then: ReadonlyArray<string>) =>
    ScriptedModel.layer({
      turns: [
        [ScriptedModel.toolCall({ id: `${id}-1`, name: "Clerk", params: { task: "Pay it." } })],
        [ScriptedModel.toolCall({ id: `${id}-2`, name: "Pay", params: {} })],
        ...then
      ]
    })
  return { Handlers, Model, runs, toolkit }
}

describe("an approval inside an agent whose call another store has on record", () => {
  it.effect("L2 runs nothing, and says that both belong in one store", () => {
    const { Handlers, Model, runs, toolkit } = makeClerk()
    return Effect.gen(function*() {
      const conversation = yield* Conversation.make({ id: "elsewhere", toolkit })
      yield* conversation.send("Let the clerk pay it.")
      const [request] = yield* conversation.pending()
      const error = yield* Effect.flip(conversation.decide(Approval.approve(request!)))
      assert.strictEqual(error._tag === "ApprovalError" ? error.reason._tag : error._tag, "SuspensionsUnavailable")
      assert.include(error.message, "over one store")
      assert.strictEqual(runs.paid, 0)
    }).pipe(Effect.provide(Layer.mergeAll(Handlers, Model("elsewhere"), ApprovalJournal.layerMemory())))
  })
})

describe("an agent that waits, and a store that cannot say for what", () => {
  it.effect("L6 a new message does not supersede it", () => {
    const { Handlers, Model, runs, toolkit } = makeClerk()
    return Effect.gen(function*() {
      const suspensions = yield* SuspensionStore.SuspensionStore
      let isDown = false
      const sometimes: SuspensionStore.Service = {
        ...suspensions,
        agents: (began) =>
          isDown
            ? Effect.fail(ApprovalError.make(new ApprovalError.SuspensionsUnavailable({ description: "It is down." })))
            : suspensions.agents(began)
      }
      const conversation = yield* Conversation.make({ id: "down", toolkit }).pipe(
        Effect.provideService(SuspensionStore.SuspensionStore, sometimes)
      )
      yield* conversation.send("Let the clerk pay it.")
      const [request] = yield* conversation.pending()
      isDown = true
      yield* Effect.exit(conversation.send("Something else?"))
      isDown = false
      assert.lengthOf(yield* conversation.pending(), 1)
      yield* conversation.decide(Approval.approve(request!))
      assert.strictEqual(runs.paid, 1)
    }).pipe(Effect.provide(Layer.mergeAll(Handlers, Model("down", "Something else.", "Paid.", "Done."))))
  })

  it.effect("L2 one whose beginning is not known does not go on by itself, and a new message supersedes it", () => {
    const { Handlers, Model, runs, toolkit } = makeClerk()
    return Effect.gen(function*() {
      const suspensions = yield* SuspensionStore.SuspensionStore
      const early: SuspensionStore.Service = {
        ...suspensions,
        find: (id) =>
          Effect.map(suspensions.find(id), (found) => {
            if (found === undefined) return undefined
            const { began: _, ...suspension } = found.suspension
            return { ...found, suspension: new SuspensionStore.Suspension(suspension) }
          })
      }
      const conversation = yield* Conversation.make({ id: "early", toolkit }).pipe(
        Effect.provideService(SuspensionStore.SuspensionStore, early)
      )
      yield* conversation.send("Let the clerk pay it.")
      const before = yield* conversation.history
      yield* conversation.wake
      assert.deepStrictEqual(yield* conversation.history, before)
      const { content, text } = yield* conversation.send("Something else?")
      assert.strictEqual(text, "Something else.")
      assert.match(JSON.stringify(content), /Superseded by a new message/)
      assert.strictEqual(runs.paid, 0)
    }).pipe(Effect.provide(Layer.mergeAll(Handlers, Model("early", "Something else."))))
  })
})
