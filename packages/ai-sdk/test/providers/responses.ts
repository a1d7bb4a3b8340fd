/**
 * The Responses API of OpenAI and of xAI. What a request only refers to is looked up among what was answered. xAI describes
 * its own as compatible, and says less: the rules of both are OpenAI's, and strict for xAI where nobody has written of it.
 */
import { createOpenAI } from "@ai-sdk/openai"
import { createXai } from "@ai-sdk/xai"
import { at, list, params, string } from "../recorded/json.ts"
import type { Past, Provider, Reply, Rule, ScriptedCall } from "./strict.ts"
import {
  events,
  inputIsObject,
  json,
  missing,
  nameIsPlain,
  notDocumented,
  notObject,
  notPlain,
  repeated,
  sentence
} from "./strict.ts"

const encrypted = "Z3JvayBhbmQgZ3B0"

const own = (words: string) => words.replace(/\W/gu, "")

// Ids of items are the server's, each its own, also where a model uses the id of a call again.
const itemId = (prefix: string, { id, name, params }: ScriptedCall) =>
  own(`${prefix}_${id}_${name}${JSON.stringify(params)}`)

// Of one call alone there is no summary, as there is none where nobody asks for one.
const reasoning = (call: ScriptedCall, of: ReadonlyArray<unknown>) => ({
  type: "reasoning",
  id: itemId("rs", call),
  summary: of.length > 1 ? [{ type: "summary_text", text: "Both, then." }] : [],
  encrypted_content: encrypted,
  status: "completed"
})

const output = (reply: Reply): ReadonlyArray<Readonly<Record<string, unknown>>> =>
  "text" in reply
    ? [{
      type: "message",
      id: `msg_${own(reply.text)}`,
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: reply.text, annotations: [] }]
    }]
    : [
      ...reply.calls.slice(0, 1).map((call) => reasoning(call, reply.calls)),
      ...reply.calls.map((call) => ({
        type: "function_call",
        id: itemId("fc", call),
        call_id: call.id,
        name: call.name,
        arguments: JSON.stringify(call.params),
        status: "completed"
      }))
    ]

const response = (reply: Reply) => ({
  id: "resp_1",
  object: "response",
  created_at: 1_700_000_000,
  status: "completed",
  error: null,
  incomplete_details: null,
  model: "a-model",
  output: output(reply),
  usage: {
    input_tokens: 10,
    input_tokens_details: { cached_tokens: 2 },
    output_tokens: 5,
    output_tokens_details: { reasoning_tokens: 1 },
    total_tokens: 15
  }
})

const stream = (reply: Reply) => {
  const whole = response(reply)
  return [
    { type: "response.created", response: { ...whole, output: [], status: "in_progress", usage: null } },
    ...whole.output.flatMap((item, output_index) => {
      const item_id = item["id"]
      const begun = item["type"] === "message"
        ? { ...item, content: [] }
        : item["type"] === "reasoning"
        ? { ...item, summary: [] }
        : { ...item, arguments: "" }
      const text = string(item, "content", 0, "text") ?? string(item, "summary", 0, "text") ??
        string(item, "arguments") ?? ""
      const of = { item_id, output_index }
      const between = item["type"] === "message"
        ? [{ type: "response.output_text.delta", ...of, content_index: 0, delta: text }]
        : item["type"] === "reasoning"
        ? text === "" ? [] : [
          {
            type: "response.reasoning_summary_part.added",
            ...of,
            summary_index: 0,
            part: { type: "summary_text", text: "" }
          },
          { type: "response.reasoning_summary_text.delta", ...of, summary_index: 0, delta: text },
          { type: "response.reasoning_summary_text.done", ...of, summary_index: 0, text },
          {
            type: "response.reasoning_summary_part.done",
            ...of,
            summary_index: 0,
            part: { type: "summary_text", text }
          }
        ]
        : [
          { type: "response.function_call_arguments.delta", ...of, delta: text },
          { type: "response.function_call_arguments.done", ...of, arguments: text }
        ]
      return [
        { type: "response.output_item.added", output_index, item: begun },
        ...between,
        { type: "response.output_item.done", output_index, item }
      ]
    }),
    { type: "response.completed", response: whole }
  ]
}

/** The input of a request, with what it only refers to looked up among what was answered. */
const resolved = (body: unknown, { replies }: Past): ReadonlyArray<unknown> => {
  const known = replies.flatMap(output)
  return list(body, "input").map((item) =>
    string(item, "type") === "item_reference"
      ? known.find((each) => each["id"] === string(item, "id")) ?? { type: "nothing", id: string(item, "id") }
      : item
  )
}

const isOf = (type: string) => (item: unknown) => string(item, "type") === type

