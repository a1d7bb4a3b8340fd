/** Random answers, and the events in which OpenAI sends them. */
import * as Edge from "../edges/edge.ts"
import type { Json } from "../recorded/facts.ts"
import type { Random } from "./random.ts"

/** An item and its events; `says` are those without which it is not told where nobody else tells it. */
export interface Told {
  readonly item: Json
  readonly events: ReadonlyArray<Json>
}

const words = ["Hello", " world", "!", " 🎲", "\n\n", "é", " is", " is", " a", "\u2028", "{\"x\":"]

const text = (random: Random): ReadonlyArray<string> =>
  Array.from({ length: 1 + random.integer(6) }, () => random.pick(words))

type Make = (random: Random, id: (prefix: string) => string, place: number) => Told

/** The events of an item that begins as `opened`, and says `said` in between. */
const told = (place: number, item: Json, opened: Json, said: ReadonlyArray<Json> = []): Told => ({
  item,
  events: [
    Edge.added(place, { ...opened, status: "in_progress" }),
    ...said.map((event) => ({ ...event, output_index: place, item_id: item["id"] })),
    Edge.done(place, item)
  ]
})

const message: Make = (random, id, place) => {
  const deltas = text(random)
  const content = { type: "output_text", text: deltas.join(""), annotations: [], logprobs: [] }
  const item = { type: "message", id: id("msg"), role: "assistant", status: "completed", content: [content] }
  const empty = { ...content, text: "" }
  return told(place, item, { ...item, content: [] }, [
    { type: "response.content_part.added", content_index: 0, part: empty },
    ...deltas.map((delta) => ({ type: "response.output_text.delta", content_index: 0, delta })),
    { type: "response.output_text.done", content_index: 0, text: content.text },
    { type: "response.content_part.done", content_index: 0, part: content }
  ])
}

const reasoning: Make = (random, id, place) => {
  const summaries = Array.from({ length: random.integer(3) }, () => text(random))
  const summary = summaries.map((deltas) => ({ type: "summary_text", text: deltas.join("") }))
  const item = { type: "reasoning", id: id("rs"), summary, encrypted_content: `gAAA${place}` }
  return told(
    place,
    item,
    { ...item, summary: [] },
    summaries.flatMap((deltas, summary_index) => [
      { type: "response.reasoning_summary_part.added", summary_index, part: { type: "summary_text", text: "" } },
      ...deltas.map((delta) => ({ type: "response.reasoning_summary_text.delta", summary_index, delta })),
      { type: "response.reasoning_summary_text.done", summary_index, text: deltas.join("") },
      { type: "response.reasoning_summary_part.done", summary_index, part: summary[summary_index] }
    ])
  )
}

const functionCall: Make = (random, id, place) => {
  const parameters = JSON.stringify({ text: text(random).join(""), number: random.integer(100) })
  const item = {
    type: "function_call",
    id: id("fc"),
    call_id: id("call"),
    name: random.pick(["add", "search"]),
    arguments: parameters,
    status: "completed"
  }
  return told(place, item, { ...item, arguments: "" }, [
    ...pieces(random, parameters).map((delta) => ({ type: "response.function_call_arguments.delta", delta })),
    { type: "response.function_call_arguments.done", arguments: parameters }
  ])
}

const customCall: Make = (random, id, place) => {
  const input = `SELECT ${text(random).join("")}`
  const item = { type: "custom_tool_call", id: id("ctc"), call_id: id("call"), name: "sql", input, status: "completed" }
  return told(place, item, { ...item, input: "" }, [
    ...pieces(random, input).map((delta) => ({ type: "response.custom_tool_call_input.delta", delta })),
    { type: "response.custom_tool_call_input.done", input }
  ])
}

const search: Make = (_, id, place) => {
  const item = { type: "web_search_call", id: id("ws"), status: "completed", action: { type: "search", query: "q" } }
  return told(place, item, { ...item, action: undefined }, [
    { type: "response.web_search_call.in_progress" },
    { type: "response.web_search_call.searching" },
    { type: "response.web_search_call.completed" }
  ])
}

const mcp = { server_label: "dice", name: "roll", arguments: `{"sides":6}` }

const mcpCall: Make = (_, id, place) => {
  const item = { type: "mcp_call", id: id("mcp"), ...mcp, status: "completed", output: "4", error: null }
  return told(place, item, { ...item, arguments: "", output: null }, [
    { type: "response.mcp_call.in_progress" },
    { type: "response.mcp_call_arguments.delta", delta: mcp.arguments },
    { type: "response.mcp_call_arguments.done", arguments: mcp.arguments },
    { type: "response.mcp_call.completed" }
  ])
}

const request: Make = (_, id, place) => {
  const item = { type: "mcp_approval_request", id: id("mcpr"), ...mcp }
  return told(place, item, item)
}

const unknown: Make = (_, id, place) => {
  const item = { type: "telepathy", id: id("tp"), mood: "calm" }
  return told(place, item, { type: "telepathy", id: item.id }, [{ type: "response.telepathy.delta", delta: "…" }])
}

/** Those of which deltas say everything. */
export const spoken: ReadonlyArray<Make> = [message, functionCall, customCall]

export const all: ReadonlyArray<Make> = [...spoken, message, functionCall, reasoning, search, mcpCall, request, unknown]

export const make = (random: Random, makes: ReadonlyArray<Make>): ReadonlyArray<Told> => {
  let count = 0
  const id = (prefix: string) => `${prefix}_${++count}`
  return Array.from({ length: 1 + random.integer(5) }, (_, place) => random.pick(makes)(random, id, place))
}

/** A text in pieces; a pair of surrogates may be cut in two, as a server's tokens do not. */
export const pieces = (random: Random, text: string): ReadonlyArray<string> => {
  const letters = [...text]
  const found: Array<string> = []
  while (letters.length > 0) found.push(letters.splice(0, 1 + random.integer(8)).join(""))
  return found
}
