/** From an item in short form to the item on the wire. */
import type * as Responses from "openai/resources/responses/responses"
import type { ItemWithoutId, MessagePart, ScriptedItem } from "../../ScriptedResponse.ts"
import * as Ids from "../ids.ts"
import type { JsonObject } from "../json.ts"
import * as Json from "../json.ts"
import type * as Store from "./store.ts"

/** An item as it stands on the wire, known to the SDK or not. */
export type OutputItem = Responses.ResponseOutputItem | UnknownItem

export interface UnknownItem extends JsonObject {
  readonly type: `unknown ${string}`
  readonly id: string
}

export const make = (
  item: Exclude<ScriptedItem, { readonly _tag: "McpCall" }>,
  store: Store.Store,
  include: ReadonlySet<unknown>
): OutputItem => {
  const ids = store.ids
  switch (item._tag) {
    case "Text":
      return {
        id: ids.next("msg"),
        type: "message",
        status: "completed",
        content: item.parts.map(toContent),
        ...(item.phase === undefined ? undefined : { phase: item.phase }),
        role: "assistant"
      }
    case "Reasoning": {
      const id = ids.next("rs")
      const encrypted = item.encryptedContent ?? `gAAAAAB-${id}`
      store.encrypted.add(encrypted)
      return {
        id,
        type: "reasoning",
        ...(include.has("reasoning.encrypted_content") ? { encrypted_content: encrypted } : undefined),
        summary: item.summary.map((text) => ({ type: "summary_text", text }))
      }
    }
    case "FunctionCall":
      return {
        id: ids.next("fc"),
        type: "function_call",
        status: "completed",
        arguments: item.arguments,
        call_id: item.callId ?? ids.next("call"),
        name: item.name
      }
    case "Item":
      store.ownTypes.add(item.item.type)
      return fromWire({ id: ids.next(Ids.prefixOf(item.item.type)), ...withoutExcluded(item.item, include) })
  }
}

/** A script says what it wants to see on the wire; whether the SDK knows it does not matter. */
const fromWire = (item: JsonObject): OutputItem => item as unknown as OutputItem

const toContent = (part: MessagePart): Responses.ResponseOutputMessage["content"][number] =>
  part.type === "refusal" ? part : { type: "output_text", annotations: part.annotations, logprobs: [], text: part.text }

/** Leaves out what OpenAI sends only when it is asked for. */
const withoutExcluded = (item: ItemWithoutId, include: ReadonlySet<unknown>): JsonObject => {
  switch (item.type) {
    case "file_search_call":
      return include.has("file_search_call.results") ? item : { ...item, results: null }
    case "code_interpreter_call":
      return include.has("code_interpreter_call.outputs") ? item : { ...item, outputs: null }
    case "web_search_call": {
      if (include.has("web_search_call.action.sources") || !Json.isObject(item["action"])) return item
      const { sources: _, ...action } = item["action"]
      return { ...item, action }
    }
    default:
      return item
  }
}

/** An item that the model did not finish. */
export const unfinished = (item: OutputItem): OutputItem =>
  item.type === "message" || item.type === "function_call" ? { ...item, status: "incomplete" } : item