const callIds = (items: ReadonlyArray<unknown>, type: string) =>
  items.filter(isOf(type)).map((item) => string(item, "call_id"))

/** Looks at the items of a request. */
const inItems = (
  look: (items: ReadonlyArray<unknown>, past: Past) => ReadonlyArray<string>
): Rule["problems"] =>
(body, past) => look(resolved(body, past), past)

interface Body {
  input: Array<Record<string, unknown>>
}

const position = ({ input }: Body, type: string) => input.findIndex((item) => item["type"] === type)

const first = (body: Body, type: string): object => body.input[position(body, type)] ?? {}

const specification = "github.com/openai/openai-openapi, openapi.yaml"

const rules: ReadonlyArray<Rule> = [
  {
    says: "every function_call has its function_call_output",
    source: "github.com/openai/openai-support-agent-demo/issues/12",
    problems: inItems((items) => missing(callIds(items, "function_call"), callIds(items, "function_call_output"))),
    breaks: (body: Body) => void body.input.splice(position(body, "function_call_output"), 1)
  },
  {
    says: "an output is of a call that stands before it",
    source: "github.com/vercel/ai, packages/openai/src/responses/convert-to-openai-responses-input.ts" +
      " (\"No tool call found for function call output\")",
    problems: inItems((items) =>
      items.flatMap((item, index) =>
        isOf("function_call_output")(item)
          ? missing([string(item, "call_id")], callIds(items.slice(0, index), "function_call"))
          : []
      )
    ),
    breaks: (body: Body) => {
      body.input = body.input.toReversed()
    }
  },
  {
    says: "no call_id has two calls, or two outputs",
    source: "github.com/earendil-works/pi/issues/9057; github.com/NousResearch/hermes-agent/pull/111443",
    problems: inItems((items) => [
      ...repeated(callIds(items, "function_call")),
      ...repeated(callIds(items, "function_call_output"))
    ]),
    breaks: (body: Body) => void body.input.push({ ...first(body, "function_call_output") })
  },
  {
    says: "nothing stands between calls and their outputs",
    source: "DeepSeek: github.com/deepseek-ai/awesome-deepseek-integration/issues/740; OpenAI takes it",
    problems: inItems((items) => {
      const open = new Set<string | undefined>()
      return items.flatMap((item) => {
        if (isOf("function_call")(item)) open.add(string(item, "call_id"))
        else if (isOf("function_call_output")(item)) open.delete(string(item, "call_id"))
        else if (open.size > 0) return [string(item, "type") ?? string(item, "role") ?? "something"]
        return []
      })
    }),
    breaks: (body: Body) =>
      void body.input.splice(position(body, "function_call_output"), 0, { role: "user", content: "Well." })
  },
  {
    says: "what was reasoned stands directly before what it led to, and that behind it",
    source: "github.com/vercel/ai/issues/7099; github.com/0xPlaygrounds/rig/issues/751",
    problems: inItems((items, { replies }) =>
      replies.flatMap((reply) => {
        const call = "calls" in reply ? reply.calls[0] : undefined
        if (call === undefined) return []
        const at = items.findIndex((item) => string(item, "id") === itemId("rs", call))
        const behind = items[at + 1]
        return at >= 0 && string(behind, "name") === call.name &&
            string(behind, "arguments") === JSON.stringify(call.params)
          ? []
          : [itemId("rs", call)]
      })
    ),
    breaks: (body: Body) => void body.input.splice(position(body, "function_call"), 1)
  },
  {
    says: "no item is there twice",
    source: "github.com/vercel/ai/issues/7883",
    problems: inItems((items) => repeated(items.map((item) => string(item, "id")))),
    breaks: (body: Body) => {
      const at = body.input.findIndex((item) => item["role"] !== "user")
      body.input.splice(at, 0, { ...body.input[at] })
    }
  },
  {
    says: "a call_id has 1 to 64 characters",
    source: `FunctionCallOutputItemParam in ${specification}`,
    problems: inItems((items) =>
      [...callIds(items, "function_call"), ...callIds(items, "function_call_output")]
        .flatMap((id) => id !== undefined && id.length >= 1 && id.length <= 64 ? [] : [`${id}`])
    ),
    breaks: (body: Body) => void Object.assign(first(body, "function_call"), { call_id: "c".repeat(65) })
  },
  {
    says: "the arguments of a call are a text",
    source: `FunctionToolCall in ${specification}`,
    problems: inItems((items) =>
      items.filter(isOf("function_call")).flatMap((item) =>
        string(item, "arguments") === undefined ? ["one are not"] : []
      )
    ),
    breaks: (body: Body) => void Object.assign(first(body, "function_call"), { arguments: { path: "/tmp/a" } })
  },
  {
    says: nameIsPlain,
    source: `FunctionToolCall and FunctionTool in ${specification}`,
    problems: inItems((items) => items.filter(isOf("function_call")).flatMap((item) => notPlain(string(item, "name")))),
    breaks: (body: Body) => void Object.assign(first(body, "function_call"), { name: "multi_tool_use.parallel" })
  },
  {
    says: inputIsObject,
    source: "github.com/local-inference-lab/vllm/issues/684; OpenAI takes any text",
    problems: inItems((items) =>
      items.filter(isOf("function_call")).flatMap((item) => notObject(params(string(item, "arguments"))))
    ),
    breaks: (body: Body) => void Object.assign(first(body, "function_call"), { arguments: "{" })
  },
  {
    says: "no assistant message is without a text",
    source: `OutputMessage in ${specification}; for xAI: github.com/langchain-ai/langchain/issues/34140`,
    problems: inItems((items) =>
      items.flatMap((item) =>
        string(item, "role") === "assistant" && !string(item, "content") && list(item, "content").length === 0
          ? ["one is"]
          : []
      )
    ),
    breaks: (body: Body) => void body.input.splice(1, 0, { role: "assistant", content: "" })
  },
  {
    says: "the last word is not the assistant's",
    source: `${notDocumented}our own law L7, for models that go on from there`,
    problems: inItems((items) => string(items.at(-1), "role") === "assistant" ? ["it is"] : []),
    breaks: (body: Body) => void body.input.push({ role: "assistant", content: "Well." })
  }
]

