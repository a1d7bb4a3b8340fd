/**
 * Reads recorded answers of OpenAI's Responses API, which xAI and others speak too.
 *
 * https://platform.openai.com/docs/api-reference/responses
 */
import type { Answer } from "../answer.ts"
import { empty } from "../answer.ts"
import { at, keys, list, number, params, present, string } from "../json.ts"

/** Items of the provider's own tools, which it runs itself. */
const hosted = [
  "code_interpreter_call",
  "file_search_call",
  "image_generation_call",
  "mcp_call",
  "web_search_call",
  "x_search_call"
]

/** Calls for the program to run: what each kind has in place of arguments. */
const called: Readonly<Record<string, (item: unknown) => unknown>> = {
  function_call: (item) => params(string(item, "arguments")),
  custom_tool_call: (item) => string(item, "input"),
  apply_patch_call: (item) => ({ callId: at(item, "call_id"), operation: at(item, "operation") }),
  local_shell_call: (item) => ({ action: at(item, "action") }),
  shell_call: (item) => ({ action: at(item, "action") })
}

const name = (item: unknown): string => string(item, "name") ?? string(item, "type")?.replace(/_call$/u, "") ?? ""

/** Reads a response. */
export const response = (body: unknown): Answer => {
  const output = list(body, "output")
  const of = (...types: ReadonlyArray<string>) => output.filter((item) => types.includes(string(item, "type") ?? ""))
  const content = of("message").flatMap((item) => list(item, "content"))
  // A shell in a container of the provider's own has its output beside its call.
  const inside = of("shell_call_output").map((item) => string(item, "call_id"))
  const calls = of(...Object.keys(called)).filter((item) => !inside.includes(string(item, "call_id")))
  const incomplete = string(body, "incomplete_details", "reason")
  const asked = present(of("mcp_approval_request").map((item) => string(item, "id")))
  const ran = keys(of(...hosted).map((item) => string(item, "id")))
  return {
    ...empty,
    text: content.map((part) => string(part, "text") ?? "").join(""),
    reasoning: of("reasoning").flatMap((item) => list(item, "summary").map((part) => string(part, "text") ?? "")).join(
      ""
    ),
    signatures: present(of("reasoning").map((item) => string(item, "encrypted_content"))),
    calls: calls.map((item) => ({
      id: string(item, "call_id"),
      name: name(item),
      params: called[string(item, "type") ?? ""]?.(item)
    })),
    hosted: ran,
    results: ran,
    sources: keys(
      content.flatMap((part) => list(part, "annotations").map((note) => string(note, "url")))
    ),
    asked,
    finish: asked.length > 0
      ? "pause"
      : incomplete === undefined
      ? calls.length > 0 ? "tool-calls" : "stop"
      : incomplete === "max_output_tokens"
      ? "length"
      : "content-filter",
    usage: {
      input: number(body, "usage", "input_tokens"),
      output: number(body, "usage", "output_tokens"),
      cacheRead: number(body, "usage", "input_tokens_details", "cached_tokens"),
      reasoning: number(body, "usage", "output_tokens_details", "reasoning_tokens")
    },
    id: string(body, "id"),
    model: string(body, "model")
  }
}

/** Reads the events of a stream: its items as they were done, and the rest from its last event. */
export const stream = (events: ReadonlyArray<unknown>): Answer => {
  const output = events.filter((event) => string(event, "type") === "response.output_item.done").map((event) =>
    at(event, "item")
  )
  const first = events.find((event) => string(event, "type") === "response.created")
  const last = events.findLast((event) => at(event, "response", "usage") !== undefined)
  return response({ ...at(last, "response") as object, id: at(first, "response", "id"), output })
}
