// A lead whose treasurer is an agent of its own. The payment is the treasurer's; the question reaches whoever asks the lead.
import { AgentTool, Approval, Conversation, Tool, Toolkit } from "@assent/ai"
import { ScriptedModel } from "@assent/ai/testing"
import { Console, Effect, Layer, Schema } from "effect"

// The treasurer: its tools, and what it is to the lead.
const Pay = Tool.make("Pay", {
  parameters: { to: Schema.String, amount: Schema.Finite },
  success: Schema.String,
  needsApproval: true
})
const treasury = Toolkit.make(Pay)
const TreasuryHandlers = treasury.toLayer({
  Pay: ({ amount, to }) => Effect.as(Console.log(`paying ${amount} to ${to}`), "paid")
})
const Treasurer = AgentTool.make("Treasurer", {
  description: "Pays what the lead asks for, if it is allowed to",
  parameters: { for: Schema.String, amount: Schema.Finite },
  success: Schema.String
})

// The lead can ask the treasurer, and cannot pay.
const toolkit = Toolkit.make(Treasurer)
const Handlers = toolkit.toLayer(Effect.gen(function*() {
  const paying = yield* Effect.provide(treasury, TreasuryHandlers) // the treasurer's tools, with what they do
  return {
    Treasurer: AgentTool.handler(Treasurer, {
      toolkit: paying,
      instructions: "You are the treasurer.",
      prompt: ({ amount, for: what }) => `Pay ${amount} for the ${what}.`,
      limits: { steps: 5, time: "1 hour" }
    })
  }
}))

// Any provider's model stands here: the lead calls the treasurer, and the treasurer pays. Both then say what came of it.
const Model = ScriptedModel.layer({
  turns: [({ prompt }) => {
    const last = prompt.content.at(-1)
    const part = last?.role === "tool" ? last.content[0] : undefined
    if (part?.type === "tool-result") return part.isFailure ? "Nobody may pay for it." : String(part.result)
    const isTreasurer = JSON.stringify(prompt.content).includes("You are the treasurer.")
    return [
      isTreasurer
        ? ScriptedModel.toolCall({ id: "call-1", name: "Pay", params: { to: "Lamps Ltd", amount: 120 } })
        : ScriptedModel.toolCall({ id: "call-1", name: "Treasurer", params: { for: "lamp", amount: 120 } })
    ]
  }],
  afterLastTurn: "repeat"
})

const buy = Effect.fnUntraced(
  function*(id: string, answer: (request: Approval.ApprovalRequest) => Approval.ApprovalAnswer) {
    const conversation = yield* Conversation.make({ id, toolkit })
    let outcome = yield* conversation.send("Buy the lamp.")
    while (outcome._tag === "Waiting") {
      for (const { description, path = [] } of outcome.requests) {
        yield* Console.log(`${["Lead", ...path].join(" > ")} asks: ${description}`)
      }
      outcome = yield* conversation.decide(outcome.requests.map(answer), { by: { id: "grace" } })
    }
    yield* Console.log(outcome.text)
  }
)

const program = Effect.gen(function*() {
  yield* buy("may", (request) => Approval.approve(request))
  yield* buy("june", (request) => Approval.deny(request, "not this month"))
})
await Effect.runPromise(Effect.provide(program, Layer.merge(Handlers, Model)))
