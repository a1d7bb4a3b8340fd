/**
 * A tool that waits for a payment service. It gives the service an address with a token of its own and waits; the service
 * calls over HTTP, impatient as they are three times at once, and the conversation goes on once. Whoever does not know
 * the token is told nothing.
 */
import { Conversation, DeferredTool, Interaction, Toolkit, Webhook } from "@assent/ai"
import { ScriptedModel } from "@assent/ai/testing"
import { NodeHttpServer, NodeRuntime } from "@effect/platform-node"
import { Context, Deferred, Effect, Layer, Redacted, Ref, Schema } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { createServer } from "node:http"
import * as Story from "./waiting/story.ts"

/** The payment service: it is told where to call, and calls when the customer has paid. */
class Payments extends Context.Service<Payments, {
  readonly begin: (amount: number, callback: Redacted.Redacted) => Effect.Effect<void>
  readonly callback: Effect.Effect<Redacted.Redacted>
}>()("Payments") {
  static readonly layer = Layer.effect(
    this,
    Effect.gen(function*() {
      const callback = yield* Ref.make(Redacted.make(""))
      return { begin: (_, address) => Ref.set(callback, address), callback: Ref.get(callback) }
    })
  )
}

const Pay = DeferredTool.make("Pay", {
  description: "Lets the customer pay",
  parameters: { amount: Schema.Number },
  success: Schema.String,
  state: Schema.Number,
  interactions: { paid: Interaction.webhook(Schema.Struct({ reference: Schema.String, amount: Schema.Number })) }
})

const toolkit = Toolkit.make(Pay)

const Handlers = toolkit.toLayer(Effect.gen(function*() {
  const payments = yield* Payments
  const base = yield* HttpServer.addressFormattedWith((address) => Effect.succeed(`${address}/payments`))
  return {
    Pay: DeferredTool.handler(Pay, {
      start: ({ amount }) =>
        Effect.gen(function*() {
          const token = yield* Webhook.makeToken
          yield* payments.begin(amount, Webhook.address(base, token))
          return yield* Pay.suspend.paid({ token, prompt: `$${amount} from the customer`, expiresIn: "1 hour" }, amount)
        }),
      resume: {
        paid: (payment, amount) =>
          Effect.succeed(payment.amount === amount ? `paid as ${payment.reference}` : "paid too little")
      }
    })
  }
}))

const Model = ScriptedModel.layer({
  turns: [[ScriptedModel.toolCall({ id: "call-1", name: "Pay", params: { amount: 100 } })], Story.lastResult]
})

const program = Effect.gen(function*() {
  const conversation = yield* Conversation.make({ id: "shop", toolkit })
  const woken = yield* Deferred.make<Effect.Success<typeof conversation.wake>>()
  // With more than one conversation, `suspension.scope.conversation` says which one to wake.
  const wake = Effect.flatMap(conversation.wake, (outcome) => Deferred.succeed(woken, outcome))
  yield* Layer.build(
    HttpRouter.serve(Webhook.layer("/payments", { wake: () => wake, toolkit }), { disableListenLog: true }).pipe(
      Layer.provide(Webhook.layerUntraced("/payments"))
    )
  )

  yield* Story.line("you", "I take the lamp.")
  yield* Story.waits(yield* conversation.send("I take the lamp."))

  const address = Redacted.value(yield* Payments.use(({ callback }) => callback))
  const post = (url: string, body: unknown) =>
    Effect.promise(() => fetch(url, { method: "POST", body: JSON.stringify(body) }).then(({ status }) => status))
  const paid = { reference: "P-17", amount: 100 }

  const guessed = yield* post(address.replace(/[^/]+$/, "guessed"), paid)
  yield* Story.line("stranger", `calls with a guessed token: ${guessed}`)
  const wrong = yield* post(address, { reference: "P-17" })
  yield* Story.line("service", `forgets the amount: ${wrong}`)
  const calls = yield* Effect.all([post(address, paid), post(address, paid), post(address, paid)], { concurrency: 3 })
  yield* Story.line("service", `calls three times at once: ${calls.toSorted().join(", ")}`)
  yield* Story.says(yield* Deferred.await(woken), "paid as P-17")
  const late = yield* post(address, paid)
  yield* Story.line("service", `calls again, much later: ${late}`)

  yield* Story.expect(guessed === 404 && wrong === 400 && late === 410, "A call was answered wrongly.")
  yield* Story.expect(calls.filter((status) => status === 202).length === 1, "It was not accepted exactly once.")
  yield* Story.expect(!JSON.stringify(yield* conversation.history).includes(address.split("/").at(-1)!), "It leaked.")
})

const Server = NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" })

program.pipe(
  Effect.scoped,
  Effect.provide(Handlers.pipe(Layer.provideMerge(Layer.mergeAll(Payments.layer, Server, Model)))),
  NodeRuntime.runMain
)
