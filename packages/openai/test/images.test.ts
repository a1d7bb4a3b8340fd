/** Pictures that are drawn: those on the way, and the one at the end. */
import { Chat, LanguageModel, type Response, Toolkit } from "@assent/ai"
import { OpenAiTool } from "@assent/openai"
import { ResponsesServer } from "@assent/openai/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as C from "./conversation.ts"

const toolkit = Toolkit.make(OpenAiTool.ImageGeneration({ partial_images: 1 }))

const start = C.start({
  way: "Chat.streamText",
  turns: [[ResponsesServer.imageGeneration({ result: "aW1hZ2U=" }), ResponsesServer.text("Here it is.")], "Thanks."]
})

describe("a picture that is streamed", () => {
  it.live("is a preliminary result of its own type on the way, and a result at the end", () =>
    C.fresh(Effect.gen(function*() {
      const { model, server } = yield* start
      const parts = yield* Stream.runCollect(LanguageModel.streamText({ prompt: "Draw a cat.", toolkit })).pipe(
        Effect.provideService(LanguageModel.LanguageModel, model)
      )
      const results = parts.filter((part) => part.type === "tool-result")
      assert.deepStrictEqual(
        results.map(({ id, isFailure, preliminary, providerExecuted, result }) => ({
          id,
          isFailure,
          preliminary,
          providerExecuted,
          // Typed: what it is not has no such field.
          image: isFailure ? undefined : result.result
        })),
        [true, false].map((preliminary) => ({
          id: "ig_00000001",
          isFailure: false,
          preliminary,
          providerExecuted: true,
          image: "aW1hZ2U="
        }))
      )
      const ofTheCall = parts.filter((part) => part.type.startsWith("tool-"))
      assert.deepStrictEqual(ofTheCall.map((part) => part.type), [
        "tool-params-start",
        "tool-result",
        "tool-params-end",
        "tool-call",
        "tool-result"
      ])
      assert.isTrue(ofTheCall.every((part) => "id" in part && part.id === "ig_00000001"))
      const sent = (yield* server.responses)[0]!.text
      assert.include(sent, "event: response.image_generation_call.partial_image\n")
      assert.include(JSON.stringify((yield* server.requests)[0]!.body), `"partial_images":1`)
    })))

  it.live("leaves one call and one result in the history, and goes on", () =>
    C.fresh(Effect.gen(function*() {
      const { model, server } = yield* start
      const chat = yield* Chat.empty
      const send = (prompt: string) =>
        Stream.runCollect(chat.streamText({ prompt, toolkit })).pipe(
          Effect.provideService(LanguageModel.LanguageModel, model)
        )
      yield* send("Draw a cat.")
      const kept = (yield* chat.export) as { readonly content: ReadonlyArray<{ readonly content: unknown }> }
      const history = JSON.stringify(kept)
      assert.strictEqual(history.split(`"tool-call"`).length, 2)
      assert.strictEqual(history.split(`"tool-result"`).length, 2)
      assert.notInclude(history, "generating")
      yield* send("Thank you.")
      yield* C.assertAccepted(server)
    })))

  it.live("is nothing to a toolkit without the tool, but goes back", () =>
    C.fresh(Effect.gen(function*() {
      const { model } = yield* start
      const parts: ReadonlyArray<Response.AnyPart> = yield* Stream.runCollect(
        LanguageModel.streamText({ prompt: "Draw a cat." })
      ).pipe(Effect.provideService(LanguageModel.LanguageModel, model))
      assert.isFalse(parts.some((part) => part.type === "tool-result"))
      assert.isTrue(
        parts.some((part) =>
          part.type === "reasoning-end" && part.metadata.openai?.itemType === "image_generation_call"
        )
      )
    })))
})
