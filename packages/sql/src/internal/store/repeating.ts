/** Of two transactions that wait for one another, a database undoes one: nothing of it was done, so the whole is done again. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import { isSqlError } from "effect/sql/SqlError"
import * as Runtime from "../sqlite/runtime.ts"

export interface Attempt<A, E, R> {
  readonly run: Effect.Effect<A, E, R>
  /** Whether somebody was in the way of it, whatever it has made of that. */
  readonly isThwarted: () => boolean
}

/** Whether a statement was undone because of others, and could be carried out if it came again; a program's own one too. */
export const isThwarted = (error: unknown): boolean => {
  const own = error instanceof Own ? error.error : error
  return isSqlError(own) && (own.reason._tag === "DeadlockError" || own.reason._tag === "SerializationError")
}

/** What a program's effect has failed with, whatever it is. */
export class Own<E> {
  readonly _tag = "Own"
  readonly error: E
  constructor(error: E) {
    this.error = error
  }
}

/** Again and again, each time after a longer pause, so that those who were in the way of one another come apart. */
export const repeating = <A, E, R>(attempt: () => Attempt<A, E, R>): Effect.Effect<A, E, R> => {
  const from = (tries: number): Effect.Effect<A, E, R> =>
    Effect.suspend(() => {
      const one = attempt()
      return Effect.catchCause(one.run, (cause) => {
        const wasThwarted = one.isThwarted() ||
          cause.reasons.some((reason) => Cause.isFailReason(reason) && isThwarted(reason.error))
        if (!wasThwarted || Cause.hasInterrupts(cause) || tries === maxTries) return Effect.failCause(cause)
        const longest = Math.min(firstPause * 2 ** tries, maxPause)
        return Effect.flatMap(
          Random.next,
          (part) => Effect.andThen(Runtime.pause(part * longest), from(tries + 1))
        )
      })
    })
  return from(1)
}

const maxTries = 12
const firstPause = 2
const maxPause = 100
