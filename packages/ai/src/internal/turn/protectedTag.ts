/**
 * A tag of upstream's, by its key, whose service is protected wherever the tag is run as an effect. What reads a context
 * by its key finds the service as it was provided.
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Effectable from "effect/Effectable"

type Tag<I, S> = Context.Key<I, S> & Effect.Effect<S, never, I> & { readonly toJSON: () => unknown }

export const make = <I, S, T extends Tag<I, S>>(upstream: T & Tag<I, S>, protect: (service: S) => S): T => {
  const protectedService = Effect.map(upstream, protect)
  return Object.assign(
    // A function, as every tag is; and whatever else upstream's is, it is.
    Object.setPrototypeOf(() => {}, upstream) as T,
    Effectable.Prototype<Effect.Effect<S, never, I>>({ label: "Service", evaluate: () => protectedService }),
    {
      toJSON: upstream.toJSON,
      use: <A, E, R>(f: (service: S) => Effect.Effect<A, E, R>) => Effect.flatMap(protectedService, f),
      useSync: <A>(f: (service: S) => A) => Effect.map(protectedService, f)
    }
  )
}
