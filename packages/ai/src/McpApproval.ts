/**
 * Approval over the Model Context Protocol, both ways.
 *
 * **As a client.** {@link guard} makes a toolkit of what a server offers to an `McpClient`. A server is another program,
 * whose word is no consent: what it says of its tools counts only as far as the program trusts it, by a name that the
 * program gave it; and a person's consent is to a tool as it was then, so that a server that changes one afterwards is
 * asked about it again.
 *
 * **As a server.** A server of ours asks the user of the client that called, through elicitation, before a gated tool
 * runs: {@link toolkit}, which is what `McpServer.toolkit` of `@assent/ai` is, or {@link layerElicitation} for whatever
 * else asks within a request. The answer comes from the client, and this proves the question and not the person: a client
 * that answers in its user's name is believed, as it is with everything that it calls. What it cannot do is to have run
 * what nobody was asked about, to answer for another client, or to have run what its user was not shown.
 *
 * @since 0.1.0
 */
import type * as McpClient from "effect/ai/McpClient"
import type * as McpClientError from "effect/ai/McpClientError"
import * as McpServer from "effect/ai/McpServer"
import type * as Tool from "effect/ai/Tool"
import type * as Toolkit from "effect/ai/Toolkit"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Approval from "./Approval.ts"
import * as ApprovalController from "./ApprovalController.ts"
import type * as Approver from "./Approver.ts"
import * as Elicitation from "./internal/elicitation/elicitation.ts"
import * as ElicitationStdio from "./internal/elicitation/stdio.ts"
import * as ElicitationToolkit from "./internal/elicitation/toolkit.ts"
import * as Environment from "./internal/environment/environment.ts"
import type { McpGuardError } from "./internal/mcp/guardError.ts"
import * as McpToolkit from "./internal/mcp/toolkit.ts"
import * as Presentation from "./internal/tool/presentation.ts"

// =============================================================================
// Models
// =============================================================================

export type { McpTool, Tools } from "./internal/mcp/toolkit.ts"

export { Failure } from "./internal/mcp/result.ts"

// =============================================================================
// Options
// =============================================================================

/**
 * How the tools of an MCP server are guarded.
 *
 * @category options
 * @since 0.1.0
 */
export interface GuardOptions {
  /**
   * The program's own name for the server: 1 to 32 letters, digits, `-` and single `_`. It stands before the names of the
   * server's tools: `files__read_text_file`. Without it the server names itself, after a `_`, and cannot be trusted.
   */
  readonly name?: string | undefined
  /**
   * The servers whose hints are believed, by the names that the program gave them. One list can serve for all servers.
   */
  readonly trust?: ReadonlyArray<string> | undefined
  /**
   * How long a call may take before it is a failed result whose outcome is unknown (default: as long as it likes). The
   * listing before it may take as long, by default as long as the client lets it; if it takes longer, nothing is called.
   */
  readonly timeout?: Duration.Input | undefined
}

/**
 * How the user of a client is asked.
 *
 * @category options
 * @since 0.1.0
 */
export interface ElicitationOptions {
  /**
   * How long a question stays open once it is shown (default 1 hour), unless the policy's own time is over before. Then
   * nothing runs, and it may be asked again.
   */
  readonly timeLimit?: Duration.Input | undefined
  /**
   * How long a question may be, in UTF-16 units (default 20,000, at most 100,000). It is shown whole or not at all: a call
   * with more than can be shown is denied, and the model is told why.
   */
  readonly maxLength?: number | undefined
  /**
   * Who the client's user is, as the program knows: a person, or a function of the request, in the context of the client's
   * own request, so that it may read `HttpServerRequest`. It stands in the journal as who decided (law L16), and where a
   * policy names approvers, others are not asked. Default, and where it fails: nobody known.
   */
  readonly by?:
    | Approver.Person
    | ((
      request: Approval.ApprovalRequest
    ) => Approver.Person | undefined | Effect.Effect<Approver.Person | undefined, unknown>)
    | undefined
}

/**
 * How the tools of a server are guarded.
 *
 * @category options
 * @since 0.1.0
 */
export interface ToolkitOptions extends ElicitationOptions {
  /** How long a policy may take before the user is asked instead (default 30 seconds, law L1). */
  readonly policyTimeLimit?: Duration.Input | undefined
}

// =============================================================================
// Errors
// =============================================================================

