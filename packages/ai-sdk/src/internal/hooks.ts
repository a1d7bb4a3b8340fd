/** What a language model is made of: how each request goes to the model, and how its response comes back. */
import type * as AiError from "effect/ai/AiError"
import type * as LanguageModel from "effect/ai/LanguageModel"
import type * as Response from "effect/ai/Response"
import * as Telemetry from "effect/ai/Telemetry"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as Approvals from "./approvals.ts"
import type * as Fields from "./config.ts"
import * as Errors from "./errors.ts"
import * as Models from "./models.ts"
import * as PromptWriter from "./prompt.ts"
import * as Output from "./response.ts"
import * as Events from "./stream.ts"
import * as Structured from "./structured.ts"
import * as Tools from "./tools.ts"
import * as Warnings from "./warnings.ts"

export interface Options {
  readonly model: Models.Model
  readonly config?: Fields.Fields | undefined
  /** What wins over it for one request. */
  readonly override: Effect.Effect<Fields.Fields | undefined>
  readonly codecTransformer?: LanguageModel.CodecTransformer | undefined
}

export type Hooks = Parameters<typeof LanguageModel.make>[0]

export const make = (options: Options): Hooks => {
  const { model } = options
  const codecTransformer = options.codecTransformer ?? Structured.transformerOf(model.provider, model.modelId)
  const log = Warnings.make(model)
  const begin = (request: LanguageModel.ProviderOptions, method: string) =>
    Effect.map(
      Effect.flatMap(
        Effect.zip(options.override, Approvals.read(request.prompt.content, model.provider)),
        ([override, history]) =>
          Effect.fromResult(prepare(model, request, history, { ...options.config, ...override }, codecTransformer))
      ),
      (call) => {
        annotateRequest(request.span, model, call.params)
        return call
      }
    ).pipe(Effect.mapError((reason) => Errors.make(reason, { method })))

  return {
    codecTransformer,
    generateText: (request) =>
      Effect.gen(function*() {
        const call = yield* begin(request, "generateText")
        const result = yield* Effect.tryPromise({
          try: (signal) =>
            Models.generate(model, { ...call.params, abortSignal: signal }) as Promise<
              Models.GenerateResult
            >,
          catch: (error) => Errors.fromUnknown(error, { method: "generateText" })
        })
        const warned = log(result.warnings)
        if (warned !== undefined) yield* warned
        const parts = yield* Effect.try({
          try: () => Output.parts(result, call.reading),
          catch: () => Errors.malformed({ method: "generateText" })
        })
        annotateResponse(
          request.span,
          parts[parts.length - 1] as Response.FinishPartEncoded,
          parts.find((part) => part.type === "response-metadata")
        )
        return call.readCall === undefined ? parts : yield* Effect.forEach(parts, call.readCall)
      }),
    streamText: (request) =>
      Stream.unwrap(
        Effect.map(begin(request, "streamText"), (call) =>
          Events.parts((abortSignal) =>
            Models.stream(model, { ...call.params, abortSignal }), {
            ...call.reading,
            method: "streamText",
            readCall: call.readCall,
            onWarnings: log,
            onFinish: (finish, metadata) => annotateResponse(request.span, finish, metadata)
          }))
      )
  }
}

interface Call {
  readonly params: Models.CallOptions
  readonly reading: Output.Options
  /** Reads the params of a call as its tool has them; `undefined` where that changes nothing. */
  readonly readCall: (<P extends { readonly type: string }>(part: P) => Effect.Effect<P>) | undefined
}

const prepare = (
  model: Models.Model,
  request: LanguageModel.ProviderOptions,
  history: Approvals.History,
  config: Fields.Fields,
  transformer: LanguageModel.CodecTransformer
): Result.Result<Call, AiError.AiErrorReason> =>
  Result.gen(function*() {
    const tools = yield* Tools.prepare(request, transformer)
    const responseFormat = yield* Structured.format(request.responseFormat, transformer)
    const directory = Tools.directory(request.tools, transformer)
    return {
      params: {
        ...config as Partial<Models.CallOptions>,
        prompt: PromptWriter.make(request.prompt.content, history, model, request.tools),
        ...tools,
        ...(responseFormat === undefined ? undefined : { responseFormat })
      },
      reading: {
        provider: model.provider,
        directory,
        history,
        takesAnyCall: request.toolCallValidation === "deferred",
        isStructured: responseFormat !== undefined
      },
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
  model: Models.Model,
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
