/**
 * Answers from other systems: a payment service that calls back, a build that has ended.
 *
 * A tool makes a token with {@link makeToken}, gives the other system an address that has it, and waits with
 * `Interaction.webhook`. {@link layer} and {@link handler} serve that address: they take one answer that fits, keep it in
 * `SuspensionStore`, and wake the conversation, which takes a turn.
 *
 * Whoever has the token may answer, once. It is a secret of its own: it is kept as a digest alone, and stands in no part,
 * no history and no log. The handler keeps effect's request log from showing paths; its spans show them, so use
 * {@link layerUntraced} where the token is in the path, or have it sent as `Authorization: Bearer <token>`, which effect
 * shows nowhere.
 *
 * @since 0.1.0
 */
import type * as Upstream from "effect/ai/Tool"
import type * as ByteSize from "effect/ByteSize"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as HttpMiddleware from "effect/http/HttpMiddleware"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type * as ApprovalError from "./ApprovalError.ts"
import type * as Approver from "./Approver.ts"
import * as Canonical from "./internal/seal/canonical.ts"
import * as Deferral from "./internal/tool/deferral.ts"
import * as Interactions from "./internal/waiting/interaction.ts"
import * as Suspensions from "./internal/waiting/suspensionRecords.ts"
import * as WebhookBody from "./internal/waiting/webhookBody.ts"
import * as WebhookPage from "./internal/waiting/webhookPage.ts"
import * as WebhookSchema from "./internal/waiting/webhookSchema.ts"
import * as WebhookSignature from "./internal/waiting/webhookSignature.ts"
import * as WebhookToken from "./internal/waiting/webhookToken.ts"
import * as SuspensionStore from "./SuspensionStore.ts"

// =============================================================================
// Tokens
// =============================================================================

/**
 * Makes a token: 32 random bytes as base64url, redacted. It is good for one suspension, and for one answer.
 *
 * @example
 * import { Webhook } from "@assent/ai"
 * import { Effect } from "effect"
 *
 * const token = await Effect.runPromise(Webhook.makeToken)
 *
 * String(token) // => "<redacted:webhook token>"
 *
 * @category tokens
 * @since 0.1.0
 */
export const makeToken: Effect.Effect<Redacted.Redacted> = WebhookToken.make

/**
 * The address that another system is to call: `base`, with the token as the last part of its path.
 *
 * @example
 * import { Webhook } from "@assent/ai"
 * import { Redacted } from "effect"
 *
 * const address = Webhook.address("https://example.com/hooks", Redacted.make("token"))
 *
 * Redacted.value(address) // => "https://example.com/hooks/token"
 *
 * @category tokens
 * @since 0.1.0
 */
export const address = (base: string | URL, token: Redacted.Redacted): Redacted.Redacted =>
  Redacted.make(`${String(base).replace(/\/+$/, "")}/${Redacted.value(token)}`, { label: "webhook address" })

// =============================================================================
// Options
// =============================================================================

/**
 * How webhooks are served.
 *
 * - `wake` is called once an answer was accepted, with what waited for it: let its conversation take a turn, as
 *   `Conversation.wake` does. The other system does not wait for it. If it fails, the answer is accepted all the same, and
 *   `SuspensionStore.watchTimers` calls its own `wake` for it.
 * - `toolkit` are the tools that wait, if they are known here: an answer is then read by the very schema that the tool
 *   will read it with. Otherwise by the JSON Schema that was kept with the request, which may let more pass; what the tool
 *   cannot read after all ends its call with a failed result.
 * - `maxBodySize` (default 256 KiB, at most 1 MB) and `bodyTimeout` (default 30 seconds) bound what is read.
 * - `verify` says whether the sender is who shares a secret with the program, by what was sent, as it was sent:
 *   {@link signature} makes one. Where it says no or fails, nothing is taken.
 * - `answer` makes the answer of what was sent, for senders with words of their own. What was sent is JSON, or the fields of
 *   a form by their names (`application/x-www-form-urlencoded`, as Slack and Twilio send it).
 * - `page` lets a person answer who was sent the address as a link. Opening it shows what is asked and a button for each
 *   answer, and answers nothing: mail programs open links too. Whoever has the link may answer.
 * - `by` says who sends it, as the program has verified it, by a signature for example: whoever has the token alone is
 *   nobody known (law L16). It may read the body with `request.text` and the headers; what stands there is no person by
 *   itself. If it fails, the answer is refused, and the request stays open.
 *
 * @category options
 * @since 0.1.0
 */
