/**
 * What a matcher is, and what it is made with.
 */
import type * as Schema from "effect/Schema"
import type { Description, Others } from "./description.ts"

export const TypeId = "~@assent/ai/ApprovalMatcher" as const

/**
 * The parameters of a call as JSON, as the function of `ApprovalMatcher.key` sees them: a copy, without getters or
 * prototypes.
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
  /** Why (a part of) this matcher covers nothing, in sentences; empty for a good one. See `ApprovalMatcher.validate`. */
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
  /**
   * For rules that ask or forbid: `false` only for calls that surely are not covered. Globs are read widely for it: in
   * any case, a bracket as `?`, and what is hard to read as anything.
   */
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
  /** Parameters that must stand beside it, with just these values. */
  readonly same?: { readonly [name: string]: Schema.Json } | undefined
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
 * Calls that may be offered to a person to approve with this one, in a sentence that is made of the matcher and is whole,
 * however long it is. `note` says what the sentence leaves out, such as the settings that a program reads. `isWidest`
 * marks every call of the tool.
 *
 * @category models
 * @since 0.1.0
 */
export interface Suggestion {
  readonly matcher: ApprovalMatcher
  readonly sentence: string
  readonly note?: string | undefined
  readonly isWidest?: boolean | undefined
}
