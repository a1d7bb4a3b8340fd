/** Who asks and decides: the program's own security, its `Decider`, or nobody. */
import { ConversationProxy, ConversationProxyServer, Decider, UiMessageStream } from "@assent/web"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import * as HttpApiSecurity from "effect/http-api/HttpApiSecurity"
import * as OpenApi from "effect/http-api/OpenApi"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { get, post, told } from "./server.ts"

// =============================================================================
// A program with its own security
// =============================================================================

class Authorization extends HttpApiMiddleware.Service<Authorization, { provides: Decider.Current }>()(
  "Authorization",
  {
    security: {
      bearer: HttpApiSecurity.bearer,
      cookie: HttpApiSecurity.apiKey({ key: "session", in: "cookie" })
    },
    error: Decider.refusals
  }
) {}

class Api extends HttpApi.make("api").add(
  ConversationProxy.toHttpApiGroup("chat", { path: "/v1/chats", middleware: Authorization })
) {}

const people = new Map([["t-ada", "ada"], ["s-bob", "bob"]])

const identify = (credential: Redacted.Redacted): Effect.Effect<Decider.Who, Decider.Refused> => {
  const id = people.get(Redacted.value(credential))
  return id === undefined
    ? Effect.fail(new Decider.Refused({ status: 401, message: "Please log in." }))
    : Effect.succeed({ person: { id }, scope: { principal: id, tenant: "acme" } })
}

const AuthorizationLive = Layer.succeed(Authorization, {
  bearer: (effect, { credential }) =>
    Effect.flatMap(identify(credential), (who) => Effect.provideService(effect, Decider.Current, who)),
  cookie: (effect, { credential }) =>
    Effect.flatMap(identify(credential), (who) => Effect.provideService(effect, Decider.Current, who))
})

const seen: Array<unknown> = []

const options: ConversationProxyServer.Options<Decider.Refused, never> = {
  conversation: (id, who) => {
    if (id === "hidden") return Effect.fail(new Decider.Refused({ status: 404, message: "There is no such chat." }))
    if (id === "forbidden") return Effect.fail(new Decider.Refused({ status: 403, message: "It is not yours." }))
    seen.push(who)
    return Effect.succeed({
      start: (_, turn) => {
        seen.push(turn?.by)
        return Effect.succeed({
          messageId: "m-1",
          parts: Stream.empty,
          outcome: Effect.succeed({ _tag: "Completed" as const, text: "", refused: [] })
        })
      },
      turn: Effect.undefined,
      stateOf: () => Effect.undefined,
      read: Effect.succeed({ messages: [], pending: [], isTurnTaken: false }),
      pending: () => Effect.succeed([]),
      cancel: () => Effect.void
    })
  }
}

const serving = async (
  routes: Layer.Layer<never, never, HttpRouter.HttpRouter>,
  tell: (server: { readonly handler: (request: Request) => Promise<Response> }) => Promise<void>
) => {
  seen.length = 0
  const server = HttpRouter.toWebHandler(routes, { disableLogger: true })
  try {
    await tell(server)
  } finally {
    await server.dispose()
  }
}

const routes = HttpApiBuilder.layer(Api).pipe(
  Layer.provide(ConversationProxyServer.layerHttpApi(Api, "chat", options)),
  Layer.provide([AuthorizationLive, HttpServer.layerServices, Logger.layer([])])
)

const moved = (handler: (request: Request) => Promise<Response>) => ({
  handler: (request: Request) => handler(new Request(request.url.replace("/conversations/", "/v1/chats/"), request))
})

