import { Approval, ApprovalJournal, Conversation, Tool, Toolkit } from "@assent/ai"
import { OpenAiClient, OpenAiLanguageModel } from "@assent/openai"
import { Console, Effect, Layer, Schema } from "effect"

const DeleteFile = Tool.make("DeleteFile", {
  description: "Deletes a file.",
  parameters: { path: Schema.String },
  success: Schema.String,
  needsApproval: true
})
const toolkit = Toolkit.make(DeleteFile)
const Handlers = toolkit.toLayer({ DeleteFile: ({ path }) => Effect.as(Console.log(`deleting ${path}`), "deleted") })

const Model = OpenAiLanguageModel.model("gpt-5.2").pipe(Layer.provide(OpenAiClient.layerConfig()))

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

const Journal = ApprovalJournal.layerMemory() // what ran is remembered until the program ends
await Effect.runPromise(Effect.provide(program, [Model, Handlers, Journal]))
