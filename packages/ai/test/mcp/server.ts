/**
 * An MCP server whose tools a test can change at any time, behind upstream's own client: what they say to each other goes
 * through JSON, and is read and written by the client's schemas. It is strict: a tool that it does not have, or a call
 * before the handshake, is an error.
 */
import { Effect, type Scope, Stream } from "effect"
import { McpClientError, McpProtocol, type McpSchema } from "effect/ai"
import { McpClient } from "../../src/index.ts"

/** A tool as the server writes it on the wire. */
export interface WireTool {
  readonly name: string
  readonly title?: string
  readonly description?: string
  readonly inputSchema?: { readonly [key: string]: unknown }
  readonly outputSchema?: { readonly [key: string]: unknown }
  readonly annotations?: { readonly [hint: string]: unknown }
}

export interface Server {
  /** What it lists from now on. */
  tools: ReadonlyArray<WireTool>
  /** Happens when the tools have been listed for the n-th time from now on, as the race of a server that changes them. */
  afterListing: ReadonlyArray<() => void>
  /** What it answers to a call; by default the text `"<tool> ran"`. */
  answer: (name: string, args: unknown) => Effect.Effect<unknown, Failure>
  /** Whether listing the tools fails. */
  broken: boolean
  /** Happens before the tools are listed; may take its time, and may fail. */
  listing: Effect.Effect<void, Failure>
  listed: number
  /** The calls that ran, as `"<tool> <arguments>"`. */
  readonly ran: Array<string>
}

/** Fails the request: with a JSON-RPC error, or with the transport. */
export type Failure =
  | { readonly code: number; readonly message: string }
  | McpClientError.McpClientError

export const make = (...tools: ReadonlyArray<WireTool>): Server => ({
  tools,
  afterListing: [],
  answer: (name) => Effect.succeed(text(`${name} ran`)),
  broken: false,
  listing: Effect.void,
  listed: 0,
  ran: []
})

export const text = (...texts: ReadonlyArray<string>) => ({
  content: texts.map((text) => ({ type: "text", text }))
})

export const closed = (description: string) =>
  new McpClientError.McpClientError({ reason: new McpClientError.TransportError({ description }) })

const path = { type: "object", properties: { path: { type: "string" } }, required: ["path"] }

export const read: WireTool = {
  name: "read",
  title: "Read",
  description: "Reads a file",
  inputSchema: path,
  annotations: { readOnlyHint: true, openWorldHint: false }
}

export const write: WireTool = {
  name: "write",
  title: "Write",
  description: "Writes a file",
  inputSchema: path,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false }
}

/** A client of the server, over a connection of its own. `calls itself` is what the server says its name is. */
export const connect = (
  server: Server,
  info: { readonly name: string; readonly version?: string; readonly title?: string } | undefined = { name: "demo" }
): Effect.Effect<McpClient.McpClient, McpClientError.McpClientError, Scope.Scope> =>
  Effect.provideService(
    McpClient.make({ name: "test", version: "1.0.0" }),
    McpClient.Transport,
    transportOf(server, info)
  )

const transportOf = (server: Server, info: { readonly name: string } | undefined): McpClient.Transport => {
  let initialized = false
  const results: Readonly<Record<string, (params: any) => Effect.Effect<unknown, Failure>>> = {
    initialize: () =>
      Effect.succeed({
        protocolVersion: "2025-11-25",
        capabilities: { tools: {} },
        serverInfo: { version: "1.0.0", ...info }
      }),
    "tools/list": () =>
      Effect.andThen(
        Effect.suspend(() => server.listing),
        Effect.suspend(() => {
          if (server.broken) return Effect.fail(closed("the pipe is broken"))
          const tools = server.tools.map((tool) => ({ inputSchema: { type: "object" }, ...tool }))
          server.afterListing[server.listed++]?.()
          return Effect.succeed({ tools })
        })
      ),
    "tools/call": ({ arguments: args, name }) =>
      Effect.suspend(() => {
        if (!server.tools.some((tool) => tool.name === name)) return refuse(-32602, `Unknown tool: ${name}`)
        server.ran.push(`${name} ${JSON.stringify(args)}`)
        return server.answer(name, args)
      })
  }
  const refuse = (code: number, message: string) => Effect.fail({ code, message })
  return {
    "~effect/ai/McpClient/Transport": "~effect/ai/McpClient/Transport",
    protocol: McpProtocol.v2025_11_25,
    isCallable: () => true,
    notify: ({ method }) => Effect.sync(() => void (initialized ||= method === "notifications/initialized")),
    request: (message) => {
      const { id, method, params } = throughJson(message)
      const result = !initialized && method !== "initialize"
        ? refuse(-32600, "Not initialized")
        : results[method]?.(params) ?? refuse(-32601, `Unknown method: ${method}`)
      return result.pipe(
        Effect.map((result) => throughJson({ jsonrpc: "2.0" as const, id, result } as McpSchema.JsonRpcResponse)),
        Effect.catch((error): Effect.Effect<McpSchema.JsonRpcResponse, McpClientError.McpClientError> =>
          "code" in error
            ? Effect.succeed({ jsonrpc: "2.0", id, error: { code: error.code, message: error.message } })
            : Effect.fail(error)
        )
      )
    }
  }
}

const throughJson = <A>(value: A): A => JSON.parse(JSON.stringify(value))

/** The last of a tool's results. */
export const last = <A, E, R>(output: Stream.Stream<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.map(Stream.runCollect(output), (results) => results[results.length - 1]!)
