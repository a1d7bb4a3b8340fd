/**
 * Agents that are tools of other agents. Each has its own conversation, tools and model. A person who is asked within
 * one is asked through the outermost, with the path of agents that led there.
 *
 * The requests of inner agents stand in one list with those of the outermost: `pending`, `decide`, the parts of a
 * response and controllers have all of them, at any depth. Each is sealed and run by the agent whose tool it is, once
 * (law L2), under that agent's own policy; what is around may tighten that policy and never loosen it (law L11). While
 * a request waits, the call of the agent waits with it. Once that call has ended (superseded, cancelled or expired),
 * nothing that was asked within it runs.
 *
 * @since 0.1.0
 */
import type * as AiError from "effect/ai/AiError"
import type * as LanguageModel from "effect/ai/LanguageModel"
import type * as Prompt from "effect/ai/Prompt"
import type * as Upstream from "effect/ai/Tool"
import type * as Toolkit from "effect/ai/Toolkit"
import type * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type * as ApprovalError from "./ApprovalError.ts"
import type * as ConversationStore from "./ConversationStore.ts"
import * as DeferredTool from "./DeferredTool.ts"
import * as Conversing from "./internal/conversation/agent.ts"
import type * as Conversation from "./internal/conversation/model.ts"
import * as Tool from "./Tool.ts"

// =============================================================================
// Models
// =============================================================================

type AnyTools = Record<string, Upstream.Any>

/**
 * A tool that is an agent.
 *
 * @category models
 * @since 0.1.0
 */
export type AgentTool<T extends DeferredTool.AnyTool> = DeferredTool.DeferredTool<T, undefined, {}>

/**
 * An agent: its tools with their handlers, and what else its conversation is made from. `model` is its own (default:
 * the one that called it). `limits` are never more than what the turn that called it has left.
 *
 * @category options
 * @since 0.1.0
 */
export interface Options<Tools extends AnyTools, E = never, R = never> {
  readonly toolkit: Toolkit.WithHandler<Tools> | Effect.Effect<Toolkit.WithHandler<Tools>, E, R>
  readonly model?: LanguageModel.LanguageModel | undefined
  readonly instructions?: string | undefined
  readonly limits?: Conversation.Options<Tools>["limits"]
  /**
   * What is told of it while it goes on, as preliminary results of its call: `"nothing"` (default), what it has done
   * step by step, or its words as they come.
   */
  readonly tell?: "nothing" | "steps" | "deltas" | undefined
}

type Failed<Tools extends AnyTools, E> =
  | E
  | LanguageModel.ExtractError<{ readonly toolkit: Toolkit.WithHandler<Tools> }>
type Services<Tools extends AnyTools, R> =
  | R
  | LanguageModel.ExtractServices<{ readonly toolkit: Toolkit.WithHandler<Tools> }>

// =============================================================================
// Constructors
// =============================================================================

