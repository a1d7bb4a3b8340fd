/** What is remembered of an answer. */
import * as Schema from "effect/Schema"
import * as ApprovalMatcher from "../ApprovalMatcher.ts"
import * as Approver from "../Approver.ts"

/**
 * What an answer may say of being remembered, in `remember` of `Approval.approve` and `Approval.deny`: `"none"`;
 * `"session"`, this very call for as long as the memory lives; `"project"`, this very call in every conversation of the
 * project; or more. `covers` is which calls of the tool (default: those with just these parameters), `for` where (default:
 * `"session"`), `expiresIn` is in milliseconds, `uses` how many calls it may let run (default: any number; a denial has no
 * uses).
 *
 * Where the memory has no project, what is said for it is said for the session; so is it where it stands in a message
 * history that anybody may write (law L4).
 *
 * @example
 * import { ApprovalMemory } from "@assent/ai"
 * import { Schema } from "effect"
 *
 * const isRemember = Schema.is(ApprovalMemory.Remember)
 *
 * isRemember({ covers: { _tag: "Path", globs: ["src/**"], param: "path" }, uses: 10 }) // => true
 * isRemember({}) // => true
 * isRemember({ uses: -1 }) // => false
 *
 * @category models
 * @since 0.1.0
 */
export const Remember = Schema.Union([
  Schema.Literals(["none", "session", "project"]),
  Schema.Struct({
    for: Schema.optionalKey(Schema.Literals(["session", "project"])),
    covers: Schema.optionalKey(ApprovalMatcher.Description),
    expiresIn: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThan(0))),
    uses: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThan(0)))
  })
])

/**
 * What an answer may say of being remembered.
 *
 * @category models
 * @since 0.1.0
 */
export type Remember = typeof Remember.Type

/**
 * Whose memory it is. `call` is one call of the model, where no conversation is named; what is remembered for a project
 * has neither.
 *
 * @category models
 * @since 0.1.0
 */
export const MemoryScope = Schema.Struct({
  tenant: Schema.optional(Schema.String),
  principal: Schema.optional(Schema.String),
  conversation: Schema.optional(Schema.String),
  call: Schema.optional(Schema.String),
  project: Schema.optional(Schema.String)
})

/**
 * Whose memory it is.
 *
 * @category models
 * @since 0.1.0
 */
export type MemoryScope = typeof MemoryScope.Type

/**
 * An answer that is remembered. `version` is the fingerprint of the tool's parameters when it was given, `approvalId`
 * the request it was given to, `decidedBy` who gave it; times are milliseconds since 1970. `uses` is how many are left.
 *
 * @category models
 * @since 0.1.0
 */
export class Remembered extends Schema.Class<Remembered>("@assent/ai/ApprovalMemory/Remembered")({
  id: Schema.String,
  source: Schema.String,
  toolName: Schema.String,
  version: Schema.String,
  decision: Schema.Literals(["approved", "denied"]),
  covers: ApprovalMatcher.Description,
  note: Schema.optionalKey(Schema.String),
  decidedBy: Schema.optionalKey(Approver.DecidedBy),
  scope: MemoryScope,
  approvalId: Schema.String,
  toolCallId: Schema.String,
  rememberedAt: Schema.Number,
  expiresAt: Schema.optionalKey(Schema.Number),
  uses: Schema.optionalKey(Schema.Number)
}) {}
