/** What a memory does, as the engine asks it. How answers are matched with calls, the memory brings along. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type * as ApprovalError from "../ApprovalError.ts"
import type * as ApprovalMatcher from "../ApprovalMatcher.ts"
import type * as Approver from "../Approver.ts"
import type { MemoryScope, Remember, Remembered } from "./remembered.ts"

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
export type Service = Forgetting | Remembering

/** What every memory does. */
interface Operations {
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

/**
 * A memory that never remembers anything: it is not asked.
 *
 * @category services
 * @since 0.1.0
 */
export interface Forgetting extends Operations {
  readonly remembers: false
  readonly matching?: undefined
}

/**
 * A memory that may know something.
 *
 * @category services
 * @since 0.1.0
 */
export interface Remembering extends Operations {
  /** False if it never remembers anything: then it need not be asked. */
  readonly remembers: boolean
  /** How what it remembers is matched with calls: `ApprovalMemory.matching`. */
  readonly matching: Matching
}

/**
 * How answers are matched with calls. It comes with a memory, so that a program without one is without it too.
 *
 * @category services
 * @since 0.1.0
 */
export interface Matching {
  /** What an answer says of being remembered; `undefined` if it cannot be read. */
  readonly read: (remember: unknown) => Remember | undefined
  /** What matchers need to know of the program. */
  readonly behaviors: Effect.Effect<ApprovalMatcher.Behaviors>
  /** The tool is as it was, and the call is one of those that were meant. */
  readonly covers: (answer: MatchedAnswer, call: MatchedCall, behaviors: ApprovalMatcher.Behaviors) => boolean
  /** It may be one of those, however it is written, and whatever became of the tool's parameters. */
  readonly mayCover: (answer: MatchedAnswer, call: MatchedCall, behaviors: ApprovalMatcher.Behaviors) => boolean
  /** The call with just these parameters. */
  readonly exact: (params: Schema.Json) => ApprovalMatcher.Description
  readonly matcherOf: (
    description: ApprovalMatcher.Description,
    behaviors: ApprovalMatcher.Behaviors
  ) => ApprovalMatcher.ApprovalMatcher
  /** Which calls it covers, for a log. */
  readonly toSentence: (description: ApprovalMatcher.Description, toolName: string) => string
  /** The same with nothing left out, for who promises it. */
  readonly toWholeSentence: (description: ApprovalMatcher.Description, toolName: string) => string
}

/** An answer, as far as it is matched. */
export interface MatchedAnswer {
  readonly version: string
  readonly covers: ApprovalMatcher.Description
}

/** A call, as far as it is matched. */
export interface MatchedCall {
  readonly version: string
  readonly params: Schema.Json
}

/**
 * The memory read when a call is decided. The default remembers nothing.
 *
 * @example
 * import { Approval, ApprovalController, ApprovalMemory } from "@assent/ai"
 * import { Effect } from "effect"
 *
 * const scope = { conversation: "chat-7" }
 *
 * // A page of what is remembered, on which a person takes it back.
 * const program = Effect.gen(function*() {
 *   yield* ApprovalController.request({ name: "deploy" })
 *   const memory = yield* ApprovalMemory.ApprovalMemory
 *   const [kept] = yield* memory.list(scope)
 *   yield* memory.revoke(scope, kept!.id)
 *   return [kept?.toolName, (yield* memory.list(scope)).length]
 * }).pipe(
 *   Effect.provide(
 *     ApprovalController.layerInteractive((request) => Approval.approve(request, { remember: "session" }))
 *   ),
 *   Effect.provide(ApprovalMemory.layerSession()),
 *   Effect.provideService(Approval.Scope, scope)
 * )
 *
 * await Effect.runPromise(program) // => ["deploy", 0]
 *
 * @category references
 * @since 0.1.0
 */
export const ApprovalMemory: Context.Reference<Service> = Context.Reference<Service>("@assent/ai/ApprovalMemory", {
  defaultValue: () => forgetting
})

/** Remembers nothing, and cannot be made a memory that does. */
export const forgetting: Forgetting = {
  remembers: false,
  find: () => Effect.undefined,
  remember: () => Effect.undefined,
  list: () => Effect.succeed([]),
  revoke: () => Effect.succeed(false)
}

/** Whether it is said for the project. */
export const isForProject = (remember: Remember): boolean =>
  typeof remember === "string" ? remember === "project" : remember.for === "project"
