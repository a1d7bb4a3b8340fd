// The server: an agent that asks before it deletes, the routes that `useChat` speaks to, and the page.
import { Conversation, type Prompt, Tool, Toolkit } from "@assent/ai"
import { ScriptedModel } from "@assent/ai/testing"
import { SqlApproval } from "@assent/sql"
import { Decider, UiMessageStream } from "@assent/web"
import { NodeHttpServer, NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Effect, Layer, Schema } from "effect"
import { HttpRouter, HttpServerResponse, HttpStaticServer } from "effect/http"
import { createServer } from "node:http"

const DeleteFile = Tool.make("DeleteFile", {
  parameters: { path: Schema.String },
  success: Schema.String,
  needsApproval: true
})
const toolkit = Toolkit.make(DeleteFile)
const Handlers = toolkit.toLayer({ DeleteFile: ({ path }) => Effect.as(Console.log(`deleting ${path}`), "deleted") })

// Any provider's model stands here. This one needs no key: it deletes each file whose name it is told.
const answer = ({ prompt }: { readonly prompt: Prompt.Prompt }) => {
  const last = prompt.content.at(-1)
  if (last?.role === "tool") {
    return last.content.flatMap((part) =>
      part.type === "tool-result" ? [part.isFailure ? "That one stays. " : "It is gone. "] : []
    ).join("")
  }
  const said = last?.role === "user" ? last.content.map((part) => part.type === "text" ? part.text : "").join(" ") : ""
  const paths = said.match(/[\w-]+\.\w+/g) ?? []
  return paths.length === 0
    ? "Which file shall I delete?"
    : paths.map((path, index) =>
      ScriptedModel.toolCall({ id: `call-${prompt.content.length}-${index}`, name: "DeleteFile", params: { path } })
    )
}
const Model = ScriptedModel.layer({ turns: [answer], afterLastTurn: "repeat" })

// Who makes a request, your program knows from its login. What is posted never says it. This login is made up.
const sessions = new Map([["s-1", { id: "ada", name: "Ada" }]])
const People = Decider.layer(({ cookies }) => {
  const person = sessions.get(cookies["session"] ?? "")
  return person === undefined
    ? Effect.fail(new Decider.Refused({ status: 401, message: "Please log in." }))
    : Effect.succeed({ person, scope: { principal: person.id } })
})
const Login = HttpRouter.add(
  "GET",
  "/login",
  HttpServerResponse.setCookieUnsafe(HttpServerResponse.redirect("/"), "session", "s-1", {
    httpOnly: true,
    path: "/",
    sameSite: "strict"
  })
)

const Chat = UiMessageStream.layer({ conversation: (id) => Conversation.make({ id, toolkit }) })
const Page = HttpStaticServer.layer({ root: "dist" })

// Requests and conversations outlive the program in this file.
const Kept = SqlApproval.layer({ filename: "chat.db" })

const Server = HttpRouter.serve(Layer.mergeAll(Chat, Login, Page), { disableLogger: true }).pipe(
  Layer.provide([People, Handlers, Model, Kept]),
  Layer.provide(NodeHttpServer.layer(createServer, {
    host: "127.0.0.1",
    port: Number(process.env["PORT"] ?? 3000),
    gracefulShutdownTimeout: "1 second" // an open page does not hold up Ctrl-C
  })),
  Layer.provide(NodeServices.layer)
)
NodeRuntime.runMain(Layer.launch(Server))