export interface Options<E = never, R = never, R2 = never> {
  readonly wake: (suspension: SuspensionStore.Suspension) => Effect.Effect<unknown, E, R>
  readonly by?:
    | ((
      request: HttpServerRequest.HttpServerRequest,
      suspension: SuspensionStore.Suspension
    ) => Effect.Effect<Approver.Person | undefined, unknown, R2>)
    | undefined
  readonly verify?:
    | ((body: string, headers: { readonly [name: string]: string | undefined }) => Effect.Effect<boolean, unknown, R2>)
    | undefined
  readonly answer?: ((body: Schema.Json) => unknown) | undefined
  readonly page?: Page | undefined
  readonly toolkit?: { readonly tools: { readonly [name: string]: Upstream.Any } } | undefined
  readonly maxBodySize?: ByteSize.Input | undefined
  readonly bodyTimeout?: Duration.Input | undefined
}

/**
 * A page for a person who was sent the address as a link: each button gives its answer. Without a `description` it says what
 * the tool waits for in the words of its `prompt`. All of it is text, never markup (law L15).
 *
 * @category options
 * @since 0.1.0
 */
export type Page = WebhookPage.Page

/**
 * How senders sign what they send: HMAC-SHA-256 with a shared `secret`, in a `header`, as `"hex"` (default) or
 * `"base64"`, after a `prefix`. `message` is what they sign, where it is more than the body.
 *
 * @category options
 * @since 0.1.0
 */
export type SignatureOptions = WebhookSignature.Options

// =============================================================================
// Serving
// =============================================================================

/**
 * A `verify` for senders who sign what they send, compared in constant time. GitHub's is
 * `{ secret, header: "x-hub-signature-256", prefix: "sha256=" }`; Slack's has `header: "x-slack-signature"`,
 * `prefix: "v0="` and ``message: (body, headers) => `v0:${headers["x-slack-request-timestamp"]}:${body}` ``. An old message
 * that is sent again answers nothing: a token is good for one answer.
 *
 * @example
 * import { Webhook } from "@assent/ai"
 * import { Effect, Redacted } from "effect"
 *
 * const verify = Webhook.signature({ secret: Redacted.make("shared"), header: "x-signature" })
 *
 * await Effect.runPromise(verify("{}", { "x-signature": "00" })) // => false
 *
 * @category serving
 * @since 0.1.0
 */
export const signature: (
  options: SignatureOptions
) => (body: string, headers: { readonly [name: string]: string | undefined }) => Effect.Effect<boolean> =
  WebhookSignature.make

/**
 * Answers one request, for any server on `effect/http`. The token is that of its `Authorization: Bearer`, or else the last
 * part of its path; the body is the answer, as JSON.
 *
 * - 202: accepted, exactly once, however many race.
 * - 400: no JSON, or it does not fit what is waited for; 413: too large; 408: too slow. The request stays open.
 * - 403: whoever sends it is not whom the program takes answers from. The request stays open.
 * - 404: nothing waits, or ever waited, with this token. 409: it was answered. 410: it is over, or came too late.
 * - 405: not a POST, or a GET where there is no `page`. 503: the store could not be asked; try again.
 *
 * @example
 * import { Webhook } from "@assent/ai"
 * import { Effect } from "effect"
 * import { HttpEffect } from "effect/http"
 *
 * const serve = HttpEffect.toWebHandler(Webhook.handler({ wake: () => Effect.void }))
 *
 * const response = await serve(new Request("https://example.com/hooks/unknown", { method: "POST", body: "{}" }))
 *
 * response.status // => 404
 *
 * @category serving
 * @since 0.1.0
 */
