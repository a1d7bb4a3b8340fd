/**
 * What is likely to be a mistake in a configuration, given the tools that it is about.
 */
import type * as Tool from "effect/ai/Tool"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as ApprovalMemory from "../../ApprovalMemory.ts"
import type { Entry } from "../config/model.ts"
import * as Names from "../config/names.ts"
import { show } from "../config/problem.ts"
import { definedFields } from "../fields.ts"
import * as Text from "../text.ts"
import * as Gate from "../tool/gate.ts"
import * as Annotations from "./annotations.ts"
import * as Params from "./params.ts"
import * as Rules from "./rules.ts"
import * as Server from "./server.ts"
import * as Speaking from "./speaking.ts"

/**
 * Something in a configuration that is likely to be a mistake. `at` and `line` are where it stands, `fix` is a line that
 * would fix it. An `error` is something that is not in force although it says so.
 *
 * @category models
 * @since 0.1.0
 */
export class Finding extends Schema.Class<Finding>("@assent/ai/ApprovalPolicy/Finding")({
  severity: Schema.Literals(["error", "warning", "info"]),
  kind: Schema.Literals([
    "unknown-tool",
    "never-reached",
    "outranked",
    "unknown-param",
    "deny-by-matcher",
    "none-for-all",
    "hidden-by-default",
    "destructive-without-rule",
    "overrides-tool",
    "no-effect",
    "short-expiry",
    "pre-approved",
    "not-remembered",
    "caution"
  ]),
  at: Schema.String,
  line: Schema.optionalKey(Schema.Number),
  message: Schema.String,
  fix: Schema.optionalKey(Schema.String)
}) {}

/** What is found of these tools, with the memory of where it is looked at. */
export const lint = (
  rules: Rules.Rules,
  tools: Readonly<Record<string, Tool.Any>>
): Effect.Effect<ReadonlyArray<Finding>> =>
  Effect.map(ApprovalMemory.ApprovalMemory, ({ remembers }) => findingsOf(rules, tools, remembers))

