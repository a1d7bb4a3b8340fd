/**
 * Bedrock's Converse, as strict as its documentation. A key of Bedrock's own is sent as it is, so nothing is signed.
 */
import { createAmazonBedrock } from "@ai-sdk/amazon-bedrock"
import * as EventStream from "../recorded/event-stream.ts"
import { at, list, string } from "../recorded/json.ts"
import type { Provider, Reply } from "./strict.ts"
import { json } from "./strict.ts"

const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 }

const stopReason = (reply: Reply) => "text" in reply ? "end_turn" : "tool_use"

const response = (reply: Reply) => ({
  output: {
    message: {
      role: "assistant",
      content: "text" in reply
        ? [{ text: reply.text }]
        : reply.calls.map(({ id, name, params }) => ({ toolUse: { toolUseId: id, name, input: params } }))
    }
  },
  stopReason: stopReason(reply),
  usage,
  metrics: { latencyMs: 1 }
})

const stream = (reply: Reply): ReadonlyArray<unknown> => [
  { messageStart: { role: "assistant" } },
  ..."text" in reply
    ? [
      { contentBlockDelta: { contentBlockIndex: 0, delta: { text: reply.text } } },
      { contentBlockStop: { contentBlockIndex: 0 } }
    ]
    : reply.calls.flatMap(({ id, name, params }, contentBlockIndex) => [
      { contentBlockStart: { contentBlockIndex, start: { toolUse: { toolUseId: id, name } } } },
      { contentBlockDelta: { contentBlockIndex, delta: { toolUse: { input: JSON.stringify(params) } } } },
      { contentBlockStop: { contentBlockIndex } }
    ]),
  { messageStop: { stopReason: stopReason(reply) } },
  { metadata: { usage, metrics: { latencyMs: 1 } } }
]

const of = (message: unknown, kind: "toolUse" | "toolResult") =>
  list(message, "content").flatMap((block) => string(block, kind, "toolUseId") ?? [])

const refuses = (body: unknown): ReadonlyArray<string> => {
  const problems: Array<string> = []
  const messages = list(body, "messages")
  messages.forEach((message, index) => {
    const role = string(message, "role")
    if (role !== (index % 2 === 0 ? "user" : "assistant")) {
      problems.push("A conversation must alternate between user and assistant roles, and start with a user message")
    }
    const uses = of(message, "toolUse")
    const results = of(message, "toolResult")
    const before = of(messages[index - 1], "toolUse")
    const missing = uses.filter((id) => !of(messages[index + 1], "toolResult").includes(id))
    if (missing.length > 0) problems.push(`Expected toolResult blocks for the following Ids: ${missing.join()}`)
    if (results.some((id) => !before.includes(id)) || results.length > before.length) {
      problems.push("The number of toolResult blocks exceeds the number of toolUse blocks of previous turn")
    }
    for (const block of list(message, "content")) {
      const status = string(block, "toolResult", "status")
      if (status !== undefined && status !== "success" && status !== "error") problems.push(`status ${status}`)
      for (const content of list(block, "toolResult", "content")) {
        const value = at(content, "json")
        if (value !== undefined && (typeof value !== "object" || Array.isArray(value))) {
          problems.push("json of a toolResult is an object")
        }
      }
    }
    for (const id of uses) if (!/^[a-zA-Z0-9_-]{1,64}$/u.test(id)) problems.push(`toolUseId ${id}`)
    if (uses.length > 0 && at(body, "toolConfig") === undefined) {
      problems.push("The toolConfig field must be defined when using toolUse and toolResult content blocks")
    }
  })
  if (string(messages.at(-1), "role") !== "user") problems.push("A conversation must end with a user message")
  return problems
}

interface Body {
  messages: Array<{ role: string; content: Array<Record<string, Record<string, unknown>>> }>
  toolConfig?: unknown
}

/** Any model, at Amazon Bedrock. */
export const bedrock: Provider = {
  name: "Amazon Bedrock",
  format: "bedrock",
  documentation: [
    "https://docs.aws.amazon.com/bedrock/latest/userguide/tool-use-inference-call.html",
    "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolResultBlock.html"
  ],
  model: (fetch) => createAmazonBedrock({ region: "us-east-1", apiKey: "none", fetch })("us.amazon.nova-pro-v1:0"),
  ids: ["tooluse_A", "tooluse_B"],
  generate: (reply) => json(response(reply)),
  stream: (reply) => ({
    mediaType: EventStream.mediaType,
    body: EventStream.encode(stream(reply).map((event) => JSON.stringify(event)))
  }),
  refuses,
  outcomes: (body) =>
    list(body, "messages").flatMap((message) => list(message, "content")).flatMap((block) => {
      const id = string(block, "toolResult", "toolUseId")
      const text = list(block, "toolResult", "content").map((part) => string(part, "text") ?? JSON.stringify(part))
      return id === undefined ? [] : [{ id, text: text.join("") }]
    }),
  broken: {
    "a call without a result": ({ messages }: Body) => void messages[2]?.content.pop(),
    "a result of no call": ({ messages }: Body) =>
      void Object.assign(messages[2]?.content[0]?.["toolResult"] ?? {}, { toolUseId: "x" }),
    "two messages of the user": ({ messages }: Body) => void messages.splice(2, 0, { role: "user", content: [] }),
    "an assistant at the end": ({ messages }: Body) => void messages.push({ role: "assistant", content: [] }),
    "no tools beside a call": (body: Body) => {
      delete body.toolConfig
    }
  }
}
