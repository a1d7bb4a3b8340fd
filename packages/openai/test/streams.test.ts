/** Streams: what comes when, who may leave, and what a broken one says. */
import { AiError, LanguageModel, type Response } from "@assent/ai"
import { ResponsesServer } from "@assent/openai/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import * as C from "./conversation.ts"

type Conversation = Effect.Success<ReturnType<typeof C.start>>

const way = "streamText"

const parts = (chat: Conversation, prompt = "hi") =>
  LanguageModel.streamText({ prompt, toolkit: chat.toolkit }).pipe(
    Stream.provideService(LanguageModel.LanguageModel, chat.model)
  ) as Stream.Stream<Response.AnyPart, AiError.AiError>

/** What came before a stream failed, and how. */
const broken = Effect.fnUntraced(function*(chat: Conversation) {
  const seen: Array<Response.AnyPart> = []
  const error = yield* Effect.flip(Stream.runForEach(parts(chat), (part) => Effect.sync(() => seen.push(part))))
  assert.isTrue(AiError.isAiError(error))
  return { error, seen, text: seen.map((part) => part.type === "text-delta" ? part.delta : "").join("") }
})

const types = (parts: ReadonlyArray<Response.AnyPart>) => parts.map((part) => part.type)

describe("a stream", () => {
  it.live("begins, goes on and ends as OpenAI says it", () =>
    C.fresh(Effect.gen(function*() {
      const chat = yield* C.start({
        way,
        tools: "local",
        deltaSize: 4,
        turns: [[
          ResponsesServer.reasoning(["One.", "Two."]),
          ResponsesServer.text("Hello."),
          ResponsesServer.functionCall({ name: "Add", params: { a: 1, b: 2 } })
        ]]
      })
      const all = yield* Stream.runCollect(parts(chat))
      assert.deepStrictEqual(types(all).filter((type, index, types) => type !== types[index - 1]), [
        "response-metadata",
        "reasoning-start",
        "reasoning-delta",
        "reasoning-end",
        "reasoning-start",
        "reasoning-delta",
        "reasoning-end",
        "text-start",
        "text-delta",
        "text-end",
        "tool-params-start",
        "tool-params-delta",
        "tool-params-end",
        "tool-call",
        "tool-result",
        "finish"
      ])
      const params = all.flatMap((part) => part.type === "tool-params-delta" ? [part.delta] : [])
      assert.strictEqual(params.join(""), `{"a":1,"b":2}`)
      assert.isAbove(params.length, 1)
      const ids = new Set(all.flatMap((part) => "id" in part && part.type.startsWith("tool-") ? [part.id] : []))
      assert.strictEqual(ids.size, 1, "a call has one id from its first letter to its result")
    })))

  it.live("shows a hosted call as soon as it begins", () =>
    C.fresh(Effect.gen(function*() {
      const chat = yield* C.start({ way, tools: "trusting", turns: [[C.roll(6)]] })
      const all = yield* Stream.runCollect(parts(chat))
      assert.deepStrictEqual(types(all), [
        "response-metadata",
        "reasoning-start",
        "reasoning-end",
        "tool-params-start",
        "tool-params-end",
        "tool-call",
        "tool-result",
        "finish"
      ])
    })))

  it.live("gives each delta as it comes, and does not wait for the end", () =>
    C.fresh(Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      const chat = yield* C.startPlain(way, [[
        ResponsesServer.text("Hello."),
        ResponsesServer.pause(Deferred.await(gate)),
        ResponsesServer.text("More.")
      ]])
      let text = ""
      yield* Stream.runForEach(parts(chat), (part) => {
        if (part.type === "text-delta") text += part.delta
        return text === "Hello." ? Deferred.succeed(gate, undefined) : Effect.void
      })
      assert.strictEqual(text, "Hello.More.")
    })))

  it.live("that nobody reads any more closes its connection", () =>
    C.fresh(Effect.gen(function*() {
      const chat = yield* C.startPlain(way, [[ResponsesServer.text("Hello."), ResponsesServer.stall()]])
      const first = yield* Stream.runCollect(
        Stream.take(Stream.filter(parts(chat), (part) => part.type === "text-delta"), 1)
      )
      assert.strictEqual(first.length, 1)
      yield* chat.server.idle
      assert.strictEqual((yield* chat.server.responses)[0]!.ended, "left")
    })))

  it.live("that is interrupted closes its connection", () =>
    C.fresh(Effect.gen(function*() {
      const begun = yield* Deferred.make<void>()
      const chat = yield* C.startPlain(way, [[ResponsesServer.text("Hello."), ResponsesServer.stall()]])
      const fiber = yield* Effect.forkChild(
        Stream.runForEach(parts(chat), (part) =>
          part.type === "text-delta" ? Deferred.succeed(begun, undefined) : Effect.void)
      )
      yield* Deferred.await(begun)
      yield* Fiber.interrupt(fiber)
      yield* chat.server.idle
      assert.strictEqual((yield* chat.server.responses)[0]!.ended, "left")
    })))

  it.live("a whole response that is interrupted closes its connection", () =>
    C.fresh(Effect.gen(function*() {
      const asked = yield* Deferred.make<void>()
      const chat = yield* C.startPlain("generateText", [[
        ResponsesServer.pause(Deferred.succeed(asked, undefined)),
        ResponsesServer.stall()
      ]])
      const fiber = yield* Effect.forkChild(chat.send("hi"))
      yield* Deferred.await(asked)
      yield* Fiber.interrupt(fiber)
      yield* chat.server.idle
      assert.strictEqual((yield* chat.server.responses)[0]!.ended, "left")
    })))
})

