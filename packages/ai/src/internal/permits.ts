/**
 * So many at once, first come, first served. effect's Semaphore looks at all that wait whenever one is done, so that
 * thousands of calls of one turn would take the square of their time.
 */
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"

export interface Permits {
  /** Waits for a permit, and gives it back however the effect ends. */
  readonly withPermit: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

interface Waiter {
  readonly fiber: Fiber.Fiber<unknown, unknown>
  state: "waiting" | "granted" | "gone"
  resume: ((effect: Effect.Effect<void>) => void) | undefined
}

export const make = (permits: number): Permits => {
  let free = permits
  let line: Array<Waiter> = []
  let head = 0

  const next = (): Waiter | undefined => {
    // A line that never ends does not keep those that it has served.
    if (head > 1_000 && head * 2 > line.length) {
      line = line.slice(head)
      head = 0
    }
    while (head < line.length) {
      const waiter = line[head++]!
      if (waiter.state === "waiting") return waiter
    }
    line = []
    head = 0
    return undefined
  }

  const release = Effect.sync(() => {
    const waiter = next()
    if (waiter === undefined) {
      free++
      return
    }
    waiter.state = "granted"
    // Not at once: who is done is not to carry everybody behind it on its own stack.
    waiter.fiber.currentDispatcher.scheduleTask(() => waiter.resume?.(Effect.void), 0)
  })

  return {
    withPermit: (effect) =>
      Effect.uninterruptibleMask((restore) => {
        const use = () => Effect.ensuring(restore(effect), release)
        if (free > 0) {
          free--
          return use()
        }
        return Effect.withFiber((fiber) => {
          const waiter: Waiter = { fiber, state: "waiting", resume: undefined }
          line.push(waiter)
          const granted = Effect.callback<void>((resume) => {
            if (waiter.state === "granted") resume(Effect.void)
            else waiter.resume = resume
          })
          return Effect.matchCauseEffect(restore(granted), {
            onSuccess: use,
            onFailure: (cause) => {
              const gone = Effect.failCause(cause)
              if (waiter.state === "granted") return Effect.andThen(release, gone)
              waiter.state = "gone"
              return gone
            }
          })
        })
      })
  }
}
