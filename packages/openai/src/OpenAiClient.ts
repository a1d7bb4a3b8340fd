/**
 * OpenAI's official SDK as a service: responses as effects and streams, its errors as `AiError`.
 *
 * The SDK is held on a short leash. It reads nothing of the environment: what is not given here is not used. It logs
 * nothing. The key, the headers and the requests appear in no error, log, span or printed value.
 *
 * @since 0.1.0
 */
import type * as AiError from "effect/ai/AiError"
import * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type * as Stream from "effect/Stream"
import type OpenAI from "openai"
import type * as Responses from "openai/resources/responses/responses"
import * as Errors from "./internal/client/errors.ts"
import * as Fetch from "./internal/client/fetch.ts"
import * as Sdk from "./internal/client/sdk.ts"
import * as Secrets from "./internal/tools/secrets.ts"

// =============================================================================
// Models
// =============================================================================

// Exported from here, because a declaration file keeps only such imports, and with them what they add to the reasons.
export type { ErrorMetadata, RateLimitMetadata } from "./internal/client/errors.ts"

/**
 * A key, or an effect that gives one: it is run before each request, as for the tokens of Microsoft Entra, which expire.
 * What it fails with is the error of the request.
 *
 * @example
 * import { AiError } from "@assent/ai"
 * import { OpenAiClient } from "@assent/openai"
 * import { Effect, Redacted } from "effect"
 *
 * // In a program: `new DefaultAzureCredential()` of `@azure/identity`, which keeps a token until it expires.
 * const credential = { getToken: (scope: string) => Promise.resolve({ token: `token for ${scope.slice(8, 25)}` }) }
 *
 * const apiKey: OpenAiClient.ApiKey = Effect.tryPromise({
 *   try: () => credential.getToken("https://cognitiveservices.azure.com/.default"),
 *   catch: () => AiError.make({
 *     module: "Entra",
 *     method: "getToken",
 *     reason: new AiError.AuthenticationError({ kind: "InvalidKey", description: "Run `az login`." })
 *   })
 * }).pipe(Effect.map(({ token }) => Redacted.make(token.replaceAll(" ", "-"))))
 *
 * const sent: Array<string | null> = []
 * const Azure = OpenAiClient.layer({
 *   apiUrl: "https://NAME.openai.azure.com/openai/v1",
 *   apiKey,
 *   fetch: (_url, init) => {
 *     sent.push(new Headers(init?.headers).get("authorization"))
 *     return Promise.resolve(Response.json({ id: "resp_1", output: [] }))
 *   }
 * })
 *
 * const program = Effect.flatMap(OpenAiClient.OpenAiClient, (openai) =>
 *   openai.createResponse({ model: "my-deployment", input: "Hello." }))
 * await Effect.runPromise(Effect.provide(program, Azure))
 *
 * sent // => ["Bearer token-for-cognitiveservices"]
 *
 * @category models
 * @since 0.1.0
 */
export type ApiKey = Redacted.Redacted<string> | Effect.Effect<Redacted.Redacted<string>, AiError.AiError>

/**
 * What a client may be told.
 *
 * @category options
 * @since 0.1.0
 */
