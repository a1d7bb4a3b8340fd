/**
 * A configuration as people write it.
 */
import * as Schema from "effect/Schema"
import { Others } from "../matcher/description.ts"

/**
 * What is to happen to a call.
 *
 * - `required`: a person is asked.
 * - `none`: it runs without asking.
 * - `deny`: it does not run, and nobody is asked.
 * - `once_per_session`: a person is asked; once they approved, calls of the tool, or those that the rule covers, are not
 *   asked again for as long as `ApprovalMemory` remembers. An answer in a message history may only say `"none"` to that,
 *   unless `rememberable: true` stands beside it.
 * - `default`: what the tool's own `needsApproval` says.
 *
 * @category models
 * @since 0.1.0
 */
export const Value = Schema.Literals(["required", "none", "deny", "once_per_session", "default"])

/**
 * What is to happen to a call.
 *
 * @category models
 * @since 0.1.0
 */
export type Value = typeof Value.Type

/**
 * Whether the configuration has the last word over a tool's own `needsApproval` (`override`), or the strictest of the
 * two (`tighten`).
 *
 * @category models
 * @since 0.1.0
 */
export const Combine = Schema.Literals(["override", "tighten"])

/**
 * Whether the configuration has the last word over a tool's own `needsApproval`, or the strictest of the two.
 *
 * @category models
 * @since 0.1.0
 */
export type Combine = typeof Combine.Type

const oneOrMore = Schema.Union([Schema.String, Schema.Array(Schema.String)])

const question = {
  reason: Schema.optionalKey(Schema.String),
  description: Schema.optionalKey(Schema.String),
  expires_in: Schema.optionalKey(Schema.Union([Schema.Number, Schema.String])),
  approvers: Schema.optionalKey(oneOrMore),
  editable: Schema.optionalKey(Schema.Boolean),
  rememberable: Schema.optionalKey(Schema.Boolean),
  self_approval: Schema.optionalKey(Schema.Boolean)
}

const match = {
  path: Schema.optionalKey(oneOrMore),
  shell: Schema.optionalKey(oneOrMore),
  exact: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json)),
  key: Schema.optionalKey(Schema.Struct({ name: Schema.String, value: Schema.Json })),
  param: Schema.optionalKey(Schema.String),
  others: Schema.optionalKey(Others),
  links: Schema.optionalKey(Schema.Literal("refused")),
  trust: Schema.optionalKey(oneOrMore)
}

/**
 * Which calls a rule is about, by one of `path` (globs), `shell` (patterns of commands), `exact` (all parameters) and
 * `key` (a function of the program, by name, and its value). `param` is the parameter with the path or the command line,
 * `path` and `command` if it is not said; `others`, `links` and `trust` are those of `ApprovalMatcher`.
 *
 * @category models
 * @since 0.1.0
 */
export const MatchInput = Schema.Struct(match)

/**
 * Which calls a rule is about.
 *
 * @category models
 * @since 0.1.0
 */
export type MatchInput = typeof MatchInput.Type

/**
 * What is said of some calls of a tool. The fields of {@link MatchInput} stand in `match`, or beside `approval`.
 *
 * @category models
 * @since 0.1.0
 */
export const RuleInput = Schema.Struct({
  match: Schema.optionalKey(MatchInput),
  ...match,
  approval: Value,
  ...question
})

/**
 * What is said of some calls of a tool.
 *
 * @category models
 * @since 0.1.0
 */
export type RuleInput = typeof RuleInput.Type

/**
 * What is said of a tool. `approval` is for all calls that no rule is about; without it, `default`. With `rules` it has
 * to be said. `expires_in` is a number of milliseconds or a text such as `10 minutes` or `10m`. `approvers` are the ids of
 * those who may decide, and with `self_approval: false` the principal of the scope may not (law L16).
 *
 * @category models
 * @since 0.1.0
 */
export const ToolInput = Schema.Struct({
  approval: Schema.optionalKey(Value),
  rules: Schema.optionalKey(Schema.Array(RuleInput)),
  ...question
})

/**
 * What is said of a tool.
 *
 * @category models
 * @since 0.1.0
 */
export type ToolInput = typeof ToolInput.Type

/**
 * Tools by name or glob, each with what is said of it, or with the one word that matters.
 *
 * @category models
 * @since 0.1.0
 */
export const Tools = Schema.Record(Schema.String, Schema.Union([Value, ToolInput]))

/**
 * Tools by name or glob.
 *
 * @category models
 * @since 0.1.0
 */
export type Tools = typeof Tools.Type

/**
 * A whole configuration.
 *
 * @category models
 * @since 0.1.0
 */
export const Input = Schema.Struct({
  combine: Schema.optionalKey(Combine),
  pre_approved: Schema.optionalKey(Schema.Array(Schema.String)),
  tools: Schema.optionalKey(Tools)
})

/**
 * A whole configuration, or its map of tools alone.
 *
 * @category models
 * @since 0.1.0
 */
export type Input = typeof Input.Type | Tools
