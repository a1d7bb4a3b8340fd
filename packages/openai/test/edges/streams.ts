/** Edges of streams: ids that change, events that are missing, and what comes only at the end. */
import type { Json } from "../recorded/facts.ts"
import { added, delta, done, type Edge, message, response, stream } from "./edge.ts"

const call = (fields: Json = {}): Json => ({
  type: "function_call",
  id: "fc_1",
  call_id: "call_1",
  name: "add",
  arguments: "",
  ...fields
})

const written = (event: Json, key = "function_call_arguments"): Json => ({
  type: `response.${key}.${"delta" in event ? "delta" : "done"}`,
  output_index: 0,
  item_id: "fc_1",
  ...event
})

const custom = (input: string): Json => ({
  type: "custom_tool_call",
  id: "ctc_1",
  call_id: "call_1",
  name: "sql",
  input
})

const text = (fields: Json = {}): Json => message("Hello.", fields)

const opened = message("", { content: [], status: "in_progress" })

const search = (fields: Json): Json => ({ type: "web_search_call", id: "ws_1", ...fields })

const summary = (text: string) => [{ type: "summary_text", text }]

const thought = (delta: string, item_id: string, summary_index = 0): Json => ({
  type: "response.reasoning_summary_text.delta",
  output_index: 0,
  item_id,
  summary_index,
  delta
})

const summarized = (summary_index: number, text: string): Json => ({
  type: "response.reasoning_summary_text.done",
  output_index: 0,
  item_id: "rs_1",
  summary_index,
  text
})

/** Each event twice, as it was numbered. */
const numbered = (events: ReadonlyArray<Json>): ReadonlyArray<Json> =>
  events.flatMap((event, index) => [{ ...event, sequence_number: index + 1 }, { ...event, sequence_number: index + 1 }])

const added1 = { "call 0 id": "call_1", "call 0 name": "add", "call 0 parameters": { a: 1 }, finish: "tool-calls" }

