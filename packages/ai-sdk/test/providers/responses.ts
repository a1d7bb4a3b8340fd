/**
 * The Responses API, as OpenAI and xAI document it. What a request only refers to is looked up among what was answered.
 */
import { createOpenAI } from "@ai-sdk/openai"
import { createXai } from "@ai-sdk/xai"
import { at, list, string } from "../recorded/json.ts"
import type { Provider, Reply } from "./strict.ts"
import { events, json, sentence } from "./strict.ts"

const reasoning = {
  type: "reasoning",
  id: "rs_1",
  summary: [{ type: "summary_text", text: "Both, then." }],
  status: "completed"
}

const output = (reply: Reply): ReadonlyArray<Readonly<Record<string, unknown>>> =>
  "text" in reply
    ? [{
      type: "message",
      id: "msg_1",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: reply.text, annotations: [] }]
    }]
    : [
      reasoning,
      ...reply.calls.map(({ id, name, params }) => ({
        type: "function_call",
        id: `fc_${id}`,
        call_id: id,
        name,
        arguments: JSON.stringify(params),
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
        ? [
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

/** What an item says: a reference is the item that was answered, by its id. */
const resolve = (ids: Provider["ids"]) => (item: unknown): unknown => {
  if (string(item, "type") !== "item_reference") return item
  const id = string(item, "id") ?? ""
  const call = ids.find((each) => id === `fc_${each}`)
  return id === "rs_1"
    ? reasoning
    : id === "msg_1"
    ? { type: "message", role: "assistant" }
    : { type: "function_call", call_id: call ?? `no item ${id}` }
}

const refuses = (ids: Provider["ids"]) => (body: unknown): ReadonlyArray<string> => {
  const problems: Array<string> = []
  const items = list(body, "input").map(resolve(ids))
  const called = new Set<string>()
  const answered = new Set<string>()
  items.forEach((item, index) => {
    const id = string(item, "call_id") ?? ""
    switch (string(item, "type")) {
      case "function_call":
        if (!ids.includes(id)) problems.push(`Item not found: ${id}`)
        if (called.has(id)) problems.push(`Duplicate item: ${id}`)
        called.add(id)
        break
      case "function_call_output":
        if (!called.has(id)) problems.push(`No tool call found for function call output with call_id ${id}`)
        if (answered.has(id)) problems.push(`Two outputs of ${id}`)
        if (typeof at(item, "output") !== "string" && !Array.isArray(at(item, "output"))) {
          problems.push("The output of a call is a text or a list")
        }
        answered.add(id)
        break
      case "reasoning":
        if (string(items[index + 1], "type") !== "function_call") {
          problems.push("Item of type 'reasoning' was provided without its required following item")
        }
        break
      default:
        if (called.size > answered.size) problems.push("No tool output found before the next message")
    }
  })
  for (const id of called) if (!answered.has(id)) problems.push(`No tool output found for function call ${id}`)
  const last = items.at(-1)
  if (string(last, "role") === "assistant") problems.push("An assistant is last")
  return problems
}

interface Body {
  input: Array<Record<string, unknown>>
}

const position = ({ input }: Body, type: string) => input.findIndex((item) => item["type"] === type)

const responses = (
  ids: Provider["ids"],
  rest: Pick<Provider, "name" | "format" | "documentation" | "model">
): Provider => ({
  ...rest,
  ids,
  generate: (reply) => json(response(reply)),
  stream: (reply) => events(stream(reply)),
  refuses: refuses(ids),
  outcomes: (body) =>
    list(body, "input").filter((item) => string(item, "type") === "function_call_output").map((item) => ({
      id: string(item, "call_id") ?? "",
      text: sentence(string(item, "output"))
    })),
  broken: {
    "a call without an output": (body: Body) => void body.input.splice(position(body, "function_call_output"), 1),
    "an output of no call": (body: Body) =>
      void Object.assign(body.input[position(body, "function_call_output")] ?? {}, { call_id: "x" }),
    "an output before its call": (body: Body) => {
      body.input = body.input.toReversed()
    },
    "a message between a call and its output": (body: Body) =>
      void body.input.splice(position(body, "function_call_output"), 0, { role: "user", content: "Well." }),
    "an assistant at the end": (body: Body) => void body.input.push({ role: "assistant", content: "Well." })
  }
})

/** OpenAI. */
export const openai: Provider = responses(["call_a", "call_b"], {
  name: "OpenAI",
  format: "openai-responses",
  documentation: [
    "https://platform.openai.com/docs/guides/function-calling",
    "https://platform.openai.com/docs/guides/reasoning#keeping-reasoning-items-in-context"
  ],
  model: (fetch) => createOpenAI({ apiKey: "none", fetch })("gpt-5")
})

/** xAI. */
export const xai: Provider = responses(["call_10", "call_11"], {
  name: "xAI",
  format: "xai-responses",
  documentation: ["https://docs.x.ai/docs/guides/function-calling"],
  model: (fetch) => createXai({ apiKey: "none", fetch })("grok-4")
})
