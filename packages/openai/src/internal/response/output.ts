/** The items of a response as parts: of a whole response, and of the items of a stream that come as a whole. */
import type * as Response from "effect/ai/Response"
import type * as Schema from "effect/Schema"
import type * as Responses from "openai/resources/responses/responses"
import * as Approvals from "../approvals/approvals.ts"
import * as Hosted from "../items/hosted.ts"
import * as Local from "../items/local.ts"
import * as Metadata from "../metadata.ts"
import type * as Tools from "../tools/tools.ts"
import * as Citations from "./citations.ts"
import * as Finish from "./finish.ts"

/** What a response is read with. */
export interface Reading {
  readonly directory: Tools.Directory
  /** The call of the history that waits for an approval, by the id that OpenAI gave to it. */
  readonly callOf: (givenId: string) => string | undefined
  /** Whether the history has a request of this id. */
  readonly isAsked: (approvalId: string) => boolean
  /** Whether OpenAI keeps what it makes (`store`). */
  readonly kept: boolean
  readonly conversationId: string | undefined
}

type Part = Response.PartEncoded

export const parts = (response: Responses.Response, reading: Reading): Array<Part> => {
  const reader = makeItemReader(reading)
  reader.begin(response)
  // A whole response is in its conversation; of one that comes in pieces that is known at its end.
  reader.origin.conversationId = reader.ended(response).conversationId
  const parts: Array<Part> = [Finish.metadata(response)]
  for (const item of response.output.flatMap(itemOf)) {
    if (item.type === "message") message(item, reader, parts)
    else if (item.type === "reasoning") reasoning(item, reader.origin, parts)
    else reader.item(item, parts)
  }
  if (parts.length === 1) parts.push({ type: "text", text: "", metadata: mark(reader.ended(response)) })
  parts.push(Finish.part(response, reader.asked))
  return parts
}

/**
 * The item, if it is one at all: a call without ids that are none, and with its arguments as a text. Some servers send them as
 * they are.
 */
export const itemOf = (item: unknown): ReadonlyArray<Responses.ResponseOutputItem> => {
  if (!Metadata.isRecord(item) || typeof item["type"] !== "string") return []
  const misfits = (Object.hasOwn(texts, item["type"]) ? texts[item["type"]]! : []).filter((field) =>
    item[field] !== undefined && item[field] !== null && typeof item[field] !== "string"
  )
  // What it is beside that is OpenAI's to say.
  if (misfits.length === 0) return [item as unknown as Responses.ResponseOutputItem]
  const fitting: Record<string, unknown> = { ...item }
  for (const field of misfits) delete fitting[field]
  const { arguments: written } = item
  if (Metadata.isRecord(written)) fitting["arguments"] = JSON.stringify(written)
  return [fitting as unknown as Responses.ResponseOutputItem]
}

/** What is a text in items that we read ourselves. */
const texts: Readonly<Record<string, ReadonlyArray<string>>> = {
  message: ["id"],
  reasoning: ["id"],
  function_call: ["id", "call_id", "arguments"],
  custom_tool_call: ["id", "call_id", "input"],
  mcp_call: ["id", "arguments"],
  mcp_approval_request: ["id", "arguments"]
}

/** The texts of a message; none where a server leaves them out. */
export const contentOf = (item: Responses.ResponseOutputMessage): Responses.ResponseOutputMessage["content"] =>
  Array.isArray(item.content) ? item.content.filter(Metadata.isRecord) : []

/** What a reasoning says: its summaries, and what some models say of it in full. */
export const thoughtsOf = (
  item: Responses.ResponseReasoningItem
): ReadonlyArray<{ readonly text: string; readonly index: number; readonly raw: true | undefined }> => [
  ...textsOf(item.summary).map((text, index) => ({ text, index, raw: undefined })),
  ...textsOf(item.content).map((text, index) => ({ text, index, raw: true as const }))
]

const textsOf = (texts: ReadonlyArray<{ readonly text: string }> | null | undefined): ReadonlyArray<string> =>
  Array.isArray(texts) ? texts.map((part) => part?.text ?? "") : []

/** A text without letters, by which a chat knows that OpenAI has a response that left nothing else to tell it by. */
export const mark = (origin: Origin): Response.ProviderMetadata => ({ openai: Metadata.json({ ...origin }) })

// =============================================================================
// Items that come as a whole
// =============================================================================

/** Reads items and notes what they ask for. */
export interface ItemReader {
  /** Where the items belong; known once the response is. */
  readonly origin: Origin
  readonly asked: Finish.Asked
  readonly begin: (response: Responses.Response) => void
  /** Where a response belongs that has come to its end. */
  readonly ended: (response: Responses.Response) => Origin
  readonly item: (item: Responses.ResponseOutputItem, parts: Array<Part>) => void
  /** The metadata of a text. */
  readonly text: (
    item: Responses.ResponseOutputMessage,
    content: Responses.ResponseOutputMessage["content"][number]
  ) => { readonly [key: string]: Schema.Json }
}

export interface Origin {
  responseId: string | undefined
  conversationId: string | undefined
}

