/**
 * OpenAI's Responses API as a `LanguageModel`, with approvals.
 *
 * Text, reasoning, images and files, function tools, structured output, the tools that OpenAI runs itself, and hosted
 * MCP servers whose calls a person approves. Histories are kept where the program keeps them, by `ResponseIdTracker`
 * incrementally, or at OpenAI in a conversation; `store: false` leaves nothing there.
 *
 * @since 0.1.0
 */
import * as Approval from "@assent/ai/LanguageModel"
import * as AiError from "effect/ai/AiError"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as AiModel from "effect/ai/Model"
import { toCodecOpenAI } from "effect/ai/OpenAiStructuredOutput"
import type * as Response from "effect/ai/Response"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { dual } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type * as Responses from "openai/resources/responses/responses"
import type { ResponsesModel } from "openai/resources/shared"
import * as Approvals from "./internal/approvals/approvals.ts"
import * as Sealing from "./internal/approvals/sealing.ts"
import * as Errors from "./internal/client/errors.ts"
import type * as Fields from "./internal/request/config.ts"
import * as Request from "./internal/request/request.ts"
import * as Structured from "./internal/request/structured.ts"
import * as Events from "./internal/response/events.ts"
import * as Output from "./internal/response/output.ts"
import * as Spans from "./internal/response/spans.ts"
import * as Secrets from "./internal/tools/secrets.ts"
import * as Tools from "./internal/tools/tools.ts"
import { OpenAiClient } from "./OpenAiClient.ts"

// =============================================================================
// Models
// =============================================================================

/**
 * The name of a model: those the SDK knows, and any other.
 *
 * @category models
 * @since 0.1.0
 */
export type Model = ResponsesModel

// Named here, so that the types of parts are extended for whoever imports this module.
export type {
  FileCitation,
  FinishMetadata,
  ImageDetail,
  ItemMetadata,
  ReasoningMetadata,
  TextMetadata,
  ToolCallMetadata,
  ToolResultMetadata,
  UrlCitation
} from "./internal/augment.ts"

// =============================================================================
// Configuration
// =============================================================================

/**
 * What can be said of a request: the fields of the Responses API, with OpenAI's names, and a few of ours.
 *
 * `conversation` and `previous_response_id` say where OpenAI goes on from; what it knows of the prompt already, by the
 * parts' own metadata, is not sent again. With `store: false` OpenAI keeps nothing, and every item goes back whole.
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
 * import { OpenAiClient, OpenAiLanguageModel } from "@assent/openai"
 * import { ResponsesServer } from "@assent/openai/testing"
 * import { Effect, Layer, Redacted } from "effect"
 *
 * const program = Effect.gen(function*() {
 *   const server = yield* ResponsesServer.make({ turns: ["Hello!"] })
 *   const OpenAi = OpenAiLanguageModel.layer({ model: "gpt-5.2" }).pipe(
 *     Layer.provide(OpenAiClient.layer({ apiKey: Redacted.make(server.apiKey), apiUrl: server.url }))
 *   )
 *   yield* LanguageModel.generateText({ prompt: "Hi" }).pipe(
 *     Effect.provideService(OpenAiLanguageModel.Config, { max_output_tokens: 100 }),
 *     Effect.provide(OpenAi)
 *   )
 *   return (yield* server.requests).map(({ body }) => body)
 * })
 *
 * const [body] = await Effect.runPromise(Effect.scoped(program))
 *
 * JSON.stringify(body).includes(`"max_output_tokens":100`) // => true
 *
 * @category configuration
 * @since 0.1.0
 */
export class Config extends Context.Service<Config, ConfigFields>()("@assent/openai/OpenAiLanguageModel/Config") {}

