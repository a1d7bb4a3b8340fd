/**
 * What waits in all conversations: for a page that shows each person what they are to decide, and for mail, chat or a pager
 * that tells them of it.
 *
 * It is what `ConversationStore` keeps: a request is listed from the moment its conversation waits for it until it is
 * answered, decided, taken back or expired. {@link events} tells the same as it happens, of all processes that use the store:
 * what is written together with a request tells of it, so nothing is told that did not happen, and nothing that did is left
 * out. What is asked outside any conversation is in neither.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { ConversationError } from "./ConversationStore.ts"
import { ConversationStore } from "./ConversationStore.ts"
import type { Event, EventFilter } from "./internal/kept/events.ts"
import type { Filter, OpenRequest, Page } from "./internal/kept/inbox.ts"
import * as Reading from "./internal/kept/reading.ts"
import * as Changes from "./internal/store/changes.ts"

// =============================================================================
// Models
// =============================================================================

export type {
  Decided,
  Decision,
  Event,
  EventFilter,
  Expired,
  Happened,
  Missed,
  Opened
} from "./internal/kept/events.ts"
export type { Filter, OpenRequest, Page } from "./internal/kept/inbox.ts"

/**
 * Which page: `after` is the `next` of the page before (default: the first page), and `limit` how many requests it has
 * at most (default 100).
 *
 * @category options
 * @since 0.1.0
 */
export interface PageOptions {
  readonly after?: string | undefined
  readonly limit?: number | undefined
}

/**
 * Which events: those after the cursor `after` (default: from the first that is kept, which are those of a week), of
 * requests that the `filter` names. `every` is how often it looks for new ones (default 1 second).
 *
 * @category options
 * @since 0.1.0
 */
export interface EventsOptions {
  readonly filter?: EventFilter | undefined
  readonly after?: string | undefined
  readonly every?: Duration.Input | undefined
}

/**
 * As {@link EventsOptions}; `after` counts only for a name under which nobody has read yet. Another process of the same
 * name takes over from one that has been silent for `lease` (default 30 seconds).
 *
 * @category options
 * @since 0.1.0
 */
export interface FollowOptions extends EventsOptions {
  readonly lease?: Duration.Input | undefined
}

// =============================================================================
// Reading
// =============================================================================

/**
 * A page of the open requests that the filter names, the oldest first. What it costs does not depend on how many there
 * are. Who may see whose is the program's business: a filter without a `tenant` names those of all. Fails with a
 * `ConversationError` where the store does.
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

/**
 * All open requests that the filter names, the oldest first, page by page as they are asked for. A request that waits
 * all the time is there once; one that is opened or decided meanwhile may be there or not. Fails with a
 * `ConversationError` where the store does.
 *
 * @example
 * import { OpenRequests } from "@assent/ai"
 * import { Effect, Stream } from "effect"
 *
 * const count = Stream.runCount(OpenRequests.stream({ tenant: "acme" }))
 *
 * await Effect.runPromise(count) // => 0
 *
 * @category reading
 * @since 0.1.0
 */
export const stream = (filter: Filter = {}): Stream.Stream<OpenRequest, ConversationError> =>
  Stream.paginate(
    undefined as string | undefined,
    (after) =>
      Effect.map(page(filter, { after }), ({ next, requests }) => [
        requests,
        next === undefined ? Option.none() : Option.some(next)
      ])
  )

// =============================================================================
// Events
// =============================================================================

/**
 * The cursor after all that has happened until now: for whoever is to be told only of what comes. Fails with a
 * `ConversationError` where the store does.
 *
 * @example
 * import { OpenRequests } from "@assent/ai"
 * import { Effect, Stream } from "effect"
 *
 * // What waits, and from there on what changes about it: the cursor first, so that nothing is between the two.
 * const all = Effect.gen(function*() {
 *   const after = yield* OpenRequests.latest
 *   const filter = { tenant: "initech" }
 *   const open = yield* Stream.runCollect(OpenRequests.stream(filter))
 *   return { open, changes: OpenRequests.events({ filter, after }) }
 * })
 *
 * const { open } = await Effect.runPromise(all)
 * open.length // => 0
 *
 * @category events
 * @since 0.1.0
 */
export const latest: Effect.Effect<string, ConversationError> = Effect.flatMap(
  ConversationStore,
  (store) => store.events.latest
)

