/**
 * What a configuration says about a call.
 */
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import * as Approval from "../../Approval.ts"
import * as ApprovalConfig from "../../ApprovalConfig.ts"
import * as ApprovalMatcher from "../../ApprovalMatcher.ts"
import type { Entry, Rule } from "../config/model.ts"
import * as Names from "../config/names.ts"
import * as Problems from "../config/problem.ts"
import { definedFields } from "../fields.ts"
import * as Speaking from "./speaking.ts"
import { strictest } from "./strictest.ts"
import * as Trace from "./trace.ts"

/** A configuration with its matchers made. */
export interface Rules {
  readonly config: ApprovalConfig.ApprovalConfig
  readonly problems: ReadonlyArray<Problems.Problem>
  /** What decides about a tool: the entries of its name, or those of the longest globs that stand for it. */
  readonly entriesOf: (toolName: string) => ReadonlyArray<Made>
}

export interface Made {
  readonly entry: Entry
  readonly rules: ReadonlyArray<MadeRule>
  readonly speakers: Speaking.Speakers
  /** Whether it, or a rule of it, asks once. */
  readonly once: boolean
  readonly said: Said
}

export interface MadeRule extends Speaking.MadeRule {
  readonly said: Said
}

/** What is the same for every call that a rule or an entry has a word about. */
export interface Said {
  /** By which words are put in order. */
  readonly spelling: string
  readonly resultOf: (toolName: string) => Approval.ApprovalResult | undefined
  /** Whether it asks, and says nothing beside. */
  readonly bare: boolean
}

// =============================================================================
// Making
// =============================================================================

export const make = (
  config: ApprovalConfig.ApprovalConfig,
  given: ApprovalMatcher.Behaviors,
  options?: { readonly indexed?: boolean | undefined }
): Rules => {
  const links = given.isLink === undefined ? undefined : Speaking.rememberLinks(given.isLink)
  const behaviors = links === undefined ? given : { ...given, isLink: links.isLink }
  const problems: Array<Problems.Problem> = []
  const names = new Map<string, Array<Made>>()
  const globs: Array<Made> = []
  for (const entry of config.entries) {
    const rules = entry.rules.map((rule) => {
      const matcher = ApprovalMatcher.fromDescription(withLinks(rule.match, behaviors), behaviors)
      // What covers nothing may still be forbidden.
      const tightens = rule.approval === "required" || rule.approval === "deny"
      for (const message of tightens ? matcher.problemsToForbid : matcher.problems) {
        problems.push(
          new Problems.Problem({ path: [], at: rule.at, ...definedFields({ line: rule.line }), message })
        )
      }
      return { rule, matcher, said: saidBy(rule, matcher.description) }
    })
    const speakers = Speaking.make(entry, rules, links?.isLink, options?.indexed)
    const made: Made = {
      entry,
      rules,
      speakers: links === undefined ? speakers : (params, known) => {
        links.forget()
        return speakers(params, known)
      },
      once: [entry, ...rules.map(({ rule }) => rule)].some(isOnce),
      said: saidBy(entry, everyCall)
    }
    if (Names.isGlob(entry.name)) globs.push(made)
    else names.set(entry.name, [...names.get(entry.name) ?? [], made])
  }
  return {
    config,
    problems,
    entriesOf: (toolName) => {
      const exact = names.get(toolName)
      if (exact !== undefined) return exact
      const matching = globs.filter(({ entry }) => Names.matches(entry.name, toolName))
      const longest = Math.max(...matching.map(({ entry }) => Names.lengthOf(entry.name)))
      return matching.filter(({ entry }) => Names.lengthOf(entry.name) === longest)
    }
  }
}

/** Fails with everything that is wrong with it, matchers that can never cover a call included. */
export const fromConfig = (
  config: ApprovalConfig.ApprovalConfig | ApprovalConfig.Input
): Effect.Effect<Rules, ApprovalConfig.ApprovalConfigError> =>
  Effect.gen(function*() {
    const read = ApprovalConfig.isApprovalConfig(config) ? config : yield* ApprovalConfig.make(config)
    const rules = make(read, yield* ApprovalMatcher.Behaviors)
    if (rules.problems.length === 0) return rules
    return yield* new ApprovalConfig.ApprovalConfigError({
      ...definedFields({ file: read.file }),
      problems: rules.problems
    })
  })

