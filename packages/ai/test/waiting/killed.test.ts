/**
 * L2: a process that is killed while a tool goes on with an answer. The next one finds it dead, and a tool that is
 * `Tool.Idempotent` goes on again: with the same answer, and with the parameters as a person changed them before it began.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Schema } from "effect"
import { Approval, DeferredTool, Interaction, Store, Tool, Toolkit } from "../../src/index.ts"
import type { ScriptedModel } from "../../src/testing/index.ts"
import { cuttable } from "../store/intercept.ts"
import { startProcess } from "../store/process.ts"
import * as Support from "./support.ts"

const Order = DeferredTool.make("Order", {
  parameters: { amount: Schema.Number },
  success: Schema.String,
  state: Schema.Number,
  needsApproval: true,
  interactions: { where: Interaction.askUser }
})

describe("L2 a process that is killed while an edited call goes on with an answer", () => {
  for (const idempotent of [true, false]) {
    const then = idempotent ? "it goes on again, as it was edited" : "what it did is unknown"
    it.effect(`L2 ${then}`, () =>
      Effect.gen(function*() {
        const shared = yield* Store.makeMemory()
        const hold = yield* Support.makeHold
        const steps: Array<string> = []
        const { interactions } = Order
        const tool = DeferredTool.from(Order.annotate(Tool.Idempotent, idempotent), {
          interactions,
          state: Schema.Number
        })
        const kit = Toolkit.make(tool)
        const layer = kit.toLayer({
          Order: DeferredTool.handler(tool, {
            start: ({ amount }) =>
              Effect.andThen(
                Effect.sync(() => steps.push(`start ${amount}`)),
                tool.suspend.where({ prompt: "Where to?" }, amount)
              ),
            resume: {
              where: (text, amount) =>
                Effect.suspend(() => {
                  steps.push(`${amount} to ${text}`)
                  return Effect.as(steps.length === 2 ? hold.wait : Effect.void, `${amount} to ${text}`)
                })
            }
          })
        })
        const start = (store: Store.Store, turns: ReadonlyArray<ScriptedModel.Turn>) =>
          startProcess(store, turns, kit, layer)
        const { cut, store } = cuttable(shared)
        const first = yield* start(store, [[Support.call("c1", "Order", { amount: 1000 })]])
        const asked = yield* first.send("Go.")
        if (asked._tag !== "Waiting") return assert.fail("it was not asked about")
        const waiting = yield* first.decide(Approval.approve(asked.requests[0]!, { params: { amount: 10 } }))
        if (waiting._tag !== "Waiting") return assert.fail("it does not wait")
        yield* Effect.forkChild(first.decide(Approval.answer(waiting.requests[0]!, "Oslo")), { startImmediately: true })
        yield* hold.entered
        cut()
        const second = yield* start(shared, [])
        const asking = yield* Effect.forkChild(second.send([]), { startImmediately: true })
        assert.isTrue(yield* Support.advance(asking, "1 second", 9), "it came to its end")
        assert.strictEqual((yield* Fiber.join(asking))._tag, "Completed")
        const results = Support.partsOf(yield* second.history).filter((part) => part.type === "tool-result")
        if (idempotent) assert.deepStrictEqual(results.map(({ result }) => result), ["10 to Oslo"])
        else assert.match(Support.failureReason(results[0]), /unknown/i)
        assert.deepStrictEqual(steps, ["start 10", "10 to Oslo", ...(idempotent ? ["10 to Oslo"] : [])])
      }).pipe(Effect.scoped))
  }
})
