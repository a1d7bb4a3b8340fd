/**
 * What `@assent/ai-sdk` costs beside `ai` itself on the same model, which answers at once: the bridge's own share, and
 * the whole turn with upstream's reading of parts and the engine.
 */
import type * as Provider from "@ai-sdk/provider"
import { AiSdkLanguageModel } from "@assent/ai-sdk"
import { generateText, jsonSchema, streamText, tool } from "ai"
import * as IdGenerator from "effect/ai/IdGenerator"
import * as Upstream from "effect/ai/LanguageModel"
import * as Prompt from "effect/ai/Prompt"
import * as Tool from "effect/ai/Tool"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Tracer from "effect/Tracer"
import * as Hooks from "../../ai-sdk/src/internal/hooks.ts"
import * as Harness from "./harness.ts"
import { gated, using } from "./tools.ts"

const deltas = 2_000

const usage: Provider.LanguageModelV4Usage = {
  inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 5, text: 5, reasoning: 0 }
}
const finishReason: Provider.LanguageModelV4FinishReason = { unified: "stop", raw: "stop" }

const streamParts: ReadonlyArray<Provider.LanguageModelV4StreamPart> = [
  { type: "stream-start", warnings: [] },
  { type: "text-start", id: "0" },
  ...Array.from(
    { length: deltas },
    (_, index): Provider.LanguageModelV4StreamPart => ({ type: "text-delta", id: "0", delta: `word ${index} ` })
  ),
  { type: "text-end", id: "0" },
  { type: "finish", finishReason, usage }
]

/** Answers at once, and keeps nothing of what it was asked. */
const model: Provider.LanguageModelV4 = {
  specificationVersion: "v4",
  provider: "bench",
  modelId: "bench",
  supportedUrls: {},
  doGenerate: async () => ({
    content: [{ type: "text", text: "It is 21 degrees and clear." }],
    finishReason,
    usage,
    warnings: []
  }),
  doStream: async () => {
    let next = 0
    return {
      stream: new ReadableStream({
        pull: (controller) => {
          if (next < streamParts.length) controller.enqueue(streamParts[next++]!)
          else controller.close()
        }
      })
    }
  }
}

/** Twenty messages, which both write anew for each request. */
const earlier = Array.from({ length: 10 }, (_, index) => [
  { role: "user", content: `What is the weather in city ${index}?` } as const,
  { role: "assistant", content: "It is 21 degrees and clear." } as const
]).flat()
const question = { role: "user", content: "And here?" } as const
const messages = [...earlier, question]
const prompt = Prompt.make(messages)

const Weather = Tool.make("Weather", { parameters: Schema.Struct({ city: Schema.String }), success: Schema.String })
const tools = {
  Weather: tool({
    inputSchema: jsonSchema<{ city: string }>(Tool.getJsonSchema(Weather) as never),
    execute: () => "It is never called."
  })
}

const request: Upstream.ProviderOptions = {
  prompt,
  tools: [Weather],
  responseFormat: { type: "text" },
  toolChoice: "auto",
  span: new Tracer.NativeSpan({
    name: "bench",
    parent: undefined,
    annotations: undefined,
    links: [],
    startTime: 0n,
    kind: "internal",
    sampled: false
  } as never),
  previousResponseId: undefined,
  incrementalPrompt: undefined
}

const turns = 200

const expect = (read: number, length: number) => {
  if (read !== length) throw new Error(`${length} deltas were sent, and ${read} were read.`)
}

export const aiSdk = Effect.gen(function*() {
  const hooks = Hooks.make({ model, override: Effect.undefined })
  const ids = Effect.provideService(IdGenerator.IdGenerator, IdGenerator.defaultIdGenerator)
  const bridged = yield* AiSdkLanguageModel.make({ model })

  const aiStream = {
    name: "ai",
    measure: Harness.timed(Effect.promise(async () => {
      let read = 0
      for await (const part of streamText({ model, prompt: "Go on.", tools, maxRetries: 0 }).fullStream) {
        if (part.type === "text-delta") read++
      }
      expect(read, deltas)
    }))
  }
  const bridgeStream = {
    name: "bridge",
    measure: Harness.timed(Effect.suspend(() => {
      let read = 0
      return Stream.runForEachArray(
        hooks.streamText({ ...request, prompt: Prompt.make("Go on.") }),
        (parts) =>
          Effect.sync(() => {
            for (const part of parts) if (part.type === "text-delta") read++
          })
      ).pipe(
        ids,
        Effect.map(() => expect(read, deltas))
      )
    }))
  }
  const wholeStream = {
    name: "whole",
    measure: Harness.timed(Effect.suspend(() => {
      let read = 0
      return using(bridged)(Stream.runForEachArray(
        Upstream.streamText({ prompt: "Go on.", toolkit: gated }),
        (parts) =>
          Effect.sync(() => {
            for (const part of parts) if (part.type === "text-delta") read++
          })
      )).pipe(Effect.map(() => expect(read, deltas)))
    }))
  }
  const aiTurns = {
    name: "ai",
    measure: Harness.timed(Effect.promise(async () => {
      for (let turn = 0; turn < turns; turn++) await generateText({ model, messages, tools, maxRetries: 0 })
    }))
  }
  const bridgeTurns = {
    name: "bridge",
    measure: Harness.timed(ids(Effect.replicateEffect(hooks.generateText(request), turns, { discard: true })))
  }
  const wholeTurns = {
    name: "whole",
    measure: Harness.timed(
      using(bridged)(
        Effect.replicateEffect(Upstream.generateText({ prompt, toolkit: gated }), turns, { discard: true })
      )
    )
  }

  const perDelta = { rounds: 30, operations: deltas }
  const perTurn = { rounds: 30, operations: turns }
  yield* Harness.compare(
    { ...perDelta, title: `g. ai-sdk: the bridge's own share, per streamed delta of ${deltas}`, bound: 1 },
    bridgeStream,
    aiStream
  )
  yield* Harness.compare({ ...perDelta, title: "   and with upstream and the engine" }, wholeStream, aiStream)
  yield* Harness.compare(
    { ...perTurn, title: `   the bridge's own share, per turn of ${messages.length} messages`, bound: 1 },
    bridgeTurns,
    aiTurns
  )
  yield* Harness.compare({ ...perTurn, title: "   and with upstream and the engine" }, wholeTurns, aiTurns)
})
