/** What one event of a response may be: as large as it likes, an end that is none, or an error. */
import type * as OpenAiClient from "@assent/openai/OpenAiClient"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { clientOf, completed, delta, eventStream, sse } from "./OpenAiClientServer.ts"

const params = { model: "gpt-5.2", input: "hi", stream: true } as const

const textOf = (client: OpenAiClient.Service) =>
  Stream.runFold(
    client.createResponseStream(params),
    () => "",
    (text, event) => event.type === "response.output_text.delta" ? text + event.delta : text
  )

describe("createResponseStream", () => {
  it.effect("an event of many megabytes, as a picture is", () =>
    Effect.gen(function*() {
      const picture = "iVBORw0KGgo".repeat(1_000_000)
      const bytes = new TextEncoder().encode(sse(delta(picture)))
      const { client } = yield* clientOf(() =>
        eventStream([
          ...Array.from(
            { length: Math.ceil(bytes.length / 65_536) },
            (_, index) => bytes.slice(index * 65_536, (index + 1) * 65_536)
          ),
          sse(completed)
        ])
      )
      assert.isTrue((yield* textOf(client)) === picture)
    }))

  it.effect("what was sent as a word is the end: [DONE] after the last event is none", () =>
    Effect.gen(function*() {
      const { client } = yield* clientOf(() => eventStream([sse(delta("a")), sse(completed), "data: [DONE]\n\n"]))
      assert.strictEqual(yield* textOf(client), "a")
      const cut = yield* clientOf(() => eventStream([sse(delta("a")), "data: [DONE]\n\n", sse(completed)]))
      assert.match((yield* Effect.flip(textOf(cut.client))).message, /ended before the response was complete/)
    }))

  it.effect.each<[what: string, event: object]>([
    ["of no type", { error: { code: "server_error", message: "it broke" } }],
    ["of one sentence", { error: "it broke" }],
    ["without an object of its own", { type: "error", code: "server_error", message: "it broke" }]
  ])("an error %s, after what came before it", ([, event]) =>
    Effect.gen(function*() {
      const { client } = yield* clientOf(() =>
        eventStream([`${sse(delta("a"))}data: ${JSON.stringify(event)}\n\n`, sse(completed)])
      )
      const seen: Array<string> = []
      const error = yield* client.createResponseStream(params).pipe(
        Stream.runForEach((event) => Effect.sync(() => seen.push(event.type))),
        Effect.flip
      )
      assert.deepStrictEqual(seen, ["response.output_text.delta"])
      assert.include(error.message, "it broke")
    }))
})