export const makeItemReader = (reading: Reading): ItemReader => {
  const origin: Origin = { responseId: undefined, conversationId: undefined }
  const asked = { localCalls: false, approvals: false, refused: false }
  const requests = new Set<string>()
  return {
    origin,
    asked,
    begin: (response) => {
      origin.responseId = response.id
    },
    ended: (response) => ({
      responseId: response.id,
      conversationId: response.conversation?.id ?? reading.conversationId
    }),
    text: (item, content) => {
      if (content.type === "refusal") asked.refused = true
      return textMetadata(item, content, origin)
    },
    item: (item, parts) => {
      if (item.type === "function_call") {
        asked.localCalls = true
        parts.push(Local.functionCall(item, reading.directory.ofFunction(item.name).name, { ...origin }))
        return
      }
      if (item.type === "custom_tool_call") {
        asked.localCalls = true
        parts.push(Local.customCall(item, reading.directory.ofCustom(item.name).name, { ...origin }))
        return
      }
      // An answer is the program's own, which it has in its history.
      if (item.type === "mcp_approval_response") return
      const tool = reading.directory.ofItem(item)?.tool
      if (tool !== undefined && item.type === "mcp_approval_request") {
        asked.approvals = true
        const id = Approvals.unique(item.id, (id) => requests.has(id) || reading.isAsked(id))
        requests.add(id)
        parts.push(...Approvals.asked(item, id, tool.name, { ...origin }))
      } else if (tool !== undefined && Local.isMachineCall(item)) {
        asked.localCalls = true
        parts.push(Local.machineCall(item, tool.name, { ...origin }))
      } else if (tool !== undefined && Hosted.isUnlisted(item)) {
        parts.push(...Hosted.unlisted(item, { tool, origin: { ...origin }, kept: reading.kept }))
      } else if (tool !== undefined && Hosted.isHosted(item)) {
        const givenId = item.type === "mcp_call" ? item.approval_request_id : undefined
        const callId = typeof givenId === "string" ? reading.callOf(givenId) : undefined
        const hosted = Hosted.parts(item, { tool, origin: { ...origin }, kept: reading.kept, callId })
        // One part that does not fit its tool would fail the whole response.
        parts.push(...hosted ?? [carrier(item, origin, reading)])
      } else {
        parts.push(carrier(item, origin, reading))
      }
    }
  }
}

/**
 * An item that no other part could stand for: a result needs a declared tool, which this has not. It is a part without
 * text, so that a chat keeps it and OpenAI gets it back.
 */
export const carrier = (
  item: Responses.ResponseOutputItem,
  origin: Origin,
  reading: Reading
): Response.ReasoningPartEncoded => ({
  type: "reasoning",
  text: "",
  metadata: {
    openai: Metadata.json({
      ...origin,
      itemId: "id" in item ? item.id : undefined,
      itemType: item.type,
      // The list of an MCP server's tools is long, and nothing that a program would look at.
      ...(reading.kept && item.type === "mcp_list_tools" ? undefined : { item })
    })
  }
})

// =============================================================================
// Messages and reasoning
// =============================================================================

const message = (item: Responses.ResponseOutputMessage, reader: ItemReader, parts: Array<Part>): void => {
  contentOf(item).forEach((content, contentIndex) => {
    parts.push({
      type: "text",
      text: content.type === "output_text" ? content.text ?? "" : "",
      metadata: { openai: reader.text(item, content) }
    })
    if (content.type !== "output_text") return
    annotationsOf(content).forEach((annotation, index) => {
      const source = Citations.source(annotation, Citations.sourceId(item.id, contentIndex, index))
      if (source !== undefined) parts.push(source)
    })
  })
}

/** The annotations of a text; some servers leave them out. */
export const annotationsOf = (
  { annotations }: Responses.ResponseOutputText
): Responses.ResponseOutputText["annotations"] => Array.isArray(annotations) ? annotations : []

const textMetadata = (
  item: Responses.ResponseOutputMessage,
  content: Responses.ResponseOutputMessage["content"][number],
  origin: Origin
) =>
  Metadata.json({
    ...origin,
    itemId: item.id,
    status: item.status,
    phase: item.phase ?? undefined,
    ...(content.type === "refusal"
      ? { refusal: content.refusal }
      : {
        ...(annotationsOf(content).length > 0 ? { annotations: content.annotations } : undefined),
        ...(Array.isArray(content.logprobs) && content.logprobs.length > 0 ? { logprobs: content.logprobs } : undefined)
      })
  })

const reasoning = (item: Responses.ResponseReasoningItem, origin: Origin, parts: Array<Part>): void => {
  const thoughts = thoughtsOf(item)
  const texts = thoughts.length === 0 ? [{ text: "", raw: undefined }] : thoughts
  texts.forEach(({ raw, text }, index) => {
    const encryptedContent = index === texts.length - 1 ? item.encrypted_content ?? undefined : undefined
    parts.push({
      type: "reasoning",
      text,
      metadata: { openai: Metadata.json({ ...origin, itemId: item.id, raw, encryptedContent }) }
    })
  })
}
