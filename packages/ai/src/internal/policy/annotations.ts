/**
 * What a tool's annotations say about its calls.
 */
import * as Tool from "effect/ai/Tool"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Approval from "../../Approval.ts"
import type { Combine, Value } from "../config/written.ts"
import * as Rules from "./rules.ts"
import { ServerHints } from "./server.ts"
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
