/**
 * From what a person wrote to the configuration that was meant, or everything that is wrong with it.
 */
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { definedFields } from "../fields.ts"
import type { Description } from "../matcher/description.ts"
import * as PathGlobs from "../matcher/pathGlobs.ts"
import * as Canonical from "../seal/canonical.ts"
import type { Step } from "./lines.ts"
import { ApprovalConfig, Entry, Rule } from "./model.ts"
import * as Names from "./names.ts"
import * as Problems from "./problem.ts"
import * as Text from "./text.ts"
import * as Written from "./written.ts"

/** Where a value comes from. */
export interface Origin {
  readonly file?: string | undefined
  /** The path of the configuration in a larger text. */
  readonly section?: ReadonlyArray<string> | undefined
  readonly lineOf?: ((path: ReadonlyArray<Step>) => number | undefined) | undefined
}

export const read = (
  value: unknown,
  origin: Origin
): Result.Result<ApprovalConfig, ReadonlyArray<Problems.Problem>> => {
  const section = origin.section ?? []
  const found: Array<Problems.Problem> = []
  // Problems are found in the shape with `tools`; what was written may be the map of tools alone.
  let bare = false
  const placeOf = (path: ReadonlyArray<Step>): Pick<Rule, "at" | "line"> & { readonly path: ReadonlyArray<Step> } => {
    const whole = [...section, ...(bare && path[0] === "tools" ? path.slice(1) : path)]
    const line = origin.lineOf?.(whole)
    return { path: whole, at: Problems.showPath(whole), ...(line === undefined ? {} : { line }) }
  }
  const report: Report = ({ path, ...problem }) => {
    const place = placeOf(path)
    found.push(Problems.make({ ...problem, path: place.path, line: place.line }))
  }

  const size = Text.problemOfSize(value)
  if (size !== undefined) {
    report({ path: [], message: size })
    return Result.fail(found)
  }
  if (!isMap(value)) {
    report({
      path: [],
      message:
        "A configuration is a map from names of tools to approvals, or a map with tools, pre_approved and combine."
    })
    return Result.fail(found)
  }
  bare = !Object.hasOwn(value, "tools")
  if (bare && reportMisspeltTools(value, report)) return Result.fail(found)
  const whole = bare ? wrap(value) : value
  const tools = ownValue(whole, "tools")
  if (isMap(tools)) reportMisplaced(tools, report)

  const decoded = decode(whole)
  if (Result.isFailure(decoded)) {
    for (const problem of Problems.fromIssue(decoded.failure.issue, whole)) report(withReserved(problem, bare))
    return Result.fail(found)
  }
  const written = decoded.success
  const entries = Object.entries(written.tools ?? {}).map(([name, said]) =>
    readEntry(name, typeof said === "string" ? { approval: said } : said, ["tools", name], placeOf, report)
  )
  const preApproved = (written.pre_approved ?? []).map((name, index) => {
    const path = ["pre_approved", index]
    reportName(name, path, report)
    return new Entry({ ...placed(placeOf(path)), name, section: "pre_approved", approval: "none", rules: [] })
  })
  return found.length > 0 ? Result.fail(found) : Result.succeed(
    new ApprovalConfig({
      ...definedFields({ file: origin.file }),
      combine: written.combine ?? "override",
      entries: [...entries, ...preApproved]
    })
  )
}

type Report = (problem: Omit<Parameters<typeof Problems.make>[0], "line">) => void

type PlaceOf = (path: ReadonlyArray<Step>) => Pick<Rule, "at" | "line"> & { readonly path: ReadonlyArray<Step> }

const WrittenInput = Written.Input

const decode = Schema.decodeUnknownResult(WrittenInput, { errors: "all", onExcessProperty: "error" })

// =============================================================================
// Shapes
// =============================================================================

const isMap = (value: unknown): value is object => typeof value === "object" && value !== null && !Array.isArray(value)

const ownValue = (map: object, key: string): unknown => Object.getOwnPropertyDescriptor(map, key)?.value

