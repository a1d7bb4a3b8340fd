/** Processes over one store: each with a clock of its own, which may stop dead, or be blocked for a while. */
import { Clock, Context, Deferred, Duration, Effect } from "effect"
import { Store } from "../../src/index.ts"
import { failure, intercept } from "../store/intercept.ts"

export interface Process {
  /** The store, as this process sees it. */
  readonly store: Store.Store
  /** Lets an effect be of this process: it reads its clock. */
  readonly within: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** From now on nothing of it gets to the store, and nothing comes back: `kill -9`. */
  readonly die: () => void
  /** Until it is let go on, nothing of it gets to the store: its event loop stands still. */
  readonly block: () => void
  readonly goOn: Effect.Effect<void>
  /** Sets its clock so far ahead of the others, or back. */
  readonly setAhead: (ahead: Duration.Input) => void
}

/** A store that processes may share, as a database is one. */
export const makeShared = Effect.map(Store.makeMemory(), (store) => Store.make({ ...store, isShared: true }))

const Within = Context.Reference<boolean>("test/runs/processes/Within", { defaultValue: () => false })

export const make = (shared: Store.Store, ahead: Duration.Input = 0): Process => {
  let millis = Duration.toMillis(Duration.fromInputUnsafe(ahead))
  let isDead = false
  let blocked: Deferred.Deferred<void> | undefined
  // A transaction that has begun is not held open: that would stop the others too.
  const passes = <A, E, R>(run: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.suspend(() => {
      if (isDead) return Effect.interruptible(Effect.never)
      return blocked === undefined ? run : Effect.andThen(Effect.interruptible(Deferred.await(blocked)), passes(run))
    })
  const intercepted = intercept(
    shared,
    (operation, _, run) =>
      Effect.flatMap(
        Effect.service(Within),
        (within) => within ? Effect.suspend(() => isDead ? Effect.fail(failure(operation)) : run) : passes(run)
      )
  )
  return {
    store: Store.make({
      ...intercepted,
      atomically: (effect) => passes(shared.atomically(Effect.provideService(effect, Within, true)))
    }),
    within: (effect) =>
      Effect.clockWith((clock) => Effect.provideService(effect, Clock.Clock, shifted(clock, () => millis))),
    die: () => (isDead = true),
    block: () => (blocked = Deferred.makeUnsafe()),
    goOn: Effect.suspend(() => {
      const held = blocked
      blocked = undefined
      return held === undefined ? Effect.void : Effect.asVoid(Deferred.succeed(held, undefined))
    }),
    setAhead: (ahead) => (millis = Duration.toMillis(Duration.fromInputUnsafe(ahead)))
  }
}

/** The time of day of another clock. What is monotonic begins anywhere, and goes on as it does for all. */
const shifted = (clock: Clock.Clock, ahead: () => number): Clock.Clock => {
  const now = () => clock.currentTimeMillisUnsafe() + ahead()
  const nanos = () => clock.currentTimeNanosUnsafe() + BigInt(ahead()) * 1_000_000n
  const origin = BigInt(ahead()) * 7_000_000n
  const monotonic = () => clock.monotonicTimeNanosUnsafe() + origin
  return {
    ...clock,
    currentTimeMillisUnsafe: now,
    currentTimeMillis: Effect.sync(now),
    currentTimeNanosUnsafe: nanos,
    currentTimeNanos: Effect.sync(nanos),
    monotonicTimeNanosUnsafe: monotonic,
    monotonicTimeNanos: Effect.sync(monotonic),
    sleep: (duration) => clock.sleep(duration)
  }
}
