import { ResponsesServer } from "@assent/openai/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import OpenAI from "openai"
import { create, invalid, type Refused, refused, setup } from "./support.ts"

const user = { role: "user", content: "Hi" }
const call = { type: "function_call", call_id: "call_1", name: "look", arguments: "{}" }
const output = { type: "function_call_output", call_id: "call_1", output: "x" }
const parameters = {
  type: "object",
  properties: { a: { type: "string" } },
  required: ["a"],
  additionalProperties: false
}
const tool = { type: "function", name: "look", parameters, strict: true }
const mcp = { type: "mcp", server_label: "files", server_url: "https://example.com/" }

/** What nobody with the SDK's types could send, and what the server says to it. */
const cases: ReadonlyArray<readonly [string, { readonly [key: string]: unknown }, Refused]> = [
  [
    "no model",
    { model: undefined, input: "Hi" },
    invalid("Missing required parameter: 'model'.", {
      param: "model",
      code: "missing_required_parameter"
    })
  ],
  ["no input", {}, invalid("Missing required parameter: 'input'.", { code: "missing_required_parameter" })],
  [
    "an unknown parameter",
    { input: "Hi", messages: [] },
    invalid("Unknown parameter: 'messages'.", {
      param: "messages",
      code: "unknown_parameter"
    })
  ],
  [
    "too few output tokens",
    { input: "Hi", max_output_tokens: 5 },
    invalid(
      "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got 5 instead.",
      { param: "max_output_tokens", code: "integer_below_min_value" }
    )
  ],
  [
    "a parameter of another type",
    { input: "Hi", store: "yes" },
    invalid(
      "Invalid type for 'store': expected a boolean, but got a string instead.",
      { param: "store", code: "invalid_type" }
    )
  ],
  [
    "an unknown field of an item",
    { input: [{ ...call, created_by: "me" }, output] },
    invalid(
      "Unknown parameter: 'input[0].created_by'.",
      { param: "input[0].created_by", code: "unknown_parameter" }
    )
  ],
  [
    "a missing field of an item",
    { input: [{ type: "function_call", call_id: "a", name: "b" }] },
    invalid(
      "Missing required parameter: 'input[0].arguments'.",
      { param: "input[0].arguments", code: "missing_required_parameter" }
    )
  ],
  [
    "a part without its text",
    { input: [{ role: "user", content: [{ type: "input_text" }] }] },
    invalid(
      "Missing required parameter: 'input[0].content[0].text'.",
      { param: "input[0].content[0].text", code: "missing_required_parameter" }
    )
  ],
  [
    "an unknown role",
    { input: [{ role: "tool", content: "Hi" }] },
    invalid(
      "Invalid value: 'tool'. Supported values are: 'assistant', 'system', 'developer', and 'user'.",
      { param: "input[0].role", code: "invalid_value" }
    )
  ],
  [
    "input content in an assistant's message",
    {
      input: [{ role: "assistant", content: [{ type: "input_text", text: "Hi" }] }]
    },
    invalid("Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'.", {
      param: "input[0].content[0]",
      code: "invalid_value"
    })
  ],
  [
    "an id that is not the API's",
    { input: [{ ...call, id: "call_1" }, output] },
    invalid(
      "Invalid 'input[0].id': 'call_1'. Expected an ID that begins with 'fc'.",
      { param: "input[0].id", code: "invalid_value" }
    )
  ],
  [
    "a call id that is too long",
    { input: [{ ...call, call_id: "c".repeat(65) }] },
    invalid(
      "Invalid 'input[0].call_id': string too long. Expected a string with maximum length 64, but got a string with" +
        " length 65 instead.",
      { param: "input[0].call_id", code: "string_above_max_length" }
    )
  ],
  [
    "arguments that are no string",
    { input: [{ ...call, arguments: {} }, output] },
    invalid(
      "Invalid type for 'input[0].arguments': expected a string, but got an object instead.",
      { param: "input[0].arguments", code: "invalid_type" }
    )
  ],
  [
    "arguments that are no JSON",
    { input: [{ ...call, arguments: "{" }, output] },
    invalid(
      "Invalid 'input[0].arguments': the string is not valid JSON.",
      { param: "input[0].arguments", code: "invalid_value" }
    )
  ],
  [
    "an empty output",
    { input: [call, { ...output, output: "" }] },
    invalid(
      "Invalid 'input[1].output': empty string. Expected a string with minimum length 1, but got an empty string instead.",
      { param: "input[1].output", code: "empty_string" }
    )
  ],
  [
    "an empty list as output",
    { input: [call, { ...output, output: [] }] },
    invalid(
      "Invalid 'input[1].output': empty array. Expected an array with minimum length 1, but got an empty array instead.",
      { param: "input[1].output", code: "empty_array" }
    )
  ],
  [
    "an output before its call",
    { input: [output, call] },
    invalid(
      "No tool call found for function call output with call_id call_1."
    )
  ],
  [
    "two outputs of one call",
    { input: [call, output, output] },
    invalid(
      "Duplicate tool output found for function call call_1. Remove duplicate items from your input and try again."
    )
  ],
  [
    "an unknown tool",
    { input: "Hi", tools: [{ ...tool, type: "magic" }] },
    invalid(
      "Invalid value: 'magic'. Supported values are: 'apply_patch', 'code_interpreter', 'computer'," +
        " 'computer_use_preview', 'custom', 'file_search', 'function', 'image_generation', 'local_shell', 'mcp'," +
        " 'namespace', 'programmatic_tool_calling', 'shell', 'tool_search', 'web_search', 'web_search_2025_08_26'," +
        " 'web_search_preview', and 'web_search_preview_2025_03_11'.",
      { param: "tools[0].type", code: "invalid_value" }
    )
  ],
  [
    "an unknown field of a tool",
    { input: "Hi", tools: [{ type: "function", function: tool }] },
    invalid(
      "Unknown parameter: 'tools[0].function'.",
      { param: "tools[0].function", code: "unknown_parameter" }
    )
  ],
  [
    "a name of a function with a dot",
    { input: "Hi", tools: [{ ...tool, name: "a.b" }] },
    invalid(
      "Invalid 'tools[0].name': string does not match pattern. Expected a string that matches the pattern" +
        " '^[a-zA-Z0-9_-]+$'.",
      { param: "tools[0].name", code: "invalid_value" }
    )
  ],
  [
    "a strict function that takes other properties",
    {
      input: "Hi",
      tools: [{ ...tool, parameters: { ...parameters, additionalProperties: true } }]
    },
    invalid(
      "Invalid schema for function 'look': In context=(), 'additionalProperties' is required to be supplied and to be" +
        " false.",
      { param: "tools[0].parameters", code: "invalid_function_parameters" }
    )
  ],
  [
    "a strict function with an optional property, deep inside",
    {
      input: "Hi",
      tools: [{
        ...tool,
        parameters: { ...parameters, properties: { a: { ...parameters, required: [] } } }
      }]
    },
    invalid(
      "Invalid schema for function 'look': In context=('properties', 'a'), 'required' is required to be supplied and to" +
        " be an array including every key in properties. Missing 'a'.",
      { param: "tools[0].parameters", code: "invalid_function_parameters" }
    )
  ],
  ["a function that must be called and is not there", {
    input: "Hi",
    tools: [tool],
    tool_choice: { type: "function", name: "other" }
  }, invalid("Tool choice 'function' not found in 'tools' parameter.", { param: "tool_choice" })],
  [
    "a required call without tools",
    { input: "Hi", tool_choice: "required" },
    invalid(
      "Tool choice 'required' must be specified with 'tools' parameter.",
      { param: "tool_choice" }
    )
  ],
  [
    "a hosted server without an address",
    { input: "Hi", tools: [{ type: "mcp", server_label: "files" }] },
    invalid(
      "Missing required parameter: 'tools[0].server_url'.",
      { param: "tools[0].server_url", code: "missing_required_parameter" }
    )
  ],
  [
    "a hosted server that asks at no known time",
    { input: "Hi", tools: [{ ...mcp, require_approval: { sometimes: {} } }] },
    invalid(
      "Unknown parameter: 'tools[0].require_approval.sometimes'.",
      { param: "tools[0].require_approval.sometimes", code: "unknown_parameter" }
    )
  ],
  [
    "a hosted server that asks for no known tools",
    { input: "Hi", tools: [{ ...mcp, require_approval: { always: { names: [] } } }] },
    invalid(
      "Unknown parameter: 'tools[0].require_approval.always.names'.",
      { param: "tools[0].require_approval.always.names", code: "unknown_parameter" }
    )
  ],
  [
    "a format without a name",
    { input: "Hi", text: { format: { type: "json_schema", schema: parameters } } },
    invalid(
      "Missing required parameter: 'text.format.name'.",
      { param: "text.format.name", code: "missing_required_parameter" }
    )
  ],
  [
    "a strict format that is no object",
    {
      input: "Hi",
      text: { format: { type: "json_schema", name: "list", strict: true, schema: { type: "array", items: {} } } }
    },
    invalid(
      "Invalid schema for response_format 'list': schema must be a JSON Schema of 'type: \"object\"', got 'type:" +
        " \"array\"'.",
      { param: "text.format.schema", code: "invalid_json_schema" }
    )
  ],
  [
    "JSON without a word about it",
    { input: "Hi", text: { format: { type: "json_object" } } },
    invalid(
      "Response input messages must contain the word 'json' in some form to use 'text.format' of type 'json_object'."
    )
  ],
  [
    "something unknown to include",
    { input: "Hi", include: ["everything"] },
    invalid(
      "Invalid value: 'everything'. Supported values are: 'code_interpreter_call.outputs'," +
        " 'computer_call_output.output.image_url', 'file_search_call.results', 'message.input_image.image_url'," +
        " 'message.output_text.logprobs', 'reasoning.encrypted_content', 'web_search_call.action.sources', and" +
        " 'web_search_call.results'.",
      { param: "include[0]", code: "invalid_value" }
    )
  ]
]

