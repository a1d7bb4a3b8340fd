/**
 * OpenAI's Responses API on this computer: a server whose model follows a script, and which refuses what the real API
 * refuses, in its words.
 *
 * It is strict about what a conversation may look like: every call has its output, every reference its item, every
 * approval its request. It keeps what `store` says, and it runs hosted MCP tools, once for each approval it is given.
 *
 * It stands on Node's own `http`, not on `effect/http`, because it also has to do what a server should not: destroy a
 * socket in the middle of a stream, stop in half a character, and count the sockets that clients leave behind.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Transport from "./internal/http/transport.ts"
import * as Ids from "./internal/ids.ts"
import * as Refusals from "./internal/request/refusals.ts"
import * as Routes from "./internal/routes.ts"
import type * as HostedMcp from "./internal/stage/hostedMcp.ts"
import type { Stage } from "./internal/stage/stage.ts"
import * as Store from "./internal/stage/store.ts"
import type { Turn } from "./ScriptedResponse.ts"

export * from "./ApiError.ts"
export * from "./ScriptedResponse.ts"
export * from "./StageDirection.ts"

// =============================================================================
// Models
// =============================================================================

/**
 * A tool of a hosted MCP server. `run` gets the arguments as the request's own JSON; what it fails with becomes a
 * failed `mcp_call`. Without it the call says what ran.
 *
 * @category models
 * @since 0.1.0
 */
export type McpTool = HostedMcp.McpTool

/**
 * One run of a hosted tool; `approvalRequestId` is `undefined` where nobody had to be asked.
 *
 * @category models
 * @since 0.1.0
 */
export type McpExecution = HostedMcp.McpExecution

/**
 * A request as it arrived: its body in bytes and, where it is JSON, as a value. The key itself is not kept.
 *
 * @category models
 * @since 0.1.0
 */
export type ReceivedRequest = Transport.ReceivedRequest

/**
 * What a request was answered with, so far.
 *
 * @category models
 * @since 0.1.0
 */
export type SentResponse = Transport.SentResponse

/**
 * Sockets since the server started, on which at least one request came; `unused` counts the others that are open.
 *
 * @category models
 * @since 0.1.0
 */
export type Connections = Transport.Connections

/**
 * How a server is made.
 *
 * `turns` are played in the order in which requests arrive; a request that is refused uses none. `afterLastTurn` says
 * what happens when the script is over: `"fail"` (default) answers 500 and says so, `"repeat"` plays the last turn
 * again, and any other turn is played each time. `apiKey` (default `"sk-test"`) is the only key that is let in.
 * `mcpServers` are the hosted MCP servers by their label. `deltaSize` (default 5) is the number of characters in a
 * delta; `chunkBytes` cuts all that is sent into HTTP chunks of so many bytes, else Node does as it likes. `record`
 * (default `true`) keeps what was sent.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly turns: ReadonlyArray<Turn>
  readonly afterLastTurn?: "fail" | "repeat" | Turn | undefined
  readonly apiKey?: string | undefined
  readonly mcpServers?: Readonly<Record<string, ReadonlyArray<McpTool>>> | undefined
  readonly deltaSize?: number | undefined
  readonly chunkBytes?: number | undefined
  readonly record?: boolean | undefined
}

/**
 * A server that runs, and what it saw.
 *
 * `url` ends with `/v1`. `requests` and `responses` belong together by their place. `calls` counts the turns that were
 * played, so a refused request is none. `idle` waits until no request is being answered. `enqueue` adds turns to the
 * end of the script. `executions` are all runs of hosted tools; `executionsOf` counts those of one approval request.
 *
 * @category models
 * @since 0.1.0
 */
export interface Service {
  readonly url: string
  readonly apiKey: string
  readonly requests: Effect.Effect<ReadonlyArray<ReceivedRequest>>
  readonly responses: Effect.Effect<ReadonlyArray<SentResponse>>
  readonly connections: Effect.Effect<Connections>
  readonly idle: Effect.Effect<void>
  readonly calls: Effect.Effect<number>
  readonly enqueue: (...turns: ReadonlyArray<Turn>) => Effect.Effect<void>
  readonly executions: Effect.Effect<ReadonlyArray<McpExecution>>
  readonly executionsOf: (approvalRequestId: string) => Effect.Effect<number>
}

// =============================================================================
// Service
// =============================================================================

