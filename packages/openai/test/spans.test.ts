/** Spans by the conventions of OpenTelemetry for generative AI. */
import { LanguageModel } from "@assent/ai"
import { ResponsesServer } from "@assent/openai/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Tracer from "effect/Tracer"
import * as C from "./conversation.ts"
import { message, usage } from "./edges/edge.ts"
import * as Stub from "./stub.ts"

const recording = () => {
  const spans: Array<Tracer.NativeSpan> = []
  const tracer = Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options)
      spans.push(span)
      return span
    }
  })
  return { spans, layer: Effect.provideService(Tracer.Tracer, tracer) }
}

const attributesOf = (span: Tracer.NativeSpan | undefined) => Object.fromEntries(span?.attributes ?? [])

const ask = LanguageModel.generateText({ prompt: "hi" })

describe("a call of the model", () => {
  it.effect("has a span that is named as the conventions have it, with all that they ask for", () =>
    Effect.gen(function*() {
      const { layer, spans } = recording()
      const server = Stub.make([Stub.reply([message("Hello.")], { service_tier: "priority" })], {
        config: { temperature: 0.5, max_output_tokens: 100, service_tier: "auto", conversation: "conv_1" }
      })
      yield* layer(Effect.provide(ask, server.model))
      const [outer, own] = spans
      assert.deepStrictEqual(spans.map(({ kind, name }) => [name, kind]), [
        ["LanguageModel.generateText", "client"],
        ["chat gpt-5.2", "client"]
      ])
      const expected = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-5.2",
        "gen_ai.request.temperature": 0.5,
        "gen_ai.request.max_tokens": 100,
        "gen_ai.output.type": "text",
        "gen_ai.conversation.id": "conv_1",
        "openai.api.type": "responses",
        "openai.request.service_tier": "auto",
        "server.address": "api.openai.com",
        "server.port": 443,
        "gen_ai.response.id": "resp_edge",
        "gen_ai.response.model": "gpt-edge",
        "gen_ai.response.finish_reasons": ["stop"],
        "gen_ai.usage.input_tokens": usage.input_tokens,
        "gen_ai.usage.output_tokens": usage.output_tokens,
        "gen_ai.usage.cache_read.input_tokens": usage.input_tokens_details.cached_tokens,
        "gen_ai.usage.reasoning.output_tokens": usage.output_tokens_details.reasoning_tokens,
        "openai.response.service_tier": "priority"
      }
      assert.deepStrictEqual(attributesOf(own), expected)
      assert.deepInclude(attributesOf(outer), expected)
      assert.strictEqual(own!.parent._tag === "Some" ? own!.parent.value.spanId : "", outer!.spanId)
      assert.strictEqual(own!.status._tag, "Ended")
    }))

  it.effect("that fails says with which error", () =>
    Effect.gen(function*() {
      const { layer, spans } = recording()
      const server = Stub.make([Stub.refusal(400, { message: "No.", code: "invalid_value" })])
      yield* Effect.flip(layer(Effect.provide(ask, server.model)))
      assert.strictEqual(attributesOf(spans[1])["error.type"], "InvalidRequestError")
      assert.notProperty(attributesOf(spans[1]), "gen_ai.response.id")
    }))

  it.effect("at Azure is Azure's", () =>
    Effect.gen(function*() {
      const { layer, spans } = recording()
      const server = Stub.make([Stub.reply([message("Hello.")])], {
        client: { apiUrl: "https://example.openai.azure.com/openai/v1" }
      })
      yield* layer(Effect.provide(ask, server.model))
      assert.strictEqual(attributesOf(spans[1])["gen_ai.provider.name"], "azure.ai.openai")
      assert.strictEqual(attributesOf(spans[1])["server.address"], "example.openai.azure.com")
    }))

  it.live("that streams has the same, and its span ends with the stream", () =>
    C.fresh(Effect.gen(function*() {
      const { layer, spans } = recording()
      const chat = yield* C.startPlain("streamText", [[
        ResponsesServer.text("Hello."),
        ResponsesServer.incomplete("max_output_tokens")
      ]])
      yield* layer(
        Stream.runDrain(LanguageModel.streamText({ prompt: "hi" })).pipe(
          Effect.provideService(LanguageModel.LanguageModel, chat.model)
        )
      )
      const own = spans.find(({ name }) => name === "chat gpt-5.2")
      assert.strictEqual(own?.status._tag, "Ended")
      assert.deepStrictEqual(attributesOf(own)["gen_ai.response.finish_reasons"], ["length"])
      assert.isNumber(attributesOf(own)["gen_ai.usage.input_tokens"])
      assert.strictEqual(attributesOf(own)["server.address"], "127.0.0.1")
    })))
})
