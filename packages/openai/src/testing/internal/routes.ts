/** Which request is for what. */
import * as Effect from "effect/Effect"
import type * as Responses from "openai/resources/responses/responses"
import type { Turn } from "../ScriptedResponse.ts"
import type { ReceivedRequest } from "./http/transport.ts"
import * as Wire from "./http/wire.ts"
import type { JsonObject } from "./json.ts"
import * as Json from "./json.ts"
import * as Output from "./play/output.ts"
import * as Play from "./play/play.ts"
import * as InputItems from "./request/inputItems.ts"
import * as Refusals from "./request/refusals.ts"
import * as Request from "./request/request.ts"
import * as Context from "./stage/context.ts"
import type { Stage } from "./stage/stage.ts"
import * as Store from "./stage/store.ts"

export interface Script {
  /** The next turn, or why there is none. */
  readonly next: () => Turn
  readonly played: () => number
}

export const answer = (
  stage: Stage,
  script: Script,
  request: ReceivedRequest,
  key: string | undefined
): Effect.Effect<Wire.Reply> => {
  if (request.authorization !== "right") {
    return Effect.succeed(Wire.refuse(key === undefined ? Refusals.missingKey() : Refusals.wrongKey(key)))
  }
  const url = new URL(request.path, "http://localhost")
  const [version, resource, id, sub] = url.pathname.split("/").slice(1)
  const notFound = Effect.succeed(Wire.refuse(Refusals.unknownUrl(request.method, url.pathname)))
  if (version !== "v1") return notFound
  if (resource === "responses" && id === undefined && request.method === "POST") return create(stage, script, request)
  if (resource === "responses" && id !== undefined) {
    return Effect.sync(() =>
      keptResponse(stage.store, request.method, id, sub) ??
        Wire.refuse(Refusals.unknownUrl(request.method, url.pathname))
    )
  }
  if (resource === "conversations") {
    return Effect.sync(() =>
      conversation(stage.store, request, id, sub) ?? Wire.refuse(Refusals.unknownUrl(request.method, url.pathname))
    )
  }
  return notFound
}

const create = (stage: Stage, script: Script, request: ReceivedRequest): Effect.Effect<Wire.Reply> =>
  Effect.suspend(() => {
    const params = request.body
    if (!Json.isObject(params)) return Effect.succeed(Wire.refuse(Refusals.notJson()))
    const refusal = Request.check(params, stage.store.ownTypes)
    if (refusal !== undefined) return Effect.succeed(Wire.refuse(refusal))
    const context = Context.resolve(stage.store, params)
    if (context._tag === "ApiError") return Effect.succeed(Wire.refuse(context))
    const obstacle = Output.check(stage, params, context)
    if (obstacle !== undefined) return Effect.succeed(Wire.refuse(obstacle))
    let turn = script.next()
    while (typeof turn === "function") {
      // Its fields were looked at one by one.
      const checked = params as unknown as Responses.ResponseCreateParams
      turn = turn({ params: checked, context: context.items, turn: script.played() })
    }
    return Play.turn(stage, params, context, turn)
  })

const keptResponse = (
  store: Store.Store,
  method: string,
  id: string,
  sub: string | undefined
): Wire.Reply | undefined => {
  const kept = store.responses.get(id)
  if (kept === undefined) return Wire.refuse(Refusals.responseNotFound(id))
  if (method === "GET" && sub === undefined) return Wire.json(200, kept.response)
  if (method === "GET" && sub === "input_items") {
    return list([...Store.itemsOf(kept.kept.previous), ...kept.kept.input])
  }
  if (method === "DELETE" && sub === undefined) {
    store.responses.delete(id)
    return Wire.json(200, { id, object: "response", deleted: true })
  }
  return undefined
}

const conversation = (
  store: Store.Store,
  request: ReceivedRequest,
  id: string | undefined,
  sub: string | undefined
): Wire.Reply | undefined => {
  if (id === undefined) {
    if (request.method !== "POST") return undefined
    const body = Json.isObject(request.body) ? request.body : {}
    const items = Json.objectsOf(body["items"])
    for (const [index, item] of items.entries()) {
      const refusal = InputItems.check(item, `items[${index}]`, store.ownTypes)
      if (refusal !== undefined) return Wire.refuse(refusal)
    }
    return Wire.json(200, Store.addConversation(store, items, body["metadata"]).object)
  }
  const found = store.conversations.get(id)
  if (found === undefined) return Wire.refuse(Refusals.conversationNotFound(id))
  if (request.method === "GET" && sub === undefined) return Wire.json(200, found.object)
  if (request.method === "GET" && sub === "items") return list(Store.itemsOf(found.kept))
  if (request.method === "DELETE" && sub === undefined) {
    store.conversations.delete(id)
    return Wire.json(200, { id, object: "conversation.deleted", deleted: true })
  }
  return undefined
}

/** The newest first, on one page. */
const list = (items: ReadonlyArray<JsonObject>): Wire.Reply => {
  const data = items.toReversed()
  return Wire.json(200, {
    object: "list",
    data,
    first_id: data[0]?.["id"] ?? null,
    last_id: data.at(-1)?.["id"] ?? null,
    has_more: false
  })
}
