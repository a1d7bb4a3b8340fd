/** What went wrong is told to the log of the server, with its cause; no cause reaches a span (law L15). */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Tracer from "effect/Tracer"

/** Logs also become events of the span that they are in, so that this is in none. */
export const error = (message: string, cause: unknown): Effect.Effect<void> =>
  Effect.updateContext(Effect.logError(message, cause), Context.omit(Tracer.ParentSpan))
