/**
 * Approval over the Model Context Protocol. A server of ours asks the user of the client that called, through
 * elicitation, before a gated tool runs: {@link toolkit} in place of `McpServer.toolkit`, or {@link layerElicitation} for
 * whatever else asks within a request.
 *
 * The answer comes from the client, and this proves the question and not the person: a client that answers in its user's
 * name is believed, as it is with everything that it calls. What it cannot do is to have run what nobody was asked about,
 * to answer for another client, or to have run what its user was not shown.
 *
 * @since 0.1.0
 */
import * as McpServer from "effect/ai/McpServer"
import type * as Tool from "effect/ai/Tool"
import type * as Toolkit from "effect/ai/Toolkit"
import type * as Duration from "effect/Duration"
import * as Layer from "effect/Layer"
import * as ApprovalController from "./ApprovalController.ts"
import * as Elicitation from "./internal/elicitation.ts"
import * as ElicitationStdio from "./internal/elicitationStdio.ts"
import * as ElicitationToolkit from "./internal/elicitationToolkit.ts"
import * as Environment from "./internal/environment.ts"

// =============================================================================
// Options
// =============================================================================

/**
 * How the user of a client is asked.
 *
 * @category options
 * @since 0.1.0
 */
export interface ElicitationOptions {
  /** How long a question stays open once it is shown (default 1 hour). Then nothing runs, and it may be asked again. */
  readonly timeLimit?: Duration.Input | undefined
  /**
   * How long a question may be, in UTF-16 units (default 20,000). It is shown whole or not at all: a call with more
   * than can be shown is denied, and the model is told why.
   */
  readonly maxLength?: number | undefined
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
// Constructors
// =============================================================================

/**
 * A controller that asks the user of the client in whose request it is asked, and of no other, with a form: everything
 * that will run, escaped (law L15), and a decision without a default. One user is asked one thing after the other; no
 * client waits for another.
 *
 * Only an accepted form that says `approve` approves (law L1). Declined, dismissed, accepted without an answer or with
 * another one are denials that say which it was. So is a client that cannot ask: without the capability, with
 * elicitation by url alone, or of a revision before 2025-06-18; and so is whatever is asked outside of a client's request.
 * A client that is gone, fails or does not answer in time leaves the request open: nothing runs, and it may be asked
 * again.
 *
 * In revision 2026-07-28 a server cannot ask while a call runs. There {@link toolkit} asks before: the call ends with the
 * question, and runs when the client makes it again with the answer, which counts once (law L2), for the very question
 * that was asked (law L4), and in the process that asked it. Whatever else asks there is a denial.
 *
 * Where an `ApprovalMemory` remembers and a conversation is named, as {@link toolkit} does for each client, the user may
 * approve for the session, and reads what that covers; a plain yes is then for this once, whatever the policy would
 * remember. Parameters cannot be edited. What a tool that has begun waits for is asked too: a text, a choice, a yes or
 * no, and forms whose fields are all primitive.
 *
 * @example
 * import { Approval, McpApproval } from "@assent/ai"
 * import { Effect } from "effect"
 *
 * const request = new Approval.ApprovalRequest({
 *   approvalId: "id-1",
 *   toolCallId: "call-1",
 *   toolName: "DeleteFile",
 *   params: { path: "/tmp/a" },
 *   description: "DeleteFile(path='/tmp/a')",
 *   interaction: "approval",
 *   providerExecuted: false
 * })
 *
 * // Within no client's request there is nobody to ask.
 * const decision = Effect.map(McpApproval.elicitation().ask!(request), (decision) => decision?._tag)
 *
 * await Effect.runPromise(decision) // => "Denied"
 *
 * @category constructors
 * @since 0.1.0
 */
export const elicitation = (options?: ElicitationOptions): ApprovalController.Service => {
  const timeLimit = options?.timeLimit ?? defaultTimeLimit
  const maxLength = options?.maxLength ?? 20_000
  return { parallel: true, ask: (request) => Elicitation.ask(request, { timeLimit, maxLength }) }
}

// =============================================================================
// Layers
// =============================================================================

/**
 * {@link elicitation} as the controller: for `ApprovalController.request` in the handlers of a server, for toolkits that
 * are guarded by hand, and for agents that run within a tool.
 *
 * @example
 * import { ApprovalController, McpApproval, McpServer, Tool, Toolkit } from "@assent/ai"
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
 * Layer.isLayer(registrations) // => true
 *
 * @category layers
 * @since 0.1.0
 */
export const layerElicitation = (options?: ElicitationOptions): Layer.Layer<never> =>
  Layer.succeed(ApprovalController.ApprovalController, elicitation(options))

/**
 * Upstream's `McpServer.toolkit`, which runs every call, with a guard before it: gated tools, and those that an
 * `ApprovalPolicy` has questions about, run once the client's user has said so, as {@link elicitation} asks. To the client
 * the tools look as upstream's do, and others run as upstream's.
 *
 * Another controller that the program provides answers in the place of the client's user. Where no conversation is named,
 * what one client's user wants remembered counts for that client's session, and for no other; of a client without a
 * session nothing is remembered. Handlers find what the program provides: for their own questions, provide {@link layerElicitation}. A call that a client repeats is a new call,
 * and asked about again. A `DeferredTool` waits only under an engine; here it fails.
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
      timeLimit: options?.timeLimit ?? defaultTimeLimit,
      policyTimeLimit: options?.policyTimeLimit ?? Environment.defaultOptions.policyTimeLimit
    })
  )

/**
 * Upstream's `McpServer.layerStdio`, which waits for calls that are under way when its input ends: the end of the input is
 * the end of all open questions, since nobody can answer them any more. Nothing of them runs, and the server ends.
 *
 * Logs belong to stderr, because stdout is the protocol's: provide `Layer.succeed(Logger.LogToStderr, true)`.
 *
 * @example
 * import { McpApproval, McpProtocol, Tool, Toolkit } from "@assent/ai"
 * import { Effect, Layer } from "effect"
 *
 * const Tools = Toolkit.make(Tool.make("Restart", { needsApproval: true }))
 *
 * // Layer.launch(Layer.provide(server, NodeStdio.layer)), with `@effect/platform-node`
 * const server = McpApproval.layerStdio({
 *   name: "machine",
 *   version: "1.0.0",
 *   protocols: [McpProtocol.v2025_11_25, McpProtocol.v2025_06_18],
 *   registrations: McpApproval.toolkit(Tools).pipe(
 *     Layer.provide(Tools.toLayer({ Restart: () => Effect.void }))
 *   )
 * })
 *
 * Layer.isLayer(server) // => true
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
