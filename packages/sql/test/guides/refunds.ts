import { Approval, ApprovalPolicy, Conversation, OpenRequests, Tool, Toolkit } from "@assent/ai"
import { ScriptedModel } from "@assent/ai/testing"
import { SqlApproval } from "@assent/sql"
import { Console, Duration, Effect, Layer, Schema } from "effect"

const usage = "ask <ticket> | ask-briefly <ticket> | list | yes <ticket> <who> | no <ticket> <who>"
const [command = "list", ticket = "", who = ""] = process.argv.slice(2)

const Refund = Tool.make("Refund", {
  parameters: { amount: Schema.Finite },
  success: Schema.String,
  needsApproval: true
})
const toolkit = Toolkit.make(Refund)
const Handlers = toolkit.toLayer({ Refund: ({ amount }) => Effect.as(Console.log(`paying ${amount}`), "paid") })

// Grace or Kim decides, within a week; what was asked briefly expires after a millisecond.
const Policy = ApprovalPolicy.layer(() =>
  Approval.needsApproval({
    approvers: ["grace", "kim"],
    expiresIn: Duration.toMillis(command === "ask-briefly" ? "1 millis" : "7 days")
  })
)

// Any provider's model stands here: it asks for a refund, and later reads what came of it.
const Model = ScriptedModel.layer({
  turns: [({ prompt }) => {
    const last = prompt.content.at(-1)
    const part = last?.role === "tool" ? last.content[0] : undefined
    if (part?.type === "tool-result") return part.isFailure ? "I am sorry, no refund." : "Your money is on its way."
    return [ScriptedModel.toolCall({ id: "call-1", name: "Refund", params: { amount: 250 } })]
  }]
})

const makeTicket = (ticket: string) => Conversation.make({ id: `ticket-${ticket}`, toolkit })

const ask = Effect.gen(function*() {
  const conversation = yield* makeTicket(ticket)
  yield* Console.log((yield* conversation.send("I want my money back."))._tag)
})

// What waits, in every conversation and of every process: for a page, or a list.
const list = Effect.gen(function*() {
  const { requests } = yield* OpenRequests.page({}, { limit: 20 })
  if (requests.length === 0) yield* Console.log("nothing waits")
  for (const { request } of requests) yield* Console.log(`${request.conversation}: ${request.description}`)
})

const answer = Effect.gen(function*() {
  const conversation = yield* makeTicket(ticket)
  const answers = (yield* conversation.pending()).map((request) =>
    command === "yes" ? Approval.approve(request) : Approval.deny(request, "not without a receipt")
  )
  // Who this is, your program knows from its login. If nothing is open any more, the conversation just goes on.
  const outcome = answers.length === 0
    ? yield* conversation.send([])
    : yield* conversation.decide(answers, { by: { id: who } })
  yield* Console.log(outcome.text || "nothing to do")
}).pipe(Effect.catchTag("ApprovalError", ({ message }) => Console.log(message)))

const program = command === "ask" || command === "ask-briefly"
  ? ask
  : command === "list"
  ? list
  : command === "yes" || command === "no"
  ? answer
  : Console.log(usage)
const Kept = SqlApproval.layer({ filename: "approvals.db" })
await Effect.runPromise(Effect.provide(program, Layer.mergeAll(Handlers, Policy, Model, Kept)))
