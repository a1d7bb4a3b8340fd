// A tool that lets an agent do a part of its work: it counts the books itself, and the clerk pays what is open.
import { AgentTool, Approval, Conversation, DeferredTool, Tool, Toolkit } from "@assent/ai"
import { ScriptedModel } from "@assent/ai/testing"
import { Console, Effect, Layer, Schema } from "effect"

const Pay = Tool.make("Pay", {
  parameters: { amount: Schema.Finite },
  success: Schema.String,
  needsApproval: true
})
const payments = Toolkit.make(Pay)
const PaymentHandlers = payments.toLayer({
  Pay: ({ amount }) => Effect.as(Console.log(`paying ${amount}`), `paid ${amount}`)
})

const CloseBooks = DeferredTool.make("CloseBooks", {
  parameters: { month: Schema.String },
  success: Schema.String,
  interactions: {} // it waits for nothing but its agents
})
const toolkit = Toolkit.make(CloseBooks)
const Handlers = toolkit.toLayer(Effect.gen(function*() {
  const paying = yield* Effect.provide(payments, PaymentHandlers)
  return {
    CloseBooks: DeferredTool.handler(CloseBooks, {
      start: ({ month }) =>
        Effect.gen(function*() {
          yield* Console.log(`Counting the books of ${month}.`)
          const { text } = yield* AgentTool.converse("clerk", { toolkit: paying })(`Pay what is open in ${month}.`)
          return `Closed. ${text}`
        }).pipe(Effect.orDie),
      resume: {}
    })
  }
}))

// Any provider's model stands here.
const Model = ScriptedModel.layer({
  turns: [
    [ScriptedModel.toolCall({ id: "call-1", name: "CloseBooks", params: { month: "May" } })],
    [ScriptedModel.toolCall({ id: "call-2", name: "Pay", params: { amount: 20 } })],
    "All is paid.",
    "The books of May are closed."
  ]
})

const program = Effect.gen(function*() {
  const conversation = yield* Conversation.make({ id: "books", toolkit })
  let outcome = yield* conversation.send("Close the books of May.")
  while (outcome._tag === "Waiting") {
    for (const { description, path = [] } of outcome.requests) {
      yield* Console.log(`${path.join(" > ")} asks: ${description}`)
    }
    outcome = yield* conversation.decide(outcome.requests.map((request) => Approval.approve(request)))
  }
  yield* Console.log(outcome.text)
})
await Effect.runPromise(Effect.provide(program, Layer.merge(Handlers, Model)))