/**
 * Overrides the configuration for the requests of an effect; fields that are not named stay as they are.
 *
 * @example
 * import { LanguageModel } from "@assent/ai"
 * import { OpenAiClient, OpenAiLanguageModel } from "@assent/openai"
 * import { ResponsesServer } from "@assent/openai/testing"
 * import { Effect, Layer, Redacted } from "effect"
 *
 * const program = Effect.gen(function*() {
 *   const server = yield* ResponsesServer.make({ turns: ["Hello!"] })
 *   const OpenAi = OpenAiLanguageModel.layer({ model: "gpt-5.2", config: { temperature: 0, store: false } }).pipe(
 *     Layer.provide(OpenAiClient.layer({ apiKey: Redacted.make(server.apiKey), apiUrl: server.url }))
 *   )
 *   yield* LanguageModel.generateText({ prompt: "Hi" }).pipe(
 *     OpenAiLanguageModel.withConfigOverride({ temperature: 1 }),
 *     Effect.provide(OpenAi)
 *   )
 *   return (yield* server.requests).map(({ body }) => body)
 * })
 *
 * const [body] = await Effect.runPromise(Effect.scoped(program))
 *
 * JSON.stringify(body).includes('"temperature":1,"store":false') // => true
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
  readonly config?: Omit<ConfigFields, "model"> | undefined
  /** How the approval engine behaves; every field has a safe default. */
  readonly approval?: Approval.ApprovalOptions | undefined
}