const reserved = ["combine", "pre_approved"]

/** The map of tools alone, as a whole configuration. Names such as `__proto__` are names like others. */
const wrap = (value: object): object => {
  const entries = Object.entries(value)
  return {
    ...Object.fromEntries(entries.filter(([name]) => reserved.includes(name))),
    tools: Object.fromEntries(entries.filter(([name]) => !reserved.includes(name)))
  }
}

/** `approval: required` beside the names of tools was meant to be about some tool, or all of them. */
const reportMisplaced = (tools: object, report: Report): void => {
  if (typeof ownValue(tools, "approval") !== "string") return
  report({
    path: ["tools", "approval"],
    message:
      "The name of a tool is expected here. Write it below the name of a tool, or below \"*\" for all of them; " +
      "for a tool of this name write `approval: { approval: … }`."
  })
}

/** `tool:` above the names of tools, whose keys are nothing that is said of one tool. */
const reportMisspeltTools = (value: object, report: Report): boolean => {
  const misspelt = Object.entries(value).filter(([key, tools]) =>
    Names.nearest(key, ["tools"]) !== undefined && isMap(tools) && Object.keys(tools).length > 0 &&
    Object.keys(tools).every((name) => !Object.hasOwn(Written.ToolInput.fields, name))
  )
  for (const [key] of misspelt) {
    report({ path: ["tools", key], message: `The names of tools go below \`tools\`.`, suggestion: "tools" })
  }
  return misspelt.length > 0
}

/** A list or a word that is no approval may be a word of the configuration itself, misspelt. */
const withReserved = (problem: Parameters<Report>[0], bare: boolean): Parameters<Report>[0] => {
  const [tools, name] = problem.path
  if (!bare && problem.path.length === 1 && !reserved.includes(String(tools)) && tools !== "tools") {
    return { ...problem, message: `${problem.message} The names of tools go below \`tools\`.` }
  }
  if (!bare || problem.path.length !== 2 || tools !== "tools" || problem.suggestion !== undefined) return problem
  return { ...problem, suggestion: Names.nearest(String(name), [...reserved, "tools"]) }
}

// =============================================================================
// Entries and rules
// =============================================================================

const placed = ({ at, line }: Pick<Rule, "at" | "line">) => ({ at, ...definedFields({ line }) })

const reportName = (name: string, path: ReadonlyArray<Step>, report: Report): void => {
  const message = Names.problemOfName(name)
  if (message !== undefined) report({ path, message })
}

const readEntry = (
  name: string,
  input: Written.ToolInput,
  path: ReadonlyArray<Step>,
  placeOf: PlaceOf,
  report: Report
): Entry => {
  reportName(name, path, report)
  const rules = (input.rules ?? []).flatMap((rule, index) => {
    const here = [...path, "rules", index]
    const match = readMatch(rule, here, report)
    return match === undefined ? [] : [
      new Rule({ ...placed(placeOf(here)), match, approval: rule.approval, ...readQuestion(rule, here, report) })
    ]
  })
  if (input.rules !== undefined && input.approval === undefined) {
    report({
      path,
      message: "`rules` are about some calls only. Add `approval` for all other calls.",
      allowed: Written.Value.literals
    })
  }
  if (input.rules?.length === 0) report({ path: [...path, "rules"], message: "It has no rules." })
  return new Entry({
    ...placed(placeOf(path)),
    name,
    section: "tools",
    approval: input.approval ?? "default",
    rules,
    ...readQuestion(input, path, report)
  })
}

