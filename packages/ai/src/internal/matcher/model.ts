/**
 * What a matcher is, and what it is made with.
 */
import type * as Schema from "effect/Schema"
import type { Description, Others } from "./description.ts"

export const TypeId = "~@assent/ai/ApprovalMatcher" as const

/**
 * The parameters of a call as JSON, as the function of a {@link key} sees them: a copy, without getters or prototypes.
 *
 * @category models
 * @since 0.1.0
 */
export interface Params {
  readonly [name: string]: Schema.Json
}

/**
 * Which calls of one tool are covered.
 *
 * @category models
 * @since 0.1.0
 */
export interface ApprovalMatcher {
  readonly [TypeId]: typeof TypeId
  readonly description: Description
  /** Why (a part of) this matcher covers nothing, in sentences; empty for a good one. See {@link validate}. */
  readonly problems: ReadonlyArray<string>
  /**
   * Those of the problems that also concern a rule that asks or forbids: a pattern of commands can cover nothing, because
   * its program is not known, and yet be one to forbid.
   */
  readonly problemsToForbid: ReadonlyArray<string>
  /** What whoever allows these calls should know besides, in sentences; `ApprovalPolicy.lint` tells it. */
  readonly cautions: ReadonlyArray<string>
  /** Whether a call with these parameters, in their encoded form, is covered. Takes anything and never throws. */
  readonly covers: (params: unknown) => boolean
  /** For rules that ask or forbid: `false` only of calls that, for all that can be told, are surely not covered. */
  readonly mayCover: (params: unknown) => boolean
}

/**
 * Which parameter is matched, and what may stand beside it.
 *
 * @category options
 * @since 0.1.0
 */
export interface ParamOptions {
  readonly param: string
  readonly others?: Others | undefined
}

/**
 * The same for command lines: `trust` names programs that a `*` lets be given any words.
 *
 * @category options
 * @since 0.1.0
 */
export interface ShellOptions extends ParamOptions {
  readonly trust?: ReadonlyArray<string> | undefined
}

/**
 * Calls that may be offered to a person to approve with this one, and what these are in words, which may be nothing
 * beyond the matcher's own sentence.
 *
 * @category models
 * @since 0.1.0
 */
export interface Suggestion {
  readonly matcher: ApprovalMatcher
  readonly says: string
}
