/** Calls of tools that OpenAI runs itself, as the calls and results of the tools that were declared for them. */
import type * as Response from "effect/ai/Response"
import type * as Tool from "effect/ai/Tool"
import type * as Responses from "openai/resources/responses/responses"
import * as Approvals from "../approvals/approvals.ts"
import * as Metadata from "../metadata.ts"
import * as Fit from "./fit.ts"

export type Item =
  | Responses.ResponseFunctionWebSearch
  | Responses.ResponseFileSearchToolCall
  | Responses.ResponseCodeInterpreterToolCall
  | Responses.ResponseOutputItem.ImageGenerationCall
  | Responses.ResponseOutputItem.McpCall

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
  readonly tool: Tool.Any
  /** Where the item belongs. */
  readonly origin: { readonly [key: string]: unknown }
  /** Whether OpenAI keeps the item; else the result does. */
  readonly kept: boolean
  /** The call that waited for an approval, if this is what it became. */
  readonly callId: string | undefined
}

type Part = Response.ToolCallPartEncoded | Response.ToolResultPartEncoded

/**
 * The call and its result; the result alone of a call that is in the history. What does not fit the tool is left out of
 * them, and stands in the item, which the result keeps then. `undefined` where nothing fits, or where the item has no id.
 */
export const parts = (item: Item, { callId, kept, origin, tool }: Options): ReadonlyArray<Part> | undefined => {
  if (typeof item.id !== "string") return undefined
  const isFailure = isFailed(item)
  const params = Fit.fit(tool.parametersSchema, paramsOf(item))
  const result = Fit.fit(isFailure ? tool.failureSchema : tool.successSchema, resultOf(item))
  if (params === undefined || result === undefined) return undefined
  const status = "status" in item ? item.status : undefined
  const openai = { ...origin, itemId: item.id, itemType: item.type, status }
  const isWhole = kept && !params.isReduced && !result.isReduced
  const resultPart: Response.ToolResultPartEncoded = {
    type: "tool-result",
    id: callId ?? item.id,
    name: tool.name,
    isFailure,
    result: result.value,
    providerExecuted: true,
    metadata: {
      openai: Metadata.json({
        ...openai,
        ...(item.type === "mcp_call"
          ? { serverLabel: item.server_label, approvalRequestId: item.approval_request_id ?? undefined }
          : undefined),
        ...(isWhole ? undefined : { item: withoutImage(item) })
      })
    }
  }
  return callId !== undefined ? [resultPart] : [
    {
      type: "tool-call",
      id: item.id,
      name: tool.name,
      params: params.value,
      providerExecuted: true,
      metadata: {
        openai: Metadata.json(openai),
        ...(item.type === "mcp_call" ? { assent: { ...Approvals.hostedSource(item) } } : undefined)
      }
    },
    resultPart
  ]
}

/**
 * A server whose tools OpenAI could not list: a call that nobody made, with a failed result. Else a program would see only
 * that none of its tools was called.
 */
export const unlisted = (
  item: Responses.ResponseOutputItem.McpListTools,
  { kept, origin, tool }: Omit<Options, "callId">
): ReadonlyArray<Part> => {
  const openai = { ...origin, itemId: item.id, itemType: item.type, serverLabel: item.server_label }
  const listing = { server_label: item.server_label, name: "" }
  return [
    {
      type: "tool-call",
      id: item.id,
      name: tool.name,
      params: { ...listing, arguments: {} },
      providerExecuted: true,
      metadata: { openai: Metadata.json(openai) }
    },
    {
      type: "tool-result",
      id: item.id,
      name: tool.name,
      isFailure: true,
      result: { ...listing, type: "mcp_list_tools", arguments: "", error: textOf(item.error) },
      providerExecuted: true,
      metadata: { openai: Metadata.json({ ...openai, ...(kept ? undefined : { item }) }) }
    }
  ]
}

export const isUnlisted = (item: Responses.ResponseOutputItem): item is Responses.ResponseOutputItem.McpListTools =>
  item.type === "mcp_list_tools" && typeof item.id === "string" && item.error !== undefined && item.error !== null

const textOf = (error: unknown): string => typeof error === "string" ? error : JSON.stringify(error)

// An item of MCP may have an error and say that it is completed.
const isFailed = (item: Item): boolean =>
  ("status" in item && item.status === "failed") ||
  (item.type === "mcp_call" && item.error !== undefined && item.error !== null)

const paramsOf = (item: Item): unknown => {
  switch (item.type) {
    case "web_search_call":
      return item.action === undefined || item.action === null ? {} : { action: item.action }
    case "file_search_call":
      return { queries: item.queries ?? [] }
    case "code_interpreter_call":
      return { code: item.code ?? null, container_id: item.container_id ?? "" }
    case "image_generation_call":
      return {}
    case "mcp_call":
      return {
        server_label: item.server_label ?? "",
        name: item.name ?? "",
        arguments: Approvals.parseArguments(item.arguments ?? "")
      }
  }
}

// What some servers leave out.
const defaults: Readonly<Record<Item["type"], object>> = {
  web_search_call: { status: "completed" },
  file_search_call: { status: "completed", queries: [] },
  code_interpreter_call: { outputs: null },
  image_generation_call: { result: null },
  mcp_call: { server_label: "", name: "", arguments: "" }
}

const resultOf = (item: Item): unknown => {
  const { id: _, ...result } = item
  return { ...defaults[item.type], ...result }
}

const withoutImage = (item: Item): unknown => {
  if (item.type !== "image_generation_call") return item
  const { result: _, ...rest } = item
  return rest
}
