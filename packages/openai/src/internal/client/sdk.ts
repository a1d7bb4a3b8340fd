/**
 * The official SDK, tamed: it reads nothing of the environment, logs nothing, shows no key, and its event streams are
 * Effect's.
 */
import type * as AiError from "effect/ai/AiError"
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Channel from "effect/Channel"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as SseEvent from "effect/encoding/Sse"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type * as Pull from "effect/Pull"
import * as Redactable from "effect/Redactable"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import Sdk, { APIError, type ClientOptions } from "openai"
import type * as Responses from "openai/resources/responses/responses"
import * as Errors from "./errors.ts"
import * as ErrorText from "./errorText.ts"
import * as Sse from "./sse.ts"

// =============================================================================
// The client
// =============================================================================

/** Fields of the SDK's client that hold a secret, or options that do. */
const hidden = ["apiKey", "adminAPIKey", "webhookSecret", "organization", "project", "fetchOptions", "_options"]

const secrets = new WeakMap<object, Map<string, unknown>>()

/**
 * The SDK's client, with its secrets out of sight: they are no fields of the object but accessors of its prototype, so
 * that whatever walks through an object, for a log or an assertion, does not come upon them. The SDK uses them as ever.
 *
 * It is named as the SDK names it, which tells OpenAI so in the `User-Agent`.
 */
export class OpenAI extends Sdk {
  static {
    for (const name of hidden) {
      Object.defineProperty(this.prototype, name, {
        get(this: object): unknown {
          return secrets.get(this)?.get(name)
        },
        // The SDK's own constructor sets them, before any field of this class could be.
        set(this: object, value: unknown): void {
          const known = secrets.get(this)
          if (known === undefined) secrets.set(this, new Map([[name, value]]))
          else known.set(name, value)
        }
      })
    }
  }

  constructor(options: ClientOptions) {
    super(options)
    // The SDK adds what the variable OPENAI_CUSTOM_HEADERS says, whatever the options are.
    this._options.defaultHeaders = options.defaultHeaders
  }

  toJSON(): unknown {
    return { _tag: "OpenAI", baseURL: ErrorText.publicUrl(this.baseURL) }
  }

  override toString(): string {
    return `OpenAI(${ErrorText.publicUrl(this.baseURL)})`
  }

  [Redactable.symbolRedactable](): unknown {
    return this.toJSON()
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return this.toString()
  }
}

/** A client of exactly these options: what is left out is not looked for in the environment. */
export const makeClient = (options: {
  /** The key, or what gives one for each request. */
  readonly apiKey: string | (() => Promise<string>)
  readonly baseURL: string
  readonly organization: string | null
  readonly project: string | null
  readonly headers: Readonly<Record<string, string>> | undefined
  readonly fetch: ClientOptions["fetch"]
  readonly timeout: Duration.Duration
  readonly maxRetries: number | undefined
  readonly dangerouslyAllowBrowser: boolean
}): OpenAI =>
  new OpenAI({
    apiKey: options.apiKey,
    adminAPIKey: null,
    webhookSecret: null,
    baseURL: options.baseURL,
    organization: options.organization,
    project: options.project,
    defaultHeaders: options.headers,
    fetch: options.fetch,
    // The SDK takes milliseconds that a timer can count.
    timeout: Math.min(Duration.toMillis(options.timeout), 2_147_483_647),
    maxRetries: options.maxRetries,
    logLevel: "off",
    dangerouslyAllowBrowser: options.dangerouslyAllowBrowser
  })

// =============================================================================
// One response
// =============================================================================

export const createResponse = (
  client: Sdk,
  params: Responses.ResponseCreateParamsNonStreaming,
  context: Errors.ErrorContext
): Effect.Effect<Responses.Response, AiError.AiError> =>
  Effect.flatMap(
    Effect.tryPromise({
      // Without what `responses.create` does to the response then: it stumbles over a message without content.
      try: (signal) =>
        client.post<unknown>("/responses", { body: { ...params, stream: false }, stream: false, signal }),
      catch: (error) => Errors.fromUnknown(error, context)
    }),
    (response) =>
      isResponse(response)
        ? Effect.succeed(withOutputText(response))
        : Predicate.isObject(response) && "error" in response && Predicate.isObject(response.error)
        ? Effect.fail(Errors.fromProviderError(response.error, context))
        // Such as the page of a proxy.
        : Effect.fail(Errors.invalidResponse("The answer with status 200 is not a response of the API.", context))
  )

