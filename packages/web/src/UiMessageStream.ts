/**
 * What `useChat` of `@ai-sdk/react` talks to, unmodified: the UI message stream of Vercel's AI SDK, version 1, over the
 * conversations of a program.
 *
 * Of what a page posts, a new message and the answers are taken, and nothing else: what was asked, what ran and what was
 * said is in the conversation. A turn belongs to the server: a page may leave, come back in the middle of it, and
 * read all of it. No answer stays without one: each card that was answered is settled in the same response, or asked again.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as HttpRouter from "effect/http/HttpRouter"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type * as Decider from "./Decider.ts"
import * as Routes from "./internal/routes.ts"
import type { Conversation } from "./internal/turn/conversation.ts"
import * as Body from "./internal/wire/body.ts"

// =============================================================================
// Models
// =============================================================================

export type { Conversation } from "./internal/turn/conversation.ts"

/**
 * A message as `useChat` has it, with what is written here of its parts.
 *
 * @category models
 * @since 0.1.0
 */
export type {
  Chunk,
  Descriptor,
  Fate,
  FatePart,
  FilePart,
  StepPart,
  TextPart,
  ToolApproval,
  ToolPart,
  UiMessage,
  UiPart
} from "./internal/wire/model.ts"

/**
 * What a click cannot say: changed parameters, the answer to a question, a note, what to remember, and that a denial ends
 * the turn. A page posts it as `details`, by the ids of the requests.
 *
 * @category models
 * @since 0.1.0
 */
export type Details = Body.Details

/**
 * What a page gives as the `reason` of a click that `details` go with: `addToolApprovalResponse({ id, approved: true, reason:
 * UiMessageStream.withDetails })`. Where they do not arrive, the call is asked again, and never runs as it was. A note may
 * follow it.
 *
 * @example
 * import { Conversation, Tool, Toolkit } from "@assent/ai"
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Decider, UiMessageStream } from "@assent/web"
 * import { Chat } from "@ai-sdk/react"
 * import { DefaultChatTransport, isToolUIPart } from "ai"
 * import { Effect, Layer, Schema } from "effect"
 * import { HttpRouter } from "effect/http"
 *
 * const DeleteFile = Tool.make("DeleteFile", {
 *   parameters: { path: Schema.String },
 *   success: Schema.String,
 *   needsApproval: true
 * })
 * const toolkit = Toolkit.make(DeleteFile)
 * const call = ScriptedModel.toolCall({ id: "call-1", name: "DeleteFile", params: { path: "a.txt" } })
 * const Routes = UiMessageStream.layer({ conversation: (id) => Conversation.make({ id, toolkit }) }).pipe(
 *   Layer.provide(Decider.layer(() => Effect.succeed({ person: { id: "ada" }, scope: { principal: "ada" } }))),
 *   Layer.provide(toolkit.toLayer({ DeleteFile: ({ path }) => Effect.succeed(`deleted ${path}`) })),
 *   Layer.provide(ScriptedModel.layer({ turns: [[call], "It is gone."] }))
 * )
 * const { dispose, handler } = HttpRouter.toWebHandler(Routes, { disableLogger: true })
 *
 * // The page, on which a person changes what was proposed. (In a browser: without `fetch`.)
 * const details: Record<string, UiMessageStream.Details> = {}
 * const chat = new Chat({
 *   id: "details-1",
 *   transport: new DefaultChatTransport({
 *     api: "http://localhost/api/chat",
 *     body: () => ({ details }),
 *     fetch: async (input, init) => handler(new Request(input, init))
 *   })
 * })
 * await chat.sendMessage({ text: "Delete it." })
 * const card = chat.lastMessage!.parts.filter(isToolUIPart).find((part) => part.state === "approval-requested")!
 * const { id } = card.approval
 * details[id] = { params: { path: "b.txt" } }
 * await chat.addToolApprovalResponse({ id, approved: true, reason: UiMessageStream.withDetails })
 * await chat.sendMessage()
 * await dispose()
 *
 * JSON.stringify(chat.messages).includes("deleted b.txt") // => true
 *
 * @category constants
 * @since 0.1.0
 */
export const withDetails = Body.withDetails

