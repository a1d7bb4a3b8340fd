/**
 * What upstream's programs import of `@effect/ai-openai` and `@effect/ai-anthropic`, played by scripts: their models are
 * made by upstream's own `LanguageModel.make`, and know nothing of Assent.
 */
import { type Config, Context, Effect, Layer, type Redacted, Schema } from "effect"
import { LanguageModel, Model, Tool } from "effect/ai"
import type { HttpClient } from "effect/http"
import type { ScriptedModel } from "../../src/testing/index.ts"

interface Options {
  readonly apiKey: Config.Config<Redacted.Redacted>
}

/** The script that each provider follows. */
export interface Scripts {
  readonly openai: ScriptedModel.ScriptedModel
  readonly anthropic: ScriptedModel.ScriptedModel
}

const ambient = Context.Reference<Scripts | undefined>("test/ai-docs/Scripts", { defaultValue: () => undefined })

/** Runs a program with providers that follow these scripts. */
export const following = (scripts: Scripts) => <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.provideService(effect, ambient, scripts)

const makeProvider = <const Name extends "openai" | "anthropic">(name: Name) => {
  class Client extends Context.Service<Client, ScriptedModel.ScriptedModel>()(`test/ai-docs/${name}`) {}
  return {
    client: {
      layerConfig: (_: Options): Layer.Layer<Client, never, HttpClient.HttpClient> =>
        Layer.effect(
          Client,
          Effect.flatMap(
            ambient,
            (scripts) => scripts === undefined ? Effect.die("no script") : Effect.succeed(scripts[name])
          )
        )
    },
    languageModel: {
      model: (model: string): Model.Model<Name, LanguageModel.LanguageModel, Client> =>
        Model.make(
          name,
          model,
          Layer.effect(LanguageModel.LanguageModel, Effect.flatMap(Client, ({ params }) => LanguageModel.make(params)))
        )
    }
  }
}

const openai = makeProvider("openai")
const anthropic = makeProvider("anthropic")

export const OpenAiClient = openai.client
export const OpenAiLanguageModel = openai.languageModel
export const AnthropicClient = anthropic.client
export const AnthropicLanguageModel = anthropic.languageModel

export const OpenAiTool = {
  WebSearch: Tool.providerDefined({
    id: "openai.web_search",
    customName: "OpenAiWebSearch",
    providerName: "web_search",
    args: Schema.Struct({ search_context_size: Schema.String })
  })
}
