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
const calls = ["debug.log", "thesis.txt"].map((path) =>
  ScriptedModel.toolCall({ id: path, name: "DeleteFile", params: { path } })
)
const Model = ScriptedModel.layer({ turns: [calls, "debug.log is gone; thesis.txt stays."] })

const program = Effect.gen(function*() {
  const conversation = yield* Conversation.make({ id: "tidy", toolkit })
  let outcome = yield* conversation.send("Delete debug.log and thesis.txt.")
  if (outcome._tag === "Waiting") {
    const answers = outcome.requests.map((request) =>
      request.description.includes("thesis") ? Approval.deny(request, "keep it") : Approval.approve(request)
    )
    outcome = yield* conversation.decide(answers)
  }
  yield* Console.log(outcome.text)
})

// What ran is remembered in this process. SqlApproval.layer({ filename }) of @assent/sql keeps everything over restarts.
const Journal = ApprovalJournal.layerMemory()
await Effect.runPromise(Effect.provide(program, [Handlers, Model, Journal]))
