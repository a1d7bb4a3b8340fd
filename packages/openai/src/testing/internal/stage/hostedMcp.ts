/** Hosted MCP servers: their tools, who must be asked, and what was run. */
import * as Effect from "effect/Effect"
import type * as Responses from "openai/resources/responses/responses"
import type { JsonObject } from "../json.ts"
import * as Json from "../json.ts"

export interface McpTool {
  readonly name: string
  readonly description?: string | undefined
  readonly readOnly?: boolean | undefined
  readonly inputSchema?: { readonly [key: string]: unknown } | undefined
  readonly run?: ((params: unknown) => Effect.Effect<string, string>) | undefined
}

export type McpServers = Readonly<Record<string, ReadonlyArray<McpTool>>>

export interface McpExecution {
  readonly server: string
  readonly name: string
  readonly arguments: string
  readonly approvalRequestId: string | undefined
}

export const serverOf = (servers: McpServers, label: string): ReadonlyArray<McpTool> | undefined =>
  Object.hasOwn(servers, label) ? servers[label] : undefined

/** The request's own description of a server. */
export const configOf = (params: JsonObject, label: string): JsonObject | undefined =>
  configs(params).find((tool) => tool["server_label"] === label)

export const configs = (params: JsonObject): ReadonlyArray<JsonObject> =>
  Json.objectsOf(params["tools"]).filter((tool) => tool["type"] === "mcp")

/** Asking is the default; where both filters name a tool, asking wins. */
export const mustAsk = (config: JsonObject, tool: McpTool): boolean => {
  const approval = config["require_approval"]
  if (approval === "never") return false
  if (!Json.isObject(approval)) return true
  if (matches(approval["always"], tool)) return true
  return !matches(approval["never"], tool)
}

export const isAllowed = (config: JsonObject, tool: McpTool): boolean => {
  const allowed = config["allowed_tools"]
  if (allowed == null) return true
  return Json.isArray(allowed) ? allowed.includes(tool.name) : matches(allowed, tool)
}

/** A filter that says nothing matches nothing; one that says two things matches what both are true of. */
const matches = (filter: unknown, tool: McpTool): boolean => {
  if (!Json.isObject(filter)) return false
  const names = filter["tool_names"]
  const readOnly = filter["read_only"]
  if (names === undefined && readOnly === undefined) return false
  return (!Json.isArray(names) || names.includes(tool.name)) &&
    (typeof readOnly !== "boolean" || readOnly === (tool.readOnly ?? false))
}

export const listed = (tools: ReadonlyArray<McpTool>): Array<Responses.ResponseOutputItem.McpListTools.Tool> =>
  tools.map((tool) => ({
    annotations: { read_only: tool.readOnly ?? false },
    description: tool.description ?? null,
    input_schema: tool.inputSchema ?? { type: "object", properties: {} },
    name: tool.name
  }))

/** Runs a tool and says what the call's item then holds. */
export const run = (
  tool: McpTool | undefined,
  call: McpExecution
): Effect.Effect<Pick<Responses.ResponseOutputItem.McpCall, "status" | "output" | "error">> => {
  if (tool === undefined) {
    return Effect.succeed({
      status: "failed",
      output: null,
      error: { type: "mcp_protocol_error", code: -32602, message: `Unknown tool: ${call.name}` }
    })
  }
  const params = Json.parse(call.arguments)?.value
  const running = tool.run === undefined ? Effect.succeed(`${call.name} ran with ${call.arguments}`) : tool.run(params)
  return Effect.match(running, {
    onSuccess: (output) => ({ status: "completed" as const, output, error: null }),
    onFailure: (message) => ({
      status: "failed" as const,
      output: null,
      error: { type: "mcp_tool_execution_error" as const, content: [{ type: "text", text: message }] }
    })
  })
}