const isResponse = (u: unknown): u is Responses.Response =>
  typeof u === "object" && u !== null && "output" in u && Array.isArray(u.output)

// As the SDK has it: all texts of all messages.
const withOutputText = (response: Responses.Response): Responses.Response => {
  const texts = response.output.flatMap((item) =>
    item?.type === "message" && Array.isArray(item.content)
      ? item.content.flatMap((content) => content?.type === "output_text" ? [content.text ?? ""] : [])
      : []
  )
  return { ...response, output_text: texts.join("") }
}

// =============================================================================
// Events
// =============================================================================

/** How many events are read before somebody asks for them: enough for what one read of the network brings. */
const readAhead = 128

/** After the last event, how long the connection may take to end so that it can be used again. */
const endGrace: Duration.Input = "1 second"

/**
 * The events of one response.
 *
 * The SDK sends the request, as often as it has to, and gives the response to us. A pull takes all events that have come:
 * after the first the fiber yields once and finds the others. Nothing is done for each event but to parse and keep it,
 * and no more is read once `readAhead` are kept.
 */
export const streamEvents = (
  client: Sdk,
  params: Responses.ResponseCreateParamsStreaming,
  context: StreamContext
): Stream.Stream<Event, AiError.AiError> =>
  Stream.fromChannel(Channel.fromTransform((_, scope: Scope.Scope) =>
    Effect.gen(function*() {
      const clock = yield* Clock.Clock
      const controller = new AbortController()
      // Before the request, so that whatever ends the stream ends the request.
      yield* Scope.addFinalizer(scope, Effect.sync(() => controller.abort()))
      const response = yield* Effect.tryPromise({
        try: () => client.responses.create({ ...params, stream: true }, { signal: controller.signal }).asResponse(),
        catch: (error) => Errors.fromUnknown(error, context)
      })
      const type = response.headers.get("content-type")
      if (type !== null && /json|html/i.test(type)) {
        return yield* Errors.invalidResponse("The answer with status 200 is not a stream of events.", context)
      }
      if (response.body === null) return yield* Errors.cut(context)
      const reader = makeReader(Sse.make(response.body), response.headers, clock, context)
      yield* Scope.addFinalizer(scope, Effect.sync(reader.close))
      yield* Effect.forkIn(watch(reader, clock, context.timeout), scope)
      return reader.pull
    })
  ))

export interface StreamContext extends Errors.ErrorContext {
  readonly timeout: Duration.Duration
}

type Event = Responses.ResponseStreamEvent

type Message = SseEvent.Event

type EventPull = Pull.Pull<Arr.NonEmptyReadonlyArray<Event>, AiError.AiError>

interface Reader {
  readonly pull: EventPull
  /** Since when somebody has waited for the next event. */
  readonly waitingSince: () => number | undefined
  readonly stall: () => void
  readonly close: () => void
}

/** Fails a reader whose next event is awaited for longer than the limit. Time a slow reader takes does not count. */
const watch = (reader: Reader, clock: Clock.Clock, limit: Duration.Duration): Effect.Effect<void> =>
  Effect.gen(function*() {
    while (true) {
      const since = reader.waitingSince()
      const left = since === undefined
        ? limit
        : Duration.millis(since + Duration.toMillis(limit) - clock.currentTimeMillisUnsafe())
      if (Duration.toMillis(left) <= 0) return reader.stall()
      yield* clock.sleep(left)
    }
  })

