/**
 * Answers a group of `ConversationProxy`, from the conversations of a program.
 *
 * A turn belongs to the server: whoever reads it may leave, and what was approved runs on. A decision is the word of
 * the person whom the group's middleware has found, and of nobody that a body names (law L16).
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as HttpApi from "effect/http-api/HttpApi"
import type * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import type * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import type * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type * as Decider from "./Decider.ts"
import type { Conversation } from "./internal/proxy/conversation.ts"
import type { RequestGuard } from "./internal/proxy/guard.ts"
import * as Server from "./internal/proxy/server.ts"

// =============================================================================
// Models
// =============================================================================

/**
 * What is used of a conversation, whatever its tools are.
 *
 * @category models
 * @since 0.1.0
 */
export type { Conversation } from "./internal/proxy/conversation.ts"

// =============================================================================
// Options
// =============================================================================

/**
 * How a group is answered.
 *
 * - `conversation` makes the conversation of an id for whoever asks, in their scope (`Approval.Scope`): as a rule
 *   `(id) => Conversation.make({ id, toolkit })`. It may fail with `Decider.Refused`.
 * - `rateLimit` is how often somebody may post in a `window`; as often as they like by default. Who posts more gets a 429
 *   with `retry-after`. It is counted by the program's `RateLimiter` of `effect/persistence`, or by each server for itself if
 *   there is none. To cancel is never refused.
 * - `maxBodyBytes` is how much may be posted at once (default 1 MiB).
 * - `heartbeat` is how often a turn that is read says that it goes on (default 15 seconds).
 * - `patience` is how long whoever decides waits for what they approved; then the answer is 202 (default 10 seconds).
 *
 * @category options
 * @since 0.1.0
 */
export interface Options<E, R> {
  readonly conversation: (id: string, who: Decider.Who) => Effect.Effect<Conversation, E | Decider.Refused, R>
  readonly rateLimit?: { readonly limit: number; readonly window: Duration.Input } | undefined
  readonly maxBodyBytes?: number | undefined
  readonly heartbeat?: Duration.Input | undefined
  readonly patience?: Duration.Input | undefined
}

// =============================================================================
// Layers
// =============================================================================

// Of the groups of an API, those that are derived from conversations.
type Derived<Groups> = Groups extends HttpApiGroup.Constraint
  ? RequestGuard extends HttpApiEndpoint.Middleware<HttpApiGroup.Endpoints<Groups>> ? HttpApiGroup.Identifier<Groups>
  : never
  : never

type Endpoints<Groups extends HttpApiGroup.Constraint, Identifier extends string> =
  HttpApiGroup.EndpointsWithIdentifier<
    Groups,
    Identifier
  >

/**
 * What the endpoints of a group need beside conversations: the middleware of the program, or its `Decider`.
 *
 * @category utility types
 * @since 0.1.0
 */
export type Requirements<Groups extends HttpApiGroup.Constraint, Identifier extends string> =
  | Exclude<HttpApiEndpoint.Middleware<Endpoints<Groups, Identifier>>, RequestGuard | Decider.Middleware>
  | HttpApiEndpoint.MiddlewareServices<Endpoints<Groups, Identifier>>
  | (Decider.Middleware extends HttpApiEndpoint.Middleware<Endpoints<Groups, Identifier>> ? Decider.Decider : never)

/**
 * Handlers of a group that `ConversationProxy.toHttpApiGroup` has derived. Something has to say who asks: a `Decider`,
 * or the middleware that the group names. Without it the program does not compile, and its routes do not start.
 *
 * @example
 * import { Conversation, Tool, Toolkit } from "@assent/ai"
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { ConversationProxy, ConversationProxyServer, Decider } from "@assent/web"
 * import { Effect, Layer, Schema } from "effect"
 * import { HttpRouter, HttpServer } from "effect/http"
 * import { HttpApi, HttpApiBuilder } from "effect/http-api"
 *
 * const DeleteFile = Tool.make("DeleteFile", {
 *   parameters: { path: Schema.String },
 *   success: Schema.String,
 *   needsApproval: true
 * })
 * const toolkit = Toolkit.make(DeleteFile)
 *
 * class Api extends HttpApi.make("api").add(ConversationProxy.toHttpApiGroup("chat")) {}
 *
 * const ChatLive = ConversationProxyServer.layerHttpApi(Api, "chat", {
 *   conversation: (id) => Conversation.make({ id, toolkit })
 * }).pipe(
 *   Layer.provide(Decider.layer(() => Effect.succeed({ person: { id: "ada" }, scope: { principal: "ada" } }))),
 *   Layer.provide(toolkit.toLayer({ DeleteFile: ({ path }) => Effect.succeed(`deleted ${path}`) })),
 *   Layer.provide(ScriptedModel.layer({ turns: ["Hello!"] }))
 * )
 *
 * const Routes = HttpApiBuilder.layer(Api).pipe(Layer.provide([ChatLive, HttpServer.layerServices]))
 *
 * const { dispose, handler } = HttpRouter.toWebHandler(Routes, { disableLogger: true })
 *
 * const response = await handler(new Request("http://localhost/conversations/chat-1/requests"))
 * await response.json() // => []
 * await dispose()
 *
 * @category layers
 * @since 0.1.0
 */
export const layerHttpApi = <
  ApiId extends string,
  Groups extends HttpApiGroup.Constraint,
  const Identifier extends Derived<Groups>,
  E,
  R
>(
  api: HttpApi.HttpApi<ApiId, Groups>,
  identifier: Identifier,
  options: Options<E, R>
): Layer.Layer<
  HttpApiGroup.Service<ApiId, Identifier>,
  never,
  Exclude<R, Scope.Scope> | Requirements<Groups, Identifier>
> =>
  Server.layer(api, identifier, {
    conversation: options.conversation,
    rateLimit: options.rateLimit,
    maxBodyBytes: options.maxBodyBytes ?? 1024 * 1024,
    heartbeat: Duration.fromInputUnsafe(options.heartbeat ?? "15 seconds"),
    patience: Duration.fromInputUnsafe(options.patience ?? "10 seconds")
  })
