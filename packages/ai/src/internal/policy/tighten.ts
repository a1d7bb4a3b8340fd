/** A tool in the place of another of its name, with both their gates. */
import type * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Approval from "../../Approval.ts"
import * as Gate from "../tool/gate.ts"
import * as GatedTool from "../tool/gatedTool.ts"
import * as LockedToolkit from "../tool/lockedToolkit.ts"
import { strictest } from "./strictest.ts"

type Tools = Record<string, Tool.Any>

/** Throws a `TypeError` where there is no such tool, or one whose gate could not read the calls of the other. */
export const tighten = <Kit extends Tools>(kit: Toolkit.Toolkit<Kit>, tool: Tool.Any): Toolkit.Toolkit<Kit> => {
  const { name } = tool
  const own = Object.hasOwn(kit.tools, name) ? kit.tools[name]! : undefined
  if (own === undefined) throw new TypeError(`The toolkit has no tool called "${name}" that could be tightened.`)
  if (own.parametersSchema !== tool.parametersSchema) {
    throw new TypeError(
      `Another tool "${name}" with its own parameters cannot replace the one in the toolkit, because its gate could` +
        ` not read its calls. Make it from that tool, Tool.setNeedsApproval(${name}, …), or give it another name.`
    )
  }
  const tools = Object.values<Tool.Any>(kit.tools).map((one) => one === own ? withBoth(own, tool) : one)
  return LockedToolkit.lock(Toolkit.make(...tools)) as unknown as Toolkit.Toolkit<Kit> // the same names, the same tools
}

const withBoth = (own: Tool.Any, tool: Tool.Any): Tool.Any =>
  !Gate.isGated(own) || Gate.gateOf(own) === Gate.gateOf(tool)
    ? tool
    : !Gate.isGated(tool)
    ? GatedTool.setGate(tool, Gate.gateOf(own) as Gate.Source)
    : GatedTool.setGate(tool, (params: unknown, context: Tool.NeedsApprovalContext) =>
      Effect.flatMap(
        Effect.all([
          Effect.exit(Gate.evaluate(own, params, context)),
          Effect.exit(Gate.evaluate(tool, params, context))
        ]),
        both
      ))

// One that fails is asked about, unless the other one blocks.
const both = ([first, second]: readonly [Answer, Answer]): Answer => {
  const blocked = [first, second].find((answer) => Exit.isSuccess(answer) && answer.value?._tag === "Blocked")
  return Exit.isSuccess(first) && Exit.isSuccess(second)
    ? Exit.succeed(strictest(first.value!, second.value!)) // both have a gate
    : blocked ?? (Exit.isSuccess(first) ? second : first)
}

type Answer = Exit.Exit<Approval.ApprovalResult | undefined, unknown>