describe("many streams", () => {
  it.live("at once, read or left, leave no connection behind", () =>
    C.fresh(Effect.gen(function*() {
      const chat = yield* C.start({
        way,
        tools: "none",
        record: false,
        turns: [],
        afterLastTurn: ({ params }) => [
          ResponsesServer.text("Hello there."),
          ...(JSON.stringify(params.input).includes("stall") ? [ResponsesServer.stall()] : [])
        ]
      })
      const counts = yield* Effect.forEach(
        Array.from({ length: 200 }, (_, index) => index),
        (index) =>
          Effect.map(
            Stream.runCollect(index % 2 === 0 ? parts(chat) : Stream.take(parts(chat, "stall"), 3)),
            (all) => all.length
          ),
        { concurrency: "unbounded" }
      )
      assert.isTrue(counts.every((count, index) => index % 2 === 0 ? count > 5 : count === 3))
      yield* chat.server.idle
      // Those that were read to the end are kept for the next request.
      yield* Effect.repeat(chat.server.connections, {
        until: ({ closed, open }) => closed >= 100 && open <= 100,
        schedule: Schedule.spaced("10 millis")
      })
    })), 30_000)
})

describe("a stream that breaks", () => {
  for (const how of ["destroy", "end"] as const) {
    it.live(`by ${how} is an error, after what had come`, () =>
      C.fresh(Effect.gen(function*() {
        const chat = yield* C.startPlain(way, [[ResponsesServer.text("Hello."), ResponsesServer.cut({ how })]])
        const { error, text } = yield* broken(chat)
        assert.strictEqual(text, "Hello.")
        assert.strictEqual(error.reason._tag, "NetworkError")
      })))
  }

  it.live("by an error of OpenAI's is that error, after what had come", () =>
    C.fresh(Effect.gen(function*() {
      const chat = yield* C.startPlain(way, [[
        ResponsesServer.text("Hello."),
        ResponsesServer.streamError(
          ResponsesServer.apiError({ status: 500, message: "Sorry.", type: "server_error", code: "server_error" })
        )
      ]])
      const { error, text } = yield* broken(chat)
      assert.strictEqual(text, "Hello.")
      assert.strictEqual(error.reason._tag, "InternalProviderError")
    })))

  it.live("runs none of its calls", () =>
    C.fresh(Effect.gen(function*() {
      const chat = yield* C.start({
        way,
        tools: "local",
        turns: [[
          ResponsesServer.functionCall({ name: "Delete", params: { path: "a", force: null } }),
          ResponsesServer.cut()
        ]]
      })
      const { seen } = yield* broken(chat)
      assert.isFalse(seen.some((part) => part.type === "tool-approval-request" || part.type === "finish"))
      assert.deepStrictEqual(chat.runs, [])
    })))
})
