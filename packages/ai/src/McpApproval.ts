/**
 * Approval over the Model Context Protocol: a server that asks the user of its client, through elicitation, before a
 * tool of it runs.
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
import * as ElicitationToolkit from "./internal/elicitationToolkit.ts"
import * as Environment from "./internal/environment.ts"

/**
 * @since 0.1.0
 */
export interface ElicitationOptions {
  readonly timeLimit?: Duration.Input | undefined
  readonly maxLength?: number | undefined
}

export interface ToolkitOptions extends ElicitationOptions {
  readonly policyTimeLimit?: Duration.Input | undefined
}

export const elicitation = (options?: ElicitationOptions): ApprovalController.Service => {
  const timeLimit = options?.timeLimit ?? "1 hour"
  const maxLength = options?.maxLength ?? 20_000
  return {
    ask: (request) => Elicitation.ask(request, { timeLimit, maxLength }),
    // No client waits for another; each is asked one thing after the other.
    parallel: true
  }
}

export const layerElicitation = (options?: ElicitationOptions): Layer.Layer<never> =>
  Layer.succeed(ApprovalController.ApprovalController, elicitation(options))

export const toolkit = <Tools extends Record<string, Tool.Any>>(
  toolkit: Toolkit.Toolkit<Tools>,
  options?: ToolkitOptions
): Layer.Layer<never, never, McpServer.ToolkitRequirements<Tools>> =>
  Layer.effectDiscard(
    ElicitationToolkit.register(toolkit, elicitation(options), {
      policyTimeLimit: options?.policyTimeLimit ?? Environment.defaultOptions.policyTimeLimit
    })
  )
