/** A server whose model says a word every so often. As a program it listens in a process of its own, and says what it uses. */
import { Conversation, LanguageModel, type Response } from "@assent/ai"
import { ScriptedModel } from "@assent/ai/testing"
import { UiMessageStream } from "@assent/web"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import { listening } from "../listening.ts"
import { People, toolkit } from "../server.ts"

export interface Speech {
  readonly words: number
  readonly every: Duration.Input
  /** What the answer to a message that begins with "all" has for a word: more than any socket takes in. */
  readonly flood: string
}

const speaking = ({ every, flood, words }: Speech) =>
  LanguageModel.make({
    generateText: () => Effect.die("everything is streamed here"),
    streamText: ({ prompt }) => {
      const isFlood = JSON.stringify(prompt.content.at(-1)).includes("\"all")
      const delta = (word: number): Response.StreamPartEncoded => ({
        type: "text-delta",
        id: "0",
        delta: isFlood ? flood : `word ${word} `
      })
      const said = Stream.map(Stream.range(1, words), delta)
      return Stream.make<[Response.StreamPartEncoded]>({ type: "text-start", id: "0" }).pipe(
        Stream.concat(Stream.schedule(said, Schedule.spaced(every))),
        Stream.concat(Stream.fromArray<Response.StreamPartEncoded>([
          { type: "text-end", id: "0" },
          ScriptedModel.finish("stop")
        ]))
      )
    }
  })

const memory = HttpRouter.add(
  "GET",
  "/memory",
  Effect.sync(() => {
    globalThis.gc?.()
    return HttpServerResponse.jsonUnsafe(process.memoryUsage())
  })
)

export const routesOf = (speech: Speech) => {
  const Handlers = toolkit.toLayer({
    DeleteFile: ({ path }) => Effect.succeed({ deleted: path }),
    ReadFile: ({ path }) => Effect.succeed(path)
  })
  const Model = Layer.effect(LanguageModel.LanguageModel, speaking(speech))
  return UiMessageStream.layer({ conversation: (id) => Conversation.make({ id, toolkit }) }).pipe(
    Layer.provide([People, Handlers, Model]),
    Layer.merge(memory)
  )
}

if (import.meta.main) {
  const [words = "30", every = "100"] = process.argv.slice(2)
  const speech = { words: Number(words), every: Number(every), flood: "x".repeat(512 * 1024) }
  const { port } = await listening(routesOf(speech))
  console.log(String(port))
}
