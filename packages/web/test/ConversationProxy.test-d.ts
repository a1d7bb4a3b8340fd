/** What a client infers, and what a server cannot do without. */
import { Approval, type Approver, Conversation, type LanguageModel, Tool, Toolkit } from "@assent/ai"
import { ScriptedModel } from "@assent/ai/testing"
import { ConversationProxy, ConversationProxyServer, Decider } from "@assent/web"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as HttpApiClient from "effect/http-api/HttpApiClient"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import * as HttpApiSecurity from "effect/http-api/HttpApiSecurity"
import type * as HttpClientError from "effect/http/HttpClientError"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import type * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import { describe, expectTypeOf, it } from "vitest"

class Api extends HttpApi.make("api").add(ConversationProxy.toHttpApiGroup("chat")) {}

const toolkit = Toolkit.make(Tool.make("Clean", { needsApproval: true }))

const Handlers = toolkit.toLayer({ Clean: () => Effect.void })

const Model = ScriptedModel.layer({ turns: [] })

const conversation = (id: string) => Conversation.make({ id, toolkit })

type Needs<L> = L extends Layer.Layer<infer _A, infer _E, infer R> ? R : never

type Failure<T> = T extends Effect.Effect<infer _A, infer E, infer _R> ? E : never

type Success<T> = T extends Effect.Effect<infer A, infer _E, infer _R> ? A : never

const params = { id: "a" }

const program = Effect.gen(function*() {
  const { chat } = yield* HttpApiClient.make(Api, { baseUrl: "http://localhost" })
  return chat
})

type Chat = Success<typeof program>

/** What every call may fail with beside what the endpoint declares. */
type Transport = HttpClientError.HttpClientError | Schema.SchemaError

describe("ConversationProxy", () => {
  it("a client reads the parts of a turn by their type, and the error it ends with", () => {
    const read = (chat: Chat) => chat.send({ params, payload: { text: "Hi.", messageId: "m-1" } })
    type Parts = Success<ReturnType<typeof read>>
    expectTypeOf<Stream.Success<Parts>>().toEqualTypeOf<typeof ConversationProxy.Part.Type>()
    expectTypeOf<Extract<Stream.Error<Parts>, { readonly _tag: "TurnFailed" }>>()
      .toEqualTypeOf<ConversationProxy.TurnFailed>()
    type PartOf<Type extends string> = Extract<Stream.Success<Parts>, { readonly type: Type }>
    expectTypeOf<PartOf<"text-delta">["delta"]>().toEqualTypeOf<string>()
    expectTypeOf<PartOf<"tool-approval-request">["request"]>().toEqualTypeOf<Approval.ApprovalRequest | undefined>()
    expectTypeOf<PartOf<"turn-end">["outcome"]>().toEqualTypeOf<"Completed" | "Waiting" | "Limited" | "Stopped">()
    expectTypeOf<PartOf<"turn-end">["pending"]>().toEqualTypeOf<ReadonlyArray<Approval.ApprovalRequest>>()
  })

  it("a client knows what a decision may fail with, and who decided before", () => {
    const decide = (chat: Chat) => chat.decide({ params, payload: Approval.approve({ approvalId: "1" }) })
    expectTypeOf<Exclude<Failure<ReturnType<typeof decide>>, Transport>>().toEqualTypeOf<
      | Decider.Refused
      | ConversationProxy.UnknownRequest
      | ConversationProxy.AlreadyDecided
      | ConversationProxy.NoLongerOpen
      | ConversationProxy.NotAnApprover
      | ConversationProxy.Unprocessable
      | ConversationProxy.Conflict
      | ConversationProxy.TooLarge
      | ConversationProxy.NotJson
      | ConversationProxy.TooManyRequests
      | ConversationProxy.ServerFailed
      | ConversationProxy.Unavailable
    >()
    expectTypeOf<ConversationProxy.AlreadyDecided["decidedBy"]>().toEqualTypeOf<Approver.DecidedBy | undefined>()
    type Reply = Success<ReturnType<typeof decide>>
    expectTypeOf<Reply["isRunning"]>().toEqualTypeOf<boolean>()
    expectTypeOf<NonNullable<Reply["answers"][number]["refused"]>["_tag"]>().toEqualTypeOf<
      "UnknownRequest" | "AlreadyDecided" | "NoLongerOpen" | "NotAnApprover" | "Unprocessable"
    >()
  })

  it("answers are given as Approval makes them, or as plain yes and no, and nothing else", () => {
    const decide = (chat: Chat) => [
      chat.decide({ params, payload: { approvalId: "1", approved: false, reason: "no" } }),
      chat.decide({ params, payload: [Approval.deny({ approvalId: "1" }), { approvalId: "2", approved: true }] }),
      // @ts-expect-error it decides nothing
      chat.decide({ params, payload: { approvalId: "1" } }),
      // @ts-expect-error nobody says who decides
      chat.decide({ params, payload: { approvalId: "1", approved: true, decidedBy: { id: "eve" } } })
    ]
    void decide
  })

  it("a client reads what is open, what was said, and what became of a request", () => {
    type Method<Name extends keyof Chat> = Chat[Name] extends (request: never) => infer R ? Success<R> : never
    expectTypeOf<Extract<Method<"pending">, ReadonlyArray<unknown>>>().toExtend<unknown>()
    const reads = (chat: Chat) => ({
      pending: chat.pending({ params }),
      history: chat.history({ params }),
      state: chat.state({ params, query: { approvalId: "1" } }),
      follow: chat.follow({ params }),
      cancel: chat.cancel({ params, payload: {} })
    })
    type Reads = ReturnType<typeof reads>
    expectTypeOf<Success<Reads["pending"]>>().toEqualTypeOf<ReadonlyArray<Approval.ApprovalRequest>>()
    expectTypeOf<Success<Reads["history"]>>().toEqualTypeOf<typeof ConversationProxy.History.Type>()
    expectTypeOf<Success<Reads["state"]>>().toEqualTypeOf<typeof ConversationProxy.RequestState.Type>()
    expectTypeOf<undefined>().toExtend<Success<Reads["follow"]>>()
    expectTypeOf<Success<Reads["cancel"]>>().toEqualTypeOf<void>()
  })
})