export interface Options {
  /** The API key. Without one the client is not made; a server that needs none takes any, such as `"none"`. */
  readonly apiKey?: ApiKey | undefined
  /** Where the API is; `https://api.openai.com/v1` when left out. */
  readonly apiUrl?: string | undefined
  /** The organization to bill, for keys that belong to several. */
  readonly organizationId?: Redacted.Redacted<string> | undefined
  /** The project to bill, for keys that belong to several. */
  readonly projectId?: Redacted.Redacted<string> | undefined
  /** Headers of every request, such as a gateway's own key. */
  readonly headers?: Readonly<Record<string, string | Redacted.Redacted<string>>> | undefined
  /**
   * What sends the requests, for a proxy or a test. When left out, the `HttpClient` that is provided where the client is made,
   * and without one the platform's `fetch`.
   */
  readonly fetch?: ((input: string | URL | Request, init?: RequestInit) => Promise<Response>) | undefined
  /**
   * How long a response may take to begin, for each attempt, and how long the next event of a stream may take; 10
   * minutes when left out.
   */
  readonly timeout?: Duration.Input | undefined
  /**
   * How often the SDK tries again after a failed connection, a timeout, or the statuses 408, 409, 429 and 5xx, waiting
   * as long as `retry-after` says; twice when left out. It does so only before a response begins: nothing that was
   * emitted is ever emitted again.
   */
  readonly maxRetries?: number | undefined
  /** The SDK refuses to run in a browser, where everyone can read the key, unless this is `true`. */
  readonly dangerouslyAllowBrowser?: boolean | undefined
}

/**
 * Where the options come from: each from its own `Config`. What is left out comes from the environment's variable of
 * OpenAI's own name, or is not used where there is none.
 *
 * @category options
 * @since 0.1.0
 */
export interface ConfigOptions {
  /** The API key; `OPENAI_API_KEY` when left out. */
  readonly apiKey?: Config.Config<Redacted.Redacted<string> | undefined> | undefined
  /** Where the API is; `OPENAI_BASE_URL` when left out. */
  readonly apiUrl?: Config.Config<string | undefined> | undefined
  /** The organization to bill; `OPENAI_ORG_ID` when left out. */
  readonly organizationId?: Config.Config<Redacted.Redacted<string> | undefined> | undefined
  /** The project to bill; `OPENAI_PROJECT_ID` when left out. */
  readonly projectId?: Config.Config<Redacted.Redacted<string> | undefined> | undefined
  /** Headers of every request. No variable stands for them. */
  readonly headers?: Options["headers"]
  /** What sends the requests; the platform's `fetch` when left out. */
  readonly fetch?: Options["fetch"]
  /** As {@link Options} has it. */
  readonly timeout?: Options["timeout"]
  /** As {@link Options} has it. */
  readonly maxRetries?: Options["maxRetries"]
  /** As {@link Options} has it. */
  readonly dangerouslyAllowBrowser?: Options["dangerouslyAllowBrowser"]
}

// =============================================================================
// Service
// =============================================================================

/**
 * What the provider needs of OpenAI.
 *
 * @category services
 * @since 0.1.0
 */
export interface Service {
  /** The SDK's own client, for whatever this service does not do. It does not show its key when it is printed. */
  readonly client: OpenAI
  /** One response. Interruption aborts the request. */
  readonly createResponse: (
    params: Responses.ResponseCreateParamsNonStreaming
  ) => Effect.Effect<Responses.Response, AiError.AiError>
  /**
   * The events of one response as they come. A reader who leaves closes the connection; one who is slow is waited for.
   *
   * It fails where the response does not end with an event that ends a response, and for an `error` event. The event
   * `response.failed` is an event like others.
   */
  readonly createResponseStream: (
    params: Responses.ResponseCreateParamsStreaming
  ) => Stream.Stream<Responses.ResponseStreamEvent, AiError.AiError>
}

/**
 * OpenAI, as a service.
 *
 * @example
 * import { OpenAiClient } from "@assent/openai"
 * import { Effect, Redacted } from "effect"
 *
 * // For what the language model does not do, such as a request of one's own.
 * const program = Effect.gen(function*() {
 *   const openai = yield* OpenAiClient.OpenAiClient
 *   const response = yield* openai.createResponse({ model: "gpt-5.2", input: "Hello.", store: false })
 *   return response.id
 * })
 *
 * const OpenAi = OpenAiClient.layer({
 *   apiKey: Redacted.make("sk-1"),
 *   fetch: () => Promise.resolve(Response.json({ id: "resp_1", output: [] }))
 * })
 *
 * await Effect.runPromise(Effect.provide(program, OpenAi)) // => "resp_1"
 *
 * @category services
 * @since 0.1.0
 */
