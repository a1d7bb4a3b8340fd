/**
 * A toolkit of upstream's whose gated tools are locked, whoever made them and whoever runs it.
 */
import type * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Effectable from "effect/Effectable"
import * as Layer from "effect/Layer"
import * as Shutdown from "../shutdown.ts"
import * as Consent from "./consent.ts"
import * as Gate from "./gate.ts"
import * as GatedTool from "./gatedTool.ts"
import * as Handling from "./handlers.ts"

type Tools = Record<string, Tool.Any>
type Handlers = Record<string, unknown>

/** Upstream's toolkits, without what their types tell of tools and services. */
interface AnyToolkit extends Effect.Effect<Handling.Handlers> {
  readonly tools: Tools
  readonly toHandlers: (build: Handlers | Effect.Effect<Handlers>) => Effect.Effect<Context.Context<never>>
  readonly toJSON: () => unknown
}

/** Locks a toolkit that was just made. One without gated tools has nothing to lock. */
export const lock = <Kit extends Toolkit.Any>(kit: Kit): Kit => {
  const { toJSON, tools } = kit as unknown as AnyToolkit
  const isGated = Object.values(tools).some(Gate.isGated)
  // Upstream's machinery, which looks up handlers by the keys of its tools, and is shown to nobody.
  const inner = Object.assign(Toolkit.make() as unknown as AnyToolkit, { tools: disclosed(tools) })
  const change = (handlers: Handlers, to: (tool: Tool.Any, handler: unknown) => unknown): Handlers =>
    Object.fromEntries(
      Object.entries(handlers).map((
        [name, handler]
      ) => [name, Object.hasOwn(tools, name) ? to(tools[name]!, handler) : handler])
    )
  const lockAll = (handlers: Handlers): Handlers => change(handlers, Consent.lock)
  const checkAll = (handlers: Handlers): Handlers =>
    change(
      handlers,
      (tool, handler) => Gate.isGated(tool) ? Consent.lock(tool, handler) : Handling.checked(tool.name, handler)
    )
  const toHandlers = (build: Handlers | Effect.Effect<Handlers>) =>
    inner.toHandlers(Effect.isEffect(build) ? Effect.map(build, checkAll) : checkAll(build))
  // What the layer of handlers was built in stays with them.
  const withHandlers: AnyToolkit["toHandlers"] = isGated
    ? (build) => Consent.withoutConsent(toHandlers(build))
    : toHandlers
  return Object.assign(
    kit,
    Effectable.Prototype<AnyToolkit>({
      label: "Toolkit",
      evaluate: () =>
        Effect.contextWith((context: Context.Context<never>) =>
          Effect.map(
            Effect.updateContext(inner, lockIn(inner.tools)),
            (built) => Handling.mark({ ...built, tools }, context)
          )
        )
    }),
    {
      toJSON,
      ...(isGated ? { of: lockAll } : undefined),
      toHandlers: withHandlers,
      toLayer: (build: Handlers | Effect.Effect<Handlers>) =>
        Layer.effectContext(Effect.andThen(Effect.addFinalizer(() => Shutdown.leaving), withHandlers(build)))
    }
  )
}

// The handlers that are there when the toolkit is run: another toolkit may have put them there, with other gates.
const lockIn = (tools: Tools) => (context: Context.Context<never>): Context.Context<never> => {
  let services: Map<string, unknown> | undefined
  for (const tool of Object.values(tools)) {
    const found = GatedTool.handlerIn(context, tool)
    if (found === undefined) continue
    const handler = Consent.lock(tool, found.handler)
    if (handler === found.handler) continue
    services ??= new Map(context.mapUnsafe)
    services.set(tool.id, { ...found, handler })
  }
  return services === undefined ? context : Context.makeUnsafe(services)
}

/** The tools of a toolkit as upstream's machinery needs them that looks up their handlers by itself. */
export const disclosed = (tools: Tools): Tools =>
  Object.fromEntries(Object.entries(tools).map(([name, tool]) => [name, GatedTool.disclosed(tool)]))