// =============================================================================
// Options
// =============================================================================

/**
 * How the routes are made.
 *
 * - `conversation` makes the conversation of an id for whoever asks, in their scope (`Approval.Scope`): as a rule
 *   `(id) => Conversation.make({ id, toolkit })`. It may fail with `Decider.Refused`.
 * - `path` is where they are (default `/api/chat`, as `useChat` has it).
 * - `heartbeat` is how long a turn may be silent before something is sent, so that nothing in between ends the connection
 *   (default 15 seconds).
 * - `maxBodyBytes` is how much a page may post: it posts its whole history each time (default 16 MiB).
 * - `maxKeptBytes` is about how much is kept of what all pages post ahead of their clicks (default 8 MiB).
 * - `rateLimit` is how often somebody may post in a `window`; as often as they like by default. Who posts more gets a 429 with
 *   a sentence and `retry-after`, and where they clicked, a stream that opens the card again. It is counted by the program's
 *   `RateLimiter` of `effect/persistence`, or by each server for itself if there is none. To stop is never refused.
 *
 * @category options
 * @since 0.1.0
 */
export interface Options<E, R> {
  readonly conversation: (
    id: string,
    who: Decider.Who
  ) => Effect.Effect<Conversation, E | Decider.Refused, R>
  readonly path?: `/${string}` | undefined
  readonly heartbeat?: Duration.Input | undefined
  readonly maxBodyBytes?: number | undefined
  readonly maxKeptBytes?: number | undefined
  readonly rateLimit?: { readonly limit: number; readonly window: Duration.Input } | undefined
}

// =============================================================================
// Layers
// =============================================================================

/**
 * The routes, for the program's `HttpRouter`:
 *
 * - `POST path`: a message, or answers, and the turn that follows as a stream.
 * - `POST path/:id/details`: what goes with clicks that come, by the ids of their requests; kept for a while.
 * - `POST path/:id/stop`: stops the turn that is being taken, and takes back what is asked; gives the messages.
 * - `GET path/:id/stream`: the turn that is being taken, from its beginning; 204 if none is.
 * - `GET path/:id`: the messages of a conversation, for a page that begins.
 *
 * Who asks and decides, the {@link Decider.Decider} of the program says. Without one they do not start.
 *
 * @example
 * import { Conversation, Tool, Toolkit } from "@assent/ai"
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Decider, UiMessageStream } from "@assent/web"
 * import { Effect, Layer, Schema } from "effect"
 * import { HttpRouter } from "effect/http"
 *
 * const DeleteFile = Tool.make("DeleteFile", {
 *   parameters: { path: Schema.String },
 *   success: Schema.String,
 *   needsApproval: true
 * })
 * const toolkit = Toolkit.make(DeleteFile)
 *
 * const Chat = UiMessageStream.layer({ conversation: (id) => Conversation.make({ id, toolkit }) }).pipe(
 *   Layer.provide(Decider.layer(() => Effect.succeed({ person: { id: "ada" }, scope: { principal: "ada" } }))),
 *   Layer.provide(toolkit.toLayer({ DeleteFile: ({ path }) => Effect.succeed(`deleted ${path}`) })),
 *   Layer.provide(ScriptedModel.layer({ turns: ["Hello!"] }))
 * )
 *
 * const { dispose, handler } = HttpRouter.toWebHandler(Chat, { disableLogger: true })
 *
 * const response = await handler(new Request("http://localhost/api/chat/chat-1"))
 * await response.json() // => []
 * await dispose()
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = <E, R>(
  options: Options<E, R>
): Layer.Layer<never, never, HttpRouter.HttpRouter | Decider.Decider | Exclude<R, Scope.Scope>> =>
  Layer.effectDiscard(Routes.add({
    path: options.path ?? "/api/chat",
    conversation: options.conversation,
    heartbeat: Duration.fromInputUnsafe(options.heartbeat ?? "15 seconds"),
    maxBodyBytes: options.maxBodyBytes ?? 16 * 1024 * 1024,
    maxKeptBytes: options.maxKeptBytes ?? 8 * 1024 * 1024,
    rateLimit: options.rateLimit
  }))
