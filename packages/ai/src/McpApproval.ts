/**
 * Tools of MCP servers, which ask before they run.
 *
 * {@link guard} makes a toolkit of what a server offers to an `McpClient`. A server is another program, whose word is no
 * consent: what it says of its tools counts only as far as the program trusts it, by a name that the program gave it; and
 * a person's consent is to a tool as it was then, so that a server that changes one afterwards is asked about it again.
 *
 * @since 0.1.0
 */
import type * as McpClient from "effect/ai/McpClient"
import type * as McpClientError from "effect/ai/McpClientError"
import type * as Toolkit from "effect/ai/Toolkit"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type { McpGuardError } from "./internal/mcpGuardError.ts"
import * as McpToolkit from "./internal/mcpToolkit.ts"

// =============================================================================
// Models
// =============================================================================

export type { McpTool, Tools } from "./internal/mcpToolkit.ts"

export { Failure } from "./internal/mcpResult.ts"

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

// =============================================================================
// Errors
// =============================================================================

export { McpGuardError } from "./internal/mcpGuardError.ts"

// =============================================================================
// Constructors
// =============================================================================

/**
 * The tools of an MCP server as a toolkit that asks.
 *
 * It is an effect, to be carried out for each turn: with `const files = McpApproval.guard(client, { name: "files" })`,
 * each turn says `toolkit: yield* files`, and the model knows the tools as they are by then. (Turns take no toolkit that
 * may fail, so the effect itself cannot be given to one.) Several servers, or a server and tools of the program, are one
 * toolkit with `Toolkit.join`; without a model, `Toolkit.guard` asks where a tool is called. A toolkit that is kept for
 * longer, as a `Conversation` keeps it, runs nothing that changed since; it just cannot ask about what is new.
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
