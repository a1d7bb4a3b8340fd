/**
 * What the engine takes from the form of upstream's services, and no documentation promises. Where one of these fails after
 * an update of effect, the promise in its title is broken or unproved: read what it names again before anything is published.
 */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Ref, Schema, Stream } from "effect"
import { Chat, LanguageModel, McpServer, Model, type Response, Telemetry, Tool, Toolkit } from "effect/ai"
import { KeyValueStore, Persistence } from "effect/persistence"

const finish = { type: "finish", reason: "stop", usage: { inputTokens: {}, outputTokens: {} } } as const

const calls: ReadonlyArray<Response.PartEncoded & Response.StreamPartEncoded> = [
  { type: "tool-call", id: "c1", name: "Delete", params: { path: 7 } },
  { type: "tool-call", id: "c2", name: "Unknown", params: null },
  finish
]

const calling = LanguageModel.make({
  generateText: () => Effect.succeed(calls.slice()),
  streamText: () => Stream.fromIterable(calls)
})

const speaking = LanguageModel.make({
  generateText: () => Effect.succeed([{ type: "text", text: "Done." }, finish]),
  streamText: () =>
    Stream.make({ type: "text-start", id: "1" }, { type: "text-delta", id: "1", delta: "Done." }, {
      type: "text-end",
      id: "1"
    }, finish)
})

const Delete = Tool.make("Delete", {
  parameters: Schema.Struct({ path: Schema.String }),
  needsApproval: () => Effect.die("judged")
})
const toolkit = Toolkit.make(Delete)
const handlers = toolkit.toLayer({ Delete: () => Effect.die("ran") })

describe("internal/environment: the engine asks upstream for calls, and runs them itself, because", () => {
  it.effect("with `disableToolCallResolution` and `toolCallValidation: \"deferred\"` upstream runs none and judges none", () =>
    Effect.gen(function*() {
      const model = yield* calling
      const options = {
        prompt: "go",
        toolkit,
        disableToolCallResolution: true,
        toolCallValidation: "deferred"
      } as const
      const { content } = yield* model.generateText(options)
      const streamed = yield* Stream.runCollect(model.streamText(options))
      for (const parts of [content, streamed]) {
        assert.deepStrictEqual(
          parts.flatMap((part) => part.type === "tool-call" ? [[part.id, part.name, part.params]] : [[part.type]]),
          [["c1", "Delete", { path: 7 }], ["c2", "Unknown", null], ["finish"]]
        )
      }
    }).pipe(Effect.provide(handlers)))

  it.effect("a service is an object with its functions, of which a copy is a service", () =>
    Effect.gen(function*() {
      const model = yield* speaking
      assert.deepStrictEqual(
        Object.keys(model).toSorted(),
        [
          LanguageModel.TypeId,
          "generateObject",
          "generateText",
          "streamText",
          "supportsSystemMessagesInHistory"
        ].toSorted()
      )
      const { content } = yield* Effect.provideService(
        LanguageModel.generateText({ prompt: "go" }),
        LanguageModel.LanguageModel,
        { ...model }
      )
      assert.deepStrictEqual(content.map(({ type }) => type), ["text", "finish"])
    }))

  it("a context is a map of keys, and a copy of it with some of them is a context", () => {
    const context = Context.make(Telemetry.CurrentSpanTransformer, () => {})
    assert.instanceOf(context.mapUnsafe, Map)
    assert.deepStrictEqual([...context.mapUnsafe.keys()], [Telemetry.CurrentSpanTransformer.key])
    const copy = Context.makeUnsafe<typeof Telemetry.CurrentSpanTransformer.Identifier>(
      new Map<string, unknown>(context.mapUnsafe)
    )
    assert.strictEqual(
      Context.get(copy, Telemetry.CurrentSpanTransformer),
      Context.get(context, Telemetry.CurrentSpanTransformer)
    )
  })
})

