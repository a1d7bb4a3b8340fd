/**
 * A tool that asks the user and goes on with the answer: what the user writes next answers its question, because it is
 * the only one. It remembers the cart meanwhile, where neither client nor model sees it.
 */
import { Conversation, DeferredTool, Interaction, Toolkit } from "@assent/ai"
import { ScriptedModel } from "@assent/ai/testing"
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Layer, Schema } from "effect"

const AddToCart = DeferredTool.make("AddToCart", {
  description: "Adds items to the shopping cart",
  parameters: { items: Schema.Array(Schema.String), budget: Schema.Number },
  success: Schema.String,
  state: Schema.Struct({ items: Schema.Array(Schema.String) }),
  interactions: { another: Interaction.askUser }
})

const toolkit = Toolkit.make(AddToCart)

const Handlers = toolkit.toLayer({
  AddToCart: DeferredTool.handler(AddToCart, {
    start: ({ items }) =>
      AddToCart.suspend.another({ prompt: "What additional item would you like to add?" }, { items }),
    resume: { another: (item, { items }) => Effect.succeed(`Added '${item}' to the cart with ${items.join(" and ")}.`) }
  })
})

// Any provider's model stands here; this one follows a script, so that no key is needed.
const Model = ScriptedModel.layer({
  turns: [
    [ScriptedModel.toolCall({
      id: "call-1",
      name: "AddToCart",
      params: { items: ["shoes", "shirts"], budget: 100 }
    })],
    "Your cart is full."
  ]
})

const program = Effect.gen(function*() {
  const conversation = yield* Conversation.make({ id: "shopping", toolkit })

  const asked = yield* conversation.send("Add something to my cart.")
  if (asked._tag !== "Waiting") return yield* Effect.die(`It should ask, and is ${asked._tag}.`)
  for (const { awaited } of asked.requests) yield* Console.log(awaited?.prompt)

  const done = yield* conversation.send("socks")
  for (const part of done.content) if (part.type === "tool-result") yield* Console.log(part.result)
  yield* Console.log(done.text)
})

program.pipe(Effect.provide(Layer.merge(Handlers, Model)), NodeRuntime.runMain)
