/** What is remembered of an answer, and what a memory does. */
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as ApprovalError from "../ApprovalError.ts"
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

/**
 * A call that is looked for. `params` are in their encoded form.
 *
 * @category models
 * @since 0.1.0
 */
export interface MemoryCall {
  readonly scope: MemoryScope
  readonly source: string
  readonly toolName: string
  readonly version: string
  readonly params: Schema.Json
}

/**
 * An answer that is to be remembered. `id` is that of the one moment it was given in: what has an id is remembered once,
 * however often it is said.
 *
 * @category models
 * @since 0.1.0
 */
export interface Answered extends MemoryCall {
  readonly id: string
  readonly decision: "approved" | "denied"
  readonly remember: Remember
  readonly note?: string | undefined
  readonly decidedBy?: Approver.DecidedBy | undefined
  readonly approvalId: string
  readonly toolCallId: string
}

/**
 * A memory. Its functions fail with `MemoryUnavailable`; the call is then asked (law L1).
 *
 * @category models
 * @since 0.1.0
 */
export interface Service {
  /** False if it never remembers anything: then it need not be asked. */
  readonly remembers: boolean
  /** The project for which an answer may be remembered, if there is one. */
  readonly project?: string | undefined
  /**
   * What covers a call: a denial if there is one, else an approval, of which one use is taken unless `peek` is true.
   *
   * A denial that may cover it for all that can be told comes before an approval too: the same file by another name, or
   * the tool with other parameters than it had. Whoever finds one that does not surely cover the call asks.
   */
  readonly find: (
    call: MemoryCall,
    options?: { readonly peek?: boolean | undefined }
  ) => Effect.Effect<Remembered | undefined, ApprovalError.ApprovalError>
  /** Remembers an answer; `undefined` if there is nothing to remember, or it was remembered before. */
  readonly remember: (answered: Answered) => Effect.Effect<Remembered | undefined, ApprovalError.ApprovalError>
  /** What is remembered for a scope and stands, for its project too, in no order. */
  readonly list: (scope: MemoryScope) => Effect.Effect<ReadonlyArray<Remembered>, ApprovalError.ApprovalError>
  /** Takes back what is remembered, for ever; false if there is nothing of the id that stands. */
  readonly revoke: (scope: MemoryScope, id: string) => Effect.Effect<boolean, ApprovalError.ApprovalError>
}

/** Whether it is said for the project. */
export const isForProject = (remember: Remember): boolean =>
  typeof remember === "string" ? remember === "project" : remember.for === "project"
