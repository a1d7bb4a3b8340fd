import type * as Provider from "@ai-sdk/provider"
import { LanguageModel, Model, Prompt, Tool, Toolkit } from "@assent/ai"
import { AiSdkLanguageModel } from "@assent/ai-sdk"
import { assert, describe, it } from "@effect/vitest"
import { MockLanguageModelV4 } from "ai/test"
import { Deferred, Effect, Fiber, Logger, Schema, Stream } from "effect"
import type { AiError } from "effect/ai"
import * as Support from "./support.ts"

const hello = () => Support.playing([[Support.text("Hello!")], [Support.text("Hello!")]])

describe("a request", () => {
  it.effect("has the model's configuration, and that of its scope over it", () =>
    Effect.gen(function*() {
      const model = hello()
      const config = {
        temperature: 0,
        maxOutputTokens: 100,
        providerOptions: { anthropic: { thinking: { type: "enabled" } } }
      }
      yield* LanguageModel.generateText({ prompt: "Hi" }).pipe(
        AiSdkLanguageModel.withConfigOverride({ temperature: 1, reasoning: "low" }),
        Effect.provide(AiSdkLanguageModel.layer({ model, config }))
      )
      const { prompt: _, ...options } = Support.asked(model)
      assert.deepStrictEqual<unknown>(options, { ...config, temperature: 1, reasoning: "low" })
    }))

  it.effect("tells provider and model of a `Model`", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual([yield* Model.ProviderName, yield* Model.ModelName], ["mock.chat", "mock-model-id"])
    }).pipe(Effect.provide(AiSdkLanguageModel.model(hello()))))
})

describe("tools", () => {
  const Read = Tool.make("Read", { description: "Reads.", parameters: { path: Schema.String }, success: Schema.String })
  const List = Tool.make("List", { success: Schema.String })
  const Strict = Tool.make("Strict", {
    parameters: { path: Schema.String, depth: Schema.optionalKey(Schema.Number) },
    success: Schema.String
  }).annotate(Tool.Strict, true)
  const Web = Tool.providerDefined({
    id: "mock.web_search",
    customName: "Web",
    providerName: "web_search",
    args: Schema.Struct({ maxUses: Schema.Number }),
    success: Schema.Unknown
  })({ maxUses: 3 })
  const Bare = Tool.dynamic("Bare", { parameters: { type: "object" }, success: Schema.String })
  const toolkit = Toolkit.make(Read, List, Strict, Web)
  const seen: Array<unknown> = []
  const handlers = toolkit.toLayer({
    Read: () => Effect.succeed("x"),
    List: () => Effect.succeed("x"),
    Strict: (params) => Effect.sync(() => (seen.push(params), "x"))
  })

  const askedWith = (toolChoice: LanguageModel.ToolChoice<"Read" | "List" | "Strict" | "Web">) =>
    Effect.gen(function*() {
      const model = hello()
      yield* LanguageModel.generateText({ prompt: "Hi", toolkit, toolChoice }).pipe(
        Effect.provide([AiSdkLanguageModel.layer({ model }), handlers])
      )
      return Support.asked(model)
    })

  it.effect("one of an MCP server that says nothing of parameters has none", () =>
    Effect.gen(function*() {
      const model = hello()
      const bare = Toolkit.make(Bare)
      yield* LanguageModel.generateText({ prompt: "Hi", toolkit: bare }).pipe(
        Effect.provide([AiSdkLanguageModel.layer({ model }), bare.toLayer({ Bare: () => Effect.succeed("x") })])
      )
      assert.deepStrictEqual<unknown>(Support.asked(model).tools, [
        { type: "function", name: "Bare", inputSchema: { type: "object", properties: {} } }
      ])
    }))

  it.effect("functions and the provider's own, in the interface's form", () =>
    Effect.gen(function*() {
      const { tools } = yield* askedWith("auto")
      assert.deepStrictEqual<unknown>(
        tools!.map(({ name, type }) => [type, name]),
        [["function", "Read"], ["function", "List"], ["function", "Strict"], ["provider", "Web"]]
      )
      const [read, list, strict, web] = tools as [
        Provider.LanguageModelV4FunctionTool,
        Provider.LanguageModelV4FunctionTool,
        Provider.LanguageModelV4FunctionTool,
        Provider.LanguageModelV4ProviderTool
      ]
      assert.strictEqual(read.description, "Reads.")
      assert.isUndefined(read.strict)
      assert.strictEqual(list.inputSchema.type, "object")
      assert.isTrue(strict.strict)
      assert.deepStrictEqual(strict.inputSchema.required, ["path", "depth"])
      assert.deepStrictEqual<unknown>(web, {
        type: "provider",
        id: "mock.web_search",
        name: "Web",
        args: { maxUses: 3 }
      })
    }))

  it.effect.each(
    [
      ["auto", { type: "auto" }, 4],
      ["none", { type: "none" }, 4],
      ["required", { type: "required" }, 4],
      [{ tool: "Read" }, { type: "tool", toolName: "Read" }, 4],
      [{ oneOf: ["Read", "List"] }, { type: "auto" }, 2],
      [{ mode: "required", oneOf: ["Read", "List"] }, { type: "required" }, 2]
    ] as const
  )("the choice %j", ([choice, sent, count]) =>
    Effect.map(askedWith(choice), ({ toolChoice, tools }) => {
      assert.deepStrictEqual<unknown>(toolChoice, sent)
      assert.lengthOf(tools!, count)
    }))

  it.effect("a choice of a tool that is not there is an error that names it", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(askedWith({ tool: "Gone" as "Read" }))
      const { reason } = error as AiError.AiError
      assert.strictEqual(reason._tag === "ToolConfigurationError" ? reason.toolName : reason._tag, "Gone")
    }))

  it.effect("one whose parameters have no such form is an error that names it, and nothing is sent", () =>
    Effect.gen(function*() {
      const model = hello()
      const either = Schema.Union([Schema.Struct({ name: Schema.String }), Schema.Struct({ id: Schema.String })])
      const Either = Tool.make("Either", { parameters: either }).annotate(Tool.Strict, true)
      const { reason } = yield* LanguageModel.generateText({ prompt: "Hi", toolkit: Toolkit.make(Either) }).pipe(
        Effect.provide(AiSdkLanguageModel.layer({ model })),
        Effect.provide(Toolkit.make(Either).toLayer({ Either: () => Effect.void })),
        Effect.flip
      ) as Effect.Effect<AiError.AiError>
      assert.strictEqual(reason._tag, "UnsupportedSchemaError")
      assert.include(reason.message, "Either")
      assert.lengthOf(model.doGenerateCalls, 0)
    }))

  it.effect("what a strict schema says in other words is read as the tool has it, whole and streamed", () =>
    Effect.gen(function*() {
      const calls = [[Support.call("c1", "Strict", { path: "/", depth: null })]]
      const request = { prompt: "Hi", toolkit }
      yield* LanguageModel.generateText(request).pipe(
        Effect.provide([AiSdkLanguageModel.layer({ model: Support.playing(calls) }), handlers])
      )
      yield* Stream.runDrain(LanguageModel.streamText(request)).pipe(
        Effect.provide([AiSdkLanguageModel.layer({ model: Support.playing(calls) }), handlers])
      )
      assert.deepStrictEqual(seen, [{ path: "/" }, { path: "/" }])
    }))
})

