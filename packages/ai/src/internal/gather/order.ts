/**
 * An order that calls are promised: each takes its place before anything that may take time, and has its turn when all
 * before it have had theirs or need none, however long each of them took.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"

/** One's place in a line. */
export interface Turn {
  /** Waits until all before it have left. */
  readonly wait: Effect.Effect<void>
  /** The next may have its turn, once all before this one have left too. */
  readonly leave: Effect.Effect<void>
}

export interface Line {
  /** The next place. */
  readonly join: () => Turn
}

/** For what waits for nobody. */
export const none: Turn = { wait: Effect.void, leave: Effect.void }

interface Waiter {
  hasLeft: boolean
  waiting: Deferred.Deferred<void> | undefined
}

export const make = (): Line => {
  // From the first that has not left; those before it are forgotten.
  const line: Array<Waiter> = []
  const next = () => {
    while (line[0]?.hasLeft === true) line.shift()
    const waiting = line[0]?.waiting
    if (waiting !== undefined) Deferred.doneUnsafe(waiting, Exit.void)
  }
  return {
    join: () => {
      const waiter: Waiter = { hasLeft: false, waiting: undefined }
      line.push(waiter)
      return {
        wait: Effect.suspend(() => {
          if (waiter.hasLeft || line[0] === waiter) return Effect.void
          // Whoever left may have been interrupted with the whole turn: then this one is about to be.
          return Effect.andThen(Deferred.await(waiter.waiting ??= Deferred.makeUnsafe<void>()), Effect.yieldNow)
        }),
        leave: Effect.sync(() => {
          waiter.hasLeft = true
          next()
        })
      }
    }
  }
}
