/**
 * The end of a client on standard input. Upstream's server lets the calls end that are under way, and so would wait for
 * an answer that cannot come any more.
 */
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"

/** Done once nobody can answer any more. */
export const HangUp = Context.Reference<Effect.Effect<void>>("~@assent/ai/internal/elicitationStdio/HangUp", {
  defaultValue: () => Effect.never
})

/** The same input and output, whose end is the end of all open questions. */
export const layer: Layer.Layer<Stdio.Stdio, never, Stdio.Stdio> = Layer.effectContext(Effect.gen(function*() {
  const stdio = yield* Stdio.Stdio
  const ended = yield* Deferred.make<void>()
  const hangUp = Deferred.succeed(ended, undefined)
  return Context.make(Stdio.Stdio, { ...stdio, stdin: Stream.onEnd(stdio.stdin, hangUp) }).pipe(
    Context.add(HangUp, Deferred.await(ended))
  )
}))
