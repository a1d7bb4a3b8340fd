/** The story that each program beside this folder tells: a model wants to delete two files, and a person says of which. */
import { Approval, ApprovalJournal, Conversation, type LanguageModel, Tool, Toolkit } from "@assent/ai"
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect, type Layer, Schema } from "effect"

const DeleteFile = Tool.make("DeleteFile", {
  description: "Deletes a file.",
  parameters: { path: Schema.String },
  success: Schema.String,
  needsApproval: true
})

const toolkit = Toolkit.make(DeleteFile)

// No file is deleted: a real model may be at the other end.
const Handlers = toolkit.toLayer({ DeleteFile: ({ path }) => Effect.as(Console.log(`deleting ${path}`), "deleted") })

const answer = (request: Approval.ApprovalRequest) => {
  const keeps = request.description.includes("thesis")
  return Effect.as(
    Console.log(`${request.description}? ${keeps ? "No: keep it." : "Yes."}`),
    keeps ? Approval.deny(request, "keep it") : Approval.approve(request)
  )
}

const program = Effect.gen(function*() {
  const conversation = yield* Conversation.make({ id: "providers", toolkit })
  let turn = yield* conversation.send("Delete debug.log and thesis.txt. Call the tool for both at once.")
  while (turn._tag === "Waiting") turn = yield* conversation.decide(yield* Effect.forEach(turn.requests, answer))
  yield* Console.log(turn.text)
})

/** Tells it with this model. */
export const tell = <E>(Model: Layer.Layer<LanguageModel.LanguageModel, E>): void =>
  program.pipe(Effect.provide([Handlers, Model, ApprovalJournal.layerMemory()]), NodeRuntime.runMain)
