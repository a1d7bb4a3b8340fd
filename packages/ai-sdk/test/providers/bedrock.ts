/**
 * Bedrock's Converse, with Claude, which thinks, and with Llama, which takes results by themselves alone. A key of
 * Bedrock's own is sent as it is, so nothing is signed.
 */
import { createAmazonBedrock } from "@ai-sdk/amazon-bedrock"
import * as EventStream from "../recorded/event-stream.ts"
import { at, list, string } from "../recorded/json.ts"
import type { Provider, Reply, Rule } from "./strict.ts"
import { eachMessage, inputIsObject, json, missing, nameIsPlain, notObject, notPlain, repeated } from "./strict.ts"

const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 }

const thought = { text: "Both, then.", signature: "c2lnbmVkIGF0IGJlZHJvY2s=" }

const stopReason = (reply: Reply) => "text" in reply ? "end_turn" : "tool_use"

// Of one call alone the reasoning is encrypted.
const reasoned = ({ length }: ReadonlyArray<unknown>) =>
  length > 1 ? { reasoningText: thought } : { redactedContent: "cmVkYWN0ZWQ=" }

type Thinks = boolean

const content = (reply: Reply, thinks: Thinks): ReadonlyArray<Readonly<Record<string, unknown>>> =>
  "text" in reply
    ? [{ text: reply.text }]
    : [
      ...(thinks ? [{ reasoningContent: reasoned(reply.calls) }] : []),
      ...reply.calls.map(({ id, name, params }) => ({ toolUse: { toolUseId: id, name, input: params } }))
    ]

const response = (reply: Reply, thinks: Thinks) => ({
  output: { message: { role: "assistant", content: content(reply, thinks) } },
  stopReason: stopReason(reply),
  usage,
  metrics: { latencyMs: 1 }
})

const deltas = (block: unknown): ReadonlyArray<unknown> => {
  const reasoning = at(block, "reasoningContent")
  const input = at(block, "toolUse", "input")
  return at(reasoning, "redactedContent") !== undefined
    ? [block]
    : reasoning !== undefined
    ? [{ reasoningContent: { text: thought.text } }, { reasoningContent: { signature: thought.signature } }]
    : input !== undefined
    ? [{ toolUse: { input: JSON.stringify(input) } }]
    : [block]
}

const stream = (reply: Reply, thinks: Thinks): ReadonlyArray<unknown> => [
  { messageStart: { role: "assistant" } },
  ...content(reply, thinks).flatMap((block, contentBlockIndex) => {
    const toolUseId = string(block, "toolUse", "toolUseId")
    return [
      ...(toolUseId === undefined ? [] : [{
        contentBlockStart: {
          contentBlockIndex,
          start: { toolUse: { toolUseId, name: string(block, "toolUse", "name") } }
        }
      }]),
      ...deltas(block).map((delta) => ({ contentBlockDelta: { contentBlockIndex, delta } })),
      { contentBlockStop: { contentBlockIndex } }
    ]
  }),
  { messageStop: { stopReason: stopReason(reply) } },
  { metadata: { usage, metrics: { latencyMs: 1 } } }
]

const of = (message: unknown, kind: "toolUse" | "toolResult") =>
  list(message, "content").flatMap((block) => string(block, kind, "toolUseId") ?? [])

interface Body {
  messages: Array<{ role: string; content: Array<Record<string, Record<string, unknown> | string>> }>
  toolConfig?: unknown
}

const shapes = "github.com/boto/botocore, botocore/data/bedrock-runtime/2023-09-30/service-2.json"