export class OpenAiClient extends Context.Service<OpenAiClient, Service>()("@assent/openai/OpenAiClient") {}

// =============================================================================
// Constructors
// =============================================================================

/**
 * Makes a client. Fails with `AiError` where there is no key, or where key, address or headers cannot be used; nothing
 * is sent yet.
 *
 * @example
 * import { OpenAiClient } from "@assent/openai"
 * import { Effect, Redacted } from "effect"
 *
 * const client = await Effect.runPromise(OpenAiClient.make({ apiKey: Redacted.make("sk-test") }))
 *
 * client.client.baseURL // => "https://api.openai.com/v1"
 * JSON.stringify(client.client) // => '{"_tag":"OpenAI","baseURL":"https://api.openai.com/v1"}'
 *
 * const failed = await Effect.runPromise(Effect.flip(OpenAiClient.make({})))
 *
 * failed.reason._tag // => "AuthenticationError"
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): Effect.Effect<Service, AiError.AiError> =>
  Effect.gen(function*() {
    const http = yield* Effect.serviceOption(HttpClient.HttpClient)
    const run = Effect.runPromiseWith(yield* Effect.context<never>())
    const known: Array<string> = []
    // What is never said of a request: the keys of now.
    const keyOf = (key: Redacted.Redacted<string> | undefined) =>
      Effect.tap(usableKey(key), (text) => Effect.sync(() => known.splice(0, 1, text)))
    const { apiKey: given } = options
    const isLate = Effect.isEffect(given)
    const apiKey = isLate ? () => run(Effect.flatMap(given, keyOf)) : yield* keyOf(given)
    const baseURL = options.apiUrl?.trim() || defaultUrl
    if (!URL.canParse(baseURL) || !/^https?:/i.test(baseURL)) {
      return yield* Errors.invalidUrl(
        "`apiUrl` (OPENAI_BASE_URL) must be an address such as https://api.openai.com/v1.",
        { method: "make", url: baseURL }
      )
    }
    const timeout = Duration.fromInputUnsafe(options.timeout ?? defaultTimeout)
    const organization = reveal(options.organizationId)
    const project = reveal(options.projectId)
    const headers = Object.entries(options.headers ?? {}).map(([name, value]): [string, string] => [
      name,
      reveal(value) ?? ""
    ])
    if (isLate) known.push("")
    for (const value of [organization, project, ...headers.map(([, value]) => value)]) {
      if (value !== null) known.push(value)
    }
    const context = (method: string, params?: Responses.ResponseCreateParams) => ({
      method,
      url: `${baseURL.replace(/\/$/, "")}/responses`,
      timeout,
      secrets: () => [
        ...known.filter((secret) => secret.length > 0),
        ...params === undefined ? [] : Secrets.ofParams(params)
      ]
    })
    const client = yield* Effect.try({
      try: () => {
        // Refused here rather than in every request, by the platform's own rules.
        void new Headers([
          ...headers,
          ["openai-organization", organization ?? ""],
          ["openai-project", project ?? ""]
        ])
        return Sdk.makeClient({
          apiKey,
          baseURL,
          organization,
          project,
          headers: Object.fromEntries(headers),
          fetch: options.fetch ?? Option.getOrUndefined(Option.map(http, Fetch.ofHttpClient(run))),
          timeout,
          maxRetries: options.maxRetries,
          dangerouslyAllowBrowser: options.dangerouslyAllowBrowser === true
        })
      },
      catch: (error) => Errors.fromUnknown(error, context("make"))
    })
    Secrets.remember(client, known)
    return identity<Service>({
      client,
      createResponse: (params) => Sdk.createResponse(client, params, context("createResponse", params)),
      createResponseStream: (params) => Sdk.streamEvents(client, params, context("createResponseStream", params))
    })
  })

// =============================================================================
// Layers
// =============================================================================

/**
 * A client of these options.
 *
 * @example
 * import { OpenAiClient } from "@assent/openai"
 * import { Effect, Redacted } from "effect"
 *
 * const program = Effect.gen(function*() {
 *   const openai = yield* OpenAiClient.OpenAiClient
 *   return openai.client.maxRetries
 * })
 *
 * const Client = OpenAiClient.layer({
 *   apiKey: Redacted.make("sk-test"),
 *   apiUrl: "https://gateway.example.com/v1",
 *   headers: { "x-gateway-key": Redacted.make("secret") },
 *   maxRetries: 4
 * })
 *
 * await Effect.runPromise(Effect.provide(program, Client)) // => 4
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options): Layer.Layer<OpenAiClient, AiError.AiError> =>
  Layer.effect(OpenAiClient, make(options))

/**
 * A client configured by `OPENAI_API_KEY`, `OPENAI_BASE_URL`, `OPENAI_ORG_ID` and `OPENAI_PROJECT_ID`, or by other
 * configs.
 *
 * @example
 * import { OpenAiClient } from "@assent/openai"
 * import { Config, ConfigProvider, Effect, Layer } from "effect"
 *
 * const Client = OpenAiClient.layerConfig({ apiUrl: Config.String("GATEWAY_URL") })
 *
 * const environment = ConfigProvider.layer(ConfigProvider.fromUnknown({
 *   OPENAI_API_KEY: "sk-test",
 *   GATEWAY_URL: "https://gateway.example.com/v1"
 * }))
 *
 * const program = Effect.map(OpenAiClient.OpenAiClient, (openai) => openai.client.baseURL)
 *
 * const url = await Effect.runPromise(Effect.provide(program, Layer.provide(Client, environment)))
 *
 * url // => "https://gateway.example.com/v1"
 *
 * @category layers
 * @since 0.1.0
 */
