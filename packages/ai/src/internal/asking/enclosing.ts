/**
 * What a program gave the model around a handler, for those that ask from within it: a guarded toolkit, or a program's
 * own question. A policy that was provided to the model alone counts for them as for the model's other calls.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

/** The part of a context that is ours, as it was captured where the innermost model around this was wrapped. */
export const Enclosing = Context.Reference<Context.Context<never>>("~@assent/ai/internal/Enclosing", {
  defaultValue: () => Context.empty()
})

/** What is provided where it is asked wins over what was captured, as it does for the model's own calls. */
export const context: Effect.Effect<Context.Context<never>> = Effect.contextWith((current: Context.Context<never>) =>
  Effect.succeed(Context.merge(Context.get(current, Enclosing), current))
)