const findingsOf = (
  rules: Rules.Rules,
  tools: Readonly<Record<string, Tool.Any>>,
  remembers: boolean
): ReadonlyArray<Finding> => {
  const names = Object.keys(tools)
  const findings: Array<Finding> = []
  const found = (
    severity: Finding["severity"],
    kind: Finding["kind"],
    place: { readonly at: string; readonly line?: number | undefined },
    message: string,
    fix?: string
  ): void => {
    findings.push(
      new Finding({
        severity,
        kind,
        at: place.at,
        message: Text.escape(message, { maxLength: 500 }),
        ...definedFields({ line: place.line, fix: fix === undefined ? undefined : show(fix) })
      })
    )
  }
  const entries = rules.config.entries
  const made = new Map(entries.map((entry) => [entry, [] as Array<string>]))
  for (const name of names) for (const { entry } of rules.entriesOf(name)) made.get(entry)?.push(name)

  const cautions = new Map(
    names.flatMap((name) =>
      rules.entriesOf(name).flatMap((made) => made.rules.map(({ matcher, rule }) => [rule, matcher.cautions] as const))
    )
  )

  for (const entry of entries) {
    const tightens = entry.approval === "required" || entry.approval === "deny"
    const stands = names.filter((name) => Names.matches(entry.name, name))
    const decides = made.get(entry) ?? []
    if (stands.length === 0) {
      const ofSource = namedBySource(entry.name, tools)
      const meant = ofSource ?? Names.nearest(entry.name, names)
      found(
        tightens && (ofSource !== undefined || !Names.isGlob(entry.name)) ? "error" : "warning",
        "unknown-tool",
        entry,
        `There is no tool ${Names.isGlob(entry.name) ? "that" : "called"} ${entry.name}` +
          `${Names.isGlob(entry.name) ? " stands for" : ""}.${meant === undefined ? "" : ` Did you mean ${meant}?`}`,
        meant === undefined ? undefined : `${quoted(meant)}:${saysMore(entry) ? "" : ` ${entry.approval}`}`
      )
      continue
    }
    if (decides.length === 0) {
      found(
        tightens ? "error" : "warning",
        "never-reached",
        entry,
        `It has no effect: a name or a longer glob decides about every tool that ${entry.name} matches: ${
          list(stands)
        }.`
      )
      continue
    }
    for (const name of tightens && Names.isGlob(entry.name) && Names.lengthOf(entry.name) > 0 ? stands : []) {
      const looser = rules.entriesOf(name).find(({ entry: other }) =>
        Names.isGlob(other.name) && Rules.strictness(other.approval) < Rules.strictness(entry.approval)
      )
      if (looser === undefined) continue
      found(
        "warning",
        "outranked",
        entry,
        `It does not apply to ${show(name)}: ${
          show(looser.entry.name)
        } is a longer glob, and says ${looser.entry.approval}.`,
        `${quoted(name)}: ${entry.approval}`
      )
    }
    if (entry.section === "pre_approved") {
      const stricter = decides.filter((name) =>
        rules.entriesOf(name).some((other) => other.entry !== entry && other.entry.approval !== "none")
      )
      if (stricter.length > 0) {
        found(
          "warning",
          "never-reached",
          entry,
          `It does not pre-approve ${list(stricter)}, because something stricter is said about them elsewhere.`
        )
      } else {
        found("info", "pre-approved", entry, "It is the same as `none` below `tools`.", `${quoted(entry.name)}: none`)
      }
    }
    if (entry.approval === "none" && Names.isGlob(entry.name) && Names.lengthOf(entry.name) === 0) {
      found(
        "warning",
        "none-for-all",
        entry,
        `Every tool without an entry runs without approval, and so will tools that are added later. Now: ${
          list(decides)
        }.`,
        "\"*\": required"
      )
    }
    if (entry.approval === "default") {
      const hidden = entries.filter((other) =>
        Names.isGlob(other.name) && (other.approval === "deny" || other.approval === "required") &&
        decides.some((name) => Names.matches(other.name, name) && Gate.gateOf(tools[name]!) === undefined)
      )
      const [first] = hidden
      if (first !== undefined && first !== entry) {
        found(
          "warning",
          "hidden-by-default",
          entry,
          `It leaves ${
            list(decides)
          } to the tool itself, which has no needsApproval, although ${first.name} says ${first.approval}.`,
          `${quoted(entry.name)}: ${first.approval}`
        )
      }
    }
    if (entry.approval === "none" && rules.config.combine === "override") {
      const gated = decides.filter((name) => (Gate.gateOf(tools[name]!) ?? false) !== false)
      if (gated.length > 0) {
        found(
          "info",
          "overrides-tool",
          entry,
          `It lets ${list(gated)} run without approval, although needsApproval of the tool would ask.`
        )
      }
    }
    lintQuestion(entry, found)
    if (entry.editable === true && decides.every((name) => Params.ofTool(tools[name]!)?.length === 0)) {
      found("warning", "no-effect", entry, `There is nothing to edit: ${list(decides)} takes no parameters.`)
    }
    for (const rule of entry.rules) {
      const { match } = rule
      for (const name of decides) {
        const params = Params.ofTool(tools[name]!)
        if (params === undefined) continue
        for (const param of Params.ofMatch(match)) {
          if (params.includes(param)) continue
          const counts = rule.approval !== "none" && Speaking.unknownOf(entry, [param], params) !== undefined
          // A glob stands for many tools: that one of them takes nothing is no mistake.
          if (!counts && params.length === 0 && Names.isGlob(entry.name)) continue
          const meant = Names.nearest(param, params) ?? (params.length === 1 ? params[0] : undefined)
          found(
            "error",
            "unknown-param",
            rule,
            `${name} has no parameter ${param}, so the rule ${
              counts ? "may be about any call of it, and applies to all of them." : "never applies."
            }` +
              (params.length === 0 ? "" : ` Its parameters are ${list(params)}.`),
            meant === undefined
              ? undefined
              : match._tag === "Exact"
              ? `exact: { ${quoted(meant)}: … }`
              : `param: ${meant}`
          )
        }
      }
      for (const name of decides) {
        for (const field of Params.unknownFields(tools[name]!, match)) {
          const meant = Names.nearest(field.name, field.names)
          found(
            "error",
            "unknown-param",
            rule,
            `${name} has no field ${field.name} in ${field.at}, so the rule never applies. Its fields are ${
              list(field.names)
            }.`,
            meant === undefined ? undefined : `${quoted(meant)}: …`
          )
        }
      }
      const stricter = Rules.strictness(rule.approval) > Rules.strictness(entry.approval)
      if (stricter && match._tag !== "Tool") {
        found(
          "warning",
          "deny-by-matcher",
          rule,
          `It says ${rule.approval} of some calls of ${entry.name} and ${entry.approval} of the others. The same ` +
            "file or command under another name is not covered. Use the stricter value for all calls, and allow some by rules.",
          `approval: ${rule.approval}`
        )
      }
      const same = entry.rules.find((other) =>
        other !== rule && JSON.stringify(other.match) === JSON.stringify(match) &&
        Rules.strictness(other.approval) > Rules.strictness(rule.approval)
      )
      if (same !== undefined) {
        found("warning", "never-reached", rule, `${same.at} says ${same.approval} of the same calls, and is stricter.`)
      }
      lintQuestion(rule, found)
      if (rule.approval === "none" || rule.approval === "once_per_session") {
        for (const caution of cautions.get(rule) ?? []) found("info", "caution", rule, caution)
      }
    }
  }
  const once = entries.flatMap((entry) => [entry, ...entry.rules]).find(
    ({ approval, rememberable }) => approval === "once_per_session" && rememberable !== false
  )
  if (once !== undefined && !remembers) {
    found(
      "warning",
      "not-remembered",
      once,
      "once_per_session asks every time, as required does, because there is no ApprovalMemory.",
      "Effect.provide(program, ApprovalMemory.layerSession())"
    )
  }
  for (const name of names) {
    const tool = tools[name]!
    const ruled = rules.entriesOf(name).some(({ entry }) => entry.approval !== "default")
    if (ruled || Gate.gateOf(tool) !== undefined || !Annotations.isDestructive(tool)) continue
    found(
      "warning",
      "destructive-without-rule",
      { at: "" },
      `${name} may destroy something and runs without asking: it has no needsApproval, and no rule is about it. If it ` +
        "only reads or adds, annotate it with Tool.Readonly or Tool.Destructive.",
      `${quoted(name)}: required`
    )
  }
  return findings.toSorted((self, that) => severities.indexOf(self.severity) - severities.indexOf(that.severity))
}

