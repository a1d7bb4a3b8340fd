/** From a turn of the script to what goes over the wire, step by step. */
import * as Effect from "effect/Effect"
import type * as Responses from "openai/resources/responses/responses"
import type { ApiError } from "../ApiError.ts"
import type { Finish, ScriptedItem, StageDirection, Turn, TurnPart } from "../ScriptedResponse.ts"
import type { Context } from "./context.ts"
import * as Events from "./events.ts"
import * as HostedMcp from "./hostedMcp.ts"
import * as Items from "./items.ts"
import type { JsonObject } from "./json.ts"
import * as Json from "./json.ts"
import * as Refusals from "./refusals.ts"
import * as Store from "./store.ts"

/** One thing to do with a connection. */
export type Step =
  | { readonly _tag: "Write"; readonly data: string | Uint8Array }
  | { readonly _tag: "Run"; readonly effect: Effect.Effect<void> }
  | { readonly _tag: "Cut"; readonly how: "destroy" | "end" }
  | { readonly _tag: "Stall" }

/** What one request is answered with. */
export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly steps: Iterable<Step>
}

export interface Stage {
  readonly store: Store.Store
  readonly servers: HostedMcp.McpServers
  readonly executions: Array<HostedMcp.McpExecution>
  readonly deltaSize: number
}

export const json = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Reply => ({
  status,
  headers: { "content-type": "application/json", ...headers },
  steps: [{ _tag: "Write", data: JSON.stringify(body, undefined, 2) }]
})

export const refuse = (error: ApiError): Reply =>
  json(
    error.status,
    { error: { message: error.message, type: error.type, param: error.param, code: error.code } },
    error.headers
  )

/** Plays a turn that is no function any more. */
export const turn = Effect.fnUntraced(function*(
  stage: Stage,
  params: JsonObject,
  context: Context,
  turn: Exclude<Turn, (...args: never) => unknown>
): Effect.fn.Return<Reply> {
  if (isApiError(turn)) return refuse(turn)
  const parts: ReadonlyArray<TurnPart> = typeof turn === "string"
    ? turn === ""
      ? []
      : [{ _tag: "Text", parts: [{ type: "output_text", text: turn, annotations: [] }], phase: undefined }]
    : turn

  const before = yield* hosted(stage, params, context)
  if ("_tag" in before) return refuse(before)
  const scene = new Map<number, Array<StageDirection>>()
  const output: Array<Items.OutputItem> = [...before.output]
  let finish: Finish | undefined
  let usage: Responses.ResponseUsage | undefined
  for (const part of parts) {
    switch (part._tag) {
      case "Finish":
        finish = part.finish
        break
      case "Usage":
        usage = part.usage
        break
      case "Cut":
      case "Stall":
      case "Bytes":
      case "Pause":
      case "StreamError": {
        const directions = scene.get(output.length) ?? []
        directions.push(part)
        scene.set(output.length, directions)
        break
      }
      default: {
        const item = yield* toOutput(stage, params, part)
        if ("_tag" in item) return refuse(item)
        output.push(item.item)
      }
    }
  }
  if (finish?.status === "incomplete") {
    const last = output.pop()
    if (last !== undefined) output.push(Items.unfinished(last))
  }
  const played: Played = { output, scene, finish, usage: usage ?? defaultUsage }
  const response = responseOf(stage, params, context)
  return params["stream"] === true
    ? stream(stage, params, context, played, response)
    : atOnce(stage, params, context, played, response)
})

interface Played {
  readonly output: ReadonlyArray<Items.OutputItem>
  /** Stage directions by the number of items before them. */
  readonly scene: ReadonlyMap<number, ReadonlyArray<StageDirection>>
  readonly finish: Finish | undefined
  readonly usage: Responses.ResponseUsage
}

const isApiError = (turn: Turn): turn is ApiError => typeof turn === "object" && "_tag" in turn

const defaultUsage: Responses.ResponseUsage = {
  input_tokens: 10,
  input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
  output_tokens: 5,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 15
}

// =============================================================================
// Items
// =============================================================================

