import { ResponsesServer } from "@assent/openai/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import OpenAI, { APIConnectionError, RateLimitError } from "openai"
import { create, model, refused, setup, stream } from "./support.ts"

const { bytes, cut, halfCharacter, pause, stall, streamError, text } = ResponsesServer

/** The body of a streamed answer as bytes, and whether it ended as it should. */
const raw = (server: ResponsesServer.Service, params: object) =>
  Effect.promise(async () => {
    const reply = await fetch(`${server.url}/responses`, {
      method: "POST",
      headers: { authorization: "Bearer sk-test" },
      body: JSON.stringify({ model, input: "Go", ...params })
    })
    const chunks: Array<Uint8Array> = []
    try {
      for await (const chunk of reply.body ?? []) chunks.push(chunk)
      return { whole: true, bytes: Buffer.concat(chunks) }
    } catch {
      return { whole: false, bytes: Buffer.concat(chunks) }
    }
  })

describe("ResponsesServer: errors of the API", () => {
  it.effect("a rate limit says when to come back, and the SDK does", () =>
    Effect.gen(function*() {
      const { client, server } = yield* setup({
        turns: [ResponsesServer.rateLimit({ retryAfterMs: 1 }), ResponsesServer.rateLimit({ retryAfterMs: 1500 }), "Ok"]
      })
      const response = yield* Effect.promise(() =>
        client.responses.create({ model, input: "Hi" }, { maxRetries: 0 }).catch((error: unknown) => error)
      )
      assert.instanceOf(response, RateLimitError)
      assert.strictEqual(response.headers.get("retry-after"), "1")
      assert.strictEqual(response.headers.get("retry-after-ms"), "1")
      assert.strictEqual(response.headers.get("x-ratelimit-remaining-tokens"), "0")
      assert.strictEqual(response.code, "rate_limit_exceeded")
      assert.strictEqual(response.type, "tokens")
      const [, second] = [yield* server.responses, yield* refused(create(client, { input: "Hi" }))]
      assert.include(second.message, "Please try again in 1500ms.")
      yield* create(client, { input: "Hi" })
      const { client: other } = yield* setup({ turns: [ResponsesServer.rateLimit({ retryAfterMs: 1 }), "Ok"] })
      const again = yield* Effect.promise(() => other.responses.create({ model, input: "Hi" }, { maxRetries: 1 }))
      assert.strictEqual(again.output_text, "Ok")
    }))

  const errors: ReadonlyArray<readonly [string, ResponsesServer.ApiError, number, string | null, string]> = [
    ["no quota", ResponsesServer.insufficientQuota(), 429, "insufficient_quota", "You exceeded your current quota"],
    ["a long context", ResponsesServer.contextLengthExceeded(), 400, "context_length_exceeded", "context window"],
    ["a server that fails", ResponsesServer.serverError(), 500, null, "The server had an error"],
    ["a server that is overloaded", ResponsesServer.overloaded(), 503, null, "currently overloaded"]
  ]
  for (const [name, error, status, code, message] of errors) {
    it.effect(`${name}: at once, as a stream, and in the middle of one`, () =>
      Effect.gen(function*() {
        const { client } = yield* setup({ turns: [error, error, [text("Hel"), streamError(error)]] })
        for (
          const refusal of [
            yield* refused(create(client, { input: "Hi" })),
            yield* refused(stream(client, { input: "Hi" }))
          ]
        ) {
          assert.strictEqual(refusal.status, status)
          assert.strictEqual(refusal.code, code)
          assert.include(refusal.message, message)
        }
        const late = yield* refused(stream(client, { input: "Hi" }))
        assert.strictEqual(late.status, undefined)
        assert.strictEqual(late.code, code)
        assert.include(late.message, message)
      }))
  }

  it.effect("an error in a stream is nested as it was recorded, or flat as it is documented, then the response failed", () =>
    Effect.gen(function*() {
      const error = ResponsesServer.serverError()
      const { client, server } = yield* setup({
        turns: [[streamError(error)], [streamError(error, { shape: "flat" })], [text("Hi"), streamError(error)]]
      })
      const nested = (yield* raw(server, { stream: true })).bytes.toString()
      assert.include(nested, "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"server_error\"")
      assert.include(nested, "event: response.failed\n")
      const flat = (yield* raw(server, { stream: true })).bytes.toString()
      assert.include(flat, "data: {\"type\":\"error\",\"code\":null,\"message\":\"The server had an error")
      const atOnce = yield* refused(create(client, { input: "Hi" }))
      assert.strictEqual(atOnce.status, 500)
    }))
})

