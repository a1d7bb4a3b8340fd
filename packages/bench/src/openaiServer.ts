/**
 * Streams of the Responses API from another thread, so that what the server does is no part of what is measured. The
 * model's name says how many deltas a response has.
 */
import * as Http from "node:http"
import type { AddressInfo } from "node:net"
import { parentPort } from "node:worker_threads"

const base = {
  id: "resp_1",
  object: "response",
  created_at: 1,
  model: "gpt-5.2",
  error: null,
  incomplete_details: null
}
const message = { type: "message", id: "msg_1", role: "assistant" }
const place = { item_id: "msg_1", output_index: 0, content_index: 0 }

/** The events of one response, in pieces of about 16 KB. The words differ, so that no string is made once for all. */
function* body(deltas: number): Generator<string> {
  let sequence = 0
  let piece = ""
  let text = ""
  const event = (type: string, fields: object) => {
    piece += `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence++, ...fields })}\n\n`
  }
  event("response.created", { response: { ...base, status: "in_progress", output: [] } })
  event("response.output_item.added", { output_index: 0, item: { ...message, status: "in_progress", content: [] } })
  event("response.content_part.added", { ...place, part: { type: "output_text", text: "", annotations: [] } })
  for (let index = 0; index < deltas; index++) {
    const delta = `word ${index} `
    if (text.length < 1_000) text += delta
    event("response.output_text.delta", { ...place, delta, logprobs: [], obfuscation: "k3J9sLq0" })
    if (piece.length < 16_384) continue
    yield piece
    piece = ""
  }
  const part = { type: "output_text", text, annotations: [], logprobs: [] }
  const item = { ...message, status: "completed", content: [part] }
  event("response.output_text.done", { ...place, text, logprobs: [] })
  event("response.content_part.done", { ...place, part })
  event("response.output_item.done", { output_index: 0, item })
  event("response.completed", {
    response: {
      ...base,
      status: "completed",
      output: [item],
      usage: {
        input_tokens: 10,
        input_tokens_details: { cached_tokens: 0 },
        output_tokens: deltas,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: deltas + 10
      }
    }
  })
  yield piece
}

/** What is asked for again and again is made once. */
const made = new Map<number, ReadonlyArray<string>>()

const piecesOf = (deltas: number): Iterable<string> => {
  if (deltas > 10_000) return body(deltas)
  const known = made.get(deltas)
  if (known !== undefined) return known
  const pieces = [...body(deltas)]
  made.set(deltas, pieces)
  return pieces
}

const server = Http.createServer(async (request, response) => {
  let asked = ""
  for await (const bytes of request) asked += bytes
  response.writeHead(200, { "content-type": "text/event-stream" })
  for (const piece of piecesOf(Number(JSON.parse(asked).model))) {
    if (!response.write(piece)) await new Promise((resolve) => response.once("drain", resolve))
  }
  response.end()
})

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
server.listen(0, "127.0.0.1", () => parentPort?.postMessage((server.address() as AddressInfo).port))
