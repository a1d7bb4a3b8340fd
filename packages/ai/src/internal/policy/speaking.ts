/**
 * Which rules of an entry speak of a call, and how sure that is. What rules are about is read once for all of them, and
 * those whose globs begin otherwise than the path are not looked at.
 */
import * as Predicate from "effect/Predicate"
import type { ApprovalMatcher } from "../../ApprovalMatcher.ts"
import type { Entry, Rule } from "../config/model.ts"
import * as Names from "../config/names.ts"
import type { Others } from "../matcher/description.ts"
import * as MatcherParams from "../matcher/params.ts"
import * as PathIndex from "../matcher/pathIndex.ts"
import * as Paths from "../matcher/paths.ts"
import * as PathReading from "../matcher/reading.ts"
import * as TextPart from "../matcher/textPart.ts"
import * as Params from "./params.ts"

export interface MadeRule {
  readonly rule: Rule
  readonly matcher: ApprovalMatcher
}

/** `unknown` is a parameter that the tool does not have: a mistake, which must not loosen anything. */
export interface Speaking {
  readonly place: number
  readonly how: "sure" | "unsure" | "unknown"
  readonly unknown?: string | undefined
}

type IsLink = (path: string) => boolean

/**
 * The rules that speak of a call with these parameters, in their order. `known` are the names of the tool's parameters,
 * as far as these are known.
 */
export type Speakers = (params: unknown, known: ReadonlyArray<string> | undefined) => ReadonlyArray<Speaking>

export const make = (
  entry: Entry,
  rules: ReadonlyArray<MadeRule>,
  isLink: IsLink | undefined,
  // Off to see that it changes nothing.
  indexed = true
): Speakers => {
  const { alone, groups } = grouped(rules, indexed ? isLink : undefined, indexed)
  return (params, known) => {
    const speaking: Array<Speaking> = []
    for (const place of alone) {
      const { matcher, rule } = rules[place]!
      if (matcher.covers(params)) speaking.push({ place, how: "sure" })
      else if (rule.approval !== "none") {
        if (matcher.mayCover(params) || isLeftOut(matcher, params, known)) speaking.push({ place, how: "unsure" })
        else {
          const unknown = unknownOf(entry, Params.ofMatch(rule.match), known)
          if (unknown !== undefined) speaking.push({ place, how: "unknown", unknown })
        }
      }
    }
    for (const group of groups) {
      const written = MatcherParams.read(params, group.param, group.others)
      const reading = { ...written, mayHave: written.mayHave || mayBeDefault(group.param, known) }
      const unknown = unknownOf(entry, [group.param], known)
      const places = unknown === undefined ? group.candidates(reading) : group.places
      for (const place of places) {
        const may = rules[place]!.rule.approval !== "none"
        const how = howSure(group.parts.get(place)!, reading, may)
        if (how !== undefined) speaking.push({ place, how })
        else if (may && unknown !== undefined) speaking.push({ place, how: "unknown", unknown })
      }
    }
    return speaking.length < 2 ? speaking : speaking.toSorted((self, that) => self.place - that.place)
  }
}

/** A parameter that a rule speaks of and the tool does not have. A glob may stand for tools that take none at all. */
export const unknownOf = (
  { name }: Entry,
  params: ReadonlyArray<string>,
  known: ReadonlyArray<string> | undefined
): string | undefined =>
  known === undefined || (known.length === 0 && Names.isGlob(name))
    ? undefined
    : params.find((param) => !known.includes(param))

/** What a handler makes of a parameter that a call leaves out, nobody can tell: it may be what the rule is about. */
const mayBeDefault = (param: string, known: ReadonlyArray<string> | undefined): boolean =>
  known?.includes(param) === true

const isLeftOut = (
  { description }: ApprovalMatcher,
  params: unknown,
  known: ReadonlyArray<string> | undefined
): boolean =>
  (description._tag === "Path" || description._tag === "Shell") && mayBeDefault(description.param, known) &&
  MatcherParams.read(params, description.param, "any").any === undefined

