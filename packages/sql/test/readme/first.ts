import { Approval, Conversation, Tool, Toolkit } from "@assent/ai"
import { ScriptedModel } from "@assent/ai/testing"
import { SqlApproval } from "@assent/sql"
import { Console, Effect, Schema } from "effect"

const SendMail = Tool.make("SendMail", {
  parameters: { to: Schema.String },
  success: Schema.String,
  needsApproval: true
})
const toolkit = Toolkit.make(SendMail)
const Handlers = toolkit.toLayer({ SendMail: ({ to }) => Effect.as(Console.log(`sending a mail to ${to}`), "sent") })

// The first run asks and ends; the second, `node mail.ts yes`, brings the answer.
const answer = process.argv[2]

// Any provider's model stands here; this one follows a script, so that no key is needed.
const Model = ScriptedModel.layer({
  turns: answer === undefined
    ? [[ScriptedModel.toolCall({ id: "call-1", name: "SendMail", params: { to: "ann@example.com" } })]]
    : [answer === "yes" ? "The mail is on its way." : "I have not sent it."]
})

const program = Effect.gen(function*() {
  const conversation = yield* Conversation.make({ id: "mail", toolkit })
  if (answer === undefined) yield* conversation.send("Write to Ann.")
  for (const request of yield* conversation.pending()) {
    if (answer === undefined) yield* Console.log(`May it? ${request.description}`)
    else {
      const decision = answer === "yes" ? Approval.approve(request) : Approval.deny(request, answer)
      yield* Console.log((yield* conversation.decide([decision])).text)
    }
  }
})

const Kept = SqlApproval.layer({ filename: "approvals.db" })
await Effect.runPromise(Effect.provide(program, [Handlers, Model, Kept]))
