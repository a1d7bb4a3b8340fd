/** The same program on `ai` itself and over the bridge: the model is asked the same, part for part. */
import type * as Provider from "@ai-sdk/provider"
import { Chat, LanguageModel, Prompt, Tool, Toolkit } from "@assent/ai"
import { AiSdkLanguageModel } from "@assent/ai-sdk"
import { assert, describe, it } from "@effect/vitest"
import { generateText, jsonSchema, type ModelMessage, stepCountIs, streamText, tool } from "ai"
import { Effect, Schema, Stream } from "effect"
import * as Support from "./support.ts"

const Weather = Tool.make("Weather", {
  description: "Tells the weather.",
  parameters: { city: Schema.String },
  success: Schema.Struct({ degrees: Schema.Number })
})
const toolkit = Toolkit.make(Weather)
const handlers = toolkit.toLayer({ Weather: () => Effect.succeed({ degrees: 21 }) })

const tools = {
  Weather: tool({
    description: "Tells the weather.",
    inputSchema: jsonSchema<{ city: string }>(Tool.getJsonSchema(Weather) as never),
    execute: () => ({ degrees: 21 })
  })
}

const signed = { anthropic: { signature: "sig" } }

const turns: ReadonlyArray<ReadonlyArray<Provider.LanguageModelV4Content>> = [
  [
    { type: "reasoning", text: "I should look.", providerMetadata: signed },
    Support.text("Let me look."),
    Support.call("c1", "Weather", { city: "Vienna" }),
    Support.call("c2", "Weather", { city: "Graz" })
  ],
  [{ type: "text", text: "21 degrees.", providerMetadata: { openai: { itemId: "msg_1" } } }],
  [Support.text("You are welcome.")]
]

// A field that is not there and one that is `undefined` say the same.
const said = (options: Provider.LanguageModelV4CallOptions) => {
  const { prompt, toolChoice, tools } = options
  return JSON.parse(JSON.stringify({ prompt, toolChoice, tools }))
}

describe.each(["whole", "streamed"] as const)("%s", (way) => {
  it.effect("a conversation with reasoning, calls and their results", () =>
    Effect.gen(function*() {
      const theirs = Support.playing(turns)
      const messages: Array<ModelMessage> = [{ role: "user", content: "Weather?" }]
      for (const next of [{ role: "user", content: "Thanks!" }, undefined] as const) {
        const request = { model: theirs, messages, tools, stopWhen: stepCountIs(5), maxRetries: 0 }
        const made = way === "whole"
          ? (yield* Effect.promise(() => generateText(request))).responseMessages
          : yield* Effect.promise(() => Promise.resolve(streamText(request).responseMessages))
        messages.push(...made, ...(next === undefined ? [] : [next]))
      }

      const ours = Support.playing(turns)
      yield* Effect.gen(function*() {
        const chat = yield* Chat.empty
        // `ai` goes on by itself after a call; a chat does so when it is told to.
        for (const prompt of ["Weather?", Prompt.empty, "Thanks!"]) {
          if (way === "whole") yield* chat.generateText({ prompt, toolkit })
          else yield* Stream.runDrain(chat.streamText({ prompt, toolkit }))
        }
      }).pipe(Effect.provide([AiSdkLanguageModel.layer({ model: ours }), handlers]))

      for (const index of [0, 1, 2]) {
        assert.deepStrictEqual(said(Support.asked(ours, index)), said(Support.asked(theirs, index)))
      }
    }))

  it.effect("settings and options of messages", () =>
    Effect.gen(function*() {
      const settings = {
        maxOutputTokens: 100,
        temperature: 0.5,
        topP: 0.9,
        topK: 5,
        presencePenalty: 0.1,
        frequencyPenalty: 0.2,
        stopSequences: ["END"],
        seed: 7,
        headers: { "x-test": "1" },
        providerOptions: { anthropic: { effort: "low" } }
      }
      const cached = { anthropic: { cacheControl: { type: "ephemeral" } } }
      const bytes = new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10])
      const theirs = Support.playing(turns.slice(2))
      const request = {
        ...settings,
        model: theirs,
        instructions: { role: "system", content: "Be brief.", providerOptions: cached } as const,
        messages: [{
          role: "user" as const,
          content: [
            { type: "text" as const, text: "Look.", providerOptions: cached },
            { type: "file" as const, mediaType: "image/png", data: bytes, filename: "a.png" }
          ]
        }],
        maxRetries: 0
      }
      if (way === "whole") yield* Effect.promise(() => generateText(request))
      else yield* Effect.promise(() => Promise.resolve(streamText(request).text))

      const ours = Support.playing(turns.slice(2))
      const prompt: Prompt.RawInput = [
        { role: "system", content: "Be brief.", options: cached },
        {
          role: "user",
          content: [
            { type: "text", text: "Look.", options: cached },
            { type: "file", mediaType: "image/png", fileName: "a.png", data: bytes }
          ]
        }
      ]
      const layer = AiSdkLanguageModel.layer({ model: ours, config: settings })
      if (way === "whole") yield* Effect.provide(LanguageModel.generateText({ prompt }), layer)
      else yield* Effect.provide(Stream.runDrain(LanguageModel.streamText({ prompt })), layer)

      // It says besides that there is a choice of no tools, and that nobody wants what came on the wire.
      const { headers, includeRawChunks, toolChoice, ...options } = Support.asked(theirs)
      assert.deepStrictEqual([toolChoice, includeRawChunks ?? false], [{ type: "auto" }, false])
      assert.deepInclude(headers, settings.headers)
      const { headers: own, ...mine } = Support.asked(ours)
      assert.deepStrictEqual(own, settings.headers)
      // `ai` names every setting, with `undefined` for those that nobody made.
      assert.deepStrictEqual(JSON.parse(JSON.stringify(mine)), JSON.parse(JSON.stringify(options)))
    }))
})
