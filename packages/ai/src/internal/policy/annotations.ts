/**
 * What a tool's annotations say about its calls.
 */
import * as Tool from "effect/ai/Tool"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Approval from "../../Approval.ts"
import type { Combine, Value } from "../config/written.ts"
import * as Text from "../text.ts"
import * as Rules from "./rules.ts"
import { strictest } from "./strictest.ts"
import * as Trace from "./trace.ts"

/**
 * What becomes of tools of each kind. A tool is of one of three kinds: it only reads (`Tool.Readonly`), else it may
 * destroy (`Tool.Destructive`, which holds for tools that do not say), else it only adds. `openWorld` is a further
 * word, about tools that reach out (`Tool.OpenWorld`, which holds for tools that do not say); of the two words the
 * stricter one decides. `combine` is `tighten` by default: then nothing here loosens what the tool says itself. `trust`
 * names the MCP servers whose hints are believed where they loosen.
 *
 * @category options
 * @since 0.1.0
 */
export interface AnnotationRules {
  /** Default: `required`. */
  readonly destructive?: Value | undefined
  /** Default: `default`. */
  readonly additive?: Value | undefined
  /** Default: `default`. */
  readonly readonly?: Value | undefined
  /** Default: `default`. */
  readonly openWorld?: Value | undefined
  readonly combine?: Combine | undefined
  readonly trust?: ReadonlyArray<string> | undefined
}

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

interface Kind {
  readonly readonly: boolean
  readonly destructive: boolean
  readonly openWorld: boolean
}

/** What a tool is that says nothing. */
const unknown: Kind = { readonly: false, destructive: true, openWorld: true }

export const decide = (
  rules: AnnotationRules,
  tool: Tool.Any,
  toolName: string,
  own: Trace.Own
): Effect.Effect<Trace.Trace, unknown> => {
  const hints = Context.get(tool.annotations, ServerHints)
  const server = hints?.server ?? /^mcp\.([^.]+)\./.exec(toolName)?.[1]
  const trusted = server === undefined || (hints?.selfNamed !== true && rules.trust?.includes(server) === true)
  const said = server === undefined || hints === undefined ? kindOf(tool) : kindOfHints(hints)
  const words = trusted
    ? wordsOf(rules, said, server === undefined ? "" : `, says the trusted server ${server}`)
    : [
      ...wordsOf(rules, said, `, says the server ${server}`),
      ...wordsOf(rules, unknown, ` or may do so: the server ${server} is not trusted`)
    ]
  const results = words.flatMap(({ says }) =>
    says === "default" ? [] : [Rules.resultOf({ approval: says }, { _tag: "Tool" }, toolName)]
  )
  const result = results.reduce<Approval.ApprovalResult | undefined>(
    (self, that) => self === undefined ? that : strictest(self, that),
    undefined
  )
  const trace: Trace.Trace = {
    result,
    steps: () =>
      words.map(({ says, why }) =>
        new Trace.Step({
          source: "annotations",
          says,
          why,
          decides: says === "default"
            ? result === undefined
            : Trace.wordOf(result) === Trace.wordOf(Rules.resultOf({ approval: says }, null, ""))
        })
      )
  }
  return (rules.combine ?? "tighten") === "tighten" || words.some(({ says }) => says === "default")
    ? Trace.withOwn(trace, own)
    : Effect.succeed(trace)
}

const kindOf = (tool: Tool.Any): Kind => ({
  readonly: Context.get(tool.annotations, Tool.Readonly),
  destructive: Context.get(tool.annotations, Tool.Destructive),
  openWorld: Context.get(tool.annotations, Tool.OpenWorld)
})

const kindOfHints = ({ destructiveHint, openWorldHint, readOnlyHint }: ServerHints): Kind => ({
  readonly: readOnlyHint === true,
  destructive: destructiveHint !== false,
  openWorld: openWorldHint !== false
})

/** Where the calls of a tool go, if that is an MCP server: as what a provider runs there is said to come from. */
export const sourceOf = (tool: Tool.Any): string | undefined => {
  const hints = Context.get(tool.annotations, ServerHints)
  return hints === undefined ? undefined : `mcp.${Text.escape(hints.server, { maxLength: 100 })}`
}

/** Whether a call of it may destroy something, for all that its annotations say. */
export const isDestructive = (tool: Tool.Any): boolean => {
  const { destructive, readonly } = kindOf(tool)
  return destructive && !readonly
}

const wordsOf = (
  rules: AnnotationRules,
  { destructive, openWorld, readonly }: Kind,
  says: string
): ReadonlyArray<{ readonly says: Value; readonly why: string }> => [
  readonly
    ? { says: rules.readonly ?? "default", why: `It only reads${says}.` }
    : destructive
    ? { says: rules.destructive ?? "required", why: `It may destroy something${says}.` }
    : { says: rules.additive ?? "default", why: `It only adds something${says}.` },
  ...(openWorld && rules.openWorld !== undefined
    ? [{ says: rules.openWorld, why: `It reaches out to others${says}.` }]
    : [])
]
