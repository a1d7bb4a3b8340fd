/**
 * Our server on one side, the client of `@modelcontextprotocol/sdk` on the other, and a real HTTP connection between
 * them: what the tests of `McpApproval.elicitation` share.
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { assert } from "@effect/vitest"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import {
  type ClientCapabilities,
  type ElicitRequestFormParams,
  ElicitRequestSchema,
  type ElicitResult,
  type JSONRPCMessage
} from "@modelcontextprotocol/sdk/types.js"
import { Context, Deferred, Effect, Layer, References, Schema, type Scope } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import * as Http from "node:http"
import { Approval, McpApproval, McpProtocol, McpServer, Tool, Toolkit } from "../../src/index.ts"

// =============================================================================
// A server
// =============================================================================

export const Delete = Tool.make("delete_file", {
  description: "Deletes a file",
  parameters: { path: Schema.String },
  success: Schema.Struct({ deleted: Schema.String }),
  needsApproval: true
}).annotate(Tool.Readonly, false)

export const Look = Tool.make("look", { parameters: { path: Schema.String }, success: Schema.String })

export const Files = Toolkit.make(Delete, Look)

/** What ran, in order. */
export class Runs extends Context.Service<Runs, Array<string>>()("test/mcp-server/Runs") {
  static readonly layer = Layer.sync(Runs, () => [])
}

export const FilesLive = Files.toLayer(Effect.gen(function*() {
  const runs = yield* Runs
  return {
    delete_file: ({ path }) => Effect.sync(() => (runs.push(`delete ${path}`), { deleted: path })),
    look: ({ path }) => Effect.sync(() => (runs.push(`look ${path}`), `content of ${path}`))
  }
}))

/** The tools as a program registers them: `McpApproval.toolkit` beside its handlers. */
export const files = (options?: McpApproval.ToolkitOptions) =>
  McpApproval.toolkit(Files, options).pipe(Layer.provide(FilesLive))

const serverLayer = <R>(
  registrations: Layer.Layer<never, never, R>,
  protocols: readonly [McpProtocol.ProtocolAdapter, ...Array<McpProtocol.ProtocolAdapter>]
) =>
  McpServer.layerHttp({
    name: "files",
    version: "1.0.0",
    path: "/mcp",
    protocols,
    allowSessionTermination: true,
    registrations: registrations as Layer.Layer<never, never, McpServer.McpServer>
  })

export interface Server {
  readonly url: URL
  readonly runs: ReadonlyArray<string>
}

/** A server with these tools, on a port of its own, until the scope ends. */
export const serve = <R>(
  registrations: Layer.Layer<never, never, R | Runs>,
  protocols: Parameters<typeof serverLayer>[1] = [McpProtocol.v2025_11_25]
): Effect.Effect<Server, unknown, Scope.Scope> =>
  Effect.gen(function*() {
    const context = yield* Layer.build(
      HttpRouter.serve(serverLayer(registrations, protocols), { disableListenLog: true, disableLogger: true }).pipe(
        Layer.provideMerge(NodeHttpServer.layer(Http.createServer, { port: 0, host: "127.0.0.1" })),
        Layer.provideMerge(Runs.layer),
        // What upstream logs of a call that fails is no news here.
        Layer.provide(Layer.succeed(References.MinimumLogLevel, "None"))
      ) as Layer.Layer<HttpServer.HttpServer | Runs, unknown>
    )
    const { address } = Context.get(context, HttpServer.HttpServer)
    if (address._tag !== "InetAddressV4") return yield* Effect.die(`not the address of a port: ${address._tag}`)
    return { url: new URL(`http://127.0.0.1:${address.port}/mcp`), runs: Context.get(context, Runs) }
  })

// =============================================================================
// A client
// =============================================================================

export type Answer = ElicitResult | Promise<ElicitResult>

export interface Connected {
  readonly client: Client
  readonly transport: StreamableHTTPClientTransport
  /** The questions its user was asked, in order. */
  readonly asked: Array<ElicitRequestFormParams>
  readonly call: (name: string, params: Record<string, unknown>) => Effect.Effect<Result>
}

/** What a call gave, as far as its model sees it. */
export interface Result {
  readonly isError: boolean
  readonly text: string
  readonly structured: unknown
}

/** A client whose user answers so. */
export const connect = (
  { url }: Pick<Server, "url">,
  answer: (question: ElicitRequestFormParams, signal: AbortSignal) => Answer,
  capabilities: ClientCapabilities = { elicitation: {} }
): Effect.Effect<Connected, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const asked: Array<ElicitRequestFormParams> = []
      const client = new Client({ name: "test", version: "1.0.0" }, { capabilities })
      if (capabilities.elicitation !== undefined) {
        client.setRequestHandler(ElicitRequestSchema, ({ params }, { signal }) => {
          const question = params as ElicitRequestFormParams
          asked.push(question)
          return answer(question, signal)
        })
      }
      const transport = new StreamableHTTPClientTransport(url)
      await client.connect(transport as Parameters<Client["connect"]>[0])
      const call: Connected["call"] = (name, params) =>
        Effect.promise(() => client.callTool({ name, arguments: params })).pipe(Effect.map(resultOf))
      return { client, transport, asked, call }
    }),
    ({ client }) => Effect.promise(() => client.close())
  )

export const resultOf = (result: Awaited<ReturnType<Client["callTool"]>>): Result => {
  const [first] = result.content as ReadonlyArray<{ readonly type: string; readonly text?: string }>
  return { isError: result.isError === true, text: first?.text ?? "", structured: result.structuredContent }
}

export const reasonOf = ({ isError, text }: Result): string => {
  assert.isTrue(isError, text)
  const read: { readonly reason: string } = JSON.parse(text)
  return read.reason
}

export const accept = (content: ElicitResult["content"]): ElicitResult => ({ action: "accept", content })

export const approve = accept({ decision: "approve" })

/** The messages that come to a client from now on. */
export const tap = (transport: StreamableHTTPClientTransport): ReadonlyArray<JSONRPCMessage> => {
  const messages: Array<JSONRPCMessage> = []
  const { onmessage } = transport
  // A property, and no event, of the SDK's transports.
  // oxlint-disable-next-line unicorn/prefer-add-event-listener
  transport.onmessage = (message, ...rest) => {
    messages.push(message)
    onmessage?.(message, ...rest)
  }
  return messages
}

/** A request, as a controller gets it. */
export const request = (
  fields: Partial<ConstructorParameters<typeof Approval.ApprovalRequest>[0]>
): Approval.ApprovalRequest => {
  const { params = { path: "/tmp/a" }, toolName = "delete_file" } = fields
  return new Approval.ApprovalRequest({
    approvalId: "id-1",
    toolCallId: "call-1",
    toolName,
    params,
    description: Approval.describe(toolName, params),
    interaction: "approval",
    providerExecuted: false,
    ...fields
  })
}

/** Something that happens once, and can be waited for from both worlds. */
export const signal = <A = void>() => {
  const deferred = Deferred.makeUnsafe<A>()
  return { done: (value: A) => Effect.runSync(Deferred.succeed(deferred, value)), wait: Deferred.await(deferred) }
}
