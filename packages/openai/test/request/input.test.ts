/** What a program says, as OpenAI hears it. */
import { AiError, LanguageModel, Prompt, Toolkit } from "@assent/ai"
import { OpenAiLanguageModel, OpenAiTool } from "@assent/openai"
import { ResponsesServer } from "@assent/openai/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as C from "../conversation.ts"

describe("a user", () => {
  C.everyWay("sends images and files by address, as bytes, and by id", function*(way) {
    const chat = yield* C.start({
      way,
      tools: "none",
      turns: ["Seen."],
      config: { fileIdPrefixes: ["file-", "assistant-"] }
    })
    const bytes = new TextEncoder().encode("hello")
    const file = (mediaType: string, data: string | Uint8Array | URL, rest: object = {}) =>
      Prompt.filePart({ mediaType, data, ...rest })
    yield* chat.send(Prompt.fromMessages([Prompt.userMessage({
      content: [
        Prompt.textPart({ text: "Look:" }),
        file("image/png", new URL("https://example.com/a.png")),
        file("image/png", bytes, { options: { openai: { imageDetail: "high" } } }),
        file("image/*", "aGVsbG8="),
        file("image/png", "file-123"),
        file("image/png", "data:image/png;base64,aGVsbG8="),
        file("application/pdf", bytes, { fileName: "a.pdf" }),
        file("application/pdf", bytes),
        file("text/plain", bytes),
        file("application/pdf", new URL("https://example.com/a.pdf")),
        file("application/pdf", "assistant-1")
      ]
    })]))
    assert.deepStrictEqual((yield* chat.lastBody).input[0]!["content"], [
      { type: "input_text", text: "Look:" },
      { type: "input_image", detail: "auto", image_url: "https://example.com/a.png" },
      { type: "input_image", detail: "high", image_url: "data:image/png;base64,aGVsbG8=" },
      { type: "input_image", detail: "auto", image_url: "data:image/jpeg;base64,aGVsbG8=" },
      { type: "input_image", detail: "auto", file_id: "file-123" },
      { type: "input_image", detail: "auto", image_url: "data:image/png;base64,aGVsbG8=" },
      { type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,aGVsbG8=" },
      { type: "input_file", filename: "part-7.pdf", file_data: "data:application/pdf;base64,aGVsbG8=" },
      { type: "input_file", filename: "part-8.txt", file_data: "data:text/plain;base64,aGVsbG8=" },
      { type: "input_file", file_url: "https://example.com/a.pdf" },
      { type: "input_file", file_id: "assistant-1" }
    ])
    yield* C.assertAccepted(chat.server)
  })
})

describe("a system message", () => {
  for (
    const [model, role] of [["gpt-5.2", "developer"], ["o3", "developer"], ["gpt-4.1", "system"], [
      "gpt-5-chat-latest",
      "system"
    ]]
  ) {
    C.everyWay(`is the ${role}'s to ${model}`, function*(way) {
      const chat = yield* C.start({ way, tools: "none", turns: ["Hi."], model, config: { store: false } })
      yield* chat.send([{ role: "system", content: "Be brief." }, { role: "user", content: [] }, {
        role: "user",
        content: [{ type: "text", text: "hi" }]
      }])
      const body = yield* chat.lastBody
      assert.strictEqual(body.input[0]!["role"], role)
      assert.deepStrictEqual(body["include"], role === "developer" ? ["reasoning.encrypted_content"] : undefined)
    })
  }
})

describe("a result", () => {
  const cases: ReadonlyArray<readonly [string, Partial<Prompt.ToolResultPart>, unknown]> = [
    ["text is sent as it is", { result: "hello" }, "hello"],
    ["empty text is not sent empty", { result: "" }, "(no output)"],
    ["a value is sent as JSON", { result: { a: [1] } }, `{"a":[1]}`],
    ["null is sent as JSON", { result: null }, "null"],
    ["a failure is sent as JSON", { result: { code: 7 }, isFailure: true }, `{"code":7}`],
    [
      "a denial is a sentence",
      { result: { type: "execution-denied", reason: "No." }, isFailure: true },
      "The call was denied and did not run. No."
    ],
    [
      "an interruption is a sentence",
      { result: { type: "execution-interrupted", reason: "Cut." }, isFailure: true },
      "Cut."
    ],
    [
      "what is meant for the model is sent instead",
      {
        result: { secret: true },
        modelOutput: [
          Prompt.textPart({ text: "" }),
          Prompt.textPart({ text: "A picture:" }),
          Prompt.filePart({ mediaType: "image/png", data: "aGVsbG8=" }),
          Prompt.filePart({ mediaType: "application/pdf", data: "aGVsbG8=", fileName: "a.pdf" })
        ]
      },
      [
        { type: "input_text", text: "A picture:" },
        { type: "input_image", detail: "auto", image_url: "data:image/png;base64,aGVsbG8=" },
        { type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,aGVsbG8=" }
      ]
    ]
  ]
  for (const [name, result, output] of cases) {
    C.everyWay(name, function*(way) {
      const chat = yield* C.start({
        way,
        tools: "none",
        turns: ["Seen."],
        history: Prompt.fromMessages([
          Prompt.assistantMessage({
            content: [
              Prompt.toolCallPart({ id: "call_1", name: "Describe", params: { what: "a" }, providerExecuted: false })
            ]
          }),
          Prompt.toolMessage({
            content: [Prompt.toolResultPart({
              id: "call_1",
              name: "Describe",
              isFailure: false,
              result: null,
              providerExecuted: false,
              ...result
            })]
          })
        ])
      })
      yield* chat.send("go on")
      assert.deepStrictEqual((yield* chat.lastBody).input.slice(0, 2) as unknown, [
        { type: "function_call", call_id: "call_1", name: "Describe", arguments: `{"what":"a"}` },
        { type: "function_call_output", call_id: "call_1", output }
      ])
      yield* C.assertAccepted(chat.server)
    })
  }
})

describe("functions", () => {
  C.everyWay("L10 a call that was cut in its parameters, of a tool that the model made up, is taken", function*(way) {
    const chat = yield* C.start({
      way,
      tools: "none",
      turns: ["Once more, then."],
      history: Prompt.make([
        {
          role: "assistant",
          content: [{
            type: "tool-call",
            id: "call_1",
            name: "multi_tool.use",
            params: `{"path": "/tm`,
            providerExecuted: false
          }]
        },
        {
          role: "tool",
          content: [{ type: "tool-result", id: "call_1", name: "multi_tool.use", isFailure: true, result: "no" }]
        }
      ])
    })
    yield* chat.send("go on")
    const [call] = (yield* chat.lastBody).input
    assert.strictEqual(call!["name"], "multi_tool_use")
    assert.deepStrictEqual(JSON.parse(call!["arguments"]), { rawInvalidInput: `{"path": "/tm` })
  })

  C.everyWay("are strict, and what the model leaves out is left out for the tool", function*(way) {
    const chat = yield* C.start({
      way,
      tools: "local",
      turns: [[ResponsesServer.functionCall({ name: "Delete", params: { path: "a", force: null } })]]
    })
    const turn = yield* chat.send("delete")
    const body = yield* chat.lastBody
    const tool = body["tools"].find(({ name }: { readonly name: string }) => name === "Delete")
    assert.strictEqual(tool.strict, true)
    assert.deepStrictEqual(tool.parameters.required, ["path", "force"])
    assert.deepStrictEqual(turn.parts.find((part) => part.type === "tool-call")?.params, { path: "a" })
    assert.strictEqual(body["tool_choice"], "auto")
  })

  C.everyWay("are loose where the configuration says so", function*(way) {
    const chat = yield* C.start({ way, tools: "local", turns: ["Hi."], config: { strictJsonSchema: false } })
    yield* chat.send("hi")
    assert.deepStrictEqual(
      (yield* chat.lastBody)["tools"].map(({ strict }: { readonly strict: boolean }) => strict),
      [false, false]
    )
  })

  C.everyWay("one must be called, where the program says so", function*(way) {
    const chat = yield* C.start({
      way,
      tools: "local",
      turns: [[ResponsesServer.functionCall({ name: "Add", params: { a: 1, b: 2 } })]]
    })
    yield* chat.send("add", { toolChoice: { tool: "Add" } })
    assert.deepStrictEqual((yield* chat.lastBody)["tool_choice"], { type: "function", name: "Add" })
  })

  C.everyWay("arguments that are no JSON fail as parameters do, and nobody is asked about them", function*(way) {
    const chat = yield* C.start({
      way,
      tools: "local",
      turns: [[ResponsesServer.functionCall({ name: "Delete", arguments: "{\"path\": " })], "Sorry."]
    })
    const turn = yield* chat.send("delete")
    assert.deepStrictEqual(turn.requests, [])
    assert.deepStrictEqual(turn.results.map(({ isFailure }) => isFailure), [true])
    assert.strictEqual((yield* chat.send([])).text, "Sorry.")
    yield* C.assertAccepted(chat.server)
  })
})

describe("tools on the user's machine", () => {
  C.everyWay("are asked about, run here, and answered in their own form", function*(way) {
    const kit = Toolkit.make(
      OpenAiTool.Shell({}),
      OpenAiTool.ApplyPatch({}),
      OpenAiTool.LocalShell({ needsApproval: false })
    )
    const outcome = { stdout: "a.ts", stderr: "", outcome: { type: "exit" as const, exit_code: 0 } }
    const toolkit = yield* Effect.provide(
      kit,
      kit.toLayer({
        OpenAiShell: () => Effect.succeed({ output: [outcome] }),
        OpenAiApplyPatch: () => Effect.succeed({ status: "completed" as const, output: "patched" }),
        OpenAiLocalShell: () => Effect.succeed({ output: "ran" })
      })
    )
    const shell = { commands: ["ls"], timeout_ms: null, max_output_length: null }
    const operation = { type: "delete_file", path: "a.ts" }
    const exec = { type: "exec", command: ["ls"], env: {} }
    const chat = yield* C.start({
      way,
      toolkit,
      turns: [
        [
          ResponsesServer.item({ type: "shell_call", call_id: "call_1", action: shell, status: "completed" }),
          ResponsesServer.item({ type: "apply_patch_call", call_id: "call_2", operation, status: "completed" }),
          ResponsesServer.item({ type: "local_shell_call", call_id: "call_3", action: exec, status: "completed" })
        ],
        "Done."
      ]
    })
    const asked = yield* chat.send("go")
    assert.deepStrictEqual(asked.requests.map(({ toolName }) => toolName), ["OpenAiShell", "OpenAiApplyPatch"])
    assert.deepStrictEqual(asked.requests[0]!.params, { action: shell })
    const [first, second] = asked.requests
    yield* chat.send(Prompt.concat(C.approve([first!]), C.deny([second!], "not that")))
    const input = (yield* chat.lastBody).input.slice(1)
    assert.deepStrictEqual(input.map(({ type }) => type), [
      "shell_call",
      "apply_patch_call",
      "local_shell_call",
      "shell_call_output",
      "apply_patch_call_output",
      "local_shell_call_output"
    ])
    assert.deepStrictEqual(input[0]!["action"], shell)
    assert.deepStrictEqual(input[1]!["operation"], operation)
    assert.deepStrictEqual(input[2]!["action"], exec)
    assert.deepStrictEqual(input[3] as unknown, { type: "shell_call_output", call_id: "call_1", output: [outcome] })
    assert.deepStrictEqual(input[4] as unknown, {
      type: "apply_patch_call_output",
      call_id: "call_2",
      status: "failed",
      output: "The call was denied and did not run. not that"
    })
    assert.deepStrictEqual(input[5] as unknown, { type: "local_shell_call_output", id: "call_3", output: "ran" })
    yield* C.assertAccepted(chat.server)
  })
})

describe("an object", () => {
  const Person = Schema.Struct({
    name: Schema.String,
    age: Schema.optionalKey(Schema.Finite),
    born: Schema.DateFromString
  }).annotate({ identifier: "A person!", description: "Who it is about." })

  const ask = (chat: Effect.Success<ReturnType<typeof C.start>>) =>
    chat.provide(LanguageModel.generateObject({ prompt: "Who?", schema: Person }))

  it.live("is asked for by its schema and decoded", () =>
    C.fresh(Effect.gen(function*() {
      const chat = yield* C.start({
        way: "generateText",
        turns: [`{"name": "Ada", "age": null, "born": "1815-12-10T00:00:00.000Z"}`]
      })
      const { value } = yield* ask(chat)
      assert.deepStrictEqual(value, { name: "Ada", born: new Date("1815-12-10T00:00:00.000Z") })
      const { format } = (yield* chat.lastBody)["text"]
      assert.strictEqual(format.type, "json_schema")
      assert.strictEqual(format.name, "A_person_")
      assert.strictEqual(format.strict, true)
      assert.strictEqual(format.description, "Who it is about.")
      assert.deepStrictEqual(format.schema.required, ["name", "age", "born"])
      yield* C.assertAccepted(chat.server)
    })))

  it.live("keeps the verbosity that the configuration says", () =>
    C.fresh(Effect.gen(function*() {
      const chat = yield* C.start({
        way: "generateText",
        config: { text: { verbosity: "low" } },
        turns: [`{"name": "Ada", "age": 1, "born": "1815-12-10T00:00:00.000Z"}`]
      })
      yield* ask(chat)
      const { text } = yield* chat.lastBody
      assert.strictEqual(text.verbosity, "low")
      assert.strictEqual(text.format.type, "json_schema")
    })))

  it.live("that the model refuses to give is an error that says so", () =>
    C.fresh(Effect.gen(function*() {
      const chat = yield* C.start({ way: "generateText", turns: [[ResponsesServer.refusal("I will not.")]] })
      const error = yield* Effect.flip(ask(chat))
      assert.isTrue(AiError.isAiError(error) && error.reason._tag === "ContentPolicyError")
      assert.match(String(error), /I will not/)
    })))

  it.live("whose schema OpenAI cannot have is refused before anything is sent", () =>
    C.fresh(Effect.gen(function*() {
      const chat = yield* C.start({ way: "generateText", turns: [] })
      const schema = Schema.Union([Schema.Struct({ a: Schema.String }), Schema.Struct({ b: Schema.String })])
      const error = yield* Effect.flip(chat.provide(LanguageModel.generateObject({ prompt: "?", schema })))
      assert.isTrue(AiError.isAiError(error) && error.reason._tag === "UnsupportedSchemaError")
      assert.deepStrictEqual(yield* chat.bodies, [])
    })))
})

describe("the configuration", () => {
  const config = {
    temperature: 0.5,
    top_p: 0.9,
    top_logprobs: 2,
    max_output_tokens: 100,
    max_tool_calls: 3,
    parallel_tool_calls: false,
    metadata: { a: "b" },
    instructions: "Be kind.",
    service_tier: "flex" as const,
    truncation: "auto" as const,
    safety_identifier: "user-1",
    prompt_cache_key: "key",
    reasoning: { effort: "low" as const, summary: "auto" as const },
    store: false,
    user: undefined
  }
  C.everyWay("is sent as it is", function*(way) {
    const chat = yield* C.start({ way, tools: "local", turns: ["Hi."], config })
    yield* chat.send("hi")
    const { include, input: _, model: __, stream: ___, tools: ____, tool_choice: _____, ...rest } = yield* chat
      .lastBody
    const { user: ______, ...expected } = config
    assert.deepStrictEqual(rest, expected)
    assert.deepStrictEqual(include, ["reasoning.encrypted_content", "message.output_text.logprobs"])
    yield* C.assertAccepted(chat.server)
  })

  C.everyWay("is overridden for a scope, field by field, the model too", function*(way) {
    const chat = yield* C.start({
      way,
      tools: "none",
      turns: ["Hi.", "Hi.", "Hi."],
      config: { temperature: 0.1, top_p: 0.2 }
    })
    yield* OpenAiLanguageModel.withConfigOverride(
      chat.send("hi", { config: { temperature: 0.3, model: "gpt-4.1" } }),
      { temperature: 0.4, max_output_tokens: 50 }
    )
    const body = yield* chat.lastBody
    assert.deepStrictEqual([body.model, body["temperature"], body["top_p"], body["max_output_tokens"]], [
      "gpt-4.1",
      0.3,
      0.2,
      50
    ])
    yield* chat.send("hi")
    const after = yield* chat.lastBody
    assert.deepStrictEqual([after.model, after["temperature"], after["max_output_tokens"]], [
      "gpt-5.2",
      0.1,
      undefined
    ])
  })
})