export const handler = <E, R, R2 = never>(
  options: Options<E, R, R2>
): Effect.Effect<HttpServerResponse.HttpServerResponse, never, R | R2 | HttpServerRequest.HttpServerRequest> =>
  answer(options, Effect.forkDetach)

/**
 * Serves webhooks on a router, at `path`, with the token behind it or in the header. What wakes conversations ends with
 * the layer.
 *
 * @example
 * import { Webhook } from "@assent/ai"
 * import { Effect, Layer } from "effect"
 * import { HttpRouter } from "effect/http"
 *
 * const app = Webhook.layer("/hooks", { wake: () => Effect.void })
 *
 * const { dispose, handler } = HttpRouter.toWebHandler(app)
 *
 * const response = await handler(new Request("https://example.com/hooks/unknown", { method: "POST", body: "{}" }))
 *
 * await dispose()
 *
 * response.status // => 404
 *
 * @category serving
 * @since 0.1.0
 */
export const layer = <E, R, R2 = never>(
  path: `/${string}`,
  options: Options<E, R, R2>
): Layer.Layer<never, never, HttpRouter.HttpRouter | Exclude<R | R2, Scope.Scope>> =>
  Layer.effectDiscard(Effect.gen(function*() {
    const router = yield* HttpRouter.HttpRouter
    const store = yield* SuspensionStore.SuspensionStore
    const scope = yield* Effect.scope
    const services = yield* Effect.context<R | R2>()
    const within = <A, E>(effect: Effect.Effect<A, E, R | R2>): Effect.Effect<A, E> =>
      Effect.updateContext(effect, (current: Context.Context<never>) => Context.merge(current, services))
    const { by, verify, ...rest } = options
    const serve = answer({
      ...rest,
      verify: verify === undefined ? undefined : (body, headers) => within(verify(body, headers)),
      wake: (suspension) => within(options.wake(suspension)),
      by: by === undefined ? undefined : (request, suspension) => within(by(request, suspension))
    }, Effect.forkIn(scope)).pipe(
      Effect.provideService(SuspensionStore.SuspensionStore, store)
    )
    yield* router.add("*", path, serve)
    yield* router.add("*", `${path}/:token`, serve)
    // What is spelt so that no route has it may have the token all the same.
    const isBelow = WebhookToken.isBelow(path)
    yield* router.addGlobalMiddleware((effect) =>
      Effect.flatMap(
        HttpServerRequest.HttpServerRequest,
        ({ url }) => isBelow(url) ? HttpMiddleware.withLoggerDisabled(effect) : effect
      )
    )
  }))

/**
 * Keeps effect's server from making spans of requests whose path is below this one, because the path of a request stands
 * in its span; however the path is spelt (`//hooks`, `/Hooks`, `/%68ooks`), and below whatever prefix. Provide it to the
 * server.
 *
 * @example
 * import { Webhook } from "@assent/ai"
 * import { Effect } from "effect"
 * import { HttpMiddleware, HttpServerRequest } from "effect/http"
 *
 * const isUntraced = (path: string) =>
 *   Effect.map(
 *     HttpMiddleware.TracerDisabledWhen,
 *     (isDisabled) => isDisabled(HttpServerRequest.fromWeb(new Request(`https://example.com${path}`)))
 *   ).pipe(Effect.provide(Webhook.layerUntraced("/hooks")))
 *
 * await Effect.runPromise(isUntraced("/hooks/a-token")) // => true
 * await Effect.runPromise(isUntraced("//Hooks/a-token")) // => true
 * await Effect.runPromise(isUntraced("/pages/a")) // => false
 *
 * @category serving
 * @since 0.1.0
 */
export const layerUntraced = (path: `/${string}`): Layer.Layer<never> =>
  Layer.effect(
    HttpMiddleware.TracerDisabledWhen,
    Effect.map(HttpMiddleware.TracerDisabledWhen, (others) => {
      const isBelow = WebhookToken.isBelow(path)
      return (request) => isBelow(request.url) || others(request)
    })
  )

// =============================================================================
// Internals
// =============================================================================