const toOutput = Effect.fnUntraced(function*(
  stage: Stage,
  params: JsonObject,
  part: ScriptedItem
): Effect.fn.Return<{ readonly item: Items.OutputItem } | ApiError> {
  if (part._tag !== "McpCall") {
    const include = new Set(Json.isArray(params["include"]) ? params["include"] : [])
    const item = Items.make(part, stage.store.ids, include)
    if (part._tag === "Item") stage.store.ownTypes.add(part.item.type)
    return { item }
  }
  const config = HostedMcp.configOf(params, part.server)
  const tool = HostedMcp.serverOf(stage.servers, part.server)?.find((tool) => tool.name === part.name)
  if (config === undefined || tool === undefined || !HostedMcp.isAllowed(config, tool)) {
    return Refusals.scriptFault(
      `The script calls '${part.name}' of MCP server '${part.server}', which the request does not offer.`
    )
  }
  const call = { arguments: part.arguments, name: part.name, server_label: part.server }
  return {
    item: HostedMcp.mustAsk(config, tool)
      ? { id: stage.store.ids.next("mcpr"), type: "mcp_approval_request", ...call }
      : yield* runCall(stage, call, undefined)
  }
})

/** What the server does before the model speaks: lists tools that nobody listed yet, and runs what was approved. */
const hosted = Effect.fnUntraced(function*(
  stage: Stage,
  params: JsonObject,
  context: Context
): Effect.fn.Return<{ readonly output: ReadonlyArray<Items.OutputItem> } | ApiError> {
  const output: Array<Items.OutputItem> = []
  const listed = new Set(
    context.items.filter((item) => item["type"] === "mcp_list_tools").map((item) => item["server_label"])
  )
  for (const config of HostedMcp.configs(params)) {
    const label = String(config["server_label"])
    const tools = HostedMcp.serverOf(stage.servers, label)
    if (tools === undefined) return Refusals.mcpServerNotFound(label)
    if (listed.has(label)) continue
    output.push({
      id: stage.store.ids.next("mcpl"),
      type: "mcp_list_tools",
      server_label: label,
      tools: HostedMcp.listed(tools.filter((tool) => HostedMcp.isAllowed(config, tool)))
    })
  }
  for (const request of context.approved) {
    const label = String(request["server_label"])
    if (HostedMcp.configOf(params, label) === undefined) {
      return Refusals.approvedWithoutServer(label, String(request["id"]))
    }
  }
  for (const request of context.approved) {
    const call = {
      arguments: String(request["arguments"]),
      name: String(request["name"]),
      server_label: String(request["server_label"])
    }
    output.push(yield* runCall(stage, call, String(request["id"])))
  }
  return { output }
})

const runCall = Effect.fnUntraced(function*(
  stage: Stage,
  call: Pick<Responses.ResponseOutputItem.McpCall, "arguments" | "name" | "server_label">,
  approvalRequestId: string | undefined
): Effect.fn.Return<Responses.ResponseOutputItem.McpCall> {
  const execution = { server: call.server_label, name: call.name, arguments: call.arguments, approvalRequestId }
  stage.executions.push(execution)
  const tool = HostedMcp.serverOf(stage.servers, call.server_label)?.find((tool) => tool.name === call.name)
  const outcome = yield* HostedMcp.run(tool, execution)
  return {
    id: stage.store.ids.next("mcp"),
    type: "mcp_call",
    approval_request_id: approvalRequestId ?? null,
    ...call,
    ...outcome
  }
})

// =============================================================================
// The response
// =============================================================================

type Respond = (
  status: "in_progress" | "completed" | "incomplete" | "failed",
  rest?: {
    readonly output?: ReadonlyArray<Items.OutputItem>
    readonly usage?: Responses.ResponseUsage
    readonly error?: { readonly code: string | null; readonly message: string }
    readonly reason?: string
  }
) => JsonObject