const rules: ReadonlyArray<Rule> = [
  {
    says: "the user begins, and the roles alternate",
    source: "github.com/microsoft/semantic-kernel/issues/10281",
    problems: eachMessage((message, _before, _behind, index) =>
      string(message, "role") === (index % 2 === 0 ? "user" : "assistant") ? [] : [`message ${index}`]
    ),
    breaks: ({ messages }: Body) => void messages.splice(2, 0, { role: "user", content: [{ text: "Well." }] })
  },
  {
    says: "every toolUse has its toolResult in the next message",
    source: "github.com/genkit-ai/aws-bedrock-js-plugin/issues/664",
    problems: eachMessage((message, _, behind) => missing(of(message, "toolUse"), of(behind, "toolResult"))),
    breaks: ({ messages }: Body) => void messages[2]?.content.pop()
  },
  {
    says: "there are not more toolResults than toolUses in the message before, and each is of one of them",
    source: "github.com/strands-agents/harness-sdk/issues/1435",
    problems: eachMessage((message, before) => [
      ...missing(of(message, "toolResult"), of(before, "toolUse")),
      ...repeated(of(message, "toolResult"))
    ]),
    breaks: ({ messages }: Body) => void messages[2]?.content.push(...messages[2].content)
  },
  {
    says: "where toolUse or toolResult stand, toolConfig is given",
    source: "github.com/vercel/ai/pull/7537",
    problems: (body) =>
      at(body, "toolConfig") === undefined &&
        list(body, "messages").some((message) => of(message, "toolUse").length + of(message, "toolResult").length > 0)
        ? ["it is not"]
        : [],
    breaks: (body: Body) => {
      delete body.toolConfig
    }
  },
  {
    says: "a toolUseId has 1 to 64 letters, digits, and _ . : -",
    source: `ToolUseId in ${shapes}`,
    problems: eachMessage((message) =>
      [...of(message, "toolUse"), ...of(message, "toolResult")]
        .flatMap((id) => /^[a-zA-Z0-9_.:-]{1,64}$/u.test(id) ? [] : [id])
    ),
    breaks: ({ messages }: Body) =>
      void Object.assign(messages[1]?.content.at(-1)?.["toolUse"] ?? {}, { toolUseId: "a b" })
  },
  {
    says: nameIsPlain,
    source: "github.com/vercel/ai/issues/10202; github.com/pydantic/pydantic-ai/issues/4585",
    problems: eachMessage((message) =>
      list(message, "content").flatMap((block) =>
        at(block, "toolUse") === undefined ? [] : notPlain(string(block, "toolUse", "name"))
      )
    ),
    breaks: ({ messages }: Body) =>
      void Object.assign(messages[1]?.content.at(-1)?.["toolUse"] ?? {}, { name: "$READFILE" })
  },
  {
    says: inputIsObject,
    source: "github.com/vercel/ai/pull/19023",
    problems: eachMessage((message) =>
      list(message, "content").flatMap((block) =>
        at(block, "toolUse") === undefined ? [] : notObject(at(block, "toolUse", "input"))
      )
    ),
    breaks: ({ messages }: Body) => void Object.assign(messages[1]?.content.at(-1)?.["toolUse"] ?? {}, { input: "{" })
  },
  {
    says: "no message is empty, and no text blank",
    source: "github.com/earendil-works/pi/pull/3443; github.com/NousResearch/hermes-agent/issues/55092 (measured)",
    problems: eachMessage((message) => {
      const blocks = list(message, "content")
      const results = blocks.flatMap((block) => list(block, "toolResult", "content"))
      return blocks.length === 0 || [...blocks, ...results].some((block) => string(block, "text")?.trim() === "")
        ? ["one is"]
        : []
    }),
    breaks: ({ messages }: Body) => void messages[2]?.content.push({ text: " " })
  },
  {
    says: "a toolResult has content, and with status error some text",
    source: "ToolResultBlock in " + shapes +
      "; github.com/aws-samples/sample-multi-agent-orchestration-chat-on-agentcore/issues/15",
    problems: eachMessage((message) =>
      list(message, "content").flatMap((block) => {
        const result = at(block, "toolResult")
        if (result === undefined) return []
        const status = at(result, "status")
        if (status !== undefined && status !== "success" && status !== "error") return [`status ${status}`]
        return !Array.isArray(at(result, "content")) || (status === "error" && list(result, "content").length === 0)
          ? ["one has not"]
          : []
      })
    ),
    breaks: ({ messages }: Body) =>
      void Object.assign(messages[2]?.content[0]?.["toolResult"] ?? {}, { status: "error", content: [] })
  },
  {
    says: "the json of a toolResult is an object",
    source: "github.com/sigoden/aichat/pull/1550",
    problems: eachMessage((message) =>
      list(message, "content").flatMap((block) => list(block, "toolResult", "content")).flatMap((content) => {
        const value = at(content, "json")
        return value !== undefined && (typeof value !== "object" || Array.isArray(value)) ? ["one is not"] : []
      })
    ),
    breaks: ({ messages }: Body) =>
      void Object.assign(messages[2]?.content[0]?.["toolResult"] ?? {}, { content: [{ json: [] }] })
  },
  {
    says: "a conversation ends with the user",
    source: "github.com/microsoft/semantic-kernel/issues/10281",
    problems: (body) => string(list(body, "messages").at(-1), "role") === "user" ? [] : ["it does not"],
    breaks: ({ messages }: Body) => void messages.push({ role: "assistant", content: [{ text: "Well." }] })
  }
]