/** How what wakes the conversation goes on when the response is sent. */
type Fork = <R>(wake: Effect.Effect<void, never, R>) => Effect.Effect<Fiber.Fiber<void>, never, R>

const refuse = (status: number, error: string, headers?: { readonly [name: string]: string }) =>
  HttpServerResponse.jsonUnsafe({ error }, { status, headers: { "cache-control": "no-store", ...headers } })

const accepted = HttpServerResponse.jsonUnsafe({ accepted: true }, {
  status: 202,
  headers: { "cache-control": "no-store" }
})
const onlyPost = refuse(405, "Only POST is accepted here.", { allow: "POST" })
const onlyPage = refuse(405, "Only GET and POST are accepted here.", { allow: "GET, POST" })
const notTaken = refuse(403, "This sender may not answer. The request still waits for an answer.")
const unknown = refuse(404, "There is no request at this address.")
const answered = refuse(409, "This was answered before. The first answer counts.")
const over = refuse(410, "This request is no longer open.")
const tooLarge = refuse(413, "The answer is too large.")
const tooSlow = refuse(408, "The answer did not come in time.", { connection: "close" })
const unreadable = refuse(400, "The answer is neither JSON nor a form.")
const doesNotFit = refuse(400, "The answer does not fit the request. Correct it and send it again.")
const unavailable = refuse(503, "The answer could not be processed. Send it again.", { "retry-after": "5" })

type Refusal = HttpServerResponse.HttpServerResponse

const answer = <E, R, R2>(
  options: Options<E, R, R2>,
  fork: Fork
): Effect.Effect<HttpServerResponse.HttpServerResponse, never, R | R2 | HttpServerRequest.HttpServerRequest> =>
  HttpMiddleware.withLoggerDisabled(Effect.catch(
    Effect.gen(function*() {
      const request = yield* HttpServerRequest.HttpServerRequest
      const { page } = options
      if (request.method === "GET" && page !== undefined) return yield* show(request, page)
      if (request.method !== "POST") return page === undefined ? onlyPost : onlyPage
      const { suspension } = yield* find(request)
      const body = yield* Effect.mapError(WebhookBody.read(request, options), (problem) => bodyRefusals[problem])
      yield* verified(body, request, options)
      const pressed = page === undefined ? undefined : WebhookPage.answerOf(page, body.json)
      const json = pressed ?? (yield* answerOf(body, options))
      const by = yield* personOf(request, suspension, options)
      if (!(yield* fits(suspension, json, options))) return doesNotFit
      const wake = wakeAfter(suspension, options)
      // A caller who leaves leaves an answer that was accepted, and a conversation that is woken.
      yield* Effect.uninterruptible(Effect.andThen(deliver(suspension, json, by), fork(wake)))
      return page === undefined || pressed === undefined
        ? accepted
        : WebhookPage.told(page, 202, "Thank you. Your answer was accepted. You can close this page.")
    }),
    (refusal) => Effect.succeed(refusal)
  ))

/** Nothing of it answers. */
const show = (request: HttpServerRequest.HttpServerRequest, page: Page) =>
  Effect.match(find(request), {
    onFailure: (refusal) => WebhookPage.told(page, refusal.status, sentences.get(refusal) ?? "Try again later."),
    onSuccess: ({ suspension: { awaited } }) => WebhookPage.question(page, awaited.prompt)
  })

const sentences = new Map<Refusal, string>([
  [unknown, "There is no request at this address."],
  [answered, "This was answered before. The first answer counts."],
  [over, "This request is no longer open."]
])

const bodyRefusals = { "too large": tooLarge, "too slow": tooSlow, unreadable }

const verified = <R2>(
  { text }: WebhookBody.Body,
  { headers }: HttpServerRequest.HttpServerRequest,
  { verify }: Pick<Options<unknown, unknown, R2>, "verify">
): Effect.Effect<void, Refusal, R2> =>
  verify === undefined ? Effect.void : Effect.suspend(() => verify(text, headers)).pipe(
    Effect.catchCause((cause) => Effect.fail(Cause.hasFails(cause) ? notTaken : unavailable)),
    Effect.flatMap((isTrue) => isTrue === true ? Effect.void : Effect.fail(notTaken))
  )

