/**
 * How a policy came to its result, as data and in words.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Approval from "../../Approval.ts"
import * as Text from "../text.ts"
import { strictest } from "./strictest.ts"

/**
 * Who had a word about a call. `at`, `file` and `line` are where a configuration says it. `decides` is whether the word
 * is part of the result.
 *
 * @category models
 * @since 0.1.0
 */
export class Step extends Schema.Class<Step>("@assent/ai/ApprovalPolicy/Step")({
  source: Schema.Literals(["config", "annotations", "policy", "tool", "failure"]),
  at: Schema.optionalKey(Schema.String),
  file: Schema.optionalKey(Schema.String),
  line: Schema.optionalKey(Schema.Number),
  says: Schema.String,
  why: Schema.String,
  decides: Schema.Boolean
}) {}

/**
 * What becomes of a call, and why.
 *
 * @category models
 * @since 0.1.0
 */
export class Explanation extends Schema.Class<Explanation>("@assent/ai/ApprovalPolicy/Explanation")({
  toolName: Schema.String,
  result: Approval.ApprovalResult,
  steps: Schema.Array(Step)
}) {}

/** A result, or nothing, which leaves it to the tool; and how it came about, for whoever asks. */
export interface Trace {
  readonly result: Approval.ApprovalResult | undefined
  readonly steps: () => ReadonlyArray<Step>
}

/** The tool's own word: what it says, when it is asked, and whether it has one at all. */
export interface Own {
  readonly gated: boolean
  readonly says: Effect.Effect<Approval.ApprovalResult, unknown>
}

export const silent: Trace = { result: undefined, steps: () => [] }

/** The stricter of two policies' words; one that says nothing leaves it to the tool, which is asked as far as needed. */
export const tighten = (
  self: Trace,
  that: Trace,
  own: Own
): Effect.Effect<Trace, unknown> => {
  const steps = (): ReadonlyArray<Step> => [...self.steps(), ...that.steps()]
  if (self.result !== undefined && that.result !== undefined) {
    return Effect.succeed({ result: strictest(self.result, that.result), steps })
  }
  return withOwn({ result: self.result ?? that.result, steps }, own)
}

/** The stricter of a policy's word and the tool's. */
export const withOwn = (
  self: Trace,
  own: Own
): Effect.Effect<Trace, unknown> => {
  const { result } = self
  // Nothing and "run it" leave the word to the tool; nothing is stricter than a call that is forbidden.
  if (result === undefined || result._tag === "Blocked") return Effect.succeed(self)
  if (result._tag === "PreApproved") return Effect.succeed({ ...self, result: undefined })
  return Effect.mapEager(own.says, (tool) => ({
    result: strictest(result, tool),
    steps: () => [...self.steps(), ownStep(tool, own.gated)]
  }))
}

export const ownStep = (result: Approval.ApprovalResult, gated: boolean): Step =>
  new Step({
    source: "tool",
    says: wordOf(result),
    why: gated ? "It is what the tool's own needsApproval says." : "The tool has no needsApproval of its own.",
    decides: true
  })

export const wordOf = (result: Approval.ApprovalResult | undefined): string => {
  switch (result?._tag) {
    case undefined:
      return "nothing"
    case "PreApproved":
      return "none"
    case "NeedsApproval":
      return "required"
    case "Blocked":
      return "deny"
  }
}

const outcomes = {
  PreApproved: "runs without asking",
  NeedsApproval: "is asked",
  Blocked: "does not run, and nobody is asked"
}

/** For a person, one line for each step; escaped and bounded (law L15). */
export const toSentence = ({ result, steps, toolName }: Explanation): string => {
  const reason = result.reason === undefined ? "" : ` ("${show(result.reason)}")`
  return [
    `${show(toolName)} ${outcomes[result._tag]}${reason}.`,
    ...steps.map((step) => `  ${step.decides ? "→" : "·"} ${placeOf(step)} says ${show(step.says)}: ${show(step.why)}`)
  ].join("\n")
}

const names = {
  config: "The configuration",
  annotations: "What the tool is annotated with",
  policy: "A policy of the program",
  tool: "The tool itself",
  failure: "Something that failed"
}

const placeOf = ({ at, file, line, source }: Step): string => {
  if (at === undefined) return names[source]
  const where = file === undefined && line === undefined
    ? ""
    : ` (${file === undefined ? "line " : show(file)}${file === undefined || line === undefined ? "" : ":"}${
      line ?? ""
    })`
  return `${show(at)}${where}`
}

const show = (text: string): string => Text.escape(text, { maxLength: 500 })
