/** The two versions of Vercel's provider interface, as one: the later one says all that the earlier one does. */
import type * as Provider from "@ai-sdk/provider"

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
