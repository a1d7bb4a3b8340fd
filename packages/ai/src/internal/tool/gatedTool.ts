/**
 * Tools that may have a gate: how they are made and copied, and to whom they give the key of their handlers.
 *
 * A toolkit finds a tool's handler by the tool's `id`. One with a gate gives it to no toolkit but ours, which locks the
 * handler: in effect/ai's it would run unasked, by an approval that anybody can forge, with nothing of ours on the way. So
 * the program fails when its layers are built, and says what to import (law L1).
 */
import * as Tool from "effect/ai/Tool"
import * as Context from "effect/Context"
import type * as JsonSchema from "effect/JsonSchema"
import type * as Schema from "effect/Schema"
import * as Gate from "./gate.ts"

/** A gated tool met a toolkit, or an MCP server, that would run it unasked. */
export class NotOurToolkit extends Error {
  override readonly name = "NotOurToolkit"
  constructor(toolName: string) {
    super(
      `Assent: the tool "${toolName}" needs approval and was put into a Toolkit of effect/ai, which would run it` +
        " without approval: import Toolkit from @assent/ai, and McpServer too if it is served over MCP."
    )
  }
}

// =============================================================================
// Making
// =============================================================================

/** Upstream's `dynamic`, with a gate. */
export const dynamic = <T>(
  name: string,
  options: {
    readonly parameters?: Schema.Constraint | JsonSchema.JsonSchema | undefined
    readonly success?: Schema.Constraint | undefined
    readonly failure?: Schema.Constraint | undefined
    readonly failureMode?: Tool.FailureMode | undefined
    readonly dependencies?: unknown
    readonly needsApproval?: Gate.Source | undefined
  } | undefined
): T =>
  // Upstream's type reads these options back and knows no requirements; a tool's requirements are types only.
  ours(Tool.dynamic(name, { ...options, needsApproval: Gate.toSlot(options?.needsApproval) })) as unknown as T

/** A copy of a tool with another gate. */
export const setGate = <T extends Tool.Any>(self: T, source: Gate.Source): T => {
  // As upstream clones a tool, whose own method is not asked: on a tool of ours it leads here.
  const copy = Object.create(Object.getPrototypeOf(self) as object) as T
  return ours(Object.assign(copy, self, { needsApproval: Gate.toSlot(source) ?? true }))
}

// =============================================================================
// Who gets the key
// =============================================================================

/** Where a gated tool keeps the key of its handlers. A string, so that two copies of this module agree. */
const HandlerKey = "~@assent/ai/Tool/HandlerKey" as const

interface Keyed {
  readonly [HandlerKey]?: string
}

/** Of each kind of upstream's tools the prototype that tools of ours have over it. */
const prototypes = new WeakMap<object, object>()

// On the prototype, because upstream clones a tool by reading its own fields, and setting them on a copy.
const prototypeOver = (upstream: object): object => {
  if (HandlerKey in upstream) return upstream
  const known = prototypes.get(upstream)
  if (known !== undefined) return known
  const prototype = Object.create(upstream, {
    [HandlerKey]: { value: undefined, writable: true },
    id: {
      get(this: Tool.Any & Keyed): string {
        if (Gate.isGated(this)) throw new NotOurToolkit(this.name)
        return this[HandlerKey]!
      },
      set(this: Tool.Any, value: unknown) {
        Object.defineProperty(this, "id", { value, writable: true, enumerable: true, configurable: true })
      }
    },
    // A gate that is set by the tool's own method is as closed as one that is set by our function.
    setNeedsApproval: {
      value(this: Tool.Any, needsApproval: Gate.Source) {
        return setGate(this, needsApproval)
      }
    }
  }) as object
  prototypes.set(upstream, prototype)
  return prototype
}

/**
 * A tool of upstream's as one of ours: it gives its key to our toolkits alone, now or once it has a gate. A provider's own
 * tool keeps its id in sight, by which the provider is told which of its tools this is.
 */
export const ours = <T>(tool: T): T => {
  const upstream = tool as unknown as Tool.Any // `Tool.Any` asks more of the schemas than a tool does
  if (Tool.isProviderDefined(upstream)) return tool
  const prototype = prototypeOver(Object.getPrototypeOf(tool) as object)
  const copy = (fields: object): T => Object.assign(Object.create(prototype), fields) as T
  if (!Gate.isGated(upstream) || !Object.hasOwn(upstream, "id")) return copy(upstream)
  const { id, ...fields } = upstream
  return copy({ ...fields, [HandlerKey]: id })
}

const keyOf = (tool: Tool.Any & Keyed): string => Object.hasOwn(tool, "id") ? tool.id : tool[HandlerKey]!

/** The same tool with its key in sight, for the machinery of our own toolkits; to be shown to nobody else. */
export const disclosed = (tool: Tool.Any): Tool.Any =>
  Object.hasOwn(tool, "id") ? tool : Object.defineProperty(
    Object.assign(Object.create(Object.getPrototypeOf(tool) as object) as Tool.Any, tool),
    "id",
    { value: keyOf(tool) }
  )

/** The handler that is there for a tool. */
export const handlerIn = (context: Context.Context<never>, tool: Tool.Any): Tool.Handler<string> | undefined =>
  // Upstream keeps handlers by the keys of their tools, which it gives no type.
  Context.getOrUndefined(context, { key: keyOf(tool) } as Context.Key<never, Tool.Handler<string>>)
