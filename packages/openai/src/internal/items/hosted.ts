/** Calls of tools that OpenAI runs itself, as the calls and results of the tools that were declared for them. */
import type * as Response from "effect/ai/Response"
import type * as Tool from "effect/ai/Tool"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Responses from "openai/resources/responses/responses"
import * as Approvals from "../approvals/approvals.ts"
import * as Metadata from "../metadata.ts"

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

/** Whether the parts are what the tool says of its parameters and results. */
export const fit = (
  parts: ReadonlyArray<Response.ToolCallPartEncoded | Response.ToolResultPartEncoded>,
  tool: Tool.Any
): boolean =>
  parts.every((part) =>
    part.type === "tool-call" ? decodes(tool.parametersSchema, part.params) : decodes(tool.successSchema, part.result)
  )

// The schemas of OpenAI's own tools need no services.
const decodes = (schema: Schema.Constraint, value: unknown): boolean =>
  Option.isSome(Schema.decodeUnknownOption(schema as Schema.Codec<unknown>)(value))

const paramsOf = (item: Item): unknown => {
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
