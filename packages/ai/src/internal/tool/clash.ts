/** Two tools of one name, of which one would take the other's place, and with it the gate or the want of one (law L1). */
import type * as Tool from "effect/ai/Tool"
import * as Gate from "./gate.ts"

/** Throws a `TypeError` for two different tools of one name, if one of them has a gate. */
export const refuse = (tools: Iterable<readonly [name: string, tool: Tool.Any]>): void => {
  const known = new Map<string, Tool.Any>()
  for (const [name, tool] of tools) {
    const other = known.get(name)
    if (other !== undefined && other !== tool && (Gate.isGated(other) || Gate.isGated(tool))) {
      throw new TypeError(
        `Two tools are called "${name}", and one of them needs approval. Give one another name, Tool.make("…${name}", …),` +
          " or put a copy with another gate in its place by Toolkit.tighten."
      )
    }
    known.set(name, tool)
  }
}
