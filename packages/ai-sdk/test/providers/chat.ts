/**
 * Chat Completions as Mistral, Groq and servers with OpenAI's interface speak it, each as strict as its documentation.
 */
import { createGroq } from "@ai-sdk/groq"
import { createMistral } from "@ai-sdk/mistral"
import { createOpenAI } from "@ai-sdk/openai"
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import { at, list, string } from "../recorded/json.ts"
import type { Provider, Reply } from "./strict.ts"
import { events, json, sentence } from "./strict.ts"

const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }

const head = { id: "chatcmpl-1", created: 1_700_000_000, model: "a-model" }

const calls = (reply: Reply) =>
  "text" in reply ? [] : reply.calls.map(({ id, name, params }, index) => ({
    index,
    id,
    type: "function",
    function: { name, arguments: JSON.stringify(params) }
  }))

const message = (reply: Reply) =>
  "text" in reply
    ? { role: "assistant", content: reply.text }
    : { role: "assistant", content: "", tool_calls: calls(reply) }

const reason = (reply: Reply) => "text" in reply ? "stop" : "tool_calls"

const completion = (reply: Reply) => ({
  ...head,
  object: "chat.completion",
  choices: [{ index: 0, message: message(reply), finish_reason: reason(reply) }],
  usage
})

const chunk = (delta: unknown, finish_reason: string | null, rest = {}) => ({
  ...head,
  object: "chat.completion.chunk",
  choices: [{ index: 0, delta, finish_reason }],
  ...rest
})

const stream = (reply: Reply) => [
  chunk({ role: "assistant", content: "" }, null),
  ..."text" in reply
    ? [chunk({ content: reply.text }, null)]
    : calls(reply).map((call) => chunk({ tool_calls: [call] }, null)),
  chunk({}, reason(reply), { usage, x_groq: { id: "req_1", usage } })
]

const rules = (body: unknown): Array<string> => {
  const problems: Array<string> = []
  let open: Array<string> = []
  for (const each of list(body, "messages")) {
    const role = string(each, "role")
    if (role === "tool") {
      const id = string(each, "tool_call_id") ?? ""
      if (!open.includes(id)) problems.push(`a tool message must respond to a preceding tool_call: ${id}`)
      open = open.filter((waiting) => waiting !== id)
      if (typeof at(each, "content") !== "string") problems.push("the content of a tool message is a text")
      continue
    }
    if (open.length > 0) problems.push(`tool_call_ids did not have response messages: ${open.join()}`)
    open = list(each, "tool_calls").map((call) => string(call, "id") ?? "")
    for (const call of list(each, "tool_calls")) {
      if (typeof at(call, "function", "arguments") !== "string") problems.push("the arguments of a call are a text")
    }
  }
  if (open.length > 0) problems.push(`tool_call_ids did not have response messages: ${open.join()}`)
  const last = string(list(body, "messages").at(-1), "role")
  if (last !== "user" && last !== "tool") problems.push(`Expected last role User or Tool but got ${last}`)
  return problems
}

// Mistral is the one that also minds the form of ids, and what comes after a tool.
const mistralRules = (body: unknown): ReadonlyArray<string> => {
  const problems = rules(body)
  const messages = list(body, "messages")
  messages.forEach((each, index) => {
    for (const call of list(each, "tool_calls")) {
      const id = string(call, "id") ?? ""
      if (!/^[a-zA-Z0-9]{9}$/u.test(id)) problems.push(`Tool call id was ${id} but must be a-z, A-Z, 0-9, of length 9`)
    }
    if (string(each, "role") === "user" && string(messages[index - 1], "role") === "tool") {
      problems.push("Unexpected role 'user' after role 'tool'")
    }
  })
  return problems
}

interface Body {
  messages: Array<{ role: string; content: string; tool_call_id?: string; tool_calls?: Array<{ id: string }> }>
}

const shared = {
  generate: (reply) => json(completion(reply)),
  stream: (reply) => events(stream(reply), "data: [DONE]\n\n"),
  refuses: rules,
  outcomes: (body) =>
    list(body, "messages").filter((each) => string(each, "role") === "tool").map((each) => ({
      id: string(each, "tool_call_id") ?? "",
      text: sentence(string(each, "content"))
    })),
  broken: {
    "a call without a result": ({ messages }: Body) => void messages.splice(3, 1),
    "a result of no call": ({ messages }: Body) => void Object.assign(messages[2] ?? {}, { tool_call_id: "x" }),
    "a message between a call and its result": ({ messages }: Body) =>
      void messages.splice(2, 0, { role: "user", content: "Well." }),
    "an assistant at the end": ({ messages }: Body) => void messages.push({ role: "assistant", content: "Well." })
  }
} satisfies Partial<Provider>

const ids: Provider["ids"] = ["call_a", "call_b"]

/** OpenAI's Chat Completions. */
export const openaiChat: Provider = {
  ...shared,
  name: "OpenAI Chat Completions",
  format: "openai-chat",
  documentation: ["https://platform.openai.com/docs/api-reference/chat/create"],
  model: (fetch) => createOpenAI({ apiKey: "none", fetch }).chat("gpt-4o"),
  ids
}

/** Groq. */
export const groq: Provider = {
  ...shared,
  name: "Groq",
  format: "groq",
  documentation: ["https://console.groq.com/docs/tool-use"],
  model: (fetch) => createGroq({ apiKey: "none", fetch })("openai/gpt-oss-120b"),
  ids
}

/** Mistral. */
export const mistral: Provider = {
  ...shared,
  name: "Mistral",
  format: "mistral",
  documentation: ["https://docs.mistral.ai/capabilities/function_calling/"],
  model: (fetch) => createMistral({ apiKey: "none", fetch })("mistral-large-latest"),
  ids: ["D681PevKs", "VvvODy9mT"],
  refuses: mistralRules,
  broken: {
    ...shared.broken,
    "ids of another provider": ({ messages }: Body) => {
      for (const [index, call] of (messages[1]?.tool_calls ?? []).entries()) {
        call.id = `call_${index}`
        Object.assign(messages[2 + index] ?? {}, { tool_call_id: call.id })
      }
    },
    "a user after a tool": ({ messages }: Body) => void messages.push({ role: "user", content: "Well." })
  }
}

/** Any server with OpenAI's interface: Ollama, vLLM, OpenRouter. */
export const compatible: Provider = {
  ...shared,
  name: "openai-compatible",
  format: "openai-compatible",
  documentation: [
    "https://docs.ollama.com/api/openai-compatibility",
    "https://openrouter.ai/docs/features/tool-calling"
  ],
  model: (fetch) => createOpenAICompatible({ name: "local", baseURL: "http://localhost:11434/v1", fetch })("qwen3"),
  ids
}
