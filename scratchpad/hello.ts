// The smallest whole program: a tool that asks, and a loop that answers.
import { Approval, Chat, Prompt, Response, Tool, Toolkit } from "@assent/ai"
import { ScriptedModel } from "@assent/ai/testing"
import { Console, Effect, Layer, Schema } from "effect"

const DeleteFile = Tool.make("DeleteFile", {
  description: "Deletes a file",
  parameters: { path: Schema.String },
  success: Schema.Struct({ deleted: Schema.Boolean }),
  needsApproval: true // or ({ path }) => path.startsWith("/etc/"), or an Effect
})

const toolkit = Toolkit.make(DeleteFile)

const Handlers = toolkit.toLayer({
  DeleteFile: ({ path }) => Effect.as(Console.log(`deleting ${path}`), { deleted: true })
})

// Any provider's model stands here; this one follows a script, so that no key is needed.
const Model = ScriptedModel.layer({
  turns: [
    [
      ScriptedModel.toolCall({ id: "call-1", name: "DeleteFile", params: { path: "debug.log" } }),
      ScriptedModel.toolCall({ id: "call-2", name: "DeleteFile", params: { path: "thesis.txt" } })
    ],
    "debug.log is gone; thesis.txt stays."
  ]
})

const program = Effect.gen(function*() {
  const chat = yield* Chat.empty
  let turn = yield* chat.generateText({ prompt: "Tidy up.", toolkit })
  while (true) {
    if (Response.isWaiting(turn)) {
      // approvalId, toolName, params, description: what a page or a terminal shows.
      const answers = Response.approvalRequests(turn).map((request) =>
        request.description.includes("thesis") ? Approval.deny(request, "keep it") : Approval.approve(request)
      )
      turn = yield* chat.generateText({ prompt: Prompt.approvalResponses(answers), toolkit })
    } else if (turn.finishReason === "tool-calls") {
      turn = yield* chat.generateText({ prompt: Prompt.empty, toolkit })
    } else {
      return yield* Console.log(turn.text)
    }
  }
})

await Effect.runPromise(Effect.provide(program, Layer.merge(Handlers, Model)))
