import { anthropic } from "@ai-sdk/anthropic"
import { Approval, ApprovalJournal, Conversation, Tool, Toolkit } from "@assent/ai"
import { AiSdkLanguageModel } from "@assent/ai-sdk"
import { Console, Effect, Schema } from "effect"

const DeleteFile = Tool.make("DeleteFile", {
  description: "Deletes a file.",
  parameters: { path: Schema.String },
  success: Schema.String,
  needsApproval: true
})
const toolkit = Toolkit.make(DeleteFile)
const Handlers = toolkit.toLayer({ DeleteFile: ({ path }) => Effect.as(Console.log(`deleting ${path}`), "deleted") })

const Claude = AiSdkLanguageModel.model(anthropic("claude-sonnet-4-5"), { maxOutputTokens: 4_000 })

const program = Effect.gen(function*() {
  const conversation = yield* Conversation.make({ id: "tidy", toolkit })
  let outcome = yield* conversation.send("Delete debug.log and thesis.txt.")
  if (outcome._tag === "Waiting") {
    // Show each request's toolName, params and description to a person. This program answers by itself.
    const answers = outcome.requests.map((request) =>
      request.description.includes("thesis") ? Approval.deny(request, "keep it") : Approval.approve(request)
    )
    outcome = yield* conversation.decide(answers)
  }
  yield* Console.log(outcome.text)
})

// Everything is kept in this process. SqlApproval.layer({ filename }) of @assent/sql keeps it over restarts.
const Journal = ApprovalJournal.layerMemory() // what ran is remembered until the program ends
await Effect.runPromise(Effect.provide(program, [Claude, Handlers, Journal]))
