/** In the place of `@effect/ai-openai` and `@effect/ai-anthropic` for effect's own examples: models that follow a script. */
import { Layer } from "effect"
import { LanguageModel, Model, Tool } from "effect/ai"
import type { ScriptedModel } from "../../src/testing/index.ts"

/** What the models of the examples say; a test puts it here before it runs one. */
export const script: { current?: ScriptedModel.ScriptedModel } = {}

const client = { layerConfig: () => Layer.empty }

const languageModel = (provider: string) => ({
  model: (name: string) =>
    Model.make(provider, name, Layer.sync(LanguageModel.LanguageModel, () => script.current!.model))
})

export const OpenAiClient = client
export const AnthropicClient = client
export const OpenAiLanguageModel = languageModel("openai")
export const AnthropicLanguageModel = languageModel("anthropic")

export const OpenAiTool = {
  WebSearch: Tool.providerDefined({
    id: "openai.web_search",
    customName: "OpenAiWebSearch",
    providerName: "web_search"
  })
}