/** Reads messages into a small buffer. Without effects in between, because this runs for every event. */
const makeReader = (messages: Sse.Reader, headers: Headers, clock: Clock.Clock, context: StreamContext): Reader => {
  let buffer: Array<Event> = []
  let reading = false
  // The last event of a response has come: whatever becomes of the connection now, nothing is missing.
  let complete = false
  let end: EventPull | undefined
  let waiting: { readonly since: number; readonly wake: () => void } | undefined

  const finish = (how: EventPull): void => {
    end ??= complete ? Cause.done() : how
    waiting?.wake()
  }
  const read = (): void => {
    reading = true
    messages.next().then(receive).catch(lose)
  }
  const lose = (error: unknown): void => finish(Effect.fail(Errors.fromUnknown(error, context)))
  const receive = (received: ReadonlyArray<Message> | undefined): void => {
    reading = false
    if (end !== undefined) return
    if (received === undefined) return finish(Effect.fail(Errors.cut(context)))
    for (const message of received) {
      const event = parse(message, headers, context)
      if (Result.isFailure(event)) {
        return finish(messages.hasEnded() && !isJson(message.data) ? Effect.fail(Errors.cut(context)) : event.failure)
      }
      if (event.success === undefined) continue
      complete ||= event.success.type.length < 20 && lastTypes.has(event.success.type)
      buffer.push(event.success)
    }
    if (buffer.length < readAhead) read()
    if (buffer.length > 0) waiting?.wake()
  }
  const take = (): EventPull => {
    const taken = buffer
    if (!Arr.isArrayNonEmpty(taken)) return end ?? pull
    buffer = []
    if (!reading && end === undefined) read()
    return Effect.succeed(taken)
  }
  const wait = Effect.callback<void>((resume) => {
    waiting = {
      since: clock.currentTimeMillisUnsafe(),
      wake: () => {
        waiting = undefined
        resume(Effect.void)
      }
    }
    if (end !== undefined) waiting.wake()
    else if (!reading) read()
    return Effect.sync(() => {
      waiting = undefined
    })
  })
  const pull: EventPull = Effect.suspend(() => {
    if (buffer.length > 0 || end !== undefined) return take()
    return complete
      ? Effect.flatMap(Effect.timeoutOption(wait, endGrace), (ended) => Option.isNone(ended) ? Cause.done() : take())
      : Effect.flatMap(wait, () => Effect.flatMap(Effect.yieldNow, take))
  })

  return {
    pull,
    waitingSince: () => waiting?.since,
    stall: () => finish(Effect.fail(Errors.stalled(context))),
    close: () => {
      end ??= Cause.done()
      buffer = []
      messages.close()
    }
  }
}

/** The event of a message, if it says anything; its failure is how the stream ends. */
const parse = (
  { data, event }: Message,
  headers: Headers,
  context: StreamContext
): Result.Result<Event | undefined, Effect.Effect<never, AiError.AiError>> => {
  if (data === "") return Result.succeed(undefined)
  if (data === "[DONE]") return Result.fail(Effect.fail(Errors.cut(context)))
  const parsed = Result.try((): unknown => JSON.parse(data))
  if (Result.isFailure(parsed)) return Result.fail(Effect.fail(Errors.fromUnknown(parsed.failure, context)))
  const value = parsed.success
  const error = typeof value === "object" && value !== null && "error" in value ? value.error : undefined
  if (event === "error" || Boolean(error) || (isEvent(value) && value.type === "error")) {
    const said = error || value
    const body = Predicate.isObject(said) ? said : { message: String(said) }
    return Result.fail(Effect.fail(Errors.fromUnknown(new APIError(undefined, body, undefined, headers), context)))
  }
  // One without a type is a proxy's, to keep the connection open.
  if (isEvent(value)) return Result.succeed(value)
  return Predicate.isObject(value)
    ? Result.succeed(undefined)
    : Result.fail(Effect.fail(Errors.invalidResponse("An event is not an object.", context)))
}

const isEvent = (u: unknown): u is Event =>
  typeof u === "object" && u !== null && "type" in u && typeof u.type === "string"

const isJson = (text: string): boolean => Result.isSuccess(Result.try((): unknown => JSON.parse(text)))

const lastTypes: ReadonlySet<string> = new Set([
  "response.completed",
  "response.failed",
  "response.incomplete",
  "response.cancelled"
])
