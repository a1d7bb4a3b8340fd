/**
 * Every provider of Vercel's AI SDK as a `LanguageModel`, with approvals.
 *
 * A model of `@ai-sdk/anthropic`, `@ai-sdk/google` or any other package with the interface `LanguageModelV3` or
 * `LanguageModelV4` does the talking; of the SDK itself nothing is needed. Text, reasoning with its signatures, files
 * both ways, functions, the tools that a provider runs itself and what it asks approval for, and structured output.
 *
 * @since 0.1.0
 */
import type { LanguageModelV3, LanguageModelV4 } from "@ai-sdk/provider"
import * as Approval from "@assent/ai/LanguageModel"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as AiModel from "effect/ai/Model"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { dual } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Fields from "./internal/config.ts"
import * as Hooks from "./internal/hooks.ts"

// =============================================================================
// Models
// =============================================================================

/**
 * A model of any provider: what `anthropic("claude-sonnet-4-5")` and its like return.
 *
 * @category models
 * @since 0.1.0
 */
export type Model = LanguageModelV3 | LanguageModelV4

// =============================================================================
// Configuration
// =============================================================================

/**
 * What can be said of a request, with the interface's own names; `providerOptions` holds what only one provider knows,
 * under its name. What a model does not take it says in a warning, which is logged once.
 *
 * @category configuration
 * @since 0.1.0
 */
export interface ConfigFields extends Fields.Fields {}

/**
 * The configuration of the requests of a scope. Its fields win over those that the model was made with; see
 * {@link withConfigOverride}.
 *
 * @category configuration
 * @since 0.1.0
 */
export class Config extends Context.Service<Config, ConfigFields>()("@assent/ai-sdk/AiSdkLanguageModel/Config") {}

/**
 * Overrides the configuration for the requests of an effect; fields that are not named stay as they are.
 *
 * @category configuration
 * @since 0.1.0
 */
export const withConfigOverride: {
  (overrides: ConfigFields): <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, Exclude<R, Config>>
  <A, E, R>(self: Effect.Effect<A, E, R>, overrides: ConfigFields): Effect.Effect<A, E, Exclude<R, Config>>
} = dual(
  2,
  <A, E, R>(self: Effect.Effect<A, E, R>, overrides: ConfigFields): Effect.Effect<A, E, Exclude<R, Config>> =>
    Effect.flatMap(
      Effect.serviceOption(Config),
      (config) => Effect.provideService(self, Config, { ...Option.getOrUndefined(config), ...overrides })
    )
)

// =============================================================================
// Constructors
// =============================================================================

/**
 * What a model is made of.
 *
 * @category options
 * @since 0.1.0
 */
export interface Options {
  readonly model: Model
  readonly config?: ConfigFields | undefined
  /** How the approval engine behaves; every field has a safe default. */
  readonly approval?: Approval.ApprovalOptions | undefined
  /**
   * How schemas of structured output and of strict functions are sent: upstream's for Anthropic where the model is one
   * of Claude, else upstream's for OpenAI, which has the fewest words.
   */
  readonly codecTransformer?: LanguageModel.CodecTransformer | undefined
}

/**
 * A `LanguageModel` of any provider's, with approvals of local calls and of those that the provider asks about.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): Effect.Effect<LanguageModel.LanguageModel> => {
  const { codecTransformer, config, model } = options
  const override = Effect.map(Effect.serviceOption(Config), Option.getOrUndefined)
  return Approval.make(Hooks.make({ model, config, override, codecTransformer }), options.approval)
}

/**
 * A model of any provider's as the `LanguageModel` of a program.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options): Layer.Layer<LanguageModel.LanguageModel> =>
  Layer.effect(LanguageModel.LanguageModel, make(options))

/**
 * A model of any provider's, which can be provided like a layer and tells provider and model name.
 *
 * @category constructors
 * @since 0.1.0
 */
export const model = (
  model: Model,
  config?: ConfigFields
): AiModel.Model<string, LanguageModel.LanguageModel, never> =>
  AiModel.make(model.provider, model.modelId, layer({ model, config }))
