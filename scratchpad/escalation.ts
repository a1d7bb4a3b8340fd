/**
 * A refund that a manager should approve, and who is busy. Nobody answering is an outcome: the tool reminds the manager
 * once, asks the director when that does not help either, and goes on with what the director says.
 */
import { ApprovalError, Conversation, DeferredTool, Interaction, SuspensionStore, Toolkit } from "@assent/ai"
import { ScriptedModel } from "@assent/ai/testing"
import { NodeRuntime } from "@effect/platform-node"
import { Effect, Layer, Schema } from "effect"
import * as Story from "./waiting/story.ts"

const Refund = DeferredTool.make("Refund", {
  description: "Pays money back to a customer",
  parameters: { amount: Schema.Number },
  success: Schema.String,
  state: Schema.Struct({ reminded: Schema.Boolean }),
  interactions: { manager: Interaction.getApproval, director: Interaction.getApproval }
})

const toolkit = Toolkit.make(Refund)

// Days, in a real program.
const expiresIn = "300 millis"

const outcome = ({ approved }: Interaction.Verdict) => Effect.succeed(approved ? "Refunded." : "Not refunded.")

const Handlers = toolkit.toLayer({
  Refund: DeferredTool.handler(Refund, {
    start: ({ amount }) =>
      Refund.suspend.manager({ prompt: `Refund $${amount}?`, approvers: ["grace"], expiresIn }, { reminded: false }),
    resume: { manager: outcome, director: outcome },
    // The director may take as long as they want: nothing is said of it here, and no expiry is set.
    expired: {
      manager: ({ reminded }, { params: { amount } }) =>
        reminded
          ? Refund.suspend.director({ prompt: `Grace is silent. Refund $${amount}?`, approvers: ["kim"] }, { reminded })
          : Refund.suspend.manager(
            { prompt: `Reminder: refund $${amount}?`, approvers: ["grace"], expiresIn },
            { reminded: true }
          )
    }
  })
})

const Model = ScriptedModel.layer({
  turns: [[ScriptedModel.toolCall({ id: "call-1", name: "Refund", params: { amount: 250 } })], Story.lastResult]
})

const program = Effect.gen(function*() {
  const conversation = yield* Conversation.make({ id: "ticket-9", toolkit })
  yield* Story.line("you", "I want my money back.")
  const [asked] = yield* Story.waits(yield* conversation.send("I want my money back."))

  // Wakes each conversation in which something has come, or nobody has answered in time; this program has only the one.
  yield* Effect.forkScoped(SuspensionStore.watchTimers(
    () => Effect.flatMap(conversation.wake, (turn) => Story.waits(turn)),
    { interval: "50 millis" }
  ))
  while ((yield* conversation.pending())[0]?.awaited?.name !== "director") yield* Effect.sleep("50 millis")

  yield* Story.line("grace", "approves, too late")
  const late = conversation.decide({ approvalId: asked!.approvalId, approved: true }, { by: { id: "grace" } })
  yield* late.pipe(ApprovalError.catchReason("AlreadyDecided", ({ state }) => Story.line("", `it is ${state}`)))

  yield* Story.line("kim", "approves")
  const approve = { approved: true }
  yield* Story.says(yield* conversation.resume(Refund, "director", approve, { by: { id: "kim" } }), "Refunded.")
})

program.pipe(Effect.scoped, Effect.provide(Layer.merge(Handlers, Model)), NodeRuntime.runMain)
