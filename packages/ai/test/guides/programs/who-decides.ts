// A payment that Grace and Kim must both approve, and nobody else can.
import { Approval, ApprovalJournal, ApprovalPolicy, Conversation, Tool, Toolkit } from "@assent/ai"
import { ScriptedModel } from "@assent/ai/testing"
import { Console, Effect, Schema } from "effect"

const Pay = Tool.make("Pay", { parameters: { amount: Schema.Finite }, success: Schema.String })
const toolkit = Toolkit.make(Pay)
const Handlers = toolkit.toLayer({ Pay: ({ amount }) => Effect.as(Console.log(`paying ${amount}`), "paid") })

// Two lists: one person of each has to approve. With one list, ["grace", "kim"], one of them is enough.
const Policy = ApprovalPolicy.layer(() => Approval.needsApproval({ approvers: [["grace"], ["kim"]] }))

// Any provider's model stands here.
const Model = ScriptedModel.layer({
  turns: [[ScriptedModel.toolCall({ id: "call-1", name: "Pay", params: { amount: 900 } })], "The rent is paid."]
})

const program = Effect.gen(function*() {
  const conversation = yield* Conversation.make({ id: "rent", toolkit })
  yield* conversation.send("Pay the rent.")
  for (const id of ["ada", "grace", "kim"]) {
    const answers = (yield* conversation.pending()).map((request) => Approval.approve(request))
    // Who answers, your login says. It is an argument of its own, and never a part of what was posted.
    const came = yield* conversation.decide(answers, { by: { id } }).pipe(Effect.match({
      onFailure: ({ message }) => message,
      onSuccess: (outcome) => outcome._tag === "Waiting" ? "Somebody else has to approve, too." : outcome.text
    }))
    yield* Console.log(`${id}: ${came}`)
  }
})
await Effect.runPromise(Effect.provide(program, [Handlers, Model, Policy, ApprovalJournal.layerMemory()]))