export { McpGuardError } from "./internal/mcp/guardError.ts"

// =============================================================================
// Constructors
// =============================================================================

/**
 * The tools of an MCP server as a toolkit that asks.
 *
 * It is an effect, to be carried out for each turn: with `const files = McpApproval.guard(client, { name: "files" })`,
 * each turn says `toolkit: yield* files`, and the model knows the tools as they are by then. (Turns take no toolkit that
 * may fail, so the effect itself cannot be given to one. A `Conversation` takes it, and carries it out for each turn.)
 * Several servers, or a server and tools of the program, are one toolkit with `Toolkit.join`; without a model,
 * `Toolkit.guard` asks where a tool is called. A toolkit that is kept for longer runs nothing that changed since; it just
 * cannot ask about what is new.
 *
 * **Names.** Each tool is called `server__tool`, in the model's prompt, in configurations (`files__*`), in seals, journals
 * and memories. A name that does not fit a model (64 letters, digits, `_` and `-`) is cut and ends in a digest of itself,
 * the same each time. `ApprovalRequest.source` is `mcp.server`, and the reason says whose tool it is, with the server's
 * own words in quotes, escaped and bounded (law L15). Neither is proof of who the server is: that is your transport's.
 *
 * **Hints.** Every tool asks, unless the server is trusted by a name that the program gave it: then one that says it only
 * reads (`readOnlyHint`) runs unasked, and one that says it may be repeated (`idempotentHint`) is run again where its
 * outcome is unknown (law L2). A hint that is missing or is none counts as the stricter. The program's own word goes over
 * this as over any tool's: a configuration's, a policy's, and `ApprovalPolicy.fromAnnotations`, which reads the same hints.
 *
 * **Changes.** The tool's name, title, description, schemas and hints, the program's name for the server and what it calls
 * itself are part of what is approved and of what is remembered. An approval of a tool that changed since is a failed result
 * that says so (law L10). Right before each call, asked or not, the tools are listed once more: if the tool changed, is
 * gone, or cannot be looked up, nothing is called. Other tools may come and go. MCP binds no call to a definition, so a
 * server that changes a tool between that listing and the call is not found out; nor is one that does something else
 * than it says.
 *
 * **Results.** The text of what the server answers; its `structuredContent` where there is no content; what is no text is
 * named. What the server calls an error, a call it refuses, a connection that is lost and a call that takes too long are
 * failed results for the model (see {@link Failure}), and no errors of the turn: its siblings have run, and the model can
 * go on with what it has (laws L8, L14). Whether the tool ran is said, or that it is unknown; it is not run again.
 *
 * **What cannot be used** is left out, with a warning, and nothing takes its place: two tools of one name, and a tool whose
 * definition is no JSON or larger than 1 MB, so that a change of it could not be seen.
 *
 * Fails with `McpClientError` where the tools cannot be listed, and with {@link McpGuardError} where the program's names do
 * not do.
 *
 * @example
 * import { McpApproval, McpClient, McpProtocol } from "@assent/ai"
 * import { Effect } from "effect"
 *
 * // A server in place of a process: it answers two requests.
 * const tools = [
 *   { name: "read", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } },
 *   { name: "write", inputSchema: { type: "object" }, annotations: { readOnlyHint: false } }
 * ]
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
 * const gates = (trust: ReadonlyArray<string>) =>
 *   Effect.gen(function*() {
 *     const client = yield* McpClient.make({ name: "my-agent", version: "1.0.0" })
 *     const { tools } = yield* McpApproval.guard(client, { name: "files", trust })
 *     return Object.entries(tools).map(([name, tool]) => `${name} ${tool.needsApproval === false ? "runs" : "asks"}`)
 *   }).pipe(Effect.provideService(McpClient.Transport, transport), Effect.scoped)
 *
 * await Effect.runPromise(gates([])) // => ["files__read asks", "files__write asks"]
 * await Effect.runPromise(gates(["files"])) // => ["files__read runs", "files__write asks"]
 *
 * @category constructors
 * @since 0.1.0
 */
export const guard: (
  client: McpClient.McpClient,
  options?: GuardOptions
) => Effect.Effect<Toolkit.WithHandler<McpToolkit.Tools>, McpClientError.McpClientError | McpGuardError> = (
  client,
  options = {}
) => McpToolkit.make(client, options)

