/** Time: turns of the event loop, and the clock when nothing more happens by itself. */
import { Effect, type Fiber } from "effect"
import { TestClock } from "effect/testing"

const nextHop = () => new Promise<void>((resolve) => setImmediate(resolve))

export const hop = (count: number): Effect.Effect<void> =>
  Effect.promise(async () => {
    for (let index = 0; index < count; index++) await nextHop()
  })

/** As many hops as nothing can take without the clock. */
const patience = 150

/** Waits for fibers; when nothing more happens by itself, time goes on, for an hour at most. */
export const wait = Effect.fnUntraced(function*(fibers: ReadonlyArray<Fiber.Fiber<unknown, unknown>>) {
  const isDone = () => fibers.every((fiber) => fiber.pollUnsafe() !== undefined)
  for (const seconds of [0, 1, 1, 3, 5, 10, 10, 10, 10, 10, 60, 600, 1800]) {
    if (seconds > 0) yield* TestClock.adjust(`${seconds} seconds`)
    yield* Effect.promise(async () => {
      for (let index = 0; index < patience && !isDone(); index++) await nextHop()
    })
    if (isDone()) return true
  }
  return false
})

/** Carries out something that may have to wait for what still runs. */
export const finishing = (effect: Effect.Effect<void>) =>
  Effect.flatMap(Effect.forkDetach(effect, { startImmediately: true }), (fiber) => wait([fiber]))
