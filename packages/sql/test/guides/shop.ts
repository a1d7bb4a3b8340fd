// A tool that waits three times: for the customer, for a payment service, and for a moment in time.
import { Conversation, DeferredTool, Interaction, SuspensionStore, Toolkit, Webhook } from "@assent/ai"
import { ScriptedModel } from "@assent/ai/testing"
import { SqlApproval } from "@assent/sql"
import { NodeHttpServer, NodeRuntime } from "@effect/platform-node"
import { Console, Duration, Effect, Layer, Redacted, Schema } from "effect"
import { HttpRouter } from "effect/http"
import { createServer } from "node:http"

const [command, chat = "", text = "", seconds = "3600"] = process.argv.slice(2)
const port = Number(process.env["PORT"] ?? 4000)

const Order = DeferredTool.make("Order", {
  description: "Orders something for the customer",
  parameters: { what: Schema.String },
  success: Schema.String,
  // What it remembers while it waits. Neither the model nor a page sees it.
  state: Schema.String,
  interactions: {
    colour: Interaction.askUser,
    paid: Interaction.webhook(Schema.Struct({ reference: Schema.String })),
    sent: Interaction.timer
  }
})

const toolkit = Toolkit.make(Order)
const Handlers = toolkit.toLayer({
  Order: DeferredTool.handler(Order, {
    // Each `suspend` takes what it asks, and what the tool remembers until then.
    start: ({ what }) => Order.suspend.colour({ prompt: `Which colour shall the ${what} have?` }, what),
    // Each of these gets the answer, and what the tool remembered.
    resume: {
      colour: (colour, what) =>
        Effect.gen(function*() {
          const token = yield* Webhook.makeToken
          const address = Webhook.address(`http://localhost:${port}/payments`, token)
          // A payment service is told this address. Whoever knows it can say that it is paid, so you keep it secret.
          yield* Console.log(`(the payment service shall call ${Redacted.value(address)})`)
          const prompt = `Waiting for the payment of a ${what}.`
          return yield* Order.suspend.paid(
            { token, prompt, expiresIn: Duration.seconds(Number(seconds)) },
            `${what} (${colour})`
          )
        }),
      paid: ({ reference }, what) =>
        Order.suspend.sent({ after: "2 seconds", prompt: `Packing a ${what}.` }, `${what}, paid as ${reference}`),
      sent: (_, what) => Effect.succeed(`We sent: ${what}.`)
    },
    expired: {
      paid: (what) => Effect.succeed(`Nobody paid in time. Not ordered: ${what}.`)
    }
  })
})

// Any provider's model stands here. Whatever a customer says, it orders a lamp, and later says what came of it.
const Model = ScriptedModel.layer({
  turns: [({ prompt }) => {
    const last = prompt.content.at(-1)
    const part = last?.role === "tool" ? last.content[0] : undefined
    return part?.type === "tool-result"
      ? String(part.result)
      : [ScriptedModel.toolCall({ id: "call-1", name: "Order", params: { what: "lamp" } })]
  }],
  afterLastTurn: "repeat"
})

const open = (id: string) => Conversation.make({ id, toolkit })

// The customer says something: that begins a turn, or answers what a tool waits for.
const say = Effect.gen(function*() {
  const conversation = yield* open(chat)
  const outcome = yield* conversation.send(text)
  // What is open says what is waited for. If nothing is, the model has said something.
  const lines = outcome._tag === "Waiting" ? outcome.requests.map(({ awaited }) => awaited?.prompt) : [outcome.text]
  for (const line of lines) yield* Console.log(`${chat}: ${line}`)
})

// A call or a timer lets the conversation that it is for go on, whichever process it was begun in.
const wake = ({ scope: { conversation: id = "" } }: SuspensionStore.Suspension) =>
  Effect.gen(function*() {
    const conversation = yield* open(id)
    const outcome = yield* conversation.wake
    // It may wait for something else now, or another process was faster: a turn too many does nothing.
    if (outcome?._tag === "Completed") yield* Console.log(`${id}: ${outcome.text}`)
  })

const serve = Effect.gen(function*() {
  yield* Effect.forkScoped(SuspensionStore.watchTimers(wake))
  return yield* Layer.launch(
    HttpRouter.serve(Webhook.layer("/payments", { wake, toolkit }), { disableLogger: true }).pipe(
      Layer.provide(Webhook.layerUntraced("/payments")), // the address is a secret, so no trace has it
      Layer.provide(
        NodeHttpServer.layer(createServer, { host: "127.0.0.1", port, gracefulShutdownTimeout: "1 second" })
      )
    )
  )
}).pipe(Effect.scoped)

const program = Effect.gen(function*() {
  if (command === "serve") yield* serve
  else if (command === "say" && chat !== "" && text !== "") yield* say
  else yield* Console.log("node shop.ts say <conversation> <text> [seconds to pay in], or node shop.ts serve")
})
const Everything = Layer.mergeAll(Handlers, Model, SqlApproval.layer({ filename: "shop.db" }))
NodeRuntime.runMain(Effect.provide(program, Everything))