/**
 * What happens to requests of all conversations: `opened`, `decided` and how, by whom and why, or `expired`; in the order in
 * which it was written, from the cursor, and then live, until its reader leaves. It fails where the store does; whoever goes
 * on from the last cursor misses nothing, and may be told some of it again.
 *
 * - What is decided is told when the journal has it: a moment after the answer, which `page` does not list any more.
 * - What happened is kept for a time, and `missed` says that a cursor is older than that: then read {@link stream} again.
 * - Each has its request as it was shown, for as long as events are kept, also where its conversation was removed since.
 * - Who may be told of whose is the program's business: a filter without a `tenant`, or with one that is `undefined`, names
 *   the requests of all. `missed` says nothing of anybody's.
 *
 * @example
 * import { Approval, Conversation, LanguageModel, OpenRequests, Tool, Toolkit } from "@assent/ai"
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect, Schema, Stream } from "effect"
 *
 * const Pay = Tool.make("Pay", { parameters: { amount: Schema.Number }, success: Schema.String, needsApproval: true })
 * const toolkit = Toolkit.make(Pay)
 *
 * const program = Effect.gen(function*() {
 *   const conversation = yield* Conversation.make({ id: "bill-7", toolkit }).pipe(
 *     Effect.provideService(Approval.Scope, { tenant: "acme" })
 *   )
 *   const outcome = yield* conversation.send("Pay the bill.")
 *   if (outcome._tag !== "Waiting") return []
 *   yield* conversation.decide(outcome.requests.map((request) => Approval.deny(request)), { by: { id: "ada" } })
 *
 *   const events = OpenRequests.events({ filter: { tenant: "acme", toolName: "Pay" } }).pipe(Stream.take(2))
 *   return (yield* Stream.runCollect(events)).map((event) =>
 *     event.kind === "decided" ? `${event.decision} by ${event.decidedBy?.id}` : event.kind
 *   )
 * }).pipe(
 *   Effect.provide(toolkit.toLayer({ Pay: () => Effect.succeed("paid") })),
 *   Effect.provideServiceEffect(
 *     LanguageModel.LanguageModel,
 *     Effect.map(
 *       ScriptedModel.make({
 *         turns: [[ScriptedModel.toolCall({ id: "call-1", name: "Pay", params: { amount: 20 } })], "Then not."]
 *       }),
 *       ({ model }) => model
 *     )
 *   )
 * )
 *
 * await Effect.runPromise(program) // => ["opened", "denied by ada"]
 *
 * @category events
 * @since 0.1.0
 */
export const events = (options: EventsOptions = {}): Stream.Stream<Event, ConversationError> => {
  const { filter = {} } = options
  const every = millisOf(options.every, "1 second")
  return Stream.paginate(
    { after: options.after, waiting: Effect.void },
    ({ after, waiting }) =>
      Effect.gen(function*() {
        yield* waiting
        const { changes, events } = yield* ConversationStore
        const changed = Changes.watch(changes, "events")
        const page = yield* events.page(filter, { after, limit: Reading.pageSize })
        return [page.events, Option.some({ after: page.next, waiting: page.isMore ? Effect.void : changed(every) })]
      })
  )
}

/**
 * Handles what happens, as {@link events} tells it, one after the other, and keeps in the store how far it has come under that
 * name. It goes on until it is interrupted, and from there when it begins again, in whichever process.
 *
 * - Each event is handled at least once: again, where the process dies before its place is kept.
 * - A handler that fails, or dies of a defect, is tried again after one second, two, four and so on up to a minute, until it
 *   succeeds. No event is skipped; it is the handler's to give one up. A store that fails is tried again in the same way.
 * - Of several processes that share a name one handles, and another one when that ends, or was silent for the `lease`. So each
 *   event is handled by one of them, but for what was going on in one that was stopped for longer, or could not reach the
 *   store: its handler is interrupted when it finds that another has taken over. All of them give the same filter.
 * - A name is anybody's of the same store: one for all tenants, or one that has the tenant in it. Its place is kept for good.
 *
 * @example
 * import { OpenRequests } from "@assent/ai"
 * import { Effect } from "effect"
 *
 * const sendMail = (text: string) => Effect.log(text)
 *
 * const mails = OpenRequests.follow("mails", (event) =>
 *   event.kind === "opened" ? sendMail(`${event.request.toolName} waits for you.`) : Effect.void
 * )
 *
 * // Beside everything else that the program does.
 * const program = Effect.andThen(Effect.forkChild(mails), Effect.succeed("it goes on"))
 *
 * await Effect.runPromise(program) // => "it goes on"
 *
 * @category events
 * @since 0.1.0
 */
export const follow = <E, R>(
  name: string,
  handle: (event: Event) => Effect.Effect<unknown, E, R>,
  options: FollowOptions = {}
): Effect.Effect<never, never, R> =>
  Effect.flatMap(ConversationStore, (store) =>
    Reading.follow(store.events, name, handle, {
      filter: options.filter ?? {},
      after: options.after,
      every: millisOf(options.every, "1 second"),
      lease: millisOf(options.lease, "30 seconds"),
      changes: store.changes
    }))

// Nobody looks without a pause.
const millisOf = (input: Duration.Input | undefined, otherwise: Duration.Input): number =>
  Math.max(1, Duration.toMillis(Duration.fromInputUnsafe(input ?? otherwise)))
