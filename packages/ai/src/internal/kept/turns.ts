/**
 * The turns of this process: who asks which one is being taken finds it here, and one that belongs to nobody's fiber goes on
 * in the scope of the store.
 */
import type * as Response from "effect/ai/Response"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"

/** A turn that is being taken, for whoever reads it. */
export interface TurnTaken {
  readonly messageId: string
  readonly parts: Stream.Stream<Response.AnyPart, unknown>
  readonly outcome: Effect.Effect<unknown, unknown>
}

export interface Turns {
  /** The one that is taken of a conversation. */
  readonly of: (id: string) => TurnTaken | undefined
  /** It is, from now on, until what this gives is called. */
  readonly begin: (id: string, turn: () => TurnTaken) => () => void
  /** A time that names one turn of this process: no two of them begin in the same millisecond. */
  readonly beginAt: (now: number) => number
  /** Takes one that goes on until it ends, or the store is closed. */
  readonly fork: <A, E, R>(turn: Effect.Effect<A, E, R>) => Effect.Effect<Fiber.Fiber<A, E>, never, R>
}

/** In a scope whose other finalizers are there by now: turns are stopped before what they need to write their ends. */
export const make: Effect.Effect<Turns, never, Scope.Scope> = Effect.gen(function*() {
  const taken = new Map<string, () => TurnTaken>()
  let last = Number.NEGATIVE_INFINITY
  const scope = yield* Scope.make("parallel")
  yield* Effect.addFinalizer(() => Scope.close(scope, Exit.void))
  return {
    of: (id) => taken.get(id)?.(),
    begin: (id, turn) => {
      taken.set(id, turn)
      return () => {
        if (taken.get(id) === turn) taken.delete(id)
      }
    },
    beginAt: (now) => last = Math.max(now, last + 1),
    fork: (turn) => Effect.forkIn(turn, scope)
  }
})
