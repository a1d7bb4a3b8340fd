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
 * @category layers
 * @since 0.1.0
 */
export const layerHttp = (
  options: Parameters<typeof Upstream.layerHttp>[0]
): Layer.Layer<Upstream.McpClient, McpClientError.McpClientError, HttpClient.HttpClient> =>
  Layer.effect(Upstream.McpClient)(make(options)).pipe(
    Layer.provide(Layer.effect(Upstream.Transport)(Upstream.http(options)))
  )
