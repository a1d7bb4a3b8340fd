/**
 * Chat Completions as OpenAI, Mistral, Groq and servers with OpenAI's interface speak it.
 */
import { createGroq } from "@ai-sdk/groq"
import { createMistral } from "@ai-sdk/mistral"
import { createOpenAI } from "@ai-sdk/openai"
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import { at, list, params, string } from "../recorded/json.ts"
import type { Provider, Reply, Rule } from "./strict.ts"
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

const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }

const head = { id: "chatcmpl-1", created: 1_700_000_000, model: "a-model" }

const calls = (reply: Reply) =>
  "text" in reply ? [] : reply.calls.map(({ id, name, params }, index) => ({
    index,
    id,
    type: "function",
    function: { name, arguments: JSON.stringify(params) }
  }))

const thought = "Both, then."

/** The field in which a server says what its model thought, if it does. */
type Thinking = "reasoning" | "reasoning_content" | undefined

const message = (reply: Reply, thinking: Thinking) =>
  "text" in reply
    ? { role: "assistant", content: reply.text }
    : {
      role: "assistant",
      content: "",
      ...(thinking === undefined ? undefined : { [thinking]: thought }),
      tool_calls: calls(reply)
    }

const reason = (reply: Reply) => "text" in reply ? "stop" : "tool_calls"

const completion = (reply: Reply, thinking: Thinking) => ({
  ...head,
  object: "chat.completion",
  choices: [{ index: 0, message: message(reply, thinking), finish_reason: reason(reply) }],
  usage
})

const chunk = (delta: unknown, finish_reason: string | null, rest = {}) => ({
  ...head,
  object: "chat.completion.chunk",
  choices: [{ index: 0, delta, finish_reason }],
  ...rest
})

const stream = (reply: Reply, thinking: Thinking) => [
  chunk({ role: "assistant", content: "" }, null),
  ..."text" in reply
    ? [chunk({ content: reply.text }, null)]
    : [
      ...(thinking === undefined ? [] : [chunk({ [thinking]: thought }, null)]),
      ...calls(reply).map((call) => chunk({ tool_calls: [call] }, null))
    ],
  chunk({}, reason(reply), { usage, x_groq: { id: "req_1", usage } })
]

const isOf = (...roles: ReadonlyArray<string>) => (message: unknown) => roles.includes(string(message, "role") ?? "")

const called = (message: unknown) => list(message, "tool_calls").map((call) => string(call, "id"))

const eachMessage = (
  look: (message: unknown, before: unknown, all: ReadonlyArray<unknown>, index: number) => ReadonlyArray<string>
): Rule["problems"] =>
(body) => list(body, "messages").flatMap((message, index, all) => look(message, all[index - 1], all, index))

/** The tool messages directly behind a message. */
const answers = (all: ReadonlyArray<unknown>, index: number): ReadonlyArray<string | undefined> => {
  const rest = all.slice(index + 1)
  const end = rest.findIndex((message) => !isOf("tool")(message))
  return (end < 0 ? rest : rest.slice(0, end)).map((message) => string(message, "tool_call_id"))
}

interface Body {
  messages: Array<
    { role: string; content: unknown; tool_call_id?: string; tool_calls?: Array<{ id: string; function: object }> }
  >
}

const specification = "github.com/openai/openai-openapi, openapi.yaml"