describe("ResponsesServer: broken connections", () => {
  it.effect("cut in the middle of a stream, with what was said before", () =>
    Effect.gen(function*() {
      const { server } = yield* setup({
        turns: [[text("Hello"), cut()], [text("Hello"), cut({ how: "end" })], [text("Hello"), cut({ afterEvents: 3 })]]
      })
      const broken = yield* raw(server, { stream: true })
      assert.isFalse(broken.whole)
      assert.include(broken.bytes.toString(), "\"delta\":\"Hello\"")
      assert.notInclude(broken.bytes.toString(), "response.completed")
      const ended = yield* raw(server, { stream: true })
      assert.isTrue(ended.whole)
      assert.notInclude(ended.bytes.toString(), "response.completed")
      const early = yield* raw(server, { stream: true })
      assert.deepStrictEqual(early.bytes.toString().match(/^event: .*$/gm), [
        "event: response.created",
        "event: response.in_progress",
        "event: response.output_item.added"
      ])
      yield* server.idle
      assert.deepStrictEqual((yield* server.responses).map((response) => response.ended), ["cut", "cut", "cut"])
    }))

  it.effect("cut in the middle of a body, and before a byte was sent", () =>
    Effect.gen(function*() {
      const { client, server } = yield* setup({ turns: [[text("Hello"), cut()], [cut({ beforeHeaders: true })]] })
      const broken = yield* raw(server, {})
      assert.isFalse(broken.whole)
      const error = yield* Effect.flip(create(client, { input: "Hi" }))
      assert.instanceOf(error, APIConnectionError)
    }))

  it.effect("garbage between events, or instead of a body", () =>
    Effect.gen(function*() {
      const { client, server } = yield* setup({
        turns: [[bytes("data: {oops\n\n"), text("Hi")], [bytes("data: {oops\n\n")], [bytes("<html>")]]
      })
      const all = yield* raw(server, { stream: true })
      assert.include(all.bytes.toString(), "data: {oops\n\nevent: response.output_item.added")
      yield* Effect.flip(stream(client, { input: "Hi" }))
      assert.strictEqual((yield* raw(server, {})).bytes.toString(), "<html>")
    }))

  it.effect("half a character, at the end of a body that ends well or does not", () =>
    Effect.gen(function*() {
      const { server } = yield* setup({
        turns: [[text("Hi"), halfCharacter()], [halfCharacter({ how: "destroy" })], [halfCharacter()]]
      })
      for (const [whole, params] of [[true, { stream: true }], [false, { stream: true }], [true, {}]] as const) {
        const answer = yield* raw(server, params)
        assert.strictEqual(answer.whole, whole)
        assert.deepStrictEqual([...answer.bytes.subarray(-2)], [0xe2, 0x82])
      }
    }))

  it.effect("a stall lasts until the client goes, and the server sees it go", () =>
    Effect.gen(function*() {
      const { client, server } = yield* setup({ turns: [[text("Hello"), stall()], [stall({ beforeHeaders: true })]] })
      const response = yield* Effect.promise(() => client.responses.create({ model, input: "Hi", stream: true }))
      const said = yield* Effect.promise(async () => {
        for await (const event of response) if (event.type === "response.output_text.done") return event.text
        return undefined
      })
      // Leaving the loop aborts the request.
      assert.strictEqual(said, "Hello")
      yield* server.idle
      assert.strictEqual((yield* server.responses)[0]?.ended, "left")
      assert.strictEqual((yield* server.connections).open, 0)

      const controller = new AbortController()
      const pending = Effect.tryPromise({
        try: () => client.responses.create({ model, input: "Hi" }, { signal: controller.signal }),
        catch: (error) => error
      })
      const fiber = yield* Effect.forkChild(Effect.flip(pending))
      yield* Effect.promise(async () => {
        while ((await Effect.runPromise(server.calls)) < 2) await new Promise((resolve) => setImmediate(resolve))
      })
      controller.abort()
      yield* Fiber.join(fiber)
      yield* server.idle
      assert.deepInclude(yield* server.connections, { opened: 2, closed: 2, open: 0 })
    }))

  it.effect("a pause holds a stream until the test lets it go on", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      const { client } = yield* setup({ turns: [[text("One"), pause(Deferred.await(gate)), text("Two")]] })
      const response = yield* Effect.promise(() => client.responses.create({ model, input: "Hi", stream: true }))
      const texts = yield* Effect.promise(async () => {
        const texts: Array<string> = []
        for await (const event of response) {
          if (event.type !== "response.output_text.done") continue
          texts.push(event.text)
          Effect.runSync(Deferred.succeed(gate, undefined))
        }
        return texts
      })
      assert.deepStrictEqual(texts, ["One", "Two"])
    }))

  it.effect("what a stream waits for is interrupted when the client goes", () =>
    Effect.gen(function*() {
      const interrupted = yield* Deferred.make<void>()
      const waiting = Effect.onInterrupt(Effect.never, () => Deferred.succeed(interrupted, undefined))
      const { client } = yield* setup({ turns: [[text("One"), pause(waiting)]] })
      const response = yield* Effect.promise(() => client.responses.create({ model, input: "Hi", stream: true }))
      yield* Effect.promise(async () => {
        for await (const event of response) if (event.type === "response.output_text.done") break
      })
      yield* Deferred.await(interrupted)
    }))

  it.effect("a script that throws is told to the test, and nobody waits for ever", () =>
    Effect.gen(function*() {
      const { client } = yield* setup({
        turns: [() => {
          throw new Error("the script is wrong")
        }]
      })
      const error = yield* refused(create(client, { input: "Hi" }))
      assert.strictEqual(error.status, 500)
      assert.include(error.message, "the script is wrong")
    }))

  it.effect("closing its scope closes every socket, also of those it holds", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const server = yield* ResponsesServer.make({ turns: [], afterLastTurn: [text("Hi"), stall()] }).pipe(
        Scope.provide(scope)
      )
      const client = new OpenAI({ apiKey: server.apiKey, baseURL: server.url, maxRetries: 0 })
      const streams = yield* Effect.promise(() =>
        Promise.all(Array.from({ length: 20 }, () => client.responses.create({ model, input: "Hi", stream: true })))
      )
      assert.strictEqual((yield* server.connections).open, 20)
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(yield* server.connections, { opened: 20, closed: 20, open: 0, unused: 0 })
      for (const response of streams) {
        yield* Effect.promise(async () => {
          await response[Symbol.asyncIterator]().return?.()
        })
      }
    }))

  it.effect("200 streams at once, each whole, and no socket is left in use", () =>
    Effect.gen(function*() {
      const { client, server } = yield* setup({ turns: [], afterLastTurn: "A text of some length, for each of them." })
      const all = yield* Effect.forEach(Array.from({ length: 200 }), () => stream(client, { input: "Hi" }), {
        concurrency: "unbounded"
      })
      assert.isTrue(all.every((events) => events.at(-1)?.type === "response.completed"))
      yield* server.idle
      assert.isTrue((yield* server.responses).every((response) => response.ended === "done"))
      assert.strictEqual(yield* server.calls, 200)
    }))
})
