import { ScriptedModel, StrictProvider } from "@assent/ai/testing"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Ref, Schema, Stream } from "effect"
import type { Response } from "effect/ai"
import { AiError, LanguageModel, Prompt, ResponseIdTracker, Tool, Toolkit } from "effect/ai"

const ReadFile = Tool.make("ReadFile", { parameters: Schema.Struct({ path: Schema.String }), success: Schema.String })
const toolkit = Toolkit.make(ReadFile)
const handlers = toolkit.toLayer({ ReadFile: ({ path }) => Effect.succeed(`content of ${path}`) })

const readCall = ScriptedModel.toolCall({ id: "call-1", name: "ReadFile", params: { path: "a.txt" } })
const failure = AiError.make({ module: "Test", method: "test", reason: new AiError.RateLimitError({}) })
const unanswered = Prompt.make([
  { role: "user", content: "Read a.txt" },
  { role: "assistant", content: [{ type: "tool-call", id: "call-1", name: "ReadFile", params: { path: "a.txt" } }] }
])

const streamed = (model: LanguageModel.LanguageModel, prompt: Prompt.RawInput = "Hi") =>
  Effect.map(
    Stream.runCollect(Stream.chunks(model.streamText({
      prompt,
      toolkit,
      disableToolCallResolution: true,
      toolCallValidation: "deferred"
    }))),
    (chunks) => chunks.map((chunk) => chunk.map(show))
  )

/** The part in a few words: what a reader of the test needs to see. */
const show = (part: Response.AnyPart): string => {
  switch (part.type) {
    case "text":
      return `text ${part.text}`
    case "text-delta":
    case "reasoning-delta":
    case "tool-params-delta":
      return `${part.type} ${part.delta}`
    case "finish":
      return `finish ${part.reason}`
    case "tool-call":
      return `tool-call ${part.name}`
    case "response-metadata":
      return `response-metadata ${part.id}`
    default:
      return part.type
  }
}

const say = (scripted: ScriptedModel.ScriptedModel) =>
  Effect.map(scripted.model.generateText({ prompt: "Hi" }), (response) => response.text)