describe("internal/turn: a chat and a model of upstream's are protected, because", () => {
  it.effect("a chat is an object whose functions stand in it, and find the model of whoever calls them", () =>
    Effect.gen(function*() {
      const chat = yield* Chat.empty
      assert.includeMembers(Object.keys(chat), ["history", "generateText", "generateObject", "streamText", "export"])
      const model = yield* speaking
      const copy = { ...chat }
      const options = { prompt: "go" }
      yield* Effect.provideService(copy.generateText(options), LanguageModel.LanguageModel, model)
      yield* Stream.runDrain(Stream.provideService(copy.streamText(options), LanguageModel.LanguageModel, model))
      const { content } = yield* Ref.get(chat.history)
      assert.deepStrictEqual(content.map(({ role }) => role), ["user", "assistant", "user", "assistant"])
    }))

  it.effect("what keeps chats has `get` and `getOrCreate`, and its chats have `save` besides", () =>
    Effect.gen(function*() {
      const persistence = yield* Chat.makePersisted({ storeId: "chats" })
      assert.deepStrictEqual(Object.keys(persistence).toSorted(), ["get", "getOrCreate"])
      assert.property(yield* persistence.getOrCreate("one"), "save")
    }).pipe(Effect.scoped, Effect.provide(Layer.provide(Persistence.layerBackingKvs, KeyValueStore.layerMemory))))

  it.effect("a layer, and a model that is one, keeps what it builds in fields, which a copy of it may have from another", () =>
    Effect.gen(function*() {
      const theirs = yield* speaking
      const ours = { ...theirs }
      const model = Model.make("acme", "one", Layer.succeed(LanguageModel.LanguageModel, theirs))
      const mapped = Layer.provideMerge(Layer.succeed(LanguageModel.LanguageModel, ours), model)
      const copy = Object.assign(Object.create(Object.getPrototypeOf(model) as object) as typeof model, model, mapped)
      const found = Effect.all([LanguageModel.LanguageModel, Model.ProviderName])
      const provided = yield* Effect.provide(found, copy)
      assert.strictEqual(provided[0], ours)
      assert.strictEqual(provided[1], "acme")
      assert.strictEqual((yield* Effect.provide(found, yield* copy.captureRequirements))[0], ours)
    }))
})

describe("internal/run: a span of the program has no parameters of an approved call, because", () => {
  it.effect("a toolkit writes `tool` and `parameters` into the current span, and nothing else, before the handler runs", () =>
    Effect.gen(function*() {
      const span = yield* Effect.currentSpan
      const before: Array<string> = []
      const live = toolkit.toLayer({
        Delete: () => Effect.sync(() => void before.push(...span.attributes.keys()))
      })
      const { handle } = yield* Effect.provide(toolkit, live)
      yield* Stream.runDrain(Stream.unwrap(handle("Delete", { path: "a" })))
      assert.deepStrictEqual(before, ["tool", "parameters"])
    }).pipe(Effect.withSpan("program")))
})

describe("internal/elicitation: a tool of our MCP server is guarded, because", () => {
  it.effect("registering a toolkit runs it as an effect and gives each tool to `addTool`, with what handles its calls", () =>
    Effect.gen(function*() {
      const added: Array<unknown> = []
      const guarded = Object.assign(
        Effect.map(toolkit, (built) => ({ ...built, tools: { Delete: built.tools.Delete } })),
        { tools: toolkit.tools }
      )
      const server = { addTool: (tool: object) => Effect.sync(() => void added.push(Object.keys(tool))) }
      yield* Effect.provideService(
        McpServer.registerToolkit(guarded as unknown as typeof toolkit),
        McpServer.McpServer,
        server as unknown as McpServer.McpServer["Service"]
      )
      assert.lengthOf(added, 1)
      assert.includeMembers(added[0] as Array<string>, ["handle", "tool"])
    }).pipe(Effect.provide(handlers)))
})
