/**
 * Who is at the other end: the program says so for each request, from a session, a token or whatever it has, and the routes
 * of this package take it from nowhere else. Nothing that a page posts says who somebody is (law L16).
 *
 * @since 0.1.0
 */
import type { Approval, Approver } from "@assent/ai"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Logging from "./internal/logging.ts"

// =============================================================================
// Models
// =============================================================================

/**
 * Whoever makes a request: the person, whose decisions carry the name, and the scope of the conversations that they see.
 * Everybody whose scope has the same `tenant` and `principal` sees the same conversations.
 *
 * @category models
 * @since 0.1.0
 */
export interface Who {
  readonly person?: Approver.Person | undefined
  readonly scope: Pick<Approval.ApprovalScope, "tenant" | "principal">
}

// =============================================================================
// Errors
// =============================================================================

/**
 * The request is not answered: nobody is logged in (401), or whoever is may not see this (403, or 404 as if it were not
 * there). The message is sent to the page.
 *
 * @category errors
 * @since 0.1.0
 */
export class Refused extends Schema.TaggedError<Refused>()("Refused", {
  status: Schema.Literals([401, 403, 404]),
  message: Schema.String
}) {}

const refused = <Status extends Refused["status"]>(status: Status, description: string) =>
  Refused.check(Schema.makeFilter((refused: Refused) => refused.status === status)).annotate({
    httpApiStatus: status,
    description
  })

/**
 * {@link Refused} with its statuses, as an `HttpApi` declares them: the `error` of a middleware that says who somebody is.
 *
 * @example
 * import { Decider } from "@assent/web"
 * import { Schema } from "effect"
 * import { HttpApi, HttpApiEndpoint, HttpApiGroup, HttpApiMiddleware, OpenApi } from "effect/http-api"
 *
 * class Authorization extends HttpApiMiddleware.Service<Authorization, { provides: Decider.Current }>()(
 *   "Authorization",
 *   { error: Decider.refusals }
 * ) {}
 *
 * const Me = HttpApiGroup.make("me").add(HttpApiEndpoint.get("name", "/name", { success: Schema.String }))
 * const Api = HttpApi.make("api").add(Me.middleware(Authorization))
 *
 * const { responses } = OpenApi.fromApi(Api).paths["/name"]!.get!
 *
 * Object.keys(responses).filter((status) => status !== "200") // => ["401", "403", "404"]
 *
 * @category errors
 * @since 0.1.0
 */
export const refusals = [
  refused(401, "Nobody is logged in, or it could not be found out who asks."),
  refused(403, "Whoever asks may not do this."),
  refused(404, "There is no such conversation for whoever asks.")
] as const

// =============================================================================
// Service
// =============================================================================

/**
 * Finds out who makes a request. Routes that need it do not start without one.
 *
 * @example
 * import { Decider } from "@assent/web"
 * import { Effect, Layer } from "effect"
 * import { HttpRouter, HttpServerResponse } from "effect/http"
 *
 * // A route of the program's own, which knows people as the routes of this package do.
 * const Name = HttpRouter.use((router) =>
 *   Effect.gen(function*() {
 *     const { identify } = yield* Decider.Decider
 *     const answer = Effect.match(identify, {
 *       onSuccess: ({ person }) => HttpServerResponse.text(person?.name ?? "nobody"),
 *       onFailure: ({ message, status }) => HttpServerResponse.text(message, { status })
 *     })
 *     yield* router.add("GET", "/name", answer)
 *   })
 * )
 * const Ours = Decider.layer((request) =>
 *   request.headers["authorization"] === "Bearer t-1"
 *     ? Effect.succeed({ person: { id: "ada", name: "Ada" }, scope: { principal: "ada" } })
 *     : Effect.fail(new Decider.Refused({ status: 401, message: "Please log in." }))
 * )
 *
 * const { dispose, handler } = HttpRouter.toWebHandler(Layer.provide(Name, Ours), { disableLogger: true })
 * const named = async (authorization: string) =>
 *   (await handler(new Request("http://localhost/name", { headers: { authorization } }))).text()
 *
 * await named("Bearer t-1") // => "Ada"
 * await named("Bearer t-2") // => "Please log in."
 * await dispose()
 *
 * @category services
 * @since 0.1.0
 */
export class Decider extends Context.Service<Decider, {
  readonly identify: Effect.Effect<Who, Refused, HttpServerRequest.HttpServerRequest>
}>()("@assent/web/Decider") {}

