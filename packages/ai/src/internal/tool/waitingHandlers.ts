/** The handlers of a tool that waits: what each is given, and how each may end. */
import type * as AiError from "effect/ai/AiError"
import type * as Upstream from "effect/ai/Tool"
import type * as Toolkit from "effect/ai/Toolkit"
import type * as Effect from "effect/Effect"
import type * as Types from "effect/Types"
import type * as Approver from "../../Approver.ts"
import type * as Interaction from "../../Interaction.ts"
import type { Suspension } from "./deferral.ts"

export const TypeId = "~@assent/ai/DeferredTool" as const

/**
 * Any tool that may wait.
 *
 * @category models
 * @since 0.1.0
 */
export type Any = Upstream.Any & {
  readonly [TypeId]: { readonly _State: unknown }
  readonly interactions: Interaction.Record
}

/**
 * What a tool remembers while it waits.
 *
 * @category utility types
 * @since 0.1.0
 */
export type State<T> = T extends { readonly [TypeId]: { readonly _State: Types.Invariant<infer State> } } ? State
  : never

/**
 * How a handler of a deferred tool may end: with the tool's success or failure, or waiting.
 *
 * @category utility types
 * @since 0.1.0
 */
export type Ending<T extends Any> = Effect.Effect<
  Upstream.Success<T> | Suspension<T["name"]>,
  Upstream.Failure<T> | AiError.AiError | AiError.AiErrorReason,
  Upstream.HandlerServices<T>
>

/**
 * The handlers of a deferred tool: how it begins, how it goes on from each of its interactions, and, where it says so, how
 * it goes on from those that nobody has answered in time.
 *
 * @category models
 * @since 0.1.0
 */
export interface Handlers<T extends Any> {
  readonly start: (params: Upstream.Parameters<T>, context: Toolkit.HandlerContext<T>) => Ending<T>
  readonly resume: {
    readonly [Key in keyof T["interactions"]]: (
      answer: Interaction.Answer<T["interactions"][Key]>,
      state: State<T>,
      context: ResumeContext<T>
    ) => Ending<T>
  }
  readonly expired?:
    | {
      readonly [Key in keyof T["interactions"]]?:
        | ((state: State<T>, context: ExpiredContext<T>) => Ending<T>)
        | undefined
    }
    | undefined
}

/**
 * What a handler that goes on is given beside what it remembers: what every handler is, and the parameters that the tool
 * began with.
 *
 * @category models
 * @since 0.1.0
 */
export type GoOnContext<T extends Any> = Toolkit.HandlerContext<T> & { readonly params: Upstream.Parameters<T> }

/**
 * What a handler is given beside the answer: who answered, as the channel that took the answer knows it (law L16).
 *
 * @category models
 * @since 0.1.0
 */
export type ResumeContext<T extends Any> = GoOnContext<T> & { readonly decidedBy: Approver.DecidedBy }

/**
 * What a handler is given where nobody answered: since when it is too late, in milliseconds since 1970-01-01T00:00Z.
 *
 * @category models
 * @since 0.1.0
 */
export type ExpiredContext<T extends Any> = GoOnContext<T> & { readonly expiredAt: number }
