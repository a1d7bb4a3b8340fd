/**
 * Conversations as a group of a program's own `HttpApi`: to say something and read what is said as it comes, to decide,
 * to answer what a tool waits for, and to see what is open. The document of the API (OpenAPI) and a typed client come
 * with it. This is what a server and its clients share; `ConversationProxyServer` answers it.
 *
 * What is posted says what is said and what is answered, and never by whom: that, a middleware knows ({@link Decider}).
 * Only what is named here is sent; no cause, and nothing of a store, ever is (law L15).
 *
 * @since 0.1.0
 */
import type * as Context from "effect/Context"
import type * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import type * as Decider from "./Decider.ts"
import { type Group, make } from "./internal/proxy/group.ts"

// =============================================================================
// Models
// =============================================================================

/**
 * What goes over the wire.
 *
 * @category models
 * @since 0.1.0
 */
export {
  Accepted,
  Answer,
  Decided,
  Fate,
  File,
  History,
  Message,
  MessagePart,
  Part,
  RequestState,
  ToolApprovalRequest,
  ToolCall,
  ToolResult
} from "./internal/proxy/model.ts"

// =============================================================================
// Errors
// =============================================================================

/**
 * What a request may fail with: a status, and a sentence for people.
 *
 * @category errors
 * @since 0.1.0
 */
export {
  AlreadyDecided,
  Conflict,
  NoLongerOpen,
  NotAnApprover,
  NotJson,
  ServerFailed,
  TooLarge,
  TooManyRequests,
  TurnFailed,
  Unavailable,
  UnknownRequest,
  Unprocessable
} from "./internal/proxy/errors.ts"

// =============================================================================
// Middleware
// =============================================================================

/**
 * What stands before every endpoint: what cannot be read is a 422, and whatever else goes wrong says nothing of itself.
 *
 * @category middleware
 * @since 0.1.0
 */
export { RequestGuard } from "./internal/proxy/guard.ts"

// =============================================================================
// Groups
// =============================================================================

/**
 * The endpoints of a group of this name, under a path, with the middleware that says who asks.
 *
 * @category models
 * @since 0.1.0
 */
export type { Group } from "./internal/proxy/group.ts"

// =============================================================================
// Options
// =============================================================================

/**
 * How a group is made.
 *
 * - `path` is where its endpoints are (default `/conversations`).
 * - `middleware` says who asks: it provides `Decider.Current`. By default the `Decider` of the program is asked.
 *
 * @category options
 * @since 0.1.0
 */
export interface Options<Path extends `/${string}`, M extends HttpApiMiddleware.AnyId, S> {
  readonly path?: Path | undefined
  readonly middleware?: Context.Key<M, S> | undefined
}

// =============================================================================
// Constructors
// =============================================================================

/**
 * Derives a group of an `HttpApi` that conversations are used through.
 *
 * | Endpoint  | Route                            | What                                                           |
 * | --------- | -------------------------------- | -------------------------------------------------------------- |
 * | `send`    | `POST /:id/messages`             | says something; the turn as events                             |
 * | `decide`  | `POST /:id/decisions`            | one answer, or several                                         |
 * | `answer`  | `POST /:id/answers`              | the value that a tool waits for                                |
 * | `pending` | `GET /:id/requests`              | what is open                                                   |
 * | `state`   | `GET /:id/requests/state`        | what became of a request                                       |
 * | `history` | `GET /:id/messages`              | the messages                                                   |
 * | `follow`  | `GET /:id/turn`                  | the turn that is being taken; 204 if none is                   |
 * | `cancel`  | `POST /:id/cancel`               | stops what goes on                                             |
 *
 * 404 is what is unknown, 409 what was decided already, with what and by whom, or a conversation that is busy, 410 what has
 * expired or was superseded, 403 who may not decide, 422 what is no answer to the question, 503 a store that is away.
 *
 * @example
 * import { ConversationProxy } from "@assent/web"
 * import { HttpApi, OpenApi } from "effect/http-api"
 *
 * class Api extends HttpApi.make("api").add(ConversationProxy.toHttpApiGroup("chat")) {}
 *
 * const paths = Object.keys(OpenApi.fromApi(Api).paths)
 *
 * paths[0] // => "/conversations/{id}/messages"
 *
 * @category constructors
 * @since 0.1.0
 */
export const toHttpApiGroup = <
  const Name extends string,
  const Path extends `/${string}` = "/conversations",
  M extends HttpApiMiddleware.AnyId = Decider.Middleware,
  S = unknown
>(name: Name, options?: Options<Path, M, S>): Group<Name, Path, M> => make(name, options?.path, options?.middleware)
