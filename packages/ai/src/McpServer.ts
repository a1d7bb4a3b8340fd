/**
 * Upstream's `McpServer`, whose tools ask.
 *
 * Everything of `effect/ai/McpServer` is here; {@link toolkit} and {@link registerToolkit} are ours. How the user of a
 * client is asked, and what can be said of it, is in `McpApproval`.
 *
 * @since 0.1.0
 */
import type * as McpServer from "effect/ai/McpServer"
import type * as Tool from "effect/ai/Tool"
import type * as Toolkit from "effect/ai/Toolkit"
import type * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as ElicitationToolkit from "./internal/elicitation/toolkit.ts"
import * as Environment from "./internal/environment/environment.ts"
import * as McpApproval from "./McpApproval.ts"

export * from "effect/ai/McpServer"

/**
 * Registers a toolkit with the server: as {@link toolkit}, where the server is in the context.
 *
 * @example
 * import { ApprovalController, McpProtocol, McpServer, McpTest, Tool, Toolkit } from "@assent/ai"
 * import { Effect, Layer, Schema } from "effect"
 *
 * const Tools = Toolkit.make(Tool.make("Restart", { success: Schema.String, needsApproval: true }))
 *
 * // Whoever stands at the machine answers here, in the place of the client's user.
 * const registrations = Layer.effectDiscard(McpServer.registerToolkit(Tools)).pipe(
 *   Layer.provide(Tools.toLayer({ Restart: () => Effect.succeed("restarted") })),
 *   Layer.provide(ApprovalController.layerInteractive(() => true))
 * )
 *
 * const program = Effect.gen(function*() {
 *   const client = yield* McpTest.makeClient(registrations, { protocols: [McpProtocol.v2025_11_25] })
 *   const { content: [first] } = yield* client.callTool({ name: "Restart", arguments: {} })
 *   return first?.type === "text" && first.text
 * })
 *
 * await Effect.runPromise(Effect.scoped(program)) // => "restarted"
 *
 * @category constructors
 * @since 0.1.0
 */
export const registerToolkit = <Tools extends Record<string, Tool.Any>>(
  toolkit: Toolkit.Toolkit<Tools>,
  options?: McpApproval.ToolkitOptions
): Effect.Effect<void, never, McpServer.ToolkitRequirements<Tools>> =>
  ElicitationToolkit.register(toolkit, McpApproval.elicitation(options), {
    policyTimeLimit: options?.policyTimeLimit ?? Environment.defaultOptions.policyTimeLimit
  })

/**
 * Upstream's `toolkit`, which runs every call, with a guard before it: `McpApproval.toolkit` by upstream's name.
 *
 * @example
 * import { McpProtocol, McpServer, McpTest, Tool, Toolkit } from "@assent/ai"
 * import { Effect, Layer, Schema } from "effect"
 *
 * const Tools = Toolkit.make(
 *   Tool.make("Look", { success: Schema.String }),
 *   Tool.make("Restart", { success: Schema.String, needsApproval: true })
 * )
 * const registrations = McpServer.toolkit(Tools).pipe(
 *   Layer.provide(Tools.toLayer({ Look: () => Effect.succeed("up"), Restart: () => Effect.succeed("restarted") }))
 * )
 *
 * // This client cannot ask its user: what needs approval does not run.
 * const failed = (name: string) =>
 *   Effect.gen(function*() {
 *     const client = yield* McpTest.makeClient(registrations, { protocols: [McpProtocol.v2025_11_25] })
 *     return (yield* client.callTool({ name, arguments: {} })).isError === true
 *   })
 *
 * await Effect.runPromise(Effect.scoped(failed("Look"))) // => false
 * await Effect.runPromise(Effect.scoped(failed("Restart"))) // => true
 *
 * @category layers
 * @since 0.1.0
 */
export const toolkit: <Tools extends Record<string, Tool.Any>>(
  toolkit: Toolkit.Toolkit<Tools>,
  options?: McpApproval.ToolkitOptions
) => Layer.Layer<never, never, McpServer.ToolkitRequirements<Tools>> = McpApproval.toolkit
