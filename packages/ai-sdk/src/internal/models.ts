/** The two versions of Vercel's provider interface, as one: the later one says all that the earlier one does. */
import type * as Provider from "@ai-sdk/provider"
import * as Predicate from "effect/Predicate"

/** A model of any provider. */
export type Model = Provider.LanguageModelV3 | Provider.LanguageModelV4

export type Version = Model["specificationVersion"]

export type CallOptions = Provider.LanguageModelV4CallOptions

export type Content = Provider.LanguageModelV3Content | Provider.LanguageModelV4Content

export type StreamPart = Provider.LanguageModelV3StreamPart | Provider.LanguageModelV4StreamPart

export type GenerateResult = Provider.LanguageModelV3GenerateResult | Provider.LanguageModelV4GenerateResult

export type StreamResult = Provider.LanguageModelV3StreamResult | Provider.LanguageModelV4StreamResult

export type Usage = Provider.LanguageModelV3Usage | Provider.LanguageModelV4Usage

export type FinishReason = Provider.LanguageModelV3FinishReason | Provider.LanguageModelV4FinishReason

export type Warning = Provider.SharedV3Warning | Provider.SharedV4Warning

// Each model is called with what its own version takes: `prompt` writes by it, and all else is the same in both.
export const generate = (model: Model, options: CallOptions): PromiseLike<GenerateResult> =>
  (model as Provider.LanguageModelV4).doGenerate(options)

export const stream = (model: Model, options: CallOptions): PromiseLike<StreamResult> =>
  (model as Provider.LanguageModelV4).doStream(options)

/** A model that this package can call. Throws a `TypeError` for anything else, such as the name of one. */
export const usable = (model: Model): Model => {
  const given: unknown = model
  const version = Predicate.hasProperty(given, "specificationVersion") ? given.specificationVersion : undefined
  if (version === "v3" || version === "v4") return model
  const takes = "AiSdkLanguageModel takes a model of an AI SDK provider, as in" +
    " AiSdkLanguageModel.model(anthropic(\"claude-sonnet-4-5\")), or AiSdkLanguageModel.layer({ model: anthropic(\"…\") })"
  throw new TypeError(
    typeof version === "string"
      ? `${takes}. This one has the interface ${JSON.stringify(version)}, and "v3" or "v4" is needed: install a later` +
        " version of the provider's package."
      : `${takes}; it was given ${
        typeof given === "string" ? "a text" : Predicate.isObject(given) ? "another object" : String(given)
      }.`
  )
}
