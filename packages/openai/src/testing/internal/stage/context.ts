/** What a request's items mean together with what is kept: references, duplicates, pairs. */
import type { ApiError } from "../../ApiError.ts"
import type { JsonObject } from "../json.ts"
import * as Json from "../json.ts"
import * as InputItems from "../request/inputItems.ts"
import * as Refusals from "../request/refusals.ts"
import * as Store from "./store.ts"

export interface Context {
  readonly _tag: "Context"
  /** Everything the model sees, oldest first. */
  readonly items: ReadonlyArray<JsonObject>
  /** What this request adds, references resolved. */
  readonly input: ReadonlyArray<JsonObject>
  readonly previous: Store.Kept | undefined
  readonly conversation: Store.Conversation | undefined
  /** Approval requests that were approved, and whose call nobody has made yet. */
  readonly approved: ReadonlyArray<JsonObject>
}

export const resolve = (store: Store.Store, params: JsonObject): Context | ApiError => {
  const previousId = Json.textOf(params["previous_response_id"])
  const previous = previousId === undefined ? undefined : store.responses.get(previousId)
  if (previousId !== undefined && previous === undefined) return Refusals.previousResponseNotFound(previousId)

  const conversationId = Json.isObject(params["conversation"])
    ? String(params["conversation"]["id"])
    : Json.textOf(params["conversation"])
  const conversation = conversationId === undefined ? undefined : store.conversations.get(conversationId)
  if (conversationId !== undefined && conversation === undefined) return Refusals.conversationNotFound(conversationId)

  const kept = previous?.kept ?? conversation?.kept
  const before = Store.itemsOf(kept)
  const input = resolveReferences(store, params, before)
  if ("_tag" in input) return input
  const items = [...before, ...input.items]
  const refusal = checkReasoning(store, before, input.items) ?? checkCalls(items) ?? checkApprovals(items)
  return refusal ?? {
    _tag: "Context",
    items,
    input: input.items,
    previous: kept,
    conversation,
    approved: approvedWithoutCall(items)
  }
}

// =============================================================================
// References and duplicates
// =============================================================================

const resolveReferences = (
  store: Store.Store,
  params: JsonObject,
  before: ReadonlyArray<JsonObject>
): { readonly items: ReadonlyArray<JsonObject> } | ApiError => {
  const given = params["input"]
  if (typeof given === "string") return { items: [{ type: "message", role: "user", content: given }] }
  const stores = params["store"] !== false
  const seen = new Set(before.map((item) => item["id"]))
  const items: Array<JsonObject> = []
  for (const item of Json.objectsOf(given)) {
    const type = InputItems.typeOf(item)
    const id = Json.textOf(item["id"])
    const isReference = type === "item_reference"
    const known = id === undefined ? undefined : store.items.get(id)
    if (id !== undefined) {
      // Without its encrypted content a reasoning item is nothing but a reference.
      const mustBeKept = isReference || (type === "reasoning" && item["encrypted_content"] == null)
      if (mustBeKept && known === undefined) return Refusals.itemNotFound(id, stores)
      if (seen.has(id)) return Refusals.duplicateItem(id)
      seen.add(id)
    }
    const encrypted = item["encrypted_content"]
    if (type === "reasoning" && typeof encrypted === "string" && !store.encrypted.has(encrypted)) {
      return Refusals.notEncryptedHere(encrypted)
    }
    items.push(isReference && known !== undefined ? known : { ...item, type })
  }
  return { items }
}

// =============================================================================
// Reasoning and what follows it
// =============================================================================

const checkReasoning = (
  store: Store.Store,
  before: ReadonlyArray<JsonObject>,
  input: ReadonlyArray<JsonObject>
): ApiError | undefined => {
  const ids = new Set([...before, ...input].map((item) => item["id"]))
  for (const [index, item] of input.entries()) {
    const id = Json.textOf(item["id"])
    if (id === undefined) continue
    const reasoning = store.reasonedBy.get(id)
    if (reasoning !== undefined && !ids.has(reasoning)) {
      return Refusals.withoutReasoning(id, String(item["type"]), reasoning)
    }
    if (item["type"] !== "reasoning") continue
    const next = input[index + 1]
    const follower = store.followedBy.get(id)
    const follows = next !== undefined && (follower === undefined ? isOutput(next) : next["id"] === follower)
    if (!follows) return Refusals.reasoningAlone(id)
  }
  return undefined
}

const isOutput = (item: JsonObject): boolean => {
  switch (item["type"]) {
    case "message":
      return item["role"] === "assistant"
    case "function_call_output":
    case "mcp_approval_response":
      return false
    default:
      return true
  }
}

// =============================================================================
// Calls and their outputs
// =============================================================================

/** Calls that a program runs, with what brings their outputs; OpenAI's words for the first. */
const outputs: ReadonlyMap<unknown, { readonly type: string; readonly call: string }> = new Map([
  ["function_call", { type: "function_call_output", call: "function call" }],
  ["custom_tool_call", { type: "custom_tool_call_output", call: "custom tool call" }]
])

const checkCalls = (items: ReadonlyArray<JsonObject>): ApiError | undefined => {
  for (const [type, { call, type: outputType }] of outputs) {
    const open = new Set<string>()
    const answered = new Set<string>()
    for (const item of items) {
      const callId = String(item["call_id"])
      if (item["type"] === type) {
        open.add(callId)
        answered.delete(callId)
      }
      if (item["type"] !== outputType) continue
      if (answered.has(callId)) return Refusals.twoOutputs(call, callId)
      if (!open.delete(callId)) return Refusals.outputWithoutCall(call, callId)
      answered.add(callId)
    }
    for (const callId of open) return Refusals.callWithoutOutput(call, callId)
  }
  return undefined
}

// =============================================================================
// Approvals
// =============================================================================

const checkApprovals = (items: ReadonlyArray<JsonObject>): ApiError | undefined => {
  const requested = new Set<string>()
  const answered = new Set<string>()
  const unknown: Array<string> = []
  const twice: Array<string> = []
  for (const item of items) {
    if (item["type"] === "mcp_approval_request") requested.add(String(item["id"]))
    if (item["type"] !== "mcp_approval_response") continue
    const id = String(item["approval_request_id"])
    if (!requested.has(id)) unknown.push(id)
    if (answered.has(id)) twice.push(id)
    answered.add(id)
  }
  if (unknown.length > 0) return Refusals.answersWithoutRequests(unknown)
  if (twice.length > 0) return Refusals.answeredTwice(twice)
  const open = [...requested].filter((id) => !answered.has(id))
  return open.length > 0 ? Refusals.requestsWithoutAnswers(open) : undefined
}

const approvedWithoutCall = (items: ReadonlyArray<JsonObject>): ReadonlyArray<JsonObject> => {
  const requests = new Map<string, JsonObject>()
  const approved = new Map<string, JsonObject>()
  for (const item of items) {
    const id = String(item["approval_request_id"])
    if (item["type"] === "mcp_approval_request") requests.set(String(item["id"]), item)
    const request = requests.get(id)
    if (item["type"] === "mcp_approval_response" && item["approve"] === true && request !== undefined) {
      approved.set(id, request)
    }
    // A call that stands before its answer was not made for it.
    if (item["type"] === "mcp_call") approved.delete(id)
  }
  return [...approved.values()]
}
