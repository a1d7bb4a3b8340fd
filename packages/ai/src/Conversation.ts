/**
 * A conversation over many turns, and over many processes: it goes on by itself until the model has said all it has to
 * say, or somebody is waited for, and it is kept so that it can go on next week.
 *
 * What goes beyond a `Chat`: it calls the model again as long as there are results to show it; it is kept in a
 * `ConversationStore`; it knows what it waits for; and what is decided through {@link Conversation.decide} comes from the
 * program itself, so that edited parameters, and what is to be remembered, count (law L4). One turn is taken at a time,
 * by whichever process.
 *
 * What somebody writes is never consent: a text may answer the first question that a tool has put to the user, and nothing
 * else.
 *
 * A turn ends with whoever waits for it, unless it is begun by {@link Conversation.start}: then it belongs to the process, and
 * {@link Conversation.turn} finds it for whoever wants to read it, also in another process.
 *
 * @example
 * import { Approval, Conversation, LanguageModel, Tool, Toolkit } from "@assent/ai"
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect, Schema, Stream } from "effect"
 *
 * const Refund = Tool.make("Refund", { success: Schema.String, needsApproval: true })
 * const toolkit = Toolkit.make(Refund)
 *
 * const program = Effect.gen(function*() {
 *   const conversation = yield* Conversation.make({ id: "ticket-2", toolkit })
 *   yield* conversation.send("I want my money back.")
 *   const answers = (yield* conversation.pending()).map((request) => Approval.approve(request))
 *   // The answers and the text are one turn: the refund is paid, and the model is asked once, with both.
 *   const turn = yield* conversation.start("And be quick.", { answers, by: { id: "ada" } })
 *   // Whoever has begun it may leave. Any reader gets all of it from the beginning, and then what is said live.
 *   return yield* turn.parts.pipe(
 *     Stream.filter((part) => part.type === "tool-result" || part.type === "text-delta"),
 *     Stream.map((part) => part.type === "text-delta" ? part.delta : part.name),
 *     Stream.runCollect
 *   )
 * }).pipe(
 *   Effect.provide(toolkit.toLayer({ Refund: () => Effect.succeed("paid 20") })),
 *   Effect.provideServiceEffect(
 *     LanguageModel.LanguageModel,
 *     Effect.map(
 *       ScriptedModel.make({
 *         turns: [[ScriptedModel.toolCall({ id: "call-1", name: "Refund", params: {} })], "You have got it."]
 *       }),
 *       ({ model }) => model
 *     )
 *   )
 * )
 *
 * const said = await Effect.runPromise(program)
 * said.at(0) // => "Refund"
 * said.slice(1).join("") // => "You have got it."
 *
 * @since 0.1.0
 */
import type * as LanguageModel from "effect/ai/LanguageModel"
import type * as Tool from "effect/ai/Tool"
import type * as Toolkit from "effect/ai/Toolkit"
import type * as Effect from "effect/Effect"
import * as Conversations from "./internal/conversation/conversation.ts"
import type { Conversation, Options } from "./internal/conversation/model.ts"

// =============================================================================
// Models
// =============================================================================

export type {
  ClearOptions,
  Completed,
  Conversation,
  DecideOptions,
  Limited,
  Options,
  Outcome,
  Reading,
  RefusedAnswer,
  RequestState,
  ResumeOptions,
  RouteText,
  Stopped,
  Turn,
  TurnError,
  TurnOptions,
  Waiting
} from "./internal/conversation/model.ts"

type AnyTools = Record<string, Tool.Any>

// =============================================================================
// Constructors
// =============================================================================

/**
 * Makes the conversation of an id, or goes on with the one that its store has. The model, the toolkit's handlers, and the
 * approval services around it are taken from where it is made. What is around a turn never loosens what was said there: its
 * policy may be stricter, and its controller is asked only where none was named (law L11). Other services of a turn win.
 *
 * @example
 * import { Approval, Conversation, LanguageModel, Tool, Toolkit } from "@assent/ai"
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect, Schema } from "effect"
 *
 * const Refund = Tool.make("Refund", {
 *   parameters: { amount: Schema.Number },
 *   success: Schema.String,
 *   needsApproval: true
 * })
 * const toolkit = Toolkit.make(Refund)
 *
 * const program = Effect.gen(function*() {
 *   const conversation = yield* Conversation.make({ id: "ticket-1", toolkit })
 *   const asked = yield* conversation.send("I want my money back.")
 *   if (asked._tag !== "Waiting") return "not asked"
 *   // The person who decides may change what was proposed. Who that is, the program knows, and no answer says.
 *   const answer = Approval.approve(asked.requests[0]!, { params: { amount: 20 } })
 *   const outcome = yield* conversation.decide(answer, { by: { id: "ada", name: "Ada" } })
 *   return outcome.text
 * }).pipe(
 *   Effect.provide(toolkit.toLayer({ Refund: ({ amount }) => Effect.succeed(`paid ${amount}`) })),
 *   Effect.provideServiceEffect(
 *     LanguageModel.LanguageModel,
 *     Effect.map(
 *       ScriptedModel.make({
 *         turns: [
 *           [ScriptedModel.toolCall({ id: "call-1", name: "Refund", params: { amount: 500 } })],
 *           "You have got 20 back."
 *         ]
 *       }),
 *       ({ model }) => model
 *     )
 *   )
 * )
 *
 * await Effect.runPromise(program) // => "You have got 20 back."
 *
 * @category constructors
 * @since 0.1.0
 */
export const make: <Tools extends AnyTools, E = never, R = never>(
  options: Options<Tools, E, R>
) => Effect.Effect<
  Conversation<Tools>,
  E,
  R | LanguageModel.LanguageModel | LanguageModel.ExtractServices<{ readonly toolkit: Toolkit.WithHandler<Tools> }>
> = Conversations.make