/** Whether an entry says more than its word, which a line `name: word` in its place would lose. */
const saysMore = (entry: Entry): boolean => entry.rules.length > 0 || Object.keys(entry).some((key) => !plain.has(key))

const plain = new Set(["approval", "at", "line", "name", "rules", "section"])

/**
 * What was meant by `mcp.files.*`, the source that a person is shown of tools that are called `files__…`: that is how tools
 * are called which a provider runs. Nothing, if no tool is called so either.
 */
const namedBySource = (name: string, tools: Readonly<Record<string, Tool.Any>>): string | undefined => {
  for (const [called, tool] of Object.entries(tools)) {
    const source = Server.sourceOf(tool)
    if (source === undefined || !name.startsWith(`${source}.`)) continue
    const meant = `${source.slice("mcp.".length)}__${name.slice(source.length + 1)}`
    if (Names.matches(meant, called)) return meant
  }
  return undefined
}

const severities = ["error", "warning", "info"]

/** For a person, one line; escaped and bounded (law L15). */
export const toLine = ({ at, fix, line, message, severity }: Finding): string =>
  `${severity}${line === undefined ? "" : ` line ${line}`}${at === "" ? "" : ` ${show(at)}`}: ${message}` +
  (fix === undefined ? "" : ` Write: ${fix}`)

type Found = (
  severity: Finding["severity"],
  kind: Finding["kind"],
  place: { readonly at: string; readonly line?: number | undefined },
  message: string
) => void

/** What is said about a question that is never asked. */
const lintQuestion = (rule: Rules.Word["rule"], found: Found): void => {
  if (rule.approval === "none" || rule.approval === "deny") {
    const idle = (["description", "expiresIn", "approvers", "editable", "rememberable", "selfApproval"] as const)
      .filter((field) => rule[field] !== undefined)
    if (idle.length > 0) {
      found("warning", "no-effect", rule, `Nobody is asked under ${rule.approval}, so ${list(idle)} has no effect.`)
    }
  }
  if (rule.approval === "once_per_session" && rule.rememberable === false) {
    found(
      "warning",
      "no-effect",
      rule,
      "once_per_session that may not be remembered asks every time, as required does."
    )
  }
  if (rule.expiresIn !== undefined && rule.expiresIn < 10_000) {
    found("warning", "short-expiry", rule, `The question expires after ${rule.expiresIn} milliseconds.`)
  }
}

const list = (texts: ReadonlyArray<string>): string =>
  texts.slice(0, 5).map(show).join(", ") + (texts.length > 5 ? ` and ${texts.length - 5} more` : "")

const quoted = (name: string): string => /^[\p{L}_][\p{L}\p{N}_]*$/u.test(name) ? name : JSON.stringify(name)
