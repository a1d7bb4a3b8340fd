import { Conversation, Tool, Toolkit } from "@assent/ai"
import { ScriptedModel } from "@assent/ai/testing"
import { Decider, UiMessageStream } from "@assent/web"
import { Console, Effect, Layer, Schema } from "effect"
import { HttpRouter } from "effect/http"

const DeleteFile = Tool.make("DeleteFile", {
  parameters: { path: Schema.String },
  success: Schema.String,
  needsApproval: true
})
const toolkit = Toolkit.make(DeleteFile)
const Handlers = toolkit.toLayer({ DeleteFile: ({ path }) => Effect.as(Console.log(`deleting ${path}`), "deleted") })

// Any provider's model stands here; this one follows a script, so that no key is needed.
const Model = ScriptedModel.layer({
  turns: [
    [ScriptedModel.toolCall({ id: "call-1", name: "DeleteFile", params: { path: "debug.log" } })],
    "debug.log is gone."
  ]
})

// Who makes a request, your program knows: from a session, a token, whatever it has. What is posted never says it.
const sessions = new Map([["s-1", { id: "ada", name: "Ada" }]])
const People = Decider.layer((request) => {
  const person = sessions.get(request.cookies["session"] ?? "")
  return person === undefined
    ? Effect.fail(new Decider.Refused({ status: 401, message: "Please log in." }))
    : Effect.succeed({ person, scope: { principal: person.id } })
})

const Chat = UiMessageStream.layer({ conversation: (id) => Conversation.make({ id, toolkit }) }).pipe(
  Layer.provide([People, Handlers, Model])
)

const { dispose, handler } = HttpRouter.toWebHandler(Chat, { disableLogger: true })

// The rest plays the page: `useChat` posts this, and reads what is sent.
const post = async (role: string, part: object) => {
  const body = JSON.stringify({ id: "chat-1", messages: [{ id: `${role}-1`, role, parts: [part] }] })
  const headers = { "content-type": "application/json", cookie: "session=s-1" }
  const response = await handler(new Request("http://localhost/api/chat", { method: "POST", headers, body }))
  return [...(await response.text()).matchAll(/^data: ({.*})$/gm)].map(([, chunk = ""]) => JSON.parse(chunk))
}

const asked = await post("user", { type: "text", text: "Clean up." })
const { approvalId, reason, toolCallId } = asked.find(({ type }) => type === "tool-approval-request")
console.log(`May it? ${reason}`)

const approval = { id: approvalId, approved: true }
const answered = await post("assistant", { type: "tool-DeleteFile", toolCallId, state: "approval-responded", approval })
console.log(answered.flatMap(({ delta = "" }) => delta).join(""))

await dispose()
