import { LanguageModel } from "@assent/ai"
import { OpenAiClient, OpenAiLanguageModel } from "@assent/openai"
import { Console, Effect, Layer, Schema } from "effect"

const Recipe = Schema.Struct({
  title: Schema.String,
  minutes: Schema.Finite,
  vegetarian: Schema.optionalKey(Schema.Boolean)
})

const Model = OpenAiLanguageModel.model("gpt-5.2", { text: { verbosity: "low" } }).pipe(
  Layer.provide(OpenAiClient.layerConfig())
)

const program = Effect.gen(function*() {
  const { value } = yield* LanguageModel.generateObject({ prompt: "A quick dinner.", schema: Recipe })
  yield* Console.log(`${value.title}: ${value.minutes} minutes`)
})

await Effect.runPromise(Effect.provide(program, Model))
