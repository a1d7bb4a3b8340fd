import { Approval, ApprovalError, ApprovalJournal, Conversation, Tool, Toolkit } from "@assent/ai"
import { ScriptedModel } from "@assent/ai/testing"
import { Cause, Console, Effect, Layer, Schema } from "effect"
import * as Upstream from "effect/ai/LanguageModel" // the mistake: import it from @assent/ai

const DeleteFile = Tool.make("DeleteFile", {
  parameters: { path: Schema.String },
  success: Schema.String,
  needsApproval: true
})
const toolkit = Toolkit.make(DeleteFile)
const Handlers = toolkit.toLayer({ DeleteFile: () => Effect.succeed("deleted") })
const Model = ScriptedModel.layer({
  turns: [[ScriptedModel.toolCall({ id: "call-1", name: "DeleteFile", params: { path: "debug.log" } })]],
  afterLastTurn: "It is gone."
})

const program = Effect.gen(function*() {
  const conversation = yield* Conversation.make({ id: "tidy", toolkit })
  yield* conversation.send("Delete debug.log.")
  const answers = (yield* conversation.pending()).map((request) => Approval.approve(request))
  const press = conversation.decide(answers).pipe(
    Effect.map(({ text }) => text),
    // One reason by its name, wherever the error travels; every other error passes.
    ApprovalError.catchReason("AlreadyDecided", ({ message }) => Effect.succeed(message))
  )
  yield* Console.log(yield* press)
  yield* Console.log(yield* press)
})

const mixed = Upstream.generateText({ prompt: "Delete debug.log.", toolkit }).pipe(
  Effect.asVoid,
  Effect.catchCause((cause) => Console.log((Cause.squash(cause) as Error).message))
)

const Everything = Layer.mergeAll(Handlers, Model, ApprovalJournal.layerMemory())
await Effect.runPromise(Effect.provide(program, Everything))
await Effect.runPromise(Effect.provide(mixed, Everything))
