import { Approval, ApprovalController, Chat, LanguageModel, Prompt, Response, Tool, Toolkit } from "@assent/ai"
import { ScriptedModel } from "@assent/ai/testing"
import { Effect, Ref, Schema, Stream } from "effect"

const DeleteFile = Tool.make("DeleteFile", {
  parameters: { path: Schema.String },
  success: Schema.Struct({ deleted: Schema.Boolean }),
  needsApproval: true
})
const kit = Toolkit.make(DeleteFile)
let runs = 0
const Live = kit.toLayer({ DeleteFile: () => Effect.sync(() => ({ deleted: ++runs > 0 })) })

const turns = [
  [
    ScriptedModel.toolCall({ id: "c1", name: "DeleteFile", params: { path: "a" } }),
    ScriptedModel.toolCall({ id: "c2", name: "DeleteFile", params: { path: "b" } })
  ],
  "done",
  "bye"
]
const program = (mode: "generate" | "stream") =>
  Effect.gen(function*() {
    runs = 0
    const script = yield* ScriptedModel.make({ turns })
    const take = (chat: Chat.Chat, prompt: Prompt.RawInput) =>
      mode === "generate"
        ? Effect.map(chat.generateText({ prompt, toolkit: kit }), (r) => r.content as ReadonlyArray<Response.AnyPart>)
        : Effect.map(
          Stream.runCollect(chat.streamText({ prompt, toolkit: kit })),
          (r) => r as ReadonlyArray<Response.AnyPart>
        )
    yield* Effect.gen(function*() {
      const chat = yield* Chat.empty
      let turn = yield* take(chat, "tidy")
      console.log(mode, turn.map((p) => p.type).join(" "), Response.isWaiting(turn))
      const requests = Response.approvalRequests(turn)
      console.log(requests.map((r) => r.description), requests[0]!.approvalId.length)
      turn = yield* take(chat, [])
      console.log("poll", turn.map((p) => p.type).join(" "))
      turn = yield* take(chat, Prompt.approvalResponses([Approval.approve(requests[0]!)]))
      console.log("one", turn.map((p) => p.type).join(" "), runs)
      turn = yield* take(
        chat,
        Prompt.approvalResponses([Approval.deny(requests[1]!, "keep b"), Approval.approve(requests[0]!)])
      )
      console.log("two", turn.map((p) => p.type).join(" "), runs)
      turn = yield* take(chat, "thanks")
      console.log("three", turn.map((p) => p.type).join(" "), runs)
      const history = yield* Ref.get(chat.history)
      console.log(
        history.content.map((m) =>
          m.role + "(" + (typeof m.content === "string" ? "" : m.content.map((p) => p.type)) + ")"
        ).join(" ")
      )
      const sent = yield* script.requests
      console.log(
        JSON.stringify(
          sent.at(-1)!.prompt.content.map((
            m
          ) => [
            m.role,
            typeof m.content === "string"
              ? m.content
              : m.content.map((p) => p.type === "tool-result" ? p.result : p.type)
          ])
        )
      )
    }).pipe(
      Effect.provideService(LanguageModel.LanguageModel, LanguageModel.withApproval(script.model)),
      Effect.provide(Live)
    )
  })
await Effect.runPromise(program("generate"))
await Effect.runPromise(program("stream"))
await Effect.runPromise(Effect.gen(function*() {
  const script = yield* ScriptedModel.make({ turns })
  const r = yield* LanguageModel.generateText({ prompt: "x", toolkit: kit }).pipe(
    Effect.provideService(LanguageModel.LanguageModel, script.model),
    Effect.provide(Live),
    Effect.provideService(
      ApprovalController.ApprovalController,
      ApprovalController.interactive((r) => r.toolCallId === "c1")
    )
  )
  console.log(r.content.map((p) => p.type), r.toolResults.map((p) => p.result))
}))
