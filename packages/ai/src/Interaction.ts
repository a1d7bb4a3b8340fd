/**
 * What a tool that has begun may wait for: an answer of a person, a call of another system, or a moment in time.
 *
 * A `DeferredTool` declares its interactions by name, so that another process can read an answer that comes next week,
 * and so that the type of each answer is known where it is used. {@link askUser}, {@link getApproval},
 * {@link selectOptions}, {@link selectMany} and {@link form} are answered by people, in the message history or through
 * a controller; {@link webhook}, {@link timer} and {@link external} are not: whatever a history says in their place
 * does not count (law L4).
 *
 * @since 0.1.0
 */
import type * as DateTime from "effect/DateTime"
import type * as Duration from "effect/Duration"
import { dual, identity } from "effect/Function"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type * as Types from "effect/Types"
import type * as Approval from "./Approval.ts"
import type * as Approver from "./Approver.ts"

const TypeId = "~@assent/ai/Interaction" as const

// =============================================================================
// Models
// =============================================================================

/**
 * Something a tool may wait for. `Ask` is what the tool says when it begins to wait, `Answer` what it goes on with.
 *
 * @category models
 * @since 0.1.0
 */
export interface Interaction<in Ask, out Answer> {
  readonly [TypeId]: { readonly _Ask: Types.Contravariant<Ask>; readonly _Answer: Types.Covariant<Answer> }
  readonly kind: Approval.InteractionKind
  /** Whether several options may be chosen. */
  readonly multiple: boolean
  /** What it is for, in `DeferredTool.describe`. */
  readonly description: string | undefined
  /** The schema of the answer, which travels as JSON. */
  readonly answer: Schema.ConstraintCodec<Answer, unknown>
  /** What becomes of it when the user says something new, where the engine supersedes open requests (law L6). */
  readonly onNewMessage: "supersede" | "keep"
}

/**
 * Any interaction.
 *
 * @category models
 * @since 0.1.0
 */
export type Any = Interaction<never, unknown>

/**
 * The interactions of a tool, by their names.
 *
 * @category models
 * @since 0.1.0
 */
export type Record = { readonly [name: string]: Any }

/**
 * What every tool may say when it begins to wait. `expiresIn` is how long it waits (default: what the engine's
 * `expiresIn` says; without one, until it is answered); what becomes of it then, its handler says (`expired`). `approvers` are those who may answer: nobody else's answer counts,
 * and of several lists one person of each has to give the same (law L16). A timer needs nobody.
 *
 * @category models
 * @since 0.1.0
 */
export interface Waiting {
  readonly expiresIn?: Duration.Input | undefined
  readonly approvers?: Approver.Approvers | undefined
}

/**
 * A question in words.
 *
 * @category models
 * @since 0.1.0
 */
export interface Question extends Waiting {
  readonly prompt: string
}

/**
 * An option to choose: its value alone, or with the words that a person sees.
 *
 * @category models
 * @since 0.1.0
 */
export type Option = string | {
  readonly value: string
  readonly label?: string | undefined
  readonly description?: string | undefined
}

/**
 * A question with 1 to 100 options of different values, each at most 256 characters long.
 *
 * @category models
 * @since 0.1.0
 */
export interface Choice extends Question {
  readonly options: ReadonlyArray<Option>
}

/**
 * What somebody who was asked for approval said. In posted JSON its `note` may be called `reason`, as upstream does.
 *
 * @category models
 * @since 0.1.0
 */
export interface Verdict {
  readonly approved: boolean
  readonly note?: string | undefined
}

/**
 * Waiting for another system to call: with the token that was given to it, as `Webhook.makeToken` makes it.
 *
 * @category models
 * @since 0.1.0
 */
export interface WebhookCall extends Waiting {
  readonly token: Redacted.Redacted
  readonly prompt?: string | undefined
}

/**
 * Waiting for a moment: `after` a time from now, or `at` a time.
 *
 * @category models
 * @since 0.1.0
 */
export type Moment =
  & Waiting
  & { readonly prompt?: string | undefined }
  & (
    | { readonly after: Duration.Input; readonly at?: undefined }
    | { readonly at: DateTime.DateTime.Input; readonly after?: undefined }
  )

/**
 * A timer that fired. `dueAt` is when it was to fire and `firedAt` when it did, in milliseconds since
 * 1970-01-01T00:00Z: later, where the program was not running or nobody looked.
 *
 * @category models
 * @since 0.1.0
 */
