/** What stands before every handler: what it fails with is a sentence, and nothing of what went wrong reaches a client. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as HttpApiError from "effect/http-api/HttpApiError"
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import * as HttpEffect from "effect/http/HttpEffect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import type * as Types from "effect/Types"
import type * as Decider from "../../Decider.ts"
import * as Logging from "../logging.ts"
import * as Sentences from "../wire/sentences.ts"
import * as Body from "./body.ts"
import * as Errors from "./errors.ts"

/**
 * What cannot be read is a 422 with what is wrong, and whatever else goes wrong a 500 that says nothing of it. It wants to
 * know who asks.
 *
 * @example
 * import { Conversation, Toolkit } from "@assent/ai"
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { ConversationProxy, ConversationProxyServer, Decider } from "@assent/web"
 * import { Effect, Layer } from "effect"
 * import { HttpRouter, HttpServer } from "effect/http"
 * import { HttpApi, HttpApiBuilder } from "effect/http-api"
 *
 * class Api extends HttpApi.make("api").add(ConversationProxy.toHttpApiGroup("chat")) {}
 *
 * const ChatLive = ConversationProxyServer.layerHttpApi(Api, "chat", {
 *   conversation: (id) => Conversation.make({ id, toolkit: Toolkit.empty })
 * }).pipe(
 *   Layer.provide(Decider.layer(() => Effect.succeed({ scope: { principal: "ada" } }))),
 *   Layer.provide(ScriptedModel.layer({ turns: [] }))
 * )
 * const Routes = HttpApiBuilder.layer(Api).pipe(Layer.provide([ChatLive, HttpServer.layerServices]))
 * const { dispose, handler } = HttpRouter.toWebHandler(Routes, { disableLogger: true })
 *
 * const post = { method: "POST", headers: { "content-type": "application/json" }, body: `{ "approved": "perhaps" }` }
 * const response = await handler(new Request("http://localhost/conversations/chat-1/decisions", post))
 * await dispose()
 *
 * response.status // => 422
 *
 * @category middleware
 * @since 0.1.0
 */
export class RequestGuard extends HttpApiMiddleware.Service<RequestGuard, { requires: Decider.Current }>()(
  "@assent/web/ConversationProxy/RequestGuard",
  { error: [Errors.Unprocessable, Errors.ServerFailed] }
) {}

export const layer: Layer.Layer<RequestGuard> = Layer.succeed(RequestGuard, (httpEffect) =>
  Effect.andThen(
    unkept,
    Effect.catchCause(httpEffect, (cause): Effect.Effect<never, Failure> => {
      if (Cause.hasInterrupts(cause)) return Effect.failCause(cause)
      const failed = Cause.findErrorOption(cause)
      if (failed._tag === "None") return broken(cause)
      const error: unknown = failed.value
      if (!HttpApiError.HttpApiSchemaError.is(error)) return Effect.failCause(cause)
      return error.kind === "Body" || error.kind === "ResponseHeaders"
        ? broken(cause)
        : Effect.fail(Body.unprocessable(error.cause, "What was asked"))
    })
  ))

type Failure = Errors.Unprocessable | Errors.ServerFailed | Types.unhandled

const broken = (cause: Cause.Cause<Types.unhandled>): Effect.Effect<never, Failure> =>
  Effect.andThen(
    Logging.error("Assent: a request to a conversation failed.", cause),
    Effect.fail(new Errors.ServerFailed({ message: Sentences.ofCause(Cause.die(undefined)) }))
  )

/** What somebody has of a conversation is out of date when they come back, and no proxy may hold a stream back. */
const unkept = HttpEffect.appendPreResponseHandler((_, response) =>
  Effect.succeed(
    HttpServerResponse.setHeaders(
      response,
      response.headers["content-type"]?.startsWith("text/event-stream") === true
        ? { "cache-control": "no-store, no-transform", "x-accel-buffering": "no" }
        : { "cache-control": "no-store" }
    )
  )
)
