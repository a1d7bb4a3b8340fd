/**
 * What the rules of another product become: rules of ours, and what is not the same.
 */
import type * as ApprovalConfig from "@assent/ai/ApprovalConfig"
import * as Predicate from "effect/Predicate"

/** How a rule of ours differs from the one that was written. */
export interface Difference {
  /** The rule, or the setting, as it was written. */
  readonly rule: string
  /**
   * - `narrower`: we ask, or forbid, where the other product would not.
   * - `wider`: we ask where the other product would forbid, or do not see what it would.
   * - `left out`: there is no rule of ours for it; what it would allow is asked about.
   */
  readonly effect: "narrower" | "wider" | "left out"
  readonly text: string
}

/** Rules of ours, and every difference from what was read. */
export interface Imported {
  readonly config: { readonly tools: ApprovalConfig.Tools }
  readonly differences: ReadonlyArray<Difference>
}

/** A tool of the program, and its parameter that holds the command line or the path. */
export interface ToolOption {
  readonly name: string
  readonly param?: string | undefined
}

/** One tool or several, by name alone where the parameter is called `command`, or `path`. */
export type ToolOptions = string | ToolOption | ReadonlyArray<string | ToolOption>

/** What a rule of the other product wants. */
export type Wanted = "none" | "required" | "deny"

/** One of their rules, in our terms. `unreadable` speaks of calls that we cannot tell apart from others. */
export type Said =
  | { readonly _tag: "Every"; readonly wanted: Wanted; readonly rule: string }
  | {
    readonly _tag: "Some"
    readonly wanted: Wanted
    readonly rule: string
    readonly by: "path" | "shell"
    readonly patterns: ReadonlyArray<string>
    readonly param?: string | undefined
    readonly trust?: string | undefined
  }
  | { readonly _tag: "Unreadable"; readonly wanted: "required" | "deny"; readonly rule: string }

export const toTools = (tools: ToolOptions | undefined): ReadonlyArray<ToolOption> =>
  (tools === undefined ? [] : typeof tools === "string" || "name" in tools ? [tools] : tools)
    .map((tool) => typeof tool === "string" ? { name: tool } : tool)

const strictness: { readonly [wanted in Wanted]: number } = { none: 0, required: 1, deny: 2 }

/** Whether the first is stricter than the second. */
export const isStricter = (one: Wanted, other: Wanted): boolean => strictness[one] > strictness[other]

/** What is said of tools, in the order in which they were named. */
export type SaidOfTools = Map<string, Array<Said>>

/** Every tool that the program names is spoken of: what no rule allows is asked about, whatever the tool itself says. */
export const start = (tools: ReadonlyArray<ToolOption>): SaidOfTools => new Map(tools.map(({ name }) => [name, []]))

export const add = (all: SaidOfTools, tool: ToolOption, rule: Said): void => {
  const said = all.get(tool.name) ?? []
  said.push(rule._tag === "Some" && tool.param !== undefined ? { ...rule, param: tool.param } : rule)
  all.set(tool.name, said)
}

/** What may stand in the place of their answer to a call that no rule speaks of. */
export interface Origin {
  readonly product: string
  readonly otherwise: "required" | "deny"
  readonly links?: "refused" | undefined
}

type Told = (rule: string, effect: Difference["effect"], text: string) => void

/**
 * What is said of one tool. The strictest decides there as here, so a rule that allows gives way to one that speaks of
 * every call; and where some call may be one that an unreadable rule means, nothing is allowed.
 */
export const settle = (
  name: string,
  said: ReadonlyArray<Said>,
  { links, otherwise, product }: Origin,
  tell: Told
): ApprovalConfig.Value | ApprovalConfig.ToolInput => {
  const every = (wanted: Wanted) => said.some((rule) => rule._tag === "Every" && rule.wanted === wanted)
  if (every("deny")) return "deny"
  const unreadable = said.filter((rule) => rule._tag === "Unreadable")
  for (const { rule, wanted } of unreadable) {
    const which = "It is not clear which calls it means."
    if (otherwise === "deny") tell(rule, "narrower", `${which} \`${name}\` refuses each.`)
    else if (wanted === "required") tell(rule, "narrower", `${which} \`${name}\` asks about each.`)
    else tell(rule, "wider", `${which} \`${name}\` therefore asks about every call, where ${product} refuses some.`)
  }
  const asksAlways = every("required")
  const rules = said.flatMap((rule): ReadonlyArray<ApprovalConfig.RuleInput> => {
    if (rule._tag !== "Some" || (rule.wanted === "none" && (asksAlways || every("none")))) return []
    if (rule.wanted === "none" && unreadable.length > 0) {
      tell(rule.rule, "left out", "It may allow calls that another rule, which cannot be read, is about.")
      return []
    }
    return [{
      [rule.by]: rule.patterns.length === 1 ? rule.patterns[0]! : rule.patterns,
      ...(rule.param === undefined ? {} : { param: rule.param }),
      ...(rule.trust === undefined ? {} : { trust: rule.trust }),
      ...(rule.by === "path" && rule.wanted === "none" && links !== undefined ? { links } : {}),
      approval: rule.wanted,
      ...(rule.wanted === "none" ? {} : { reason: `${product}: ${rule.rule}` })
    }]
  })
  const approval = asksAlways
    ? "required"
    : unreadable.length === 0 && every("none")
    ? "none"
    : otherwise
  return rules.length === 0 ? approval : { rules, approval }
}

/** The own property of an object, of whatever shape. */
export const ownOf = (value: unknown, key: string): unknown =>
  Predicate.isObject(value) ? Object.getOwnPropertyDescriptor(value, key)?.value : undefined
