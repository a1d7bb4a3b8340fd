/**
 * What an MCP server says its tools do. Anyone may say that a tool only reads, so it counts where the program trusts the
 * server by a name of its own, and nowhere else.
 */
import type * as McpSchema from "effect/ai/McpSchema"
import * as Tool from "effect/ai/Tool"
import * as Approval from "../../Approval.ts"
import { ServerHints } from "../policy/server.ts"
import * as Text from "../text.ts"
import type * as Gate from "../tool/gate.ts"
import * as GatedTool from "../tool/gatedTool.ts"
import * as Definition from "./definition.ts"

/** What the hints come to; where one is missing, or is no hint, what the protocol says then, which is the stricter. */
interface Kind {
  readonly readonly: boolean
  readonly destructive: boolean
  readonly idempotent: boolean
  readonly openWorld: boolean
}

// Whether a tool destroys has no meaning where it only reads, says the protocol; a client fills in that it does.
const kindOf = ({ annotations }: McpSchema.Tool): Kind => {
  const readonly = annotations?.readOnlyHint === true
  return {
    readonly,
    destructive: !readonly && annotations?.destructiveHint !== false,
    idempotent: annotations?.idempotentHint === true,
    openWorld: annotations?.openWorldHint !== false
  }
}

/** The tool with a gate, and with what may be believed of what its server says. */
export const apply = <T extends Tool.Any>(
  tool: T,
  server: Definition.Server,
  listed: McpSchema.Tool,
  trusted: boolean
): T => {
  const kind = kindOf(listed)
  const gate = trusted && kind.readonly ? false : gateOf(server, listed, kind, trusted)
  const hinted = GatedTool.setGate(tool, gate).annotate(ServerHints, {
    server: server.name,
    selfNamed: server.selfNamed,
    readOnlyHint: kind.readonly,
    destructiveHint: kind.destructive,
    openWorldHint: kind.openWorld
  })
  // A tool that says nothing of itself may destroy something and reach out, and is not run again (law L2).
  const believed = !trusted ? hinted : hinted
    .annotate(Tool.Readonly, kind.readonly)
    .annotate(Tool.Destructive, kind.destructive)
    .annotate(Tool.Idempotent, kind.idempotent)
    .annotate(Tool.OpenWorld, kind.openWorld)
  // Upstream's method returns a clone with the same prototype and fields, typed as the base interface `Tool`.
  return believed as unknown as T
}

// Always asks, and says of whom the tool is and what that server says of it; its own words stand in quotes (law L15).
const gateOf = (
  server: Definition.Server,
  listed: McpSchema.Tool,
  { destructive, readonly }: Kind,
  trusted: boolean
): Gate.Gate => {
  const title = listed.title ?? listed.annotations?.title
  const says = listed.annotations === undefined
    ? "does not say what it does"
    : readonly
    ? "says that it only reads"
    : destructive
    ? "says that it may destroy something"
    : "says that it only adds"
  const reason = `It is the tool ${Text.quote(listed.name)} of ${Definition.introduced(server)}. The server` +
    ` ${title === undefined ? "" : `calls it ${Text.quote(title)} and `}${says}` +
    (trusted ? "." : ". The server is not trusted by name.")
  const asked = Approval.needsApproval({ reason })
  return () => asked
}
