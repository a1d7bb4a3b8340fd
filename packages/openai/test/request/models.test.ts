/** Models by names that say nothing of them: deployments at Azure, models behind a gateway. */
import { AiError, LanguageModel } from "@assent/ai"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { message, response, stream } from "../edges/edge.ts"
import * as Stub from "../stub.ts"

const encrypted = ["reasoning.encrypted_content"]

const config = { store: false }

const hello = Stub.reply([message("Hello.")])

const unsupported = Stub.refusal(400, {
  message: "Encrypted content is not supported with this model.",
  type: "invalid_request_error",
  param: "include",
  code: null
})

const ask = LanguageModel.generateText({ prompt: "hi" })

describe("encrypted reasoning with store: false", () => {
  for (const model of ["gpt-5.2", "openai/gpt-5.2", "openrouter/openai/o3", "my-deployment", "prod"]) {
    it.effect(`is asked of ${model}`, () =>
      Effect.gen(function*() {
        const server = Stub.make([hello], { model, config })
        yield* Effect.provide(ask, server.model)
        assert.deepStrictEqual(server.asked[0]!["include"], encrypted)
      }))
  }

  for (const model of ["gpt-4.1", "openai/gpt-4o", "gpt-35-turbo"]) {
    it.effect(`is not asked of ${model}`, () =>
      Effect.gen(function*() {
        const server = Stub.make([hello], { model, config })
        yield* Effect.provide(ask, server.model)
        assert.isUndefined(server.asked[0]!["include"])
      }))
  }

  it.effect("is asked once more without it where the model has none, and never again", () =>
    Effect.gen(function*() {
      const server = Stub.make([unsupported, hello, hello], { model: "my-deployment", config })
      yield* Effect.provide(Effect.andThen(ask, ask), server.model)
      assert.deepStrictEqual(server.asked.map(({ include }) => include), [encrypted, undefined, undefined])
    }))

  it.effect("is asked once more without it in a stream too", () =>
    Effect.gen(function*() {
      const { wire } = stream("", [], {}, response([message("Hello.")]))
      const streamed = { body: wire.body, headers: { "content-type": wire.mediaType } }
      const server = Stub.make([unsupported, streamed, streamed], { model: "my-deployment", config })
      const read = Stream.runCollect(LanguageModel.streamText({ prompt: "hi" }))
      const parts = yield* Effect.provide(Effect.andThen(read, read), server.model)
      assert.strictEqual(parts.map((part) => part.type === "text-delta" ? part.delta : "").join(""), "Hello.")
      assert.deepStrictEqual(server.asked.map(({ include }) => include), [encrypted, undefined, undefined])
    }))

  it.effect("is an error where it was the program that asked for it", () =>
    Effect.gen(function*() {
      const server = Stub.make([unsupported, hello], {
        model: "my-deployment",
        config: { ...config, include: ["reasoning.encrypted_content"] }
      })
      const error = yield* Effect.flip(Effect.provide(ask, server.model))
      assert.isTrue(AiError.isAiError(error))
      assert.strictEqual(error.reason._tag, "InvalidRequestError")
      assert.strictEqual(server.asked.length, 1)
    }))
})
