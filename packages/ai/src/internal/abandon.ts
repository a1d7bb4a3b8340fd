import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"

/**
 * Lets go of an effect at once when interrupted, even one that cannot be: a gate, a policy or a decoder stuck in an
 * uninterruptible region must not hold the turn past its time limit.
 */
export const abandonable = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(
      Effect.forkDetach(effect, { startImmediately: true }),
      (fiber) => Effect.onInterrupt(restore(Fiber.join(fiber)), () => Effect.sync(() => fiber.interruptUnsafe()))
    )
  )

/** The effect itself, if it has succeeded already: then there is nothing to wait for. */
export const done = <A>(effect: Effect.Effect<A, unknown>): Effect.Effect<A> | undefined =>
  // An effect that is its own exit has the value of its type.
  Exit.isExit(effect) && Exit.isSuccess(effect) ? Effect.succeed(effect.value as A) : undefined
