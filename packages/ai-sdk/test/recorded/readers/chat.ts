/**
 * Reads recorded answers of OpenAI's Chat Completions and of the many that speak it: Groq, Mistral, xAI and others.
 *
 * https://platform.openai.com/docs/api-reference/chat
 */
import type { Answer } from "../answer.ts"
import { empty } from "../answer.ts"
import { at, keys, list, number, params, present, string } from "../json.ts"

const finish: Readonly<Record<string, string>> = {
  stop: "stop",
  length: "length",
  model_length: "length",
  content_filter: "content-filter",
  function_call: "tool-calls",
  tool_calls: "tool-calls"
}

/** Text, or Mistral's list of text and thinking. */
const content = (message: unknown, kind: "text" | "thinking"): string => {
  const found = at(message, "content")
  if (typeof found === "string") return kind === "text" ? found : ""
  const chunks = list(message, "content").filter((chunk) => string(chunk, "type") === kind)
  return kind === "text"
    ? chunks.map((chunk) => string(chunk, "text") ?? "").join("")
    : chunks.flatMap((chunk) => list(chunk, "thinking").map((thought) => string(thought, "text") ?? "")).join("")
}

/** Reasoning under any of the names that providers use. */
const reasoning = (message: unknown): string =>
  string(message, "reasoning_content") ?? string(message, "reasoning") ?? content(message, "thinking")

const answer = (
  message: { text: string; reasoning: string; calls: ReadonlyArray<unknown>; reason: string | undefined },
  head: unknown,
  usage: unknown,
  citations: unknown
): Answer => ({
  ...empty,
  text: message.text,
  reasoning: message.reasoning,
  calls: message.calls.map((call) => ({
    id: string(call, "id"),
    name: string(call, "function", "name") ?? "",
    params: typeof at(call, "function", "arguments") === "object"
      ? at(call, "function", "arguments")
      : params(string(call, "function", "arguments"))
  })),
  sources: keys(list(citations, "citations").map((url) => typeof url === "string" ? url : undefined)),
  finish: message.reason === undefined ? undefined : finish[message.reason] ?? "other",
  usage: {
    input: number(usage, "prompt_tokens"),
    output: number(usage, "completion_tokens"),
    cacheRead: number(usage, "prompt_tokens_details", "cached_tokens"),
    reasoning: number(usage, "completion_tokens_details", "reasoning_tokens")
  },
  id: string(head, "id"),
  model: string(head, "model")
})

/** Reads a completion. */
export const completion = (body: unknown): Answer => {
  const message = at(body, "choices", 0, "message")
  return answer(
    {
      text: content(message, "text"),
      reasoning: reasoning(message),
      calls: list(message, "tool_calls"),
      reason: string(body, "choices", 0, "finish_reason")
    },
    body,
    at(body, "usage"),
    body
  )
}

/** Reads the chunks of a completion. */
export const stream = (chunks: ReadonlyArray<unknown>): Answer => {
  const calls = new Map<number, { id: string | undefined; name: string; json: string }>()
  const deltas = chunks.map((chunk) => at(chunk, "choices", 0, "delta"))
  for (const delta of deltas) {
    for (const piece of list(delta, "tool_calls")) {
      const index = number(piece, "index") ?? calls.size
      const call = calls.get(index) ?? { id: undefined, name: "", json: "" }
      const more = at(piece, "function", "arguments")
      calls.set(index, {
        id: call.id ?? string(piece, "id"),
        name: call.name === "" ? string(piece, "function", "name") ?? "" : call.name,
        json: call.json + (typeof more === "object" ? JSON.stringify(more) : string(more) ?? "")
      })
    }
  }
  const usage = chunks.findLast((chunk) => at(chunk, "usage") ?? at(chunk, "x_groq", "usage"))
  return answer(
    {
      text: deltas.map((delta) => content(delta, "text")).join(""),
      reasoning: deltas.map(reasoning).join(""),
      calls: [...calls.values()].map((call) => ({ id: call.id, function: { name: call.name, arguments: call.json } })),
      reason: present(chunks.map((chunk) => string(chunk, "choices", 0, "finish_reason"))).at(-1)
    },
    chunks.find((chunk) => at(chunk, "id") !== undefined && at(chunk, "id") !== ""),
    at(usage, "usage") ?? at(usage, "x_groq", "usage"),
    chunks.findLast((chunk) => list(chunk, "citations").length > 0)
  )
}
