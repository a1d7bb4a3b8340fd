/**
 * What waits in all conversations: for a page that shows each person what they are to decide.
 *
 * It is what `ConversationStore` keeps: a request is listed from the moment its conversation waits for it until it is
 * answered, decided, taken back or expired.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type { ConversationError } from "./ConversationStore.ts"
import { ConversationStore } from "./ConversationStore.ts"
import type { Filter, Page } from "./internal/kept/inbox.ts"

// =============================================================================
// Models
// =============================================================================

export type { Filter, OpenRequest, Page } from "./internal/kept/inbox.ts"

/**
 * Which page: the one after another, whose `next` is `after`; at most `limit` requests (default 100).
 *
 * @category options
 * @since 0.1.0
 */
export interface PageOptions {
  readonly after?: string | undefined
  readonly limit?: number | undefined
}

// =============================================================================
// Reading
// =============================================================================

/**
 * A page of the open requests that the filter names, the oldest first. What it costs does not depend on how many there are.
 * Who may see whose is the program's business: a filter without a `tenant` names those of all.
 *
 * @example
 * import { Approval, Conversation, LanguageModel, OpenRequests, Tool, Toolkit } from "@assent/ai"
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
 *   // A customer asks, in a conversation of their own.
 *   const ticket = yield* Conversation.make({ id: "ticket-7", toolkit }).pipe(
 *     Effect.provideService(Approval.Scope, { tenant: "acme", principal: "bob" })
 *   )
 *   yield* ticket.send("I want my money back.")
 *
 *   // Somebody else looks at what waits, and decides it in its conversation.
 *   const page = yield* OpenRequests.page({ tenant: "acme", toolName: "Refund" }, { limit: 20 })
 *   const [first] = page.requests
 *   if (first === undefined) return "nothing waits"
 *   const conversation = yield* Conversation.make({ id: first.scope.conversation ?? "", toolkit }).pipe(
 *     Effect.provideService(Approval.Scope, first.scope)
 *   )
 *   const outcome = yield* conversation.decide(Approval.approve(first.request), { by: { id: "ada" } })
 *   return outcome.text
 * }).pipe(
 *   Effect.provide(toolkit.toLayer({ Refund: ({ amount }) => Effect.succeed(`paid ${amount}`) })),
 *   Effect.provideServiceEffect(
 *     LanguageModel.LanguageModel,
 *     Effect.map(
 *       ScriptedModel.make({
 *         turns: [
 *           [ScriptedModel.toolCall({ id: "call-1", name: "Refund", params: { amount: 20 } })],
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
 * @category reading
 * @since 0.1.0
 */
export const page = (filter: Filter = {}, options?: PageOptions): Effect.Effect<Page, ConversationError> =>
  Effect.flatMap(
    ConversationStore,
    (store) => store.page(filter, { after: options?.after, limit: Math.max(1, Math.trunc(options?.limit ?? 100)) })
  )
