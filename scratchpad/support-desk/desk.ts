/** The tools of the support desk, and what they do in the world: each step is written to a log, so that a second time shows. */
import { DeferredTool, Interaction, Tool, Toolkit, Webhook } from "@assent/ai"
import { Context, Effect, FileSystem, Redacted, Schema } from "effect"

/** The folder that everything is kept in. */
export class Desk extends Context.Service<Desk, { readonly directory: string }>()("Desk") {}

const order = { order: Schema.String }

const LookUp = Tool.make("LookUp", {
  description: "Looks an order up",
  parameters: order,
  success: Schema.Struct({ item: Schema.String, price: Schema.Number })
}).annotate(Tool.Readonly, true)

const Refund = Tool.make("Refund", {
  description: "Refunds money to a customer",
  parameters: { ...order, amount: Schema.Number },
  success: Schema.String,
  needsApproval: true
})

const AskCustomer = DeferredTool.make("AskCustomer", {
  description: "Asks the customer a question",
  parameters: { question: Schema.String },
  success: Schema.String,
  interactions: { reply: Interaction.askUser }
})

export const Goodwill = DeferredTool.make("Goodwill", {
  description: "Sends a gift, if two people agree",
  parameters: { gift: Schema.String },
  success: Schema.String,
  state: Schema.Struct({ gift: Schema.String, agreed: Schema.Array(Schema.String) }),
  interactions: {
    manager: Interaction.describe(Interaction.getApproval, "The consent of a manager"),
    director: Interaction.describe(Interaction.getApproval, "The consent of a director")
  }
})

const Collect = DeferredTool.make("Collect", {
  description: "Has a parcel collected, and waits until the carrier has it",
  parameters: order,
  success: Schema.String,
  interactions: { collected: Interaction.webhook(Schema.Struct({ parcel: Schema.String })) }
})

const FollowUp = DeferredTool.make("FollowUp", {
  description: "Comes back to the customer later",
  parameters: { about: Schema.String },
  success: Schema.String,
  state: Schema.String,
  interactions: { later: Interaction.timer }
})

export const toolkit = Toolkit.make(LookUp, Refund, AskCustomer, Goodwill, Collect, FollowUp)

export const Handlers = toolkit.toLayer(Effect.gen(function*() {
  const { directory } = yield* Desk
  const fs = yield* FileSystem.FileSystem
  const log = (step: string) => Effect.orDie(fs.writeFileString(`${directory}/log`, `${step}\n`, { flag: "a" }))
  return {
    LookUp: () => Effect.as(log("look up"), { item: "a lamp", price: 120 }),
    Refund: ({ amount, order }) => Effect.as(log(`refund ${amount}`), `$${amount} refunded for ${order}`),
    AskCustomer: DeferredTool.handler(AskCustomer, {
      start: ({ question }) => Effect.andThen(log("ask"), AskCustomer.suspend.reply({ prompt: question })),
      resume: { reply: (text) => Effect.as(log("reply"), `the customer says: ${text}`) }
    }),
    Goodwill: DeferredTool.handler(Goodwill, {
      start: ({ gift }) =>
        Effect.andThen(
          log("goodwill"),
          Goodwill.suspend.manager({ prompt: `Manager: may we send ${gift}?` }, { gift, agreed: [] })
        ),
      resume: {
        manager: ({ approved }, { gift }) =>
          Effect.gen(function*() {
            yield* log("manager")
            if (!approved) return "no gift"
            return yield* Goodwill.suspend.director({ prompt: `Director: may we send ${gift}?` }, {
              gift,
              agreed: ["manager"]
            })
          }),
        director: ({ approved, note }, { agreed, gift }) =>
          Effect.as(
            log("director"),
            approved ? `${gift}, agreed by ${[...agreed, "director"].join(" and ")}: ${note}` : "no gift"
          )
      }
    }),
    Collect: DeferredTool.handler(Collect, {
      start: ({ order }) =>
        Effect.gen(function*() {
          yield* log("collect")
          const token = yield* Webhook.makeToken
          // What the carrier is told, and nobody else.
          const address = Redacted.value(Webhook.address("/carrier", token))
          yield* Effect.orDie(fs.writeFileString(`${directory}/carrier`, address))
          return yield* Collect.suspend.collected({ token, prompt: `the parcel of ${order}` })
        }),
      resume: { collected: ({ parcel }) => Effect.as(log(`collected ${parcel}`), `the carrier has ${parcel}`) }
    }),
    FollowUp: DeferredTool.handler(FollowUp, {
      start: ({ about }) =>
        Effect.andThen(log("follow up"), FollowUp.suspend.later({ after: "300 millis", prompt: about }, about)),
      resume: { later: (_, about) => Effect.as(log("later"), `it is time to ask about ${about}`) }
    })
  }
}))
