/** What a program can say of a request. */
import type * as Provider from "@ai-sdk/provider"

export interface Fields {
  readonly maxOutputTokens?: number | undefined
  readonly temperature?: number | undefined
  readonly stopSequences?: ReadonlyArray<string> | undefined
  readonly topP?: number | undefined
  readonly topK?: number | undefined
  readonly presencePenalty?: number | undefined
  readonly frequencyPenalty?: number | undefined
  readonly seed?: number | undefined
  /** How much a model thinks, in words that every provider of the later interface knows. */
  readonly reasoning?: Provider.LanguageModelV4CallOptions["reasoning"] | undefined
  readonly headers?: { readonly [name: string]: string | undefined } | undefined
  /** What only one provider knows, under its name: `{ anthropic: { thinking: { type: "enabled", budgetTokens: 2_000 } } }`. */
  readonly providerOptions?: { readonly [provider: string]: { readonly [key: string]: unknown } } | undefined
}