const answerOf = (
  { json }: WebhookBody.Body,
  { answer }: Pick<Options, "answer">
): Effect.Effect<Schema.Json, Refusal> => {
  if (answer === undefined) return Effect.succeed(json)
  const made = Result.try((): unknown => answer(json))
  return Result.isSuccess(made) && Result.isSuccess(Canonical.canonicalize(made.success))
    // What can be made canonical is JSON.
    ? Effect.succeed(made.success as Schema.Json)
    : Effect.fail(doesNotFit)
}

const find = Effect.fnUntraced(function*(
  request: HttpServerRequest.HttpServerRequest
): Effect.fn.Return<SuspensionStore.Found, Refusal> {
  const token = WebhookToken.read(request)
  const store = yield* SuspensionStore.SuspensionStore
  const found = token === undefined
    ? undefined
    : yield* Effect.mapError(Effect.flatMap(WebhookToken.digestOf(token), store.findWebhook), refusalOf)
  if (found === undefined || found.suspension.awaited.kind !== "webhook") return yield* Effect.fail(unknown)
  const now = yield* Clock.currentTimeMillis
  if (found.status === "over" || found.suspension.expiresAt <= now) return yield* Effect.fail(over)
  if (found.status === "taken" || found.delivered !== undefined) return yield* Effect.fail(answered)
  return found
})

const fits = (
  { awaited, toolName }: SuspensionStore.Suspension,
  json: Schema.Json,
  { toolkit }: Pick<Options, "toolkit">
): Effect.Effect<boolean> => {
  const tool = toolkit !== undefined && Object.hasOwn(toolkit.tools, toolName) ? toolkit.tools[toolName] : undefined
  const deferral = tool === undefined ? undefined : Deferral.of(tool)
  const interaction = deferral === undefined ? undefined : Deferral.interactionOf(deferral, awaited.name)
  return interaction === undefined
    ? Effect.succeed(WebhookSchema.fits(awaited.answerSchema, json))
    : Effect.isSuccess(Interactions.decodeAnswer(interaction, awaited, json))
}

// What it fails with may say how senders are told apart, which is for the program to know.
const personOf = <R2>(
  request: HttpServerRequest.HttpServerRequest,
  suspension: SuspensionStore.Suspension,
  { by }: Pick<Options<unknown, unknown, R2>, "by">
): Effect.Effect<Approver.Person | undefined, Refusal, R2> =>
  by === undefined ? Effect.undefined : Effect.catchCause(
    Effect.suspend(() => by(request, suspension)),
    (cause) => Effect.fail(Cause.hasFails(cause) ? notTaken : unavailable)
  )

const deliver = (
  { approvalId }: SuspensionStore.Suspension,
  json: Schema.Json,
  by: Approver.Person | undefined
): Effect.Effect<void, Refusal> =>
  Effect.mapError(SuspensionStore.deliver(approvalId, json, { by, via: "webhook" }), refusalOf)

const refusalOf = ({ reason }: ApprovalError.ApprovalError): Refusal => {
  switch (reason._tag) {
    case "UnknownApproval":
      return unknown
    case "Expired":
      return over
    case "NotAnApprover":
      return notTaken
    case "AlreadyDecided":
      return reason.state === "done" ? over : answered
    default:
      return unavailable
  }
}

// Whoever wakes may have been given secrets, so what it fails with is its own to tell.
const wakeAfter = <E, R>(
  suspension: SuspensionStore.Suspension,
  { wake }: Pick<Options<E, R>, "wake">
): Effect.Effect<void, never, R> =>
  Effect.matchCauseEffect(Effect.suspend(() => wake(Suspensions.outermost(suspension))), {
    onFailure: () =>
      Effect.logWarning(
        `Assent accepted the answer of a webhook for "${suspension.toolName}", but could not wake its conversation.` +
          " The answer counts at its next turn. SuspensionStore.watchTimers tries again."
      ),
    onSuccess: () => Effect.flatMap(SuspensionStore.SuspensionStore, (store) => Effect.ignore(store.told(suspension)))
  })
