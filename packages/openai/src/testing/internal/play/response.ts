/** The response object in each of its states, as OpenAI was recorded to write it. */
import type * as Responses from "openai/resources/responses/responses"
import type { JsonObject } from "../json.ts"
import * as Json from "../json.ts"
import type { Context } from "../stage/context.ts"
import type * as Items from "../stage/items.ts"
import type { Played, Stage } from "../stage/stage.ts"
import * as Store from "../stage/store.ts"

export type Respond = (status: "in_progress" | "completed" | "incomplete" | "failed", rest?: Rest) => JsonObject

interface Rest {
  readonly output?: ReadonlyArray<Items.OutputItem>
  readonly usage?: Responses.ResponseUsage
  readonly error?: { readonly code: string | null; readonly message: string }
  readonly reason?: string
}

export const make = (stage: Stage, params: JsonObject, context: Context): Respond => {
  const id = stage.store.ids.next("resp")
  // A clock of its own: the first second of 2026 and one second for each response.
  const created = 1_767_225_600 + Number(id.slice("resp_".length))
  const text = Json.isObject(params["text"]) ? params["text"] : undefined
  const reasoning = Json.isObject(params["reasoning"]) ? params["reasoning"] : undefined
  return (status, rest) => ({
    id,
    object: "response",
    created_at: created,
    status,
    background: false,
    completed_at: status === "completed" ? created : null,
    error: rest?.error ?? null,
    incomplete_details: rest?.reason === undefined ? null : { reason: rest.reason },
    instructions: params["instructions"] ?? null,
    max_output_tokens: params["max_output_tokens"] ?? null,
    max_tool_calls: params["max_tool_calls"] ?? null,
    model: params["model"],
    output: rest?.output ?? [],
    parallel_tool_calls: params["parallel_tool_calls"] ?? true,
    previous_response_id: params["previous_response_id"] ?? null,
    ...(context.conversation === undefined
      ? undefined
      : { conversation: { id: context.conversation.object["id"] } }),
    prompt_cache_key: params["prompt_cache_key"] ?? null,
    prompt_cache_retention: params["prompt_cache_retention"] ?? null,
    reasoning: { effort: null, summary: null, ...reasoning },
    safety_identifier: params["safety_identifier"] ?? null,
    service_tier: params["service_tier"] ?? "default",
    store: params["store"] !== false,
    temperature: params["temperature"] ?? 1,
    text: { format: { type: "text" }, verbosity: "medium", ...text },
    tool_choice: params["tool_choice"] ?? "auto",
    tools: Json.objectsOf(params["tools"]).map(echoed),
    top_logprobs: params["top_logprobs"] ?? 0,
    top_p: params["top_p"] ?? 1,
    truncation: params["truncation"] ?? "disabled",
    usage: rest?.usage ?? null,
    user: params["user"] ?? null,
    metadata: params["metadata"] ?? {}
  })
}

/** Secrets of a hosted server are not sent back. */
const echoed = (tool: JsonObject): JsonObject => {
  if (tool["type"] !== "mcp") return tool
  const { authorization: _, headers, ...rest } = tool
  return {
    allowed_tools: null,
    server_description: null,
    ...rest,
    headers: Json.isObject(headers)
      ? Object.fromEntries(Object.keys(headers).map((name) => [name, "<redacted>"]))
      : null,
    require_approval: tool["require_approval"] ?? "always"
  }
}

/** The last state. */
export const final = (played: Played, respond: Respond): JsonObject => {
  const rest = { output: played.output, usage: played.usage }
  switch (played.finish?.status) {
    case undefined:
      return respond("completed", rest)
    case "incomplete":
      return respond("incomplete", { ...rest, reason: played.finish.reason })
    case "failed":
      return respond("failed", { ...rest, error: { code: played.finish.code, message: played.finish.message } })
  }
}

export const keep = (stage: Stage, params: JsonObject, context: Context, response: JsonObject): void => {
  if (params["store"] === false || response["status"] === "failed") return
  Store.keep(stage.store, {
    response,
    previous: context.previous,
    input: context.input,
    output: Json.objectsOf(response["output"]),
    conversation: context.conversation
  })
}