describe("ConversationProxyServer", () => {
  it("routes need somebody who says who asks, and what the conversation needs", () => {
    const chat = ConversationProxyServer.layerHttpApi(Api, "chat", { conversation })
    expectTypeOf<Decider.Decider>().toExtend<Needs<typeof chat>>()
    expectTypeOf<LanguageModel.LanguageModel>().toExtend<Needs<typeof chat>>()
    const routes = HttpApiBuilder.layer(Api).pipe(Layer.provide(chat), Layer.provide(HttpServer.layerServices))
    // @ts-expect-error nobody says who asks
    void (() => HttpRouter.toWebHandler(routes.pipe(Layer.provide([Handlers, Model]))))
    const whole = routes.pipe(Layer.provide([Decider.layerInsecure, Handlers, Model]))
    void (() => HttpRouter.toWebHandler(whole))
  })

  it("the program's own middleware takes the place of a Decider, and has to say who asks", () => {
    class Ours extends HttpApiMiddleware.Service<Ours, { provides: Decider.Current }>()("Ours", {
      security: { bearer: HttpApiSecurity.bearer },
      error: Decider.refusals
    }) {}
    const Own = HttpApi.make("own").add(ConversationProxy.toHttpApiGroup("chat", { middleware: Ours, path: "/v1" }))
    const chat = ConversationProxyServer.layerHttpApi(Own, "chat", { conversation })
    expectTypeOf<Ours>().toExtend<Needs<typeof chat>>()
    expectTypeOf<Extract<Needs<typeof chat>, Decider.Decider | Decider.Current>>().toEqualTypeOf<never>()

    class Other extends Context.Service<Other, string>()("Other") {}
    class Silent extends HttpApiMiddleware.Service<Silent, { provides: Other }>()("Silent") {}
    const Nobody = HttpApi.make("nobody").add(ConversationProxy.toHttpApiGroup("chat", { middleware: Silent }))
    const mute = ConversationProxyServer.layerHttpApi(Nobody, "chat", { conversation })
    expectTypeOf<Decider.Current>().toExtend<Needs<typeof mute>>()
  })

  it("a group is named as it is in the API", () => {
    const both = HttpApi.make("both").add(
      ConversationProxy.toHttpApiGroup("chat"),
      HttpApiGroup.make("health").add(HttpApiEndpoint.get("check", "/health"))
    )
    void ConversationProxyServer.layerHttpApi(both, "chat", { conversation })
    // @ts-expect-error there is no such group
    void (() => ConversationProxyServer.layerHttpApi(both, "talk", { conversation }))
    // @ts-expect-error it is no group of conversations
    void (() => ConversationProxyServer.layerHttpApi(both, "health", { conversation }))
  })
})
