/** The tools of a plan, with their handlers and gates: the same objects for all plans. */
import { Effect, Schema } from "effect"
import { Approval, Tool, Toolkit } from "../../src/index.ts"
import * as AgentTools from "./agentTools.ts"
import * as Behaviour from "./behaviour.ts"
import * as DeferredTools from "./deferredTools.ts"
import * as Handlers from "./handlers.ts"
import type * as Plan from "./plan.ts"
import * as Stage from "./stage.ts"

// =============================================================================
// Tools
// =============================================================================

type Gate = (params: any, context: Tool.NeedsApprovalContext) => Effect.Effect<any, unknown>

const gateOf = (name: Plan.ToolName): boolean | Gate | undefined => {
  switch (name) {
    case "Delete":
    case "Sync":
    case "Wipe":
      return true
    case "Send":
      return (params, { toolCallId: id }) =>
        Effect.flatMap(
          Stage.Stage,
          ({ gate }) => Stage.judge("gate", gate, { id, tool: name, params: Behaviour.encode(name, params) })
        )
    case "Charge":
      return (params, { toolCallId: id }) =>
        Effect.map(
          Effect.flatMap(Stage.Stage, ({ revision }) =>
            Effect.as(
              Stage.judge("gate", "ask", { id, tool: name, params: Behaviour.encode(name, params) }),
              revision
            )),
          (revision) =>
            Approval.needsApproval({
              description: `Charge ${params.amount} for ${params.note}`,
              presentation: new Approval.ApprovalPresentation({
                type: "text",
                content: `revision ${revision}: ${params.note}`
              })
            })
        )
    case "Read":
    case "Poke":
    case "Wait":
    case "Order":
    case "Agent":
      return undefined
  }
}

/** Tools that return their failures. */
const failing: ReadonlySet<string> = new Set(["Send", "Charge", "Read", "Wipe", "Agent"])

const toolOf = (name: Plan.ToolName, drift: Behaviour.Drift): Tool.Any => {
  if (name === "Wait" || name === "Order") return DeferredTools.make(name, drift)
  const tool = Tool.make(name, {
    parameters: Schema.Struct(Behaviour.fieldsOf(name, drift)),
    success: name === "Charge"
      ? Schema.Struct({ done: Schema.String, at: Schema.DateFromString })
      : Schema.Struct({ done: Schema.String }),
    failure: Schema.Struct({ why: Schema.String }),
    failureMode: failing.has(name) ? "return" : "error",
    needsApproval: gateOf(name) as boolean
  })
  return name === "Sync" ? tool.annotate(Tool.Idempotent, true) : tool
}

/** A tool of the provider's. */
const Remote = Tool.providerDefined({
  id: "search.remote",
  customName: "Remote",
  providerName: "remote",
  parameters: Schema.Struct({ amount: Schema.Int, how: Schema.String, note: Schema.String }),
  success: Schema.Struct({ done: Schema.String }),
  failure: Schema.Struct({ why: Schema.String })
})()

// =============================================================================
// Toolkits
// =============================================================================

// The plans speak of toolkits that are only known when they are carried out.
export type AnyToolkit = Toolkit.WithHandler<any>

const names: ReadonlyArray<Plan.ToolName> = ["Delete", "Send", "Charge", "Sync", "Read", "Poke"]

/** The tools of a plan: those that every plan has, and those it speaks of. */
export const namesOf = ({ steps }: Plan.Plan): ReadonlyArray<Plan.ToolName> => {
  const spoken = new Set(steps.flatMap((step) => step._tag === "Turn" ? step.model.calls.map(({ tool }) => tool) : []))
  const others = Array.from(spoken).filter((name) => !names.includes(name))
  return others.length === 0 ? names : [...names, ...others.toSorted()]
}

const tools = new Map<string, Tool.Any>()
const toolkits = new Map<string, Effect.Effect<AnyToolkit>>()

/** The toolkit of these tools, of which some are not what they were. */
export const toolkitOf = (
  names: ReadonlyArray<Plan.ToolName>,
  drift: { readonly [tool: string]: string }
): Effect.Effect<AnyToolkit> => {
  const key = names.map((name) => `${name} ${drift[name] ?? "none"}`).join()
  let made = toolkits.get(key)
  if (made === undefined) {
    const present = names.filter((name) => drift[name] !== "removed").map((name) => {
      const toolKey = `${name} ${drift[name] ?? "none"}`
      const tool = tools.get(toolKey) ?? toolOf(name, (drift[name] ?? "none") as Behaviour.Drift)
      tools.set(toolKey, tool)
      return tool
    })
    const own = withHandlers(present.filter(({ name }) => name !== "Wipe"), [Remote])
    const guarded = present.filter(({ name }) => name === "Wipe")
    made = Effect.runSync(Effect.cached(
      guarded.length === 0 ? own : Effect.orDie(Toolkit.join(own, Toolkit.guard(withHandlers(guarded, []))))
    ))
    toolkits.set(key, made)
  }
  return made
}

const handlerOf = (tool: Tool.Any) => {
  if (Behaviour.mayWait(tool.name)) return DeferredTools.handlerOf(tool)
  return tool.name === "Agent" ? AgentTools.handler : Handlers.run(tool.name as Plan.ToolName)
}

const withHandlers = (tools: ReadonlyArray<Tool.Any>, others: ReadonlyArray<Tool.Any>): Effect.Effect<AnyToolkit> => {
  const kit = Toolkit.make(...([...tools, ...others] as unknown as ReadonlyArray<Tool.Tool<string, any>>))
  const handlers = Object.fromEntries(tools.map((tool) => [tool.name, handlerOf(tool)]))
  return Effect.provide(kit, kit.toLayer(handlers as never)) as Effect.Effect<AnyToolkit>
}

export const noTools: Effect.Effect<AnyToolkit> = Effect.provide(Toolkit.empty, Toolkit.empty.toLayer({}))