export interface Fired {
  readonly dueAt: number
  readonly firedAt: number
}

/**
 * Waiting for something that the program itself will tell, with `DeferredTool.deliver`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Event extends Waiting {
  readonly prompt?: string | undefined
}

/**
 * What a tool says when it begins to wait for an interaction.
 *
 * @category utility types
 * @since 0.1.0
 */
export type Ask<I> = I extends Interaction<infer Ask, infer _Answer> ? Ask : never

/**
 * What a tool goes on with once an interaction was answered.
 *
 * @category utility types
 * @since 0.1.0
 */
export type Answer<I> = I extends Interaction<infer _Ask, infer Answer> ? Answer : never

// =============================================================================
// Constructors
// =============================================================================

const make = <Ask, Answer>(
  fields: Pick<Interaction<Ask, Answer>, "kind" | "answer" | "onNewMessage"> & { readonly multiple?: boolean }
): Interaction<Ask, Answer> => ({
  [TypeId]: { _Ask: identity, _Answer: identity },
  multiple: false,
  description: undefined,
  ...fields
})

const SomeText = Schema.String.check(Schema.isPattern(/\S/, { expected: "a text that is not blank" }))

/**
 * Asks a person for a text.
 *
 * @example
 * import { Approval, ApprovalController, DeferredTool, Interaction, LanguageModel, Toolkit } from "@assent/ai"
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect, Schema } from "effect"
 *
 * const Book = DeferredTool.make("Book", { success: Schema.String, interactions: { when: Interaction.askUser } })
 * const toolkit = Toolkit.make(Book)
 * const Handlers = toolkit.toLayer({
 *   Book: DeferredTool.handler(Book, {
 *     start: () => Book.suspend.when({ prompt: "When do you want to come?" }),
 *     resume: { when: (day) => Effect.succeed(`booked for ${day}`) }
 *   })
 * })
 * const Person = ApprovalController.layerInteractive((request) => Approval.answer(request, "Monday"))
 *
 * const program = LanguageModel.generateText({ prompt: "A table for two.", toolkit }).pipe(
 *   Effect.map(({ toolResults }) => toolResults[0]?.result),
 *   Effect.provide([Handlers, Person]),
 *   Effect.provide(ScriptedModel.layer({ turns: [[ScriptedModel.toolCall({ id: "1", name: "Book", params: {} })]] }))
 * )
 *
 * await Effect.runPromise(program) // => "booked for Monday"
 *
 * @category interactions
 * @since 0.1.0
 */
export const askUser: Interaction<Question, string> = make({
  kind: "askUser",
  answer: SomeText,
  onNewMessage: "supersede"
})

/**
 * Asks a person for a yes or a no. Both are answers that the tool goes on with: `Approval.deny` does not end the call.
 *
 * @example
 * import { Approval, ApprovalController, DeferredTool, Interaction, LanguageModel, Toolkit } from "@assent/ai"
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect, Schema } from "effect"
 *
 * const Refund = DeferredTool.make("Refund", {
 *   success: Schema.String,
 *   interactions: { manager: Interaction.getApproval }
 * })
 * const toolkit = Toolkit.make(Refund)
 * const Handlers = toolkit.toLayer({
 *   Refund: DeferredTool.handler(Refund, {
 *     start: () => Refund.suspend.manager({ prompt: "Pay 20 back?" }),
 *     resume: { manager: ({ approved, note }) => Effect.succeed(approved ? "paid" : `not paid: ${note}`) }
 *   })
 * })
 *
 * const program = LanguageModel.generateText({ prompt: "I want my money back.", toolkit }).pipe(
 *   Effect.map(({ toolResults }) => toolResults[0]?.result),
 *   Effect.provide(Handlers),
 *   Effect.provide(ApprovalController.layerInteractive((request) => Approval.deny(request, "It is too late."))),
 *   Effect.provide(ScriptedModel.layer({
 *     turns: [[ScriptedModel.toolCall({ id: "call-1", name: "Refund", params: {} })]]
 *   }))
 * )
 *
 * await Effect.runPromise(program) // => "not paid: It is too late."
 *
 * @category interactions
 * @since 0.1.0
 */
export const getApproval: Interaction<Question, Verdict> = make({
  kind: "getApproval",
  answer: Schema.Struct({ approved: Schema.Boolean, note: Schema.optionalKey(Schema.String) }),
  onNewMessage: "supersede"
})

