/**
 * A web page asks: it sends a message, shows what waits for approval, and posts a person's answers as plain JSON. The end
 * of this program plays the page. `SqlApproval.layer({ filename })` beside the model keeps all this over restarts.
 */
import { Conversation, Prompt, Tool, Toolkit } from "@assent/ai"
import { ScriptedModel } from "@assent/ai/testing"
import { Console, Effect, Layer, ManagedRuntime, Schema } from "effect"
import { createServer } from "node:http"
import { json } from "node:stream/consumers"

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

const runtime = ManagedRuntime.make(Layer.merge(Handlers, Model))

// Your program finds out who is logged in. What is posted never says it.
const conversationOf = (person: { readonly id: string }) => Conversation.make({ id: person.id, toolkit })

const respond = (route: string, body: unknown, person: { readonly id: string }) =>
  Effect.gen(function*() {
    const conversation = yield* conversationOf(person)
    if (route === "GET /pending") return yield* conversation.pending()
    const outcome = route === "POST /answers"
      ? yield* conversation.decide(yield* Prompt.readAnswers(body), { by: person })
      : yield* conversation.send(String(body))
    // Each answer that had no effect, with why; the others counted.
    const refused = outcome.refused.map(({ approvalId, error }) => ({ approvalId, error: error.message }))
    return { text: outcome.text, requests: outcome._tag === "Waiting" ? outcome.requests : [], refused }
  }).pipe(
    Effect.map((value) => ({ status: 200, value })),
    // What is no answer, or comes twice, changes nothing, and the message says why. All else failed at the provider.
    Effect.catch(({ _tag, message }) =>
      Effect.succeed({ status: _tag === "ApprovalError" ? 400 : 502, value: { error: message } })
    )
  )

const server = createServer(async (request, response) => {
  const body = request.method === "POST" ? await json(request).catch(() => undefined) : undefined
  const { status, value } = await runtime.runPromise(respond(`${request.method} ${request.url}`, body, { id: "ada" }))
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value))
})

// The page.
await new Promise<void>((resolve) => server.listen(0, resolve))
const address = server.address()
const base = `http://localhost:${typeof address === "object" ? address?.port : ""}`
const post = async (path: string, body: unknown) =>
  console.log(await (await fetch(base + path, { method: "POST", body: JSON.stringify(body) })).json())

await post("/messages", "Delete debug.log and thesis.txt.")
const pending: Array<{ approvalId: string; description: string }> = await (await fetch(`${base}/pending`)).json()
await post("/answers", { approvalId: pending[0]?.approvalId, approved: "maybe" })
await post(
  "/answers",
  pending.map(({ approvalId, description }) =>
    description.includes("thesis") ? { approvalId, approved: false, reason: "keep it" } : { approvalId, approved: true }
  )
)
await post("/answers", { approvalId: pending[0]?.approvalId, approved: true })

server.close()
await runtime.dispose()
