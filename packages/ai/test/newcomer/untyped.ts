/** What programs without types do, which these tests have to say against the types. */
import { Effect, Schema, Stream } from "effect"
import { ApprovalController, ApprovalError, Conversation, LanguageModel, Tool, Toolkit } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"

/** What a program gave without asking the compiler. */
export const anything = <A>(value: unknown): A => value as A

export const DeleteFile = Tool.make("DeleteFile", {
  parameters: { path: Schema.String },
  success: Schema.String,
  needsApproval: true
})
export const ReadFile = Tool.make("ReadFile", { parameters: { path: Schema.String }, success: Schema.String })

/** Both tools, with types that know neither: their handlers are nowhere asked for. */
export const toolkit = anything<Toolkit.Toolkit<{}>>(Toolkit.make(DeleteFile, ReadFile))
export const readers = anything<Toolkit.Toolkit<{}>>(Toolkit.make(ReadFile))

export const call = (name: string) => ScriptedModel.toolCall({ id: "c1", name, params: { path: "a" } })

export const model = (name: string) => ScriptedModel.layer({ turns: [[call(name)], "done"] })

/** Each way into a turn in which the model calls this tool. */
export const ways = (
  toolkit: LanguageModel.GenerateTextOptions<{}>["toolkit"],
  name: string
): Record<string, Effect.Effect<unknown, unknown>> => {
  const options = { prompt: "go", toolkit: anything<Toolkit.Toolkit<{}>>(toolkit) }
  const made = Conversation.make({ id: "newcomer", toolkit: options.toolkit })
  return {
    generateText: Effect.provide(LanguageModel.generateText(options), model(name)),
    streamText: Effect.provide(Stream.runDrain(LanguageModel.streamText(options)), model(name)),
    "conversation.send": Effect.provide(Effect.flatMap(made, (conversation) => conversation.send("go")), model(name)),
    "conversation.stream": Effect.provide(
      Effect.flatMap(made, (conversation) => Stream.runDrain(conversation.stream("go"))),
      model(name)
    )
  }
}

/** Fails where anybody is asked. */
export const nobodyIsAsked = ApprovalController.layerInteractive(() => Effect.die("somebody was asked"))

/** The reason of an error, whichever way it came. */
export const reasonOf = (error: unknown): ApprovalError.ApprovalErrorReason | undefined => {
  if (error instanceof ApprovalError.ApprovalError) return error.reason
  const found = ApprovalError.fromAiError(error)
  return found._tag === "Some" ? found.value.reason : undefined
}
