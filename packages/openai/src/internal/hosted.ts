/** Calls of tools that OpenAI runs itself, as the calls and results of the tools that were declared for them. */
import type * as Response from "effect/ai/Response"
import * as Tool from "effect/ai/Tool"
import type * as Responses from "openai/resources/responses/responses"
import * as Approvals from "./approvals.ts"
import * as Metadata from "./metadata.ts"

/** The tools of a request that OpenAI runs, by what its items say of them. */
export interface Declared {
  readonly byItemType: ReadonlyMap<string, string>
  readonly byServer: ReadonlyMap<string, string>
}

const itemTypes: { readonly [toolId: string]: string } = {
  "openai.web_search": "web_search_call",
  "openai.web_search_preview": "web_search_call",
  "openai.file_search": "file_search_call",
  "openai.code_interpreter": "code_interpreter_call",
  "openai.image_generation": "image_generation_call"
}

export const declared = (tools: ReadonlyArray<Tool.Any>): Declared => {
  const byItemType = new Map<string, string>()
  const byServer = new Map<string, string>()
  for (const tool of tools) {
    if (!Tool.isProviderDefined(tool)) continue
    const args: unknown = tool.args
    const type = itemTypes[tool.id]
    if (type !== undefined) byItemType.set(type, tool.name)
    else if (tool.id === "openai.mcp" && Metadata.isRecord(args) && typeof args["server_label"] === "string") {
      byServer.set(args["server_label"], tool.name)
    }
  }
  return { byItemType, byServer }
}

export type Item =
  | Responses.ResponseFunctionWebSearch
  | Responses.ResponseFileSearchToolCall
  | Responses.ResponseCodeInterpreterToolCall
  | Responses.ResponseOutputItem.ImageGenerationCall
  | Responses.ResponseOutputItem.McpCall

/** The name of the tool an item belongs to; `undefined` where none was declared, so that no part could carry it. */
export const toolName = (item: Responses.ResponseOutputItem, declared: Declared): string | undefined =>
  item.type === "mcp_call" || item.type === "mcp_approval_request"
    ? declared.byServer.get(item.server_label)
    : declared.byItemType.get(item.type)

export const isHosted = (item: Responses.ResponseOutputItem): item is Item => {
  switch (item.type) {
    case "web_search_call":
    case "file_search_call":
    case "code_interpreter_call":
    case "image_generation_call":
    case "mcp_call":
      return true
  }
  return false
}

export interface Options {
  readonly name: string
  /** Where the item belongs. */
  readonly origin: { readonly [key: string]: unknown }
  /** Whether OpenAI keeps the item; else the result does. */
  readonly kept: boolean
  /** The call that waited for an approval, if this is what it became. */
  readonly callId: string | undefined
}

/** The call and its result; the result alone of a call that is in the history. */
export const parts = (
  item: Item,
  { callId, kept, name, origin }: Options
): ReadonlyArray<Response.ToolCallPartEncoded | Response.ToolResultPartEncoded> => {
  const status = "status" in item ? item.status : undefined
  const openai = { ...origin, itemId: item.id, itemType: item.type, status }
  const result: Response.ToolResultPartEncoded = {
    type: "tool-result",
    id: callId ?? item.id,
    name,
    isFailure: false,
    result: resultOf(item),
    providerExecuted: true,
    metadata: {
      openai: Metadata.json({
        ...openai,
        ...(item.type === "mcp_call"
          ? { serverLabel: item.server_label, approvalRequestId: item.approval_request_id ?? undefined }
          : undefined),
        ...(kept ? undefined : { item: withoutImage(item) })
      })
    }
  }
  return callId !== undefined ? [result] : [
    {
      type: "tool-call",
      id: item.id,
      name,
      params: paramsOf(item),
      providerExecuted: true,
      metadata: {
        openai: Metadata.json(openai),
        ...(item.type === "mcp_call" ? { assent: { ...Approvals.hostedSource(item) } } : undefined)
      }
    },
    result
  ]
}

export const paramsOf = (item: Item): unknown => {
  switch (item.type) {
    case "web_search_call":
      return { action: item.action }
    case "file_search_call":
      return { queries: item.queries }
    case "code_interpreter_call":
      return { code: item.code, container_id: item.container_id }
    case "image_generation_call":
      return {}
    case "mcp_call":
      return {
        server_label: item.server_label,
        name: item.name,
        arguments: Approvals.parseArguments(item.arguments)
      }
  }
}

const resultOf = (item: Item): unknown => {
  const { id: _, ...result } = item
  return result
}

const withoutImage = (item: Item): unknown => {
  if (item.type !== "image_generation_call") return item
  const { result: _, ...rest } = item
  return rest
}