describe("ScriptedModel", () => {
  describe("turns", () => {
    it("calls a tool with what the provider says of the call", () => {
      const metadata = { openai: { itemId: "fc_1" } }
      const call = { id: "1", name: "Read", params: {} }
      assert.deepStrictEqual(ScriptedModel.toolCall({ ...call, metadata }).metadata, metadata)
      assert.notProperty(ScriptedModel.toolCall(call), "metadata")
    })

    it.effect("plays a text, parts, a function and an error, then says that the script is over", () =>
      Effect.gen(function*() {
        const scripted = yield* ScriptedModel.make({
          turns: [
            "Hello!",
            [ScriptedModel.text("Bye"), ScriptedModel.finish("length")],
            (options) => `${options.prompt.content.length} message`,
            failure
          ]
        })
        const first = yield* scripted.model.generateText({ prompt: "1" })
        const second = yield* scripted.model.generateText({ prompt: "2" })
        const third = yield* scripted.model.generateText({ prompt: "3" })
        const fourth = yield* Effect.flip(scripted.model.generateText({ prompt: "4" }))
        const fifth = yield* Effect.flip(scripted.model.generateText({ prompt: "5" }))

        assert.deepStrictEqual([first.text, first.finishReason], ["Hello!", "stop"])
        assert.deepStrictEqual([second.text, second.finishReason], ["Bye", "length"])
        assert.strictEqual(third.text, "1 message")
        assert.strictEqual(fourth, failure)
        assert.strictEqual(fifth.reason._tag, "UnknownError")
        assert.include(fifth.message, "called 5 times, but its script has 4 turns")
        assert.strictEqual(yield* scripted.calls, 5)
        assert.strictEqual(first.usage.inputTokens.total, 10)
        assert.strictEqual(first.usage.outputTokens.total, 5)
      }))

    it.effect("repeats the last turn, or plays another, when the script is over", () =>
      Effect.gen(function*() {
        const repeating = yield* ScriptedModel.make({ turns: ["a", "b"], afterLastTurn: "repeat" })
        const other = yield* ScriptedModel.make({ turns: [], afterLastTurn: [ScriptedModel.text("c")] })
        const empty = yield* ScriptedModel.make({ turns: [], afterLastTurn: "repeat" })

        assert.deepStrictEqual(yield* Effect.all([say(repeating), say(repeating), say(repeating)]), ["a", "b", "b"])
        assert.deepStrictEqual(yield* Effect.all([say(other), say(other)]), ["c", "c"])
        assert.strictEqual((yield* Effect.flip(say(empty))).reason._tag, "UnknownError")
      }))

    it.effect("shares one script between generate and stream", () =>
      Effect.gen(function*() {
        const { calls, model, requests } = yield* ScriptedModel.make({ turns: ["a", "b", "c"] })
        const first = yield* model.generateText({ prompt: "1" })
        const second = yield* streamed(model)
        const third = yield* model.generateText({ prompt: "3" })

        assert.deepStrictEqual([first.text, third.text], ["a", "c"])
        assert.deepStrictEqual(second, [["text-start"], ["text-delta b"], ["text-end"], ["finish stop"]])
        assert.strictEqual(yield* calls, 3)
        assert.deepStrictEqual((yield* requests).map((request) => request.method), [
          "generateText",
          "streamText",
          "generateText"
        ])
      }))

    it.effect("plays nothing before the effect or the stream runs, and anew each time it runs", () =>
      Effect.gen(function*() {
        const { calls, model } = yield* ScriptedModel.make({ turns: ["a", "b"] })
        const stream = model.streamText({ prompt: "Hi" })
        assert.strictEqual(yield* calls, 0)
        yield* Stream.runDrain(stream)
        yield* Stream.runDrain(stream)
        assert.strictEqual(yield* calls, 2)
      }))

    it.effect("an empty text is an answer without parts, which can stand in the history", () =>
      Effect.gen(function*() {
        const { model } = yield* ScriptedModel.make({ turns: [""] })
        const response = yield* model.generateText({ prompt: "Hi" })
        assert.deepStrictEqual(response.content.map(show), ["finish stop"])
      }))
  })

  describe("finish", () => {
    it.effect("is tool-calls only when there is a call to answer", () =>
      Effect.gen(function*() {
        const hosted = [
          ScriptedModel.toolCall({ id: "call-2", name: "ReadFile", params: { path: "b" }, providerExecuted: true }),
          ScriptedModel.toolResult({ id: "call-2", name: "ReadFile", result: "content" })
        ]
        const { model } = yield* ScriptedModel.make({
          turns: [[readCall], hosted, [ScriptedModel.chunk([...hosted, readCall])], [
            readCall,
            ScriptedModel.finish("stop")
          ]]
        })
        const ask = model.generateText({ prompt: "Hi", toolkit, disableToolCallResolution: true })
        const reasons = yield* Effect.all([ask, ask, ask, ask])

        assert.deepStrictEqual(reasons.map((response) => response.finishReason), [
          "tool-calls",
          "stop",
          "tool-calls",
          "stop"
        ])
        assert.deepStrictEqual(
          reasons[1].content.map((part) => "providerExecuted" in part && part.providerExecuted),
          [true, true, false]
        )
      }).pipe(Effect.provide(handlers)))

    it.effect("can be left out", () =>
      Effect.gen(function*() {
        const turn = [ScriptedModel.text("cut"), ScriptedModel.withoutFinish]
        const { model } = yield* ScriptedModel.make({ turns: [turn, turn] })
        assert.deepStrictEqual((yield* model.generateText({ prompt: "Hi" })).content.map(show), ["text cut"])
        assert.deepStrictEqual(yield* streamed(model), [["text-start"], ["text-delta cut"], ["text-end"]])
      }).pipe(Effect.provide(handlers)))
  })

  describe("streams", () => {
    it.effect("gives each part its own chunk and splits texts into deltas of at most 5 characters", () =>
      Effect.gen(function*() {
        const { model } = yield* ScriptedModel.make({
          turns: [[{ type: "reasoning", text: "Let me see" }, ScriptedModel.text("Reading 𝒂.txt"), readCall]]
        })
        assert.deepStrictEqual(yield* streamed(model), [
          ["reasoning-start"],
          ["reasoning-delta Let m"],
          ["reasoning-delta e see"],
          ["reasoning-end"],
          ["text-start"],
          ["text-delta Readi"],
          ["text-delta ng 𝒂."],
          ["text-delta txt"],
          ["text-end"],
          ["tool-params-start"],
          ["tool-params-delta {\"path\":\"a.txt\"}"],
          ["tool-params-end"],
          ["tool-call ReadFile"],
          ["finish tool-calls"]
        ])
      }).pipe(Effect.provide(handlers)))

    it.effect("puts the parts of a chunk into one chunk, and drops an empty one", () =>
      Effect.gen(function*() {
        const { model } = yield* ScriptedModel.make({
          turns: [[
            ScriptedModel.chunk([]),
            ScriptedModel.chunk([ScriptedModel.text("ab"), readCall, ScriptedModel.finish("length")])
          ]]
        })
        assert.deepStrictEqual(yield* streamed(model), [[
          "text-start",
          "text-delta ab",
          "text-end",
          "tool-params-start",
          "tool-params-delta {\"path\":\"a.txt\"}",
          "tool-params-end",
          "tool-call ReadFile",
          "finish length"
        ]])
      }).pipe(Effect.provide(handlers)))

    it.effect("keeps texts of one turn apart", () =>
      Effect.gen(function*() {
        const { model } = yield* ScriptedModel.make({
          turns: [[ScriptedModel.text("a"), ScriptedModel.chunk([ScriptedModel.text("b"), ScriptedModel.text("c")])]]
        })
        const parts = yield* Stream.runCollect(model.streamText({ prompt: "Hi" }))
        const [message] = Prompt.fromResponseParts(parts).content
        assert.deepStrictEqual(
          message?.role === "assistant" ? message.content.map((part) => part.type === "text" && part.text) : [],
          ["a", "b", "c"]
        )
      }))

    it.effect("holds a stream at a pause, and a generated answer too", () =>
      Effect.gen(function*() {
        const gate = yield* Deferred.make<void>()
        const seen = yield* Ref.make<ReadonlyArray<string>>([])
        const turn = [ScriptedModel.text("a"), ScriptedModel.pause(Deferred.await(gate)), ScriptedModel.text("b")]
        const { model } = yield* ScriptedModel.make({ turns: [turn, turn] })

        const fiber = yield* model.streamText({ prompt: "Hi" }).pipe(
          Stream.runForEach((part) => Ref.update(seen, (seen) => [...seen, part.type])),
          Effect.forkChild({ startImmediately: true })
        )
        const generating = yield* Effect.forkChild(model.generateText({ prompt: "Hi" }), { startImmediately: true })
        yield* Effect.yieldNow
        assert.deepStrictEqual(yield* Ref.get(seen), ["text-start", "text-delta", "text-end"])
        assert.isUndefined(generating.pollUnsafe())

        yield* Deferred.succeed(gate, undefined)
        yield* Fiber.join(fiber)
        assert.strictEqual((yield* Ref.get(seen)).length, 7)
        assert.strictEqual((yield* Fiber.join(generating)).text, "ab")
      }))

    it.effect("runs a pause at the end of a turn before the stream ends", () =>
      Effect.gen(function*() {
        const ended = yield* Ref.make(false)
        const { model } = yield* ScriptedModel.make({
          turns: [[ScriptedModel.finish("stop"), ScriptedModel.pause(Ref.set(ended, true))]]
        })
        yield* Stream.runDrain(model.streamText({ prompt: "Hi" }))
        assert.isTrue(yield* Ref.get(ended))
      }))

    it.effect("fails in the middle; a generated answer fails whole", () =>
      Effect.gen(function*() {
        const turn = [ScriptedModel.text("a"), ScriptedModel.fail(failure), ScriptedModel.text("b")]
        const { model } = yield* ScriptedModel.make({ turns: [turn, turn] })
        const seen: Array<string> = []
        const error = yield* model.streamText({ prompt: "Hi" }).pipe(
          Stream.runForEach((part) => Effect.sync(() => seen.push(part.type))),
          Effect.flip
        )
        assert.strictEqual(error, failure)
        assert.deepStrictEqual(seen, ["text-start", "text-delta", "text-end"])
        assert.strictEqual(yield* Effect.flip(model.generateText({ prompt: "Hi" })), failure)
      }))

    it.effect("plays parts that exist only in streams, and leaves them out of a generated answer", () =>
      Effect.gen(function*() {
        const turn: ScriptedModel.Turn = [
          ScriptedModel.text("a"),
          { type: "tool-params-start", id: "call-1", name: "ReadFile" },
          { type: "tool-params-delta", id: "call-1", delta: "{" },
          { type: "error", error: "overloaded" }
        ]
        const { model } = yield* ScriptedModel.make({ turns: [turn, turn] })
        const chunks = yield* streamed(model)
        const partial = ["tool-params-start", "tool-params-delta {"]
        assert.deepStrictEqual(chunks.flat().slice(3), [...partial, "error", "finish stop"])
        const response = yield* model.generateText({ prompt: "Hi" })
        assert.deepStrictEqual(response.content.map(show), ["text a", "finish stop"])
      }).pipe(Effect.provide(handlers)))
  })

  describe("requests", () => {
    it.effect("records the very prompt, the tools and how to answer", () =>
      Effect.gen(function*() {
        const { model, requests } = yield* ScriptedModel.make({ turns: ["a", "{\"n\":1}"] })
        const prompt = Prompt.make("Hi")
        yield* model.generateText({ prompt, toolkit, toolChoice: "required" })
        const Answer = Schema.Struct({ n: Schema.Number })
        const response = yield* model.generateObject({ prompt, schema: Answer, objectName: "answer" })
        const [first, second] = yield* requests

        assert.strictEqual(first?.prompt, prompt)
        assert.deepStrictEqual(first?.toolNames, ["ReadFile"])
        assert.strictEqual(first?.toolChoice, "required")
        assert.strictEqual(first?.responseFormat.type, "text")
        assert.isUndefined(first?.incrementalPrompt)
        assert.strictEqual(second?.responseFormat.type, "json")
        assert.deepStrictEqual(response.value, { n: 1 })
      }).pipe(Effect.provide(handlers)))

    it.effect("runs upstream's tools and carries on incrementally when it gives response ids", () =>
      Effect.gen(function*() {
        const { model, requests } = yield* ScriptedModel.make({ turns: [[readCall], "Done."], responseIds: true })
        const prompt = Prompt.make("Read a.txt")
        const first = yield* model.generateText({ prompt, toolkit })
        assert.deepStrictEqual(first.content.map(show), [
          "response-metadata response-1",
          "tool-call ReadFile",
          "finish tool-calls",
          "tool-result"
        ])
        const chunks = yield* streamed(model, Prompt.concat(prompt, Prompt.fromResponseParts(first.content)))
        assert.deepStrictEqual(chunks[0], ["response-metadata response-2"])

        const [, second] = yield* requests
        assert.strictEqual(second?.previousResponseId, "response-1")
        assert.deepStrictEqual(second?.incrementalPrompt?.content.map((message) => message.role), ["tool"])
      }).pipe(
        Effect.provide(handlers),
        Effect.provideServiceEffect(ResponseIdTracker.ResponseIdTracker, ResponseIdTracker.make)
      ))
  })

  describe("strict", () => {
    it.effect("refuses a malformed prompt without playing a turn, and records it", () =>
      Effect.gen(function*() {
        const { calls, model, requests } = yield* ScriptedModel.make({ turns: ["a"] })
        const generated = yield* Effect.flip(model.generateText({ prompt: unanswered }))
        const streamed = yield* Effect.flip(Stream.runDrain(model.streamText({ prompt: unanswered })))

        assert.strictEqual(generated.reason._tag, "InvalidRequestError")
        assert.include(generated.message, "[dangling-call] message 1")
        assert.include(streamed.message, "[dangling-call] message 1")
        assert.strictEqual(yield* calls, 0)
        assert.strictEqual((yield* requests).length, 2)
        assert.strictEqual((yield* model.generateText({ prompt: "Hi" })).text, "a")
      }))

    it.effect("can be switched off, or allow the provider's own approvals", () =>
      Effect.gen(function*() {
        const lenient = yield* ScriptedModel.make({ turns: ["a"], strict: false })
        assert.strictEqual((yield* lenient.model.generateText({ prompt: unanswered })).text, "a")

        const prompt = Prompt.make([
          { role: "user", content: "Hi" },
          { role: "tool", content: [{ type: "tool-approval-response", approvalId: "mcpr_1", approved: true }] }
        ])
        const strict = yield* ScriptedModel.make({ turns: ["a"] })
        const hosting = yield* ScriptedModel.make({ turns: ["a"], strict: { allowProviderApprovals: ["mcpr_1"] } })
        assert.include((yield* Effect.flip(strict.model.generateText({ prompt }))).message, "foreign-approval")
        assert.strictEqual((yield* hosting.model.generateText({ prompt })).text, "a")
      }))
  })

  describe("other ways in", () => {
    it.effect("gives its hooks to another make, over the same script", () =>
      Effect.gen(function*() {
        const { calls, model, params } = yield* ScriptedModel.make({ turns: ["a", "b"] })
        const other = yield* LanguageModel.make(StrictProvider.wrap(params))
        assert.strictEqual((yield* model.generateText({ prompt: "1" })).text, "a")
        assert.strictEqual((yield* other.generateText({ prompt: "2" })).text, "b")
        assert.strictEqual(yield* calls, 2)
      }))

    it.effect("layer provides upstream's service", () =>
      LanguageModel.generateText({ prompt: "Hi" }).pipe(
        Effect.map((response) => assert.strictEqual(response.text, "Hello!")),
        Effect.provide(ScriptedModel.layer({ turns: ["Hello!"] }))
      ))
  })
})
