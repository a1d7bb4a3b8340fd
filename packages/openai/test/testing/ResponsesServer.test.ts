import { ResponsesServer } from "@assent/openai/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { create, echo, invalid, output, refused, setup, stream, user } from "./support.ts"

const { text, functionCall } = ResponsesServer

describe("ResponsesServer: turns", () => {
  it.effect("answers with text, at once and as a stream", () =>
    Effect.gen(function*() {
      const { client, server } = yield* setup({ turns: ["Hello, wörld €!", "Bye"] })
      const first = yield* create(client, { input: "Hi" })
      const events = yield* stream(client, { input: "Bye" })
      assert.strictEqual(first.output_text, "Hello, wörld €!")
      assert.strictEqual(first.id, "resp_00000001")
      assert.deepStrictEqual(events.map((event) => event.type), [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed"
      ])
      assert.deepStrictEqual(events.map((event) => event.sequence_number), [0, 1, 2, 3, 4, 5, 6, 7, 8])
      assert.strictEqual(yield* server.calls, 2)
    }))

  it.effect("keeps what it received, without the key", () =>
    Effect.gen(function*() {
      const { client, server } = yield* setup({ turns: ["Hello!"], apiKey: "sk-very-secret-key" })
      yield* create(client, { input: "Hi" })
      const [request] = yield* server.requests
      assert.strictEqual(request?.method, "POST")
      assert.strictEqual(request?.path, "/v1/responses")
      assert.strictEqual(request?.authorization, "right")
      assert.deepStrictEqual(request?.body, { model: "gpt-5.5", input: "Hi" })
      assert.strictEqual(new TextDecoder().decode(request?.bytes), "{\"model\":\"gpt-5.5\",\"input\":\"Hi\"}")
      assert.notInclude(JSON.stringify(request?.headers), "secret")
      const [response] = yield* server.responses
      assert.strictEqual(response?.status, 200)
      assert.strictEqual(response?.ended, "done")
      assert.include(response?.text, "Hello!")
    }))

  it.effect("a function among the turns sees the request and all that is kept", () =>
    Effect.gen(function*() {
      const { client } = yield* setup({
        turns: ["One", (request) => `${request.turn}: ${request.context.length} items, ${String(request.params.input)}`]
      })
      const first = yield* create(client, { input: "Hi" })
      const second = yield* create(client, { input: "Go on", previous_response_id: first.id })
      assert.strictEqual(second.output_text, "2: 3 items, Go on")
    }))

  it.effect("says so when the script is over, and the SDK does not try again", () =>
    Effect.gen(function*() {
      const { client, server } = yield* setup({ turns: [] })
      const error = yield* refused(create(client, { input: "Hi" }))
      assert.strictEqual(error.status, 500)
      assert.include(error.message, "its script has 0 turns")
      yield* server.enqueue("More")
      assert.strictEqual(yield* server.calls, 1)
    }))
})

describe("ResponsesServer: functions", () => {
  it.effect("a call and its output, with the whole history", () =>
    Effect.gen(function*() {
      const { client } = yield* setup({
        turns: [[text("Let me look."), functionCall({ name: "look", params: { at: "it" } })], "Done"]
      })
      const first = yield* create(client, { input: [user("Hi")], store: false })
      assert.deepInclude(first.output[1], { name: "look", arguments: "{\"at\":\"it\"}", call_id: "call_00000001" })
      const second = yield* create(client, {
        input: [user("Hi"), ...echo(first), output("call_00000001", "a thing")],
        store: false
      })
      assert.strictEqual(second.output_text, "Done")
    }))

  it.effect("a call without its output is refused, and uses no turn", () =>
    Effect.gen(function*() {
      const { client, server } = yield* setup({ turns: [[functionCall({ name: "look" })], "Done"] })
      const first = yield* create(client, { input: "Hi" })
      const error = yield* refused(create(client, { input: "Well?", previous_response_id: first.id }))
      assert.deepStrictEqual(error, invalid("No tool output found for function call call_00000001."))
      assert.strictEqual(yield* server.calls, 1)
    }))

  it.effect("an output without its call is refused", () =>
    Effect.gen(function*() {
      const { client } = yield* setup({ turns: ["Done"] })
      const error = yield* refused(create(client, { input: [user("Hi"), output("call_9", "x")] }))
      assert.deepStrictEqual(error, invalid("No tool call found for function call output with call_id call_9."))
    }))
})