/**
 * Who makes the request that is being answered, in the handlers of an `HttpApi`. A middleware provides it: {@link Middleware},
 * or one of the program with its own security.
 *
 * @example
 * import { Decider } from "@assent/web"
 * import { Effect, Layer, Redacted, Schema } from "effect"
 * import { HttpRouter, HttpServer } from "effect/http"
 * import { HttpApi, HttpApiBuilder, HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
 * import { HttpApiMiddleware, HttpApiSecurity } from "effect/http-api"
 *
 * class Authorization extends HttpApiMiddleware.Service<Authorization, { provides: Decider.Current }>()(
 *   "Authorization",
 *   { security: { bearer: HttpApiSecurity.bearer }, error: Decider.refusals }
 * ) {}
 *
 * const tokens = new Map([["t-1", { id: "ada", name: "Ada" }]])
 *
 * const AuthorizationLive = Layer.succeed(Authorization, {
 *   bearer: (effect, { credential }) => {
 *     const person = tokens.get(Redacted.value(credential))
 *     return person === undefined
 *       ? Effect.fail(new Decider.Refused({ status: 401, message: "Please log in." }))
 *       : Effect.provideService(effect, Decider.Current, { person, scope: { principal: person.id } })
 *   }
 * })
 *
 * const Me = HttpApiGroup.make("me").add(HttpApiEndpoint.get("name", "/name", { success: Schema.String }))
 * const Api = HttpApi.make("api").add(Me.middleware(Authorization))
 * const MeLive = HttpApiBuilder.group(Api, "me", (handlers) =>
 *   handlers.handle("name", () => Effect.map(Decider.Current, ({ person }) => person?.name ?? "nobody")))
 * const Routes = HttpApiBuilder.layer(Api).pipe(
 *   Layer.provide(MeLive),
 *   Layer.provide([AuthorizationLive, HttpServer.layerServices])
 * )
 *
 * const { dispose, handler } = HttpRouter.toWebHandler(Routes, { disableLogger: true })
 * const asked = (authorization: string) =>
 *   handler(new Request("http://localhost/name", { headers: { authorization } }))
 * const [ada, nobody] = [await asked("Bearer t-1"), await asked("Bearer t-2")]
 *
 * await ada.json() // => "Ada"
 * nobody.status // => 401
 * await dispose()
 *
 * @category services
 * @since 0.1.0
 */
export class Current extends Context.Service<Current, Who>()("@assent/web/Decider/Current") {}

// =============================================================================
// Middleware
// =============================================================================

/**
 * Asks the {@link Decider} of the program who makes a request to an `HttpApi`, so that its routes and those of this package's
 * other modules know people in the same way.
 *
 * @example
 * import { Decider } from "@assent/web"
 * import { Effect, Layer, Schema } from "effect"
 * import { HttpRouter, HttpServer } from "effect/http"
 * import { HttpApi, HttpApiBuilder, HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
 *
 * const Me = HttpApiGroup.make("me").add(HttpApiEndpoint.get("name", "/name", { success: Schema.String }))
 * const Api = HttpApi.make("api").add(Me.middleware(Decider.Middleware))
 *
 * const MeLive = HttpApiBuilder.group(Api, "me", (handlers) =>
 *   handlers.handle("name", () => Effect.map(Decider.Current, ({ person }) => person?.name ?? "nobody")))
 * const Routes = HttpApiBuilder.layer(Api).pipe(
 *   Layer.provide(MeLive),
 *   Layer.provide(Decider.layerMiddleware),
 *   Layer.provide(Decider.layer(() => Effect.succeed({ person: { id: "ada", name: "Ada" }, scope: {} }))),
 *   Layer.provide(HttpServer.layerServices)
 * )
 *
 * const { dispose, handler } = HttpRouter.toWebHandler(Routes, { disableLogger: true })
 * const response = await handler(new Request("http://localhost/name"))
 *
 * await response.json() // => "Ada"
 * await dispose()
 *
 * @category middleware
 * @since 0.1.0
 */
export class Middleware extends HttpApiMiddleware.Service<Middleware, { provides: Current }>()(
  "@assent/web/Decider/Middleware",
  { error: refusals }
) {}

/**
 * {@link Middleware}, from the decider of the program.
 *
 * @example
 * import { Decider } from "@assent/web"
 * import { Effect, Layer, Schema } from "effect"
 * import { HttpRouter, HttpServer } from "effect/http"
 * import { HttpApi, HttpApiBuilder, HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
 *
 * const Me = HttpApiGroup.make("me").add(HttpApiEndpoint.get("name", "/name", { success: Schema.String }))
 * const Api = HttpApi.make("api").add(Me.middleware(Decider.Middleware))
 *
 * const MeLive = HttpApiBuilder.group(Api, "me", (handlers) => handlers.handle("name", () => Effect.succeed("Ada")))
 * const nobody = new Decider.Refused({ status: 401, message: "Please log in." })
 * const Routes = HttpApiBuilder.layer(Api).pipe(
 *   Layer.provide(MeLive),
 *   Layer.provide(Decider.layerMiddleware),
 *   Layer.provide(Decider.layer(() => Effect.fail(nobody))),
 *   Layer.provide(HttpServer.layerServices)
 * )
 *
 * const { dispose, handler } = HttpRouter.toWebHandler(Routes, { disableLogger: true })
 * const response = await handler(new Request("http://localhost/name"))
 * await dispose()
 *
 * response.status // => 401
 *
 * @category middleware
 * @since 0.1.0
 */
