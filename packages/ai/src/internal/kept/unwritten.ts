/**
 * What a turn has come to and could not write down, because the store failed. It is tried again for a few seconds, and then
 * whenever its conversation is used and when the store of conversations is closed; so a store that fails for ever keeps no
 * process alive, and one that comes back is told all. Until then nobody here takes a turn that does not know of it.
 */
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"

/** Why it was not written: a `ConversationError`. */
interface Failure {
  readonly reason: string
  readonly message: string
}

export interface Unwritten<E extends Failure> {
  /** Keeps what is to be written of a conversation. */
  readonly keep: (id: string, write: Effect.Effect<void, E>) => Effect.Effect<void>
  /** Tries to write it for a few seconds, beside whatever goes on. */
  readonly retry: (id: string) => Effect.Effect<void>
  /** Writes what is kept of a conversation; fails where that cannot be done yet. */
  readonly settle: (id: string) => Effect.Effect<void, E>
  /** Tries it a last time, and says what is lost. */
  readonly close: Effect.Effect<void>
}

/** Whether it may be written another time. */
export const isPassing = ({ reason }: Failure): boolean => reason === "Unavailable" || reason === "Full"

/** `scope` is that in which it is tried again. */
export const make = <E extends Failure>(scope: Scope.Scope): Unwritten<E> => {
  const left = new Map<string, Effect.Effect<void, E>>()
  const permit = Semaphore.makeUnsafe(1)
  const settle = (id: string): Effect.Effect<void, E> =>
    Effect.suspend(() => {
      const write = left.get(id)
      if (write === undefined) return Effect.void
      const forget = Effect.sync(() => left.delete(id))
      return Effect.matchEffect(write, {
        onFailure: (error) =>
          isPassing(error) ? Effect.fail(error) : Effect.andThen(
            forget,
            Effect.logError(`Assent could not write down the end of a turn of a conversation: ${error.message}`)
          ),
        onSuccess: () => forget
      })
    }).pipe(Effect.asVoid, Effect.uninterruptible, permit.withPermit)
  return {
    keep: (id, write) => Effect.sync(() => void left.set(id, write)),
    retry: (id) =>
      Effect.asVoid(Effect.forkIn(
        Effect.ignore(Effect.retry(settle(id), { schedule: doubling, times: 4 })),
        scope
      )),
    settle: (id) => Effect.suspend(() => left.has(id) ? settle(id) : Effect.void),
    close: Effect.suspend(() =>
      Effect.forEach([...left.keys()], settle, { discard: true }).pipe(
        Effect.timeout("1 second"),
        Effect.interruptible,
        Effect.catch(() =>
          Effect.logError(
            `Assent could not write down how ${left.size} ${
              left.size === 1 ? "turn" : "turns"
            } of conversations ended, because the store failed until it was closed. What was said since their last` +
              " written step is lost; what ran is in the journal."
          )
        )
      )
    )
  }
}

// Less than four seconds together: a store that fails for ever keeps no process alive.
const doubling = Schedule.exponential("250 millis")
