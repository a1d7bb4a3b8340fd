import { Conversation, Tool, Toolkit } from "@assent/ai"
import { ScriptedModel } from "@assent/ai/testing"
import { TerminalController } from "@assent/terminal"
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Effect, Schema } from "effect"

const DeleteFile = Tool.make("DeleteFile", {
  parameters: { path: Schema.String },
  success: Schema.String,
  needsApproval: true
})

const toolkit = Toolkit.make(DeleteFile)
const Handlers = toolkit.toLayer({ DeleteFile: ({ path }) => Effect.as(Console.log(`(deleting ${path})`), "gone") })

// Any provider's model stands here; this one follows a script, so that no key is needed.
const Model = ScriptedModel.layer({
  turns: [
    [ScriptedModel.toolCall({ id: "call-1", name: "DeleteFile", params: { path: "debug.log" } })],
    "debug.log is gone."
  ]
})

const program = Effect.gen(function*() {
  const conversation = yield* Conversation.make({ id: "tidy", toolkit })
  const outcome = yield* conversation.send("Delete debug.log.")
  yield* Console.log(outcome.text)
}).pipe(
  TerminalController.untilStopped,
  Effect.provide([Model, Handlers, TerminalController.layer()]),
  Effect.provide(NodeServices.layer)
)

NodeRuntime.runMain(program)
