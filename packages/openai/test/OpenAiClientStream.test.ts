/**
 * The events of a response: all of them, as they come, and nothing left behind.
 */
import * as OpenAiClient from "@assent/openai/OpenAiClient"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { getEventListeners } from "node:events"
import type * as Http from "node:http"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { clientOf, completed, delta, eventStream, key, serve, serveSilently, sse } from "./OpenAiClientServer.ts"

const params = { model: "gpt-5.2", input: "hi", stream: true } as const

const textOf = (client: OpenAiClient.Service) =>
  Stream.runFold(
    client.createResponseStream(params),
    () => "",
    (text, event) => event.type === "response.output_text.delta" ? text + event.delta : text
  )

const beginEvents = (response: Http.ServerResponse) =>
  response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders()

const clientAt = (apiUrl: string, options?: Partial<OpenAiClient.Options>) =>
  OpenAiClient.make({ apiKey: Redacted.make(key), apiUrl, maxRetries: 0, ...options })

describe("createResponseStream", () => {
  it.effect("every event, in order, in the chunks they come in", () =>
    Effect.gen(function*() {
      const words = Array.from({ length: 1_000 }, (_, index) => `word${index} `)
      const { client } = yield* clientOf(() =>
        eventStream([words.map((word, index) => sse(delta(word, index))).join(""), sse(completed)])
      )
      const sizes: Array<number> = []
      let text = ""
      yield* Stream.runForEachArray(client.createResponseStream(params), (events) =>
        Effect.sync(() => {
          sizes.push(events.length)
          for (const event of events) if (event.type === "response.output_text.delta") text += event.delta
        }))
      assert.strictEqual(text, words.join(""))
      // Whatever is ready is taken together, and little more than is read ahead.
      assert.isAtMost(sizes.length, 20)
      assert.isAtMost(Math.max(...sizes), 256)
    }))

  it.effect("a character split between two reads is whole", () =>
    Effect.gen(function*() {
      const bytes = new TextEncoder().encode(sse(delta("é→😀")))
      const { client } = yield* clientOf(() =>
        eventStream([...Array.from(bytes, (byte) => Uint8Array.of(byte)), sse(completed)])
      )
      assert.strictEqual(yield* textOf(client), "é→😀")
    }))

  it.effect("comments, blank lines, carriage returns and a last event without its blank line", () =>
    Effect.gen(function*() {
      const { client } = yield* clientOf(() =>
        eventStream([
          ": keep-alive\n\n\n",
          sse(delta("a")).replaceAll("\n", "\r\n"),
          `data: ${JSON.stringify(delta("b"))}\n\n`,
          sse(completed).trimEnd()
        ])
      )
      assert.strictEqual(yield* textOf(client), "ab")
    }))

  it.effect("an unknown event is an event", () =>
    Effect.gen(function*() {
      const { client } = yield* clientOf(() => eventStream([sse({ type: "response.of_tomorrow" }), sse(completed)]))
      const events = yield* Stream.runCollect(client.createResponseStream(params))
      assert.deepStrictEqual(events.map((event): string => event.type), ["response.of_tomorrow", "response.completed"])
    }))

  it.effect.each(["response.completed", "response.failed", "response.incomplete"])(
    "%s ends a response",
    (type) =>
      Effect.gen(function*() {
        const { client } = yield* clientOf(() => eventStream([sse({ ...completed, type })]))
        const events = yield* Stream.runCollect(client.createResponseStream(params))
        assert.strictEqual(events.length, 1)
      })
  )

  it.effect("each run is a request of its own", () =>
    Effect.gen(function*() {
      const { client, requests } = yield* clientOf(() => eventStream([sse(delta("a")), sse(completed)]))
      const stream = client.createResponseStream(params)
      yield* Stream.runDrain(stream)
      yield* Stream.runDrain(stream)
      assert.strictEqual(requests.length, 2)
    }))

  describe("leaving", () => {
    const leaving = (leave: (client: OpenAiClient.Service) => Effect.Effect<unknown, unknown>) =>
      Effect.gen(function*() {
        const closed = yield* Deferred.make<void>()
        const { url } = yield* serve((_, response) => {
          response.on("close", () => Effect.runFork(Deferred.succeed(closed, undefined)))
          beginEvents(response)
          response.write(sse(delta("a")) + sse(delta("b")))
        })
        yield* leave(yield* clientAt(url))
        yield* Deferred.await(closed)
      })

    it.live("a reader who has enough closes the connection", () =>
      leaving((client) => Stream.runDrain(Stream.take(client.createResponseStream(params), 1))))

    it.live("a reader who fails closes the connection", () =>
      leaving((client) =>
        Effect.exit(Stream.runForEach(client.createResponseStream(params), () => Effect.fail("enough")))
      ))

    it.live("a reader who is interrupted while he waits closes the connection", () =>
      leaving((client) =>
        Effect.gen(function*() {
          const seen = yield* Deferred.make<void>()
          const fiber = yield* client.createResponseStream(params).pipe(
            Stream.runForEach(() => Deferred.succeed(seen, undefined)),
            Effect.forkChild
          )
          yield* Deferred.await(seen)
          yield* Fiber.interrupt(fiber)
        })
      ))

    it.live("before the response begins", () =>
      Effect.gen(function*() {
        const { arrived, closed, url } = yield* serveSilently
        const client = yield* clientAt(url)
        const fiber = yield* Effect.forkChild(Stream.runDrain(client.createResponseStream(params)))
        yield* arrived
        yield* Fiber.interrupt(fiber)
        yield* closed
      }))
  })

  describe("a server that fails", () => {
    it.live("a connection that breaks", () =>
      Effect.gen(function*() {
        const { url } = yield* serve((_, response) => {
          beginEvents(response)
          response.write(sse(delta("a")), () => response.destroy())
        })
        const seen: Array<string> = []
        const error = yield* (yield* clientAt(url)).createResponseStream(params).pipe(
          Stream.runForEach((event) => Effect.sync(() => seen.push(event.type))),
          Effect.flip
        )
        assert.deepStrictEqual(seen, ["response.output_text.delta"])
        assert.strictEqual(error.reason._tag, "NetworkError")
        assert.isTrue(error.isRetryable)
      }))

    it.live("a connection that breaks after the last event is no failure", () =>
      Effect.gen(function*() {
        const { url } = yield* serve((_, response) => {
          beginEvents(response)
          response.write(sse(delta("a")) + sse(completed), () => response.destroy())
        })
        assert.strictEqual(yield* textOf(yield* clientAt(url)), "a")
      }))

    it.live("one that never ends the connection is left after the last event", () =>
      Effect.gen(function*() {
        const closed = yield* Deferred.make<void>()
        const { url } = yield* serve((_, response) => {
          response.on("close", () => Effect.runFork(Deferred.succeed(closed, undefined)))
          beginEvents(response)
          response.write(sse(delta("a")) + sse(completed))
        })
        assert.strictEqual(yield* textOf(yield* clientAt(url)), "a")
        yield* Deferred.await(closed)
      }))

    it.effect("one that falls silent", () =>
      Effect.gen(function*() {
        const begun = yield* Deferred.make<void>()
        const { client, requests } = yield* clientOf(
          ({ signal }) => eventStream([sse(delta("a"))], { ends: false, signal }),
          { timeout: "30 seconds" }
        )
        const fiber = yield* client.createResponseStream(params).pipe(
          Stream.runForEach(() => Deferred.succeed(begun, undefined)),
          Effect.flip,
          Effect.forkChild
        )
        yield* Deferred.await(begun)
        // Until the reader waits for the next event.
        yield* Effect.yieldNow
        yield* TestClock.adjust("29 seconds")
        assert.isUndefined(fiber.pollUnsafe())
        yield* TestClock.adjust("31 seconds")
        const error = yield* Fiber.join(fiber)
        assert.strictEqual(error.reason._tag, "NetworkError")
        assert.match(error.message, /Nothing was received within 30s/)
        assert.isTrue(requests[0]!.signal!.aborted)
      }))

    it.effect("a slow reader is not a silent server", () =>
      Effect.gen(function*() {
        const { client } = yield* clientOf(() => eventStream([sse(delta("a")), sse(completed)]), {
          timeout: "1 second"
        })
        const fiber = yield* client.createResponseStream(params).pipe(
          Stream.runForEach(() => Effect.sleep("1 minute")),
          Effect.forkChild
        )
        for (let step = 0; step < 20; step++) {
          yield* TestClock.adjust("10 seconds")
          yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
        }
        yield* Fiber.join(fiber)
      }))
  })

  describe("what it holds", () => {
    it.live("a slow reader is waited for: little is read ahead", () =>
      Effect.gen(function*() {
        let pulled = 0
        const { client } = yield* clientOf(() => {
          const encoder = new TextEncoder()
          const body = new ReadableStream<Uint8Array>({
            pull: (controller) => {
              pulled++
              controller.enqueue(encoder.encode(sse(delta("x", pulled))))
            }
          }, { highWaterMark: 0 })
          return new Response(body, { headers: { "content-type": "text/event-stream" } })
        })
        let seen = 0
        yield* client.createResponseStream(params).pipe(
          Stream.take(1_000),
          Stream.runForEachArray((events) =>
            Effect.suspend(() => {
              seen += events.length
              assert.isAtMost(pulled - seen, 130)
              return Effect.sleep("1 millis")
            })
          )
        )
        assert.strictEqual(seen, 1_000)
        assert.isAtMost(pulled, 1_300)
      }))

    it.live("memory does not grow with the length of a stream", () =>
      Effect.gen(function*() {
        setFlagsFromString("--expose-gc")
        const collect: () => void = runInNewContext("gc")
        let sent = 0
        const encoder = new TextEncoder()
        const { client } = yield* clientOf(() =>
          new Response(
            new ReadableStream<Uint8Array>({
              pull: (controller) => {
                let text = ""
                for (let event = 0; event < 50; event++) text += sse(delta("word ".repeat(20), sent++))
                controller.enqueue(encoder.encode(text))
              }
            }),
            { headers: { "content-type": "text/event-stream" } }
          )
        )
        let seen = 0
        const heap: Array<number> = []
        yield* client.createResponseStream(params).pipe(
          Stream.take(100_000),
          Stream.runForEachArray((events) =>
            Effect.sync(() => {
              const before = seen
              seen += events.length
              if (Math.floor(before / 20_000) === Math.floor(seen / 20_000)) return
              collect()
              heap.push(process.memoryUsage().heapUsed / 1_000_000)
            })
          )
        )
        assert.strictEqual(heap.length, 5)
        assert.isBelow(heap.at(-1)! - heap[0]!, 3, `megabytes: ${heap.join(", ")}`)
      }), 30_000)

    it.live("a stream that was read to its end leaves its connection for the next, and no listener", () =>
      Effect.gen(function*() {
        const connections = new Set<unknown>()
        const signals: Array<AbortSignal> = []
        const { url } = yield* serve((request, response) => {
          connections.add(request.socket)
          beginEvents(response)
          response.end(sse(delta("a")) + sse(completed))
        })
        const client = yield* clientAt(url, {
          fetch: (input, init) => {
            signals.push(init!.signal!)
            return fetch(input, init)
          }
        })
        for (let turn = 0; turn < 5; turn++) {
          yield* textOf(client)
          yield* Effect.sleep("10 millis")
        }
        assert.strictEqual(connections.size, 1)
        assert.deepStrictEqual(signals.map((signal) => getEventListeners(signal, "abort").length), [0, 0, 0, 0, 0])
      }))

    it.live("200 streams at once leave no connection, timer or listener behind", () =>
      Effect.gen(function*() {
        const warnings: Array<string> = []
        const warn = (warning: Error) => warnings.push(warning.message)
        process.on("warning", warn)
        let open = 0
        const { url } = yield* serve((_, response) => {
          open++
          response.on("close", () => open--)
          beginEvents(response)
          response.write(sse(delta("a")))
          // Every other one is finished by the server; the rest are left by the reader.
          if (open % 2 === 0) response.end(sse(completed))
        })
        const client = yield* clientAt(url)
        const turn = (count: number) =>
          Effect.forEach(
            Array.from({ length: count }, (_, index) => index),
            (index) =>
              Stream.runDrain(Stream.take(client.createResponseStream(params), index % 3 === 0 ? 1 : 2)).pipe(
                Effect.timeoutOption("500 millis")
              ),
            { concurrency: "unbounded", discard: true }
          )
        const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length
        yield* turn(5)
        yield* settled(() => open === 0)
        const before = timers()
        yield* turn(200)
        yield* settled(() => open === 0)
        yield* settled(() => timers() <= before + 5)
        process.off("warning", warn)
        assert.deepStrictEqual(warnings, [])
      }), 30_000)
  })
})

/** Waits for what other parts of the process do in their own time. */
const settled = (condition: () => boolean): Effect.Effect<void> =>
  Effect.gen(function*() {
    for (let attempt = 0; attempt < 500; attempt++) {
      if (condition()) return
      yield* Effect.sleep("10 millis")
    }
    assert.fail(`not settled: ${condition.toString()}`)
  })