export const layerConfig = (
  options?: ConfigOptions
): Layer.Layer<OpenAiClient, AiError.AiError | Config.ConfigError> =>
  Layer.effect(
    OpenAiClient,
    Effect.gen(function*() {
      return yield* make({
        ...options,
        apiKey: yield* options?.apiKey ?? optional(Config.Redacted("OPENAI_API_KEY")),
        apiUrl: yield* options?.apiUrl ?? optional(Config.String("OPENAI_BASE_URL")),
        organizationId: yield* options?.organizationId ?? optional(Config.Redacted("OPENAI_ORG_ID")),
        projectId: yield* options?.projectId ?? optional(Config.Redacted("OPENAI_PROJECT_ID"))
      })
    })
  )

// =============================================================================
// Internals
// =============================================================================

const defaultUrl = "https://api.openai.com/v1"

const defaultTimeout: Duration.Input = "10 minutes"

const optional = <A>(config: Config.Config<A>): Config.Config<A | undefined> =>
  Config.map(Config.option(config), Option.getOrUndefined)

/** The text; `null`, as the SDK has it, for none. */
const reveal = (value: string | Redacted.Redacted<string> | undefined): string | null => {
  const text = Redacted.isRedacted(value) ? Redacted.value(value) : value
  return text === undefined || text.trim() === "" ? null : text.trim()
}

const usableKey = (apiKey: Redacted.Redacted<string> | undefined): Effect.Effect<string, AiError.AiError> => {
  const key = reveal(apiKey)
  if (key === null) {
    return Effect.fail(Errors.invalidKey(
      "MissingKey",
      "Write `export OPENAI_API_KEY=sk-…` before you start the program and use `OpenAiClient.layerConfig()`, or pass " +
        "`OpenAiClient.layer({ apiKey: Redacted.make(…) })`",
      "make"
    ))
  }
  // The platform would quote the whole key in its own error.
  return /^[\x21-\x7e]+$/.test(key) ? Effect.succeed(key) : Effect.fail(Errors.invalidKey(
    "InvalidKey",
    "It contains a space or another character that keys do not have: copy it again",
    "make"
  ))
}