/**
 * A `LanguageModel` of OpenAI's, with approvals of local calls and of calls on hosted MCP servers.
 *
 * A call on a hosted server that waits is a tool call with the params `{ server_label, name, arguments }` and a request
 * with OpenAI's own id. What OpenAI ran for it is the result of that call, also in a later response; a denied call has
 * no result. Items that no part stands for, or whose tool is not in the toolkit, are reasoning parts without text that
 * carry the item, so that OpenAI gets it back.
 *
 * @example
 * import { Approval, Chat, LanguageModel, Prompt, Response, Toolkit } from "@assent/ai"
 * import { OpenAiClient, OpenAiLanguageModel, OpenAiTool } from "@assent/openai"
 * import { ResponsesServer } from "@assent/openai/testing"
 * import { Effect, Redacted } from "effect"
 *
 * const toolkit = Toolkit.make(OpenAiTool.Mcp({ server_label: "dice", server_url: "https://dice.example.com/mcp" }))
 *
 * const program = Effect.gen(function*() {
 *   const server = yield* ResponsesServer.make({
 *     mcpServers: { dice: [{ name: "roll", run: () => Effect.succeed("4") }] },
 *     turns: [[ResponsesServer.mcpCall({ server: "dice", name: "roll" })], "You rolled a four."]
 *   })
 *   const model = yield* OpenAiLanguageModel.make({ model: "gpt-5.2" }).pipe(
 *     Effect.provide(OpenAiClient.layer({ apiKey: Redacted.make(server.apiKey), apiUrl: server.url }))
 *   )
 *   const chat = yield* Chat.empty
 *   const answer = Effect.gen(function*() {
 *     let turn = yield* chat.generateText({ prompt: "Roll a die.", toolkit })
 *     while (Response.isWaiting(turn)) {
 *       const answers = Response.approvalRequests(turn).map((request) => Approval.approve(request))
 *       turn = yield* chat.generateText({ prompt: Prompt.approvalResponses(answers), toolkit })
 *     }
 *     return turn.text
 *   })
 *   return yield* Effect.provideService(answer, LanguageModel.LanguageModel, model)
 * })
 *
 * await Effect.runPromise(Effect.scoped(program)) // => "You rolled a four."
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): Effect.Effect<LanguageModel.LanguageModel, never, OpenAiClient> =>
  Effect.flatMap(OpenAiClient, (client) => {
    const resolve = Effect.map(Effect.serviceOption(Config), (override): Fields.Resolved => ({
      ...options.config,
      ...Option.getOrUndefined(override),
      model: Option.getOrUndefined(override)?.model ?? options.model
    }))
    // Models that refused to encrypt what they do not reason are not asked again.
    const unencrypted = new Set<string>()
    const begin = (providerOptions: LanguageModel.ProviderOptions, method: string) =>
      Effect.flatMap(resolve, (config) => prepare(providerOptions, config, method, unencrypted))

    return Approval.make({
      codecTransformer: toCodecOpenAI,
      supportsSystemMessagesInHistory: Effect.succeed(true),
      generateText: (providerOptions) =>
        Effect.flatMap(begin(providerOptions, "generateText"), (call) => {
          const send = (form: Request.Form): Effect.Effect<Responses.Response, AiError.AiError> =>
            Effect.catch(client.createResponse(call.params(form)), (error) => {
              const next = call.again(error, form)
              return next === undefined ? Effect.fail(error) : send(next)
            })
          const params = call.params(call.form)
          const request = Spans.request(params, providerOptions, client.client.baseURL)
          return Spans.around(request, providerOptions.span, (spans) =>
            Effect.gen(function*() {
              const response = yield* send(call.form)
              if (response.status === "failed") {
                return yield* Errors.fromProviderError(response.error ?? {}, {
                  module: "OpenAiLanguageModel",
                  method: "generateText",
                  secrets: () => Secrets.ofRequest(client.client, params)
                })
              }
              const read = yield* Effect.try({
                try: () => Output.parts(response, call.reading),
                catch: () => Errors.misfit({ module: "OpenAiLanguageModel", method: "generateText" })
              })
              const parts = yield* Effect.forEach(read, call.readCall)
              for (const part of parts) if (part.type === "finish") spans.ended(response, part)
              const refusal = providerOptions.responseFormat.type === "json" ? refusalOf(parts) : undefined
              return refusal === undefined ? parts : yield* refused(refusal)
            }))
        }),
      streamText: (providerOptions) =>
        Stream.unwrap(Effect.map(begin(providerOptions, "streamText"), (call) => {
          const request = Spans.request(call.params(call.form), providerOptions, client.client.baseURL)
          return Spans.aroundStream(request, providerOptions.span, (spans) => {
            let started = false
            const send = (form: Request.Form): ReturnType<typeof Events.parts> => {
              const params = call.params(form)
              const events = Events.parts(client.createResponseStream({ ...params, stream: true }), {
                ...call.reading,
                readCall: call.readCall,
                secrets: () => Secrets.ofRequest(client.client, params),
                onStart: () => {
                  started = true
                },
                onEnd: spans.ended
              })
              return Stream.catch(events, (error) => {
                const next = started ? undefined : call.again(error, form)
                return next === undefined ? Stream.fail(error) : send(next)
              })
            }
            return send(call.form)
          })
        }))
    }, options.approval)
  })

/**
 * OpenAI as the `LanguageModel` of a program.
 *
 * @example
 * import { LanguageModel } from "@assent/ai"
 * import { OpenAiClient, OpenAiLanguageModel } from "@assent/openai"
 * import { ResponsesServer } from "@assent/openai/testing"
 * import { Effect, Layer, Redacted } from "effect"
 *
 * const program = Effect.gen(function*() {
 *   const server = yield* ResponsesServer.make({ turns: ["Hello!"] })
 *   const OpenAi = OpenAiLanguageModel.layer({ model: "gpt-5.2" }).pipe(
 *     Layer.provide(OpenAiClient.layer({ apiKey: Redacted.make(server.apiKey), apiUrl: server.url }))
 *   )
 *   const response = yield* Effect.provide(LanguageModel.generateText({ prompt: "Hi" }), OpenAi)
 *   return response.text
 * })
 *
 * await Effect.runPromise(Effect.scoped(program)) // => "Hello!"
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options): Layer.Layer<LanguageModel.LanguageModel, never, OpenAiClient> =>
  Layer.effect(LanguageModel.LanguageModel, make(options))

/**
 * A model of OpenAI's, which can be provided like a layer and tells provider and model name.
 *
 * @example
 * import { Model } from "@assent/ai"
 * import { OpenAiClient, OpenAiLanguageModel } from "@assent/openai"
 * import { Effect, Redacted } from "effect"
 *
 * const program = Effect.gen(function*() {
 *   return `${yield* Model.ProviderName} ${yield* Model.ModelName}`
 * })
 *
 * await Effect.runPromise(program.pipe(
 *   Effect.provide(OpenAiLanguageModel.model("gpt-5.2", { store: false })),
 *   Effect.provide(OpenAiClient.layer({ apiKey: Redacted.make("sk-test") }))
 * )) // => "openai gpt-5.2"
 *
 * @category constructors
 * @since 0.1.0
 */
export const model = (
  model: Model,
  config?: Omit<ConfigFields, "model">
): AiModel.Model<"openai", LanguageModel.LanguageModel, OpenAiClient> =>
  AiModel.make("openai", model, layer({ model, config }))