const outputs = (allowed: (output: unknown) => boolean, says: string, source: string): Rule => ({
  says,
  source,
  problems: inItems((items) =>
    items.filter(isOf("function_call_output")).flatMap((item) => allowed(at(item, "output")) ? [] : ["one is not"])
  ),
  breaks: (body: Body) => void Object.assign(first(body, "function_call_output"), { output: { deleted: true } })
})

const responses = (rest: Pick<Provider, "name" | "format" | "model" | "rules" | "ids">): Provider => ({
  ...rest,
  generate: (reply) => json(response(reply)),
  stream: (reply) => events(stream(reply)),
  outcomes: (body) =>
    list(body, "input").filter(isOf("function_call_output")).map((item) => ({
      id: string(item, "call_id") ?? "",
      text: sentence(string(item, "output"))
    }))
})

/** OpenAI. */
export const openai: Provider = responses({
  name: "OpenAI",
  format: "openai-responses",
  model: (fetch) => createOpenAI({ apiKey: "none", fetch })("gpt-5"),
  ids: ["call_a", "call_b", "call_c"],
  rules: [
    ...rules,
    outputs(
      (output) => typeof output === "string" || Array.isArray(output),
      "an output is a text, or a list of contents",
      `FunctionCallOutputItemParam in ${specification}`
    ),
    {
      says: "a reference is to an item that is stored",
      source: `ItemReferenceParam in ${specification}`,
      problems: inItems((items) => items.flatMap((item) => isOf("nothing")(item) ? [`${string(item, "id")}`] : [])),
      breaks: ({ input }: Body) => void input.push({ type: "item_reference", id: "rs_other" })
    }
  ]
})

const xaiSpecification = "xAI's OpenAPI as kept in github.com/api-evangelist/xai, openapi/xai-responses-api-openapi.yml"

/** xAI. */
export const xai: Provider = responses({
  name: "xAI",
  format: "xai-responses",
  model: (fetch) => createXai({ apiKey: "none", fetch })("grok-4"),
  ids: ["call_10", "call_11", "call_12"],
  rules: [
    ...rules,
    outputs(
      (output) => typeof output === "string",
      "an output is a text",
      `FunctionToolCallOutput in ${xaiSpecification}`
    ),
    {
      says: "an item is sent itself, not a reference to it",
      source: `ModelInputPart in ${xaiSpecification}, which has none`,
      problems: (body) => list(body, "input").flatMap((item) => isOf("item_reference")(item) ? ["one is not"] : []),
      breaks: ({ input }: Body) => void input.push({ type: "item_reference", id: "msg_1" })
    },
    {
      says: "what was reasoned is sent back as it came, encrypted",
      source: "https://docs.x.ai/developers/model-capabilities/text/comparison.md (that it can be; that it must be is" +
        " not documented)",
      problems: inItems((items) =>
        items.filter(isOf("reasoning")).flatMap((item) =>
          string(item, "encrypted_content") === encrypted ? [] : [`${string(item, "id")}`]
        )
      ),
      breaks: (body: Body) => void Object.assign(first(body, "reasoning"), { encrypted_content: "other" })
    }
  ]
})
