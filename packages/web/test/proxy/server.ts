/** A program with conversations in its HttpApi: two tools that ask, and people by their bearer tokens. */
import { Conversation, Toolkit } from "@assent/ai"
import { ScriptedModel } from "@assent/ai/testing"
import type { Decider } from "@assent/web"
import { ConversationProxy, ConversationProxyServer } from "@assent/web"
import * as Effect from "effect/Effect"
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as HttpApiClient from "effect/http-api/HttpApiClient"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Tracer from "effect/Tracer"
import { DeleteFile, deleting, People, type Server } from "../people.ts"

export { People, type Server }

export const toolkit = Toolkit.make(DeleteFile)

export class Api extends HttpApi.make("api").add(ConversationProxy.toHttpApiGroup("chat")) {}

export interface Options {
  readonly turns: ScriptedModel.Options["turns"]
  readonly afterLastTurn?: ScriptedModel.Options["afterLastTurn"]
  /** What deleting a file waits for. */
  readonly before?: ((path: string) => Effect.Effect<void, string>) | undefined
  readonly settings?: Omit<ConversationProxyServer.Options<never, never>, "conversation"> | undefined
}

export const routesOf = (
  { afterLastTurn = "Is there anything else?", before, settings, turns }: Options
) => {
  const { deleted, handler } = deleting(before)
  const Handlers = toolkit.toLayer({
    DeleteFile: handler
  })
  const routes = HttpApiBuilder.layer(Api).pipe(
    Layer.provide(ConversationProxyServer.layerHttpApi(Api, "chat", {
      ...settings,
      conversation: (id) => Conversation.make({ id, toolkit })
    })),
    Layer.provide([People, Handlers, ScriptedModel.layer({ turns, afterLastTurn })]),
    Layer.provide([Logger.layer([]), HttpServer.layerServices])
  )
  return { routes, deleted }
}

export const serve = (options: Options): Server => {
  const { deleted, routes } = routesOf(options)
  return { ...HttpRouter.toWebHandler(routes, { disableLogger: true }), deleted }
}

/** Serves a conversation that is played, to whoever asks. */
export const play = (
  played: Partial<ConversationProxyServer.Conversation>,
  { conversation, decider = People, logged = [], services, settings, tracer }: {
    readonly conversation?: ConversationProxyServer.Options<unknown, never>["conversation"]
    readonly decider?: Layer.Layer<Decider.Decider>
    readonly logged?: Array<string>
    readonly settings?: Omit<ConversationProxyServer.Options<never, never>, "conversation">
    /** What else the program has. */
    readonly services?: Layer.Layer<any> | undefined
    /** Sees the spans of the requests, with what is logged in them. */
    readonly tracer?: Tracer.Tracer
  } = {}
): Server => {
  const nothing: ConversationProxyServer.Conversation = {
    start: () => Effect.die("not played"),
    turn: Effect.undefined,
    stateOf: () => Effect.undefined,
    read: Effect.succeed({ messages: [], pending: [], isTurnTaken: false }),
    pending: () => Effect.succeed([]),
    cancel: () => Effect.void
  }
  const log = Logger.make(({ logLevel, message }) => void logged.push(`${logLevel} ${String(message)}`))
  const routes = HttpApiBuilder.layer(Api).pipe(
    Layer.provide(ConversationProxyServer.layerHttpApi(Api, "chat", {
      ...settings,
      conversation: conversation ?? (() => Effect.succeed({ ...nothing, ...played }))
    })),
    Layer.provide(services ?? Layer.empty as Layer.Layer<any>),
    Layer.provide([decider, Logger.layer([log, Logger.tracerLogger]), HttpServer.layerServices])
  )
  const handler = HttpRouter.toWebHandler(routes, {
    disableLogger: true,
    middleware: (app) =>
      tracer === undefined ? app : Effect.provideService(Effect.withSpan(app, "request"), Tracer.Tracer, tracer)
  })
  return { ...handler, deleted: [] }
}

const url = "http://localhost/conversations"

/** Posts as a page would, which says that it is JSON. */
export const post = (
  { handler }: Pick<Server, "handler">,
  path: string,
  body: unknown,
  headers: Record<string, string> = {}
): Promise<Response> =>
  handler(
    new Request(`${url}/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body)
    })
  )

export const get = ({ handler }: Pick<Server, "handler">, path: string, headers: Record<string, string> = {}) =>
  handler(new Request(`${url}/${path}`, { headers }))

/** The status, and what the body says it is. */
export const told = async (response: Response | Promise<Response>): Promise<any> => {
  const { headers, status, text } = await Promise.resolve(response).then((response) => ({
    headers: response.headers,
    status: response.status,
    text: response.text()
  }))
  const body = await text
  return { status, headers, text: body, body: /^[[{]/.test(body) ? JSON.parse(body) : undefined }
}

/** The parts of a response that is a stream, and what it failed with. */
export const events = async (response: Response | Promise<Response>): Promise<{
  readonly parts: ReadonlyArray<any>
  readonly failure: any
}> => {
  const text = await (await response).text()
  const parts: Array<any> = []
  let failure: any
  for (const event of text.split("\n\n")) {
    const data = /^data: (.*)$/m.exec(event)?.[1]
    if (data === undefined) continue
    if (event.startsWith("event:")) failure = JSON.parse(data)
    else parts.push(JSON.parse(data))
  }
  return { parts, failure }
}

export const call = (id: string, path: string) => ScriptedModel.toolCall({ id, name: "DeleteFile", params: { path } })

/** The typed client of a person. */
export const clientOf = (
  { handler }: Pick<Server, "handler">,
  headers: Record<string, string> = {},
  baseUrl = "http://localhost"
) =>
  HttpApiClient.make(Api, {
    baseUrl,
    transformClient: HttpClient.mapRequest(HttpClientRequest.setHeaders(headers))
  }).pipe(
    Effect.map(({ chat }) => chat),
    Effect.provide(FetchHttpClient.layer),
    Effect.provideService(FetchHttpClient.Fetch, (input, init) => handler(new Request(input, init)))
  )

/** A conversation that no other test has: they share the store of their process. */
export const newId = () => `proxy-${crypto.randomUUID()}`
