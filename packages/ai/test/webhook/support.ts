/** What tests of webhooks share: a payment that waits for the call of a payment service, in a conversation. */
import { Effect, Redacted, Schema, type Scope } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import {
  ApprovalJournal,
  ApprovalSeal,
  type Approver,
  Conversation,
  DeferredTool,
  Interaction,
  LanguageModel,
  Store,
  SuspensionStore,
  Toolkit,
  Webhook
} from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"

const even = Schema.makeFilter<number>((amount) => amount % 2 === 0, { expected: "an even amount" })

/** `amount` is a number in a text, and an even one: which a JSON Schema cannot say. */
export const Pay = DeferredTool.make("Pay", {
  parameters: { amount: Schema.Number },
  success: Schema.String,
  state: Schema.Number,
  interactions: {
    paid: Interaction.webhook(
      Schema.Struct({ id: Schema.String.check(Schema.isMaxLength(20)), amount: Schema.FiniteFromString.check(even) })
    )
  }
})

export const toolkit = Toolkit.make(Pay)

/** The body of a call that fits. */
export const good = JSON.stringify({ id: "p-1", amount: "20", more: "is no harm" })

/** A conversation that waits for the payment service, and the token that the service was given. */
export const makeWorld = (options?: {
  readonly expiresIn?: number
  readonly approvers?: Approver.Approvers
  readonly store?: Store.Store
}): Effect.Effect<World, never, Scope.Scope> =>
  Effect.gen(function*() {
    const store = options?.store ?? (yield* Store.makeMemory())
    const suspensions = SuspensionStore.make({ store })
    const tokens: Array<Redacted.Redacted> = []
    const paid: Array<unknown> = []
    const deciders: Array<Approver.DecidedBy> = []
    const script = yield* ScriptedModel.make({
      turns: [[ScriptedModel.toolCall({ id: "call-1", name: "Pay", params: { amount: 20 } })], "Paid."],
      afterLastTurn: "Yes?"
    })
    const conversation = yield* Conversation.make({ id: "c1", toolkit }).pipe(
      Effect.provide(toolkit.toLayer({
        Pay: DeferredTool.handler(Pay, {
          start: ({ amount }) =>
            Effect.gen(function*() {
              const token = yield* Webhook.makeToken
              tokens.push(token)
              const { approvers, expiresIn } = options ?? {}
              return yield* Pay.suspend.paid({ token, prompt: "the payment", expiresIn, approvers }, amount)
            }),
          resume: {
            paid: (payment, amount, { decidedBy }) =>
              Effect.sync(() => {
                paid.push(payment)
                deciders.push(decidedBy)
                return `${payment.id} of ${amount}`
              })
          }
        })
      })),
      Effect.provideService(LanguageModel.LanguageModel, script.model),
      Effect.provideService(SuspensionStore.SuspensionStore, suspensions),
      Effect.provideService(ApprovalJournal.ApprovalJournal, yield* ApprovalJournal.make({ store, grace: 0 })),
      Effect.provide(ApprovalSeal.layer({ key: "the key of webhook tests, of 32 bytes" })),
      Effect.orDie
    )
    yield* Effect.orDie(conversation.send("Pay 20."))
    return { conversation, deciders, paid, script, store, suspensions, token: tokens[0]! }
  })

export interface World {
  readonly conversation: Conversation.Conversation<Toolkit.Tools<typeof toolkit>>
  /** Who answered, as the handler was told. */
  readonly deciders: ReadonlyArray<Approver.DecidedBy>
  readonly paid: ReadonlyArray<unknown>
  readonly script: ScriptedModel.ScriptedModel
  readonly store: Store.Store
  readonly suspensions: SuspensionStore.Service
  readonly token: Redacted.Redacted
}

export interface Call {
  readonly method?: string
  readonly body?: BodyInit
  readonly headers?: Record<string, string>
  /** What the path ends with: the token, where nothing is said. */
  readonly path?: string
}

export interface Answered {
  readonly status: number
  readonly body: string
  readonly headers: Headers
}

/** Calls the handler of a world, in its own time. */
export const call = <E>(
  { suspensions, token }: World,
  options: Webhook.Options<E>,
  { body = good, headers, method = "POST", path = Redacted.value(token) }: Call = {}
): Effect.Effect<Answered> =>
  Effect.gen(function*() {
    const request = new Request(`http://localhost/hooks/${path}`, {
      method,
      ...(headers === undefined ? undefined : { headers }),
      ...(method === "GET" || method === "HEAD" ? undefined : { body, duplex: "half" })
    } as RequestInit)
    const response = yield* Webhook.handler(options).pipe(
      Effect.provideService(HttpServerRequest.HttpServerRequest, HttpServerRequest.fromWeb(request)),
      Effect.provideService(SuspensionStore.SuspensionStore, suspensions)
    )
    const web = HttpServerResponse.toWeb(response)
    return { status: web.status, headers: web.headers, body: yield* Effect.promise(() => web.text()) }
  })
