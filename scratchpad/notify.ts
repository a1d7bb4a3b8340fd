/**
 * Tells a chat, a pager or a mailer what waits and what became of it: each event is posted to a webhook, signed, and again
 * until it is taken, also by the next process. The end of this program plays the chat, which is down at first. With
 * `DATABASE_URL` and `ASSENT_APPROVAL_KEY` everything is kept in PostgreSQL.
 */
import { Approval, Conversation, OpenRequests, Tool, Toolkit } from "@assent/ai"
import { ScriptedModel } from "@assent/ai/testing"
import { SqlApproval } from "@assent/sql"
import { PgClient } from "@effect/sql-pg"
import { Console, Effect, Fiber, Layer, Redacted, Schema } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest, HttpClientResponse } from "effect/http"
import * as assert from "node:assert"
import { createHmac } from "node:crypto"
import { createServer } from "node:http"
import { text } from "node:stream/consumers"

const secret = "what the chat and this program share"
const sign = (body: string) => createHmac("sha256", secret).update(body).digest("hex")

const words = (event: OpenRequests.Event): string => {
  if (event.kind === "missed") return "Some news is lost; look at what is open."
  const what = `${event.request.description} (${event.scope.principal})`
  if (event.kind !== "decided") return event.kind === "opened" ? `Waits: ${what}` : `Too late: ${what}`
  return `${event.decision} by ${event.decidedBy?.name ?? "nobody"}: ${what}`
}

/** Whoever gets a cursor twice has had it before. */
const notify = (url: string) =>
  OpenRequests.follow("chat", (event) => {
    const body = JSON.stringify({ id: event.cursor, text: words(event) })
    return HttpClientRequest.post(url).pipe(
      HttpClientRequest.bodyText(body, "application/json"),
      HttpClientRequest.setHeader("x-signature", sign(body)),
      HttpClient.execute,
      Effect.flatMap(HttpClientResponse.filterStatusOk)
    )
  }, { every: "100 millis" })

// =============================================================================
// The chat, and what happens in it
// =============================================================================

const database = process.env["DATABASE_URL"]
const Kept = database === undefined
  ? SqlApproval.layer({ filename: ":memory:" })
  : Layer.provide(SqlApproval.layerPg(), PgClient.layer({ url: Redacted.make(database) }))

const heard: Array<string> = []
let isUp = false
const chat = createServer(async (request, response) => {
  const body = await text(request)
  const isOurs = request.headers["x-signature"] === sign(body)
  if (isUp && isOurs) console.log(heard[heard.push(JSON.parse(body).text) - 1])
  response.writeHead(isUp && isOurs ? 204 : 503).end()
  isUp = true
})
await new Promise<void>((resolve) => chat.listen(0, "127.0.0.1", resolve))
const address = chat.address()
const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`

const Refund = Tool.make("Refund", {
  parameters: { euros: Schema.Number },
  success: Schema.String,
  needsApproval: true
})
const toolkit = Toolkit.make(Refund)

const program = Effect.gen(function*() {
  const notifying = yield* Effect.forkChild(notify(url))
  const ticket = yield* Conversation.make({ id: "ticket-7", toolkit })
  const outcome = yield* ticket.send("I want my money back.")
  if (outcome._tag === "Waiting") {
    yield* ticket.decide(outcome.requests.map((request) => Approval.approve(request)), {
      by: { id: "ada", name: "Ada" }
    })
  }
  while (heard.length < 2) yield* Effect.sleep("50 millis")
  yield* Fiber.interrupt(notifying)
  assert.match(heard.join("\n"), /^Waits: .*20.*\(bob\)\napproved by Ada: /)
  yield* Console.log("Told once each, though the chat was down at first.")
}).pipe(
  Effect.provideService(Approval.Scope, { principal: "bob" }),
  Effect.provide(Layer.mergeAll(
    toolkit.toLayer({ Refund: ({ euros }) => Effect.succeed(`paid ${euros}`) }),
    ScriptedModel.layer({
      turns: [
        [ScriptedModel.toolCall({ id: "call-1", name: "Refund", params: { euros: 20 } })],
        "You have got it back."
      ]
    }),
    Kept,
    FetchHttpClient.layer
  ))
)

await Effect.runPromise(program)
chat.close()
