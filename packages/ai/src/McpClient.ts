/**
 * Upstream's module: connections to MCP servers. `McpApproval` guards their tools.
 *
 * Under {@link make}, {@link layerStdio} and {@link layerHttp} of this one, a tool that the server does not write as the
 * protocol has it is left out, with a warning. Upstream's fail to list any tool then.
 *
 * @since 0.1.0
 */
import * as Upstream from "effect/ai/McpClient"
import type * as McpClientError from "effect/ai/McpClientError"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import type * as ChildProcessSpawner from "effect/process/ChildProcessSpawner"
import type * as Scope from "effect/Scope"
import * as Listing from "./internal/mcp/listing.ts"

export * from "effect/ai/McpClient"

/**
 * Connects to a server over the transport around it; see upstream's `McpClient.make`.
 *
 * @example
 * import { McpClient, McpProtocol } from "@assent/ai"
 * import { Effect } from "effect"
 *
 * // A server in place of a process; one of its tools has no schema of its parameters.
 * const tools = [{ name: "read", inputSchema: { type: "object" } }, { name: "broken" }]
 * const transport = McpClient.Transport.of({
 *   "~effect/ai/McpClient/Transport": "~effect/ai/McpClient/Transport",
 *   protocol: McpProtocol.v2025_11_25,
 *   isCallable: () => true,
 *   notify: () => Effect.void,
 *   request: ({ id, method }) =>
 *     Effect.succeed({
 *       jsonrpc: "2.0",
 *       id,
 *       result: method === "tools/list" ? { tools } : {
 *         protocolVersion: "2025-11-25",
 *         capabilities: { tools: {} },
 *         serverInfo: { name: "anything", version: "1" }
 *       }
 *     })
 * })
 *
 * const program = Effect.gen(function*() {
 *   const client = yield* McpClient.make({ name: "my-agent", version: "1.0.0" })
 *   return (yield* client.listTools()).map(({ name }) => name)
 * }).pipe(Effect.provideService(McpClient.Transport, transport), Effect.scoped)
 *
 * await Effect.runPromise(program) // => ["read"]
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  options: Parameters<typeof Upstream.make>[0]
): Effect.Effect<Upstream.McpClient, McpClientError.McpClientError, Scope.Scope | Upstream.Transport> =>
  Effect.updateService(Upstream.make(options), Upstream.Transport, Listing.readable)

/**
 * Provides a client over a subprocess; see upstream's `McpClient.layerStdio`.
 *
 * @example
 * import { McpClient, McpProtocol } from "@assent/ai"
 * import { Effect, PlatformError } from "effect"
 * import { ChildProcess, ChildProcessSpawner } from "effect/process"
 *
 * const Files = McpClient.layerStdio({
 *   name: "my-agent",
 *   version: "1.0.0",
 *   protocol: McpProtocol.v2025_11_25,
 *   command: ChildProcess.make("npx", ["@modelcontextprotocol/server-filesystem", "/srv"])
 * })
 *
 * // A machine without that program. With `@effect/platform-node`, this is `NodeServices.layer`.
 * const nothingHere = ChildProcessSpawner.make(() =>
 *   Effect.fail(PlatformError.systemError({ _tag: "NotFound", module: "ChildProcess", method: "spawn" }))
 * )
 *
 * const program = Effect.flatMap(McpClient.McpClient, (client) => client.listTools()).pipe(
 *   Effect.provide(Files),
 *   Effect.provideService(ChildProcessSpawner.ChildProcessSpawner, nothingHere),
 *   Effect.flip
 * )
 *
 * await Effect.runPromise(program).then(({ reason }) => reason._tag) // => "TransportError"
 *
 * @category layers
 * @since 0.1.0
 */
export const layerStdio = (
  options: Parameters<typeof Upstream.layerStdio>[0]
): Layer.Layer<Upstream.McpClient, McpClientError.McpClientError, ChildProcessSpawner.ChildProcessSpawner> =>
  Layer.effect(Upstream.McpClient)(make(options)).pipe(
    Layer.provide(Layer.effect(Upstream.Transport)(Upstream.stdio(options)))
  )

/**
 * Provides a client over Streamable HTTP; see upstream's `McpClient.layerHttp`.
 *
 * @example
 * import { McpClient, McpProtocol } from "@assent/ai"
 * import { Effect } from "effect"
 * import { HttpClient, HttpClientResponse } from "effect/http"
 *
 * const Remote = McpClient.layerHttp({
 *   name: "my-agent",
 *   version: "1.0.0",
 *   protocol: McpProtocol.v2025_11_25,
 *   url: "https://example.com/mcp",
 *   headers: { authorization: "Bearer a-token" }
 * })
 *
 * // A server that lets nobody in. With `effect/http`, this is `FetchHttpClient.layer`.
 * const seen: Array<string | undefined> = []
 * const closed = HttpClient.make((request) => {
 *   seen.push(request.headers.authorization)
 *   return Effect.succeed(HttpClientResponse.fromWeb(request, new Response("no", { status: 401 })))
 * })
 *
 * const program = Effect.flatMap(McpClient.McpClient, (client) => client.listTools()).pipe(
 *   Effect.provide(Remote),
 *   Effect.provideService(HttpClient.HttpClient, closed),
 *   Effect.flip
 * )
 *
 * await Effect.runPromise(program).then(({ reason }) => reason._tag) // => "HttpError"
 * seen[0] // => "Bearer a-token"
 *
 * @category layers
 * @since 0.1.0
 */
export const layerHttp = (
  options: Parameters<typeof Upstream.layerHttp>[0]
): Layer.Layer<Upstream.McpClient, McpClientError.McpClientError, HttpClient.HttpClient> =>
  Layer.effect(Upstream.McpClient)(make(options)).pipe(
    Layer.provide(Layer.effect(Upstream.Transport)(Upstream.http(options)))
  )
