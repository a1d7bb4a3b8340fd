/** The program of effect/ai that docs/coming-from.md shows, with what it needs to run. */
import { ScriptedModel } from "@assent/ai/testing"
import { Console, Effect, Schema } from "effect"
import { Chat, Tool, Toolkit } from "effect/ai"

const may = (what: string) => what.includes("debug.log")

// Shown from here
const DeleteFile = Tool.make("DeleteFile", {
  parameters: Schema.Struct({ path: Schema.String }),
  success: Schema.String,
  needsApproval: true
})
const toolkit = Toolkit.make(DeleteFile)

const program = Effect.gen(function*() {
  const chat = yield* Chat.empty
  let turn = yield* chat.generateText({ prompt: "Delete debug.log and thesis.txt.", toolkit })
  while (turn.content.some((part) => part.type === "tool-approval-request")) {
    const answers = turn.content.filter((part) => part.type === "tool-approval-request").map((request) => {
      const call = turn.toolCalls.find(({ id }) => id === request.toolCallId)
      const approved = may(JSON.stringify(call?.params))
      return { type: "tool-approval-response", approvalId: request.approvalId, approved, reason: "keep it" } as const
    })
    turn = yield* chat.generateText({ prompt: [{ role: "tool", content: answers }], toolkit })
  }
  yield* Console.log(turn.text)
})
// to here

const calls = ["debug.log", "thesis.txt"].map((path) =>
  ScriptedModel.toolCall({ id: path, name: "DeleteFile", params: { path } })
)
const Handlers = toolkit.toLayer({ DeleteFile: ({ path }) => Effect.as(Console.log(`deleting ${path}`), "deleted") })
const Model = ScriptedModel.layer({ turns: [calls, "debug.log is gone; thesis.txt stays."], strict: false })
await Effect.runPromise(Effect.provide(program, [Handlers, Model]))