export const layerMiddleware: Layer.Layer<Middleware, never, Decider> = Layer.effect(
  Middleware,
  Effect.map(
    Decider,
    ({ identify }): Middleware["Service"] => (effect) =>
      Effect.flatMap(identify, (who) => Effect.provideService(effect, Current, who))
  )
)

// =============================================================================
// Layers
// =============================================================================

/**
 * Who makes a request, as the program knows it. What fails with anything but {@link Refused}, or dies, refuses the request:
 * nobody is known then.
 *
 * @example
 * import { Decider } from "@assent/web"
 * import { Effect } from "effect"
 * import { HttpServerRequest } from "effect/http"
 *
 * const sessions = new Map([["s-1", { id: "ada", name: "Ada" }]])
 *
 * const Ours = Decider.layer((request) => {
 *   const person = sessions.get(request.cookies["session"] ?? "")
 *   return person === undefined
 *     ? Effect.fail(new Decider.Refused({ status: 401, message: "Please log in." }))
 *     : Effect.succeed({ person, scope: { principal: person.id } })
 * })
 *
 * const who = (cookie: string) =>
 *   Effect.flatMap(Decider.Decider, ({ identify }) => identify).pipe(
 *     Effect.map(({ person }) => person?.name),
 *     Effect.catch(({ message }) => Effect.succeed(message)),
 *     Effect.provide(Ours),
 *     Effect.provideService(
 *       HttpServerRequest.HttpServerRequest,
 *       HttpServerRequest.fromWeb(new Request("http://localhost/api/chat", { headers: { cookie } }))
 *     )
 *   )
 *
 * await Effect.runPromise(who("session=s-1")) // => "Ada"
 * await Effect.runPromise(who("session=s-2")) // => "Please log in."
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = <E, R>(
  identify: (request: HttpServerRequest.HttpServerRequest) => Effect.Effect<Who, E | Refused, R>
): Layer.Layer<Decider, never, R> =>
  Layer.effect(
    Decider,
    Effect.map(Effect.context<R>(), (context) => ({
      identify: Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
        Effect.suspend(() =>
          identify(request)
        ).pipe(
          Effect.catchCause((cause) => refusal(cause)),
          Effect.provideContext(context)
        ))
    }))
  )

/**
 * Everybody is let in, and nobody is known: whoever reaches the server sees every conversation and decides in it. For a
 * program on one's own machine. What policies name `approvers` for, nobody can decide.
 *
 * @example
 * import { Decider } from "@assent/web"
 * import { Effect, Logger } from "effect"
 * import { HttpServerRequest } from "effect/http"
 *
 * const warnings: Array<unknown> = []
 * const program = Effect.flatMap(Decider.Decider, ({ identify }) => identify).pipe(
 *   Effect.provideService(
 *     HttpServerRequest.HttpServerRequest,
 *     HttpServerRequest.fromWeb(new Request("http://localhost/api/chat"))
 *   ),
 *   Effect.provide(Decider.layerInsecure),
 *   Effect.provide(Logger.layer([Logger.make(({ message }) => warnings.push(message))]))
 * )
 *
 * await Effect.runPromise(program) // => { scope: {} }
 * warnings.length // => 1
 *
 * @category layers
 * @since 0.1.0
 */
export const layerInsecure: Layer.Layer<Decider> = Layer.effect(
  Decider,
  Effect.as(
    Effect.logWarning("Assent: the routes let everybody in (`Decider.layerInsecure`)."),
    { identify: Effect.succeed({ scope: {} }) }
  )
)

// =============================================================================
// Internals
// =============================================================================

const refusal = (cause: Cause.Cause<unknown>): Effect.Effect<never, Refused> => {
  const error = Option.getOrUndefined(Cause.findErrorOption(cause))
  return error instanceof Refused
    ? Effect.fail(error)
    : Effect.andThen(
      Logging.error("Assent: it could not be found out who makes a request.", cause),
      Effect.fail(new Refused({ status: 401, message: "It could not be found out who you are." }))
    )
}
