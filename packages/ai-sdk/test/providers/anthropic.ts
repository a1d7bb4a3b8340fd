/**
 * Anthropic's Messages API, with thinking.
 */
import { createAnthropic } from "@ai-sdk/anthropic"
import { at, list, string } from "../recorded/json.ts"
import type { Provider, Reply, Rule } from "./strict.ts"
import {
  eachMessage,
  events,
  inputIsObject,
  json,
  missing,
  nameIsPlain,
  notObject,
  notPlain,
  repeated
} from "./strict.ts"

const model = "claude-opus-4-6"

// Of one call alone the thinking is not shown: its text is empty, or it is encrypted.
const thinking = ({ length }: ReadonlyArray<unknown>): ReadonlyArray<Readonly<Record<string, unknown>>> =>
  length > 1
    ? [{ type: "thinking", thinking: "Both, then.", signature: "c2lnbmVkIGJ5IGFudGhyb3BpYw==" }]
    : [{ type: "thinking", thinking: "", signature: "b21pdHRlZA==" }, {
      type: "redacted_thinking",
      data: "cmVkYWN0ZWQ="
    }]

const content = (reply: Reply): ReadonlyArray<Readonly<Record<string, unknown>>> =>
  "text" in reply
    ? [{ type: "text", text: reply.text }]
    : [
      ...thinking(reply.calls),
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

/** How a block begins, and what comes after that. */
const streamed = (block: Readonly<Record<string, unknown>>) => {
  switch (block["type"]) {
    case "text":
      return { start: { type: "text", text: "" }, deltas: [{ type: "text_delta", text: block["text"] }] }
    case "thinking":
      return {
        start: { type: "thinking", thinking: "", signature: "" },
        deltas: [
          ...(block["thinking"] === "" ? [] : [{ type: "thinking_delta", thinking: block["thinking"] }]),
          { type: "signature_delta", signature: block["signature"] }
        ]
      }
    case "tool_use":
      return {
        start: { ...block, input: {} },
        deltas: [{ type: "input_json_delta", partial_json: JSON.stringify(block["input"]) }]
      }
    default:
      return { start: block, deltas: [] }
  }
}

const stream = (reply: Reply) => {
  const whole = message(reply)
  return [
    { type: "message_start", message: { ...whole, content: [], stop_reason: null } },
    ...whole.content.flatMap((block, index) => {
      const { deltas, start } = streamed(block)
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

const isOf = (...types: ReadonlyArray<string>) => (block: unknown) => types.includes(string(block, "type") ?? "")

const blocks = (each: unknown, type: string) => list(each, "content").filter(isOf(type))

const uses = (each: unknown) => blocks(each, "tool_use").map((block) => string(block, "id"))

const results = (each: unknown) => blocks(each, "tool_result").map((block) => string(block, "tool_use_id"))

const thoughts = isOf("thinking", "redacted_thinking")

const isBlank = (text: string | undefined) => text !== undefined && text.trim() === ""

interface Body {
  system?: unknown
  max_tokens?: number
  messages: Array<{ role: string; content: Array<Record<string, unknown>> }>
}

const handling = "https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls" +
  " (its text of 2025-11-08: github.com/patrickcarmichael/claude-docs, 388-handling-tool-use-and-tool-result-content-blocks)"

const prefixes = "https://platform.claude.com/docs/build-with-claude/preserved-thinking/prefix-checks"

const rules: ReadonlyArray<Rule> = [
  {
    says: "every tool_use has its tool_result in the next message, with nothing between",
    source: handling,
    problems: eachMessage((message, _, behind) => missing(uses(message), results(behind))),
    breaks: ({ messages }: Body) =>
      void messages.splice(2, 0, { role: "user", content: [{ type: "text", text: "Well." }] })
  },
  {
    says: "tool_result blocks come first in their message",
    source: handling,
    problems: eachMessage((message) =>
      list(message, "content").slice(results(message).length).filter(isOf("tool_result")).map(() =>
        "a text comes before"
      )
    ),
    breaks: ({ messages }: Body) => void messages[2]?.content.unshift({ type: "text", text: "Well." })
  },
  {
    says: "a tool_result answers a tool_use of the message before it",
    source: "github.com/anthropics/claude-code/issues/18947",
    problems: eachMessage((message, before) => missing(results(message), uses(before))),
    breaks: ({ messages }: Body) => void Object.assign(messages[2]?.content[0] ?? {}, { tool_use_id: "toolu_x" })
  },
  {
    says: "a tool_use has one result",
    source: "not documented; an answer that comes late must not become a second one (law L6)",
    problems: eachMessage((message) => repeated(results(message))),
    breaks: ({ messages }: Body) => void messages[2]?.content.push(...messages[2].content)
  },
  {
    says: "nothing stands behind the tool_use blocks of a message",
    source: "the 400 recorded in github.com/anomalyco/opencode, packages/llm/test/fixtures/recordings/" +
      "anthropic-messages/rejects-malformed-assistant-tool-order-without-patch.json",
    problems: eachMessage((message) => {
      const content = list(message, "content")
      const first = content.findIndex(isOf("tool_use"))
      return first < 0 ? [] : content.slice(first).flatMap((block) => isOf("tool_use")(block) ? [] : ["something does"])
    }),
    breaks: ({ messages }: Body) => void messages[1]?.content.push({ type: "text", text: "Well." })
  },
  {
    says: "ids of tool_use are letters, digits, _ and -, each used once in a message",
    source: "not documented; what Anthropic's own ids are made of",
    problems: eachMessage((message) => [
      ...uses(message).flatMap((id) => /^[a-zA-Z0-9_-]+$/u.test(id ?? "") ? [] : [`${id}`]),
      ...repeated(uses(message))
    ]),
    breaks: ({ messages }: Body) => void Object.assign(messages[1]?.content.at(-1) ?? {}, { id: "functions.x:0" })
  },
  {
    says: nameIsPlain,
    source: "the 400 in github.com/home-assistant/core/issues/140005",
    problems: eachMessage((message) => blocks(message, "tool_use").flatMap((block) => notPlain(string(block, "name")))),
    breaks: ({ messages }: Body) => void Object.assign(messages[1]?.content.at(-1) ?? {}, { name: "$READFILE" })
  },
  {
    says: inputIsObject,
    source: "toAnthropicToolInput in github.com/vercel/ai, packages/anthropic; github.com/vercel/ai/issues/14442",
    problems: eachMessage((message) => blocks(message, "tool_use").flatMap((block) => notObject(at(block, "input")))),
    breaks: ({ messages }: Body) => void Object.assign(messages[1]?.content.at(-1) ?? {}, { input: "{" })
  },
  {
    says: "with thinking on, what used tools begins with its thinking",
    source: "https://platform.claude.com/docs/en/build-with-claude/extended-thinking;" +
      " the error: github.com/anomalyco/opencode/issues/3077",
    problems: eachMessage((message) =>
      uses(message).length > 0 && !thoughts(list(message, "content")[0]) ? ["it begins with something else"] : []
    ),
    breaks: ({ messages }: Body) => void messages[1]?.content.shift()
  },
  {
    says: "what the assistant said is sent as it was received, thinking and signature too",
    source:
      `${prefixes}; ThinkingBlockParam in github.com/anthropics/anthropic-sdk-typescript, src/resources/messages/messages.ts`,
    problems: (body, { replies }) => {
      const said = list(body, "messages").filter((message) => string(message, "role") === "assistant")
      return replies.flatMap((reply, index) =>
        JSON.stringify(at(said[index], "content")) === JSON.stringify(content(reply)) ? [] : [`answer ${index} differs`]
      )
    },
    breaks: ({ messages }: Body) => void Object.assign(messages[1]?.content[0] ?? {}, { thinking: "No." })
  },
  {
    says: "a request begins as the one before it",
    source: prefixes,
    problems: (body, { bodies }) => {
      const last = bodies.at(-1)
      if (last === undefined) return []
      const length = list(last, "messages").length
      const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)
      return [
        ...(same(list(body, "messages").slice(0, length), list(last, "messages")) ? [] : ["earlier messages changed"]),
        ...(same(at(body, "system"), at(last, "system")) ? [] : ["system changed"]),
        ...(same(at(body, "tools"), at(last, "tools")) ? [] : ["tools changed"])
      ]
    },
    breaks: ({ messages }: Body) => void messages[0]?.content.push({ type: "text", text: "And soon." })
  },
  {
    says: "no text is blank",
    source: "github.com/anthropics/claude-code/issues/23440; github.com/anthropics/anthropic-sdk-python/issues/461",
    problems: eachMessage((message) =>
      [...blocks(message, "text"), ...blocks(message, "tool_result").flatMap((block) => blocks(block, "text"))]
        .flatMap((block) => isBlank(string(block, "text")) ? ["one is"] : [])
    ),
    breaks: ({ messages }: Body) => void messages[2]?.content.push({ type: "text", text: " " })
  },
  {
    says: "the result of a call that failed is not empty",
    source: "github.com/bytedance/trae-agent/pull/231",
    problems: eachMessage((message) =>
      blocks(message, "tool_result").flatMap((block) =>
        at(block, "is_error") === true && (at(block, "content") === undefined || isBlank(string(block, "content")))
          ? ["one is"]
          : []
      )
    ),
    breaks: ({ messages }: Body) => void Object.assign(messages[2]?.content[1] ?? {}, { is_error: true, content: "" })
  },
  {
    says: "a conversation ends with the user",
    source: "github.com/vybestack/llxprt-code/pull/3695 (models from 4.6 on)",
    problems: (body) => string(list(body, "messages").at(-1), "role") === "user" ? [] : ["it does not"],
    breaks: ({ messages }: Body) =>
      void messages.push({ role: "assistant", content: [{ type: "text", text: "Well." }] })
  },
  {
    says: "max_tokens is said",
    source:
      "MessageCreateParamsBase in github.com/anthropics/anthropic-sdk-typescript, src/resources/messages/messages.ts",
    problems: (body) => typeof at(body, "max_tokens") === "number" ? [] : ["it is not"],
    breaks: (body: Body) => {
      delete body.max_tokens
    }
  }
]

/** Claude, at Anthropic. */
export const anthropic: Provider = {
  name: "Anthropic",
  format: "anthropic",
  model: (fetch) => createAnthropic({ apiKey: "none", fetch })(model),
  config: { providerOptions: { anthropic: { thinking: { type: "adaptive" } } } },
  ids: ["toolu_01A", "toolu_01B", "toolu_01C"],
  generate: (reply) => json(message(reply)),
  stream: (reply) => events(stream(reply)),
  rules,
  outcomes: (body) =>
    list(body, "messages").flatMap((each) => blocks(each, "tool_result")).map((block) => ({
      id: string(block, "tool_use_id") ?? "",
      text: string(block, "content") ?? list(block, "content").map((part) => string(part, "text")).join("")
    }))
}
