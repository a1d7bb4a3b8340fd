import { Approval, Chat, Prompt, Response, Toolkit } from "@assent/ai"
import { OpenAiClient, OpenAiLanguageModel, OpenAiTool } from "@assent/openai"
import { Console, Effect, Layer } from "effect"

// OpenAI calls the server itself, and asks before each call unless `require_approval` says otherwise.
const toolkit = Toolkit.make(
  OpenAiTool.Mcp({ server_label: "dice", server_url: "https://dice.example.com/mcp" })
)

const Model = OpenAiLanguageModel.model("gpt-5.2").pipe(Layer.provide(OpenAiClient.layerConfig()))

const program = Effect.gen(function*() {
  const chat = yield* Chat.empty
  let turn = yield* chat.generateText({ prompt: "Roll a die, then a big one.", toolkit })
  while (Response.isWaiting(turn)) {
    const requests = Response.approvalRequests(turn)
    for (const { description } of requests) yield* Console.log(description)
    const answers = requests.map((request) =>
      request.description.includes("1000") ? Approval.deny(request, "too big") : Approval.approve(request)
    )
    // OpenAI is told each answer with its reason, and runs what was approved.
    turn = yield* chat.generateText({ prompt: Prompt.approvalResponses(answers), toolkit })
  }
  yield* Console.log(turn.text)
})

await Effect.runPromise(Effect.provide(program, Model))
