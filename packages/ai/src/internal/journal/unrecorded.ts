/**
 * What ran and is not on record yet, because the store failed. It is tried again for a few seconds, and then whenever the
 * journal is used and when it is closed; so a store that fails for ever keeps no process alive, and one that comes back is
 * told all.
 */
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"

export interface Unrecorded {
  /** Writes what ran; what cannot be written now is tried again. */
  readonly record: (key: string, toolName: string, write: Write) => Effect.Effect<unknown>
  /** Does it when what could not be written before is written, if that can be done now: before anybody reads. */
  readonly settled: <A, E>(then: () => Effect.Effect<A, E>) => Effect.Effect<A, E>
  /** Tries it a last time, and says of what nothing will be known. */
  readonly close: Effect.Effect<void>
}

type Write = Effect.Effect<unknown, unknown>

/** `scope` is that in which it is tried again. */
export const make = (scope: Scope.Scope): Unrecorded => {
  const left = new Map<string, { readonly toolName: string; readonly write: Write }>()
  const permit = Semaphore.makeUnsafe(1)
  const writeAll = permit.withPermit(Effect.gen(function*() {
    for (const [key, one] of left) {
      // One that fails goes to the end, so that it is not in the way of others.
      yield* Effect.tapError(one.write, () => Effect.sync(() => left.delete(key) && left.set(key, one)))
      left.delete(key)
    }
  }))
  return {
    record: (key, toolName, write) =>
      write.pipe(
        // A schedule is made only where one is needed.
        Effect.catch(() => Effect.retry(write, { times: 2 })),
        Effect.catch(() =>
          Effect.gen(function*() {
            left.set(key, { toolName, write })
            yield* Effect.logError(`Assent could not record yet that "${toolName}" ran; it will try again.`)
            yield* Effect.forkIn(Effect.ignore(Effect.retry(writeAll, { schedule: doubling, times: 4 })), scope)
          })
        )
      ),
    settled: (then) => Effect.suspend(() => left.size === 0 ? then() : Effect.flatMap(Effect.ignore(writeAll), then)),
    close: Effect.suspend(() =>
      left.size === 0 ? Effect.void : writeAll.pipe(
        Effect.timeout("1 second"),
        Effect.interruptible,
        Effect.catch(() => {
          const names = Array.from(new Set(Array.from(left.values(), ({ toolName }) => `"${toolName}"`)))
          return Effect.logError(
            `Assent could not record how ${left.size} ${left.size === 1 ? "run" : "runs"} ended (${
              names.join(", ")
            }),` +
              " because the store failed until the journal was closed. Whoever asks will be told that it is unknown."
          )
        })
      )
    )
  }
}

// Less than four seconds together.
const doubling = Schedule.exponential("250 millis")