describe("the program's own security", () => {
  it("says who asks and who decides, by a token or a cookie", () =>
    serving(routes, async ({ handler }) => {
      const server = moved(handler)
      const answer = { approvalId: "id-1", approved: true }
      assert.strictEqual((await post(server, "a/decisions", answer, { authorization: "Bearer t-ada" })).status, 200)
      assert.strictEqual((await post(server, "a/decisions", answer, { cookie: "session=s-bob" })).status, 200)
      assert.deepStrictEqual(seen, [
        { person: { id: "ada" }, scope: { principal: "ada", tenant: "acme" } },
        { id: "ada" },
        { person: { id: "bob" }, scope: { principal: "bob", tenant: "acme" } },
        { id: "bob" }
      ])
    }))

  it("lets nobody in whom it does not know, before anything of the request is read", () =>
    serving(routes, async ({ handler }) => {
      const server = moved(handler)
      const refused = [401, { _tag: "Refused", status: 401, message: "Please log in." }]
      for (
        const headers of [{}, { authorization: "Bearer x" }, { cookie: "session=x" }] as Array<Record<string, string>>
      ) {
        for (const body of [{ text: "Hi." }, "{", "x".repeat(2_000_000)]) {
          const response = await told(post(server, "a/messages", body, headers))
          assert.deepStrictEqual([response.status, response.body], refused)
        }
        const response = await told(get(server, "a/messages", headers))
        assert.deepStrictEqual([response.status, response.body], refused)
      }
      assert.deepStrictEqual(seen, [])
    }))

  it("a conversation that is not for them is refused as the program says", () =>
    serving(routes, async ({ handler }) => {
      const server = moved(handler)
      const authorization = "Bearer t-ada"
      const hidden = await told(get(server, "hidden/messages", { authorization }))
      assert.deepStrictEqual([hidden.status, hidden.body.message], [404, "There is no such chat."])
      const forbidden = await told(post(server, "forbidden/messages", { text: "Hi." }, { authorization }))
      assert.deepStrictEqual([forbidden.status, forbidden.body.message], [403, "It is not yours."])
    }))

  it("stands in the document of the API", () => {
    const spec = OpenApi.fromApi(Api)
    assert.deepStrictEqual(Object.keys(spec.components.securitySchemes ?? {}), ["bearer", "cookie"])
    assert.deepStrictEqual(spec.paths["/v1/chats/{id}/messages"]!.post!.security, [{ bearer: [] }, { cookie: [] }])
  })
})

// =============================================================================
// One Decider
// =============================================================================

class Plain extends HttpApi.make("plain").add(ConversationProxy.toHttpApiGroup("chat")) {}

const plain = HttpApiBuilder.layer(Plain).pipe(
  Layer.provide(ConversationProxyServer.layerHttpApi(Plain, "chat", options)),
  Layer.provide(HttpServer.layerServices)
)

const lines = (logged: Array<string>) =>
  Logger.layer([Logger.make(({ logLevel, message }) => void logged.push(`${logLevel} ${String(message)}`))])

describe("the Decider of the program", () => {
  it("serves this group and the routes of useChat", () => {
    let asked = 0
    const One = Decider.layer(() => Effect.as(Effect.sync(() => asked++), { person: { id: "ada" }, scope: {} }))
    const pages = UiMessageStream.layer({
      conversation: () => Effect.fail(new Decider.Refused({ status: 404, message: "No." }))
    })
    const both = Layer.merge(plain, pages).pipe(Layer.provide(One))
    return serving(both, async (server) => {
      assert.strictEqual((await get(server, "a/messages")).status, 200)
      assert.strictEqual((await server.handler(new Request("http://localhost/api/chat/a"))).status, 404)
      assert.strictEqual(asked, 2)
    })
  })

  it("without anybody who says who asks, the routes do not start", async () => {
    for (
      const broken of [
        plain,
        HttpApiBuilder.layer(Api).pipe(
          Layer.provide(ConversationProxyServer.layerHttpApi(Api, "chat", options)),
          Layer.provide(HttpServer.layerServices)
        )
      ]
    ) {
      const { dispose, handler } = HttpRouter.toWebHandler(
        broken as unknown as Layer.Layer<never, never, HttpRouter.HttpRouter>,
        { disableLogger: true }
      )
      const started = await handler(new Request("http://localhost/conversations/a/messages")).then(
        ({ status }) => `started: ${status}`,
        (error) => String(error)
      )
      assert.match(started, /Service not found: (@assent\/web\/Decider|Authorization)/)
      await dispose().catch(() => undefined)
    }
  })

  it("a program that wants everybody let in says so, and is warned", () => {
    const logged: Array<string> = []
    const open = plain.pipe(Layer.provide(Decider.layerInsecure), Layer.provide(lines(logged)))
    return serving(open, async (server) => {
      assert.strictEqual((await post(server, "a/decisions", { approvalId: "id-1", approved: true })).status, 200)
      assert.deepStrictEqual(seen, [{ scope: {} }, undefined])
      assert.deepStrictEqual(logged, ["Warn Assent: the routes let everybody in (`Decider.layerInsecure`)."])
    })
  })
})
