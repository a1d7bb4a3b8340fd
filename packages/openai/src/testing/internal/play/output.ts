/** The output items of a turn: what the model says, and what the server does for it. */
import * as Effect from "effect/Effect"
import type * as Responses from "openai/resources/responses/responses"
import type { ApiError } from "../../ApiError.ts"
import type { ScriptedItem } from "../../ScriptedResponse.ts"
import type { JsonObject } from "../json.ts"
import * as Json from "../json.ts"
import * as Refusals from "../request/refusals.ts"
import type { Context } from "../stage/context.ts"
import * as HostedMcp from "../stage/hostedMcp.ts"
import * as Items from "../stage/items.ts"
import type { Stage } from "../stage/stage.ts"

export const ofModel = Effect.fnUntraced(function*(
  stage: Stage,
  params: JsonObject,
  part: ScriptedItem
): Effect.fn.Return<{ readonly item: Items.OutputItem } | ApiError> {
  if (part._tag !== "McpCall") {
    const include = new Set(Json.isArray(params["include"]) ? params["include"] : [])
    const item = Items.make(part, stage.store, include)
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

/** What stands in the way of {@link ofServer}. */
export const check = (stage: Stage, params: JsonObject, context: Context): ApiError | undefined => {
  for (const config of HostedMcp.configs(params)) {
    const label = String(config["server_label"])
    if (HostedMcp.serverOf(stage.servers, label) === undefined) return Refusals.mcpServerNotFound(label)
  }
  for (const request of context.approved) {
    const label = String(request["server_label"])
    if (HostedMcp.configOf(params, label) === undefined) {
      return Refusals.approvedWithoutServer(label, String(request["id"]))
    }
  }
  return undefined
}

/** What the server does before the model speaks: lists tools that nobody listed yet, and runs what was approved. */
export const ofServer = Effect.fnUntraced(function*(
  stage: Stage,
  params: JsonObject,
  context: Context
): Effect.fn.Return<Array<Items.OutputItem>> {
  const items = listTools(stage, params, context)
  for (const request of context.approved) {
    const call = {
      arguments: String(request["arguments"]),
      name: String(request["name"]),
      server_label: String(request["server_label"])
    }
    items.push(yield* runCall(stage, call, String(request["id"])))
  }
  return items
})

const listTools = (stage: Stage, params: JsonObject, context: Context): Array<Items.OutputItem> => {
  const items: Array<Items.OutputItem> = []
  const listed = new Set(
    context.items.filter((item) => item["type"] === "mcp_list_tools").map((item) => item["server_label"])
  )
  for (const config of HostedMcp.configs(params)) {
    const label = String(config["server_label"])
    if (listed.has(label)) continue
    const tools = HostedMcp.serverOf(stage.servers, label) ?? []
    items.push({
      id: stage.store.ids.next("mcpl"),
      type: "mcp_list_tools",
      server_label: label,
      tools: HostedMcp.listed(tools.filter((tool) => HostedMcp.isAllowed(config, tool)))
    })
  }
  return items
}

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