const answered: ReadonlyArray<Rule> = [
  {
    says: "every call is answered by a tool message directly behind the message of the calls",
    source: "github.com/agno-agi/agno/issues/4345",
    problems: eachMessage((message, _, all, index) => missing(called(message), answers(all, index))),
    breaks: ({ messages }: Body) => void messages.splice(2, 0, { role: "user", content: "Well." })
  },
  {
    says: "a tool message answers a call of the message before it, once",
    source: "github.com/miurla/morphic/issues/136",
    problems: eachMessage((message, _, all, index) => {
      // Whatever stands before a run of tool messages is what they answer.
      if (isOf("tool")(message)) return index === 0 ? ["the first message is one"] : []
      const found = answers(all, index)
      return [...missing(found, called(message)), ...repeated(found)]
    }),
    breaks: ({ messages }: Body) => void Object.assign(messages[2] ?? {}, { tool_call_id: "x" })
  },
  {
    says: "the content of a tool message is a text, or a list of texts",
    source: `ChatCompletionRequestToolMessage in ${specification}`,
    problems: eachMessage((message) =>
      isOf("tool")(message) && typeof at(message, "content") !== "string" &&
        (list(message, "content").length === 0 ||
          list(message, "content").some((part) => string(part, "type") !== "text"))
        ? ["one is not"]
        : []
    ),
    breaks: ({ messages }: Body) => void Object.assign(messages[2] ?? {}, { content: { deleted: true } })
  },
  {
    says: nameIsPlain,
    source: `FunctionObject in ${specification}; that a call with another is refused:` +
      " github.com/prefect-archive/ControlFlow/pull/107",
    problems: eachMessage((message) =>
      list(message, "tool_calls").flatMap((call) => notPlain(string(call, "function", "name")))
    ),
    breaks: ({ messages }: Body) =>
      void Object.assign(messages[1]?.tool_calls?.[0]?.function ?? {}, { name: "multi_tool_use.parallel" })
  },
  {
    says: inputIsObject,
    source: `ChatCompletionMessageToolCall in ${specification}; FromCompletionToolCall in` +
      " github.com/ollama/ollama, openai/openai.go; for vLLM and llama-server:" +
      " github.com/OpenHands/software-agent-sdk/issues/2887",
    problems: eachMessage((message) =>
      list(message, "tool_calls").flatMap((call) => {
        const text = string(call, "function", "arguments")
        return text === undefined ? ["one is no text"] : notObject(params(text))
      })
    ),
    breaks: ({ messages }: Body) =>
      void Object.assign(messages[1]?.tool_calls?.[0]?.function ?? {}, { arguments: { path: "/tmp/a" } })
  },
  {
    says: "an assistant says something or calls something",
    source: `ChatCompletionRequestAssistantMessage in ${specification}`,
    problems: eachMessage((message) =>
      isOf("assistant")(message) && called(message).length === 0 && !string(message, "content") ? ["one does not"] : []
    ),
    breaks: ({ messages }: Body) => void messages.splice(1, 0, { role: "assistant", content: null })
  }
]

const last = (source: string): Rule => ({
  says: "a conversation ends with the user or a tool",
  source,
  problems: (body) => isOf("user", "tool")(list(body, "messages").at(-1)) ? [] : ["it does not"],
  breaks: ({ messages }: Body) => void messages.push({ role: "assistant", content: "Well." })
})

// OpenAI takes it as something that the model has said.
const lastOfOurs = last(`${notDocumented}our own law L7, for models that go on from there`)

const onlyFields = (fields: Readonly<Record<string, ReadonlyArray<string>>>, source: string): Rule => ({
  says: "a message has no other fields than those that are documented",
  source,
  problems: eachMessage((message) => {
    const known = fields[string(message, "role") ?? ""]
    return known === undefined
      ? []
      : Object.keys(message ?? {}).flatMap((field) => known.includes(field) ? [] : [field])
  }),
  breaks: ({ messages }: Body) => void Object.assign(messages[1] ?? {}, { reasoning_details: [] })
})

const thoughtBack = (field: string, source: string): Rule => ({
  says: `what the model thought before calls is sent back as ${field}`,
  source,
  problems: eachMessage((message) =>
    called(message).length > 0 && string(message, field) !== thought ? ["it is not"] : []
  ),
  breaks: ({ messages }: Body) => void Object.assign(messages[1] ?? {}, { [field]: undefined })
})

const common = "github.com/mistralai/mistral-common, src/mistral_common/protocol/instruct/validator.py"

const mistralApi = "github.com/mistralai/platform-docs-public, openapi.yaml"

