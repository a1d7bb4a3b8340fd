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
import type * as AiError from "effect/ai/AiError"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as AiModel from "effect/ai/Model"
import type * as Response from "effect/ai/Response"
import * as Telemetry from "effect/ai/Telemetry"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { dual } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as Approvals from "./internal/approvals.ts"
import type * as Fields from "./internal/config.ts"
import * as Errors from "./internal/errors.ts"
import * as Models from "./internal/models.ts"
import * as PromptWriter from "./internal/prompt.ts"
import * as Output from "./internal/response.ts"
import * as Events from "./internal/stream.ts"
import * as Structured from "./internal/structured.ts"
import * as Tools from "./internal/tools.ts"
import * as Warnings from "./internal/warnings.ts"

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
  const { model } = options
  const codecTransformer = options.codecTransformer ?? Structured.transformerOf(model.provider, model.modelId)
  const log = Warnings.make(model)
  const begin = (request: LanguageModel.ProviderOptions, method: string) =>
    Effect.map(
      Effect.flatMap(Effect.serviceOption(Config), (override) =>
        Effect.fromResult(
          prepare(model, request, { ...options.config, ...Option.getOrUndefined(override) }, codecTransformer)
        )),
      (call) => {
        annotateRequest(request.span, model, call.params)
        return call
      }
    ).pipe(Effect.mapError((reason) => Errors.make(reason, { method })))

  return Approval.make({
    codecTransformer,
    generateText: (request) =>
      Effect.gen(function*() {
        const call = yield* begin(request, "generateText")
        const result = yield* Effect.tryPromise({
          try: (signal) => Models.generate(model, { ...call.params, abortSignal: signal }) as Promise<
            Models.GenerateResult
          >,
          catch: (error) => Errors.fromUnknown(error, { method: "generateText" })
        })
        const warned = log(result.warnings)
        if (warned !== undefined) yield* warned
        const parts = Output.parts(result, call.reading)
        annotateResponse(
          request.span,
          parts[parts.length - 1] as Response.FinishPartEncoded,
          parts.find((part) => part.type === "response-metadata")
        )
        return call.readCall === undefined ? parts : yield* Effect.forEach(parts, call.readCall)
      }),
    streamText: (request) =>
      Stream.unwrap(Effect.map(begin(request, "streamText"), (call) =>
        Events.parts((abortSignal) => Models.stream(model, { ...call.params, abortSignal }), {
          ...call.reading,
          method: "streamText",
          readCall: call.readCall,
          onWarnings: log,
          onFinish: (finish, metadata) => annotateResponse(request.span, finish, metadata)
        })))
  }, options.approval)
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

// =============================================================================
// Internals
// =============================================================================

interface Call {
  readonly params: Models.CallOptions
  readonly reading: Output.Options
  /** Reads the params of a call as its tool has them; `undefined` where that changes nothing. */
  readonly readCall: (<P extends { readonly type: string }>(part: P) => Effect.Effect<P>) | undefined
}

const prepare = (
  model: Model,
  request: LanguageModel.ProviderOptions,
  config: ConfigFields,
  transformer: LanguageModel.CodecTransformer
): Result.Result<Call, AiError.AiErrorReason> =>
  Result.gen(function*() {
    const tools = yield* Tools.prepare(request, transformer)
    const responseFormat = yield* Structured.format(request.responseFormat, transformer)
    const history = Approvals.read(request.prompt.content, model.provider)
    const directory = Tools.directory(request.tools, transformer)
    return {
      params: {
        ...config as Partial<Models.CallOptions>,
        prompt: PromptWriter.make(request.prompt.content, history, model.specificationVersion),
        ...tools,
        ...(responseFormat === undefined ? undefined : { responseFormat })
      },
      reading: { provider: model.provider, directory, history, isStructured: responseFormat !== undefined },
      readCall: directory.hasStrict ? readCall(directory) : undefined
    }
  })

// What does not fit is returned as it came: whoever decodes it for the tool says what is wrong with it.
const readCall = (directory: Tools.Directory) => <P extends { readonly type: string }>(part: P): Effect.Effect<P> => {
  if (!isLocalCall(part)) return Effect.succeed(part)
  const decode = directory.decode(part.name)
  return decode === undefined
    ? Effect.succeed(part)
    : Effect.match(decode(part.params), { onFailure: () => part, onSuccess: (params) => ({ ...part, params }) })
}

const isLocalCall = <P extends { readonly type: string }>(part: P): part is P & Response.ToolCallPartEncoded =>
  part.type === "tool-call" && !("providerExecuted" in part && part.providerExecuted === true)

const annotateRequest = (
  span: LanguageModel.ProviderOptions["span"],
  model: Model,
  params: Models.CallOptions
): void =>
  Telemetry.addGenAIAnnotations(span, {
    provider: { name: model.provider },
    operation: { name: "chat" },
    request: {
      model: model.modelId,
      temperature: params.temperature,
      topP: params.topP,
      topK: params.topK,
      maxTokens: params.maxOutputTokens
    }
  })

const annotateResponse = (
  span: LanguageModel.ProviderOptions["span"],
  finish: Response.FinishPartEncoded,
  metadata: Response.ResponseMetadataPartEncoded | undefined
): void =>
  Telemetry.addGenAIAnnotations(span, {
    response: { id: metadata?.id, model: metadata?.modelId, finishReasons: [finish.reason] },
    usage: { inputTokens: finish.usage.inputTokens.total, outputTokens: finish.usage.outputTokens.total }
  })
