/**
 * A ticket in which something is asked and approved, and a chat that is told of it: one that takes what was signed, and is down
 * at first. With `DATABASE_URL` and `ASSENT_APPROVAL_KEY` everything is kept in PostgreSQL.
 */
import { Approval, Conversation, Tool, Toolkit, Webhook } from "@assent/ai"
import { ScriptedModel } from "@assent/ai/testing"
import { SqlApproval } from "@assent/sql"
import { PgClient } from "@effect/sql-pg"
import { Console, Effect, Fiber, Layer, Redacted, Schema } from "effect"
import { FetchHttpClient, type HttpClient } from "effect/http"
import * as assert from "node:assert"
import { createServer } from "node:http"
import { text } from "node:stream/consumers"

const secret = "what the chat and this program share"
const verify = Webhook.signature({ secret: Redacted.make(secret), header: "x-signature" })

const database = process.env["DATABASE_URL"]
const Kept = database === undefined
  ? SqlApproval.layer({ filename: ":memory:" })
  : Layer.provide(SqlApproval.layerPg(), PgClient.layer({ url: Redacted.make(database) }))

const heard: Array<string> = []
let isUp = false
const chat = createServer(async (request, response) => {
  const body = await text(request)
  const isOurs = await Effect.runPromise(verify(body, { "x-signature": String(request.headers["x-signature"]) }))
  if (isUp && isOurs) console.log(heard[heard.push(JSON.parse(body).text) - 1])
  response.writeHead(isUp && isOurs ? 204 : 503).end()
  isUp = true
})

const Refund = Tool.make("Refund", {
  parameters: { euros: Schema.Number },
  success: Schema.String,
  needsApproval: true
})
const toolkit = Toolkit.make(Refund)

/** Until the chat has heard of the request and of its decision. */
export const play = async <E>(
  notify: (url: string, secret: string) => Effect.Effect<unknown, E, HttpClient.HttpClient>
): Promise<void> => {
  await new Promise<void>((resolve) => chat.listen(0, "127.0.0.1", resolve))
  const address = chat.address()
  const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`
  const program = Effect.gen(function*() {
    const notifying = yield* Effect.forkChild(notify(url, secret))
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
  })
  await Effect.runPromise(program.pipe(
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
  ))
  chat.close()
}
