/** What went wrong is told to the log of the program, with its cause; no cause reaches a span (law L15). */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Tracer from "effect/Tracer"

// Logs also become events of the span that they are in, so that these are in none.
const inNoSpan = (log: Effect.Effect<void>): Effect.Effect<void> =>
  Effect.updateContext(log, Context.omit(Tracer.ParentSpan))

export const error = (message: string, cause: unknown): Effect.Effect<void> => inNoSpan(Effect.logError(message, cause))

export const warning = (message: string, cause: unknown): Effect.Effect<void> =>
  inNoSpan(Effect.logWarning(message, cause))
