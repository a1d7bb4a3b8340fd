/** What the server keeps: responses, their items, and conversations. */
import * as Ids from "../ids.ts"
import type { JsonObject } from "../json.ts"
import * as Json from "../json.ts"

/** The items a response saw and wrote; what was before them is shared, so a long conversation costs no copies. */
export interface Kept {
  readonly previous: Kept | undefined
  readonly input: ReadonlyArray<JsonObject>
  readonly output: ReadonlyArray<JsonObject>
}

export interface KeptResponse {
  readonly response: JsonObject
  readonly kept: Kept
}

export interface Conversation {
  readonly object: JsonObject
  kept: Kept | undefined
}

export interface Store {
  readonly ids: Ids.Ids
  readonly responses: Map<string, KeptResponse>
  readonly items: Map<string, JsonObject>
  readonly conversations: Map<string, Conversation>
  /** What a reasoning item was followed by when it was written, and the other way round. */
  readonly followedBy: Map<string, string>
  readonly reasonedBy: Map<string, string>
  /** Types of items that nobody else knows, but this server wrote. */
  readonly ownTypes: Set<string>
  /** What this server encrypted; it is not kept, but would be known again. */
  readonly encrypted: Set<string>
}

export const make = (ids: Ids.Ids): Store => ({
  ids,
  responses: new Map(),
  items: new Map(),
  conversations: new Map(),
  followedBy: new Map(),
  reasonedBy: new Map(),
  ownTypes: new Set(),
  encrypted: new Set()
})

/** All items of a chain, oldest first. */
export const itemsOf = (kept: Kept | undefined): Array<JsonObject> => {
  const links: Array<Kept> = []
  for (let link = kept; link !== undefined; link = link.previous) links.push(link)
  const items: Array<JsonObject> = []
  for (const link of links.toReversed()) items.push(...link.input, ...link.output)
  return items
}

/** Keeps a response and its items, so that later requests may refer to them. */
export const keep = (store: Store, options: {
  readonly response: JsonObject
  readonly previous: Kept | undefined
  readonly input: ReadonlyArray<JsonObject>
  readonly output: ReadonlyArray<JsonObject>
  readonly conversation: Conversation | undefined
}): void => {
  const kept: Kept = { previous: options.previous, input: options.input.map(withId(store)), output: options.output }
  for (const item of [...kept.input, ...kept.output]) {
    const id = Json.textOf(item["id"])
    if (id !== undefined) store.items.set(id, item)
  }
  remember(store, options.output)
  const id = Json.textOf(options.response["id"])
  if (id !== undefined) store.responses.set(id, { response: options.response, kept })
  // Two responses may have been written at the same time; the conversation has both, in the order they were done.
  if (options.conversation !== undefined) {
    options.conversation.kept = { ...kept, previous: options.conversation.kept }
  }
}

export const addConversation = (store: Store, input: ReadonlyArray<JsonObject>, metadata: unknown): Conversation => {
  const items = input.map(withId(store))
  const id = store.ids.next("conv")
  const conversation: Conversation = {
    object: { id, object: "conversation", created_at: 1_767_225_600, metadata: metadata ?? {} },
    kept: items.length === 0 ? undefined : { previous: undefined, input: items, output: [] }
  }
  for (const item of items) store.items.set(String(item["id"]), item)
  store.conversations.set(id, conversation)
  return conversation
}

const withId = (store: Store) => (item: JsonObject): JsonObject => {
  const type = Json.textOf(item["type"]) ?? "message"
  return typeof item["id"] === "string" ? item : { ...item, type, id: store.ids.next(Ids.prefixOf(type)) }
}

const remember = (store: Store, output: ReadonlyArray<JsonObject>): void => {
  for (const [index, item] of output.entries()) {
    const next = output[index + 1]
    if (item["type"] !== "reasoning" || next === undefined) continue
    store.followedBy.set(String(item["id"]), String(next["id"]))
    store.reasonedBy.set(String(next["id"]), String(item["id"]))
  }
}