describe("ResponsesServer: what it refuses", () => {
  for (const [name, body, expected] of cases) {
    it.effect(`${name}, at once and as a stream`, () =>
      Effect.gen(function*() {
        const { client, server } = yield* setup({ turns: ["Never"] })
        for (const stream of [false, true]) {
          const error = yield* refused(
            Effect.tryPromise({
              try: () => client.post("/responses", { body: { model: "gpt-5.5", ...body, stream } }),
              catch: (error) => error
            })
          )
          assert.deepStrictEqual(error, expected)
        }
        assert.strictEqual(yield* server.calls, 0)
      }))
  }

  it.effect("an item of an unknown type, unless it said so itself", () =>
    Effect.gen(function*() {
      const { client } = yield* setup({ turns: [[ResponsesServer.item({ type: "hologram_call" })], "Done"] })
      const send = (input: ReadonlyArray<unknown>) =>
        Effect.tryPromise({
          try: () => client.post("/responses", { body: { model: "gpt-5.5", input } }),
          catch: (error) => error
        })
      const item = { type: "hologram_call", id: "item_00000001" }
      const error = yield* refused(send([user, item]))
      assert.strictEqual(error.param, "input[1]")
      assert.isTrue(error.message.startsWith("Invalid value: 'hologram_call'. Supported values are: "))
      yield* send([user])
      yield* send([user, item])
    }))

  it.effect("a body that is no JSON", () =>
    Effect.gen(function*() {
      const { server } = yield* setup({ turns: [] })
      const reply = yield* Effect.promise(() =>
        fetch(`${server.url}/responses`, { method: "POST", headers: { authorization: "Bearer sk-test" }, body: "{" })
      )
      assert.strictEqual(reply.status, 400)
      const body = yield* Effect.promise(() => reply.json())
      assert.hasAllKeys(body.error, ["message", "type", "param", "code"])
    }))

  it.effect("a wrong key, of which it shows no more than OpenAI does, and no key", () =>
    Effect.gen(function*() {
      const { server } = yield* setup({ turns: ["Never"] })
      const key = "sk-proj-abcdefghijklmnop"
      const client = new OpenAI({ apiKey: key, baseURL: server.url, maxRetries: 0 })
      const error = yield* refused(create(client, { input: "Hi" }))
      assert.strictEqual(error.status, 401)
      assert.strictEqual(error.code, "invalid_api_key")
      assert.strictEqual(
        error.message,
        "Incorrect API key provided: sk-*****************mnop." +
          " You can find your API key at https://platform.openai.com/account/api-keys."
      )
      const [request] = yield* server.requests
      assert.strictEqual(request?.authorization, "wrong")
      assert.notInclude(JSON.stringify(request), key)
      const none = yield* Effect.promise(() => fetch(`${server.url}/responses`, { method: "POST", body: "{}" }))
      assert.strictEqual(none.status, 401)
    }))

  it.effect("an address it does not know", () =>
    Effect.gen(function*() {
      const { client } = yield* setup({ turns: [] })
      const error = yield* refused(
        Effect.tryPromise({ try: () => client.post("/chat/completions", { body: {} }), catch: (error) => error })
      )
      assert.deepStrictEqual(error, invalid("Invalid URL (POST /v1/chat/completions)", { status: 404, param: null }))
    }))
})