/**
 * The server, for programs that get it from a layer.
 *
 * @example
 * import { LanguageModel } from "@assent/ai"
 * import { OpenAiClient, OpenAiLanguageModel } from "@assent/openai"
 * import { ResponsesServer } from "@assent/openai/testing"
 * import { Effect, Layer, Redacted } from "effect"
 *
 * // The program as it is, with the client of a server that follows a script.
 * const Client = Layer.unwrap(Effect.map(ResponsesServer.ResponsesServer, (server) =>
 *   OpenAiClient.layer({ apiKey: Redacted.make(server.apiKey), apiUrl: server.url })))
 *
 * const program = Effect.gen(function*() {
 *   yield* LanguageModel.generateText({ prompt: "Hi" })
 *   const server = yield* ResponsesServer.ResponsesServer
 *   return yield* server.calls
 * }).pipe(
 *   Effect.provide(Layer.provide(OpenAiLanguageModel.layer({ model: "gpt-5.2" }), Client)),
 *   Effect.provide(ResponsesServer.layer({ turns: ["Hello!"] }))
 * )
 *
 * await Effect.runPromise(program) // => 1
 *
 * @category services
 * @since 0.1.0
 */
export class ResponsesServer extends Context.Service<ResponsesServer, Service>()(
  "@assent/openai/testing/ResponsesServer"
) {}

// =============================================================================
// Constructors
// =============================================================================

/**
 * Starts a server on a free port of 127.0.0.1; it closes, with all its sockets, when the scope does.
 *
 * @example
 * import { ResponsesServer } from "@assent/openai/testing"
 * import { Effect } from "effect"
 * import OpenAI from "openai"
 *
 * const program = Effect.gen(function*() {
 *   const server = yield* ResponsesServer.make({ turns: ["Hello!"] })
 *   const client = new OpenAI({ apiKey: server.apiKey, baseURL: server.url })
 *   const response = yield* Effect.promise(() => client.responses.create({ model: "gpt-5.5", input: "Hi" }))
 *   const [request] = yield* server.requests
 *   return [response.output_text, request?.path]
 * })
 *
 * await Effect.runPromise(Effect.scoped(program)) // => ["Hello!", "/v1/responses"]
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function*(options: Options): Effect.fn.Return<Service, never, Scope.Scope> {
  const apiKey = options.apiKey ?? "sk-test"
  const turns = [...options.turns]
  const executions: Array<McpExecution> = []
  let calls = 0

  const script: Routes.Script = {
    next: () => {
      calls += 1
      return turns[calls - 1] ?? turnAfterLast(options, turns, calls)
    },
    played: () => calls
  }
  const stage: Stage = {
    store: Store.make(Ids.make()),
    servers: options.mcpServers ?? {},
    executions,
    deltaSize: Math.max(1, options.deltaSize ?? 5)
  }
  const transport = yield* Transport.make({
    apiKey,
    chunkBytes: options.chunkBytes === undefined ? undefined : Math.max(1, options.chunkBytes),
    record: options.record ?? true,
    answer: (request, key) => Routes.answer(stage, script, request, key)
  })
  return {
    url: `http://127.0.0.1:${transport.port}/v1`,
    apiKey,
    requests: Effect.sync(transport.requests),
    responses: Effect.sync(transport.responses),
    connections: Effect.sync(transport.connections),
    idle: transport.idle,
    calls: Effect.sync(() => calls),
    enqueue: (...more) => Effect.sync(() => void turns.push(...more)),
    executions: Effect.sync(() => executions.slice()),
    executionsOf: (id) => Effect.sync(() => executions.filter((run) => run.approvalRequestId === id).length)
  }
})

const turnAfterLast = (options: Options, turns: ReadonlyArray<Turn>, calls: number): Turn => {
  const fault = Refusals.scriptFault(
    `The model was called ${calls} times, but its script has ${turns.length} turns.` +
      " Add a turn, or say with `afterLastTurn` what happens when the script is over."
  )
  switch (options.afterLastTurn) {
    case undefined:
    case "fail":
      return fault
    case "repeat":
      return turns.at(-1) ?? fault
    default:
      return options.afterLastTurn
  }
}

// =============================================================================
// Layers
// =============================================================================

/**
 * Provides a server that runs as long as the layer does.
 *
 * @example
 * import { ResponsesServer } from "@assent/openai/testing"
 * import { Effect } from "effect"
 * import OpenAI from "openai"
 *
 * const program = Effect.gen(function*() {
 *   const server = yield* ResponsesServer.ResponsesServer
 *   const client = new OpenAI({ apiKey: server.apiKey, baseURL: server.url })
 *   const response = yield* Effect.promise(() => client.responses.create({ model: "gpt-5.5", input: "Hi" }))
 *   return response.output_text
 * }).pipe(Effect.provide(ResponsesServer.layer({ turns: ["Hello!"] })))
 *
 * await Effect.runPromise(program) // => "Hello!"
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options): Layer.Layer<ResponsesServer> => Layer.effect(ResponsesServer, make(options))
