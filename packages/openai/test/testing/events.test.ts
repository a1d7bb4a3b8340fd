import { ResponsesServer } from "@assent/openai/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Responses from "openai/resources/responses/responses"
import { create, model, setup, stream } from "./support.ts"

const sizes = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

/** The types of a stream's events, without its beginning and its end, and equal neighbours as one. */
const shape = (events: ReadonlyArray<Responses.ResponseStreamEvent>): ReadonlyArray<string> =>
  events.slice(2, -1).map((event) => event.type.replace("response.", ""))
    .filter((type, index, all) => type !== all[index - 1])

const include: Array<Responses.ResponseIncludable> = [
  "reasoning.encrypted_content",
  "file_search_call.results",
  "code_interpreter_call.outputs",
  "web_search_call.action.sources"
]

const { codeInterpreter, fileSearch, functionCall, imageGeneration, reasoning, refusal, text, webSearch } =
  ResponsesServer

const cases: ReadonlyArray<readonly [string, ResponsesServer.TurnPart, ReadonlyArray<string>]> = [
  [
    "text with annotations",
    text("See there.", {
      annotations: [{ type: "url_citation", url: "https://a.example", title: "A", start_index: 0, end_index: 3 }]
    }),
    [
      "output_item.added",
      "content_part.added",
      "output_text.delta",
      "output_text.annotation.added",
      "output_text.done",
      "content_part.done",
      "output_item.done"
    ]
  ],
  ["a refusal", refusal("I will not do that."), [
    "output_item.added",
    "content_part.added",
    "refusal.delta",
    "refusal.done",
    "content_part.done",
    "output_item.done"
  ]],
  ["reasoning", reasoning("Let me think."), [
    "output_item.added",
    "reasoning_summary_part.added",
    "reasoning_summary_text.delta",
    "reasoning_summary_text.done",
    "reasoning_summary_part.done",
    "output_item.done"
  ]],
  ["reasoning without a summary", reasoning(), ["output_item.added", "output_item.done"]],
  ["a function call", functionCall({ name: "look", params: { at: "it" } }), [
    "output_item.added",
    "function_call_arguments.delta",
    "function_call_arguments.done",
    "output_item.done"
  ]],
  ["a web search", webSearch({ query: "effect", sources: ["https://effect.website"] }), [
    "output_item.added",
    "web_search_call.in_progress",
    "web_search_call.searching",
    "web_search_call.completed",
    "output_item.done"
  ]],
  ["a file search", fileSearch({ queries: ["effect"], results: [{ file_id: "file-1", text: "text" }] }), [
    "output_item.added",
    "file_search_call.in_progress",
    "file_search_call.searching",
    "file_search_call.completed",
    "output_item.done"
  ]],
  ["code", codeInterpreter({ code: "print(1)", logs: "1" }), [
    "output_item.added",
    "code_interpreter_call.in_progress",
    "code_interpreter_call_code.delta",
    "code_interpreter_call_code.done",
    "code_interpreter_call.interpreting",
    "code_interpreter_call.completed",
    "output_item.done"
  ]],
  ["an image", imageGeneration({ result: "aGk=" }), [
    "output_item.added",
    "image_generation_call.in_progress",
    "image_generation_call.generating",
    "image_generation_call.partial_image",
    "image_generation_call.completed",
    "output_item.done"
  ]],
  ["an item of a type nobody knows", ResponsesServer.item({ type: "hologram_call", beam: 3 }), [
    "output_item.added",
    "output_item.done"
  ]]
]

