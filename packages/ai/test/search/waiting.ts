/**
 * Time: turns of the event loop, and the clock when nothing more happens by itself. The event loop is one of our own, so
 * that a plan knows at once that nothing more happens, and need not wait to see it.
 */
import { Effect, type Fiber, Scheduler } from "effect"
import { TestClock } from "effect/testing"

// =============================================================================
// Event loop
// =============================================================================

let queue: Array<() => void> = []
let isTurning = false
let taken = 0
let turned = 0

/** How many turns the event loop has taken. */
export const turns = (): number => turned

/**
 * One turn: what was scheduled before it, and then every promise that can settle. As the event loop does with
 * immediates, but without asking the system for news each time: in a plan there are none.
 */
const turn = (): void => {
  turned++
  const tasks = queue
  queue = []
  for (const task of tasks) task()
  isTurning = queue.length > 0
  // A tick that a microtask asks for comes after all microtasks.
  if (isTurning) queueMicrotask(() => process.nextTick(turn))
}

const enqueue = (task: () => void): void => {
  queue.push(task)
  if (isTurning) return
  isTurning = true
  queueMicrotask(() => process.nextTick(turn))
}

const soon = (task: () => void): () => void => {
  let isCancelled = false
  enqueue(() => {
    taken++
    if (!isCancelled) task()
  })
  return () => {
    isCancelled = true
  }
}

/** The scheduler on which a plan is carried out. */
export const scheduler: Scheduler.Scheduler = new Scheduler.MixedScheduler("async", soon)

const nextHop = () => new Promise<void>((resolve) => enqueue(resolve))

/** Lets everything else of this program have its turn: reporters, timers, signals. */
export const breath: Effect.Effect<void> = Effect.promise(() => new Promise<void>((resolve) => setImmediate(resolve)))

// =============================================================================
// Waiting
// =============================================================================

/** Some turns of the event loop. */
export const hop = (count: number): Effect.Effect<void> =>
  Effect.promise(async () => {
    for (let index = 0; index < count; index++) await nextHop()
  })

/** Hops until something holds, or nothing more happens without the clock. */
export const settle = (isDone: () => boolean): Effect.Effect<void> =>
  Effect.promise(async () => {
    let before: number
    do {
      before = taken
      await nextHop()
    } while (!isDone() && (taken > before || queue.length > 0))
  })

/** Waits for fibers; when nothing more happens by itself, time goes on, for an hour at most. */
export const wait = Effect.fnUntraced(function*(fibers: ReadonlyArray<Fiber.Fiber<unknown, unknown>>) {
  const isDone = () => fibers.every((fiber) => fiber.pollUnsafe() !== undefined)
  for (const seconds of [0, 1, 1, 3, 5, 10, 10, 10, 10, 10, 60, 600, 1800]) {
    if (seconds > 0) yield* TestClock.adjust(`${seconds} seconds`)
    yield* settle(isDone)
    if (isDone()) return true
  }
  return false
})

/** Carries out something that may have to wait for what still runs. */
export const finishing = (effect: Effect.Effect<void>) =>
  Effect.flatMap(Effect.forkDetach(effect, { startImmediately: true }), (fiber) => wait([fiber]))
