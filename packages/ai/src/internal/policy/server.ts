/** Which MCP server a tool is of, and what that server says of it. */
import type * as Tool from "effect/ai/Tool"
import * as Context from "effect/Context"
import * as Text from "../text.ts"

/**
 * Which MCP server a tool is of, and what that server says of it. Anyone can say that a tool only reads. So hints count
 * in full only where the server is trusted by name; else they can make a call stricter, and nothing else.
 *
 * @category models
 * @since 0.1.0
 */
export interface ServerHints {
  readonly server: string
  /** Whether that is only what the server calls itself. Then it is never trusted: any server may call itself so. */
  readonly selfNamed?: boolean | undefined
  readonly readOnlyHint?: boolean | undefined
  readonly destructiveHint?: boolean | undefined
  readonly openWorldHint?: boolean | undefined
}

/**
 * The annotation of a tool that says which MCP server it is of, as `McpApproval.guard` gives it to those it makes. A tool
 * that is called `mcp.server.name`, as those that a provider runs are, is of that server without it.
 *
 * @example
 * import { ApprovalPolicy, Tool } from "@assent/ai"
 * import { Effect } from "effect"
 *
 * const ListIssues = Tool.make("list_issues").annotate(ApprovalPolicy.ServerHints, {
 *   server: "github",
 *   readOnlyHint: true
 * })
 *
 * const explained = (trust: ReadonlyArray<string>) =>
 *   ApprovalPolicy.makeCall(ListIssues, {}).pipe(
 *     Effect.flatMap(ApprovalPolicy.explain),
 *     Effect.provideService(ApprovalPolicy.ApprovalPolicy, ApprovalPolicy.fromAnnotations({ trust })),
 *     Effect.map(({ result }) => result._tag)
 *   )
 *
 * await Effect.runPromise(explained([])) // => "NeedsApproval"
 * await Effect.runPromise(explained(["github"])) // => "PreApproved"
 *
 * @category references
 * @since 0.1.0
 */
export const ServerHints = Context.Reference<ServerHints | undefined>("@assent/ai/ApprovalPolicy/ServerHints", {
  defaultValue: () => undefined
})

/** Where the calls of a tool go, if that is an MCP server: as what a provider runs there is said to come from. */
export const sourceOf = (tool: Tool.Any): string | undefined => {
  const hints = Context.get(tool.annotations, ServerHints)
  return hints === undefined ? undefined : `mcp.${Text.escape(hints.server, { maxLength: 100 })}`
}