/**
 * Asks a person to choose one of several options. The answer is the value of the option.
 *
 * @example
 * import { Approval, ApprovalController, DeferredTool, Interaction, LanguageModel, Toolkit } from "@assent/ai"
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect, Schema } from "effect"
 *
 * const Paint = DeferredTool.make("Paint", {
 *   success: Schema.String,
 *   interactions: { colour: Interaction.selectOptions }
 * })
 * const toolkit = Toolkit.make(Paint)
 * const Handlers = toolkit.toLayer({
 *   Paint: DeferredTool.handler(Paint, {
 *     start: () =>
 *       Paint.suspend.colour({ prompt: "Which colour?", options: ["red", { value: "#00f", label: "Deep blue" }] }),
 *     resume: { colour: (value) => Effect.succeed(`painted ${value}`) }
 *   })
 * })
 * const Person = ApprovalController.layerInteractive((request) => {
 *   const chosen = request.awaited?.options?.find(({ label }) => label === "Deep blue")
 *   return Approval.answer(request, chosen?.value ?? null)
 * })
 *
 * const program = LanguageModel.generateText({ prompt: "Paint it.", toolkit }).pipe(
 *   Effect.map(({ toolResults }) => toolResults[0]?.result),
 *   Effect.provide([Handlers, Person]),
 *   Effect.provide(ScriptedModel.layer({ turns: [[ScriptedModel.toolCall({ id: "1", name: "Paint", params: {} })]] }))
 * )
 *
 * await Effect.runPromise(program) // => "painted #00f"
 *
 * @category interactions
 * @since 0.1.0
 */
export const selectOptions: Interaction<Choice, string> = make({
  kind: "selectOptions",
  answer: Schema.String,
  onNewMessage: "supersede"
})

/**
 * Asks a person to choose any number of several options, none included. The answer is their values, each once.
 *
 * @example
 * import { Approval, ApprovalController, DeferredTool, Interaction, LanguageModel, Toolkit } from "@assent/ai"
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect, Schema } from "effect"
 *
 * const Order = DeferredTool.make("Order", {
 *   success: Schema.String,
 *   interactions: { toppings: Interaction.selectMany }
 * })
 * const toolkit = Toolkit.make(Order)
 * const Handlers = toolkit.toLayer({
 *   Order: DeferredTool.handler(Order, {
 *     start: () => Order.suspend.toppings({ prompt: "What is to be on it?", options: ["cheese", "olives", "basil"] }),
 *     resume: { toppings: (values) => Effect.succeed(`pizza with ${values.join(" and ")}`) }
 *   })
 * })
 * const Person = ApprovalController.layerInteractive((request) => Approval.answer(request, ["cheese", "basil"]))
 *
 * const program = LanguageModel.generateText({ prompt: "A pizza, please.", toolkit }).pipe(
 *   Effect.map(({ toolResults }) => toolResults[0]?.result),
 *   Effect.provide([Handlers, Person]),
 *   Effect.provide(ScriptedModel.layer({ turns: [[ScriptedModel.toolCall({ id: "1", name: "Order", params: {} })]] }))
 * )
 *
 * await Effect.runPromise(program) // => "pizza with cheese and basil"
 *
 * @category interactions
 * @since 0.1.0
 */
export const selectMany: Interaction<Choice, ReadonlyArray<string>> = make({
  kind: "selectOptions",
  multiple: true,
  answer: Schema.Array(Schema.String).check(Schema.isUnique()),
  onNewMessage: "supersede"
})

