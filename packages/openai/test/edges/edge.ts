/** An edge: an answer in a shape that some server is known to send, made by us. */
import type { Json } from "../recorded/facts.ts"
import type { Wire } from "../recorded/program.ts"

export interface Edge {
  readonly name: string
  readonly wire: Wire
  /** What of it a program has to see at least: names of facts, with their values. */
  readonly shows: { readonly [fact: string]: unknown }
}

export const usage = {
  input_tokens: 20,
  input_tokens_details: { cached_tokens: 8 },
  output_tokens: 10,
  output_tokens_details: { reasoning_tokens: 4 },
  total_tokens: 30
}

export const response = (output: ReadonlyArray<unknown>, fields: Json = {}): Json => ({
  id: "resp_edge",
  object: "response",
  created_at: 1_700_000_000,
  model: "gpt-edge",
  status: "completed",
  output,
  usage,
  ...fields
})

export const message = (text: string, fields: Json = {}): Json => ({
  type: "message",
  id: "msg_edge",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text, annotations: [] }],
  ...fields
})

export const whole = (
  name: string,
  output: ReadonlyArray<unknown>,
  shows: Edge["shows"],
  fields: Json = {}
): Edge => ({
  name,
  shows,
  wire: { status: 200, mediaType: "application/json", body: JSON.stringify(response(output, fields)) }
})

const eventsOf = (events: ReadonlyArray<Json>): string =>
  events.map((event) => `event: ${String(event["type"])}\ndata: ${JSON.stringify(event)}\n\n`).join("")

/** A stream from its beginning to its end; `end` is the response that it ends with. */
export const stream = (
  name: string,
  events: ReadonlyArray<Json>,
  shows: Edge["shows"],
  end: Json = response([])
): Edge => ({
  name,
  shows,
  wire: {
    status: 200,
    mediaType: "text/event-stream",
    body: eventsOf([
      { type: "response.created", response: { ...end, status: "in_progress", output: [] } },
      ...events,
      { type: "response.completed", response: end }
    ])
  }
})

export const added = (output_index: number, item: Json): Json => ({
  type: "response.output_item.added",
  output_index,
  item
})

export const done = (output_index: number, item: Json): Json => ({
  type: "response.output_item.done",
  output_index,
  item
})

export const delta = (output_index: number, item_id: string, text: string): Json => ({
  type: "response.output_text.delta",
  output_index,
  item_id,
  content_index: 0,
  delta: text
})