// =============================================================================
// Internals
// =============================================================================

interface Call {
  readonly form: Request.Form
  readonly params: (form: Request.Form) => Responses.ResponseCreateParamsNonStreaming
  /** How a request that OpenAI refused is made once more; `undefined` where that would change nothing. */
  readonly again: (error: AiError.AiError, form: Request.Form) => Request.Form | undefined
  readonly reading: Output.Reading
  /** Reads the params of a call as its tool has them. */
  readonly readCall: <P extends { readonly type: string }>(part: P) => Effect.Effect<P>
}

const isLocalCall = (part: { readonly type: string }): part is Response.ToolCallPartEncoded =>
  part.type === "tool-call" && !("providerExecuted" in part && part.providerExecuted === true)

const prepare = Effect.fnUntraced(function*(
  options: LanguageModel.ProviderOptions,
  config: Fields.Resolved,
  method: string,
  unencrypted: Set<string>
): Effect.fn.Return<Call, AiError.AiError> {
  const strict = config.strictJsonSchema ?? true
  const tools = yield* Tools.prepare({ tools: options.tools, toolChoice: options.toolChoice, strict, method })
  const format = yield* Structured.format(options.responseFormat, strict, method)
  const history = Approvals.read(options.prompt.content)
  const subject = { options, config, history, tools, format }
  const kept = config.store !== false
  // What OpenAI keeps is its own; what it does not comes back out of the history.
  if (!kept) yield* Sealing.check(history)
  const made = new Map<string, Responses.ResponseCreateParamsNonStreaming>()
  const params = (form: Request.Form) => {
    const key = JSON.stringify(form)
    const known = made.get(key) ?? Request.make(subject, form)
    made.set(key, known)
    return known
  }
  const base = Request.baseOf(config, options)
  const directory = Tools.directory(options.tools)
  return {
    form: { references: kept, encrypted: !unencrypted.has(config.model) },
    params,
    again: (error, form) => {
      if (form.references && isNotFound(error) && namesItems(params(form))) return { ...form, references: false }
      if (!form.encrypted || !Request.mayBeRefused(subject) || !isUnencrypted(error)) return undefined
      unencrypted.add(config.model)
      return { ...form, encrypted: false }
    },
    reading: {
      directory,
      callOf: (givenId) => history.lastOf(givenId)?.call.id,
      isAsked: (approvalId) => history.byApproval.has(approvalId),
      kept,
      conversationId: base.type === "conversation" ? base.id : undefined
    },
    readCall: (part) => {
      if (!isLocalCall(part)) return Sealing.seal(part)
      return Effect.map(
        Tools.readParameters(directory.get(part.name), part.params, { strict }),
        (params) => params === part.params ? part : { ...part, params }
      )
    }
  }
})

const namesItems = ({ input }: Responses.ResponseCreateParamsNonStreaming): boolean =>
  Array.isArray(input) && input.some((item) => item.type === "item_reference")

// A turn that was cut short, or was long ago, left items in the history that OpenAI does not have.
const isNotFound = ({ reason }: AiError.AiError): boolean =>
  reason._tag === "InvalidRequestError" &&
  /^Item .*(not found|provided without its required)/.test(reason.description ?? "")

// OpenAI says it of a model without reasoning; others do not know what they are asked for.
const isUnencrypted = ({ reason }: AiError.AiError): boolean =>
  reason._tag === "InvalidRequestError" &&
  /encrypted.content/i.test(`${reason.parameter ?? ""} ${reason.description ?? ""}`)

const refusalOf = (parts: ReadonlyArray<Response.PartEncoded>): string | undefined => {
  for (const part of parts) {
    // A refusal beside a call is not yet the answer.
    if (part.type === "tool-call") return undefined
    if (part.type === "text" && typeof part.metadata?.openai?.refusal === "string") return part.metadata.openai.refusal
  }
  return undefined
}

const refused = (refusal: string) =>
  AiError.make({
    module: "OpenAiLanguageModel",
    method: "generateObject",
    reason: new AiError.ContentPolicyError({ description: `The model refused: ${refusal}` })
  })