/** A program that can tell links apart does so for every path. */
const withLinks = (
  description: ApprovalMatcher.Description,
  { isLink }: ApprovalMatcher.Behaviors
): ApprovalMatcher.Description =>
  description._tag === "Path" && isLink !== undefined ? { ...description, links: "refused" } : description

// =============================================================================
// Deciding
// =============================================================================

/** A rule, or what an entry says of the calls that no rule speaks of, and why it has a word about a call. */
export interface Word {
  readonly rule: Entry | Rule
  readonly said: Said
  readonly why: () => string
}

export const decide = (
  { config, entriesOf }: Rules,
  toolName: string,
  params: Schema.Json,
  own: Trace.Own,
  known?: ReadonlyArray<string>
): Effect.Effect<Trace.Trace, unknown> => {
  const entries = entriesOf(toolName)
  if (entries.length === 0) return Effect.succeed(Trace.silent)
  const words = inOrder(entries.flatMap((made) => wordsOf(made, toolName, params, known)))
  const said = saidTogether(words, toolName)
  const once = entries.some((made) => made.once)
  const settled = said === undefined ? undefined : once ? asksEveryTime(said, words) : said
  const steps = (): ReadonlyArray<Trace.Step> => words.map((word) => stepOf(word, settled, config))
  const leaves = words.filter(({ rule }) => rule.approval === "default")
  if (leaves.length === 0) {
    const trace = { result: settled, steps }
    return config.combine === "tighten" ? Trace.withOwn(trace, own) : Effect.succeed(trace)
  }
  if (settled?._tag === "Blocked") return Effect.succeed({ result: settled, steps })
  // The tool decides, and what is said beside `default` is about the question, if it asks one.
  const fields = leaves.map(({ rule }) => ({
    ...questionOf(rule),
    ...(once && rule.rememberable === undefined ? { rememberable: false } : {})
  }))
  if (settled === undefined && fields.every((field) => Object.keys(field).length === 0)) {
    return Effect.succeed({ result: undefined, steps })
  }
  return Effect.mapEager(own.says, (tool) => {
    const asked = fields.reduce<Approval.ApprovalResult>(
      (self, field) =>
        self._tag !== "NeedsApproval"
          ? self
          : config.combine === "override" && fields.length === 1
          ? new Approval.NeedsApproval({ ...self, ...field })
          : strictest(new Approval.NeedsApproval(field), self),
      tool
    )
    return {
      result: settled === undefined ? asked : strictest(settled, asked),
      steps: () => [...steps(), Trace.ownStep(tool, own.gated)]
    }
  })
}

/**
 * Rules that surely cover the call speak in place of the entry; those of which that is not sure speak as well, and as
 * the strictest decides, they can only make it stricter. So does a rule about a parameter that the tool it names does not
 * have: that is a mistake, and must not loosen anything.
 */
const wordsOf = (
  { entry, rules, said, speakers }: Made,
  toolName: string,
  params: Schema.Json,
  known: ReadonlyArray<string> | undefined
): ReadonlyArray<Word> => {
  const sure: Array<Word> = []
  const unsure: Array<Word> = []
  for (const { how, place, unknown } of speakers(params, known)) {
    const { matcher, rule, said } = rules[place]!
    const speaksOf = (): string => `It is about ${ApprovalMatcher.toSentence(matcher, toolName)}`
    if (how === "sure") {
      sure.push({ rule, said, why: () => `${speaksOf()}.` })
    } else if (how === "unsure") {
      unsure.push({ rule, said, why: () => `${speaksOf()}, and this may be one, so it applies if it is stricter.` })
    } else {
      unsure.push({
        rule,
        said,
        why: () =>
          `It is about the parameter ${unknown}, which ${toolName} does not have, so it applies if it is stricter.`
      })
    }
  }
  if (sure.length > 0) return [...sure, ...unsure]
  const why = (): string => {
    const name = Names.isGlob(entry.name)
      ? `${entry.name} is the longest glob that matches ${toolName}`
      : `It names ${toolName}`
    return `${name}${rules.length === 0 ? "" : ", and no rule of it surely covers this call"}.`
  }
  return [{ rule: entry, said, why }, ...unsure]
}