/**
 * Asks a person for what a schema says. Forms travel as JSON.
 *
 * @example
 * import { Approval, ApprovalController, DeferredTool, Interaction, LanguageModel, Toolkit } from "@assent/ai"
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect, Schema } from "effect"
 *
 * const Ship = DeferredTool.make("Ship", {
 *   success: Schema.String,
 *   interactions: { address: Interaction.form(Schema.Struct({ street: Schema.String, city: Schema.String })) }
 * })
 * const toolkit = Toolkit.make(Ship)
 * const Handlers = toolkit.toLayer({
 *   Ship: DeferredTool.handler(Ship, {
 *     start: () => Ship.suspend.address({ prompt: "Where to?" }),
 *     resume: { address: ({ city }) => Effect.succeed(`on its way to ${city}`) }
 *   })
 * })
 * const Person = ApprovalController.layerInteractive((request) =>
 *   Approval.answer(request, { street: "Elm Street 1", city: "Bath" })
 * )
 *
 * const program = LanguageModel.generateText({ prompt: "Send it.", toolkit }).pipe(
 *   Effect.map(({ toolResults }) => toolResults[0]?.result),
 *   Effect.provide([Handlers, Person]),
 *   Effect.provide(ScriptedModel.layer({ turns: [[ScriptedModel.toolCall({ id: "1", name: "Ship", params: {} })]] }))
 * )
 *
 * await Effect.runPromise(program) // => "on its way to Bath"
 *
 * @category interactions
 * @since 0.1.0
 */
export const form = <A, I>(schema: Schema.ConstraintCodec<A, I>): Interaction<Question, A> =>
  make({ kind: "form", answer: schema, onNewMessage: "supersede" })

/**
 * Waits for another system to call an address of ours with a token that only it was given; see `Webhook`. The schema
 * says what it sends; what does not fit is not accepted.
 *
 * @example
 * import { DeferredTool, Interaction, LanguageModel, Response, Toolkit, Webhook } from "@assent/ai"
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect, Redacted, Schema } from "effect"
 *
 * const Payment = Schema.Struct({ id: Schema.String })
 * const Pay = DeferredTool.make("Pay", { interactions: { paid: Interaction.webhook(Payment) } })
 * const toolkit = Toolkit.make(Pay)
 * // What the payment service is told.
 * const told: Array<string> = []
 * const Handlers = toolkit.toLayer({
 *   Pay: DeferredTool.handler(Pay, {
 *     start: () =>
 *       Effect.gen(function*() {
 *         const token = yield* Webhook.makeToken
 *         told.push(Redacted.value(Webhook.address("https://example.com/hooks", token)))
 *         return yield* Pay.suspend.paid({ token, prompt: "The payment" })
 *       }),
 *     resume: { paid: () => Effect.void }
 *   })
 * })
 *
 * const program = LanguageModel.generateText({ prompt: "Pay it.", toolkit }).pipe(
 *   Effect.map((response) => Response.approvalRequests(response)[0]?.awaited?.kind),
 *   Effect.provide(Handlers),
 *   Effect.provide(ScriptedModel.layer({ turns: [[ScriptedModel.toolCall({ id: "1", name: "Pay", params: {} })]] }))
 * )
 *
 * await Effect.runPromise(program) // => "webhook"
 * told[0]?.startsWith("https://example.com/hooks/") // => true
 *
 * @category interactions
 * @since 0.1.0
 */
export const webhook = <A, I>(schema: Schema.ConstraintCodec<A, I>): Interaction<WebhookCall, A> =>
  make({ kind: "webhook", answer: schema, onNewMessage: "keep" })

/**
 * Waits for a moment in time. One that passed while the program was not running fires as soon as somebody looks.
 *
 * @example
 * import { DeferredTool, Interaction, LanguageModel, Response, Toolkit } from "@assent/ai"
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect } from "effect"
 *
 * const Remind = DeferredTool.make("Remind", { interactions: { monday: Interaction.timer } })
 * const toolkit = Toolkit.make(Remind)
 * const Handlers = toolkit.toLayer({
 *   Remind: DeferredTool.handler(Remind, {
 *     start: () => Remind.suspend.monday({ at: "2030-01-07T08:00:00Z" }),
 *     resume: { monday: ({ dueAt, firedAt }) => Effect.logInfo(`${firedAt - dueAt} ms late`) }
 *   })
 * })
 *
 * const program = LanguageModel.generateText({ prompt: "Remind me.", toolkit }).pipe(
 *   Effect.map((response) => Response.approvalRequests(response)[0]?.awaited?.dueAt),
 *   Effect.provide(Handlers),
 *   Effect.provide(ScriptedModel.layer({ turns: [[ScriptedModel.toolCall({ id: "1", name: "Remind", params: {} })]] }))
 * )
 *
 * await Effect.runPromise(program) // => Date.UTC(2030, 0, 7, 8)
 *
 * @category interactions
 * @since 0.1.0
 */
export const timer: Interaction<Moment, Fired> = make({
  kind: "timer",
  answer: Schema.Struct({ dueAt: Schema.Finite, firedAt: Schema.Finite }),
  onNewMessage: "keep"
})

