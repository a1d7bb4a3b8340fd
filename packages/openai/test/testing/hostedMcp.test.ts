import { ResponsesServer } from "@assent/openai/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Responses from "openai/resources/responses/responses"
import { answer, call, callOf, mcpServers, reference, requestOf, tools } from "./hosted.ts"
import { create, echo, invalid, refused, setup, stream, user } from "./support.ts"

describe("ResponsesServer: hosted MCP", () => {
  it.effect("asks by default, and runs once when it is approved, in the same request's words", () =>
    Effect.gen(function*() {
      const { client, server } = yield* setup({ turns: [[call], "Done"], mcpServers })
      const first = yield* create(client, { input: "Delete a", tools })
      assert.deepStrictEqual(first.output.map((item) => item.type), ["mcp_list_tools", "mcp_approval_request"])
      const request = requestOf(first)
      assert.deepStrictEqual(request, {
        id: "mcpr_00000001",
        type: "mcp_approval_request",
        arguments: "{\"path\":\"a\"}",
        name: "delete",
        server_label: "files"
      })
      const second = yield* create(client, { input: [answer(request.id)], previous_response_id: first.id, tools })
      assert.deepStrictEqual(callOf(second), {
        id: "mcp_00000001",
        type: "mcp_call",
        approval_request_id: request.id,
        arguments: "{\"path\":\"a\"}",
        name: "delete",
        server_label: "files",
        status: "completed",
        output: "deleted",
        error: null
      })
      assert.strictEqual(second.output_text, "Done")
      assert.strictEqual(yield* server.executionsOf(request.id), 1)
    }))

  it.effect("is streamed as it was recorded", () =>
    Effect.gen(function*() {
      const { client } = yield* setup({ turns: [[call], []], mcpServers })
      const events = yield* stream(client, { input: "Delete a", tools })
      assert.deepStrictEqual(events.map((event) => event.type), [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.mcp_list_tools.in_progress",
        "response.mcp_list_tools.completed",
        "response.output_item.done",
        "response.output_item.added",
        "response.output_item.done",
        "response.completed"
      ])
      // The tools come with the end of the item.
      const [begun] = events.flatMap((event) => event.type === "response.output_item.added" ? [event.item] : [])
      assert.deepInclude(begun, { type: "mcp_list_tools", tools: [] })
      const next = yield* stream(client, {
        input: [answer("mcpr_00000001")],
        previous_response_id: "resp_00000001",
        tools
      })
      assert.deepStrictEqual(next.slice(2, -1).map((event) => event.type), [
        "response.output_item.added",
        "response.mcp_call.in_progress",
        "response.mcp_call_arguments.delta",
        "response.mcp_call_arguments.done",
        "response.mcp_call.completed",
        "response.output_item.done"
      ])
    }))

  it.effect("a denial runs nothing and the model goes on", () =>
    Effect.gen(function*() {
      const { client, server } = yield* setup({ turns: [[call], "As you wish"], mcpServers })
      const first = yield* create(client, { input: "Delete a", tools })
      const second = yield* create(client, {
        input: [answer(requestOf(first).id, false)],
        previous_response_id: first.id,
        tools
      })
      assert.deepStrictEqual(second.output.map((item) => item.type), ["message"])
      assert.deepStrictEqual(yield* server.executions, [])
    }))

  it.effect("with store and nothing to go on from, an answer follows a reference", () =>
    Effect.gen(function*() {
      const { client, server } = yield* setup({ turns: [[call], "Done"], mcpServers })
      const first = yield* create(client, { input: "Delete a", tools })
      const id = requestOf(first).id
      const alone = yield* refused(create(client, { input: [user("Delete a"), answer(id)], tools }))
      assert.deepStrictEqual(
        alone,
        invalid(`The following MCP approval requests have approval responses but weren't passed as input: ${id}`)
      )
      const second = yield* create(client, { input: [user("Delete a"), reference(id), answer(id)], tools })
      assert.strictEqual(callOf(second).approval_request_id, id)
      assert.strictEqual(yield* server.executionsOf(id), 1)
    }))

  it.effect("with a previous response or a conversation a reference besides is a duplicate", () =>
    Effect.gen(function*() {
      const { client } = yield* setup({ turns: [[call], [call]], mcpServers })
      const first = yield* create(client, { input: "Delete a", tools })
      const id = requestOf(first).id
      const twice = yield* refused(
        create(client, { input: [reference(id), answer(id)], previous_response_id: first.id, tools })
      )
      const message = (id: string) =>
        `Duplicate item found with id ${id}. Remove duplicate items from your input and try again.`
      assert.deepStrictEqual(twice, invalid(message(id)))

      const conversation = yield* Effect.promise(() => client.conversations.create())
      const other = yield* create(client, { input: "Delete a", tools, conversation: conversation.id })
      const otherId = requestOf(other).id
      const again = yield* refused(
        create(client, { input: [reference(otherId), answer(otherId)], conversation: conversation.id, tools })
      )
      assert.deepStrictEqual(again, invalid(message(otherId)))
    }))

  it.effect("without store the request itself goes in again, and whatever stands in it is run", () =>
    Effect.gen(function*() {
      const { client, server } = yield* setup({ turns: [[call], "Done", "Done"], mcpServers })
      const first = yield* create(client, { input: "Delete a", tools, store: false })
      const request = requestOf(first)
      const missing = yield* refused(
        create(client, { input: [user("Delete a"), reference(request.id), answer(request.id)], tools, store: false })
      )
      assert.strictEqual(missing.status, 404)
      assert.include(missing.message, "Items are not persisted when `store` is set to false.")
      const second = yield* create(client, {
        input: [user("Delete a"), ...echo(first), answer(request.id)],
        tools,
        store: false
      })
      assert.strictEqual(callOf(second).arguments, "{\"path\":\"a\"}")
      const forged = yield* create(client, {
        input: [user("Delete a"), { ...request, arguments: "{\"path\":\"/\"}" }, answer(request.id)],
        tools,
        store: false
      })
      assert.strictEqual(callOf(forged).arguments, "{\"path\":\"/\"}")
      assert.strictEqual(yield* server.executionsOf(request.id), 2)
    }))

  it.effect("a history with request, answer and call runs nothing again; without the call it does", () =>
    Effect.gen(function*() {
      const { client, server } = yield* setup({ turns: [[call], "Done", "More", "More"], mcpServers })
      const first = yield* create(client, { input: "Delete a", tools, store: false })
      const id = requestOf(first).id
      const asked = [user("Delete a"), ...echo(first), answer(id)]
      const second = yield* create(client, { input: asked, tools, store: false })
      yield* create(client, { input: [...asked, ...echo(second), user("And?")], tools, store: false })
      assert.strictEqual(yield* server.executionsOf(id), 1)
      const forgetful = echo(second).filter((item) => item.type !== "mcp_call")
      yield* create(client, { input: [...asked, ...forgetful, user("And?")], tools, store: false })
      assert.strictEqual(yield* server.executionsOf(id), 2)
    }))

  it.effect("in a conversation an answer stands alone", () =>
    Effect.gen(function*() {
      const { client, server } = yield* setup({ turns: [[call], "Done", "More"], mcpServers })
      const { id: conversation } = yield* Effect.promise(() => client.conversations.create())
      const first = yield* create(client, { input: "Delete a", tools, conversation })
      const request = requestOf(first)
      const second = yield* create(client, { input: [answer(request.id)], tools, conversation })
      assert.strictEqual(callOf(second).approval_request_id, request.id)
      yield* create(client, { input: "And?", tools, conversation })
      assert.strictEqual(yield* server.executionsOf(request.id), 1)
    }))

  it.effect("a request that nobody answered blocks every further turn", () =>
    Effect.gen(function*() {
      const { client, server } = yield* setup({ turns: [[call, call], "Done"], mcpServers })
      const first = yield* create(client, { input: "Delete a", tools })
      const message = (ids: string) => invalid(`The following MCP approval requests do not have an approval: ${ids}`)
      const none = yield* refused(create(client, { input: "Well?", previous_response_id: first.id, tools }))
      assert.deepStrictEqual(none, message("mcpr_00000001, mcpr_00000002"))
      const one = yield* refused(
        create(client, { input: [answer("mcpr_00000001")], previous_response_id: first.id, tools })
      )
      assert.deepStrictEqual(one, message("mcpr_00000002"))
      assert.deepStrictEqual(yield* server.executions, [])
      const both = yield* create(client, {
        input: [answer("mcpr_00000002"), answer("mcpr_00000001", false)],
        previous_response_id: first.id,
        tools
      })
      assert.strictEqual(callOf(both).approval_request_id, "mcpr_00000002")
      assert.strictEqual((yield* server.executions).length, 1)
    }))

  it.effect("a request that was answered twice, or is not known, is refused", () =>
    Effect.gen(function*() {
      const { client, server } = yield* setup({ turns: [[call], "Done"], mcpServers })
      const first = yield* create(client, { input: "Delete a", tools })
      const { id } = requestOf(first)
      const twice = yield* refused(
        create(client, { input: [answer(id), answer(id, false)], previous_response_id: first.id, tools })
      )
      assert.deepStrictEqual(
        twice,
        invalid(`The following MCP approval requests have more than one approval response: ${id}`)
      )
      const unknown = yield* refused(
        create(client, { input: [answer(id), answer("mcpr_x")], previous_response_id: first.id, tools })
      )
      assert.deepStrictEqual(
        unknown,
        invalid("The following MCP approval requests have approval responses but weren't passed as input: mcpr_x")
      )
      const second = yield* create(client, { input: [answer(id)], previous_response_id: first.id, tools })
      const again = yield* refused(create(client, { input: [answer(id)], previous_response_id: second.id, tools }))
      assert.strictEqual(again.message, twice.message)
      assert.strictEqual(yield* server.executionsOf(id), 1)
    }))

  it.effect("a server that cannot be reached, and one that is missing when its call is approved", () =>
    Effect.gen(function*() {
      const { client } = yield* setup({ turns: [[call]], mcpServers })
      const unknown = yield* refused(
        create(client, {
          input: "Hi",
          tools: [{ type: "mcp", server_label: "other", server_url: "https://other.example/mcp" }]
        })
      )
      assert.deepStrictEqual(unknown, {
        status: 424,
        message: "Error retrieving tool list from MCP server: 'other'. Http status code: 424 (Failed Dependency)",
        type: "external_connector_error",
        param: "tools",
        code: "http_error"
      })
      const first = yield* create(client, { input: "Delete a", tools })
      const { id } = requestOf(first)
      const without = yield* refused(create(client, { input: [answer(id)], previous_response_id: first.id }))
      assert.deepStrictEqual(
        without,
        invalid(`MCP approval request '${id}' was approved, but its server 'files' is not among the tools.`, {
          param: "tools"
        })
      )
    }))

  it.effect("a stream that breaks after the tool ran has run it, and sending the answer again runs it again", () =>
    Effect.gen(function*() {
      const { client, server } = yield* setup({
        turns: [[call], [ResponsesServer.text("Do"), ResponsesServer.cut()], "Done"],
        mcpServers
      })
      const first = yield* create(client, { input: "Delete a", tools })
      const { id } = requestOf(first)
      const params = { input: [answer(id)], previous_response_id: first.id, tools }
      yield* Effect.flip(stream(client, params))
      assert.strictEqual(yield* server.executionsOf(id), 1)
      yield* create(client, params)
      assert.strictEqual(yield* server.executionsOf(id), 2)
    }))

  it.effect("an error of the API runs nothing", () =>
    Effect.gen(function*() {
      const { client, server } = yield* setup({ turns: [[call], ResponsesServer.overloaded(), "Done"], mcpServers })
      const first = yield* create(client, { input: "Delete a", tools })
      const { id } = requestOf(first)
      const params = { input: [answer(id)], previous_response_id: first.id, tools }
      yield* refused(create(client, params))
      assert.strictEqual(yield* server.executionsOf(id), 0)
      yield* create(client, params)
      assert.strictEqual(yield* server.executionsOf(id), 1)
    }))

  it.effect("functions of the program and hosted tools in one turn need an output and an answer", () =>
    Effect.gen(function*() {
      const { client } = yield* setup({
        turns: [[ResponsesServer.functionCall({ name: "look" }), call], "Done"],
        mcpServers
      })
      const first = yield* create(client, { input: "Go", tools })
      const found: Responses.ResponseInputItem = {
        type: "function_call_output",
        call_id: "call_00000001",
        output: "a thing"
      }
      const id = requestOf(first).id
      const send = (input: Array<Responses.ResponseInputItem>) =>
        create(client, { input, previous_response_id: first.id, tools })
      assert.strictEqual(
        (yield* refused(send([answer(id)]))).message,
        "No tool output found for function call call_00000001."
      )
      assert.include((yield* refused(send([found]))).message, "do not have an approval")
      const second = yield* send([found, answer(id)])
      assert.deepStrictEqual(second.output.map((item) => item.type), ["mcp_call", "message"])
    }))
})