const thoughtful: ReadonlyArray<Rule> = [
  {
    says: "the reasoning before a toolUse is sent back with its signature, unchanged",
    source: `ReasoningTextBlock in ${shapes}; that it has to be there: github.com/anomalyco/opencode/issues/3077`,
    problems: eachMessage((message) =>
      of(message, "toolUse").length > 0 &&
        JSON.stringify(at(message, "content", 0, "reasoningContent")) !==
          JSON.stringify(reasoned(of(message, "toolUse")))
        ? ["it is not"]
        : []
    ),
    breaks: ({ messages }: Body) => void messages[1]?.content.shift()
  },
  {
    says: "toolResults come first in their message",
    source: "github.com/langchain-ai/langchain-aws/issues/451",
    problems: eachMessage((message) =>
      list(message, "content").slice(of(message, "toolResult").length)
        .flatMap((block) => at(block, "toolResult") === undefined ? [] : ["something comes before"])
    ),
    breaks: ({ messages }: Body) => void messages[2]?.content.unshift({ text: "Well." })
  }
]

const alone: ReadonlyArray<Rule> = [
  {
    says: "nothing stands beside toolResults",
    source:
      "github.com/strands-agents/harness-sdk/issues/1223, github.com/langchain-ai/langchain-aws/issues/141; of which" +
      " models: github.com/pydantic/pydantic-ai, pydantic_ai_slim/pydantic_ai/providers/bedrock.py",
    problems: eachMessage((message) => {
      const results = of(message, "toolResult").length
      return results > 0 && results !== list(message, "content").length ? ["something does"] : []
    }),
    breaks: ({ messages }: Body) => void messages[2]?.content.push({ text: "Well." })
  },
  {
    says: "nothing stands beside toolUses",
    source: "github.com/quarkiverse/quarkus-langchain4j/issues/1983",
    problems: eachMessage((message) => {
      const uses = of(message, "toolUse").length
      return uses > 0 && uses !== list(message, "content").length ? ["something does"] : []
    }),
    breaks: ({ messages }: Body) => void messages[1]?.content.unshift({ text: "Well." })
  }
]

const bedrock = (
  { model, thinks, ...rest }: Pick<Provider, "name" | "rules"> & { readonly model: string; readonly thinks: Thinks }
): Provider => ({
  ...rest,
  format: "bedrock",
  model: (fetch) => createAmazonBedrock({ region: "us-east-1", apiKey: "none", fetch })(model),
  ids: ["tooluse_A", "tooluse_B", "tooluse_C"],
  generate: (reply) => json(response(reply, thinks)),
  stream: (reply) => ({
    mediaType: EventStream.mediaType,
    body: EventStream.encode(stream(reply, thinks).map((event) => JSON.stringify(event)))
  }),
  outcomes: (body) =>
    list(body, "messages").flatMap((message) => list(message, "content")).flatMap((block) => {
      const id = string(block, "toolResult", "toolUseId")
      const text = list(block, "toolResult", "content").map((part) => string(part, "text") ?? JSON.stringify(part))
      return id === undefined ? [] : [{ id, text: text.join("") }]
    })
})

/** Claude, at Amazon Bedrock. */
export const bedrockClaude: Provider = bedrock({
  name: "Amazon Bedrock",
  model: "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
  thinks: true,
  rules: [...rules, ...thoughtful]
})

/** Llama, at Amazon Bedrock. */
export const bedrockLlama: Provider = bedrock({
  name: "Amazon Bedrock with Llama",
  model: "us.meta.llama4-maverick-17b-instruct-v1:0",
  thinks: false,
  rules: [...rules, ...alone]
})