describe("structured output", () => {
  const Person = Schema.Struct({ name: Schema.String, age: Schema.optionalKey(Schema.Number) })

  it.effect("asks for the schema, and reads what comes by it", () =>
    Effect.gen(function*() {
      const model = Support.playing([[Support.text(`{"name":"Ada","age":null}`)]])
      const { value } = yield* LanguageModel.generateObject({ prompt: "Who?", schema: Person, objectName: "a person" })
        .pipe(Effect.provide(AiSdkLanguageModel.layer({ model })))
      assert.deepStrictEqual(value, { name: "Ada" })
      const { responseFormat } = Support.asked(model)
      assert.strictEqual(responseFormat?.type, "json")
      assert.deepInclude(responseFormat, { type: "json", name: "a_person" })
    }))

  it.effect("reads the text that the provider selects, and sends back what it wrote", () =>
    Effect.gen(function*() {
      const content = [Support.text("Draft."), Support.text(`{"name":"Ada","age":null}`)]
      const model = new MockLanguageModelV4({
        doGenerate: Support.response(content, { structuredOutputText: `{"name":"Ada","age":null}` })
      })
      const { content: parts, value } = yield* LanguageModel.generateObject({ prompt: "Who?", schema: Person }).pipe(
        Effect.provide(AiSdkLanguageModel.layer({ model }))
      )
      assert.deepStrictEqual(value, { name: "Ada" })
      assert.deepStrictEqual(parts.map((part) => part.type), ["reasoning", "reasoning", "text", "finish"])
      const next = hello()
      const prompt = Prompt.concat(Prompt.fromResponseParts(parts), Prompt.make("And then?"))
      yield* LanguageModel.generateText({ prompt }).pipe(Effect.provide(AiSdkLanguageModel.layer({ model: next })))
      assert.deepStrictEqual<unknown>(Support.asked(next).prompt[0], {
        role: "assistant",
        content: content.map(({ text }) => ({ type: "text", text }))
      })
    }))

  it.effect("a schema with no such form fails as that", () =>
    Effect.gen(function*() {
      const error = yield* LanguageModel.generateObject({
        prompt: "Who?",
        schema: Schema.Union([Person, Schema.Struct({ unknown: Schema.Boolean })])
      }).pipe(Effect.provide(AiSdkLanguageModel.layer({ model: hello() })), Effect.flip)
      assert.strictEqual((error as AiError.AiError).reason._tag, "UnsupportedSchemaError")
    }))
})

