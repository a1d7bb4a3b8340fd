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
import * as Models from "./internal/models.ts"

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
 * @example
 * import { LanguageModel } from "@assent/ai"
 * import { AiSdkLanguageModel } from "@assent/ai-sdk"
 * import { MockLanguageModelV4 } from "ai/test"
 * import { Effect } from "effect"
 *
 * const usage = {
 *   inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
 *   outputTokens: { total: 5, text: 5, reasoning: 0 }
 * }
 * // In a program: `anthropic("claude-sonnet-4-5")` and its like.
 * const model = new MockLanguageModelV4({
 *   doGenerate: { content: [], finishReason: { unified: "stop", raw: "stop" }, usage, warnings: [] }
 * })
 *
 * const program = LanguageModel.generateText({ prompt: "Hi" }).pipe(
 *   Effect.provideService(AiSdkLanguageModel.Config, { maxOutputTokens: 100 }),
 *   Effect.provide(AiSdkLanguageModel.layer({ model }))
 * )
 * await Effect.runPromise(program)
 *
 * model.doGenerateCalls[0]?.maxOutputTokens // => 100
 *
 * @category configuration
 * @since 0.1.0
 */
export class Config extends Context.Service<Config, ConfigFields>()("@assent/ai-sdk/AiSdkLanguageModel/Config") {}

/**
 * Overrides the configuration for the requests of an effect; fields that are not named stay as they are.
 *
 * @example
 * import { LanguageModel } from "@assent/ai"
 * import { AiSdkLanguageModel } from "@assent/ai-sdk"
 * import { MockLanguageModelV4 } from "ai/test"
 * import { Effect } from "effect"
 *
 * const model = new MockLanguageModelV4({
 *   doGenerate: {
 *     content: [{ type: "text", text: "Hello!" }],
 *     finishReason: { unified: "stop", raw: undefined },
 *     usage: {
 *       inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
 *       outputTokens: { total: 1, text: 1, reasoning: 0 }
 *     },
 *     warnings: []
 *   }
 * })
 *
 * const program = LanguageModel.generateText({ prompt: "Hi" }).pipe(
 *   AiSdkLanguageModel.withConfigOverride({ temperature: 1 }),
 *   Effect.provide(AiSdkLanguageModel.layer({ model, config: { temperature: 0, seed: 7 } }))
 * )
 *
 * await Effect.runPromise(program)
 *
 * const [asked] = model.doGenerateCalls
 * const settings = [asked?.temperature, asked?.seed] // => [1, 7]
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
 * What the provider says of a part, such as the signature of its reasoning, is kept under the provider's name in the
 * part's metadata, and goes back with the next request; so do the options that a program gives a part or a message. What
 * no part could stand for, as a call of a tool that is not in the toolkit, is a reasoning part without text that carries
 * it. A request is aborted when its fiber is interrupted.
 *
 * @example
 * import { Approval, Chat, LanguageModel, Prompt, Response, Tool, Toolkit } from "@assent/ai"
 * import { AiSdkLanguageModel } from "@assent/ai-sdk"
 * import { MockLanguageModelV4 } from "ai/test"
 * import { Effect, Schema } from "effect"
 *
 * const toolkit = Toolkit.make(
 *   Tool.make("Delete", { parameters: { path: Schema.String }, success: Schema.String, needsApproval: true })
 * )
 *
 * const said = (content: Array<object>) => ({
 *   content,
 *   finishReason: { unified: "stop", raw: undefined },
 *   usage: {
 *     inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
 *     outputTokens: { total: 1, text: 1, reasoning: 0 }
 *   },
 *   warnings: []
 * }) as never
 *
 * // A model as `anthropic("claude-sonnet-4-5")` is one.
 * const claude = new MockLanguageModelV4({
 *   doGenerate: [
 *     said([{ type: "tool-call", toolCallId: "c1", toolName: "Delete", input: '{"path":"thesis.txt"}' }]),
 *     said([{ type: "text", text: "I keep it." }])
 *   ]
 * })
 *
 * const program = Effect.gen(function*() {
 *   const model = yield* AiSdkLanguageModel.make({ model: claude })
 *   const chat = yield* Chat.empty
 *   const answer = Effect.gen(function*() {
 *     const turn = yield* chat.generateText({ prompt: "Clean up.", toolkit })
 *     const denials = Response.approvalRequests(turn).map((request) => Approval.deny(request, "keep it"))
 *     return (yield* chat.generateText({ prompt: Prompt.approvalResponses(denials), toolkit })).text
 *   })
 *   return yield* Effect.provideService(answer, LanguageModel.LanguageModel, model)
 * })
 *
 * await Effect.runPromise(
 *   Effect.provide(program, toolkit.toLayer({ Delete: ({ path }) => Effect.succeed(`${path} is gone`) }))
 * ) // => "I keep it."
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): Effect.Effect<LanguageModel.LanguageModel> => {
  const { codecTransformer, config } = options
  const model = Models.usable(options.model)
  const override = Effect.map(Effect.serviceOption(Config), Option.getOrUndefined)
  return Approval.make(Hooks.make({ model, config, override, codecTransformer }), options.approval)
}

/**
 * A model of any provider's as the `LanguageModel` of a program.
 *
 * @example
 * import { LanguageModel } from "@assent/ai"
 * import { AiSdkLanguageModel } from "@assent/ai-sdk"
 * import { MockLanguageModelV4 } from "ai/test"
 * import { Effect } from "effect"
 *
 * const model = new MockLanguageModelV4({
 *   doGenerate: {
 *     content: [{ type: "text", text: "Hello!" }],
 *     finishReason: { unified: "stop", raw: undefined },
 *     usage: {
 *       inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
 *       outputTokens: { total: 1, text: 1, reasoning: 0 }
 *     },
 *     warnings: []
 *   }
 * })
 *
 * const program = Effect.gen(function*() {
 *   return (yield* LanguageModel.generateText({ prompt: "Hi" })).text
 * })
 *
 * await Effect.runPromise(Effect.provide(program, AiSdkLanguageModel.layer({ model }))) // => "Hello!"
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options): Layer.Layer<LanguageModel.LanguageModel> =>
  Layer.effect(LanguageModel.LanguageModel, make(options))

/**
 * A model of any provider's, which can be provided like a layer and tells provider and model name.
 *
 * @example
 * import { Model } from "@assent/ai"
 * import { AiSdkLanguageModel } from "@assent/ai-sdk"
 * import { MockLanguageModelV4 } from "ai/test"
 * import { Effect } from "effect"
 *
 * const Claude = AiSdkLanguageModel.model(
 *   new MockLanguageModelV4({ provider: "anthropic.messages", modelId: "claude-sonnet-4-5" }),
 *   { maxOutputTokens: 4_000 }
 * )
 *
 * const program = Effect.gen(function*() {
 *   return `${yield* Model.ProviderName} ${yield* Model.ModelName}`
 * })
 *
 * await Effect.runPromise(Effect.provide(program, Claude)) // => "anthropic.messages claude-sonnet-4-5"
 *
 * @category constructors
 * @since 0.1.0
 */
export const model = (
  model: Model,
  config?: ConfigFields
): AiModel.Model<string, LanguageModel.LanguageModel, never> =>
  AiModel.make(Models.usable(model).provider, model.modelId, layer({ model, config }))
