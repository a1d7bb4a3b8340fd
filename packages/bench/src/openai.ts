/**
 * What `@assent/openai` costs for each delta of a stream, beside the bare SDK on the same bytes, and how much of it is
 * upstream's reading of parts.
 */
import { OpenAiClient, OpenAiLanguageModel } from "@assent/openai"
import * as Upstream from "effect/ai/LanguageModel"
import type * as Response from "effect/ai/Response"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { Worker } from "node:worker_threads"
import OpenAI from "openai"
import * as Harness from "./harness.ts"
import * as Provider from "./provider.ts"
import { gated, using } from "./tools.ts"

const deltas = 10_000

/** How many events one read of the network brings here. */
const perRead = 80

const startServer = Effect.acquireRelease(
  Effect.callback<{ readonly url: string; readonly worker: Worker }>((resume) => {
    const worker = new Worker(new URL("./openaiServer.ts", import.meta.url))
    worker.once("message", (port: number) => resume(Effect.succeed({ url: `http://127.0.0.1:${port}/v1`, worker })))
  }),
  ({ worker }) => Effect.promise(() => worker.terminate())
)

/** Reads what a person would be shown, and sees that nothing of it is missing. */
const expectLength = (read: number) => {
  if (read !== length) throw new Error(`The text has ${length} characters, and ${read} were read.`)
}

const length = Array.from({ length: deltas }, (_, index) => `word ${index} `.length).reduce((a, b) => a + b, 0)

const sdkAlone = (url: string): Harness.Contestant<never> => {
  const sdk = new OpenAI({ apiKey: "sk-bench", baseURL: url })
  return {
    name: "bare SDK",
    measure: Harness.timed(Effect.promise(async () => {
      let read = 0
      for await (const event of await sdk.responses.create({ model: `${deltas}`, input: "Go on.", stream: true })) {
        if (event.type === "response.output_text.delta") read += event.delta.length
      }
      expectLength(read)
    }))
  }
}

const clientAlone = (client: OpenAiClient.Service): Harness.Contestant<never> => ({
  name: "client",
  measure: Harness.timed(Effect.suspend(() => {
    let read = 0
    return client.createResponseStream({ model: `${deltas}`, input: "Go on.", stream: true }).pipe(
      Stream.runForEachArray((events) =>
        Effect.sync(() => {
          for (const event of events) if (event.type === "response.output_text.delta") read += event.delta.length
        })
      ),
      Effect.map(() => expectLength(read))
    )
  }))
})

const streaming = (name: string, model: Upstream.LanguageModel) => ({
  name,
  measure: Harness.timed(Effect.suspend(() => {
    let read = 0
    return using(model)(Stream.runForEachArray(
      Upstream.streamText({ prompt: "Go on.", toolkit: gated }),
      (parts) =>
        Effect.sync(() => {
          for (const part of parts) if (part.type === "text-delta") read += part.delta.length
        })
    )).pipe(Effect.map(() => expectLength(read)))
  }))
})

/** Upstream's service over parts that are there already, as many at a time as come with one read. */
const makeUpstreamAlone = Effect.suspend(() => {
  const { streamed } = Provider.text(Array.from({ length: deltas }, (_, index) => `word ${index} `))
  const chunks: Array<ReadonlyArray<Response.StreamPartEncoded>> = []
  for (let index = 0; index < streamed.length; index += perRead) chunks.push(streamed.slice(index, index + perRead))
  return Upstream.make({
    generateText: () => Effect.die("It only streams."),
    streamText: () => Stream.suspend(() => Stream.fromArrays(...chunks))
  })
})

/** A long stream, looked at ten times on the way: what has been read is not kept. */
const longStreams = (modelOf: (deltas: number) => Effect.Effect<Upstream.LanguageModel>) =>
  Harness.flatWithin(
    { title: "f. Live heap while a stream of so many deltas is read", marks: [10_000, 200_000], bound: 1.1 },
    (count, look) =>
      Effect.flatMap(modelOf(count), (model) => {
        let read = 0
        return using(model)(Stream.runForEachArray(
          Upstream.streamText({ prompt: "Go on.", toolkit: gated }),
          (parts) => {
            const before = read
            read += parts.length
            return Math.floor((before * 10) / count) === Math.floor((read * 10) / count) ? Effect.void : look
          }
        ))
      })
  )

export const openai = Effect.scoped(Effect.gen(function*() {
  const { url } = yield* startServer
  const client = yield* OpenAiClient.make({ apiKey: Redacted.make("sk-bench"), apiUrl: url })
  const modelOf = (deltas: number) =>
    Effect.provideService(OpenAiLanguageModel.make({ model: `${deltas}` }), OpenAiClient.OpenAiClient, client)
  const whole = streaming("streamText", yield* modelOf(deltas))
  const row = { rounds: 16, operations: deltas }
  const title = `f. OpenAI, ${deltas} deltas`
  const bare = sdkAlone(url)
  yield* Harness.compare(
    { ...row, title: `${title}: the client's events, per delta`, bound: 1.3 },
    clientAlone(client),
    bare
  )
  yield* Harness.compare({ ...row, title: `${title}: the model with a toolkit, per delta`, bound: 1.3 }, whole, bare)
  yield* Harness.compare(
    { ...row, title: `   of which is upstream's, that reads parts into parts` },
    whole,
    streaming("upstream alone", yield* makeUpstreamAlone)
  )
  yield* longStreams(modelOf)
}))