/** The strictest of all; many rules may have a word about a path of which nobody can tell where it leads. */
export const saidTogether = (
  words: ReadonlyArray<Pick<Word, "said">>,
  toolName: string
): Approval.ApprovalResult | undefined =>
  words.reduce<Approval.ApprovalResult | undefined>((self, { said }) => {
    const that = said.resultOf(toolName)
    if (self === undefined || that === undefined) return self ?? that
    // A bare question adds nothing to another one, but that two of them leave nothing behind.
    if (
      self._tag === "NeedsApproval" && that._tag === "NeedsApproval" && said.bare &&
      (that.remember === undefined || self.rememberable === false)
    ) {
      return self
    }
    return strictest(self, that)
  }, undefined)

const everyCall = { _tag: "Tool" } as const

export const saidBy = (rule: Entry | Rule, covers: Approval.NeedsApproval["remember"]): Said => {
  // The last result is kept: most rules are about one tool.
  let last: { readonly toolName: string; readonly result: Approval.ApprovalResult } | undefined
  return {
    bare: (rule.approval === "required" || rule.approval === "once_per_session") &&
      Object.keys(questionOf(rule)).length === 0,
    spelling: JSON.stringify([order[rule.approval], covers, questionOf(rule)]),
    resultOf: (toolName) => {
      if (rule.approval === "default") return undefined
      if (last?.toolName !== toolName) last = { toolName, result: resultOf(rule, covers, toolName) }
      return last.result
    }
  }
}

/** By what they say, so that where they stand means nothing, not even to the order of their reasons. */
const inOrder = (words: ReadonlyArray<Word>): ReadonlyArray<Word> =>
  words.length < 2
    ? words
    : words.toSorted(({ said: self }, { said: that }) =>
      self.spelling < that.spelling ? -1 : self.spelling > that.spelling ? 1 : 0
    )

const isOnce = ({ approval }: Entry | Rule): boolean => approval === "once_per_session"

/**
 * An approval for the session is for every call of the tool, or of a rule. Where another rule asks about some of these
 * calls, it has to be asked whatever was remembered.
 */
const asksEveryTime = (
  result: Approval.ApprovalResult,
  words: ReadonlyArray<Word>
): Approval.ApprovalResult => {
  const asking = words.filter(({ rule }) => rule.approval === "required")
  if (result._tag !== "NeedsApproval" || asking.length === 0) return result
  const { remember: _, session: __, ...fields } = result
  const may = asking.every(({ rule }) => rule.rememberable === true)
  return new Approval.NeedsApproval({ ...fields, rememberable: may && result.rememberable === true })
}

const questionOf = (
  { approvers, description, editable, expiresIn, reason, rememberable, selfApproval }: Question
) => definedFields({ reason, description, expiresIn, approvers, editable, rememberable, selfApproval })

type Question = Pick<
  Rule,
  "approvers" | "description" | "editable" | "expiresIn" | "reason" | "rememberable" | "selfApproval"
>

/** What a word of a configuration is as a result; `default` is none, and not for here. */
export const resultOf = (
  rule: Pick<Rule, "approval"> & Question,
  covers: Approval.NeedsApproval["remember"],
  toolName: string
): Approval.ApprovalResult => {
  switch (rule.approval) {
    case "none":
      return Approval.preApproved(rule.reason)
    case "deny":
      return Approval.blocked(rule.reason ?? `The configuration does not allow this call of ${toolName}.`)
    case "once_per_session":
      // Not `rememberable`: for what it is remembered is said here, and not by whoever writes the history (law L4).
      return rule.rememberable === false
        ? Approval.needsApproval(questionOf(rule))
        : Approval.needsApproval({ ...questionOf(rule), remember: { covers: covers ?? null } })
    default:
      return Approval.needsApproval(questionOf(rule))
  }
}

const order = { none: 0, default: 1, once_per_session: 2, required: 3, deny: 4 }

const stepOf = (
  { rule, why }: Word,
  result: Approval.ApprovalResult | undefined,
  { file }: ApprovalConfig.ApprovalConfig
): Trace.Step =>
  new Trace.Step({
    source: "config",
    at: rule.at,
    ...definedFields({ file, line: rule.line }),
    says: rule.approval,
    why: why(),
    decides: rule.approval === "default" || Trace.wordOf(result) === Trace.wordOf(resultOf(rule, null, ""))
  })

/** How strict a word is; what `default` is depends on the tool. */
export const strictness = (approval: Entry["approval"]): number => order[approval]