/**
 * Makes a tool that is an agent: {@link handler} says which. Its success is a text unless `success` says otherwise.
 *
 * @example
 * import { AgentTool, Approval, Conversation, LanguageModel, Tool, Toolkit } from "@assent/ai"
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect, Schema } from "effect"
 *
 * const Pay = Tool.make("Pay", { parameters: { amount: Schema.Number }, success: Schema.String, needsApproval: true })
 * const payments = Toolkit.make(Pay)
 *
 * const Treasurer = AgentTool.make("Treasurer", {
 *   description: "Pays bills",
 *   parameters: { task: Schema.String }
 * })
 * const toolkit = Toolkit.make(Treasurer)
 *
 * const program = Effect.gen(function*() {
 *   const treasurer = yield* ScriptedModel.make({
 *     turns: [[ScriptedModel.toolCall({ id: "a", name: "Pay", params: { amount: 20 } })], "I have paid 20."]
 *   })
 *   const lead = yield* ScriptedModel.make({
 *     turns: [[ScriptedModel.toolCall({ id: "b", name: "Treasurer", params: { task: "Pay the bill." } })], "It is paid."]
 *   })
 *   const Handlers = toolkit.toLayer(Effect.map(payments, (payments) => ({
 *     Treasurer: AgentTool.handler(Treasurer, {
 *       toolkit: payments,
 *       model: treasurer.model,
 *       prompt: ({ task }) => task
 *     })
 *   })))
 *   return yield* Effect.gen(function*() {
 *     const conversation = yield* Conversation.make({ id: "team", toolkit })
 *     yield* conversation.send("Pay the bill.")
 *     const [request] = yield* conversation.pending()
 *     const outcome = yield* conversation.decide(Approval.approve(request!))
 *     return [request!.path, request!.description, outcome.text]
 *   }).pipe(Effect.provide(Handlers), Effect.provideService(LanguageModel.LanguageModel, lead.model))
 * }).pipe(Effect.provide(payments.toLayer({ Pay: ({ amount }) => Effect.succeed(`paid ${amount}`) })))
 *
 * await Effect.runPromise(program) // => [["Treasurer"], "Pay(amount=20)", "It is paid."]
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <
  const Name extends string,
  Fields extends Schema.Struct.Fields | undefined = {},
  Parameters extends Tool.ParametersFrom<Fields> = Tool.ParametersFrom<Fields>,
  Success extends Schema.Constraint = typeof Schema.String,
  Failure extends Schema.Constraint = typeof Schema.Never,
  Mode extends Upstream.FailureMode | undefined = undefined,
  Dependencies extends Array<Context.Key<unknown, unknown>> = []
>(
  name: Name,
  options: Tool.Options<Fields, Parameters, Success, Failure, Mode, Dependencies>
): AgentTool<Tool.Made<Name, Parameters, Success, Failure, Mode, Dependencies>> => {
  const tool = Tool.make(name, { ...options, success: Conversing.successOf(options.success) })
  return DeferredTool.from(tool, Conversing.repeatable)
}

/**
 * Makes the handler of an agent for its place in a `Toolkit`. What `prompt` makes of the parameters is said to the agent; what
 * it says last is the result, or what `result` makes of how it ended. Where a limit or a person ends it before that, the call
 * has a failed result that says so.
 *
 * @example
 * import { AgentTool, LanguageModel, Tool, Toolkit } from "@assent/ai"
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect, Schema } from "effect"
 *
 * const Search = Tool.make("Search", { parameters: { query: Schema.String }, success: Schema.String })
 * const library = Toolkit.make(Search)
 *
 * const Researcher = AgentTool.make("Researcher", {
 *   parameters: { question: Schema.String },
 *   success: Schema.Struct({ answer: Schema.String, steps: Schema.Number })
 * })
 * const toolkit = Toolkit.make(Researcher)
 *
 * const program = Effect.gen(function*() {
 *   const researcher = yield* ScriptedModel.make({
 *     turns: [[ScriptedModel.toolCall({ id: "s", name: "Search", params: { query: "tides" } })], "The moon."]
 *   })
 *   const tools = yield* library
 *   const turn = yield* LanguageModel.generateText({ prompt: "Why are there tides?", toolkit }).pipe(
 *     Effect.provide(toolkit.toLayer({
 *       Researcher: AgentTool.handler(Researcher, {
 *         toolkit: tools,
 *         model: researcher.model,
 *         instructions: "Answer in two words.",
 *         prompt: ({ question }) => question,
 *         result: ({ steps, text }) => Effect.succeed({ answer: text, steps }),
 *         limits: { steps: 5 }
 *       })
 *     }))
 *   )
 *   return turn.toolResults[0]!.result
 * }).pipe(
 *   Effect.provide(library.toLayer({ Search: ({ query }) => Effect.succeed(`All about ${query}.`) })),
 *   Effect.provide(ScriptedModel.layer({
 *     turns: [[ScriptedModel.toolCall({ id: "r", name: "Researcher", params: { question: "Why?" } })]]
 *   }))
 * )
 *
 * await Effect.runPromise(program) // => { answer: "The moon.", steps: 2 }
 *
 * @category constructors
 * @since 0.1.0
 */
