import { Approval, ApprovalJournal, Conversation, Tool, Toolkit } from "@assent/ai"
import { ScriptedModel } from "@assent/ai/testing"
import { Console, Effect, Schema } from "effect"

const may = (what: string) => what.includes("debug.log") // a person stands here

const DeleteFile = Tool.make("DeleteFile", {
  parameters: { path: Schema.String },
  success: Schema.String,
  needsApproval: true
})
const toolkit = Toolkit.make(DeleteFile)
const Handlers = toolkit.toLayer({ DeleteFile: ({ path }) => Effect.as(Console.log(`deleting ${path}`), "deleted") })

const program = Effect.gen(function*() {
  const conversation = yield* Conversation.make({ id: "tidy", toolkit })
  let outcome = yield* conversation.send("Delete debug.log and thesis.txt.")
  while (outcome._tag === "Waiting") {
    outcome = yield* conversation.decide(
      outcome.requests.map((request) =>
        may(request.description) ? Approval.approve(request) : Approval.deny(request, "keep it")
      )
    )
  }
  yield* Console.log(outcome.text)
})

// A script in place of a model, so that no key is needed.
const calls = ["debug.log", "thesis.txt"].map((path) =>
  ScriptedModel.toolCall({ id: path, name: "DeleteFile", params: { path } })
)
const Model = ScriptedModel.layer({ turns: [calls, "debug.log is gone; thesis.txt stays."] })
await Effect.runPromise(Effect.provide(program, [Handlers, Model, ApprovalJournal.layerMemory()]))
