// A tool that needs approval, and a conversation: it asks, a person answers, it goes on.
import { Approval, ApprovalJournal, Conversation, Tool, Toolkit } from "@assent/ai"
import { ScriptedModel } from "@assent/ai/testing"
import { Console, Effect, Schema } from "effect"

const DeleteFile = Tool.make("DeleteFile", {
  parameters: { path: Schema.String },
  success: Schema.String,
  needsApproval: true // or ({ path }) => path.startsWith("/etc/"), or an Effect
})
const toolkit = Toolkit.make(DeleteFile)
const Handlers = toolkit.toLayer({ DeleteFile: ({ path }) => Effect.as(Console.log(`deleting ${path}`), "deleted") })

// Any provider's model stands here; this one follows a script, so that no key is needed.
const call = (id: string, path: string) => ScriptedModel.toolCall({ id, name: "DeleteFile", params: { path } })
const Model = ScriptedModel.layer({
  turns: [[call("1", "debug.log"), call("2", "thesis.txt")], "debug.log is gone; thesis.txt stays."]
})

const program = Effect.gen(function*() {
  const conversation = yield* Conversation.make({ id: "tidy", toolkit })
  yield* conversation.send("Tidy up.")
  const answers = (yield* conversation.pending()).map((request) =>
    request.description.includes("thesis") ? Approval.deny(request, "keep it") : Approval.approve(request)
  )
  const { text } = yield* conversation.decide(answers)
  yield* Console.log(text)
})

const Journal = ApprovalJournal.layerMemory() // layerFileSystem({ directory }) remembers what ran after a restart too
await Effect.runPromise(Effect.provide(program, [Handlers, Model, Journal]))
