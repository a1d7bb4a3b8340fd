/**
 * Anthropic's Messages API, as strict as its documentation.
 */
import { createAnthropic } from "@ai-sdk/anthropic"
import { at, list, string } from "../recorded/json.ts"
import type { Provider, Reply } from "./strict.ts"
import { events, json } from "./strict.ts"

const model = "claude-sonnet-4-5"
const thinking = { type: "thinking", thinking: "Both, then.", signature: "c2lnbmVkIGJ5IGFudGhyb3BpYw==" }

const content = (reply: Reply): ReadonlyArray<Readonly<Record<string, unknown>>> =>
  "text" in reply
    ? [{ type: "text", text: reply.text }]
    : [
      thinking,
      { type: "text", text: "I will." },
      ...reply.calls.map(({ id, name, params }) => ({ type: "tool_use", id, name, input: params }))
    ]

const message = (reply: Reply) => ({
  id: "msg_01",
  type: "message",
  role: "assistant",
  model,
  content: content(reply),
  stop_reason: "text" in reply ? "end_turn" : "tool_use",
  stop_sequence: null,
  usage: { input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 2, cache_creation_input_tokens: 0 }
})

const stream = (reply: Reply) => {
  const whole = message(reply)
  return [
    { type: "message_start", message: { ...whole, content: [], stop_reason: null } },
    ...whole.content.flatMap((block, index) => {
      const deltas = block["type"] === "text"
        ? [{ type: "text_delta", text: block["text"] }]
        : block["type"] === "thinking"
        ? [{ type: "thinking_delta", thinking: block["thinking"] }, {
          type: "signature_delta",
          signature: block["signature"]
        }]
        : [{ type: "input_json_delta", partial_json: JSON.stringify(block["input"]) }]
      const start = block["type"] === "text"
        ? { type: "text", text: "" }
        : block["type"] === "thinking"
        ? { type: "thinking", thinking: "", signature: "" }
        : { ...block, input: {} }
      return [
        { type: "content_block_start", index, content_block: start },
        ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
        { type: "content_block_stop", index }
      ]
    }),
    {
      type: "message_delta",
      delta: { stop_reason: whole.stop_reason, stop_sequence: null },
      usage: { output_tokens: whole.usage.output_tokens }
    },
    { type: "message_stop" }
  ]
}

const blocks = (each: unknown, type: string) => list(each, "content").filter((block) => string(block, "type") === type)

const refuses = (body: unknown): ReadonlyArray<string> => {
  const problems: Array<string> = []
  const messages = list(body, "messages")
  if (typeof at(body, "max_tokens") !== "number") problems.push("max_tokens: Field required")
  messages.forEach((each, index) => {
    const next = messages[index + 1]
    const uses = blocks(each, "tool_use").map((block) => string(block, "id"))
    const results = blocks(each, "tool_result").map((block) => string(block, "tool_use_id"))
    const before = blocks(messages[index - 1], "tool_use").map((block) => string(block, "id"))
    const answered = blocks(next, "tool_result").map((block) => string(block, "tool_use_id"))
    for (const id of uses) {
      if (!/^[a-zA-Z0-9_-]+$/u.test(id ?? "")) problems.push(`tool_use id ${id} has a character that ids have not`)
      if (!answered.includes(id)) problems.push(`tool_use ${id} without a tool_result immediately after`)
    }
    for (const id of results) if (!before.includes(id)) problems.push(`tool_result ${id} has no tool_use before it`)
    if (new Set(results).size < results.length) problems.push("each tool_use must have a single result")
    const types = list(each, "content").map((block) => string(block, "type"))
    if (types.slice(results.length).includes("tool_result")) problems.push("tool_result blocks come first")
    if (uses.length > 0 && types[0] !== "thinking") problems.push("the thinking before a tool_use is to be passed back")
    for (const block of blocks(each, "thinking")) {
      if (string(block, "signature") !== thinking.signature || string(block, "thinking") !== thinking.thinking) {
        problems.push("thinking blocks cannot be modified")
      }
    }
  })
  if (string(messages.at(-1), "role") !== "user") problems.push("the conversation must end with a user message")
  return problems
}

interface Body {
  messages: Array<{ role: string; content: Array<Record<string, unknown>> }>
}

/** Claude, at Anthropic. */
export const anthropic: Provider = {
  name: "Anthropic",
  format: "anthropic",
  documentation: [
    "https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls",
    "https://platform.claude.com/docs/en/build-with-claude/extended-thinking#preserving-thinking-blocks"
  ],
  model: (fetch) => createAnthropic({ apiKey: "none", fetch })(model),
  ids: ["toolu_01A", "toolu_01B"],
  generate: (reply) => json(message(reply)),
  stream: (reply) => events(stream(reply)),
  refuses,
  outcomes: (body) =>
    list(body, "messages").flatMap((each) => blocks(each, "tool_result")).map((block) => ({
      id: string(block, "tool_use_id") ?? "",
      text: string(block, "content") ?? list(block, "content").map((part) => string(part, "text")).join("")
    })),
  broken: {
    "a call without a result": ({ messages }: Body) => void messages[2]?.content.pop(),
    "a result of no call": ({ messages }: Body) =>
      void Object.assign(messages[2]?.content[0] ?? {}, { tool_use_id: "x" }),
    "a text between a call and its result": ({ messages }: Body) =>
      void messages[2]?.content.unshift({ type: "text", text: "Well." }),
    "a message between a call and its result": ({ messages }: Body) =>
      void messages.splice(2, 0, { role: "user", content: [{ type: "text", text: "Well." }] }),
    "an assistant at the end": ({ messages }: Body) =>
      void messages.push({ role: "assistant", content: [{ type: "text", text: "Well." }] }),
    "other thoughts": ({ messages }: Body) => void Object.assign(messages[1]?.content[0] ?? {}, { thinking: "No." })
  }
}