const mistralRules: ReadonlyArray<Rule> = [
  ...answered,
  {
    says: "the id of a call has nine letters and digits",
    source: `MistralRequestValidatorV3 in ${common}`,
    problems: eachMessage((message) =>
      [...called(message), ...(isOf("tool")(message) ? [string(message, "tool_call_id")] : [])]
        .flatMap((id) => /^[a-zA-Z0-9]{9}$/u.test(id ?? "") ? [] : [`${id}`])
    ),
    breaks: ({ messages }: Body) => void Object.assign(messages[1]?.tool_calls?.[0] ?? {}, { id: "call_a" })
  },
  {
    says: "no two calls of a message have one id",
    source: `MistralRequestValidatorV13 in ${common}`,
    problems: eachMessage((message) => repeated(called(message))),
    breaks: ({ messages }: Body) =>
      void Object.assign(messages[1]?.tool_calls?.[1] ?? {}, { id: messages[1]?.tool_calls?.[0]?.id })
  },
  {
    says: "behind a tool comes a tool or the assistant, not the user",
    source: "the role flow in github.com/mistralai/platform-docs-public, src/content/en/docs/studio/conversations/" +
      "function-calling/page.mdx; error 3230: github.com/datapizza-labs/datapizza-ai/issues/98. mistral-common takes a" +
      " user there since its commit cdd334b (2026-04-27), and models served elsewhere do not:" +
      " github.com/NousResearch/hermes-agent/issues/20154",
    problems: eachMessage((message, before) =>
      isOf("tool")(before) && !isOf("tool", "assistant")(message) ? [`a ${string(message, "role")} does`] : []
    ),
    breaks: ({ messages }: Body) => void messages.push({ role: "user", content: "Well." })
  },
  last(`_validate_last_message in ${common}; prefix, the one exception, is not ours to say`),
  onlyFields({
    assistant: ["role", "content", "tool_calls", "prefix"],
    tool: ["role", "content", "tool_call_id", "name"]
  }, `AssistantMessage and ToolMessage in ${mistralApi}`)
]

const provider = (
  { thinking, ...rest }: Pick<Provider, "name" | "format" | "model" | "rules"> & {
    readonly ids?: Provider["ids"]
    readonly thinking?: Thinking
  }
): Provider => ({
  ids: ["call_a", "call_b", "call_c"],
  ...rest,
  generate: (reply) => json(completion(reply, thinking)),
  stream: (reply) => events(stream(reply, thinking), "data: [DONE]\n\n"),
  outcomes: (body) =>
    list(body, "messages").filter(isOf("tool")).map((each) => ({
      id: string(each, "tool_call_id") ?? "",
      text: sentence(string(each, "content"))
    }))
})

/** OpenAI's Chat Completions. */
export const openaiChat: Provider = provider({
  name: "OpenAI Chat Completions",
  format: "openai-chat",
  model: (fetch) => createOpenAI({ apiKey: "none", fetch }).chat("gpt-4o"),
  rules: [...answered, lastOfOurs]
})

/** Groq, with a model that thinks. */
export const groq: Provider = provider({
  name: "Groq",
  format: "groq",
  model: (fetch) => createGroq({ apiKey: "none", fetch })("openai/gpt-oss-120b"),
  thinking: "reasoning",
  rules: [
    ...answered,
    onlyFields(
      {
        assistant: ["role", "content", "name", "reasoning", "tool_calls", "function_call"],
        tool: ["role", "content", "tool_call_id", "name"]
      },
      "ChatCompletionAssistantMessageParam in github.com/groq/groq-typescript, src/resources/chat/completions.ts;" +
        " that others are refused: github.com/janhq/jan/issues/8136"
    ),
    thoughtBack("reasoning", `${notDocumented}models of gpt-oss go on from it: github.com/vercel/ai/issues/7860`),
    lastOfOurs
  ]
})

/** Mistral. */
export const mistral: Provider = provider({
  name: "Mistral",
  format: "mistral",
  model: (fetch) => createMistral({ apiKey: "none", fetch })("mistral-large-latest"),
  ids: ["D681PevKs", "VvvODy9mT", "Kq8mX2vLp"],
  rules: mistralRules
})

/** Any server with OpenAI's interface, as strict as DeepSeek with thinking; Ollama and vLLM take more. */
export const compatible: Provider = provider({
  name: "openai-compatible",
  format: "openai-compatible",
  model: (fetch) =>
    createOpenAICompatible({ name: "local", baseURL: "http://localhost:11434/v1", fetch })("deepseek-v4"),
  thinking: "reasoning_content",
  rules: [
    ...answered,
    thoughtBack("reasoning_content", "https://api-docs.deepseek.com/guides/thinking_mode"),
    lastOfOurs
  ]
})

/** A model of Mistral's behind such a server, with the templates that it is published with. */
export const compatibleMistral: Provider = provider({
  name: "openai-compatible with Mistral's templates",
  format: "openai-compatible",
  model: (fetch) =>
    createOpenAICompatible({ name: "local", baseURL: "http://localhost:8000/v1", fetch })("Devstral-Small-2"),
  ids: mistral.ids,
  rules: mistralRules
})