/**
 * Waits for what the program itself will tell, with `DeferredTool.deliver`, such as the end of a job.
 *
 * @example
 * import { Approval, DeferredTool, Interaction, LanguageModel, Prompt, Response, Toolkit } from "@assent/ai"
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect, Schema } from "effect"
 *
 * const Build = DeferredTool.make("Build", { interactions: { ended: Interaction.external(Schema.String) } })
 * const toolkit = Toolkit.make(Build)
 * const Handlers = toolkit.toLayer({
 *   Build: DeferredTool.handler(Build, { start: () => Build.suspend.ended({}), resume: { ended: () => Effect.void } })
 * })
 *
 * const program = Effect.gen(function*() {
 *   const first = yield* LanguageModel.generateText({ prompt: "Build it.", toolkit })
 *   const [request] = Response.approvalRequests(first)
 *   const history = Prompt.concat(Prompt.make("Build it."), Prompt.fromResponseParts(first.content))
 *   // `DeferredTool.deliver` answers it, and nothing that a history says.
 *   const prompt = Prompt.concat(history, Prompt.approvalResponses([Approval.answer(request!, "green")]))
 *   return Response.isWaiting(yield* LanguageModel.generateText({ prompt, toolkit }))
 * }).pipe(
 *   Effect.provide(Handlers),
 *   Effect.provide(ScriptedModel.layer({ turns: [[ScriptedModel.toolCall({ id: "1", name: "Build", params: {} })]] }))
 * )
 *
 * await Effect.runPromise(program) // => true
 *
 * @category interactions
 * @since 0.1.0
 */
export const external = <A, I>(schema: Schema.ConstraintCodec<A, I>): Interaction<Event, A> =>
  make({ kind: "external", answer: schema, onNewMessage: "keep" })

// =============================================================================
// Combinators
// =============================================================================

/**
 * Says what an interaction is for, in `DeferredTool.describe`.
 *
 * @example
 * import { Interaction } from "@assent/ai"
 *
 * Interaction.describe(Interaction.getApproval, "The manager's consent").description // => "The manager's consent"
 *
 * @category combinators
 * @since 0.1.0
 */
export const describe: {
  (description: string): <Ask, Answer>(self: Interaction<Ask, Answer>) => Interaction<Ask, Answer>
  <Ask, Answer>(self: Interaction<Ask, Answer>, description: string): Interaction<Ask, Answer>
} = dual(
  2,
  <Ask, Answer>(self: Interaction<Ask, Answer>, description: string): Interaction<Ask, Answer> => ({
    ...self,
    description
  })
)

/**
 * What a new message of the user means for an interaction, where the engine supersedes open requests (law L6). By
 * default what people are asked is superseded, and webhooks, timers and external events are kept: the model goes on and
 * sees that they are waited for.
 *
 * @example
 * import { Interaction } from "@assent/ai"
 *
 * Interaction.onNewMessage(Interaction.getApproval, "keep").onNewMessage // => "keep"
 *
 * @category combinators
 * @since 0.1.0
 */
export const onNewMessage: {
  (mode: "supersede" | "keep"): <Ask, Answer>(self: Interaction<Ask, Answer>) => Interaction<Ask, Answer>
  <Ask, Answer>(self: Interaction<Ask, Answer>, mode: "supersede" | "keep"): Interaction<Ask, Answer>
} = dual(
  2,
  <Ask, Answer>(self: Interaction<Ask, Answer>, mode: "supersede" | "keep"): Interaction<Ask, Answer> => ({
    ...self,
    onNewMessage: mode
  })
)

/**
 * Whether people answer interactions of this kind.
 *
 * @example
 * import { DeferredTool, Interaction, Toolkit } from "@assent/ai"
 *
 * const Refund = DeferredTool.make("Refund", {
 *   interactions: { manager: Interaction.getApproval, tomorrow: Interaction.timer }
 * })
 *
 * const described = DeferredTool.describe(Toolkit.make(Refund))
 *
 * described.filter(({ kind }) => Interaction.isForPeople(kind)).map((one) => one.interaction) // => ["manager"]
 *
 * @category guards
 * @since 0.1.0
 */
export const isForPeople = (kind: Approval.InteractionKind): boolean =>
  kind !== "webhook" && kind !== "timer" && kind !== "external" && kind !== "nested"
