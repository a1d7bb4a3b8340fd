/**
 * A program's own HTTP API with conversations in it: who asks and decides, its bearer tokens say, and the typed client comes
 * of the API. Server and client are both in here, over a real port. `SqlApproval.layer({ filename })` beside the model
 * keeps all this over restarts.
 */
import { Approval, Conversation, Tool, Toolkit } from "@assent/ai"
import { ScriptedModel } from "@assent/ai/testing"
import { ConversationProxy, ConversationProxyServer, Decider } from "@assent/web"
import { NodeHttpServer, NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Layer, Redacted, Schema, Stream } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest, HttpRouter, HttpServer } from "effect/http"
import { HttpApi, HttpApiBuilder, HttpApiClient, HttpApiMiddleware, HttpApiSecurity } from "effect/http-api"
import { createServer } from "node:http"

// What server and clients share.

class Authorization extends HttpApiMiddleware.Service<Authorization, { provides: Decider.Current }>()(
  "Authorization",
  { security: { bearer: HttpApiSecurity.bearer }, error: Decider.refusals }
) {}

class Api extends HttpApi.make("api").add(
  ConversationProxy.toHttpApiGroup("chat", { middleware: Authorization })
) {}

// The server.

const DeleteFile = Tool.make("DeleteFile", {
  parameters: { path: Schema.String },
  success: Schema.String,
  needsApproval: true
})
const toolkit = Toolkit.make(DeleteFile)
const Handlers = toolkit.toLayer({ DeleteFile: ({ path }) => Effect.as(Console.log(`deleting ${path}`), "deleted") })

// Any provider's model stands here; this one follows a script, so that no key is needed.
const calls = ["debug.log", "thesis.txt"].map((path) =>
  ScriptedModel.toolCall({ id: path, name: "DeleteFile", params: { path } })
)
const Model = ScriptedModel.layer({ turns: [calls, "debug.log is gone; thesis.txt stays."] })

const tokens = new Map([["t-1", { id: "ada", name: "Ada" }], ["t-2", { id: "bob", name: "Bob" }]])

const AuthorizationLive = Layer.succeed(Authorization, {
  bearer: (effect, { credential }) => {
    const person = tokens.get(Redacted.value(credential))
    return person === undefined
      ? Effect.fail(new Decider.Refused({ status: 401, message: "Please log in." }))
      : Effect.provideService(effect, Decider.Current, { person, scope: { tenant: "acme" } })
  }
})

const Chat = ConversationProxyServer.layerHttpApi(Api, "chat", {
  conversation: (id) => Conversation.make({ id, toolkit }),
  rateLimit: { limit: 60, window: "1 minute" }
}).pipe(Layer.provide([AuthorizationLive, Handlers, Model]))

const Server = HttpRouter.serve(
  HttpApiBuilder.layer(Api, { openapiPath: "/openapi.json" }).pipe(Layer.provide(Chat)),
  { disableLogger: true, disableListenLog: true }
).pipe(Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0 })))

// The client.

const client = (token: string) =>
  Effect.gen(function*() {
    const { address } = yield* HttpServer.HttpServer
    const { chat } = yield* HttpApiClient.make(Api, {
      baseUrl: `http://localhost:${"port" in address ? address.port : ""}`,
      transformClient: HttpClient.mapRequest(HttpClientRequest.bearerToken(token))
    })
    return chat
  })

const program = Effect.gen(function*() {
  const params = { id: "ticket-1" }
  const ada = yield* client("t-1")
  const bob = yield* client("t-2")

  const asking = yield* ada.send({ params, payload: { text: "Clean up.", messageId: "m-1" } })
  yield* Stream.runForEach(
    asking,
    (part) => part.type === "tool-approval-request" ? Console.log(`May it? ${part.request?.description}`) : Effect.void
  )

  // One answer has a status; of several, each has its own fate.
  const [log, thesis] = yield* bob.pending({ params })
  const denied = yield* bob.decide({ params, payload: Approval.deny(thesis!, "It is not mine.") })
  yield* Console.log(`${denied.answers[0]?.decidedBy?.name}: ${denied.answers[0]?.state}`)

  const late = yield* Effect.flip(ada.decide({ params, payload: Approval.approve(thesis!) }))
  if (late._tag === "AlreadyDecided") yield* Console.log(`Too late: ${late.state}, by ${late.decidedBy?.name}`)

  yield* ada.decide({ params, payload: [Approval.approve(log!)] })
  const { messages } = yield* ada.history({ params })
  const [said] = messages.at(-1)?.content ?? []
  yield* Console.log(said?.type === "text" ? said.text : "")
})

NodeRuntime.runMain(program.pipe(Effect.provide([Server, FetchHttpClient.layer])))
