/**
 * A configuration as it is read: every name with what is said of it, and where that was written.
 */
import * as Schema from "effect/Schema"
import { Description } from "../matcher/description.ts"
import { Combine, Value } from "./written.ts"

const said = {
  at: Schema.String,
  line: Schema.optionalKey(Schema.Number),
  approval: Value,
  reason: Schema.optionalKey(Schema.String),
  description: Schema.optionalKey(Schema.String),
  expiresIn: Schema.optionalKey(Schema.Number),
  approvers: Schema.optionalKey(Schema.Array(Schema.String)),
  editable: Schema.optionalKey(Schema.Boolean),
  rememberable: Schema.optionalKey(Schema.Boolean),
  selfApproval: Schema.optionalKey(Schema.Boolean)
}

/**
 * What is said of some calls of a tool. `at` is where it stands, such as `tools.write_file.rules[0]`, `line` counts from
 * 1, `expiresIn` is in milliseconds.
 *
 * @category models
 * @since 0.1.0
 */
export class Rule extends Schema.Class<Rule>("@assent/ai/ApprovalConfig/Rule")({ match: Description, ...said }) {}

/**
 * What is said of the tools that a name or glob stands for: of those calls that no rule speaks of.
 *
 * @category models
 * @since 0.1.0
 */
export class Entry extends Schema.Class<Entry>("@assent/ai/ApprovalConfig/Entry")({
  name: Schema.String,
  section: Schema.Literals(["tools", "pre_approved"]),
  rules: Schema.Array(Rule),
  ...said
}) {}

/**
 * A configuration that was read.
 *
 * @category models
 * @since 0.1.0
 */
export class ApprovalConfig extends Schema.Class<ApprovalConfig>("@assent/ai/ApprovalConfig")({
  file: Schema.optionalKey(Schema.String),
  combine: Combine,
  entries: Schema.Array(Entry)
}) {}
