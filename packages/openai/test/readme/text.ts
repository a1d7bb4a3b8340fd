import { LanguageModel } from "@assent/ai"
import { OpenAiClient, OpenAiLanguageModel } from "@assent/openai"
import { Console, Effect, Layer, Stream } from "effect"

// OPENAI_API_KEY and, for another address, OPENAI_BASE_URL are read from the environment.
const Model = OpenAiLanguageModel.model("gpt-5.2").pipe(Layer.provide(OpenAiClient.layerConfig()))

const program = Effect.gen(function*() {
  const response = yield* LanguageModel.generateText({ prompt: "Name a colour." })
  yield* Console.log(response.text)

  yield* LanguageModel.streamText({ prompt: "And another." }).pipe(
    Stream.filter((part) => part.type === "text-delta"),
    Stream.runForEach((part) => Effect.sync(() => process.stdout.write(part.delta)))
  )
})

await Effect.runPromise(Effect.provide(program, Model))