export const handler = <
  T extends DeferredTool.Any,
  Tools extends AnyTools,
  E = never,
  R = never,
  E2 = never,
  R2 = never
>(
  tool: T,
  options:
    & Options<Tools, E, R>
    & {
      readonly prompt: (params: Upstream.Parameters<T>) => Prompt.RawInput
    }
    & (string extends Upstream.Success<T> ? {
        readonly result?:
          | ((completed: Conversation.Completed<Tools>) => Effect.Effect<Upstream.Success<T>, E2, R2>)
          | undefined
      }
      : {
        readonly result: (completed: Conversation.Completed<Tools>) => Effect.Effect<Upstream.Success<T>, E2, R2>
      })
): (params: Upstream.Parameters<T>, context: Toolkit.HandlerContext<T>) => Effect.Effect<
  Upstream.Success<T>,
  Exclude<Failed<Tools, E> | E2, AiError.AiError | AiError.AiErrorReason> | AiError.AiError | AiError.AiErrorReason,
  Services<Tools, R> | R2
> => {
  return Conversing.handler(tool, options)
}

/**
 * Lets an agent go on in the handler of a deferred tool, and gives how it ended. Where somebody is asked within it, the
 * handler stops there. When they have answered, the handler **begins again at its first line**, with the parameters or
 * the answer it had before, and every agent goes on from where it was, by its name. So whatever else the handler does
 * must be safe to do again.
 *
 * Several agents may go on side by side; the call then waits once for all of them.
 *
 * @example
 * import { AgentTool, Approval, Conversation, DeferredTool, LanguageModel, Tool, Toolkit } from "@assent/ai"
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect, Schema } from "effect"
 *
 * const Pay = Tool.make("Pay", { parameters: { amount: Schema.Number }, success: Schema.String, needsApproval: true })
 * const payments = Toolkit.make(Pay)
 *
 * const CloseBooks = DeferredTool.make("CloseBooks", { success: Schema.String, interactions: {} })
 * const toolkit = Toolkit.make(CloseBooks)
 *
 * const program = Effect.gen(function*() {
 *   const clerk = yield* ScriptedModel.make({
 *     turns: [[ScriptedModel.toolCall({ id: "p", name: "Pay", params: { amount: 20 } })], "Paid."]
 *   })
 *   const tools = yield* payments
 *   const Handlers = toolkit.toLayer({
 *     CloseBooks: DeferredTool.handler(CloseBooks, {
 *       start: () =>
 *         AgentTool.converse("bills", { toolkit: tools, model: clerk.model })("Pay what is open.").pipe(
 *           Effect.map(({ text }) => `Closed. ${text}`),
 *           Effect.orDie
 *         ),
 *       resume: {}
 *     })
 *   })
 *   const conversation = yield* Effect.provide(Conversation.make({ id: "books", toolkit }), Handlers)
 *   yield* conversation.send("Close the books.")
 *   const [request] = yield* conversation.pending()
 *   const outcome = yield* conversation.decide(Approval.approve(request!))
 *   return [request!.path, outcome.text]
 * }).pipe(
 *   Effect.provide(payments.toLayer({ Pay: ({ amount }) => Effect.succeed(`paid ${amount}`) })),
 *   Effect.provideServiceEffect(
 *     LanguageModel.LanguageModel,
 *     Effect.map(
 *       ScriptedModel.make({
 *         turns: [[ScriptedModel.toolCall({ id: "c", name: "CloseBooks", params: {} })], "The books are closed."]
 *       }),
 *       ({ model }) => model
 *     )
 *   )
 * )
 *
 * await Effect.runPromise(program) // => [["CloseBooks", "bills"], "The books are closed."]
 *
 * @category constructors
 * @since 0.1.0
 */
export const converse: <Tools extends AnyTools, E = never, R = never>(
  name: string,
  options: Options<Tools, E, R>
) => (prompt: Prompt.RawInput) => Effect.Effect<
  Conversation.Completed<Tools> | Conversation.Limited<Tools>,
  Failed<Tools, E> | ApprovalError.ApprovalError | ConversationStore.ConversationError,
  Services<Tools, R>
> = Conversing.converse