/** The response in each of its states, as OpenAI was recorded to write it. */
const responseOf = (stage: Stage, params: JsonObject, context: Context): Respond => {
  const id = stage.store.ids.next("resp")
  const created = 1_767_225_600 + Number(id.slice("resp_".length))
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
    reasoning: {
      effort: null,
      summary: null,
      ...(Json.isObject(params["reasoning"]) ? params["reasoning"] : undefined)
    },
    safety_identifier: params["safety_identifier"] ?? null,
    service_tier: params["service_tier"] ?? "default",
    store: params["store"] !== false,
    temperature: params["temperature"] ?? 1,
    text: {
      format: { type: "text" },
      verbosity: "medium",
      ...(Json.isObject(params["text"]) ? params["text"] : undefined)
    },
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

const final = (played: Played, respond: Respond): JsonObject => {
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

const keep = (stage: Stage, params: JsonObject, context: Context, played: Played, response: JsonObject): void => {
  if (params["store"] === false || response["status"] === "failed") return
  Store.keep(stage.store, {
    response,
    previous: context.previous,
    input: context.input,
    output: played.output.map((item): JsonObject => ({ ...item })),
    conversation: context.conversation
  })
}

// =============================================================================
// JSON
// =============================================================================

const atOnce = (stage: Stage, params: JsonObject, context: Context, played: Played, respond: Respond): Reply => {
  const directions = [...played.scene.keys()].toSorted((one, other) => one - other)
    .flatMap((place) => played.scene.get(place) ?? [])
  for (const direction of directions) {
    if (direction._tag === "StreamError") return refuse(direction.error)
  }
  const response = final(played, respond)
  return {
    status: 200,
    headers: { "content-type": "application/json" },
    steps: stepsAtOnce(
      directions,
      JSON.stringify(response, undefined, 2),
      () => keep(stage, params, context, played, response)
    )
  }
}

function* stepsAtOnce(directions: ReadonlyArray<StageDirection>, body: string, kept: () => void): Generator<Step> {
  let own = false
  for (const direction of directions) {
    if (direction._tag === "Pause") yield { _tag: "Run", effect: direction.effect }
    if (direction._tag === "Bytes") {
      own = true
      yield { _tag: "Write", data: direction.bytes }
    }
    if (direction._tag === "Cut" || direction._tag === "Stall") {
      if (!own) yield { _tag: "Write", data: body.slice(0, body.length / 2) }
      yield direction._tag === "Cut" ? { _tag: "Cut", how: direction.how } : { _tag: "Stall" }
      return
    }
  }
  if (own) return
  // Before the last byte, so that whoever has read the response can go on from it.
  kept()
  yield { _tag: "Write", data: body }
}

// =============================================================================
// Server-sent events
// =============================================================================

const stream = (stage: Stage, params: JsonObject, context: Context, played: Played, respond: Respond): Reply => ({
  status: 200,
  headers: { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" },
  steps: stepsOfStream(stage, params, context, played, respond)
})

function* stepsOfStream(
  stage: Stage,
  params: JsonObject,
  context: Context,
  played: Played,
  respond: Respond
): Generator<Step> {
  const timed = [...played.scene.values()].flat().filter((direction) => startOf(direction) !== undefined)
    .toSorted((one, other) => (startOf(one) ?? 0) - (startOf(other) ?? 0))
  let sequence_number = 0
  let over = false

  const write = (event: JsonObject): Step => ({
    _tag: "Write",
    data: `event: ${String(event["type"])}\ndata: ${
      JSON.stringify({ ...event, sequence_number: sequence_number++ })
    }\n\n`
  })
  function* direct(direction: StageDirection): Generator<Step> {
    switch (direction._tag) {
      case "Cut":
      case "Stall":
        over = true
        yield direction
        break
      case "Bytes":
        yield { _tag: "Write", data: direction.bytes }
        break
      case "Pause":
        yield { _tag: "Run", effect: direction.effect }
        break
      case "StreamError": {
        over = true
        const { code, message, param, type } = direction.error
        // Recorded with the error one level down, although the SDK's types have it flat.
        yield write({ type: "error", error: { type, code, message, param } })
        yield write({ type: "response.failed", response: respond("failed", { error: { code, message } }) })
        break
      }
    }
  }
  function* play(event: JsonObject): Generator<Step> {
    while (!over && timed[0] !== undefined && sequence_number >= (startOf(timed[0]) ?? 0)) {
      const direction = timed.shift()
      if (direction !== undefined) yield* direct(direction)
    }
    if (!over) yield write(event)
  }

  const options = { deltaSize: stage.deltaSize, obfuscate: obfuscates(params) }
  const started = respond("in_progress")
  yield* play({ type: "response.created", response: started })
  yield* play({ type: "response.in_progress", response: started })
  for (let place = 0; place <= played.output.length && !over; place++) {
    for (const direction of played.scene.get(place) ?? []) {
      if (!over && startOf(direction) === undefined) yield* direct(direction)
    }
    const item = played.output[place]
    if (item === undefined) continue
    for (const event of Events.ofItem(item, place, options)) {
      if (over) return
      yield* play({ ...event })
    }
  }
  if (over) return
  const response = final(played, respond)
  // Before the last event, so that whoever has read it can go on from it.
  keep(stage, params, context, played, response)
  yield* play({ type: `response.${String(response["status"])}`, response })
}

const startOf = (direction: StageDirection): number | undefined =>
  "afterEvents" in direction ? direction.afterEvents : undefined

const obfuscates = (params: JsonObject): boolean => {
  const options = params["stream_options"]
  return !(Json.isObject(options) && options["include_obfuscation"] === false)
}