/**
 * A controller that asks the user of the client in whose request it is asked, and of no other, with a form: everything
 * that will run, escaped (law L15), and a decision without a default. One user is asked one thing after the other; no
 * client waits for another.
 *
 * Only an accepted form that says `approve` approves (law L1). One that was declined, dismissed, or accepted with no
 * answer or another one is a denial that says which it was. So is a client that cannot ask: without the capability,
 * with elicitation by url alone, or of a revision before 2025-06-18; and so is whatever is asked outside of a client's
 * request. A client that is gone, fails or does not answer in time leaves the request open: nothing runs, and it may be
 * asked again.
 *
 * In revision 2026-07-28 a server cannot ask while a call runs. There {@link toolkit} asks before: the call ends with
 * the question, and runs when the client makes it again with the answer. That counts once (law L2), for the very call
 * that was asked about as it was shown (law L4), for as long as the question is open, and in the process that asked it.
 * A no counts even where the policy would let the call run by then (law L3). Whatever else asks there is a denial.
 *
 * Where an `ApprovalMemory` remembers and a conversation is named, as {@link toolkit} does for each client, the user
 * may approve for the session, and reads what that covers. A plain yes is then for this once, whatever the policy would
 * remember. Parameters cannot be edited. What a tool that has begun waits for is asked too: a text, a choice, a yes or
 * no, and forms whose fields are all primitive.
 *
 * @example
 * import { ApprovalController, McpApproval } from "@assent/ai"
 * import { Effect } from "effect"
 *
 * const { ApprovalController: Controller, request } = ApprovalController
 *
 * // Within no client's request there is nobody to ask.
 * const decision = request({ name: "deploy" }).pipe(
 *   Effect.map((decision) => decision._tag),
 *   Effect.provideService(Controller, McpApproval.elicitation({ by: { id: "ada" } }))
 * )
 *
 * await Effect.runPromise(decision) // => "Denied"
 *
 * @category constructors
 * @since 0.1.0
 */
export const elicitation = (options?: ElicitationOptions): ApprovalController.Service => {
  const timeLimit = options?.timeLimit ?? defaultTimeLimit
  const maxLength = Math.min(options?.maxLength ?? 20_000, Presentation.maxContentLength)
  const by = options?.by
  return {
    ask: (request) => Elicitation.ask(request, { timeLimit, maxLength, by }),
    via: "elicitation",
    personOf: Elicitation.sessionOf
  }
}

// =============================================================================
// Layers
// =============================================================================

/**
 * {@link elicitation} as the controller: for `ApprovalController.request` in the handlers of a server, for toolkits that
 * are guarded by hand, and for agents that run within a tool.
 *
 * @example
 * import { ApprovalController, McpApproval, McpProtocol, McpServer, McpTest, Tool, Toolkit } from "@assent/ai"
 * import { Effect, Layer, Schema } from "effect"
 *
 * const Deploy = Tool.make("Deploy", { parameters: { to: Schema.String }, success: Schema.String })
 * const Tools = Toolkit.make(Deploy)
 *
 * const registrations = McpServer.toolkit(Tools).pipe(
 *   Layer.provide(Tools.toLayer({
 *     Deploy: ({ to }) =>
 *       ApprovalController.request({ name: "deploy", params: { to } }).pipe(
 *         Effect.map((decision) => decision._tag === "Approved" ? `deployed to ${to}` : "not deployed"),
 *         Effect.orDie
 *       )
 *   })),
 *   Layer.provide(McpApproval.layerElicitation({ timeLimit: "10 minutes" }))
 * )
 *
 * // This client cannot ask its user.
 * const program = Effect.gen(function*() {
 *   const client = yield* McpTest.makeClient(registrations, { protocols: [McpProtocol.v2025_11_25] })
 *   const { content: [first] } = yield* client.callTool({ name: "Deploy", arguments: { to: "production" } })
 *   return first?.type === "text" && first.text
 * })
 *
 * await Effect.runPromise(Effect.scoped(program)) // => "not deployed"
 *
 * @category layers
 * @since 0.1.0
 */
export const layerElicitation = (options?: ElicitationOptions): Layer.Layer<never> =>
  Layer.succeed(ApprovalController.ApprovalController, elicitation(options))

