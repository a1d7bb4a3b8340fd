/**
 * An expense that two managers must approve, who must be two people. Their consent comes through `resume`, by people whom
 * the program knows: the same one twice is refused, and whoever writes "approved" into the chat has approved nothing.
 */
import { ApprovalError, Conversation, DeferredTool, Interaction, Toolkit } from "@assent/ai"
import { ScriptedModel } from "@assent/ai/testing"
import { NodeRuntime } from "@effect/platform-node"
import { Effect, Layer, Schema } from "effect"
import * as Story from "./waiting/story.ts"

const Expense = Schema.Struct({ document: Schema.String, amount: Schema.Number })

const SubmitExpense = DeferredTool.make("SubmitExpense", {
  description: "Submits an expense for approval",
  parameters: Expense,
  success: Schema.String,
  state: Expense,
  interactions: { managers: Interaction.getApproval }
})

const toolkit = Toolkit.make(SubmitExpense)

const Handlers = toolkit.toLayer({
  SubmitExpense: DeferredTool.handler(SubmitExpense, {
    start: (expense) =>
      SubmitExpense.suspend.managers({
        prompt: `Two managers must approve $${expense.amount}: '${expense.document}'`,
        // One of each list.
        approvers: [["grace"], ["kim"]]
      }, expense),
    resume: {
      managers: (verdict, { amount, document }, { decidedBy }) =>
        Effect.succeed(
          verdict.approved
            ? `Expense '$${amount} - ${document}' fully approved!`
            : `Expense rejected by ${decidedBy.name}: ${verdict.note}`
        )
    }
  })
})

const submit = (id: string, document: string, amount: number) =>
  ScriptedModel.toolCall({ id, name: "SubmitExpense", params: { document, amount } })

const Model = ScriptedModel.layer({
  turns: [
    [submit("call-1", "Office supplies", 250)],
    Story.lastResult,
    [submit("call-2", "Golf clubs", 900)],
    // The user wrote instead of a manager: the request is superseded, and the model reads so.
    [submit("call-3", "Golf clubs", 900)],
    Story.lastResult
  ]
})

// In a real program: whoever is logged in.
const grace = { id: "grace", name: "Grace" }
const kim = { id: "kim", name: "Kim" }

const program = Effect.gen(function*() {
  const conversation = yield* Conversation.make({ id: "expenses", toolkit })
  const approve = { approved: true }
  yield* Story.line("you", "Submit my expense report.")
  yield* Story.waits(yield* conversation.send("Submit my expense report."))
  yield* Story.line("grace", "approves")
  yield* Story.waits(yield* conversation.resume(SubmitExpense, "managers", approve, { by: grace }))
  yield* Story.line("grace", "approves again")
  const again = conversation.resume(SubmitExpense, "managers", approve, { by: grace })
  yield* again.pipe(
    ApprovalError.catchReason("NotAnApprover", (refused) => Story.line("", refused.message))
  )
  yield* Story.line("kim", "approves")
  yield* Story.says(yield* conversation.resume(SubmitExpense, "managers", approve, { by: kim }), "fully approved!")

  yield* Story.line("you", "And my golf clubs.")
  yield* Story.waits(yield* conversation.send("And my golf clubs."))
  yield* Story.line("you", "approved")
  yield* Story.waits(yield* conversation.send("approved"))
  yield* Story.line("kim", "declines")
  const declined = { approved: false, note: "not for golf" }
  yield* Story.says(
    yield* conversation.resume(SubmitExpense, "managers", declined, { by: kim }),
    "rejected by Kim: not for golf"
  )
})

program.pipe(Effect.provide(Layer.merge(Handlers, Model)), NodeRuntime.runMain)
