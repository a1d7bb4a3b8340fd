/**
 * A tool that lets somebody choose. A button answers through `resume`, and only with what was offered; the words of an
 * option, typed, do as well; other words are a new message.
 */
import { ApprovalError, Conversation, DeferredTool, Interaction, Toolkit } from "@assent/ai"
import { ScriptedModel } from "@assent/ai/testing"
import { NodeRuntime } from "@effect/platform-node"
import { Effect, Layer, Schema } from "effect"
import * as Story from "./waiting/story.ts"

const OrderLunch = DeferredTool.make("OrderLunch", {
  description: "Orders lunch",
  parameters: { day: Schema.String },
  success: Schema.String,
  state: Schema.Struct({ day: Schema.String, dish: Schema.optionalKey(Schema.String) }),
  interactions: { dish: Interaction.selectOptions, sides: Interaction.selectMany }
})

const toolkit = Toolkit.make(OrderLunch)

const Handlers = toolkit.toLayer({
  OrderLunch: DeferredTool.handler(OrderLunch, {
    start: ({ day }) =>
      OrderLunch.suspend.dish({
        prompt: `What would you like on ${day}?`,
        options: ["soup", { value: "fish", label: "Fish of the day", description: "trout, if the river is kind" }]
      }, { day }),
    resume: {
      dish: (dish, { day }) =>
        OrderLunch.suspend.sides({ prompt: "And with it?", options: ["bread", "salad", "wine"] }, { day, dish }),
      sides: (sides, { day, dish }) => Effect.succeed(`${dish} with ${sides.join(" and ")} on ${day}`)
    }
  })
})

const Model = ScriptedModel.layer({
  turns: [
    [ScriptedModel.toolCall({ id: "call-1", name: "OrderLunch", params: { day: "Friday" } })],
    Story.lastResult
  ]
})

const program = Effect.gen(function*() {
  const conversation = yield* Conversation.make({ id: "lunch", toolkit })
  yield* Story.line("you", "Order lunch.")
  yield* Story.waits(yield* conversation.send("Order lunch."))
  const refused = yield* Effect.flip(conversation.resume(OrderLunch, "dish", "steak"))
  yield* Story.line("refused", refused.message)
  yield* Story.expect(
    refused instanceof ApprovalError.ApprovalError && refused.reason._tag === "InvalidAnswer",
    "Steak was not offered."
  )
  yield* Story.line("you", "fish of the day")
  yield* Story.waits(yield* conversation.send("fish of the day"))
  yield* Story.line("you", "(ticks bread and wine)")
  yield* Story.says(
    yield* conversation.resume(OrderLunch, "sides", ["bread", "wine"]),
    "fish with bread and wine on Friday"
  )
})

program.pipe(Effect.provide(Layer.merge(Handlers, Model)), NodeRuntime.runMain)