describe("warnings", () => {
  const logging = (model: MockLanguageModelV4) =>
    Effect.gen(function*() {
      const logged: Array<unknown> = []
      const logger = Logger.make(({ message }) => void logged.push(message))
      yield* Effect.gen(function*() {
        yield* LanguageModel.generateText({ prompt: "Hi" })
        yield* Stream.runDrain(LanguageModel.streamText({ prompt: "Hi" }))
      }).pipe(Effect.provide([AiSdkLanguageModel.layer({ model }), Logger.layer([logger])]))
      return logged.flat()
    })

  it.effect("each is logged once, whole or streamed", () =>
    Effect.gen(function*() {
      const warnings: Array<Provider.SharedV4Warning> = [
        { type: "unsupported", feature: "topK", details: "not at all" },
        { type: "other", message: "Slow today." }
      ]
      const model = new MockLanguageModelV4({
        doGenerate: Support.response([Support.text("x")], { warnings }),
        doStream: async () => Support.stream([{ type: "stream-start", warnings }, Support.finish()])
      })
      assert.deepStrictEqual(yield* logging(model), ["topK is not supported: not at all", "Slow today."])
    }))

  it.effect("of a model that has none, and leaves them out, are none", () =>
    Effect.gen(function*() {
      const { warnings: _, ...response } = Support.response([Support.text("x")])
      const model = new MockLanguageModelV4({
        doGenerate: response as never,
        doStream: async () => Support.stream([{ type: "stream-start" } as never, Support.finish()])
      })
      assert.deepStrictEqual(yield* logging(model), [])
    }))

  it.effect("of a model that words each anew are not logged for ever", () =>
    Effect.gen(function*() {
      let count = 0
      const model = new MockLanguageModelV4({
        doGenerate: async () =>
          Support.response([Support.text("x")], {
            warnings: Array.from({ length: 600 }, () => ({ type: "other", message: `Slow ${count++}.` }) as const)
          }),
        doStream: async () =>
          Support.stream([
            {
              type: "stream-start",
              warnings: Array.from({ length: 600 }, () => ({ type: "other", message: `Slow ${count++}.` }) as const)
            },
            Support.finish()
          ])
      })
      assert.strictEqual((yield* logging(model)).length, 1_000)
    }))
})

describe("an interruption aborts the request", () => {
  const hanging = () => {
    const signals: Array<AbortSignal> = []
    const begun = Deferred.makeUnsafe<void>()
    const cancelled = Deferred.makeUnsafe<void>()
    const model = new MockLanguageModelV4({
      doGenerate: ({ abortSignal }) => {
        signals.push(abortSignal!)
        Deferred.doneUnsafe(begun, Effect.void)
        return new Promise(() => {})
      },
      doStream: async ({ abortSignal }) => {
        signals.push(abortSignal!)
        return {
          stream: new ReadableStream({
            start: (controller) => controller.enqueue({ type: "text-start", id: "0" }),
            cancel: () => void Deferred.doneUnsafe(cancelled, Effect.void)
          })
        }
      }
    })
    return { signals, begun, cancelled, layer: AiSdkLanguageModel.layer({ model }) }
  }

  it.effect("whole", () =>
    Effect.gen(function*() {
      const { begun, layer, signals } = hanging()
      const fiber = yield* Effect.forkChild(LanguageModel.generateText({ prompt: "Hi" }).pipe(Effect.provide(layer)))
      yield* Deferred.await(begun)
      yield* Fiber.interrupt(fiber)
      assert.isTrue(signals[0]!.aborted)
    }))

  it.effect("a stream that nobody reads any more", () =>
    Effect.gen(function*() {
      const { cancelled, layer, signals } = hanging()
      yield* Stream.runDrain(Stream.take(LanguageModel.streamText({ prompt: "Hi" }), 1)).pipe(Effect.provide(layer))
      yield* Deferred.await(cancelled)
      assert.isTrue(signals[0]!.aborted)
    }))

  it.effect("one that came to its end is not aborted", () =>
    Effect.gen(function*() {
      const model = hello()
      yield* Stream.runDrain(LanguageModel.streamText({ prompt: "Hi" })).pipe(
        Effect.provide(AiSdkLanguageModel.layer({ model }))
      )
      assert.isFalse(model.doStreamCalls[0]!.abortSignal!.aborted)
    }))
})

describe("what is no model of a provider", () => {
  const untyped = AiSdkLanguageModel as unknown as Record<"model" | "layer", (given: unknown) => unknown>
  const old = { specificationVersion: "v2", provider: "anthropic", modelId: "claude" }
  const mistakes: Record<string, readonly [attempt: () => unknown, says: RegExp]> = {
    "the name of a model": [
      () => untyped.model("claude-sonnet-4-5"),
      /AiSdkLanguageModel\.model\(anthropic\(.*a text\.$/
    ],
    "nothing": [() => untyped.model(undefined), /it was given undefined\.$/],
    "a model where options are taken": [
      () => untyped.layer(Support.playing([])),
      /AiSdkLanguageModel\.layer\(\{ model: anthropic\(/
    ],
    "a model of AI SDK 5": [
      () => untyped.model(old),
      /has the interface "v2".*install a later version of the provider's/
    ]
  }
  for (const [what, [attempt, says]] of Object.entries(mistakes)) {
    it(`${what}: says what is taken`, () => {
      assert.throws(attempt, TypeError, says)
    })
  }
})
