import { Approval, ApprovalJournal, Conversation, Toolkit } from "@assent/ai"
import { OpenAiClient, OpenAiLanguageModel, OpenAiTool } from "@assent/openai"
import { Console, Effect, Layer } from "effect"

// OpenAI calls the server itself, and asks before each call unless `require_approval` says otherwise.
const toolkit = Toolkit.make(
  OpenAiTool.Mcp({ server_label: "dice", server_url: "https://dice.example.com/mcp" })
)

const Model = OpenAiLanguageModel.model("gpt-5.2").pipe(Layer.provide(OpenAiClient.layerConfig()))

const program = Effect.gen(function*() {
  const conversation = yield* Conversation.make({ id: "dice", toolkit })
  let outcome = yield* conversation.send("Roll a die, then a big one.")
  if (outcome._tag === "Waiting") {
    for (const { description } of outcome.requests) yield* Console.log(description)
    const answers = outcome.requests.map((request) =>
      request.description.includes("1000") ? Approval.deny(request, "too big") : Approval.approve(request)
    )
    // OpenAI gets each answer with its reason, and runs what was approved.
    outcome = yield* conversation.decide(answers)
  }
  yield* Console.log(outcome.text)
})

const Journal = ApprovalJournal.layerMemory() // what was answered is remembered until the program ends
await Effect.runPromise(Effect.provide(program, [Model, Journal]))
