import { anthropic } from "@ai-sdk/anthropic"
import { Approval, Chat, Prompt, Response, Tool, Toolkit } from "@assent/ai"
import { AiSdkLanguageModel } from "@assent/ai-sdk"
import { Console, Effect, Schema } from "effect"

const DeleteFile = Tool.make("DeleteFile", {
  description: "Deletes a file.",
  parameters: { path: Schema.String },
  success: Schema.String,
  needsApproval: true
})

const toolkit = Toolkit.make(DeleteFile)

const Handlers = toolkit.toLayer({
  DeleteFile: ({ path }) => Effect.as(Console.log(`deleting ${path}`), "deleted")
})

const Claude = AiSdkLanguageModel.model(anthropic("claude-sonnet-4-5"), { maxOutputTokens: 4_000 })

const program = Effect.gen(function*() {
  const chat = yield* Chat.empty
  let turn = yield* chat.generateText({ prompt: "Delete debug.log and thesis.txt.", toolkit })
  while (Response.isWaiting(turn)) {
    // approvalId, toolName, params, description: what a page or a terminal shows.
    const answers = Response.approvalRequests(turn).map((request) =>
      request.description.includes("thesis") ? Approval.deny(request, "keep it") : Approval.approve(request)
    )
    turn = yield* chat.generateText({ prompt: Prompt.approvalResponses(answers), toolkit })
  }
  yield* Console.log(turn.text)
})

await Effect.runPromise(Effect.provide(program, [Claude, Handlers]))