const readQuestion = (
  input: Omit<Written.ToolInput, "approval" | "rules">,
  path: ReadonlyArray<Step>,
  report: Report
) => {
  const expiresIn = input.expires_in === undefined ? undefined : readDuration(input.expires_in)
  if (input.expires_in !== undefined && expiresIn === undefined) {
    report({
      path: [...path, "expires_in"],
      message: "This is not a duration. Write a number of milliseconds, or a text.",
      allowed: ["30 seconds", "10 minutes", "2 hours", "1 day"]
    })
  }
  const approvers = input.approvers === undefined ? undefined : listOf(input.approvers)
  if (approvers !== undefined && (approvers.length === 0 || approvers.some((approver) => approver.trim() === ""))) {
    report({ path: [...path, "approvers"], message: "Name at least one person, and leave no name empty." })
  }
  const { description, editable, reason, rememberable, self_approval: selfApproval } = input
  return definedFields({ reason, description, expiresIn, approvers, editable, rememberable, selfApproval })
}

const listOf = (oneOrMore: string | ReadonlyArray<string>): ReadonlyArray<string> =>
  typeof oneOrMore === "string" ? [oneOrMore] : oneOrMore

const units: Record<string, Duration.Unit> = {
  ms: "millis",
  s: "seconds",
  m: "minutes",
  h: "hours",
  d: "days",
  w: "weeks"
}

/** Milliseconds, more than none and not forever. */
const readDuration = (input: number | string): number | undefined => {
  const parts = typeof input === "number" ? null : /^(\d+(?:\.\d+)?) *(ms|[smhdw])$/.exec(input)
  const duration = typeof input === "number"
    ? Option.some(Duration.millis(input))
    : parts === null
    ? Duration.fromInput(input as Duration.Input)
    : Option.some(Duration.fromInputUnsafe(`${Number(parts[1])} ${units[parts[2]!]!}`))
  const millis = Option.isSome(duration) ? Duration.toMillis(duration.value) : 0
  return Number.isFinite(millis) && millis > 0 ? millis : undefined
}

const kinds = ["path", "shell", "exact", "key"] as const

const readMatch = (
  rule: Written.RuleInput,
  path: ReadonlyArray<Step>,
  report: Report
): Description | undefined => {
  const beside = Object.keys(Written.MatchInput.fields).filter((field) => Object.hasOwn(rule, field))
  if (rule.match !== undefined && beside.length > 0) {
    report({ path, message: `Write it in \`match\` or next to \`approval\`, not in both: \`${beside.join("`, `")}\`.` })
    return undefined
  }
  const input: Written.MatchInput = rule.match ?? rule
  const here = rule.match === undefined ? path : [...path, "match"]
  const given = kinds.filter((kind) => Object.hasOwn(input, kind))
  if (given.length !== 1) {
    report({
      path: here,
      message: given.length === 0
        ? "It does not say which calls it is about. For all calls, use the tool's own `approval`."
        : `It selects calls in ${given.length} ways. Write a rule for each.`,
      allowed: kinds
    })
    return undefined
  }
  const refuse = (...fields: ReadonlyArray<keyof Written.MatchInput>): void => {
    for (const field of fields) {
      if (Object.hasOwn(input, field)) {
        report({ path: [...here, field], message: `It has no effect together with \`${given[0]}\`.` })
      }
    }
  }
  const canonical = (value: unknown, field: string): string => {
    const text = Canonical.canonicalize(value)
    if (Result.isSuccess(text)) return text.success
    report({ path: [...here, field], message: text.failure })
    return ""
  }
  const others = definedFields({ others: input.others })
  if (input.path !== undefined) {
    refuse("trust")
    for (const message of PathGlobs.problemsOf(listOf(input.path))) report({ path: [...here, "path"], message })
    return {
      _tag: "Path",
      globs: listOf(input.path),
      param: input.param ?? "path",
      ...others,
      ...definedFields({ links: input.links })
    }
  }
  refuse("links")
  if (input.shell !== undefined) {
    return {
      _tag: "Shell",
      allowed: listOf(input.shell),
      param: input.param ?? "command",
      ...others,
      ...(input.trust === undefined ? {} : { trust: listOf(input.trust) })
    }
  }
  refuse("param", "others", "trust")
  return input.key === undefined
    ? { _tag: "Exact", params: canonical(input.exact, "exact") }
    : { _tag: "Key", name: input.key.name, value: canonical(input.key.value, "key") }
}