/**
 * Upstream's `McpServer.toolkit`, with a guard before each call. Gated tools, and those that an `ApprovalPolicy` asks
 * about, run once the client's user has agreed, asked as by {@link elicitation}. To the client the tools look as
 * upstream's do, and all others run as upstream's.
 *
 * Another controller that the program provides answers in the place of the client's user. Where no conversation is
 * named, what one client's user wants remembered counts for that client's session, and for no other; of a client
 * without a session nothing is remembered. A call that a client repeats is a new call, and asked about again. A
 * `DeferredTool` waits only under an engine; here it fails.
 *
 * Handlers find what the program provides. For questions of their own, provide {@link layerElicitation}: the tools then
 * ask through it too, with its options in place of these.
 *
 * @example
 * import { McpApproval, McpProtocol, McpTest, Tool, Toolkit } from "@assent/ai"
 * import { Effect, Layer, Schema } from "effect"
 *
 * const DeleteFile = Tool.make("DeleteFile", {
 *   parameters: { path: Schema.String },
 *   success: Schema.String,
 *   needsApproval: true
 * })
 * const Tools = Toolkit.make(DeleteFile)
 *
 * const registrations = McpApproval.toolkit(Tools).pipe(
 *   Layer.provide(Tools.toLayer({ DeleteFile: ({ path }) => Effect.succeed(`deleted ${path}`) }))
 * )
 *
 * // A client that cannot ask its user.
 * const program = Effect.gen(function*() {
 *   const client = yield* McpTest.makeClient(registrations, { protocols: [McpProtocol.v2025_11_25] })
 *   const result = yield* client.callTool({ name: "DeleteFile", arguments: { path: ".env" } })
 *   const [content] = result.content
 *   return content?.type === "text" && content.text.includes("does not offer the capability")
 * })
 *
 * await Effect.runPromise(Effect.scoped(program)) // => true
 *
 * @category layers
 * @since 0.1.0
 */
export const toolkit = <Tools extends Record<string, Tool.Any>>(
  toolkit: Toolkit.Toolkit<Tools>,
  options?: ToolkitOptions
): Layer.Layer<never, never, McpServer.ToolkitRequirements<Tools>> =>
  Layer.effectDiscard(
    ElicitationToolkit.register(toolkit, elicitation(options), {
      policyTimeLimit: options?.policyTimeLimit ?? Environment.defaultOptions.policyTimeLimit
    })
  )

/**
 * Upstream's `McpServer.layerStdio`, which waits for calls that are under way when its input ends. Questions that are
 * open then end too, because nobody can answer them any more: nothing of them runs, and the server ends.
 *
 * Logs belong to stderr, because stdout is the protocol's: provide `Layer.succeed(Logger.LogToStderr, true)`.
 *
 * @example
 * import { McpApproval, McpProtocol, Tool, Toolkit } from "@assent/ai"
 * import { Effect, Layer, Sink, Stdio, Stream } from "effect"
 *
 * const Tools = Toolkit.make(Tool.make("Restart", { needsApproval: true }))
 * const server = McpApproval.layerStdio({
 *   name: "machine",
 *   version: "1.0.0",
 *   protocols: [McpProtocol.v2025_11_25, McpProtocol.v2025_06_18],
 *   registrations: McpApproval.toolkit(Tools).pipe(
 *     Layer.provide(Tools.toLayer({ Restart: () => Effect.void }))
 *   )
 * })
 *
 * // What a client says, and goes. (In a program: Layer.launch(Layer.provide(server, NodeStdio.layer)).)
 * const hello = {
 *   jsonrpc: "2.0",
 *   id: 1,
 *   method: "initialize",
 *   params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "a-client", version: "1" } }
 * }
 * let said = ""
 * const stdio = Stdio.layerTest({
 *   stdin: Stream.make(new TextEncoder().encode(`${JSON.stringify(hello)}\n`)),
 *   stdout: () => Sink.forEach((text) => Effect.sync(() => said += text))
 * })
 * await Effect.runPromiseExit(Layer.launch(Layer.provide(server, stdio)))
 *
 * JSON.parse(said).result.serverInfo.name // => "machine"
 *
 * @category layers
 * @since 0.1.0
 */
export const layerStdio: typeof McpServer.layerStdio = (options) =>
  McpServer.layerStdio(options).pipe(Layer.provide(ElicitationStdio.layer))

// =============================================================================
// Internals
// =============================================================================

const defaultTimeLimit: Duration.Input = "1 hour"