export const streams: ReadonlyArray<Edge> = [
  stream(
    "ids of items that are others in each event",
    [
      added(0, { type: "reasoning", id: "id-1", summary: [] }),
      thought("Hm.", "id-2"),
      done(0, { type: "reasoning", id: "id-3", summary: summary("Hm.") }),
      added(1, { ...opened, id: "id-4" }),
      delta(1, "id-5", "Hel"),
      delta(1, "id-6", "lo."),
      { type: "response.output_text.done", output_index: 1, item_id: "id-7", content_index: 0, text: "Hello." },
      done(1, text({ id: "id-8" }))
    ],
    { text: "Hello.", reasoning: "Hm." },
    response([{ type: "reasoning", id: "id-9", summary: summary("Hm.") }, text({ id: "id-10" })])
  ),
  stream("ids that are the same for two messages", [
    added(0, opened),
    delta(0, "msg_edge", "Hello."),
    done(0, text()),
    added(1, opened),
    delta(1, "msg_edge", " Bye."),
    done(1, message(" Bye."))
  ], { text: "Hello. Bye." }),
  stream("a message that is done without its content", [
    added(0, opened),
    delta(0, "msg_edge", "Hello."),
    done(0, { type: "message", id: "msg_edge", role: "assistant", status: "completed" })
  ], { text: "Hello." }),
  stream("a message that is not done, in a response without output", [
    added(0, opened),
    delta(0, "msg_edge", "Hello.")
  ], { text: "Hello.", finish: "stop" }),
  stream("a message with fewer deltas than text", [
    added(0, opened),
    delta(0, "msg_edge", "Hel"),
    done(0, text())
  ], { text: "Hello." }),
  stream("a message without deltas", [added(0, opened), done(0, text())], { text: "Hello." }),
  stream("a message in its response alone", [], { text: "Hello.", finish: "stop" }, response([text()])),
  stream("a call in its response alone", [], added1, response([call({ arguments: `{"a":1}` })])),
  stream("a refusal without its content", [
    added(0, opened),
    { type: "response.refusal.delta", output_index: 0, item_id: "msg_edge", content_index: 0, delta: "No." },
    { type: "response.refusal.done", output_index: 0, item_id: "msg_edge", content_index: 0, refusal: "No." },
    done(0, { type: "message", id: "msg_edge", role: "assistant", status: "completed" })
  ], { "refusal 0": "No.", finish: "content-filter" }),
  stream("arguments that are done, of a call that is not", [
    added(0, call()),
    written({ delta: `{"a"` }),
    written({ arguments: `{"a":1}` })
  ], added1),
  stream("a call that is done without its arguments", [
    added(0, call()),
    written({ delta: `{"a"` }),
    written({ delta: `:1}` }),
    done(0, call())
  ], added1),
  stream("the input of a custom call that is done, of a call that is not", [
    added(0, custom("")),
    written({ delta: "SELECT", item_id: "ctc_1" }, "custom_tool_call_input"),
    written({ input: "SELECT 1", item_id: "ctc_1" }, "custom_tool_call_input")
  ], { "call 0 name": "sql", "call 0 parameters": { input: "SELECT 1" } }),
  stream("a custom call", [
    added(0, custom("")),
    written({ delta: "SELECT 1", item_id: "ctc_1" }, "custom_tool_call_input"),
    done(0, custom("SELECT 1"))
  ], { "call 0 name": "sql", "call 0 parameters": { input: "SELECT 1" } }),
  stream("reasoning whose first event is its second summary", [
    { type: "response.reasoning_summary_part.added", output_index: 0, item_id: "rs_1", summary_index: 1 },
    thought("thinking", "rs_1", 1),
    done(0, { type: "reasoning", id: "rs_1", summary: summary("thinking"), encrypted_content: "gAAA" }),
    done(1, text())
  ], { "encrypted rs_1": "gAAA", text: "Hello." }),
  stream("reasoning that is done at once, and has nothing to say", [
    done(0, { type: "reasoning", id: "rs_1", summary: [] }),
    done(1, text())
  ], { text: "Hello." }),
  stream("a web search that is done without its action", [
    added(0, search({ status: "in_progress" })),
    done(0, search({ status: "completed" })),
    done(1, text())
  ], { "hosted result ws_1": "succeeded", text: "Hello." }),
  stream("a web search that no event ended", [added(0, search({ status: "in_progress" }))], {
    "hosted call ws_1": { type: "search" },
    text: "Hello."
  }, response([search({ status: "completed", action: { type: "search" } }), text()])),
  stream("a list of MCP tools that failed", [
    added(0, { type: "mcp_list_tools", id: "mcpl_1", server_label: "wiki", tools: [] }),
    { type: "response.mcp_list_tools.failed", output_index: 0, item_id: "mcpl_1" },
    done(0, { type: "mcp_list_tools", id: "mcpl_1", server_label: "wiki", tools: [], error: "401" }),
    done(1, text())
  ], { "hosted result mcpl_1": "failed", text: "Hello." }),
  stream(
    "reasoning in its response alone, behind the message that it led to",
    [added(1, opened), delta(1, "msg_edge", "Hello."), done(1, text())],
    { "encrypted rs_1": "gAAA", reasoning: "Hm.", text: "Hello." },
    response([{ type: "reasoning", id: "rs_1", summary: summary("Hm."), encrypted_content: "gAAA" }, text()])
  ),
  stream("summaries that are done, without deltas", [
    { type: "response.reasoning_summary_part.added", output_index: 0, item_id: "rs_1", summary_index: 0 },
    summarized(0, "One."),
    { type: "response.reasoning_summary_part.added", output_index: 0, item_id: "rs_1", summary_index: 1 },
    summarized(1, "Two."),
    done(0, { type: "reasoning", id: "rs_1", summary: [...summary("One."), ...summary("Two.")] }),
    done(1, text())
  ], { reasoning: "One.Two.", text: "Hello." }),
  stream(
    "events that come twice",
    numbered([
      added(0, opened),
      delta(0, "msg_edge", "ha"),
      delta(0, "msg_edge", "ha"),
      done(0, message("haha")),
      added(1, call()),
      written({ delta: `{"a":`, output_index: 1 }),
      written({ delta: `1}`, output_index: 1 })
    ]),
    { ...added1, text: "haha" }
  ),
  stream(
    "events with one number for all",
    numbered([
      added(0, opened),
      delta(0, "msg_edge", "ha"),
      delta(0, "msg_edge", "ha"),
      done(0, message("haha"))
    ]).map((event) => ({ ...event, sequence_number: 0 })).filter((_, index) => index % 2 === 0),
    { text: "haha" }
  ),
  stream("deltas that are no texts", [
    added(0, opened),
    { ...delta(0, "msg_edge", ""), delta: null },
    done(0, text())
  ], { text: "Hello." }),
  stream("an item of a type that nobody knows", [
    added(0, { type: "telepathy", id: "tp_1" }),
    { type: "response.telepathy.delta", output_index: 0, item_id: "tp_1", delta: "…" },
    done(0, { type: "telepathy", id: "tp_1", mood: "calm" }),
    done(1, text())
  ], { "item telepathy tp_1": true, text: "Hello." }),
  stream(
    "usage without counts",
    [done(0, text())],
    { text: "Hello.", finish: "stop" },
    response([text()], { usage: {} })
  ),
  stream(
    "events without a place in the output",
    [
      { type: "response.output_item.added", item: opened },
      { type: "response.output_text.delta", item_id: "msg_edge", content_index: 0, delta: "Hello." },
      { type: "response.output_item.done", item: text() }
    ],
    { text: "Hello." },
    response([text()])
  )
]
