import { ResponsesServer } from "@assent/openai/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Responses from "openai/resources/responses/responses"
import { call, callOf, mcpServers } from "./hosted.ts"
import { create, setup, stream } from "./support.ts"

const { mcpCall } = ResponsesServer

describe("ResponsesServer: tools of hosted servers", () => {
  const read = mcpCall({ server: "files", name: "read" })
  const approvals: ReadonlyArray<readonly [string, Responses.Tool.Mcp["require_approval"], boolean, boolean]> = [
    ["nothing", undefined, true, true],
    ["null", null, true, true],
    ["always", "always", true, true],
    ["never", "never", false, false],
    ["never for reading", { never: { read_only: true } }, false, true],
    ["never for a name", { never: { tool_names: ["delete"] } }, true, false],
    ["never for a name that must only read", { never: { tool_names: ["delete"], read_only: true } }, true, true],
    [
      "always for a name, never for it too",
      { always: { tool_names: ["read"] }, never: { read_only: true } },
      true,
      true
    ],
    ["always for a name", { always: { tool_names: ["read"] } }, true, true],
    ["never for an empty filter", { never: {} }, true, true],
    ["always for an empty filter, never for reading", { always: {}, never: { read_only: true } }, false, true]
  ]
  for (const [name, require_approval, asksToRead, asksToDelete] of approvals) {
    it.effect(`require_approval says ${name}`, () =>
      Effect.gen(function*() {
        const { client } = yield* setup({ turns: [[read, call]], mcpServers })
        const response = yield* create(client, {
          input: "Go",
          tools: [{
            type: "mcp",
            server_label: "files",
            server_url: "https://files.example/mcp",
            ...(require_approval === undefined ? undefined : { require_approval })
          }]
        })
        const type = (asks: boolean) => asks ? "mcp_approval_request" : "mcp_call"
        assert.deepStrictEqual(response.output.slice(1).map((item) => item.type), [
          type(asksToRead),
          type(asksToDelete)
        ])
      }))
  }

  it.effect("a tool that fails is a failed call, at once and as a stream", () =>
    Effect.gen(function*() {
      const never: Array<Responses.Tool> = [{
        type: "mcp",
        server_label: "files",
        server_url: "https://files.example/mcp",
        require_approval: "never"
      }]
      const turn = [mcpCall({ server: "files", name: "break" })]
      const { client } = yield* setup({ turns: [turn, turn], mcpServers })
      const response = yield* create(client, { input: "Go", tools: never })
      assert.deepInclude(callOf(response), {
        status: "failed",
        output: null,
        error: { type: "mcp_tool_execution_error", content: [{ type: "text", text: "disk is full" }] },
        approval_request_id: null
      })
      const events = yield* stream(client, { input: "Go", tools: never })
      assert.isTrue(events.some((event) => event.type === "response.mcp_call.failed"))
    }))

  it.effect("tools are listed once for each context, and only those that are allowed", () =>
    Effect.gen(function*() {
      const { client } = yield* setup({ turns: ["One", "Two", "Three"], mcpServers })
      const some: Array<Responses.Tool> = [{
        type: "mcp",
        server_label: "files",
        server_url: "https://files.example/mcp",
        allowed_tools: ["read"],
        headers: { authorization: "Bearer secret" },
        authorization: "secret"
      }]
      const first = yield* create(client, { input: "Hi", tools: some })
      const list = first.output[0]
      assert(list?.type === "mcp_list_tools")
      assert.deepStrictEqual(list.tools, [{
        annotations: { read_only: true },
        description: null,
        input_schema: { type: "object", properties: {} },
        name: "read"
      }])
      assert.notInclude(JSON.stringify(first), "secret")
      const second = yield* create(client, { input: "Hi", tools: some, previous_response_id: first.id })
      assert.deepStrictEqual(second.output.map((item) => item.type), ["message"])
      const third = yield* create(client, { input: "Hi", tools: some })
      assert.deepStrictEqual(third.output.map((item) => item.type), ["mcp_list_tools", "message"])
    }))
})
