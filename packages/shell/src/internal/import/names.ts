/**
 * Names of tools with `*` for any characters, as theirs and ours have.
 */
import type * as ApprovalConfig from "@assent/ai/ApprovalConfig"
import { type Difference, isStricter, type Wanted } from "./imported.ts"

/** Whether some name is matched by both. Time is at most the product of their lengths. */
export const overlap = (one: string, other: string): boolean => {
  // `met[j]`: the rest of `one` and the rest of `other` from `j` on have a name in common.
  let met: ReadonlyArray<boolean> = []
  for (let i = one.length; i >= 0; i--) {
    const next: Array<boolean> = Array.from({ length: other.length + 1 }, () => false)
    for (let j = other.length; j >= 0; j--) {
      const a = one[i]
      const b = other[j]
      next[j] = a === undefined && b === undefined ||
        a === "*" && (met[j]! || b !== undefined && next[j + 1]!) ||
        b === "*" && (next[j + 1]! || a !== undefined && met[j]!) ||
        a !== undefined && a === b && met[j + 1]!
    }
    met = next
  }
  return met[0]!
}

/** As the configuration sees it: an exact name before a glob, a longer glob before a shorter one. */
const rank = (name: string): number => name.includes("*") ? name.replaceAll("*", "").length : Infinity

type Entry = readonly [name: string, input: ApprovalConfig.Value | ApprovalConfig.ToolInput]

/** The loosest that an entry says of any call. */
const loosest = (input: Entry[1]): Wanted => {
  const values = typeof input === "string"
    ? [input]
    : [input.approval ?? "none", ...(input.rules ?? []).map(({ approval }) => approval)]
  return values.includes("none") ? "none" : values.includes("required") ? "required" : "deny"
}

/** The same without what allows. */
const tighten = (input: Entry[1]): Entry[1] =>
  typeof input === "string"
    ? "required"
    : { approval: "required", rules: (input.rules ?? []).filter(({ approval }) => approval !== "none") }

/**
 * In a configuration of ours the more exact name decides, in theirs the strictest rule. So an entry gives way where a
 * stricter one speaks of some of the same tools and would not decide.
 */
export const yieldToStricter = (
  entries: ReadonlyArray<Entry>,
  tell: (name: string, effect: Difference["effect"], text: string) => void
): ReadonlyArray<Entry> =>
  entries.flatMap(([name, input]): ReadonlyArray<Entry> => {
    const stricter = entries.filter(([other, said]) =>
      other !== name && rank(other) < rank(name) && isStricter(loosest(said), loosest(input)) && overlap(name, other)
    )
    if (stricter.length === 0) return [[name, input]]
    // Of a tool that is named, every call is one of the glob's. A glob may mean other tools besides.
    if (!name.includes("*")) {
      return [[name, stricter.some(([, said]) => loosest(said) === "deny") ? "deny" : tighten(input)]]
    }
    const allows = loosest(input) === "none"
    const globs = stricter.map(([other]) => `\`${other}\``).join(", ")
    tell(name, allows ? "left out" : "narrower", `A stricter rule speaks of some of the same tools: ${globs}.`)
    return allows ? [] : [[name, "deny"]]
  })