/** Rules that read the same parameter in the same way. */
interface Group {
  readonly param: string
  readonly others: Others
  readonly places: ReadonlyArray<number>
  readonly parts: ReadonlyMap<number, TextPart.TextPart>
  readonly candidates: (reading: MatcherParams.Reading) => Iterable<number>
}

const grouped = (
  rules: ReadonlyArray<MadeRule>,
  isLink: IsLink | undefined,
  indexed: boolean
): { readonly alone: ReadonlyArray<number>; readonly groups: ReadonlyArray<Group> } => {
  const alone: Array<number> = []
  const groups = new Map<string, Map<number, TextPart.TextPart>>()
  for (const [place, { matcher }] of rules.entries()) {
    const part = indexed ? TextPart.of(matcher) : undefined
    if (part === undefined) alone.push(place)
    else {
      const key = JSON.stringify([matcher.description._tag, part.param, part.others])
      groups.set(key, (groups.get(key) ?? new Map<number, TextPart.TextPart>()).set(place, part))
    }
  }
  return { alone, groups: [...groups.values()].map((parts) => groupOf(rules, parts, isLink)) }
}

const groupOf = (
  rules: ReadonlyArray<MadeRule>,
  parts: ReadonlyMap<number, TextPart.TextPart>,
  isLink: IsLink | undefined
): Group => {
  const places = [...parts.keys()]
  const { others, param } = parts.get(places[0]!)!
  const paths = places.flatMap((place) => {
    const { matcher: { description, problems }, rule } = rules[place]!
    // What covers nothing because it is wrong may have meant anything.
    return description._tag === "Path" && problems.length === 0
      ? [{ place, globs: description.globs, may: rule.approval !== "none" }]
      : []
  })
  // One rule is looked at sooner than an index.
  const index = paths.length === places.length && paths.length > 1 ? PathIndex.make(paths) : undefined
  const mayLink = paths.some(({ may }) => may) ? isLink : undefined
  const candidates = ({ any, mayHave }: MatcherParams.Reading): Iterable<number> => {
    if (any === undefined) return mayHave ? places : []
    if (index === undefined) return places
    const path = PathReading.read(any)
    return (mayLink === undefined || !isLinked(path, mayLink) ? index.candidates(path) : undefined) ?? places
  }
  return { param, others, places, parts, candidates }
}

/** Through a link, a path may lead to what any rule forbids. */
const isLinked = ({ path, plain }: PathReading.Reading, isLink: IsLink): boolean =>
  plain && Paths.steps(path).some((step) => isLink(step) !== false)

/** As the matcher says, which never throws (law L1). */
const howSure = (
  part: TextPart.TextPart,
  { any, mayHave, sure }: MatcherParams.Reading,
  may: boolean
): "sure" | "unsure" | undefined => {
  try {
    if (sure !== undefined && part.covers(sure) === true) return "sure"
  } catch {
    return may ? "unsure" : undefined
  }
  if (!may) return undefined
  if (any === undefined) return mayHave ? "unsure" : undefined
  try {
    return (sure === undefined && part.covers(any)) || part.mayCover(any) !== false ? "unsure" : undefined
  } catch {
    return "unsure"
  }
}

/** Asks once for each path of a call: the file system is slow, and every rule asks the same. */
export const rememberLinks = (isLink: IsLink): { readonly isLink: IsLink; readonly forget: () => void } => {
  const known = new Map<string, boolean>()
  return {
    isLink: (path) => {
      const found = known.get(path)
      if (found !== undefined) return found
      const link = isLinkOrUnsure(isLink, path)
      known.set(path, link)
      return link
    },
    forget: () => known.clear()
  }
}

const isLinkOrUnsure = (isLink: IsLink, path: string): boolean => {
  try {
    const link: unknown = isLink(path)
    return !Predicate.isBoolean(link) || link
  } catch {
    return true
  }
}