describe("ResponsesServer: events", () => {
  for (const [name, item, expected] of cases) {
    it.effect(`${name} is streamed in OpenAI's order, and ends as the same response at once`, () =>
      Effect.gen(function*() {
        const { client } = yield* setup({ turns: [[item]] })
        const events = yield* stream(client, { input: "Go", include })
        assert.deepStrictEqual(shape(events), expected)
        assert.deepStrictEqual(events.map((event) => event.sequence_number), events.map((_, index) => index))
        const last = events.at(-1)
        assert(last?.type === "response.completed")

        const other = yield* setup({ turns: [[item]] })
        const response = yield* create(other.client, { input: "Go", include })
        assert.deepStrictEqual<unknown>(last.response.output, response.output)
        const done = events.filter((event) => event.type === "response.output_item.done").map((event) => event.item)
        assert.deepStrictEqual(done, response.output)
      }))
  }

  it.effect("deltas together are the text, however small they are and wherever the network cuts them", () =>
    Effect.gen(function*() {
      const words = "Grüße an 👩‍👩‍👧 für 3 € – これで終わり"
      for (const [deltaSize, chunkBytes] of [[1, 1], [2, 3], [100, 7], [5, undefined]] as const) {
        const { client } = yield* setup({ turns: [words], deltaSize, chunkBytes })
        const events = yield* stream(client, { input: "Go" })
        const deltas = events.filter((event) => event.type === "response.output_text.delta").map((event) => event.delta)
        assert.strictEqual(deltas.join(""), words)
        assert.strictEqual(deltas.length, Math.ceil(Array.from(words).length / deltaSize))
      }
    }))

  it.effect.prop(
    "whatever the text, the deltas and the network: what arrives is what was said",
    { words: Schema.String, deltaSize: sizes(1, 9), chunkBytes: sizes(3, 99) },
    ({ chunkBytes, deltaSize, words }) =>
      Effect.gen(function*() {
        const { client } = yield* setup({
          turns: [[text(words), functionCall({ name: "look", params: { words } })]],
          deltaSize,
          chunkBytes
        })
        const events = yield* stream(client, { input: "Go" })
        const last = events.at(-1)
        assert(last?.type === "response.completed")
        const texts = events.flatMap((event) => event.type === "response.output_text.delta" ? [event.delta] : [])
        const calls = events.flatMap((event) =>
          event.type === "response.function_call_arguments.delta" ? [event.delta] : []
        )
        assert.strictEqual(texts.join(""), words)
        assert.strictEqual(calls.join(""), JSON.stringify({ words }))
      }),
    { timeout: 20_000, arbitrary: { runs: 25, seed: "events" } }
  )

  it.effect("a character is really cut in two on the wire", () =>
    Effect.gen(function*() {
      const { server } = yield* setup({ turns: ["€€€€€€€€"], chunkBytes: 2 })
      const chunks = yield* Effect.promise(async () => {
        const reply = await fetch(`${server.url}/responses`, {
          method: "POST",
          headers: { authorization: "Bearer sk-test" },
          body: JSON.stringify({ model, input: "Go", stream: true })
        })
        const chunks: Array<Uint8Array> = []
        for await (const chunk of reply.body ?? []) chunks.push(chunk)
        return chunks
      })
      const broken = chunks.filter((chunk) => new TextDecoder().decode(chunk).includes("\ufffd"))
      assert.isAbove(broken.length, 0)
    }))

  it.effect("pads deltas unless it is told not to", () =>
    Effect.gen(function*() {
      const { client } = yield* setup({ turns: ["Hi", "Hi"] })
      const padded = yield* stream(client, { input: "Go" })
      const plain = yield* stream(client, { input: "Go", stream_options: { include_obfuscation: false } })
      const has = (events: ReadonlyArray<object>) => events.some((event) => "obfuscation" in event)
      assert.isTrue(has(padded))
      assert.isFalse(has(plain))
    }))

  it.effect("what is sent only when it is included is left out without it", () =>
    Effect.gen(function*() {
      const parts = [
        reasoning("Hm"),
        fileSearch({ queries: ["a"], results: [{ text: "b" }] }),
        codeInterpreter({ code: "1", logs: "1" }),
        webSearch({ query: "a", sources: ["https://a.example"] })
      ]
      const { client } = yield* setup({ turns: [parts, parts] })
      const without = yield* create(client, { input: "Go" })
      assert.notInclude(JSON.stringify(without.output), "encrypted_content")
      assert.notInclude(JSON.stringify(without.output), "sources")
      assert.deepInclude(without.output[1], { results: null })
      assert.deepInclude(without.output[2], { outputs: null })
      const all = yield* create(client, { input: "Go", include })
      assert.include(JSON.stringify(all.output[0]), "encrypted_content")
      assert.deepInclude(all.output[1], { results: [{ text: "b" }] })
      assert.deepInclude(all.output[2], { outputs: [{ type: "logs", logs: "1" }] })
      assert.include(JSON.stringify(all.output[3]), "https://a.example")
    }))

  it.effect("a response may be incomplete or failed, and says what it cost", () =>
    Effect.gen(function*() {
      const { incomplete, failed, usage } = ResponsesServer
      const { client } = yield* setup({
        turns: [
          [
            text("Half a sen"),
            incomplete("max_output_tokens"),
            usage({ input: 7, output: 16, cached: 3, reasoning: 2 })
          ],
          [text("No"), incomplete("content_filter")],
          [failed("It broke.", "server_error")]
        ]
      })
      const first = yield* create(client, { input: "Go" })
      assert.strictEqual(first.status, "incomplete")
      assert.deepStrictEqual(first.incomplete_details, { reason: "max_output_tokens" })
      assert.deepInclude(first.output[0], { status: "incomplete" })
      assert.deepStrictEqual(first.usage, {
        input_tokens: 7,
        input_tokens_details: { cached_tokens: 3, cache_write_tokens: 0 },
        output_tokens: 16,
        output_tokens_details: { reasoning_tokens: 2 },
        total_tokens: 23
      })
      const second = yield* stream(client, { input: "Go" })
      assert.strictEqual(second.at(-1)?.type, "response.incomplete")
      const third = yield* stream(client, { input: "Go" })
      const last = third.at(-1)
      assert(last?.type === "response.failed")
      assert.deepStrictEqual(last.response.error, { code: "server_error", message: "It broke." })
    }))

  it.effect("arguments that are no JSON are sent as they stand", () =>
    Effect.gen(function*() {
      const { client } = yield* setup({ turns: [[functionCall({ name: "look", arguments: "{\"at\": " })]] })
      const response = yield* create(client, { input: "Go" })
      assert.deepInclude(response.output[0], { arguments: "{\"at\": " })
    }))
})
