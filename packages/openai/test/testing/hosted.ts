/** A hosted server with three tools, and what is said about them. */
import { ResponsesServer } from "@assent/openai/testing"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Responses from "openai/resources/responses/responses"

const { mcpCall } = ResponsesServer

export const mcpServers = {
  files: [
    { name: "read", readOnly: true, run: () => Effect.succeed("content") },
    { name: "delete", run: () => Effect.succeed("deleted") },
    { name: "break", run: () => Effect.fail("disk is full") }
  ]
}

export const tools: Array<Responses.Tool> = [{
  type: "mcp",
  server_label: "files",
  server_url: "https://files.example/mcp"
}]

export const call = mcpCall({ server: "files", name: "delete", params: { path: "a" } })

export const requestOf = (response: Responses.Response): Responses.ResponseOutputItem.McpApprovalRequest => {
  const item = response.output.find((item) => item.type === "mcp_approval_request")
  assert.isDefined(item)
  return item
}

export const callOf = (response: Responses.Response): Responses.ResponseOutputItem.McpCall => {
  const item = response.output.find((item) => item.type === "mcp_call")
  assert.isDefined(item)
  return item
}

export const answer = (id: string, approve = true): Responses.ResponseInputItem => ({
  type: "mcp_approval_response",
  approval_request_id: id,
  approve
})

export const reference = (id: string): Responses.ResponseInputItem => ({ type: "item_reference", id })
