/**
 * An expense that two people must approve, one after the other. Their consent comes through `resume`, from where the
 * program knows who they are; whoever writes "approved" into the chat has approved nothing.
 */
import { Conversation, DeferredTool, Interaction, Toolkit } from "@assent/ai"
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
  interactions: { manager: Interaction.getApproval, director: Interaction.getApproval }
})

const toolkit = Toolkit.make(SubmitExpense)

const Handlers = toolkit.toLayer({
  SubmitExpense: DeferredTool.handler(SubmitExpense, {
    start: (expense) =>
      SubmitExpense.suspend.manager({
        prompt: `Manager approval needed for $${expense.amount} expense: '${expense.document}'`
      }, expense),
    resume: {
      manager: (verdict, expense) =>
        verdict.approved
          ? SubmitExpense.suspend.director({
            prompt: `Director approval needed for $${expense.amount} expense: '${expense.document}'`
          }, expense)
          : Effect.succeed(`Expense rejected by the manager: ${verdict.note}`),
      director: (verdict, { amount, document }) =>
        Effect.succeed(`Expense '$${amount} - ${document}' ${verdict.approved ? "fully approved!" : "rejected."}`)
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
    // The user wrote instead of an approver: the request is superseded, and the model reads so.
    [submit("call-3", "Golf clubs", 900)],
    Story.lastResult
  ]
})

const program = Effect.gen(function*() {
  const conversation = yield* Conversation.make({ id: "expenses", toolkit })
  yield* Story.line("you", "Submit my expense report.")
  yield* Story.waits(yield* conversation.send("Submit my expense report."))
  yield* Story.line("manager", "approves")
  yield* Story.waits(yield* conversation.resume(SubmitExpense, "manager", { approved: true }))
  yield* Story.line("director", "approves")
  yield* Story.says(yield* conversation.resume(SubmitExpense, "director", { approved: true }), "fully approved!")

  yield* Story.line("you", "And my golf clubs.")
  yield* Story.waits(yield* conversation.send("And my golf clubs."))
  yield* Story.line("you", "approved")
  yield* Story.waits(yield* conversation.send("approved"))
  yield* Story.line("manager", "declines")
  const declined = yield* conversation.resume(SubmitExpense, "manager", { approved: false, note: "not for golf" })
  yield* Story.says(declined, "rejected by the manager: not for golf")
})

program.pipe(Effect.provide(Layer.merge(Handlers, Model)), NodeRuntime.runMain)
