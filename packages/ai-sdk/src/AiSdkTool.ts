/**
 * The tools that providers bring, such as `anthropic.tools.webSearch_20250305`, for a toolkit.
 *
 * @since 0.1.0
 */
import * as Tool from "effect/ai/Tool"
import * as Schema from "effect/Schema"

/**
 * What a package of a provider makes: the tool's id, its settings, and who runs it.
 *
 * @category models
 * @since 0.1.0
 */
export interface ProviderTool<Executed extends boolean> {
  readonly id: `${string}.${string}`
  readonly args: { readonly [key: string]: unknown }
  readonly isProviderExecuted: Executed
}

/**
 * A tool that a provider brings, under a name of the program's. What the provider runs itself needs no handler; what it
 * leaves to the program, as Claude's `bash`, has one in the toolkit's layer. Parameters and results are passed on as
 * they are.
 *
 * A call that the provider asks about waits for a person like any other. For calls on a hosted MCP server, policies and
 * people see `mcp.<label>.<tool>` where the toolkit has one such server, and `mcp.<tool>` where it has several.
 *
 * @example
 * import { Toolkit } from "@assent/ai"
 * import { AiSdkTool } from "@assent/ai-sdk"
 *
 * // What `anthropic.tools.webSearch_20250305({ maxUses: 3 })` returns.
 * const webSearch = {
 *   id: "anthropic.web_search_20250305",
 *   args: { maxUses: 3 },
 *   isProviderExecuted: true
 * } as const
 *
 * const toolkit = Toolkit.make(AiSdkTool.make("Search", webSearch))
 *
 * Object.keys(toolkit.tools) // => ["Search"]
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <const Name extends string, Executed extends boolean>(
  name: Name,
  tool: ProviderTool<Executed>
): Tool.ProviderDefined<`${string}.${string}`, Name, {
  readonly args: typeof Schema.Unknown
  readonly parameters: typeof Schema.Unknown
  readonly success: typeof Schema.Unknown
  readonly failure: typeof Schema.Unknown
  readonly failureMode: "error"
}, Executed extends true ? false : true> => {
  const isLocal = !tool.isProviderExecuted as Executed extends true ? false : true
  return Tool.providerDefined({
    id: tool.id,
    customName: name,
    providerName: tool.id.slice(tool.id.indexOf(".") + 1),
    args: Schema.Unknown,
    requiresHandler: isLocal,
    parameters: Schema.Unknown,
    success: Schema.Unknown,
    failure: Schema.Unknown
  })(tool.args as never)
}
