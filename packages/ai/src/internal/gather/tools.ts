/** What is known of a tool before any call of it: whether its calls may need somebody, or may wait. */
import * as Tool from "effect/ai/Tool"
import * as Context from "effect/Context"
import type * as Standing from "../decide/standing.ts"
import * as Policies from "../policy/service.ts"
import * as Deferral from "../tool/deferral.ts"
import * as Gate from "../tool/gate.ts"

export type Tools = Readonly<Record<string, Tool.Any>>

export const toolOf = (tools: Tools | undefined, name: string): Tool.Any | undefined =>
  tools !== undefined && Object.hasOwn(tools, name) ? tools[name] : undefined

/** Whether the provider runs the calls of this tool itself. */
export const isProviderTool = (tool: Tool.Any): boolean => Tool.isProviderDefined(tool) && !tool.requiresHandler

/** The names of the tools whose calls run here. */
export const callable = (tools: Tools | undefined): ReadonlyArray<string> =>
  tools === undefined ? [] : Object.keys(tools).filter((name) => !isProviderTool(tools[name]!))

/** Whether a tool that the provider runs has a gate that the program gave it. */
export const isGatedProviderTool = (tool: Tool.Any): boolean => isProviderTool(tool) && Gate.gateOf(tool) !== undefined

/** Marks a tool whose calls are asked about where they are handled, so that nobody is asked twice. */
export const Guarded = Context.Reference<boolean>("~@assent/ai/Tool/Guarded", { defaultValue: () => false })

/** Whether a call of this tool can need approval at all. */
export const isGated = (policy: Policies.Service, tool: Tool.Any): boolean => {
  if (Context.get(tool.annotations, Guarded)) return false
  return policy !== Policies.toolGate || Gate.isGated(tool)
}

/** Whether a call of this tool may begin, and then wait. */
export const mayWait = (tool: Tool.Any): boolean => Deferral.of(tool) !== undefined

/** What of it a decision about one of its calls turns on; `isFit` says whether the parameters fit it. */
export const factOf = (
  policy: Policies.Service,
  tools: Tools | undefined,
  tool: Tool.Any | undefined,
  isFit: boolean
): Standing.Tool =>
  tools === undefined
    ? "noToolkit"
    : tool === undefined
    ? "gone"
    : !isFit
    ? "unfit"
    : isGated(policy, tool)
    ? "gated"
    : "free"
