/** Edges of whole responses: fields that are missing, null, new, or of another form. */
import { type Edge, message, whole } from "./edge.ts"

const search = (fields: object) => ({ type: "web_search_call", id: "ws_1", status: "completed", ...fields })

const mcp = (fields: object) => ({
  type: "mcp_call",
  id: "mcp_1",
  server_label: "wiki",
  name: "ask",
  arguments: `{"question":"why"}`,
  approval_request_id: null,
  output: null,
  error: null,
  ...fields
})

const call = (fields: object) => ({
  type: "function_call",
  id: "fc_1",
  call_id: "call_1",
  status: "completed",
  ...fields
})

const searched = { "hosted result ws_1": "succeeded" }

export const responses: ReadonlyArray<Edge> = [
  whole("a web search with sources of another kind", [
    search({
      action: {
        type: "search",
        query: "weather",
        sources: [{ type: "url", url: "https://example.com/" }, { type: "api", name: "oai-weather" }]
      }
    }),
    message("Sunny.")
  ], { ...searched, "hosted call ws_1": { type: "search" }, text: "Sunny." }),
  whole("a web search without an action", [search({}), message("Sunny.")], { ...searched, "hosted call ws_1": {} }),
  whole("a web search whose action is null", [search({ action: null }), message("Sunny.")], searched),
  whole("a web search with a source that is no object", [
    search({ action: { type: "search", query: "weather", sources: ["https://example.com/"] } }),
    message("Sunny.")
  ], { ...searched, "hosted call ws_1": { type: "search" } }),
  whole("a web search with a status that nobody knows", [search({ status: "cancelled", action: { type: "search" } })], {
    ...searched,
    "hosted call ws_1": { type: "search" }
  }),
  whole("a page that was opened without its address", [search({ action: { type: "open_page", url: null } })], searched),
  whole("a web search that failed", [search({ status: "failed", action: { type: "search" } })], {
    "hosted result ws_1": "failed"
  }),
  whole("a file search without queries", [
    { type: "file_search_call", id: "fs_1", status: "completed", results: [{ file_id: "file_1", score: "high" }] }
  ], { "hosted result fs_1": "succeeded" }),
  whole("code without its container", [
    { type: "code_interpreter_call", id: "ci_1", status: "completed", code: "1 + 1", outputs: [{ type: "hologram" }] }
  ], { "hosted call ci_1": { code: "1 + 1" }, "hosted result ci_1": "succeeded" }),
  whole("an image without a result", [{ type: "image_generation_call", id: "ig_1", status: "failed" }], {
    "hosted result ig_1": "failed"
  }),
  whole("a list of MCP tools that failed", [
    { type: "mcp_list_tools", id: "mcpl_1", server_label: "wiki", tools: [], error: "401 Unauthorized" },
    message("I cannot reach it.")
  ], { "hosted result mcpl_1": "failed", text: "I cannot reach it." }),
  whole("an MCP call that failed and has no error", [mcp({ status: "failed" })], { "hosted result mcp_1": "failed" }),
  whole("an MCP call with an error that is completed", [
    mcp({ status: "completed", error: { type: "http_error", code: 500, message: "down" } })
  ], { "hosted result mcp_1": "failed" }),
  whole("an MCP call with an error of another form", [mcp({ status: "failed", error: { kind: "new" } })], {
    "hosted result mcp_1": "failed"
  }),
  whole("a message without annotations", [
    message("", { content: [{ type: "output_text", text: "Hello." }] })
  ], { text: "Hello." }),
  whole("a message without content", [message("", { content: null }), message("Hello.", { id: "msg_2" })], {
    text: "Hello."
  }),
  whole("a citation without an address, and one that is null", [
    message("", {
      content: [{ type: "output_text", text: "Hello.", annotations: [{ type: "url_citation" }, null, { type: "new" }] }]
    })
  ], { text: "Hello." }),
  whole("reasoning without a summary", [{ type: "reasoning", id: "rs_1" }, message("Hello.")], { text: "Hello." }),
  whole("reasoning in full, as open models give it", [
    { type: "reasoning", id: "rs_1", summary: [], content: [{ type: "reasoning_text", text: "Hm." }] },
    message("Hello.")
  ], { reasoning: "Hm.", text: "Hello." }),
  whole("a call without arguments", [call({ name: "now" })], { "call 0 parameters": {}, finish: "tool-calls" }),
  whole("a call with empty arguments", [call({ name: "now", arguments: "" })], { "call 0 parameters": {} }),
  whole("a call whose arguments are no text", [call({ name: "add", arguments: { a: 1 } })], {
    "call 0 parameters": { a: 1 }
  }),
  whole("a call in a namespace", [call({ name: "find", namespace: "crm", arguments: "{}" })], {
    "call 0 name": "find"
  }),
  whole(
    "a custom call",
    [{ type: "custom_tool_call", id: "ctc_1", call_id: "call_1", name: "sql", input: "SELECT 1" }],
    {
      "call 0 name": "sql",
      "call 0 parameters": { input: "SELECT 1" },
      finish: "tool-calls"
    }
  ),
  whole("an item of a type that nobody knows", [{ type: "telepathy", id: "tp_1", mood: "calm" }, message("Hello.")], {
    "item telepathy tp_1": true,
    text: "Hello."
  }),
  whole("output with something that is no item", [null, "text", message("Hello.")], { text: "Hello." }),
  whole("usage without counts", [message("Hello.")], { text: "Hello.", finish: "stop" }, { usage: {} }),
  whole("no usage", [message("Hello.")], { text: "Hello." }, { usage: null }),
  whole("usage without details", [message("Hello.")], { "input tokens": 3, "output tokens": 2 }, {
    usage: { input_tokens: 3, output_tokens: 2 }
  }),
  whole("a time that is none", [message("Hello.")], { text: "Hello." }, { created_at: 1e300 }),
  whole("a reason to stop that nobody knows", [message("Hello.")], { finish: "other" }, {
    status: "incomplete",
    incomplete_details: { reason: "bored" }
  }),
  whole("moderation", [message("Hello.")], { moderation: { input: { flagged: false }, output: { flagged: true } } }, {
    moderation: { input: { flagged: false }, output: { flagged: true } }
  }),
  whole("content filters, as Azure has them", [message("Hello.")], {
    "content filters": [{
      blocked: false,
      source_type: "prompt",
      content_filter_results: { hate: { filtered: false } }
    }]
  }, {
    content_filters: [{ blocked: false, source_type: "prompt", content_filter_results: { hate: { filtered: false } } }]
  }),
  whole("a refusal", [message("", { content: [{ type: "refusal", refusal: "No." }] })], {
    "refusal 0": "No.",
    finish: "content-filter"
  })
]
